"""The program that draws the pocket data anew writes down what it drew."""

import re
import sys

import pytest

from sci_book.data.datasets import dataset_names, manifest_path
from sci_book.papers.sci.paper import SET_BEFORE
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.resources import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import redraw


def test_it_writes_the_manifest_of_every_set_that_is_drawn():
    twins = {name for name in dataset_names() if "content:" in manifest_path(name).read_text()}
    before = {name for name in twins if name.startswith(SET_BEFORE)}  # never drawn otherwise
    assert {*redraw.drawn()} == {name for name in twins if name.startswith("pocket_")} - before
    assert len(twins) > 15


@pytest.mark.parametrize("name", ["pocket_cvqa_yesno", "pocket_metara_sheets", "pocket_vilp"])
def test_a_manifest_says_the_rows_and_the_checksum_of_what_was_drawn(name):
    """And stays as it is where the same was drawn."""
    draw_pocket(name)
    text = manifest_path(name).read_text(encoding="utf-8")
    assert redraw.as_drawn(name, text) == text
    wrong = re.sub(r"(content|packed): \w{64}", rf"\1: {'0' * 64}", text)
    wrong = re.sub(r"^rows: \d+", "rows: 7", wrong, flags=re.MULTILINE)
    assert wrong != text and redraw.as_drawn(name, wrong) == text

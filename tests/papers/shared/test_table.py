"""A table on a page: what it leaves out, and what it says where it has no line."""

import base64
import io
import re

import pandas as pd
import pytest

from sci_book.papers.shared import tables
from sci_book.papers.shared.tables import MISSING, Table

pytestmark = pytest.mark.quick

FRAME = pd.DataFrame(
    {("paper", "x"): [MISSING, MISSING], ("ours", "x"): ["1.0", MISSING], ("ours", "y"): ["2", "3"]}
)


def test_a_column_that_says_nothing_is_left_out_of_the_page_alone():
    table = Table("t", FRAME, "A caption")
    assert "paper" not in repr(table) and "paper" not in table._repr_html_()
    assert "ours" in repr(table) and "1.0" in table._repr_html_()
    assert list(table.frame) == list(FRAME)


def test_doubts_stay_beside_their_cells():
    doubts = pd.DataFrame("", index=FRAME.index, columns=FRAME.columns)
    doubts.loc[1, ("ours", "y")] = "printed twice"
    html = Table("t", FRAME, "A caption", doubts=doubts)._repr_html_()
    assert html.count("in-question") == 1 and 'title="printed twice"' in html


def test_a_table_of_nothing_but_dashes_is_shown_as_it_is():
    assert "paper" in repr(Table("t", FRAME[["paper"]], "A caption"))


def test_a_table_without_a_line_says_so():
    assert Table("t", FRAME[:0], "What changes")._repr_html_() == "<p>What changes: none.</p>"


def test_a_download_holds_every_cell_of_its_tables():
    frame = pd.DataFrame(
        {("ours", "x"): ["1.0 [0.5, 1.5]", "2"], ("n", ""): ["3", "4"]}, ["a, b", "c"]
    )
    made = tables.download("further", [Table("t", frame, "One"), Table("u", frame[:1], "Two")])
    html = made._repr_html_()
    (coded,) = re.findall(r"base64,([^\"]+)", html)
    read = pd.read_csv(io.BytesIO(base64.b64decode(coded)), dtype=str)
    assert repr(made).startswith("further.csv: 6 numbers, SHA-256 ")
    assert 'download="further.csv"' in html and "6 further numbers" in html
    assert read["table"].tolist() == ["t"] * 4 + ["u"] * 2
    assert read.iloc[0].tolist() == ["t", "a, b", "ours x", "1.0 [0.5, 1.5]"]
    assert read.iloc[3].tolist() == ["t", "c", "n ", "4"]


def test_a_recorded_number_has_the_key_of_its_place_in_a_file():
    one, other = (tables.recorded(1.234, 1, 2, 1, at=at, head="met: ") for at in ("a, x", "a, y"))
    assert one == other == "met: 1.2 [1.0, 2.0]" and one.key != other.key
    assert one.key == tables.recorded(3, 2, 4, at="a, x").key

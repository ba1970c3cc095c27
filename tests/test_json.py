"""What this project writes as JSON is read by every reader: no NaN, no Infinity."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

from sci_book.files import json_text
from tests.conftest import OWN_DATA, sci

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
CLOSED = ROOT / "sci_book" / "pocket"  # its files are drawings and settings, without measures


def strictly(text):
    """JSON as readers other than Python's take it."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_a_number_that_is_not_finite_is_written_as_null(number):
    deep = {"a": number, "b": [1, number, {"c": (number,)}]}
    for value, expected in (
        (number, None),
        (deep, {"a": None, "b": [1, None, {"c": [None]}]}),
        ([number, "NaN", 1.5, None, True], [None, "NaN", 1.5, None, True]),
    ):
        assert strictly(json_text(value)) == expected
        assert strictly(json_text(value, indent=1, ensure_ascii=False)) == expected


def test_finite_values_are_written_as_json_writes_them():
    value = {"b": [1, 2.5, "é", None], "a": (True, {"x": -0.0})}
    assert json_text(value, indent=2) == json.dumps(value, indent=2)
    assert json_text(value, sort_keys=True) == json.dumps(value, sort_keys=True)


def test_nothing_is_written_as_json_in_another_way():
    """But for scripts that cannot import `sci_book`, and say `allow_nan=False` themselves."""
    others = []
    for folder in ("sci_core", "sci_book", "benchmarks", "notebooks"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if file.is_relative_to(CLOSED) or file == ROOT / "sci_book" / "files.py":
                continue
            nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
            strict = {id(node.func) for node in nodes if isinstance(node, ast.Call) if any(
                ast.unparse(given) == "allow_nan=False" for given in node.keywords
            )}  # fmt: skip
            others += [
                f"{file.relative_to(ROOT)}:{node.lineno}"
                for node in nodes
                if isinstance(node, ast.Attribute) and id(node) not in strict
                if ast.unparse(node) in ("json.dump", "json.dumps")
            ]
    assert not others


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_the_scores_of_a_run_without_one_of_the_answers_are_json(
    answer, checkpoint, own_data, tmp_path, capsys
):
    own_data.write_text(OWN_DATA.replace("short", "yesno"), encoding="utf-8")
    table = tmp_path / "mine.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("red", answer), encoding="utf-8")
    run = tmp_path / "run"
    asked = ["evaluate", "--model", checkpoint, "--data", own_data, "--out", run]
    for _ in range(2):  # made, and read again
        assert sci(*asked, "--methods", "base,VCD", "--executor", "inline", "--json") == 0
        scores = strictly(capsys.readouterr().out)["yes/no"]["base"]
        assert scores["macro_f1"] is None
    assert sci(*asked, "--methods", "base,VCD", "--executor", "inline") == 0
    said = capsys.readouterr().out
    assert "macro F1 —" in said and "nan" not in said.casefold()
    for file in run.glob("*.json*"):
        text = file.read_text("utf-8")
        for document in text.splitlines() if file.suffix == ".jsonl" else [text]:
            strictly(document)

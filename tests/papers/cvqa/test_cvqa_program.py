"""Programs over a scene: what they can say, and everything a hostile one cannot do."""

import ast
import re
import time
from pathlib import Path

import pytest
import yaml

from sci_book.papers.cvqa import program
from sci_book.papers.cvqa.program import FIELDS, LONGEST_SOURCE, MOST_STEPS, Outcome, run

PROGRAMS = yaml.safe_load(Path(__file__).with_name("programs.yaml").read_text(encoding="utf-8"))


def thing(kind, colour, cell, row, column, on=None):
    return dict(zip(FIELDS, (kind, colour, cell, row, column, on, None), strict=True))


SCENE = {
    "place": "field",
    "light": "clear",
    "things": [
        thing("cow", "brown", "top left", "top", "left"),
        thing("cow", "brown", "center", "middle", "middle"),
        thing("lamp", "yellow", "right", "middle", "right", on=True),
    ],
}


@pytest.mark.parametrize(
    ("source", "answer"),
    [(source, answer) for answer, sources in PROGRAMS["answers"].items() for source in sources],
)
def test_programs_answer(source, answer):
    found = run(source, SCENE)
    assert found.answer == answer and found.error is None and found.steps > 0
    assert run(source, SCENE) == found  # in the same steps


TOO_LARGE = [
    ("return " + "9" * 3000, "beyond"),
    ("return " + "(" * 150 + "1" + ")" * 150 + "+" + "-" * 100 + "1", "nested"),
    ("return " + "-" * 3900 + "1", "nested|no program"),
    ("return " + "not " * 900 + "1", "nested|no program"),
    ("return " + "[" * 199 + "]" * 199, "nested|no program"),
    ("return " + "1+" * 1900 + "1", "nested|no program"),
    ("if 1:\n " + "".join(" " * k + "if 1:\n" for k in range(1, 60)), "nested|no program"),
    ("x" * (LONGEST_SOURCE + 1), "longer than 4,000"),
]
STOPPED = [
    (source, error)
    for errors in PROGRAMS["stopped"].values()
    for error, sources in errors.items()
    for source in sources
]


@pytest.mark.parametrize(("source", "error"), STOPPED + TOO_LARGE)
def test_hostile_programs_are_stopped(source, error):
    start = time.monotonic()
    found = run(source, SCENE)
    assert time.monotonic() - start < 10
    assert isinstance(found, Outcome)
    assert found.answer is None and re.search(error, found.error), found
    assert found.steps <= MOST_STEPS + 1


def test_the_clock_stops_a_program(monkeypatch):
    ticks = iter(range(10_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    found = run("n = 0\nwhile True:\n    n = 0", SCENE)
    assert "more than 5 s" in found.error and found.steps < MOST_STEPS


def test_a_program_cannot_change_the_scene():
    before = repr(SCENE)
    run("a = find()\nb = find('cow')\na += b\nreturn len(a)", SCENE)
    assert repr(SCENE) == before
    assert run("a = find()\nb = a\na += [1]\nreturn len(b)", SCENE).answer == "3"


def test_nothing_is_executed_by_python():
    """The module names neither exec nor eval nor compile outside its docstring."""
    tree = ast.parse(Path(program.__file__).read_text())
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not named & {"exec", "eval", "compile", "__import__", "globals", "setattr"}

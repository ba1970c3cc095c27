"""The cost chapter's numbers: from the engine's own plan, and from real answers."""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from sci_book.data.datasets import Dataset, Row
from sci_book.papers.sci.chapters import cost
from sci_book.papers.sci.overhead import LAYOUT
from sci_book.results.statistics import NO_DATA, Interval
from sci_core import BASE, SCI3, SCI5, SCI5_LITE, SCI7
from sci_core.engine.decoding import Answer
from tests import tiny

ROOT = Path(__file__).resolve().parents[2]


def test_the_plan_shows_what_is_computed_and_what_is_taken_over():
    plan = cost.plan_of(SCI7, 320)
    assert list(plan) == list(SCI7.rounds)
    for name, pieces in plan.items():
        length = sum(piece.tokens for piece in pieces)
        rewritten = LAYOUT["rewrite"] - LAYOUT["instruction"] if name in SCI7.textual else 0
        assert length == 15 + 320 + 60 + 20 + rewritten
    computed = {
        name: sum(piece.tokens for piece in pieces if piece.state == cost.COMPUTED)
        for name, pieces in plan.items()
    }
    assert computed == {
        "original": 415, "V1": 35, "V2": 35, "V3": 35,
        "black": 80, "noise500": 415, "noise400": 415,
    }  # fmt: skip


def test_the_multiples_are_the_plan_added_up():
    lines = cost.multiples(SCI7, 320)
    assert lines["tokens computed"].tolist() == [415, 35, 35, 35, 80, 415, 415]
    assert lines["pictures encoded"].tolist() == [1, 0, 0, 0, 0, 1, 1]
    assert lines["× base so far"].iloc[-1] == pytest.approx(1430 / 415)
    assert cost.ratio(SCI7, 320) == pytest.approx(1430 / 415)
    assert cost.curves(320)["two phases"].tolist()[:2] == [1.0, pytest.approx(530 / 415)]


def row(dataset, place, group):
    return Row(dataset, place, place, group, "mcq", "What?", "A", "hash")


def test_the_first_rows_of_every_data_set_hold_whole_groups():
    rows = [*(row("x", place, group) for place, group in enumerate("abbc")), row("y", 0, "a")]
    found = cost.first_rows(Dataset("both", tuple(rows), {}, {}), 2)
    assert found == [*rows[:3], rows[4]]


def test_skip_rates_by_data_set_and_step():
    rows = [row("x", 0, "a"), row("x", 1, "b"), row("y", 0, "c")]
    looks = [(True, False, False), (False,), (True, True, False, False)]
    answers = [Answer("", (), None, (), look) for look in looks]
    found = cost.skip_rates(rows, answers)
    assert found.columns.tolist() == ["step 1", "step 2", "step 3 on", "every step"]
    assert found.loc["x"].tolist() == [50, 100, 100, 75]
    assert found.loc["y"].tolist() == [0, 0, 100, 50]
    assert found.loc["all", "every step"] == pytest.approx(100 * 5 / 8)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_what_rows_cost_is_counted_against_the_base(family, monkeypatch):
    model = tiny.load(family)
    images, prompts = tiny.random_questions(random.Random(family), 6)
    rows = [row("x", place, str(place)) for place in range(6)]
    monkeypatch.setattr(Row, "image", lambda each: images[each.index])
    monkeypatch.setattr(cost, "build_prompt", lambda each, family: prompts[each.index])
    found = cost.decode_rows(model, rows, (BASE, SCI3))
    lines = cost.counted_ratios(found)
    assert lines.index.tolist() == ["SCI3"]
    assert lines.loc["SCI3", "tokens, × base"] > 1
    assert lines.loc["SCI3", "pictures, × base"] >= 1
    assert lines.loc["SCI3", "misses"] > 0 and lines.loc["SCI3", "MB kept"] > 0


def test_a_level_is_told_only_of_what_was_timed():
    claim = SimpleNamespace(measure="time_on_pocket", arguments={"method": "SCI3"}, margin=1.15)
    timed, absent = (
        SimpleNamespace(claim=claim, interval=found, verdict="fails", title="m")
        for found in (Interval(1.4, 1.3, 1.5, 9, 9), NO_DATA)
    )
    assert cost.pocket_sentence([timed, absent]) == (
        "**1 of 1 levels on pocket data fail.** In multiples of the base, with m: SCI3 1.40 "
        "[1.30, 1.50] where 1.15 is the level."
    )
    assert cost.pocket_sentence([absent]) == ""


def test_the_readme_says_what_the_first_question_and_what_later_ones_cost():
    frame = cost.first_and_later((SCI3, SCI5, SCI7), 1280)
    assert frame["first of its shape"].tolist() == pytest.approx(
        [1 + (35 * pairs + 1375 * pairs) / 1375 for pairs in (1, 2, 3)]
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    says = {
        "later": "the base's tokens once the black picture is kept",
        "first of its shape": "for the first question of each picture shape",
    }
    for column, words in says.items():
        one, two, three = (f"{ratio:.2f}" for ratio in frame[column])
        assert f"{one}, {two} and {three} times {words}" in readme
    lite = cost.first_and_later((SCI5_LITE,), 1280).loc["SCI5-lite"]
    later, first = (f"{lite[column]:.2f}" for column in says)
    assert f"{later} times the base's tokens, and {first} times for the first question" in readme

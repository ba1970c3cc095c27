"""The frontier: changes are the records', the choice is made on validation rows alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import frontier
from sci_book.results.statistics import Interval
from sci_core.methods import METHODS

LINES = {  # by setting, points on B, outside BS, on BS, over all rows
    "careful": ("SCI5", 5.0, -0.1, 2.0, 0.0),
    "bold": ("SCI5", 30.0, -5.0, 9.0, -0.1),
    "useless": ("", 0.0, 0.0, 0.0, 0.5),
    "modest": ("", 4.0, 0.0, 1.0, 0.4),
    frontier.ORACLE: ("", 40.0, 1.0, 30.0, 9.0),
}


@pytest.fixture(scope="module")
def test_rows(mine):
    return frontier.effects(mine, "test")


def test_every_setting_has_a_name_of_its_own_and_presets_are_those_that_were_decoded():
    settings = frontier.settings()
    assert len({setting.label for setting in settings}) == len(settings) > 50
    known = {setting.label: setting.method for setting in settings}
    assert known["SCI5, β 0.3"] == METHODS["SCI5"] and known["VCD, β 0.3"] == METHODS["VCD"]


@pytest.mark.parametrize("name", ["TIE", "SCI5"])
@pytest.mark.parametrize("part", frontier.PARTS)
def test_a_change_is_counted_row_by_row(mine, test_rows, name, part):
    rows = mine.sets("any", frontier.SPLIT)[part].to_numpy()
    right = mine.records.correct(name)[rows].astype(float) - mine.records.correct("base")[rows]
    expected = 100 * right.mean() if rows.any() else np.nan
    assert test_rows.loc[f"{name}, β 0.3", part] == pytest.approx(expected, nan_ok=True)


def test_nothing_is_lost_outside_bs_without_a_dummy(test_rows):
    textual = [f"SCI(M=0, N={N})" for N in (1, 2)]
    assert test_rows.loc[textual, "outside BS"].tolist() == [0, 0]


def test_the_oracle_is_right_wherever_the_base_is(mine, test_rows):
    base, any_right = mine.right(METHODS["base"]), frontier.oracle(mine)
    assert (any_right[mine.records.ok] >= base[mine.records.ok]).all()
    assert (test_rows.loc[frontier.ORACLE, list(frontier.PARTS)].dropna() >= 0).all()


def test_the_choice_gains_most_on_bs_of_what_loses_nothing_over_all():
    frame = pd.DataFrame.from_dict(LINES, orient="index", columns=["preset", *frontier.PARTS])
    assert frontier.chosen(frame) == "careful"
    assert frontier.worth_it(frame).index.tolist() == ["careful", "modest"]
    assert frontier.chosen(frame.drop(index=["careful", "modest"])) is None
    assert frontier.chosen(frame[:0]) is None


def test_the_verdict_is_about_test_rows_of_what_validation_rows_chose(mine, monkeypatch):
    parts = []
    real = frontier.effects
    monkeypatch.setattr(frontier, "effects", lambda s, part: parts.append(part) or real(s, part))
    monkeypatch.setattr(frontier, "chosen", lambda frame: "SCI5, β 0.3")
    frame = frontier.verdicts([mine])
    assert parts == ["validation"]
    gain, whole = frame.to_dict("records")
    assert gain["reproduced"] == pytest.approx(real(mine, "test").loc["SCI5, β 0.3", "BS"])
    assert whole["n"] == mine.sets("any", frontier.SPLIT)["all"].sum()
    text = frontier.conclusion([mine], frame)
    assert f"- {mine.shown}: of " in text and "SCI5, β 0.3; on test rows" in text
    assert len(frontier.verdict_table(frame).frame) == 2


@pytest.fixture
def fit(mine, monkeypatch):
    """The same model, as if it met the conditions of SCI."""
    monkeypatch.setattr(type(mine), "fit", property(lambda self: True))
    return mine


@pytest.mark.parametrize(
    ("on_bs", "over_all", "word"),
    [
        ((0.01, 0.03), (-0.004, 0.02), "holds"),
        ((0.01, 0.03), (-0.006, 0.02), "inconclusive"),
        ((0.01, 0.03), (-0.03, -0.006), "fails"),
        ((-0.01, 0.03), (0.01, 0.02), "inconclusive"),
        ((-0.03, -0.01), (0.01, 0.02), "fails"),
    ],
)
def test_a_gain_has_to_be_sure_and_half_a_point_may_be_lost(
    fit, monkeypatch, on_bs, over_all, word
):
    ends = {frontier.GAIN: on_bs, frontier.WHOLE: over_all}
    monkeypatch.setattr(frontier, "chosen", lambda frame: "SCI5, β 0.3")
    monkeypatch.setattr(
        frontier, "tested",
        lambda subject, label, part: Interval(sum(ends[part]) / 2, *ends[part], 9, 9),
    )  # fmt: skip
    text = frontier.conclusion([fit], frontier.verdicts([fit]))
    assert text.startswith(f"**Verdict: {word}.**")


def test_where_nothing_is_worth_it_nothing_is_tested(fit, monkeypatch):
    monkeypatch.setattr(frontier, "chosen", lambda frame: None)
    frame = frontier.verdicts([fit])
    assert frame.empty
    text = frontier.conclusion([fit], frame)
    assert text.startswith("**Verdict: inconclusive.**") and "none was tested" in text
    (legend,) = frontier.draw([fit], frame).legends
    assert "chosen" not in [text.get_text() for text in legend.get_texts()]
    monkeypatch.setattr(frontier, "_validation", lambda subject: False)
    text = frontier.conclusion([fit], frame)
    assert text.startswith("**Verdict: not comparable.**") and "no validation row" in text


def test_a_model_without_a_row_in_b_is_drawn_as_a_sentence(mine, monkeypatch):
    records = mine.records.take(np.zeros(len(mine.records.frame), dtype=bool))
    models = [mine, replace(mine, records=records)]
    figure = frontier.draw(models, frontier.verdicts(models[:1]))
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert any("There is no row in B" in text.replace("\n", " ") for text in texts)

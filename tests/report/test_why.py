"""Why SCI gains or loses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sci_book.papers.sci.chapters import why
from sci_book.papers.shared import chapters
from sci_book.results.statistics import Interval
from sci_core.methods import SCI5

FROZEN = Path(__file__).resolve().parents[2] / "data_manifests" / "records"
MODELS = ["pocket-qwen2vl", "pocket-llavanext"]


def few(subject, step):
    rows = np.arange(0, len(subject.kinds), step)
    return replace(subject, path=Path("nowhere.parquet"), records=subject.records.take(rows))


@pytest.fixture(scope="module")
def pair():
    return [few(each, 20) for each in chapters.subjects(MODELS, FROZEN)]


@pytest.fixture(scope="module")
def lonely(pair):
    """A model none of whose rows is in BS: those that the base has right under every input."""
    right = np.all([pair[0].records.correct(name) for name in pair[0].records.rounds], axis=0)
    blind = pair[0].sets("any", "rows")["BS"].to_numpy()
    return replace(pair[0], records=pair[0].records.take(np.flatnonzero(right & ~blind)))


def test_a_gain_on_bs_is_that_on_its_two_parts(pair):
    for subject in pair:
        share = why.share_of_b(subject)
        for opponent in why.OPPONENTS:
            on = {part: why.on(subject, opponent, part).estimate for part in why.PARTS}
            assert on["BS"] == pytest.approx(share * on["B"] + (1 - share) * on["S∖B"])
            for weight, part in ((0.0, "S∖B"), (1.0, "B"), (share, "BS")):
                found = why.at_mix(subject, opponent, weight)
                assert found.estimate == pytest.approx(on[part])
                assert found.low <= found.estimate <= found.high


def test_the_papers_mix_is_that_of_its_table_1():
    assert why.paper_share_of_b("Qwen2-VL") == pytest.approx(1407 / 1756)
    assert why.paper_share_of_b("LLaVA-NeXT") == pytest.approx(2155 / 3270)
    assert why.paper_share_of_b(None) is None


def test_what_flips_a_row_is_counted_once(pair):
    for subject in pair:
        frame = why.flipped(subject)
        assert frame["n"].sum() == subject.sets("any", "rows")["S"].sum()
        assert frame["share"].sum() == pytest.approx(100)
        # A row that V2 leaves alone has the base's answer under V2, so both are as often right.
        assert frame.loc["V1 alone", "V2"] == frame.loc["V1 alone", "base"]
        assert frame.loc["V2 alone", "V1"] == frame.loc["V2 alone", "base"]


def test_families_hold_every_row_that_turns(pair):
    subject = pair[0]
    table = why.families(subject)
    rows = subject.sets("any", "rows")["all"].to_numpy()
    base, ours = subject.right(why.METHODS["base"])[rows], subject.right(SCI5)[rows]
    assert table["n"].sum() == rows.sum() and len(table) <= why.MOST_FAMILIES
    assert table["won"].sum() == ((base == 0) & (ours == 1)).sum()
    assert table["lost"].sum() == ((base == 1) & (ours == 0)).sum()


def test_each_round_is_taken_out_in_turn(pair):
    worth = why.without(pair[0])
    assert list(worth) == ["V1", "V2", "black", "noise500"]
    assert {part for parts in worth.values() for part in parts} == set(why.PARTS)
    assert why.without_table(pair[0]).frame.shape == (4, 4)


@pytest.mark.parametrize("draw", [why.draw_mix, why.draw_families])
def test_figures_have_a_panel_a_model(pair, lonely, draw):
    for subjects in (pair, [lonely]):
        figure = draw(subjects)
        assert len(figure.axes) == len(subjects)
        figure.canvas.draw()


def test_the_answer_comes_in_words(pair, lonely):
    texts = [why.answer, why.mix_sentence, why.flipped_sentence, why.spoilt_sentence,
             why.without_sentence]  # fmt: skip
    for subject in pair:
        text = " ".join(said(subject) for said in texts)
        assert text.count(subject.shown) == 5 and "of S the base’s answer changes under" in text
        assert "nan" not in text
    assert "nothing to explain" in why.answer(lonely)
    for subject in pair:
        spoilt, mended, taken, of_s = 0, 0, 0, subject.sets("any", "rows")["S∖B"].to_numpy()
        answers = {name: subject.records.parsed(name) for name in ("original", "SCI5", "V1", "V2")}
        truth = subject.records.frame["truth"].to_numpy()
        for place in np.flatnonzero(of_s & subject.records.ok):
            base, sci5, *rewrites = (answers[name][place] for name in answers)
            mended += sci5 == truth[place] != base
            if base == truth[place] != sci5:
                spoilt, taken = spoilt + 1, taken + (sci5 is not None and sci5 in rewrites)
        told = f"spoils {spoilt:,} right answers and mends {mended:,} wrong ones."
        assert told in why.answer(subject)
        told = f"Of the {spoilt:,} right answers that SCI5 spoils on S∖B, {taken:,} ("
        assert told in why.spoilt_sentence(subject)
        right = {name: subject.records.correct(name) for name in ("original", "VCD")}
        lost = int((right["original"] & ~right["VCD"])[of_s & subject.records.ok].sum())
        assert f"VCD, which asks no rewording, spoils {lost:,}." in why.answer(subject)
    assert {said(lonely) for said in texts[1:]} == {""}
    assert "nan" not in repr(why.mix_table(lonely)).lower()
    assert np.isnan(why.share_of_b(lonely)) and why.at_mix(lonely, "base", 0.5).n == 0


def test_what_no_rewording_was_read_for_is_counted_beside_sci5(pair):
    for subject in pair:
        table, records = why.spoilt(subject), subject.records
        of_s = subject.sets("any", "rows")["S∖B"].to_numpy() & records.ok
        truth = records.frame["truth"].to_numpy()
        base, one, two = (records.parsed(name) for name in ("original", "V1", "V2"))
        lost = {}
        for name in ("SCI5", "TIE", "VCD", "M3ID"):
            said = records.parsed(name)
            lost[name] = {at for at in np.flatnonzero(of_s) if base[at] == truth[at] != said[at]}
            read = {at for at in lost[name] if said[at] is not None}
            taken = {at for at in read if said[at] in (one[at], two[at])}
            assert table.at[name, "spoilt"] == len(lost[name])
            assert table.at[name, "reworded"] == len(taken)
            assert table.at[name, "of SCI5’s"] == len(lost[name] & lost["SCI5"])
        dummies = replace(SCI5, textual=(), tau1=2.0)
        right = subject.right(dummies)
        gone = {at for at in np.flatnonzero(of_s) if base[at] == truth[at] and right[at] == 0}
        line = table.loc["SCI5’s dummies alone, τ1 = 2"]
        assert line["spoilt"] == len(gone) and line["of SCI5’s"] == len(gone & lost["SCI5"])
        assert np.isnan(line["reworded"]) and np.isnan(line["share"])
        assert why.spoilt_table(subject).frame.loc[line.name, "now as V1 or V2"] == "—"


def test_the_books_page_says_that_the_rewordings_are_not_convicted():
    for subject in chapters.subjects(MODELS, FROZEN):
        table, text = why.spoilt(subject), why.spoilt_sentence(subject)
        shares = table.loc[list(why.WORDLESS), "share"]
        assert shares.min() > table.at["SCI5", "share"] > 50  # what reads none lands there as often
        alone = table.loc[list(why.DUMMIES), "of its reworded"]
        assert (alone > table.at["SCI5", "reworded"] / 2).all()
        assert "does not show that a wording spoilt them" in text
        assert f"{alone.iloc[0]:,} (τ1 = 1) or {alone.iloc[1]:,} (τ1 = 2)" in text


@pytest.mark.parametrize("value", [0.0, 0.02, -0.1])
def test_no_round_adds_most_and_least_at_once(value, pair, monkeypatch):
    alike = {name: {"BS": Interval(value, value, value, 9, 9)} for name in SCI5.rounds[1:]}
    monkeypatch.setattr(why, "without", lambda subject: alike)
    said = why.without_sentence(pair[0])
    assert "every round adds the same" in said and "most" not in said and "least" not in said
    alike["V1"]["BS"] = Interval(value + 0.1, 0.0, 0.2, 9, 9)
    assert "V1 adds most to the other rounds" in why.without_sentence(pair[0])

"""Why SCI gains, DRBench held out, and what the mix alone predicts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import headline, held_out, prediction, why
from sci_book.papers.shared import chapters
from sci_book.papers.shared.extended import extended
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


@pytest.fixture(scope="module")
def long():
    whole = chapters.subjects(MODELS[:1], FROZEN)[0]
    return few(extended(whole, FROZEN / "extended"), 5)


def test_the_constructions_share_no_round_and_noise400_is_in_none(long):
    rounds = held_out.rounds_of(long)
    own, other, every = ({*visual, *textual} for visual, textual in rounds.values())
    assert own == set(SCI5.rounds[1:]) and not own & every and other < every
    assert [len(names) for names in rounds[held_out.OTHER]] == [2, 2]
    assert "noise400" not in own | every


def test_the_conditions_of_longer_records_are_those_of_the_ordinary_ones():
    whole = chapters.subjects(MODELS[:1], FROZEN)[0]
    longer = extended(whole, FROZEN / "extended")
    assert longer.path != whole.path and longer.unmet == whole.unmet == whole.tuned.unmet


def test_built_with_scis_rounds_it_is_drbench(long):
    mine = held_out.subsets(long, held_out.rounds_of(long)[held_out.OWN])
    theirs = long.sets("any", "rows")
    pd.testing.assert_frame_equal(mine, theirs[mine.columns], check_dtype=False)


def test_gains_are_paired_and_judged_only_where_the_model_is_fit(long, monkeypatch):
    frame = held_out.gains(long)
    rows = held_out.subsets(long, held_out.rounds_of(long)[held_out.ALL])["BS"].to_numpy()
    gap = (long.right(SCI5) - long.right(why.METHODS["base"]))[rows]
    line = frame.loc[f"SCI5 − base, BS {held_out.ALL}"]
    assert line["reproduced"] == pytest.approx(100 * gap.mean()) and line["n"] == rows.sum()
    monkeypatch.setattr(chapters.Subject, "fit", property(lambda _: False))
    assert held_out.verdict({"m": held_out.gains(long)}) == "not comparable"
    monkeypatch.setattr(chapters.Subject, "fit", property(lambda _: True))
    judged = held_out.gains(long)
    assert held_out.verdict({"m": judged}) in {"holds", "fails", "inconclusive"}
    assert "its own rounds select" in held_out.answer(judged, long)
    assert held_out.gains_table(judged, long).frame.shape[0] == len(judged)
    assert held_out.sizes_table([long]).frame.shape[0] == 3
    held_out.draw({long.name: judged}, [long]).canvas.draw()


def test_the_papers_own_answer_is_its_table_3():
    assert "LLaVA-NeXT gains 15.44 points on its own BS and 3.70" in held_out.paper_sentence()


def test_the_mix_alone_predicts(pair):
    known = prediction.trainings({0: pair, 1: pair[:1]})
    assert known["seed"].tolist() == [0, 0, 1] and not known["fit"].any()
    for share in (0.0, 0.3, 1.0):
        found = prediction.predict(known, share)
        values = share * known["B"] + (1 - share) * known["rest"]
        assert found.estimate == pytest.approx(values.mean())
        assert found.low < found.estimate < found.high and found.n == 3
    own = prediction.predict(known, known["share"][0])
    assert min(known["BS"]) - 30 < own.estimate < max(known["BS"]) + 30
    alone = prediction.predict(known[:1], known["share"][0])
    assert alone.estimate == pytest.approx(known["BS"][0]) and np.isnan(alone.low)
    assert np.isnan(prediction.predict(known[:0], 0.5).estimate)


def test_a_training_that_may_be_asked_need_not_meet_every_condition():
    known = prediction.trainings(headline.seeds(MODELS, FROZEN))
    lacking = {line.name: set() for line in known.itertuples()}
    for line in known[known["lacks"] != ""].itertuples():
        lacking[line.name].add(line.seed)
    assert len(known) == 6 and known["fit"].all()
    assert lacking == {"pocket-qwen2vl": {1}, "pocket-llavanext": {0, 1, 2}}
    told = "all of them meet what a claim about SCI rests on, and 2 every condition."
    assert told in prediction.answer(known)
    assert prediction.trainings_table(known).frame["not met or undecided"].eq("none").sum() == 2
    for fit, lacks, told in (
        ([True] * 6, "", "all of them meet what a claim about SCI rests on, and all every"),
        ([True] * 5 + [False], "x", "5 of them meet what a claim about SCI rests on, and none"),
        ([False] * 6, "x", "none of them meets what a claim about SCI rests on"),
    ):
        assert told in prediction.answer(known.assign(fit=fit, lacks=lacks))
    unmet = {"dummy": "not met", "rewording": "", "sister": "undecided (it has no smaller sister)"}
    assert prediction.lacks(unmet) == "dummy not met"
    assert prediction.lacks({**unmet, "rewording": "undecided"}) == (
        "dummy not met, rewording undecided"
    )


def test_a_readers_model_stands_beside_the_papers(pair):
    known = prediction.trainings({0: pair})
    mine = replace(pair[0], shown="my model, run here")
    table = prediction.prediction_table(known, [mine]).frame
    assert table.index.tolist() == ["LLaVA-NeXT, paper", "Qwen2-VL, paper", "my model, run here"]
    assert table.loc["Qwen2-VL, paper", "found"] == "6.38" and set(table["within"]) <= {"yes", "no"}
    assert len(prediction.prediction_table(known, pair).frame) == 2
    assert prediction.trainings_table(known).frame.shape == (2, 6)
    for shown in (known, known[:0]):
        prediction.draw(shown, [mine]).canvas.draw()
    assert "provisional" in prediction.answer(known)
    for few_known in (known[:0], known[:1]):  # without an interval there is nothing to say
        assert "nothing is predicted" in prediction.answer(few_known)
    assert set(prediction.prediction_table(known[:1], []).frame["within"]) == {"—"}

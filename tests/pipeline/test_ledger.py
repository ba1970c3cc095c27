"""The ledger of claims: what each measure counts, how verdicts come together, what it prints."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from sci_book import cli
from sci_book.papers.registry import PAPERS
from sci_book.papers.sci.chapters import measures, time_measures
from sci_book.papers.shared import chapters, evidence
from sci_book.papers.shared.evidence import Evidence, Sample, of_interval
from sci_book.papers.shared.pages import page_of
from sci_book.papers.shared.tables import verdict_in
from sci_book.pipeline import findings as findings_of
from sci_book.pipeline import ledger, verdicts
from sci_book.pipeline.claims import Claim, load_claims
from sci_book.resources import FROZEN_RECORDS, RESULTS
from sci_book.results.records import write_records
from sci_book.results.statistics import LEVEL, Interval, verdict
from sci_core.methods import SCI5, VCD, sci

QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"


@pytest.fixture(scope="module")
def few():
    """Every thirtieth row of the frozen records: all data sets, all kinds, few groups."""
    whole = chapters.subjects([QWEN, LLAVA], FROZEN_RECORDS)
    nowhere = Path("nowhere.parquet")  # and so no validation records beside it
    return [
        replace(each, path=nowhere, records=each.records.take(np.arange(0, len(each.kinds), 30)))
        for each in whole
    ]


@pytest.fixture(scope="module")
def of(few):
    return Evidence(few[0], few[1:], RESULTS)


@pytest.fixture(scope="module")
def findings(few):
    claims = [each for each in load_claims() if each.paper == "sci"]
    return ledger.evaluate(claims, few, RESULTS)


def claim(**fields):
    given = dict(
        id="x", paper="sci", place="", quote="", page="", means="", measure="difference",
        arguments={"methods": ["SCI5"], "against": ["base"], "subsets": ["BS"]},
    )  # fmt: skip
    return Claim(**(given | fields))


def test_claims_have_a_quote_a_meaning_and_a_chapter():
    claims = load_claims()
    assert len(claims) >= 25
    for each in claims:
        assert each.quote and each.means and each.place, each.id
        assert page_of(each.page), f"{each.id}: {each.page}"


def test_quotes_are_the_papers_words(paper_text):
    texts = {paper: _letters(paper_text(paper)) for paper in PAPERS}
    for each in load_claims():
        for piece in each.quote.split("[…]"):
            assert _letters(piece) in texts[each.paper], f"{each.id}: {piece}"


def _letters(text):
    """Letters and digits alone: line breaks, hyphens, marks of mathematics and notes left out."""
    text = re.sub(r"\[[\d, ]+\]", "", text).translate(str.maketrans("₃₅₇", "357"))
    return re.sub(r"[\W_]+", "", text.replace("\\beta", "β"))


def test_two_claims_of_one_name_and_unknown_measures_are_refused(tmp_path):
    entry = "- {id: a, place: p, quote: q, page: g, means: m, measure: difference}\n"
    for paper in PAPERS.values():
        (tmp_path / paper.claims).write_text("[]", encoding="utf-8")
    (tmp_path / "claims_sci.yaml").write_text(entry * 2, encoding="utf-8")
    with pytest.raises(ValueError, match=r"ids twice: \['a'\]"):
        load_claims(tmp_path)
    (tmp_path / "claims_sci.yaml").write_text(entry.replace("difference", "wish"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"do not exist: \['wish'\]"):
        load_claims(tmp_path)


def test_methods_are_presets_rounds_or_sci_with_other_fields(of):
    assert evidence.method_of("SCI5") is SCI5 and evidence.method_of("V1") == "V1"
    made = evidence.method_of({"M": 1, "N": 0, "visual": ["noise500"], "tau1": 1.0, "tau2": 1.0})
    assert replace(made, name="VCD", rule="vcd", tau2=VCD.tau2) == VCD
    assert evidence.title({"M": 2, "N": 2, "beta": 0.8}) == "SCI5 (β 0.8)"
    assert evidence.title({"M": 1, "N": 0}) == "SCI(M=1, N=0)"
    right = of.subject.replay.right(sci(1, 0))
    assert np.array_equal(of.right({"M": 1, "N": 0}), right, equal_nan=True)
    alone = of.subject.records.correct("black")[of.subject.records.ok]
    assert np.array_equal(of.right("black")[of.subject.records.ok], alone)


def test_a_method_that_the_records_do_not_settle_is_not_comparable(of):
    loose = {"M": 2, "N": 2, "tau1": 20.0}
    assert not of.settles([loose], of.rows("BS")) and of.settles(["V1", "SCI5"], of.rows("BS"))
    (same,) = measures.agreement(of, [loose], ["SCI5"], ["BS"])
    assert not len(same.values)
    made = claim(arguments={"methods": ["SCI5"], "against": [loose], "subsets": ["BS"]})
    assert ledger.evaluate([made], [of.subject], None)[0].verdict == "not comparable"


def test_a_difference_is_of_the_same_rows(of):
    (found,) = measures.difference(of, ["SCI5"], ["VCD"], ["BS"], ["MCQ"])
    rows = of.subject.sets("any", "rows")["BS"].to_numpy() & (of.subject.kinds == "MCQ")
    decoded = (of.subject.records.correct(name)[rows] for name in ("SCI5", "VCD"))
    expected = np.subtract(*(right.astype(float) for right in decoded))
    assert found.what == "SCI5 − VCD, BS, MCQ"
    assert np.array_equal(found.values, expected)
    assert found.clusters.tolist() == of.subject.groups[rows].tolist()
    own = measures.difference(of, [{"M": 2, "N": 2, "subset": "S"}], ["base"], ["B"])
    assert own[0].what.endswith(", S")


def test_validation_is_a_part_of_its_own(of):
    (found,) = measures.difference(of, ["SCI5"], ["base"], ["all"], part="validation")
    rows = chapters.split(of.subject.records) == "validation"
    assert found.clusters.tolist() == of.subject.groups[rows].tolist()
    assert of.on("test") is of and of.on("validation") is of.on("validation")


def test_steps_pair_neighbours_and_data_sets_stand_alone(of):
    steps = measures.steps(of, ["SCI3", "SCI5", "SCI7"], ["B", "S"])
    assert [each.what for each in steps] == [
        "SCI5 − SCI3, B", "SCI5 − SCI3, S", "SCI7 − SCI5, B", "SCI7 − SCI5, S",
    ]  # fmt: skip
    parts = measures.by_dataset(of, ["SCI5"], ["base"])
    assert len(parts) == 6
    assert sum(len(each.values) for each in parts) == of.rows("all").sum()


def test_a_gain_on_one_subset_less_that_on_another(of):
    (found,) = measures.between_subsets(of, ["SCI5"], ["base"], ["all", "BS"])
    (everywhere,), (hard,) = (
        measures.difference(of, ["SCI5"], ["base"], [subset]) for subset in ("all", "BS")
    )
    assert found.what == "SCI5 − base, all less BS"
    three = measures.between_subsets(of, ["SCI5"], ["base"], ["all", "B", "BS"])
    assert [each.what.rpartition(" ")[2] for each in three] == ["B", "BS"]
    assert found.interval.n == len(everywhere.values)
    expected = everywhere.values.mean() - hard.values.mean()
    assert found.interval.estimate == pytest.approx(expected)


def test_sizes_and_what_two_models_share(of):
    everything, BS = of.rows("all"), of.rows("BS")
    assert measures.size(of, ["BS"])[0].values.sum() == BS.sum()
    (less,) = measures.size(of, ["B"], ["S"])
    assert less.values.sum() == of.rows("B").sum() - of.rows("S").sum()
    other = of.others[0]
    theirs = other.sets("any", "rows")["BS"].to_numpy()
    (shared,) = measures.shared(of)
    assert len(shared.values) == BS.sum() and shared.values.sum() == (BS & theirs).sum()
    (apart,) = measures.size_against(of, ["BS"])
    assert len(apart.values) == everything.sum()
    assert apart.values.sum() == BS.sum() - theirs.sum()


def test_more_counterfactuals_never_shrink_a_subset_of_any(of):
    found = measures.growth(of, [1, 2, 3])
    assert all((each.values >= 0).all() for each in found)
    rows = of.rows("all")
    two = of.subject.sets("any", "rows")["BS"].to_numpy()[rows].sum()
    (one_to_two,) = measures.growth(of, [1, 2])
    agree = [measures.growth(of, [0, count])[0].values.sum() for count in (1, 2)]
    assert agree[1] == two and one_to_two.values.sum() == agree[1] - agree[0]


def test_changed_and_agreement_differ_on_unknown_answers(of):
    base, other = of.answers("original"), of.answers("V2")
    rows = of.rows("all")
    known = np.array([a is not None and a == b for a, b in zip(base, other, strict=True)])
    (changed,) = measures.changed(of, ["V2"], ["all"])
    assert changed.values.sum() == (~known & rows).sum()
    (same,) = measures.agreement(of, ["V2"], ["base"], ["all"])
    assert same.values.sum() == ((base == other) & rows).sum()
    (gain,) = measures.agreement_gain(of, ["V2"], "base", ["V2"], ["all"])
    assert gain.values.sum() == rows.sum() - same.values.sum()


def test_an_answer_that_rounded_logits_leave_open_neither_agrees_nor_differs(of):
    other = {"M": 1, "N": 0, "visual": ["noise500"], "tau1": 1.0, "tau2": 1.0}
    rows, sure = of.rows("all"), of.resolved([other, "VCD"])
    assert of.settles([other], rows) and (rows & ~sure).any()
    (same,) = measures.agreement(of, [other], ["VCD"], ["all"])
    assert len(same.values) == (rows & sure).sum() and same.values.all()


def test_a_claim_is_of_the_trainings_that_have_rows_for_it(of, monkeypatch):
    def parts(_, known):
        return [of.mean("part", np.ones(len(known.has)), known.has)]

    monkeypatch.setattr(ledger, "parts_of", parts)
    every = of.rows("all")
    for having in (0, 1, 3, 4):
        each = [SimpleNamespace(subject=of.subject, has=every & (k < having)) for k in range(4)]
        found = ledger._finding(claim(), "mine", each)
        assert (found.trainings, found.interval.n > 0) == (having, having > 0)


def test_other_models_on_own_rows_and_own_on_theirs(of):
    other = of.others[0]
    (found,) = measures.other_on_own(of, ["base"])
    rows = of.rows("BS")
    assert found.values.sum() == of.right("base", other)[rows].sum() - of.right("base")[rows].sum()
    (there,) = measures.on_others(of, ["SCI5"], ["base"])
    assert len(there.values) == of.rows("BS", built_by=other).sum()
    again, versus = measures.own_against_others(of, ["SCI5"], ["base"])
    assert again.what == there.what
    (own,) = measures.difference(of, ["SCI5"], ["base"], ["BS"])
    estimate = versus.interval.estimate
    assert estimate == pytest.approx(own.values.mean() - there.values.mean())


def test_times_come_from_the_same_setting_and_span_quartiles(of):
    table = of.timing
    assert set(table["batch"]) == {1} and set(table["new_tokens"]) == {5}
    parts = time_measures.time(of, ["two_phase", "sequential"])
    found = {part.what: part.interval for part in parts}
    rows = table[table["method"] == "SCI5"].set_index("strategy")
    gap = rows.loc["two_phase", "ratio_median"] - rows.loc["sequential", "ratio_median"]
    estimate, low, high, *_ = found["SCI5: two phases − one by one"]
    assert estimate == pytest.approx(gap) and low <= estimate <= high
    assert found["SCI5: two phases − one by one"].n == of.runs == 7
    parts = time_measures.time_a_round(of, ["sequential"])
    apart = {part.what: part.interval for part in parts}
    assert set(apart) == {f"SCI{n}: one by one" for n in (3, 5, 7)}
    far = abs(rows.loc["sequential", "ratio_median"] / 5 - 1)
    assert apart["SCI5: one by one"].estimate == pytest.approx(far)
    assert all(0 <= each.low <= each.estimate <= each.high for each in apart.values())
    shares = time_measures.time_share(of, ["naive_batch", "sequential"])
    assert len(shares) == 6 and all(part.quartiles for part in shares)  # 2 settings, 3 methods
    for part in shares:
        found = part.interval
        assert 0 < found.low <= found.estimate <= found.high


def test_the_difference_of_two_means_has_the_interval_of_both():
    rng = np.random.default_rng(0)
    one, other = rng.random(400), rng.random(300) + 1
    names = np.array([f"g{k}" for k in range(400)], dtype=object)
    found = Sample("", one, names, (other, names[:300])).interval
    assert found.estimate == pytest.approx(one.mean() - other.mean())
    error = np.sqrt(one.var() / 400 + other.var() / 300)
    assert found.high - found.low == pytest.approx(2 * norm.ppf((1 + LEVEL) / 2) * error, rel=0.1)
    assert Sample("", one[:0], names[:0], (other, names[:300])).interval.n == 0


@pytest.mark.parametrize(
    ("ends", "needed", "expected", "decides"),
    [
        ([(1, 2), (3, 4)], None, "holds", 0),
        ([(3, 4), (-1, 2)], None, "inconclusive", 1),
        ([(3, 4), (-1, 2), (-4, -3)], None, "fails", 2),
        ([(-5, 3), (-2, -1)], None, "fails", 1),  # the one that fails, not the widest
        ([(3, 4), (1, 2), (-4, -3)], 2, "holds", 1),
        ([(3, 4), (-1, 2), (-4, -3)], 2, "inconclusive", 1),
        ([(3, 4), (-2, -1), (-4, -3)], 2, "fails", 2),
        ([(3, 4), None], 2, "not comparable", 1),
        ([None], None, "not comparable", 0),
        ([], None, "not comparable", None),
    ],
)
@pytest.mark.parametrize("side", ["greater", "less"])
def test_a_claim_is_as_strong_as_its_parts(of, monkeypatch, ends, needed, expected, decides, side):
    nowhere = Interval(np.nan, np.nan, np.nan, 0, 0)
    parts = []
    for place, pair in enumerate(ends):
        low, high = sorted((1 if side == "greater" else -1) * end for end in pair or (0, 0))
        found = Interval((low + high) / 2, low, high, 9, 9) if pair else nowhere
        parts.append(of_interval(str(place), found))
    monkeypatch.setitem(measures.MEASURES, "difference", lambda of: parts)
    made = claim(arguments={}, needed=needed, claim=side)
    (finding,) = ledger.evaluate([made], [of.subject], None)
    assert finding.verdict == expected
    assert finding.part == ("" if decides is None else str(decides))


def trained(folder, subjects, answers):
    """Further trainings of some models beside them, which differ in what some rows' answers are."""
    models = []
    for each in subjects:
        write_records(folder / f"{each.name}.parquet", each.records)
        for seed, rows in enumerate(answers, 1):
            there = folder / f"training{seed}" / f"{each.name}.parquet"
            write_records(there, each.records.take(rows))
        models.append(replace(each, path=folder / f"{each.name}.parquet"))
    return models


def test_a_claim_is_of_all_trainings_and_what_was_measured_apart_of_the_first(few, tmp_path):
    every = np.arange(len(few[0].kinds))
    times = {"strategies": ["two_phase", "sequential"]}
    asked = [claim(), claim(measure="time", arguments=times)]
    asked.append(claim(id="y", measure="size", arguments={"subsets": ["S"]}, questions=True))
    for count in (1, 2, 4):
        models = trained(tmp_path / f"{count}", few[:1], [every] * (count - 1))
        of_answers, of_time, of_questions = ledger.evaluate(asked, models, RESULTS)
        assert of_answers.trainings == count
        assert of_time.trainings == of_questions.trainings == 1
        assert len(of_answers.each) == (count if count == 2 else 0)
        assert of_answers.of_trainings == {
            1: "", 2: "2 trainings", 4: "4 trainings",
        }[count]  # fmt: skip
        (named,) = findings_of.named([models[0].name], models[0].path.parent)
        assert [one.number for one in named.trainings] == [*range(count)]


def test_of_few_trainings_a_part_and_a_claim_have_the_word_that_all_have():
    def parts(*ends):
        made = [Interval((low + high) / 2, low, high, 9, 9) for low, high in ends]
        return [of_interval(str(place), interval) for place, interval in enumerate(made)]

    above, below, across = (1, 2), (-2, -1), (-1, 1)
    first, second = parts(above, above), parts(above, across)
    found = ledger.of_few(claim(), [first, second], "one", "One")
    assert (found.word, found.trainings) == ("inconclusive", 2)
    assert [word for *_, word in found.parts] == ["holds", "inconclusive"]
    assert [of.word for of in found.each] == ["holds", "inconclusive"]
    assert found.interval == first[0].interval and found.part == "0"
    assert found.of_trainings == "2 trainings: holds, inconclusive"
    assert ledger.of_few(claim(), [first, first], "one", "One").word == "holds"
    assert ledger.of_few(claim(), [parts(below)] * 3, "one", "One").word == "fails"
    alone = ledger.of_few(claim(), [second], "one", "One")
    assert (alone.word, alone.trainings, alone.each) == ("inconclusive", 1, ())
    nothing = ledger.of_few(claim(), [], "one", "One")
    assert (nothing.word, nothing.trainings) == ("not comparable", 0)


def test_a_verdict_that_is_kept_back_is_said_beside():
    found = ledger.of_few(claim(), [[of_interval("a", Interval(1, 1, 2, 9, 9))]], "one", "One")
    assert found.said == "holds" == found.verdict
    kept = replace(found, unmet="dummy not met")
    assert (kept.verdict, kept.said) == ("not comparable", "not comparable (holds)")
    shown = kept.said_of("fails"), replace(kept, word="not comparable").said
    assert shown == ("not comparable (fails)", "not comparable")
    assert verdict_in(kept.said) == "not comparable" and not verdict_in("holding (9)")


def test_so_many_hold_by_chance():
    found = ledger.of_few(claim(), [[of_interval("a", Interval(1, 1, 2, 9, 9))]], "one", "One")
    unmet, certain = replace(found, unmet="x"), replace(found, claim=claim(by_construction=True))
    text = verdicts.by_chance([*[found] * 79, replace(found, word="fails"), unmet, certain])
    assert "80 times here, and 79 of these hold" in text and "about 2 would hold by chance" in text


def test_claims_about_a_model_of_the_paper_are_tested_on_its_family_alone(few):
    made = claim(measure="size_against", arguments={"subsets": ["S"]}, about=(few[1].label,))
    first, second = ledger.evaluate([made], few, None)
    assert first.verdict == "not comparable" and not first.parts
    pair = replace(made, about=(few[1].label, few[0].label))
    assert [len(each.parts) for each in ledger.evaluate([pair], few, None)] == [0, 1]
    assert ledger.evaluate([pair], few[1:], None)[0].verdict == "not comparable"
    assert [part for part, _, _ in second.parts] == [
        f"S: {few[1].shown} − {few[0].shown}"  # with no second model named, every other one
    ]


def test_without_timing_results_times_are_not_comparable(few):
    made = claim(measure="time", arguments={"strategies": ["two_phase", "sequential"]})
    assert ledger.evaluate([made], few[:1], None)[0].verdict == "not comparable"


def test_every_claim_has_a_verdict_for_each_model_and_is_plain_json(findings):
    rows = json.loads(json.dumps(ledger.as_rows(findings)))
    for model in (QWEN, LLAVA):
        mine = [row for row in rows if row["model"] == model]
        assert len(mine) == len(findings) // 2 >= 25
    fields = [
        "id", "paper", "place", "quote", "model", "verdict", "word", "trainings", "of each", "part",
        "estimate", "low", "high", "n", "interval", "conditions", "on the paper's numbers",
    ]  # fmt: skip
    for row in rows:
        assert list(row) == fields
        assert (row["estimate"] is None) == (row["n"] == 0)
        if row["n"]:
            assert row["low"] <= row["estimate"] <= row["high"]


def test_the_number_shown_is_one_that_the_verdict_follows_from(findings):
    for each in findings:
        if each.unmet:
            assert each.verdict == "not comparable"
        elif each.parts and each.claim.needed is None:
            word = verdict(each.interval, claim=each.claim.claim, margin=each.claim.margin)
            assert word == each.verdict, each.claim.id


def test_claims_that_cannot_fail_are_shown_and_not_counted(findings):
    certain = [each for each in findings if each.claim.by_construction]
    assert len({each.claim.id for each in certain}) >= 5
    assert all(each.verdict != "fails" for each in certain)
    table = ledger.summary(findings).frame.astype(int)
    assert table["by construction"].tolist() == [len(certain) // 2] * 2
    assert ledger.overall_verdict(certain) == "not comparable"
    decided = ledger.page_of(findings, "sci", QWEN).frame["decided by"]
    assert decided.str.contains("by construction").any()


def test_tables_and_words_name_every_claim(findings, few):
    table = ledger.page_of(findings, "sci", QWEN).frame
    claims = [each for each in load_claims() if each.paper == "sci"]
    names = [claim.id for claim in claims]
    assert [row.rsplit("(", 1)[1] for row in table.index] == [f"{name})" for name in names]
    assert ledger.summary(findings).frame.astype(int).sum(axis=1).tolist() == [len(table)] * 2
    measured = [RESULTS / "cpu.json", *sorted((RESULTS / "rft").glob("*.json"))]
    assert ledger.sources(few, RESULTS) == measured
    text = ledger.wording(findings)
    assert all(f"**{name}**" in text for name in names)
    certain = table["decided by"].str.contains("by construction")
    holding = (table["verdict"][~certain] == "holds").sum()
    assert int(ledger.summary(findings).frame["holds"].iloc[0]) == holding
    figure = ledger.draw(findings, {QWEN: "one", LLAVA: "other"})
    assert [ax.get_title() for ax in figure.axes] == ["one", "other"]


def test_an_unknown_model_is_refused_in_one_sentence(capsys):
    with pytest.raises(SystemExit):
        cli.main(["claims", "--models", "absent"])
    assert "holds no records" in capsys.readouterr().err

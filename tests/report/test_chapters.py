"""What chapters compute beside the evaluation: sizes, shared rows, contrasts, words for results."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import drbench_tables, nonrobust_share, subset_sizes
from sci_book.papers.shared import chapters
from sci_book.pipeline import findings
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.metrics import KINDS, accuracy_table
from sci_book.results.records import Records, RecordsError, build_table, write_records
from sci_book.results.statistics import Interval
from tests.report.drawn_records import drawn_records

ROUNDS = ["original", "V1", "V2", "V3", "black", "noise500", "noise400"]
METHODS = list(drbench_tables.METHODS)
TOKENS = {letter: place for place, letter in enumerate("ABCD")} | {"yes": 4, "no": 5}
QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"
PAIR = ("Qwen2-VL", "LLaVA-NeXT")


def records_of(model, rows=120, seed=0, digest="same"):
    """Records with drawn answers: rotations of multiple-choice questions, then pairs of yes/no."""
    rng = np.random.default_rng(seed)
    built = []
    for place in range(rows):
        mcq = place < rows * 2 // 3
        options = list("ABCD") if mcq else ["yes", "no"]
        truth = options[place % len(options)]
        answers = {name: str(rng.choice([truth, *options])) for name in [*ROUNDS, *METHODS]}
        spoilt = place == rows - 1
        row = {
            "dataset": "x", "index": place, "position": place,
            "group": f"x:{place // 4 if mcq else 1000 + place // 2}", "image_hash": "",
            "question_type": "mcq" if mcq else "yesno", "category": "", "truth": truth,
            "options": "ABCD" if mcq else "", "prompt_hash": "", "prompt_tokens": 1,
            "error": "RowError" if spoilt else None, "nodes": [],
        }  # fmt: skip
        if not spoilt:
            logits = np.zeros((len(ROUNDS), len(options)), np.float32)
            logits[0] = rng.normal(size=len(options))
            logits[0, options.index(answers["original"])] = 9
            row["nodes"] = [{
                "prefix": [], "tokens": [TOKENS[name] for name in options],
                "logits": logits.ravel(), "log_norm": [0.0] * len(ROUNDS),
                "outside": [-9.0] * len(ROUNDS),
            }]  # fmt: skip
            for name, answer in answers.items():
                row |= {f"tokens:{name}": [0], f"text:{name}": answer, f"parsed:{name}": answer}
        built.append(row)
    stamp = {
        "schema": 1, "model": model, "revision": "r", "rounds": ROUNDS, "rows": digest,
        "methods": [{"name": name} for name in METHODS], "datasets": {"x": "sum"}, "eos": [9],
    }  # fmt: skip
    pieces = {token: text for text, token in TOKENS.items()}
    return Records(build_table(built, [*ROUNDS, *METHODS]), stamp, pieces)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    for seed, (file, model, digest) in enumerate(
        [(QWEN, QWEN, "same"), (LLAVA, LLAVA, "same"), ("mine", "mine", "same"),
         ("hub", "Qwen/Qwen2-VL-7B-Instruct", "same"), ("cut", LLAVA, "other"),
         ("seed1", QWEN, "same")]
    ):  # fmt: skip
        write_records(folder / f"{file}.parquet", records_of(model, seed=seed, digest=digest))
    return folder


@pytest.fixture(scope="module")
def pair(folder):
    return chapters.subjects([QWEN, LLAVA], folder)


@pytest.fixture(scope="module")
def sets(pair):
    return {each.name: each.sets("any", "rows") for each in pair}


@pytest.fixture(scope="module")
def right(pair):
    return {each.name: drbench_tables.outcomes(each.records) for each in pair}


@pytest.fixture(scope="module")
def accuracies(pair, sets, right):
    first = pair[0]
    return accuracy_table(right[first.name], first.records.frame, sets[first.name])


# --- models and words --------------------------------------------------------------------------


def test_subjects_know_what_the_paper_calls_them(folder):
    found = chapters.subjects([QWEN, "mine", "hub"], folder)
    assert [each.label for each in found] == ["Qwen2-VL", None, "Qwen2-VL"]
    assert [each.shown for each in found] == ["pocket Qwen2-VL", "mine", "Qwen2-VL, run here"]
    assert [each.brief for each in found] == ["Qwen2-VL", "mine", "hub"]
    assert chapters.labelled(found, "Qwen2-VL") is found[0]
    assert chapters.labelled(found, "LLaVA-NeXT") is None
    assert chapters.side(found[:1]) == "pocket" and chapters.side(found) == "run here"
    assert "records" in repr(chapters.stamp_of(found))


def test_a_model_may_be_named_by_its_path_and_records_lie_here_or_in_the_repository(
    folder, tmp_path, monkeypatch
):
    (named,) = chapters.subjects([f"checkpoints/{QWEN}"], folder)
    assert named.name == QWEN
    monkeypatch.chdir(tmp_path)
    (frozen,) = chapters.subjects([QWEN], "data_manifests/records")
    assert frozen.path == FROZEN_RECORDS / f"{QWEN}.parquet"


def test_validation_rows_may_have_records_of_their_own(tmp_path):
    whole = records_of(QWEN)
    stamp = {**whole.stamp, "prompts": "p"}
    write_records(tmp_path / f"{QWEN}.parquet", replace(whole, stamp=stamp))
    (subject,) = chapters.subjects([QWEN], tmp_path)
    validation = np.flatnonzero(chapters.split(subject.records) == "validation")
    assert subject.tuned.records.table.equals(subject.records.take(validation).table)

    more = {**stamp, "methods": [*stamp["methods"], {"name": "one more"}]}
    beside = tmp_path / "validation" / f"{QWEN}.parquet"
    part = whole.take(validation)
    built = [row | {f"{k}:one more": None for k in ("tokens", "text", "parsed")}
             for row in part.table.to_pylist()]  # fmt: skip
    table = build_table(built, [*part.policies, "one more"])
    write_records(beside, Records(table, more, part.pieces))
    (subject,) = chapters.subjects([QWEN], tmp_path)
    assert "one more" in subject.tuned.records.policies and subject.tuned.path == beside

    for change, told in (({"revision": "x"}, "other revision"), ({"prompts": "x"}, "other prompt")):
        write_records(beside, Records(table, {**more, **change}, part.pieces))
        (subject,) = chapters.subjects([QWEN], tmp_path)
        with pytest.raises(RecordsError, match=told):
            _ = subject.tuned
    write_records(beside, Records(table.slice(1), more, part.pieces))
    with pytest.raises(RecordsError, match="other rows"):
        _ = chapters.subjects([QWEN], tmp_path)[0].tuned


def test_two_models_of_one_family_keep_apart(folder):
    twins = chapters.subjects([QWEN, "seed1"], folder)
    assert [each.label for each in twins] == ["Qwen2-VL", "Qwen2-VL"]
    assert [each.brief for each in twins] == ["Qwen2-VL", "seed1"]
    assert [each.shown for each in twins] == ["pocket Qwen2-VL", "pocket Qwen2-VL (seed1)"]
    sets = {each.name: each.sets("any", "rows") for each in twins}
    bars = nonrobust_share.shared_bars(twins, sets)
    assert list(bars["here"]) == ["Qwen2-VL alone", "both", "seed1 alone"]


def test_subjects_refuse_nothing_absent_records_and_other_rows(folder):
    with pytest.raises(ValueError, match="names no model"):
        chapters.subjects([], folder)
    with pytest.raises(RecordsError, match=r"absent\.parquet holds no records"):
        chapters.subjects(["absent"], folder)
    with pytest.raises(ValueError, match="of different rows"):
        chapters.subjects([QWEN, "cut"], folder)


def test_sets_keep_to_their_part_of_the_split(pair):
    test, validation = (pair[0].sets("any", "rows", part) for part in ("test", "validation"))
    assert test["all"].sum() == 95 and validation["all"].sum() == 24  # one of 120 has an error
    assert not (test["all"] & validation["all"]).any()
    assert (test["overlap"] == (test["B"] & test["S"])).all() and test["overlap"].any()


def test_rows_are_accounted_for(pair):
    table = chapters.rows_table(pair, "any", "rows").frame
    assert table.loc[pair[0].shown].tolist() == ["120", "1", "95", "24"]


def test_a_row_carries_percent_and_a_verdict_only_where_something_is_claimed():
    found = Interval(0.5, 0.4, 0.7, 10, 5)
    plain = chapters.row(found, paper=45.0)
    assert (plain["paper"], plain["reproduced"], plain["low"]) == (45.0, 50.0, 40.0)
    assert plain["verdict"] is None
    assert chapters.row(found, claim="greater")["verdict"] == "holds"
    assert chapters.row(found, claim="less")["verdict"] == "fails"
    assert chapters.row(found, claim="less", fit=False)["verdict"] == "not comparable"
    shown = chapters.levels(pd.DataFrame([plain]), name="t", caption="c", ours="pocket")
    assert list(shown.frame.columns) == ["paper", "pocket", "Δ", "n", "95 % interval"]


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "inconclusive"], "inconclusive"),
        (["not comparable", "holds"], "not comparable"),
        (["inconclusive", "fails", "holds"], "fails"),
        ([], "not comparable"),
    ],
)
def test_a_claim_of_several_parts_is_no_better_than_its_worst(verdicts, whole):
    assert chapters.overall(verdicts) == whole


def test_words_follow_the_sign():
    assert chapters.gain(3.214) == "gains 3.21 points"
    assert chapters.gain(-3.214) == "loses 3.21 points"
    assert chapters.gain(-0.004) == "neither gains nor loses"
    assert chapters.gain(float("nan")) == "has no row"
    line = chapters.row(Interval(-0.1, -0.2, -0.05, 1234, 9), claim="greater")
    text = chapters.finding("SCI5 − VCD", line)
    assert text == "SCI5 − VCD: −10.00 points, interval [−20.00, −5.00], 1,234 rows: *fails*"
    empty = chapters.row(Interval(np.nan, np.nan, np.nan, 0, 0), claim="greater")
    assert "not comparable" in chapters.finding("x", empty)


# --- Table 1 and Figure 1(c) -------------------------------------------------------------------


def test_sizes_count_rows_beside_the_papers(pair, sets):
    frame = subset_sizes.sizes(pair[0], sets[QWEN])
    mcq = (pair[0].records.frame["question_type"] == "mcq").to_numpy()
    inside = sets[QWEN]["B"].to_numpy() & mcq
    line = frame.loc["B, MCQ"]
    assert line["rows"] == inside.sum() and line["n"] == (sets[QWEN]["all"].to_numpy() & mcq).sum()
    assert line["reproduced"] == pytest.approx(100 * line["rows"] / line["n"])
    assert line["paper rows"] == 1080 and line["paper"] == pytest.approx(100 * 1080 / 10632)
    for kind in KINDS:
        part = frame["rows"]
        assert part[f"BS, {kind}"] == (
            part[f"B, {kind}"] + part[f"S, {kind}"] - part[f"overlap, {kind}"]
        )
    table = subset_sizes.size_table(pair[0], frame, name="t", caption="c")
    assert table.frame.loc["B, Overall", ("rows", "paper")] == "1407"
    assert table.frame.loc["B, Overall", ("rows", "pocket")] == str(sets[QWEN]["B"].sum())


def test_sizes_of_a_model_the_paper_lacks_stand_alone(folder):
    mine = chapters.subjects(["mine"], folder)[0]
    frame = subset_sizes.sizes(mine, mine.sets("any", "rows"))
    assert frame["paper"].isna().all() and frame["rows"].gt(0).any()


def test_statements_are_paired_differences_of_shares(pair, sets):
    frame = subset_sizes.statements(pair, PAIR, "any", "rows")
    paper = subset_sizes.paper_numbers(pair, PAIR)
    assert sorted(round(value, 2) for value in paper.values()) == [-11.43, 6.37, 7.73]
    page = findings.of_page("table01_subset_sizes", pair)
    assert set(paper) == {
        (finding.model, part) for finding in page if finding.claim.leads
        for part, *_ in finding.parts
    }  # fmt: skip
    share = {(name, s): 100 * sets[name][s].sum() / 95 for name in sets for s in ("B", "S", "BS")}
    expected = [
        share[QWEN, "BS"] - share[LLAVA, "BS"],
        share[QWEN, "B"] - share[QWEN, "S"],
        share[LLAVA, "S"] - share[QWEN, "S"],
    ]
    assert frame["reproduced"].tolist() == pytest.approx(expected)


def test_statements_about_an_absent_model_are_not_comparable(pair):
    alone = subset_sizes.statements(pair[:1], PAIR, "any", "rows")["verdict"].tolist()
    assert alone[0] == alone[2] == "not comparable" and alone[1] != "not comparable"


def test_floors_look_at_the_validation_rows(pair):
    frame = subset_sizes.floors(pair[0], "rows", "any")
    sets = pair[0].sets("any", "rows", "validation")
    assert frame["rows"].sum() == sets["B"].sum() + sets["S"].sum()
    assert set(frame["reached"]) == {"no"} and frame["floor"].tolist() == [125, 50, 125, 50]


def test_lift_is_one_for_independent_masks_and_the_inverse_share_for_equal_ones():
    one, other = np.repeat([True, False], 50), np.tile([True, False], 50)
    clusters = np.arange(100)
    found = nonrobust_share.lift(one, other, clusters, 0.95)
    assert found.estimate == pytest.approx(1) and found.low < 1 < found.high
    assert (found.n, found.clusters) == (100, 100)
    assert nonrobust_share.lift(one, one, clusters, 0.95).estimate == pytest.approx(2)
    assert nonrobust_share.lift(one, one & ~one, clusters, 0.95).n == 0


def test_shared_rows_stand_beside_the_papers_in_either_order(pair, sets):
    frame = nonrobust_share.shared(pair, sets)
    both = sets[QWEN]["BS"] & sets[LLAVA]["BS"]
    assert frame.loc["both", "reproduced"] == pytest.approx(100 * both.sum() / 95)
    page = findings.of_page("fig01c_nonrobust_share", pair)
    (own,) = (each for each in findings.leading(page) if each.model == QWEN)
    assert own.found.estimate == pytest.approx(both.sum() / sets[QWEN]["BS"].sum())
    paper = nonrobust_share.paper_numbers(pair)
    assert paper[QWEN, own.part] == pytest.approx(100 * 7.34 / (100 * 1756 / 13251))
    assert frame.loc["both, times independence", "paper"] == pytest.approx(2.2445, abs=1e-3)
    assert nonrobust_share.paper_numbers(pair[::-1]) == paper
    assert nonrobust_share.shared(pair[:1], sets)["n"].tolist() == [0]
    alone = findings.of_page("fig01c_nonrobust_share", pair[:1])
    assert findings.verdict_of(alone) == "not comparable"


def test_parts_of_bs_add_up(pair, sets):
    frame = nonrobust_share.failures(pair, sets)
    for name in ("Qwen2-VL", "LLaVA-NeXT"):
        for column in ("paper", "reproduced"):
            parts = [
                frame.loc[f"{name}: {part}", column] for part in ("B only", "S only", "B and S")
            ]
            assert sum(parts) == pytest.approx(frame.loc[f"{name}: BS", column])
    assert frame.loc["LLaVA-NeXT: BS", "paper"] == pytest.approx(24.68, abs=0.005)


# --- Tables 2 and 9 ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "method", "kind", "percent"),
    [
        ("LLaVA-NeXT", "base", "Overall", 55.0),
        ("LLaVA-NeXT", "SCI5", "Overall", 49.9),
        ("LLaVA-NeXT", "base", "Others", 48.8),
        ("LLaVA-NeXT", "SCI5", "Others", 61.0),
        ("LLaVA-NeXT", "SCI5", "MCQ", 42.3),
        ("Qwen2-VL", "base", "Overall", 48.4),
        ("Qwen2-VL", "M3ID", "Overall", 47.6),
    ],
)
def test_what_the_paper_implies_for_sensitive_only_rows(label, method, kind, percent):
    implied = drbench_tables.paper_accuracy(label)[method, "S∖B", kind]
    assert implied == pytest.approx(percent, abs=0.05)


def test_outcomes_hold_no_result_for_a_sample_with_an_error(pair, right):
    spoilt = ~pair[0].records.ok
    assert spoilt.sum() == 1
    for outcome in right[QWEN].values():
        assert np.isnan(outcome[spoilt]).all() and np.isfinite(outcome[~spoilt]).all()


def test_accuracies_stand_beside_the_papers(pair, accuracies):
    table = drbench_tables.accuracy_on("BS", accuracies, pair[0])
    assert table.frame.index[0] == "base" and table.frame.index[-1] == "uniform other"
    assert table.frame.loc["SCI5", ("Overall", "paper")] == "29.50"
    assert table.frame.loc["runner-up", ("Overall", "paper")] == "—"
    assert list(table.frame.columns)[-1] == ("Overall", "95 % interval")
    on_b = drbench_tables.accuracy_on("B", accuracies, pair[0])
    assert on_b.frame.loc["base", ("Overall", "pocket")] == "0.00"
    assert 'id="T_pocket-qwen2vl-B"' in on_b._repr_html_()
    elsewhere = drbench_tables.accuracy_elsewhere(("S∩L", "all"), accuracies, pair[0])
    assert elsewhere.frame.index.tolist() == [
        name for name in table.frame.index if name not in drbench_tables.INPUTS
    ]


def test_flips_are_counted_against_the_base(pair, sets, right):
    frame = drbench_tables.flip_table(right[QWEN], sets[QWEN], pair[0]).frame
    base, method, rows = right[QWEN]["base"], right[QWEN]["SCI5"], sets[QWEN]["S"].to_numpy()
    lost = int(((base == 1) & (method == 0) & rows).sum())
    assert frame.loc["SCI5", ("S", "lost")] == str(lost)


def test_contrasts_are_paired_and_adjusted_over_all_models(pair, sets, right):
    found = drbench_tables.family(pair, sets, right)
    frame = found[QWEN]
    assert frame.index[0] == "SCI5 − base, B *" and "SCI5 − runner-up, B" in frame.index
    rows = sets[QWEN]["BS"].to_numpy()
    gap = 100 * (right[QWEN]["SCI5"] - right[QWEN]["VCD"])[rows].mean()
    assert frame.loc["SCI5 − VCD, BS", "reproduced"] == pytest.approx(gap)
    assert frame.loc["SCI5 − VCD, BS", "paper"] == pytest.approx(29.50 - 23.12)
    p = np.concatenate([each["sign_flip"] for each in found.values()])
    adjusted = np.concatenate([each["holm"] for each in found.values()])
    assert adjusted.min() == pytest.approx(min(1, p.min() * len(p)))
    alone = drbench_tables.contrasts(
        pair[0], sets[QWEN], right[QWEN], [("SCI5", "VCD", "BS")], 0.95
    )
    width = alone["high"] - alone["low"]
    assert width.iloc[0] < frame.loc["SCI5 − VCD, BS", "high"] - frame.loc["SCI5 − VCD, BS", "low"]
    assert drbench_tables.contrast_table(frame, pair[0], "c").frame.columns[-1] == "verdict"
    table = drbench_tables.p_table({QWEN: frame.assign(mcnemar=1e-9)}, pair[:1]).frame
    assert set(table[pair[0].shown, "McNemar"]) == {"< 0.0001"}
    shown = table[pair[0].shown, "Holm"].astype(float)
    assert shown.tolist() == pytest.approx(frame["holm"].tolist(), abs=5e-5)


def test_the_paper_stands_beside_the_reading_its_tables_fit(pair, right):
    frame = drbench_tables.other_readings(pair, right)
    assert len(frame) == 8
    beside = frame["paper"].notna()
    assert frame.index[beside].tolist() == [f"{each.label}: any, by rows" for each in pair]


def test_the_reading_is_made_of_the_tables_numbers(pair, sets, right, accuracies):
    claims = drbench_tables.family(pair, sets, right)[QWEN]
    first = drbench_tables.first_trap(pair[0], accuracies, claims)
    assert "base is right on 0.00 %" in first and "pocket Qwen2-VL" in first
    second = drbench_tables.second_trap(pair[0], accuracies, right[QWEN], sets[QWEN])
    rows = sets[QWEN]["S∖B"].to_numpy()
    gap = 100 * (right[QWEN]["SCI5"] - right[QWEN]["base"])[rows].mean()
    assert f"SCI5 {chapters.gain(gap)} on S∖B" in second


def test_figures_draw_every_model_and_leave_out_what_is_not_there(pair, sets, accuracies):
    every = dict.fromkeys((QWEN, LLAVA), accuracies)
    drawn = drbench_tables.draw_accuracies(pair, every)
    assert [ax.get_title().split(",")[0] for ax in drawn.axes[:4]] == ["B", "S", "BS", "S∖B"]
    assert [ax.get_ylabel() for ax in drawn.axes[::4]] == [each.shown for each in pair]
    figure, (first, ax) = plt.subplots(1, 2, sharex=True)
    for panel, each in zip((first, ax), pair, strict=True):
        sizes = subset_sizes.sizes(each, sets[each.name])
        subset_sizes.draw_sizes(panel, sizes, title="t")
        assert panel.get_xlim()[0] == 0 and panel.get_xlim()[1] > sizes["high"].max()
    assert len(ax.get_yticklabels()) == 12
    ax.clear()
    bars = nonrobust_share.failure_bars(pair, sets)
    nonrobust_share.draw_bars(ax, bars)
    assert [text.get_text() for text in ax.get_yticklabels()] == list(bars) and len(bars) == 4
    assert list(nonrobust_share.shared_bars(pair, sets)) == ["paper", "here"]
    assert nonrobust_share.shared_bars(pair[:1], sets) == {}
    plt.close(figure)
    plt.close(drawn)


def test_the_stamp_tells_of_rows_that_a_limit_left_out(tmp_path):
    records = drawn_records("m", datasets=("tiny_mme", "tiny_vilp"), rows=12)
    assert chapters.rows_read(records, {"tiny_mme": 12, "tiny_vilp": 900}) == "tiny_vilp: 12 of 900"
    assert chapters.rows_read(records, {"tiny_mme": 12, "tiny_vilp": 12}) == ""
    # Of a reader's own data, which no manifest of this book describes, all that is known is said.
    assert chapters.rows_read(records) == "tiny_mme: 12, tiny_vilp: 12"
    write_records(tmp_path / "m.parquet", records)
    lines = chapters.stamp_of(chapters.subjects(["m"], tmp_path)).frame[""]
    assert lines["rows"] == "tiny_mme: 12, tiny_vilp: 12"


def test_the_books_own_records_are_whole():
    whole = chapters.subjects(["pocket-qwen2vl"], "data_manifests/records")[0]
    assert "rows" not in chapters.stamp_of([whole]).frame.index
    few = replace(whole, records=whole.records.take(np.arange(52)))
    assert chapters.stamp_of([few]).frame[""]["rows"].startswith("pocket_mmbench_en: 52 of 4,876")

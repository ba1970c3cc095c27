"""The ladders of rounds, their steps and cost; records beside the ordinary ones."""

import dataclasses

import made_up
import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters import scaling, scaling_cost, scaling_figures
from sci_book.papers.shared import chapters, extended
from sci_book.results.records import RecordsError, write_records
from sci_core.methods import SCI3, SCI5, SCI7, sci

QWEN, SHORT = "pocket-qwen2vl", "bare"


@pytest.fixture(scope="module")
def pair(beside):
    return chapters.subjects([QWEN, SHORT], beside)


@pytest.fixture(scope="module")
def longest(beside, pair):
    return [extended.extended(each, beside / "extended") or each for each in pair]


def sets_of(subjects):
    return {each.name: each.sets("any", "rows") for each in subjects}


def test_a_model_need_not_have_extended_records(beside, pair, longest):
    assert longest[1] is pair[1]
    assert max(scaling.climb(longest[0])) == 15 and max(scaling.climb(pair[0])) == 7
    assert len(longest[0].records.table) == 90 and longest[0].shown == pair[0].shown
    assert extended.extended(pair[0], beside / "extended", "normalized") is None
    assert extended.extended(pair[0], beside / "nowhere") is None


def test_extended_records_keep_to_rows_that_the_ordinary_ones_have(beside, pair):
    few = dataclasses.replace(pair[0], records=pair[0].records.take(np.arange(0, 150, 3)))
    found = extended.extended(few, beside / "extended")
    assert found.records.frame["index"].tolist() == list(range(0, 90, 3))
    back = extended.on_rows_of(pair[0], found)
    assert back.records.frame["index"].tolist() == list(range(0, 90, 3))
    apart = dataclasses.replace(pair[0], records=pair[0].records.take(np.arange(100, 150)))
    assert extended.extended(apart, beside / "extended") is None


@pytest.mark.parametrize(
    ("stamp", "variant", "field"),
    [
        ({"revision": "other"}, "", "revision"),
        ({"datasets": {"x": "other"}}, "", "x"),
        ({"noise": "clamp"}, "", "noise"),
        ({}, "clamp", "noise"),
    ],
)
def test_extended_records_of_another_run_are_refused(stamp, variant, field, pair, tmp_path):
    name = f"{QWEN}-{variant}" if variant else QWEN
    write_records(tmp_path / f"{name}.parquet", made_up.records_of(QWEN, rows=12, **stamp))
    with pytest.raises(RecordsError, match=f"differ in {field}. Make it anew with `sci evaluate"):
        extended.extended(pair[0], tmp_path, variant)


def test_the_stamp_names_every_file(beside, pair, longest):
    text = repr(chapters.stamp_of(pair[:1], [longest[0].path]))
    assert f", extended/{QWEN}: " in text and "x: sum" in text


def test_ladders_are_the_presets_and_stop_where_the_records_do(longest):
    rounds = longest[0].records.rounds
    both = scaling.ladder("both", "τ₁ grows", rounds)
    assert list(both) == [1, 3, 5, 7, 9, 11, 13, 15]
    assert [both[size] for size in (3, 5, 7)] == [SCI3, SCI5, SCI7]
    dummies = scaling.ladder("dummies alone", "τ₁ grows", rounds)
    assert list(dummies) == list(range(3, 11)) and dummies[5] == SCI5
    assert {each.textual for each in dummies.values()} == {SCI5.textual}
    rewrites = scaling.ladder("rewrites alone", "τ₁ grows", rounds)
    assert {each.visual for each in rewrites.values()} == {SCI5.visual}
    assert list(scaling.ladder("both", "τ₁ grows", rounds[:1])) == [1]


@pytest.mark.parametrize("rule", scaling.RULES)
def test_rules_agree_on_sci5_and_only_the_first_lets_the_margin_grow(rule, longest):
    made = scaling.ladder("both", rule, longest[0].records.rounds)
    margins = [
        each.raw_margin if each.raw_margin is not None else each.tau1 * np.log(1 / each.beta)
        for each in made.values()
    ]
    assert margins[2] == pytest.approx(SCI5.margin) == pytest.approx(2 * np.log(1 / 0.3))
    assert (len({round(each, 9) for each in margins}) == 1) == (rule != "τ₁ grows")
    assert (len({each.tau1 for each in made.values()}) == 1) == (rule == "τ₁ kept")


def test_a_climb_is_what_each_size_answers(longest):
    found = scaling.named(scaling.climb(longest[0]))
    records = longest[0].records
    assert list(found) == ["base", *(f"SCI{k}" for k in range(3, 16, 2))]
    for name, outcome in found.items():
        assert (outcome[records.ok] == records.correct(name)[records.ok]).all()
    kept = scaling.climb(longest[0], "both", "margin kept")
    assert (kept[5] == found["SCI5"]).all() and (kept[1] == found["base"]).all()


def test_accuracies_stand_beside_the_papers(pair):
    sets = sets_of(pair)[QWEN]
    found = scaling.accuracies(scaling.climb(pair[0]), pair[0], sets[["B", "BS"]])
    table = scaling.rounds_table(found, pair[0], sets[["B", "BS"]], caption="c").frame
    rounds = [*(f"{k} round{'s' * (k > 1)}" for k in (1, 3, 5, 7)), "runner-up", "uniform other"]
    assert table.index.tolist() == [f"{s}, {each}" for s in ("B", "BS") for each in rounds]
    assert table.loc["BS, 5 rounds", ("Overall", "paper")] == "29.50"
    assert table.loc["B, 1 round", ("Overall", "pocket")] == "0.00"
    right = pair[0].records.correct("SCI5")[sets["BS"].to_numpy()]
    assert table.loc["BS, 5 rounds", ("Overall", "pocket")] == f"{100 * right.mean():.2f}"
    assert table.loc["BS, 5 rounds", ("Overall", "n")] == str(len(right))
    on_bs = scaling.on_bs(scaling.climb(pair[0]), pair[0], sets)
    assert on_bs.index.tolist() == [1, 3, 5, 7]
    assert on_bs.loc[5, ["value", "n"]].tolist() == pytest.approx([100 * right.mean(), len(right)])
    overall = found[(found["question_type"] == "Overall") & (found["subset"] == "BS")]
    columns = ["value", "low", "high", "n"]
    same = overall.set_index("rounds").loc[on_bs.index, columns]
    assert on_bs[columns].to_numpy() == pytest.approx(same.to_numpy(dtype=float))


def test_steps_are_paired_and_leave_out_who_cannot_climb(pair, longest):
    sets = sets_of(longest)
    right = {each.name: scaling.named(scaling.climb(each)) for each in longest}
    found = scaling.steps(longest, sets, right, scaling.STEPS_BEYOND, ["BS"], printed=False)
    assert list(found) == [QWEN]
    records, rows = longest[0].records, sets[QWEN]["BS"].to_numpy()
    gap = 100 * (records.correct("SCI15")[rows].mean() - records.correct("SCI7")[rows].mean())
    assert found[QWEN].loc["SCI15 − SCI7, BS", "reproduced"] == pytest.approx(gap)
    assert found[QWEN]["paper"].isna().all()
    assert scaling.steps(longest[1:], sets, right, scaling.STEPS_BEYOND, ["BS"]) == {}

    ordinary = scaling.steps(longest, sets, right, scaling.STEPS, ["BS"])
    paper = scaling.paper_numbers(longest)
    assert [part for _, part in paper] == ["SCI5 − SCI3, BS", "SCI7 − SCI5, BS"]
    assert [round(value, 2) for value in paper.values()] == [2.56, 2.22]
    lines = scaling.joined({"a rule": ordinary}, longest)
    assert len(lines) == 6 and lines.index[-1] == f"{SHORT}, a rule: SCI7 − SCI5, BS"


def test_kinds_apart_are_differences_along_their_ladders(longest):
    sets = sets_of(longest)
    found = scaling.apart(longest, sets)
    assert found.index.tolist() == [
        "Qwen2-VL: dummies alone, 5 − 3 rounds", "Qwen2-VL: dummies alone, 10 − 5 rounds",
        "Qwen2-VL: rewrites alone, 5 − 3 rounds", "Qwen2-VL: rewrites alone, 10 − 5 rounds",
        "bare: dummies alone, 5 − 3 rounds", "bare: dummies alone, 6 − 5 rounds",
        "bare: rewrites alone, 5 − 3 rounds", "bare: rewrites alone, 6 − 5 rounds",
    ]  # fmt: skip
    rows = sets[QWEN]["BS"].to_numpy()
    right = [longest[0].replay.right(each)[rows].mean() for each in (sci(7, 2), SCI5)]
    line = found.loc["Qwen2-VL: dummies alone, 10 − 5 rounds"]
    assert line["reproduced"] == pytest.approx(100 * (right[0] - right[1]))


def test_lost_and_won_add_up_to_the_difference(pair):
    sets = sets_of(pair)[QWEN]
    right = scaling.named(scaling.climb(pair[0]))
    frame = scaling.turned(right, sets, pair[0]).frame
    rows = sets["all"].to_numpy()
    lost, won = frame.iloc[-1, -2:]
    change = int(right["SCI7"][rows].sum() - right["base"][rows].sum())
    assert int(won) - int(lost) == change
    held = int(right["base"][rows].sum())
    assert frame.columns[-2] == (f"all, {rows.sum()} rows", f"lost of {held}")


def test_a_rewrite_costs_its_tokens_and_a_dummy_a_picture():
    both, dummies, rewrites = (scaling_cost.counted(kind, 320) for kind in scaling.LADDERS)
    assert both[7] == pytest.approx(1430 / 415) and both[1] == 1
    assert rewrites[10] - rewrites[9] == pytest.approx(35 / 415)
    assert dummies[10] - dummies[9] == pytest.approx(1)


def result_of(model):
    rows = [
        {"data": "pocket", "strategy": strategy, "cache": "warm", "prompts": "own",
         "model": model, "method": name, "image_tokens": 9, "batch": 16, "new_tokens": 8,
         "ratio_median": ratio, "ratio_q1": ratio - 0.1, "ratio_q3": ratio + 0.1,
         "token_rows_ratio": ratio + 1}
        for name, strategy, ratio in (("base", "base", 1.0), ("SCI3", "two_phase_gate", 1.5),
                                      ("SCI7", "two_phase_gate", 4.0))
    ]  # fmt: skip
    made_up_rows = [
        {**rows[1], "data": "made up", "model": "size", "strategy": "two_phase", "batch": 1,
         "image_tokens": 320, "new_tokens": new}
        for new in (1, 5)
    ]  # fmt: skip
    return {"frame": pd.DataFrame([*rows, *made_up_rows])}


def test_time_stands_where_it_was_measured(pair):
    found = scaling_cost.measured(result_of(QWEN), QWEN)
    assert found["ratio_median"].to_dict() == {3: 1.5, 7: 4.0}
    assert scaling_cost.measured(result_of(QWEN), "mine").empty
    assert scaling_cost.measured(None, QWEN).empty
    costs = {1: 1.0, 3: 1.25, 5: 2.0, 7: 3.0, 9: 4.0}
    table = scaling_cost.cost_table(result_of(QWEN), pair, costs, 320).frame
    assert table.index.tolist() == ["base", "SCI3", "SCI5", "SCI7", "SCI9"]
    assert table["tokens", "counted, 320"].tolist() == ["1.00", "1.25", "2.00", "3.00", "4.00"]
    assert table["time, twins", "Qwen2-VL"].tolist() == ["1.00", "1.50", "—", "4.00", "—"]
    assert table["time, 320", "size"].tolist() == ["1.00", "1.50", "—", "—", "—"]
    counted = scaling_cost.cost_table(None, pair, costs, 320).frame
    assert list(counted.columns) == [("tokens", "counted, 320")]


def test_everything_is_said_and_drawn_without_a_row_in_bs(pair, longest):
    for subjects, empty in ((longest, False), (pair, True)):
        sets = sets_of(subjects)
        if empty:
            sets = {name: frame & False for name, frame in sets.items()}
        long = {
            each.name: scaling.accuracies(scaling.climb(each), each, sets[each.name])
            for each in subjects
        }
        bs = {
            each.name: {
                kind: scaling.on_bs(scaling.climb(each, kind), each, sets[each.name])
                for kind in ("both", "dummies alone")
            }
            for each in subjects
        }
        costs = {kind: scaling_cost.counted(kind, 9) for kind in scaling.LADDERS}
        timed = {each.name: scaling_cost.measured(result_of(QWEN), each.name) for each in subjects}
        scaling_figures.draw_rounds(subjects, long).canvas.draw()
        scaling_figures.draw_ladders(subjects, bs, costs, timed).canvas.draw()
        scaling_figures.draw_ladders(subjects, bs, None, timed).canvas.draw()
        text = scaling_cost.price(bs[QWEN]["both"], costs["both"], subjects[0])
        assert ("has no row in BS" in text) == empty and "nan" not in text
        table = repr(scaling.ladder_table(bs[QWEN], subjects[0], name="t"))
        assert "nan" not in table.lower() and ("n = 0" in table) == empty
        right = {each.name: scaling.named(scaling.climb(each)) for each in subjects}
        for frame in scaling.steps(subjects, sets, right, scaling.STEPS, ["BS"]).values():
            assert (frame["n"] == 0).all() == empty
        assert (scaling.apart(subjects, sets)["n"] == 0).all() == empty
        assert "% are proven" in scaling.certainty(subjects[0])

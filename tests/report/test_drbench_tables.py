"""Tables 2 and 9: accuracies, contrasts and null methods beside the paper's."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sci_book.papers.sci.chapters import drbench_tables, nonrobust_share, subset_sizes
from sci_book.papers.shared import chapters
from sci_book.results.records import write_records
from sci_core.methods import METHODS
from tests.report.drawn_records import drawn_records
from tests.report.pair_records import QWEN


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
    alone = drbench_tables.contrasts(pair[0], sets[QWEN], right[QWEN], [("SCI5", "VCD", "BS")])
    assert alone.iloc[0][["low", "high"]].equals(frame.loc["SCI5 − VCD, BS"][["low", "high"]])
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


def test_figures_draw_every_model_and_leave_out_what_is_not_there(pair, sets):
    _, (first, ax) = plt.subplots(1, 2, sharex=True)
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


def test_a_method_is_looked_up_by_its_fields_and_not_by_its_name(pair):
    """Records whose policy "VCD" ran at another β are no answer to what VCD would have said."""
    records = pair[0].records
    np.testing.assert_array_equal(
        drbench_tables.outcomes(pair[0])["VCD"], pair[0].right(METHODS["VCD"])
    )
    other = [{**each, "beta": 0.1} if each["name"] == "VCD" else each
             for each in records.stamp["methods"]]  # fmt: skip
    stamp = {**records.stamp, "methods": other, "max_new_tokens": 1}
    renamed = pair[0].with_records(replace(records, stamp=stamp))
    found, asked = drbench_tables.outcomes(renamed)["VCD"], renamed.right(METHODS["VCD"])
    np.testing.assert_array_equal(found, asked)
    np.testing.assert_array_equal(asked, renamed.replay.right(METHODS["VCD"]))
    np.testing.assert_array_equal(
        renamed.right(replace(METHODS["VCD"], beta=0.1)), pair[0].right(METHODS["VCD"])
    )

"""Tables 2 and 9: accuracies, contrasts and null methods beside the paper's."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sci_book.papers.shared import chapters
from sci_book.results.records import write_records
from sci_core.methods import METHODS
from tests.papers.shared.committed import ran
from tests.papers.shared.drawn_records import drawn_records
from tests.papers.shared.pair_records import LLAVA, QWEN


@pytest.fixture(scope="module")
def page(folder):
    with plt.rc_context():
        return ran("table02_drbench", models=[QWEN, LLAVA], records=str(folder))


def test_outcomes_hold_no_result_for_a_sample_with_an_error(page, pair):
    spoilt = ~pair[0].records.ok
    assert spoilt.sum() == 1
    for name in page["SHOWN"]:
        outcome = page["right"](page["subjects"][0], name)
        assert np.isnan(outcome[spoilt]).all() and np.isfinite(outcome[~spoilt]).all()


def test_accuracies_are_means_beside_the_papers(page, sets, right):
    lines = page["levels"].set_index(["model", "method", "subset", "kind"]).sort_index()
    model = page["subjects"][0].shown
    rows = sets[QWEN]["BS"].to_numpy()
    for name in ("SCI5", "V1", "uniform other"):
        line = lines.loc[model, name, "BS", "Overall"]
        assert line["estimate"] == pytest.approx(100 * right[QWEN][name][rows].mean())
    assert lines.loc[model, "SCI5", "BS", "Overall"]["paper"] == 29.50
    on_b = lines.loc[model, "base", "B", "Overall"]
    assert on_b["estimate"] == 0 and np.isnan(on_b["low"])  # so by construction


def test_contrasts_are_paired(page, sets, right):
    lines = page["contrasts"][page["contrasts"]["model"] == page["subjects"][0].shown]
    line = lines.set_index("contrast").loc["SCI5 − VCD, BS"]
    rows = sets[QWEN]["BS"].to_numpy()
    gaps = (right[QWEN]["SCI5"] - right[QWEN]["VCD"])[rows]
    assert line["estimate"] == pytest.approx(100 * gaps.mean())
    assert line["paper"] == pytest.approx(29.50 - 23.12)
    flipped = page["turned"]["pocket Qwen2-VL: SCI5"]
    change = (right[QWEN]["SCI5"] - right[QWEN]["base"])[sets[QWEN]["S"].to_numpy()]
    assert (flipped["S, lost"], flipped["S, won"]) == ((change < 0).sum(), (change > 0).sum())


def test_the_paper_stands_beside_the_reading_its_tables_fit(page):
    lines = page["readings"]
    assert len(lines) == 8
    assert set(lines[lines["paper"].notna()]["reading"]) == {"any, by rows"}


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
    other = [{**each, "beta": 0.1} if each["name"] == "VCD" else each
             for each in records.stamp["methods"]]  # fmt: skip
    stamp = {**records.stamp, "methods": other, "max_new_tokens": 1}
    renamed = pair[0].with_records(replace(records, stamp=stamp))
    asked = renamed.right(METHODS["VCD"])
    np.testing.assert_array_equal(asked, renamed.replay.right(METHODS["VCD"]))
    np.testing.assert_array_equal(
        renamed.right(replace(METHODS["VCD"], beta=0.1)), pair[0].right(METHODS["VCD"])
    )

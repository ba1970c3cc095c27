"""Finished runs side by side, against counts taken row by row."""

import numpy as np
import pytest

from sci_book.pipeline import runs_compared
from sci_book.results.records import RecordsError, write_records
from tests.papers.shared.drawn_records import drawn_records


@pytest.fixture
def write(tmp_path):
    def one(folder, model="pocket-qwen2vl", keep=None, **options):
        records = drawn_records(model, **options)
        records = records if keep is None else records.take(np.arange(keep))
        path = tmp_path / folder / "records" / f"{model}.parquet"
        write_records(path, records)
        return str(path)

    return one


def test_gains_are_counted_row_by_row(write):
    runs = runs_compared.load([write("a", spoilt=(3,)), write("b", "mine", seed=1, rows=20)])
    frame = runs_compared.gains(runs, "SCI5")
    for run in runs:
        table = run.records.frame
        for name in [*run.records.stamp["datasets"], "all"]:
            rows = [
                place
                for place in range(len(table))
                if run.records.ok[place] and name in ("all", table["dataset"][place])
            ]
            truth = table["truth"]
            base = [table["parsed:original"][k] == truth[k] for k in rows]
            sci = [table["parsed:SCI5"][k] == truth[k] for k in rows]
            line = frame.loc[run.shown, name]
            assert line["n"] == len(rows)
            assert line["base"] == pytest.approx(100 * np.mean(base))
            assert line["method"] == pytest.approx(100 * np.mean(sci))
            assert line["gain"] == pytest.approx(100 * (np.mean(sci) - np.mean(base)))
            assert line["low"] <= line["gain"] <= line["high"]
            assert isinstance(line["verdict"], str) == (name == "all")
    assert frame.loc["pocket-qwen2vl", "all"]["n"] == 4 * 48 - 1
    text = runs_compared.conclusion(runs, frame, "SCI5")
    assert "- pocket-qwen2vl, β = 0.3: " in text and text.count("points, interval [") == 2
    assert "β" not in runs_compared.conclusion(runs, runs_compared.gains(runs, "V1"), "V1")


def test_runs_are_paired_on_the_rows_both_answered(write):
    runs = runs_compared.load([write("a", rows=30), write("b", seed=1, spoilt=(0, 1)), write("c")])
    assert [run.shown for run in runs] == [f"pocket-qwen2vl ({name})" for name in "abc"]
    found = runs_compared.against_first(runs, "SCI5")
    # the first rows of every data set are the same; 30 of each are in all runs
    assert found.loc[(runs[1].shown, "base"), "n"] == 4 * 30 - 2
    right = {run.shown: dict(zip(run.records.keys, run.right("SCI5"), strict=True)) for run in runs}
    first, other = right[runs[0].shown], right[runs[1].shown]
    gaps = [other[key] - first[key] for key in first if np.isfinite(other[key])]
    line = found.loc[runs[1].shown, "SCI5"]
    assert line["difference"] == pytest.approx(100 * np.mean(gaps))
    assert ((found["p"] > 0) & (found["p"] <= 1)).all()


def test_a_row_of_the_same_name_but_another_truth_is_no_common_row(write):
    runs = runs_compared.load([write("a", "one", datasets=("tiny_mme",)),
                               write("b", "two", datasets=("tiny_mmstar",))])  # fmt: skip
    found = runs_compared.against_first(runs, "SCI5")
    assert (found["n"] == 0).all() and found["p"].isna().all()
    assert "nan" not in repr(runs_compared.against_table(found, "one")).lower()


def test_a_method_that_was_not_run_has_no_row(write):
    runs = runs_compared.load([write("a", keep=10)])
    frame = runs_compared.gains(runs, "SCI9")
    assert (frame["n"] == 0).all() and set(frame["verdict"].dropna()) == {"not comparable"}
    assert "there is no such row" in runs_compared.conclusion(runs, frame, "SCI9")
    for table in (
        runs_compared.overview(runs, "SCI9"),
        runs_compared.gains_table(frame, "SCI9"),
        runs_compared.against_table(runs_compared.against_first(runs, "SCI9"), "a"),
    ):
        assert "nan" not in repr(table).lower()


def test_the_base_may_be_the_method(write):
    runs = runs_compared.load([write("a")])
    frame = runs_compared.gains(runs, "base")
    assert (frame["gain"] == 0).all()
    assert "β" not in runs_compared.conclusion(runs, frame, "base")
    runs_compared.draw(frame, "base")


def test_paths_that_are_no_runs_are_refused(write, tmp_path):
    path = write("a")
    for paths in ([], [path, path]):
        with pytest.raises(ValueError, match="one or more different files"):
            runs_compared.load(paths)
    with pytest.raises(RecordsError, match="holds no records"):
        runs_compared.load([str(tmp_path / "nowhere")])

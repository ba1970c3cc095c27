"""Records beside the ordinary ones: more rounds, another noise."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from sci_book.papers.sci.chapters.shapes import built_with
from sci_book.papers.shared import chapters, extended
from sci_book.results.records import RecordsError, write_records
from sci_core.methods import sci
from tests.papers.shared import made_up

QWEN, SHORT = "pocket-qwen2vl", "bare"


@pytest.fixture(scope="module")
def pair(beside):
    return chapters.subjects([QWEN, SHORT], beside)


@pytest.fixture(scope="module")
def longest(beside, pair):
    return [extended.extended(each, beside / "extended") or each for each in pair]


def test_a_model_need_not_have_extended_records(beside, pair, longest):
    assert longest[1] is pair[1]
    assert sci(7, 7).rounds == tuple(longest[0].records.rounds)
    assert set(sci(3, 3).rounds) == set(pair[0].records.rounds)
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


def test_the_conditions_of_longer_records_are_those_of_the_ordinary_ones(beside, pair, longest):
    assert longest[0].path != pair[0].path
    assert longest[0].unmet == pair[0].unmet == pair[0].tuned.unmet


def test_built_with_scis_rounds_it_is_drbench(longest):
    mine = built_with(longest[0].records, ("black", "noise500"), ("V1", "V2"))
    test = longest[0].sets("any", "rows")
    mine = mine & test["all"].to_numpy()[:, None]
    pd.testing.assert_frame_equal(mine, test[mine.columns], check_dtype=False)
    assert mine["B"].any() and mine["S"].any()


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

"""Rows in the order of their pictures' sizes, so that a large model reads black once a size."""

from collections import Counter
from dataclasses import replace

import pytest

from sci_book.data.pictures import size_in_header
from sci_book.data.rows import short_hash
from sci_book.run import layout
from sci_book.run.shards import evaluate_rows
from sci_core import PrefixCache, sci
from tests import tiny
from tests.data import formats

SIZES = [(56, 112), (112, 56), (56, 84), (84, 56), (84, 84)]


@pytest.fixture(scope="module")
def sized(world):
    """The small world, each row with a picture of its own, of five sizes; many batches a block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "BATCHES_A_BLOCK", 8)
        yield replace(world, rows=tuple(map(with_picture, world.rows, range(len(world)))))


def with_picture(row, number):
    content = formats.png(number, SIZES[number % len(SIZES)])
    return replace(row, image_bytes=content, image_file=None, image_hash=short_hash(content))


def plan_of(world, store):
    plan = layout.make_plan(
        tiny.load("qwen2_vl"), world, [sci(1, 0)], batch_size=4, max_new_tokens=1
    )
    return replace(plan, prefixes=store)


def blacks(plan, monkeypatch):
    """How often the run encodes a black picture; its store holds one."""
    counts, encode = Counter(), plan.model.encode

    def counting(pictures):
        counts["black"] += sum(
            picture.inputs["pixel_values"].unique().numel() <= 3 for picture in pictures
        )
        return encode(pictures)

    with monkeypatch.context() as patch:
        patch.setattr(plan.model, "encode", counting)
        for shard in plan.shards:
            for batch in shard:
                evaluate_rows(plan, batch)
    return counts["black"]


def test_a_large_model_reads_black_about_once_a_size(sized, monkeypatch):
    one = PrefixCache(constants_only=True)
    for batch in plan_of(sized, one).shards[0]:
        evaluate_rows(plan_of(sized, one), batch[:1])
    small = 3 * one.bytes // (2 * len(one))
    by_hash = plan_of(sized, PrefixCache(small, constants_only=True))
    monkeypatch.setattr(layout, "SMALL_MODEL", 0)
    by_size = plan_of(sized, PrefixCache(small, constants_only=True))
    assert blacks(by_size, monkeypatch) == len(SIZES) < blacks(by_hash, monkeypatch)
    assert (by_size.stamp["order"], "order" in by_hash.stamp) == ("size", False)


def test_a_small_model_and_pictures_of_one_size_keep_their_order(sized, monkeypatch):
    """Frozen records are of small models: their batches, and their stamps, stay what they were."""
    same = tuple(row for row in sized if size_in_header(row.image_bytes) == SIZES[0])
    one_size = replace(sized, rows=same)
    before = plan_of(one_size, PrefixCache())
    monkeypatch.setattr(layout, "SMALL_MODEL", 0)
    after = plan_of(one_size, PrefixCache())
    assert (after.shards, after.stamp) == (before.shards, before.stamp)


def test_every_row_is_there_once_in_either_order(sized, monkeypatch):
    monkeypatch.setattr(layout, "SMALL_MODEL", 0)
    dealt = [row for shard in plan_of(sized, PrefixCache()).shards for b in shard for row in b]
    assert sorted(map(id, dealt)) == sorted(map(id, sized.rows))


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n\0"])
def test_what_is_no_picture_has_no_size(content):
    assert size_in_header(content) == (0, 0)

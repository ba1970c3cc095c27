"""Records, or a fixed part of them, are verified by decoding them anew."""

import dataclasses

import numpy as np
import pytest

from sci_book.data import datasets
from sci_book.results.records import RecordsError, read_records, write_records
from sci_book.run import layout, runner, verify
from sci_core.methods import SCI5
from tests.world import EDIT_ONCE, METHODS, SETTINGS


@pytest.mark.slow
def test_noise_is_recorded_where_it_is_not_the_default_and_verified_with(
    model, world, run, tmp_path
):
    part = layout.hashed_part(world, 2)
    methods, made = (SCI5, EDIT_ONCE), {}
    for noise in ("clamp", "wrap", "normalized"):
        made[noise] = runner.evaluate(
            model, part, methods, tmp_path / noise, noise=noise, **SETTINGS
        )
        assert verify.verify_subset(model, made[noise], part, share=1).passed
        # Under the other noise the same questions come out otherwise.
        other = "wrap" if noise == "clamp" else "clamp"
        forged = dataclasses.replace(made[noise], stamp={**made[noise].stamp, "noise": other})
        found = verify.verify_subset(model, forged, part, share=1)
        assert found.largest_logit_change > 1e-3
    assert [each.stamp.get("noise") for each in made.values()] == [None, "wrap", "normalized"]
    for before, after in (("wrap", "clamp"), ("clamp", "wrap")):
        with pytest.raises(RecordsError, match=f"noise is .{before}., expected .{after}"):
            runner.evaluate(model, part, methods, tmp_path / before, noise=after, **SETTINGS)


def test_answers_alone_are_the_same_answers(model, world, run, tmp_path):
    settings = SETTINGS | {"record": "answers"}
    bare = runner.evaluate(model, world, METHODS, tmp_path, **settings)
    assert bare.frame.equals(run[1].frame) and not len(bare.nodes.row)
    assert bare.stamp == {**run[1].stamp, "record": "answers"}
    assert verify.verify_subset(model, bare, world, share=1).passed
    with pytest.raises(RecordsError, match=r"record is \"answers\", expected \"logits\""):
        runner.evaluate(model, world, METHODS, tmp_path, **SETTINGS)


def test_the_base_alone_reads_one_round_and_answers_the_same(model, world, run, tmp_path):
    settings = SETTINGS | {"rounds": ("original",)}
    alone = runner.evaluate(model, world, [], tmp_path / "alone", **settings)
    assert alone.rounds == alone.policies == ["original"]
    assert alone.table["tokens:original"].to_pylist() == run[1].table["tokens:original"].to_pylist()
    found = verify.verify_subset(model, alone, world, share=1)
    assert found.passed and found.answers == len(world)
    with_vcd = runner.evaluate(model, world, ["VCD"], tmp_path / "vcd", **settings)
    assert with_vcd.rounds == ["original", "noise500"]


def test_verification_passes_on_frozen_records(model, world, run, tmp_path):
    write_records(tmp_path / "frozen.parquet", run[1])
    result = verify.verify_subset(model, read_records(tmp_path / "frozen.parquet"), world, share=2)
    assert result.passed and 0 < result.rows < 39
    assert result.answers == result.rows * 11
    assert result.largest_logit_change < 1e-3
    assert "0 differ at a near-tie" in result.summary()
    bare = verify.verify_subset(model, run[1].answers_alone(), world, share=2)
    assert bare.answers == result.answers and bare.passed and bare.largest_logit_change == 0


def test_verification_finds_a_changed_answer(model, world, run):
    table = run[1].table
    column = [list(tokens) for tokens in table["tokens:SCI5"].to_pylist()]
    changed = [[tokens[0] + 1 if tokens else 5, *tokens[1:]] for tokens in column]
    place = table.column_names.index("tokens:SCI5")
    forged = dataclasses.replace(
        run[1],
        table=table.set_column(place, "tokens:SCI5", [np.array(changed, dtype=object).tolist()]),
    )
    result = verify.verify_subset(model, forged, world, share=1)
    assert len(result.differences) == 39 and not result.passed
    assert all(each.policy == "SCI5" for each in result.differences)


def test_verification_reads_frozen_texts_by_the_rules_of_today(model, world, run):
    stamp = {key: value for key, value in run[1].stamp.items() if key != "rules"}
    older = dataclasses.replace(run[1], stamp=stamp)
    assert verify.verify_subset(model, older, world, share=1).passed
    table = run[1].table
    place = table.column_names.index("parsed:SCI5")
    kept = table["parsed:SCI5"].to_pylist()
    changed = ["other", *kept[1:]]
    forged = dataclasses.replace(older, table=table.set_column(place, "parsed:SCI5", [changed]))
    result = verify.verify_subset(model, forged, world, share=1)
    assert not result.differences and not result.errors and not result.passed
    (found,) = result.readings
    assert found.endswith(f"is read as {kept[0] or 'unknown'}, was other")


def test_verification_refuses_other_records(model, world, run):
    stamp = {**run[1].stamp, "revision": "another"}
    with pytest.raises(RecordsError, match="revision is"):
        verify.verify_subset(model, dataclasses.replace(run[1], stamp=stamp), world)


def test_a_hashed_part_holds_whole_groups_and_is_always_the_same(world):
    half = layout.hashed_part(world, 2)
    groups = {row.group for row in half}
    assert 0 < len(half) < len(world) and half.digest != world.digest
    assert [row for row in world if row.group in groups] == list(half)
    assert layout.hashed_part(world, 2).digest == half.digest
    assert layout.hashed_part(world, 1).digest == world.digest
    with pytest.raises(datasets.DatasetError, match="share=0; expected 1"):
        layout.hashed_part(world, 0)
    with pytest.raises(datasets.DatasetError, match="is none; give a smaller number"):
        layout.hashed_part(world, 10**9)


def test_the_validation_part_is_every_fifth_row_of_each_data_set(world):
    part = layout.validation_part(world)
    assert [row for row in world if row.position % 5 == 0] == list(part)
    with pytest.raises(datasets.DatasetError, match="holds no validation row"):
        layout.validation_part(dataclasses.replace(part, rows=world.rows[1:2]))

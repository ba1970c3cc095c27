"""A run that several commands share: each has shards of its own, and together they are one run."""

import pytest

from sci_book.results.records import RecordsError, read_records, shard_files, write_records
from sci_book.run import lock, runner
from sci_book.run.finished import finished_records
from sci_book.run.parts import WHOLE, RunPart
from sci_core.methods import SCI3
from tests.world import METHODS, SETTINGS


def merged_bytes(folder, file):
    write_records(file, read_records(folder))
    return file.read_bytes()


@pytest.mark.parametrize("count", [2, 3, 5, 70])
def test_a_run_that_several_commands_share_is_to_the_byte_one_that_none_does(
    count, model, world, run, tmp_path
):
    out, shards = tmp_path / "out", len(shard_files(run[0]))
    numbers = sorted(range(1, min(count, shards + 1) + 1), key=lambda number: (number % 2, -number))
    for place, number in enumerate(numbers):
        part = RunPart(number, count)
        records = runner.evaluate(model, world, METHODS, out, part=part, **SETTINGS)
        assert (records is None) == (place < len(numbers) - 1)
        if records is None:
            with pytest.raises(RecordsError, match=r"shards: the run is not finished|no records"):
                read_records(out)
    assert not list(out.glob("shard-*")) and (out / f"part-1-of-{count}" / "stamp.json").is_file()
    assert merged_bytes(out, tmp_path / "a") == merged_bytes(run[0], tmp_path / "b")
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*")}
    runner.evaluate(model, world, METHODS, out, **SETTINGS)  # is only read
    assert before == {file: file.stat().st_mtime_ns for file in out.rglob("*")}
    assert finished_records(out, None) is None


def test_what_a_missing_part_leaves_is_made_by_the_same_command_without_a_part(
    model, world, run, tmp_path
):
    assert runner.evaluate(model, world, METHODS, tmp_path, part=RunPart(2, 3), **SETTINGS) is None
    kept = {file: file.stat().st_mtime_ns for file in shard_files(tmp_path)}
    records = runner.evaluate(model, world, METHODS, tmp_path, **SETTINGS)
    assert records.table.equals(run[1].table)
    assert kept == {file: file.stat().st_mtime_ns for file in kept}


def test_parts_of_different_runs_do_not_share_a_folder(model, world, tmp_path):
    assert runner.evaluate(model, world, METHODS, tmp_path, part=RunPart(1, 2), **SETTINGS) is None
    with pytest.raises(RecordsError, match="records of another run: methods"):
        runner.evaluate(model, world, [SCI3], tmp_path, part=RunPart(2, 2), **SETTINGS)


def test_parts_are_at_work_at_one_time_and_one_part_is_not_done_twice(model, world, tmp_path):
    first, second = RunPart(1, 2), RunPart(2, 2)
    with lock.held(first.folder(tmp_path)):
        assert runner.evaluate(model, world, METHODS, tmp_path, part=second, **SETTINGS) is None
        with pytest.raises(RecordsError, match=r"Another run is at work in .*part-1-of-2"):
            runner.evaluate(model, world, METHODS, tmp_path, part=first, **SETTINGS)


@pytest.mark.parametrize("count", [1, 2, 7, 16, 100])
@pytest.mark.parametrize("shards", [1, 5, 16, 26])
def test_every_shard_is_in_one_part(count, shards):
    dealt = [shard for number in range(count) for shard in RunPart(number + 1, count).of(shards)]
    assert sorted(dealt) == list(range(shards))


def test_a_part_is_named_as_a_number_of_a_count():
    assert RunPart.named("3/8") == RunPart(3, 8) and RunPart.named(" 1 / 1 ") == WHOLE


@pytest.mark.parametrize("text", ["0/8", "9/8", "8", "a/b", "", "-1/3", "1/0", "1/2/3", "1.0/2"])
def test_what_names_no_part_is_refused(text):
    with pytest.raises(ValueError, match=r"--shard .*expected I/N with I from 1 to N"):
        RunPart.named(text)

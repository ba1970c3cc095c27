"""What tests of runs share: a small world, a tiny model that answers it, a row that fails."""

import dataclasses
import json
import signal

import pytest

from sci_book.data import datasets
from sci_book.data.datasets import Row, load_dataset
from sci_book.run import layout, runner
from sci_core.families.models import load_model
from sci_core.methods import BASE, M3ID, SCI5, SCI7, TIE
from tests import tiny
from tests.data import formats

METHODS = (BASE, TIE, M3ID, SCI5, SCI7)
EDIT_ONCE = dataclasses.replace(SCI5, name="SCI5 first token", edit="first_token")
SETTINGS = {"batch_size": 8, "max_new_tokens": 3, "workers": 1, "progress": False}


class Faulty(Row):
    """A row that shows a fault of the program."""

    def image(self):
        raise RuntimeError("what no row should do\nand more of it")


def with_row(dataset, place, kind=None, **changes):
    """The data set with one row changed, or of another kind of row."""
    rows = list(dataset.rows)
    known = {each.name: getattr(rows[place], each.name) for each in dataclasses.fields(Row)}
    rows[place] = (kind or Row)(**known | changes)
    return dataclasses.replace(dataset, rows=tuple(rows))


def log_of(out):
    """The lines of a run's log."""
    return [json.loads(line) for line in (out / "log.jsonl").read_text("utf-8").splitlines()]


def shard_bytes(out):
    return [file.read_bytes() for file in sorted(out.glob("shard-*.parquet"))]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny.write_checkpoint(tmp_path_factory.mktemp("m"), "qwen2_vl", stops=30)


@pytest.fixture(scope="module")
def model(checkpoint):
    return load_model(checkpoint)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    formats.write_world(folder / "manifests", folder / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "MANIFESTS", folder / "manifests")
        patch.setattr(layout, "BATCHES_A_BLOCK", 1)
        yield load_dataset("world", folder / "data")


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def run(model, world, tmp_path_factory):
    """A finished run: its folder and its records."""
    out = tmp_path_factory.mktemp("run")
    return out, runner.evaluate(model, world, METHODS, out, **SETTINGS)

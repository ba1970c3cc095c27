"""Runs killed at random instants until they are finished: nothing lost, doubled or changed.

A few kills here; `benchmarks/kill_loop.py` does it a hundred times, on pocket data.
"""

import importlib.util
import random
from pathlib import Path

import pytest

from sci_book.results.records import read_records
from sci_book.run import runner
from sci_core.families.models import load_model
from sci_core.methods import SCI3
from tests.soak import rarely

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("kill_loop", ROOT / "benchmarks" / "kill_loop.py")
kill_loop = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kill_loop)

pytestmark = pytest.mark.skipif(
    not hasattr(kill_loop.os, "fork"), reason="processes are forked, which this system cannot"
)


@pytest.fixture(scope="module")
def evaluate(checkpoint, world):
    """Evaluate the small world into a folder."""
    model = load_model(checkpoint, device="cpu")
    settings = {"batch_size": 4, "max_new_tokens": 2, "progress": False}
    return lambda out, executor: runner.evaluate(
        model, world, [SCI3], out, executor=executor, **settings
    )


@pytest.mark.parametrize(
    ("executor", "longest", "most"),
    [(runner.Inline(), 0.4, 4), rarely(runner.Processes(2), 8.0, 1)],
    ids=["inline", "processes"],
)
def test_a_run_that_is_killed_and_begun_again_ends_as_if_it_had_not_been(
    executor, longest, most, evaluate, tmp_path
):
    evaluate(tmp_path / "undisturbed", runner.Inline())
    kills = kill_loop.killed_until_finished(
        lambda: evaluate(tmp_path / "killed", executor), random.Random(1), longest, most=most
    )
    assert 1 <= kills <= most  # a fast machine may be done before the last
    found = kill_loop.digests(tmp_path / "killed")
    assert found == kill_loop.digests(tmp_path / "undisturbed") and len(found) > 5
    assert len(set(read_records(tmp_path / "killed").keys)) == 39
    assert not list((tmp_path / "killed").glob("*.tmp"))


def test_a_failure_that_is_no_kill_is_raised(tmp_path, capfd):
    with pytest.raises(RuntimeError, match="ended with status 1"):
        kill_loop.killed_until_finished(lambda: 1 / 0, random.Random(0), 60.0)
    assert "ZeroDivisionError" in capfd.readouterr().err

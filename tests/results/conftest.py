"""The small world that tests of runs share: its fixtures."""

from tests.world import checkpoint, interruptible, model, run, world  # noqa: F401

"""Settings every test run needs: no network, one torch thread, and patient notebook checks."""

import os

from hypothesis import settings

# Set before torch or the hub client is imported anywhere: a test that reaches for the network
# fails at once instead of hanging, and sums do not depend on how many threads share them.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

NBVAL_OUTPUT_SECONDS = 120

# A failure shows again on the next run, and a busy processor fails no test by being slow.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """Wait longer for a cell's output: nbval fixes 5 seconds, which a busy processor exceeds."""
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = NBVAL_OUTPUT_SECONDS

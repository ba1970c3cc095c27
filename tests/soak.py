"""How often the laws are tried: once in `make test`, `SCI_SOAK` times as often in `make soak`."""

import os

from hypothesis import settings

TIMES = int(os.environ.get("SCI_SOAK", "1"))


def examples(count: int) -> settings:
    """Settings of a hypothesis test with so many examples."""
    return settings(max_examples=count * TIMES)

"""How often the laws are tried: once in `make test`, `SCI_SOAK` times as often in `make soak`."""

import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

TIMES = int(os.environ.get("SCI_SOAK", "1"))


def examples(count: int) -> settings:
    """Settings of a hypothesis test with so many examples."""
    return settings(max_examples=count * TIMES)


def rarely(*values: Any) -> Any:
    """A case of a parametrized test that bears the mark `slow`."""
    return pytest.param(*values, marks=pytest.mark.slow)


def mostly(cases: Sequence[Any]) -> list[Any]:
    """The first case, and the others rarely."""
    return [cases[0], *map(rarely, cases[1:])]

"""What callers pass, checked: numbers of Python or numpy, finite, and no booleans among them."""

from typing import Any

import numpy as np

Whole = int | np.integer
Number = Whole | float | np.floating


def is_number(value: Any) -> bool:
    plain = isinstance(value, Number) and not isinstance(value, bool)
    return plain and bool(abs(value) < float("inf"))


def is_whole(value: Any) -> bool:
    return is_number(value) and isinstance(value, Whole)


def check(name: str, value: Any, expected: str, holds: bool) -> None:
    """Raise, if it does not hold, ValueError for a number out of range and TypeError otherwise."""
    if not holds:
        kind = ValueError if isinstance(value, Number) else TypeError
        raise kind(f"{name} must be {expected}; got {value!r}.")

"""Settings every test run needs: no network, one torch thread, and patient notebook checks."""

import dataclasses
import gc
import inspect
import os
from functools import wraps
from typing import get_args, get_type_hints

import jaxtyping
import pytest
from beartype import BeartypeConf
from beartype import beartype as with_settings
from hypothesis import settings

from tests.soak import examples

# Set before torch or the hub client is imported anywhere: a test that reaches for the network
# fails at once instead of hanging, and sums do not depend on how many threads share them.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

SHAPES = 20  # calls of a function in a test whose shapes are compared
tests_begun = 0
jaxtyped = jaxtyping.jaxtyped
beartype = with_settings(conf=BeartypeConf(violation_type=TypeError))


def _checked(function=None, *, typechecker=None):
    """What the import hook puts on every function: shapes are compared where one is annotated.

    The types of every call are checked either way; `jaxtyped` binds and checks the arguments of a
    call twice over, which takes ten times as long as the check alone, so a test has it of the first
    calls of a function. One inside another is made anew at every call of that one, and to put
    checks on it takes milliseconds: it has none.
    """
    if function is None:
        return _checked
    if "<locals>" in function.__qualname__:
        return function
    if dataclasses.is_dataclass(function):
        function.__init__ = _checked(function.__init__)
        return function
    plain = inspect.isfunction(function) and not inspect.isgeneratorfunction(function)
    if plain and not _names_shapes(function):
        return beartype(function)
    shaped = jaxtyped(function, typechecker=beartype)
    return _mostly_of_types(function, shaped) if plain else shaped


def _mostly_of_types(function, shaped):
    """Compares the shapes of a function's first calls in each test, of all others types alone."""
    typed, calls, test = beartype(function), 0, 0

    @wraps(function)
    def checked(*given, **named):
        nonlocal calls, test
        if test != tests_begun:
            calls, test = 0, tests_begun
        calls += 1
        if calls <= SHAPES:
            return shaped(*given, **named)
        with jaxtyped("context"):  # apart from the caller's, whose letters stand for other sizes
            return typed(*given, **named)

    return checked


def _names_shapes(function):
    """Whether an annotation holds a jaxtyping type, or cannot be read yet."""
    try:
        hints = get_type_hints(function)
    except Exception:
        return True
    return any(map(_is_shaped, hints.values()))


def _is_shaped(hint):
    if isinstance(hint, list):
        return any(map(_is_shaped, hint))
    if inspect.isclass(hint) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(map(_is_shaped, get_args(hint)))


jaxtyping.jaxtyped = _checked

NBVAL_OUTPUT_SECONDS = 120
# Begun first, the longest of all at the head, so that no process is left alone with one of them
# while the others are done. The frozen records' tests draw the pocket data; those beside need none.
LONGEST = (
    "test_any_model.py", "test_pages.py", "test_explorer.py", "test_live.py",
    "test_frozen_records.py", "test_conformance.py", "test_gate.py", "test_reproduce.py",
    "test_executors.py", "test_runner.py", "test_train.py", "test_settings.py",
    "test_published.py", "test_extended_records.py", "test_golden.py", "test_context.py",
    "verdicts.ipynb", "beta_and_tau.ipynb", "ablation_variants.ipynb", "rounds.ipynb",
    "table07_cost.ipynb", "rewordings.ipynb", "objections.ipynb", "matrix.ipynb",
)  # fmt: skip

# A failure shows again on the next run, and a busy processor fails no test by being slow.
settings.register_profile("repeatable", examples(30), deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """The longest files first; and wait for a cell's output longer than nbval's 5 seconds."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = NBVAL_OUTPUT_SECONDS


def pytest_collection_finish():
    _set_aside()


def pytest_runtest_setup():
    global tests_begun
    tests_begun += 1


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    if nextitem is None or nextitem.path != item.path:
        _set_aside()


def _set_aside():
    """Garbage is no longer looked for among what imports and caches keep to the end.

    A collection took 0.4 seconds once torch was imported and 4 in a process with a book's tests.
    """
    gc.collect()
    gc.freeze()

"""The models that tests of claims, findings and books ask: their fixtures."""

from tests.models_of_pages import (  # noqa: F401
    beside,
    figures_closed,
    folder,
    mine,
    pair,
    right,
    sets,
    subjects,
)

"""Every chapter of the book with models that are right on nothing, on everything, or unreadable.

Their records are made by the real runner (`scripted`), with the parameters that `sci reproduce`
offers to a model of one's own; a chapter's cells run in this process, in IPython as a kernel runs
them, and its figures are laid out.
"""

import pytest

from sci_core.report.notebooks import parameter_names, read_source
from sci_core.reproduce import chapter_sources

LIMITS = {"always-right": 20, "always-wrong": 33, "rubbish": 20, "of-habit": 60}
EDGE_ROWS = 20
"""Each is corrupted nineteen times, at five severities."""
OFFERED = {"models", "model", "also", "checkpoints", "data", "records", "runs", "pages"}
# Of the rest, nothing depends on a model: `pytest --nbval` runs them as they are.
SOURCES = {
    source.stem: source
    for source in chapter_sources()
    if OFFERED & set(parameter_names(read_source(source)))
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for each model, with its checkpoint and its records of all five papers."""
    return tmp_path_factory.mktemp("models")

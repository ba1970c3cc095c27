"""What tests of audits share: the five audits, findings by verdict, and tables with other cells."""

import os
import re
import shutil
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from sci_book.audit import engine
from sci_book.papers.cvqa import audit as cvqa
from sci_book.papers.edge import audit as edge
from sci_book.papers.metara import audit as metara
from sci_book.papers.oric import audit as oric
from sci_book.papers.sci.audit import own
from sci_book.resources import MANIFESTS

AUDITS = {
    "sci": partial(engine.audit, "sci", own(0.01)),
    "cvqa": partial(engine.audit, "cvqa", cvqa.OWN),
    "edge": partial(engine.audit, "edge", edge.OWN),
    "oric": partial(engine.audit, "oric", oric.OWN),
    "metara": partial(engine.audit, "metara", metara.OWN),
}
FILES = {"sci": ("table*", "fig01c*", "dataset_sizes*", "quotes*")}

PAPERS_NEEDED = pytest.mark.skipif(
    "SCI_REAL_DATA" not in os.environ, reason="the papers lie beside the real data"
)


def paper_text(number):
    """A paper's own text."""
    (path,) = (Path(os.environ["SCI_REAL_DATA"]).parent / "papers").glob(f"{number}_*.txt")
    return path.read_text(encoding="utf-8")


def letters(text):
    """Letters and digits alone: line breaks, hyphens and marks of mathematics left out."""
    return re.sub(r"[\W_]+", "", text)


def of(findings, verdict):
    """What the findings of a verdict are about."""
    return {about for about, finding in findings.items() if finding.verdict == verdict}


def copied(paper, folder):
    """The transcribed tables and the checks of a paper, copied to a folder."""
    for name in ("paper", "audits"):
        (folder / name).mkdir()
    for pattern in FILES.get(paper, (f"{paper}_*",)):
        for path in (MANIFESTS / "paper").glob(f"{pattern}.csv"):
            shutil.copy(path, folder / "paper")
    shutil.copy(MANIFESTS / "audits" / f"{paper}.yaml", folder / "audits")
    return folder


def plant(folder, table, fields, value, column="value"):
    """Change the one cell of a copied table that has these fields, by column."""
    path = folder / "paper" / f"{table}.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    mask = (frame[list(fields)] == list(fields.values())).all(axis=1)
    assert mask.sum() == 1
    frame.loc[mask, column] = value
    frame.to_csv(path, index=False)

"""What the tests of three audits share: findings by verdict, and copied tables with other cells."""

import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from sci_book.papers.shared.audit import PAPER

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
    """The transcribed tables of a paper, copied to a folder."""
    for path in PAPER.glob(f"{paper}_*.csv"):
        shutil.copy(path, folder)
    return folder


def plant(folder, table, fields, value):
    """Change the one cell of a copied table that has these fields, by column."""
    path = folder / f"{table}.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    mask = (frame[list(fields)] == list(fields.values())).all(axis=1)
    assert mask.sum() == 1
    frame.loc[mask, "value"] = value
    frame.to_csv(path, index=False)

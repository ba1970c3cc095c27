"""What tests of audits share: the papers' audits, findings by verdict, tables with other cells."""

import re
import shutil
from functools import partial

import pandas as pd

from sci_book.papers.registry import PAPERS, audited
from sci_book.resources import MANIFESTS

AUDITS = {paper: partial(audited, paper) for paper in PAPERS}
FILES = {"sci": ("table*", "fig01c*", "dataset_sizes*", "quotes*")}


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

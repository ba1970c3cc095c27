"""Findings: what a check asks about, what follows from other numbers, and whether they agree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from sci_book.audit.printed import with_fields

Verdict = Literal["consistent", "inconsistent", "cannot be told"]
CONSISTENT: Verdict = "consistent"
INCONSISTENT: Verdict = "inconsistent"
UNTOLD: Verdict = "cannot be told"
VERDICTS = (CONSISTENT, INCONSISTENT, UNTOLD)


class Mark(NamedTuple):
    """A printed number in question.

    table   name of its transcribed table
    fields  what tells its cell apart from the others of the table
    reason  the check that it fails, as a sentence
    """

    table: str
    fields: Mapping[str, str]
    reason: str


class Finding(NamedTuple):
    """One check of a paper's numbers.

    place    table or section, and rows
    printed  what the paper prints there
    follows  what other printed numbers imply
    verdict  one of `VERDICTS`
    marks    the printed numbers in question if it is inconsistent; none where it is about a
             sentence, a definition or a whole table
    """

    place: str
    printed: str
    follows: str
    verdict: Verdict
    marks: Sequence[Mark] = ()


Findings = dict[str, Finding]
"""By what each is about."""


@dataclass(frozen=True)
class Audit:
    """A paper's printed tables and what all of its checks find in them.

    tables    those that a page redraws, by name: one row a number, fields as text
    sections  findings by section, in the order of the checks
    titles    how the paper calls a table, by its name
    labels    the fields that label the rows of a redrawn table, by its name
    """

    tables: Mapping[str, pd.DataFrame]
    sections: Mapping[str, Findings]
    titles: Mapping[str, str]
    labels: Mapping[str, Sequence[str]]

    @property
    def findings(self) -> Findings:
        """Those of all sections."""
        return {about: f for found in self.sections.values() for about, f in found.items()}

    def in_question(self) -> dict[str, pd.Series]:
        """`in_question` of its own tables and findings."""
        return in_question(self.tables, self.findings.values())


def agreement(fits: object) -> Verdict:
    """Consistent where the numbers fit, inconsistent where they do not."""
    return CONSISTENT if fits else INCONSISTENT


def verdict_of(findings: Iterable[Finding]) -> str:
    """The verdict of "all of these are consistent": fails with one that is not."""
    verdicts = {finding.verdict for finding in findings}
    if INCONSISTENT in verdicts:
        return "fails"
    return "holds" if verdicts == {CONSISTENT} else "inconclusive"


def not_consistent(findings: Mapping[str, Finding]) -> Findings:
    """The findings that are inconsistent, or that cannot be told."""
    return {about: f for about, f in findings.items() if f.verdict != CONSISTENT}


def in_question(
    tables: Mapping[str, pd.DataFrame], findings: Iterable[Finding]
) -> dict[str, pd.Series]:
    """Why each number of a table is in question: a tuple of reasons, empty where it is not.

    Tables that no inconsistent finding marks are left out.

    Args:
        tables: by name, one row a number, fields as text.
        findings: of which the inconsistent ones are taken.

    Raises:
        LookupError: a mark names no number of its table.
    """
    marks = [mark for f in findings if f.verdict == INCONSISTENT for mark in f.marks]
    reasons = {}
    for name, frame in tables.items():
        found: list[dict[str, None]] = [{} for _ in range(len(frame))]
        for mark in marks:
            if mark.table != name:
                continue
            same = with_fields(frame, mark.fields)
            if not same.any():
                raise LookupError(f"{name} has no number at {dict(mark.fields)}.")
            for place in same.to_numpy().nonzero()[0]:
                found[place][mark.reason] = None
        if any(found):
            reasons[name] = pd.Series(list(map(tuple, found)), index=frame.index)
    return reasons

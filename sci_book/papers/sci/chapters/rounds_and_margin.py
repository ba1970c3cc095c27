"""More rounds, or a looser constraint? SCI3, SCI5 and SCI7 with their own margins and with one.

The constraint acts on TC / tau1, so its margin in logits, tau1 ln(1 / beta), grows with the rounds
that tau1 grows with. Whether more rounds help is therefore asked again with one margin for all, and
with one tau1, which the weight of VC against TC rests on as well.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from sci_book.papers.sci.chapters.shapes import Sets, Subjects, less, paired
from sci_book.papers.shared.chapters import Subject, finding, paper_values
from sci_book.papers.shared.tables import Table, plain
from sci_core.methods import SCI3, SCI5, SCI7, Method

SIZES = (SCI3, SCI5, SCI7)
PAIRS = ((SCI5, SCI3), (SCI7, SCI5), (SCI7, SCI3))
OWN, ONE_MARGIN, ONE_TAU = "own margins", "one margin", "one τ1"


def odds_table() -> Table:
    """The margins of the presets: in logits, and as the least odds against the best token."""
    lines = {
        method.name: {
            "τ1": method.tau1,
            "β": method.beta,
            "margin, logits": method.margin,
            "least odds": f"{method.beta**method.tau1:.3f}",
        }
        for method in SIZES
    }
    frame = pd.DataFrame.from_dict(lines, orient="index")
    caption = "What the presets’ constraint lets pass; the least odds are β to the power τ1"
    return plain(frame, name="odds", caption=caption)


def regimes() -> dict[str, dict[str, Method]]:
    """SCI3, SCI5 and SCI7 as they are, with the margin of SCI5, and with the tau1 of SCI5.

    With one tau1 both the margin and the weight of VC against TC, tau1 / tau2, are the same.
    """
    fields = {OWN: {}, ONE_MARGIN: {"raw_margin": SCI5.margin}, ONE_TAU: {"tau1": SCI5.tau1}}
    return {
        regime: {method.name: replace(method, **change) for method in SIZES}
        for regime, change in fields.items()
    }


def more_rounds(subjects: Subjects, sets: Sets) -> dict[str, pd.DataFrame]:
    """By model, what more rounds gain on BS, in points, in each of `regimes`.

    Rows of `tables.compare`, labelled "one margin: SCI7 − SCI3"; the paper's numbers, of its test
    rows, stand beside the presets. The claim of each is that it is
    positive.
    """
    printed, tables = paper_values("table02"), {}
    for subject in subjects:
        rows, lines = sets[subject.name]["BS"].to_numpy(), {}
        for regime, methods in regimes().items():
            right = {name: subject.right(method) for name, method in methods.items()}
            for pair in PAIRS:
                gap = right[pair[0].name] - right[pair[1].name]
                keys = ((subject.label, method.name, "BS", "Overall") for method in pair)
                paper = less(printed, *keys) if regime == OWN else None
                lines[_pair(regime, *pair)] = paired(subject, gap, rows, paper=paper)
        tables[subject.name] = pd.DataFrame.from_dict(lines, orient="index")
    return tables


def rounds_sentence(frame: pd.DataFrame, subject: Subject) -> str:
    """From the fewest rounds to the most, in each of `regimes`, as one paragraph."""
    findings = [
        finding(f"SCI7 − SCI3 with {regime}", frame.loc[_pair(regime, *PAIRS[-1])].to_dict())
        for regime in regimes()
    ]
    return f"**More rounds, {subject.shown}, test rows of BS.** {'. '.join(findings)}."


def _pair(regime: str, one: Method, other: Method) -> str:
    return f"{regime}: {one.name} − {other.name}"

"""The ledger's last part: what the book claims for itself, registered apart from the papers'."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sci_book.papers.sci.chapters import own_rules
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.tables import MISSING, interval


def claim_lines(subjects: Sequence[Subject], extended: str | Path) -> pd.DataFrame:
    """A line a claim, as `verdicts.claim_lines` has one for a paper's.

    Beside, `ends` are the intervals that its `claims` tell, with their keys.

    Args:
        subjects: the models, with their ordinary records.
        extended: folder of their extended records, those of cheaper rounds among them.
    """
    return pd.DataFrame(_of_rules(subjects, extended))


def _of_rules(subjects: Sequence[Subject], extended: str | Path) -> Iterator[dict[str, Any]]:
    judged = own_rules.judged(own_rules.models(subjects, extended))
    for claim in own_rules.claims(judged):
        found = [_ends(line) for _, line in judged[judged["id"] == claim.id].iterrows()]
        yield _line("own_rules", claim.id, claim.means, claim.verdict, claim.ends, found)


def _ends(line: pd.Series) -> str:
    return interval(line["low"], line["high"], key=line["key"])


def _line(
    page: str, name: str, means: str, verdict: str, found: str, ends: Sequence[str]
) -> dict[str, Any]:
    means = " ".join(means.split())
    return {"id": name, "place": "claim", "what": means, "page": page, "verdict": verdict,
            "claims": found, "ends": [each for each in ends if each != MISSING]}  # fmt: skip

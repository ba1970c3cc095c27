"""The ledger's last part: what the book claims for itself, registered apart from the papers'."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sci_book.papers.sci import dial, dial_predictions
from sci_book.papers.sci.chapters import own_rules
from sci_book.papers.shared.chapters import Subject
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import MISSING, NOT_RECORDED, interval, number


def claim_lines(
    subjects: Sequence[Subject], extended: str | Path, trainings: str | Path
) -> pd.DataFrame:
    """A line a claim, as `verdicts.claim_lines` has one for a paper's.

    Beside, `ends` are the intervals that its `claims` tell, with their keys.

    Args:
        subjects: the models, with their ordinary records.
        extended: folder of their extended records, those of cheaper rounds among them.
        trainings: folder of the dial's records.
    """
    return pd.DataFrame([*_of_rules(subjects, extended), *_of_dial(trainings)])


def _of_rules(subjects: Sequence[Subject], extended: str | Path) -> Iterator[dict[str, Any]]:
    judged = own_rules.judged(own_rules.models(subjects, extended))
    for claim in own_rules.claims(judged):
        found = [_ends(line) for _, line in judged[judged["id"] == claim.id].iterrows()]
        yield _line("own_rules", claim.id, claim.means, claim.verdict, claim.ends, found)


def _of_dial(trainings: str | Path) -> Iterator[dict[str, Any]]:
    samples = dial.samples_of(dial.read_dial(located(trainings)))
    for name, outcome in dial_predictions.outcomes(samples).iterrows():
        ends, claimed = _ends(outcome, 3), outcome["claimed"].replace("-", "−")
        found = f"{number(outcome['estimate'], 3)} {ends}" if outcome["n"] else NOT_RECORDED
        said = f"{found}, claimed {claimed}"
        yield _line("dial", name, outcome["means"], outcome["verdict"], said, [ends])


def _ends(line: pd.Series, decimals: int = 2) -> str:
    return interval(line["low"], line["high"], decimals, key=line["key"])


def _line(
    page: str, name: str, means: str, verdict: str, found: str, ends: Sequence[str]
) -> dict[str, Any]:
    means = " ".join(means.split())
    return {"id": name, "place": "claim", "what": means, "page": page, "verdict": verdict,
            "claims": found, "ends": [each for each in ends if each != MISSING]}  # fmt: skip

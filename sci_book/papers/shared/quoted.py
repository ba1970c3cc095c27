"""What more of the ledger a page's answer and its first picture show, and what less."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any


def leading(findings: Sequence[Any], claim: str, place: str) -> list[Any]:
    """The ledger's findings, those on one claim as what leads `place` on their page.

    So a sentence that a page quotes has its verdict among the answers, or in the first picture.
    """
    return [
        replace(finding, claim=replace(finding.claim, leads=place))
        if finding.claim.id == claim else finding
        for finding in findings
    ]  # fmt: skip


def measured(findings: Sequence[Any]) -> list[Any]:
    """The findings without the parts that there is nothing to test on."""
    return [
        replace(finding, parts=tuple(part for part in finding.parts if part[1].n))
        for finding in findings
    ]

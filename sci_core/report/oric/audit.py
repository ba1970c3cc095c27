"""The findings on ORIC's own numbers, in the form of `report.audit`."""

from __future__ import annotations

from sci_core.probes.oric import audit as checks
from sci_core.report.audit import Finding


def findings() -> dict[str, Finding]:
    """Every check of `probes.oric.audit`, by what it is about."""
    return {about: Finding(*each) for about, each in checks.findings().items()}

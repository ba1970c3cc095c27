"""The findings on MetaRA's own numbers, in the form of `report.audit`."""

from __future__ import annotations

from sci_core.probes.metara import audit as checks
from sci_core.report.audit import Finding


def findings() -> dict[str, Finding]:
    """Every check of `probes.metara.audit`, by what it is about."""
    found = checks.findings(checks.Printed())
    return {about: Finding(*each) for about, each in found.items()}

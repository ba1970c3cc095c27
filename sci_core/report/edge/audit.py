"""The findings on this paper's own numbers, for the chapter that audits all papers.

The checks themselves are `probes.edge.audit`'s; here they take the form of `report.audit`, so that
its `ledger`, `tally` and `verdict_of` show them.
"""

from __future__ import annotations

from collections.abc import Mapping

from sci_core.probes.edge import audit as checks
from sci_core.report.audit import Finding


def edge_sections() -> dict[str, dict[str, Finding]]:
    """Every finding by what it is about, in sections named for a reader."""
    printed = checks.Printed()
    return {
        "accuracy (Table 4)": _findings(checks.accuracy_findings(printed)),
        "calibration (Tables 6, 11 to 14)": _findings(checks.calibration_findings(printed)),
        "categories of failures (Table 5)": _findings(checks.taxonomy_findings(printed)),
        "blur (Tables 7, 8)": _findings(checks.blur_findings(printed)),
        "negation (Tables 9, 10)": _findings(checks.negation_findings(printed)),
        "rules of sections 3.4 and 3.7": _findings(checks.rule_findings()),
    }


def edge_findings() -> dict[str, Finding]:
    """All of `edge_sections` together."""
    sections = edge_sections().values()
    return {about: finding for section in sections for about, finding in section.items()}


def _findings(found: Mapping[str, checks.Finding]) -> dict[str, Finding]:
    return {about: Finding(*each) for about, each in found.items()}

"""A number has one interval in the whole book: one module makes them, one place holds the level."""

import re
from pathlib import Path

import pytest

from sci_book.resources import NOTEBOOKS, ROOT
from sci_book.results.statistics import LEVEL

HOME = ROOT / "sci_book" / "results" / "statistics.py"
LEVELS = re.compile(r"\b0\.95\b|\b0\.975\b|\b0\.025\b|\b95 %|\b1\.96\b")
# β goes to 0.95 on one page; the papers print intervals of their own.
NO_LEVEL = {"cheaper.py": "BETAS", "audit.py": "printed"}
CODE = [
    path
    for folder in ("sci_core", "sci_book", "notebooks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "pocket" not in path.parts and path != HOME
]


def lines(path: Path) -> list[str]:
    """The lines of code, without comments and the prose of pages."""
    return [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]


def test_the_level_stands_in_one_place():
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in CODE
        for line in lines(path)
        if LEVELS.search(line) and NO_LEVEL.get(path.name, "\0") not in line
    ]
    assert not found
    assert len(re.findall(rf"\b{LEVEL}\b", HOME.read_text("utf-8"))) == 1


def test_no_prose_names_the_level():
    """It says "interval"; captions say of which level (`tables.INTERVAL`)."""
    prose = {
        path: "\n".join(line for line in path.read_text("utf-8").splitlines() if line[:1] == "#")
        for path in NOTEBOOKS.glob("*.py")
    }
    prose |= {path: path.read_text("utf-8") for path in (ROOT / "book").glob("*.md")}
    named = {path.name: LEVELS.findall(text) for path, text in prose.items()}
    assert prose and not {name: found for name, found in named.items() if found}


@pytest.mark.parametrize(
    ("made", "elsewhere"),
    [
        # Quartiles of time; numbers without ends.
        (
            "Interval(",
            {
                "01_pocket_world.py",
                "time_measures.py",
                "ranking.py",
            },
        ),
        # Bounds of open rows; too few originals; what is so by construction, twice.
        ("_replace(low=", {"sweeps.py", "answers.py", "ledger.py", "metrics.py"}),
        ("nanquantile(", set()),
        ("percentile(", set()),
    ],
)
def test_one_module_makes_intervals(made, elsewhere):
    call = re.compile(rf"(?<![A-Za-z]){re.escape(made)}")
    found = {path.name for path in CODE if any(map(call.search, lines(path)))}
    assert found <= elsewhere

"""Which releases of transformers and torch answer rightly.

`benchmarks/versions.py` tries releases in environments of their own and keeps what it finds in
`benchmarks/results/versions/cpu.json`; pyproject.toml declares the range that passed.
"""

import re
from functools import cache
from importlib import import_module

OLDEST = {"transformers": "5.18", "torch": "2.6"}
FAILED = {"transformers": ("5.20",)}  # between those that passed
REMEDY = (
    "Install the releases that this project declares and has tried: "
    "pip install -e . in a clone of it."
)


@cache
def check_releases() -> None:
    """Raise ImportError for a transformers or torch that was tried, or older, and fails."""
    for package, oldest in OLDEST.items():
        installed = version(package)
        if _numbers(installed) < _numbers(oldest):
            raise ImportError(
                f"{package} {installed} is installed, and {oldest} or later is needed: older "
                f"releases fail or answer wrongly here. {REMEDY}"
            )
        if any(_numbers(installed) == _numbers(release) for release in FAILED.get(package, ())):
            raise ImportError(
                f"{package} {installed} is installed, which fails here with some models, unlike "
                f"the releases before and after it. {REMEDY}"
            )


def version(package: str) -> str:
    """The release that runs, which need not be the one whose metadata are installed."""
    return str(import_module(package).__version__)


def _numbers(release: str) -> tuple[int, ...]:
    """Major and minor number of a release."""
    return tuple(int(number) for number in re.findall(r"\d+", release)[:2])

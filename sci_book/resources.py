"""Where everything lies that the code reads or makes.

What is shipped (manifests, prompts, the papers' tables and claims, pocket models) lies at the root
of a checkout, and inside the package where a wheel is installed (`setup.py` says what that holds).
What is drawn, fetched or computed goes below `HOME`: the folder that the environment variable
`SCI_HOME` names, else the checkout, else the working folder; never the installed package.
"""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
ROOT = _PACKAGE.parent
"""The checkout: chapters, prose and frozen records, which no wheel holds (`need_checkout`)."""
IS_CHECKOUT = (ROOT / "pyproject.toml").is_file()
SHIPPED = ROOT if IS_CHECKOUT else _PACKAGE
HOME = Path(os.environ.get("SCI_HOME") or (ROOT if IS_CHECKOUT else "")).resolve()

MANIFESTS = SHIPPED / "data_manifests"
PAPER = MANIFESTS / "paper"
AUDITS = MANIFESTS / "audits"
CHECKPOINTS = SHIPPED / "checkpoints"
FROZEN_RECORDS = ROOT / "data_manifests" / "records"
NOTEBOOKS = ROOT / "notebooks"
RESULTS = ROOT / "benchmarks" / "results"
LOCKS = (ROOT / "requirements-book.lock", ROOT / "requirements.lock")
"""What the book needs, and what the tests and the other extras need beside it."""
DATA = HOME / "data"
RUNS = HOME / "runs"


class NoCheckout(ValueError):
    """What is asked for needs the repository, and this is an installed package."""


def need_checkout(command: str) -> None:
    """Raise NoCheckout where the package is installed without its repository."""
    if not IS_CHECKOUT:
        raise NoCheckout(
            f"{command} reads chapters and frozen records, which are not part of the installed "
            "package; clone the repository, install it with `make env`, and run the command there."
        )


def installing(extra: str) -> str:
    """How an extra of this project, which is in no package registry, is installed."""
    return f"pip install -e '.[{extra}]' in a clone of this project"


def located(name: str | Path) -> Path:
    """A path that somebody names: where they are, or else among what is shipped.

    So a chapter runs by hand from anywhere. A name that is neither (a hub id) stays as it is.
    """
    here, there = Path(os.path.expanduser(name)), SHIPPED / name
    return there if there.exists() and not here.exists() else here

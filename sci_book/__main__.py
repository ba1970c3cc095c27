"""The command `sci`, also `python -m sci_book`; it names the extra that brings what it lacks."""

import sys
from importlib.util import find_spec

from sci_book.resources import installing

NEEDED = ("typer", "rich", "yaml", "pandas", "pyarrow", "pydantic")
"""What every command stands on, of the packages that the kernel does without."""


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    for name in NEEDED:
        if find_spec(name) is None:
            sys.exit(
                f"sci: the package {name!r} is not installed; the kernel works without it, the "
                f"commands need the extra 'eval': {installing('eval')}"
            )
    from sci_book import cli

    cli.main()


if __name__ == "__main__":
    main()

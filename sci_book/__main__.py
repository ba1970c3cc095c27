"""The command `sci`, also `python -m sci_book`; it names the extra that brings what it lacks."""

import sys


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from sci_book import cli
    except ModuleNotFoundError as error:
        sys.exit(
            f"sci: the package {error.name!r} is not installed; the kernel works without it, the "
            "commands need the extra 'eval': pip install 'sci-core[eval]'"
        )
    cli.main()


if __name__ == "__main__":
    main()

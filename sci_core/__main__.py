"""`python -m sci_core` is the command `sci`."""

from sci_core.cli import main

main()

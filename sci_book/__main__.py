"""`python -m sci_book` is the command `sci`."""

from sci_book.cli import main

main()

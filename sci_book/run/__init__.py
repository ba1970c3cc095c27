"""TODO sci_book/run."""

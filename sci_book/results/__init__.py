"""TODO sci_book/results."""

"""TODO sci_book/data."""

"""TODO sci_book/data/answers."""

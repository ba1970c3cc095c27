"""TODO sci_book/papers/sci."""

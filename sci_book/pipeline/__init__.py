"""TODO sci_book/pipeline."""

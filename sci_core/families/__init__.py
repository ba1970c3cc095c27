"""TODO sci_core/families."""

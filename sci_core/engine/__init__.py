"""TODO sci_core/engine."""

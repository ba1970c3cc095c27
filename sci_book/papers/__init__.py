"""Instruments of the companion papers, on the same models, data and statistics."""

"""The chapters of Self-Critical Inference: its tables and figures, one file or a few each."""

"""The chapters of Self-Critical Inference: its tables and figures, a file or a few each."""

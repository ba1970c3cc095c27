"""What turns results into pages: tables, figures, provenance, and executed notebooks."""

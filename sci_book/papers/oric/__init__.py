"""ORIC: recognising objects where one does not expect them, and missing ones where one does."""

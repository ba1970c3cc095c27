"""The chapters of MetaRA: what changes in a picture and its question, and leaves the answer."""

"""The chapters of C-VQA: what becomes of an answer when something is supposed."""

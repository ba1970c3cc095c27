"""What the paper prints: its tables and sentences."""

from sci_book.audit.printed import PrintedTables

PRINTED = PrintedTables("metara")
OVERALL = {"metara_table02": "KBVQA", "metara_table03": "OCR-VQA"}
"""The tables of all models, and their tasks."""
SETS = {"KBVQA": ("E-VQA", "InfoSeek"), "OCR-VQA": ("DocVQA", "InfoVQA", "ChartQA", "TextVQA")}

"""Tables made of lines by name."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sci_book.papers.shared.tables import Table, plain


def table_of(lines: Mapping[str, Mapping], **options: Any) -> Table:
    """`tables.plain` of lines by name, each the cells of a row by column."""
    return plain(pd.DataFrame.from_dict(lines, orient="index"), **options)

"""DRBench of one model as TSV files that other evaluation tools read.

One file a data set, `DRBench_<model>_<data set>.tsv`, holds the rows of the model's BS in the
toolkits' common format, with the data set's own indices, options, hints and categories. A picture
that several rows show stands in the first of them; the others hold that row's index. Files without
options end in `_openended.tsv`, by which VLMEvalKit knows them. Columns beyond the format:

==============  ===============================================================
column          meaning
==============  ===============================================================
split           "validation" or "test" of the paper's row split
group           the question group, the cluster of every interval, without its prefix
biased          1 if the row is in B, else 0
sensitive       1 if the row is in S, else 0; a row of BS is one or both
==============  ===============================================================

Their names are words because single capitals are options to the toolkits.
"""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path
from typing import NamedTuple

from sci_book.data.datasets import Dataset, DatasetError, Row
from sci_book.data.manifests import climbs_out
from sci_book.data.row_pictures import POINTER_LENGTH
from sci_book.files import write_whole
from sci_book.results.drbench import Quantifier, split, subsets
from sci_book.results.records import Records, RecordsError


class Exported(NamedTuple):
    """A file of DRBench, and how many of its rows are in B and in S."""

    path: Path
    rows: int
    biased: int
    sensitive: int


def export_drbench(
    records: Records, dataset: Dataset, folder: str | Path, quantifier: Quantifier = "any"
) -> list[Exported]:
    """Write the rows of a model's BS, one file a data set; a data set without any has no file.

    Args:
        records: answers of the model to rows of `dataset`; see `subsets` for `quantifier`.
        folder: made if it is not there; files of the same names are replaced.

    Raises:
        RecordsError: if the records were made of other data.
        DatasetError, RowError: for a row whose picture cannot be written, or read.
    """
    _check_data(records, dataset)
    rows = {(row.dataset, row.index): row for row in dataset}
    sets, splits = subsets(records, quantifier), split(records)
    chosen: dict[str, list[dict[str, str]]] = {}
    holders: dict[tuple[str, str], int] = {}
    for place, key in enumerate(records.keys):
        if not sets["BS"][place]:
            continue
        row = rows[key]
        holder = holders.setdefault((row.dataset, row.image_hash), row.index)
        chosen.setdefault(row.dataset, []).append(
            {
                "index": str(row.index),
                "image": str(holder) if holder != row.index else _encoded(row),
                **_cells(row),
                "split": splits[place],
                "group": row.group.partition(":")[2],
                "biased": str(int(sets["B"][place])),
                "sensitive": str(int(sets["S"][place])),
            }
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    exported = []
    for name, lines in chosen.items():
        counts = (sum(line[flag] == "1" for line in lines) for flag in ("biased", "sensitive"))
        path = _write(folder, records.stamp["model"], name, lines)
        exported.append(Exported(path, len(lines), *counts))
    return exported


def _check_data(records: Records, dataset: Dataset) -> None:
    for name, checksum in records.stamp["datasets"].items():
        actual = dataset.checksums.get(name)
        if actual != checksum:
            raise RecordsError(
                f"The records were made of {name} with checksum {checksum}; the data given is "
                f"{dataset.name}, in which that is {actual or 'missing'}. Give the data set that "
                "was evaluated."
            )
    missing = set(records.keys) - {(row.dataset, row.index) for row in dataset}
    if missing:
        raise RecordsError(
            f"{len(missing):,} rows of the records are not in {dataset.name}, {min(missing)} for "
            "one; give the whole data set that was evaluated."
        )


def _cells(row: Row) -> dict[str, str]:
    """The columns of a row's question type."""
    if row.question_type == "mcq":
        cells = {"question": row.question, "hint": row.hint, **row.options, "answer": row.answer}
    elif row.question_type == "yesno":
        # The readers of the public file capitalise the answer and pair rows by the picture's name.
        name = row.group.partition(":")[2]
        if climbs_out(name):
            raise DatasetError(
                f"{row.where}: the picture is called {name!r}, which leads out of the folder where "
                "a toolkit would write it. Rename it in the data set."
            )
        cells = {"image_path": name, "question": row.question, "answer": row.answer.capitalize()}
    else:
        cells = {"question": row.question, "answer": row.answer}
    return {**cells, "category": row.category}


def _encoded(row: Row) -> str:
    content = row.picture_bytes()
    text = base64.b64encode(content).decode("ascii")
    if len(text) <= POINTER_LENGTH:
        raise DatasetError(
            f"{row.where}: the picture has {len(content)} bytes, so few that a reader "
            "would take it for the index of another row. Leave the row out."
        )
    return text


def _write(folder: Path, model: str, dataset: str, rows: list[dict[str, str]]) -> Path:
    # Options may differ in number from row to row; every column any row has, in the rows' order.
    columns = list(dict.fromkeys(name for row in rows for name in row))
    options = sorted(name for name in columns if len(name) == 1)
    if options:
        columns = [name for name in columns if len(name) > 1]
        columns[columns.index("answer") : columns.index("answer")] = options
    ending = "" if options else "_openended"
    path = folder / f"DRBench_{model.replace('/', '--')}_{dataset}{ending}.tsv"
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
    return path

"""From a model and its questions to the records that every chapter of this paper reads.

Three runs, each of them resumable as any evaluation is: pictures clean and blurred, whose logits
give confidence; pictures corrupted; and the negation probes, which rest on the answers of the
first. One file joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from sci_book.data.answers.rules import rules_stamp
from sci_book.data.rows import Dataset, Row, short_hash
from sci_book.papers.edge import conditions
from sci_book.papers.edge.correctness import right
from sci_book.results.records import Records, RecordsError, sort_records, write_records
from sci_book.run.layout import Kept
from sci_book.run.runner import evaluate
from sci_core.families.models import VisionLanguageModel
from sci_core.methods import SCI5, VCD, Method

Part = Literal["pictures", "corruptions", "negation"]
PARTS: tuple[Part, ...] = get_args(Part)
METHODS: tuple[Method, ...] = (VCD, SCI5)
LONGEST = 32
"""New tokens at most: a caption of the pocket world has fewer than twenty."""
FILE = "records.parquet"


def run(
    model: VisionLanguageModel,
    rows: Sequence[Row],
    out: Path,
    *,
    parts: Sequence[Part] = PARTS,
    methods: Sequence[Method] = METHODS,
    batch_size: int = 64,
    max_new_tokens: int = LONGEST,
    workers: int | None = None,
    limit: int | None = None,
) -> Records:
    """Evaluate the parts into folders of `out`, and join them in `out` / `FILE`.

    Args:
        rows: questions answered in words, and captions (free rows); see `conditions.clean_rows`.
        parts: "pictures" is always run, for the others rest on it.
        methods: asked beside the base; without any, the original round alone is read.
        batch_size: part of the stamp. In int8 an answer may depend on what shares its batch.
        limit: rows of the corruptions at most, and of the negation probes; `rows` are all asked.

    Raises:
        DatasetError: for rows that cannot be probed.
        RecordsError, Unfinished: as `runner.evaluate`.
    """
    clean = conditions.clean_rows(rows)

    def records_of(part: Part, asked: Sequence[Row]) -> Records:
        return evaluate(
            model, conditions.as_dataset(asked, part), methods, out / part, top=4,
            batch_size=batch_size, max_new_tokens=max_new_tokens, record=_kept(part),
            workers=workers, rounds=SCI5.rounds if methods else ("original",),
        )  # fmt: skip

    records = [records_of("pictures", _asked("pictures", clean, None))]
    for part in PARTS[1:]:
        if part in parts and (asked := _asked(part, clean, records[0], limit)):
            records.append(records_of(part, asked))
    joined = join(records)
    write_records(out / FILE, joined)
    return joined


def datasets(rows: Sequence[Row], joined: Records) -> Iterator[tuple[Part, Dataset]]:
    """What was asked in each part of joined records, anew from the rows that `run` was given."""
    clean = conditions.clean_rows(rows)
    for part in PARTS:
        if joined.stamp["datasets"].keys().isdisjoint(_names(part)):
            continue  # before its pictures are drawn
        dataset = conditions.as_dataset(_asked(part, clean, joined), part)
        if dataset.checksums:
            yield part, dataset


def part_of(joined: Records, part: Part, dataset: Dataset) -> Records:
    """The records of one part out of joined ones, as its own run wrote them.

    Raises:
        RecordsError: if they are of other rows than the data set.
    """
    asked = {name: joined.stamp["datasets"].get(name) for name in dataset.checksums}
    if asked != dict(dataset.checksums):
        raise RecordsError(
            f"The joined records were made from other rows than {part} has now: the data or the "
            "code that draws it changed. Run `sci probe edge` again."
        )
    types = {row.question_type for row in dataset}
    stamp = {key: value for key, value in joined.stamp.items() if key not in ("rules", "record")}
    stamp |= {"datasets": dict(dataset.checksums), "rows": dataset.digest, **rules_stamp(types)}
    stamp |= {} if _kept(part) == "logits" else {"record": _kept(part)}
    mine = np.flatnonzero(joined.frame["dataset"].isin(list(dataset.checksums)))
    return Records(joined.take(mine).table, stamp, joined.pieces)


def _names(part: Part) -> list[str]:
    """The data sets of a part, see `conditions`."""
    prefixes = {
        "pictures": ("", conditions.BLURRED),
        "corruptions": (conditions.CORRUPTED,),
        "negation": (conditions.NEGATED,),
    }[part]
    return [f"{prefix} {kind}".strip() for prefix in prefixes for kind in conditions.KINDS]


def _kept(part: Part) -> Kept:
    return "logits" if part == "pictures" else "answers"


def _asked(
    part: Part, clean: Sequence[Row], pictures: Records | None, limit: int | None = None
) -> list[Row]:
    """The rows of a part; those of the probes rest on the answers to the clean pictures."""
    if part == "pictures":
        return [*clean, *conditions.blurred_rows(clean)]
    if part == "corruptions":
        return conditions.corrupted_rows(clean, limit=limit)
    return negation_of(clean, pictures, limit)


def negation_of(clean: Sequence[Row], pictures: Records, limit: int | None = None) -> list[Row]:
    """The probes of the first `probed` rows of each kind, of those answered rightly."""
    correct = dict(zip(pictures.keys, right(pictures, "base"), strict=True))
    texts = dict(zip(pictures.keys, pictures.text("base"), strict=True))
    most = conditions.probed(limit)
    mine = [row for row in clean if row.index < most[row.dataset]]
    mine = [row for row in mine if correct[row.dataset, row.index] == 1]
    return conditions.negated_rows(mine, [texts[row.dataset, row.index] for row in mine])


def join(parts: Sequence[Records]) -> Records:
    """Records of one model under one stamp; those of answers alone have no nodes."""
    first = parts[0].stamp
    datasets = {name: text for part in parts for name, text in part.stamp["datasets"].items()}
    rows = short_hash(" ".join(part.stamp["rows"] for part in parts).encode())
    rules = {key: rule for part in parts for key, rule in part.stamp.get("rules", {}).items()}
    stamp = {**first, "datasets": datasets, "rows": rows, "rules": rules}
    pieces = {token: text for part in parts for token, text in part.pieces.items()}
    table = pa.concat_tables([part.table.replace_schema_metadata(None) for part in parts])
    return sort_records(on_the_way(Records(table, stamp, pieces)))


def on_the_way(records: Records) -> Records:
    """The records without the nodes that neither the base nor a method passed through.

    Confidence needs no others, and the rounds by themselves wander far from them in a caption.
    """
    followed = ["original", *(method["name"] for method in records.stamp["methods"])]
    columns = [records.table[f"tokens:{policy}"].to_pylist() for policy in followed]
    nodes = [
        [node for node in mine if any(_leads(node["prefix"], answer) for answer in answers)]
        for mine, *answers in zip(records.table["nodes"].to_pylist(), *columns, strict=True)
    ]
    index = records.table.schema.get_field_index("nodes")
    field = records.table.schema.field("nodes")
    table = records.table.set_column(index, field, pa.array(nodes, field.type))
    return Records(table, records.stamp, records.pieces)


def _leads(prefix: Sequence[int], answer: Sequence[int] | None) -> bool:
    return answer is not None and list(answer[: len(prefix)]) == list(prefix)

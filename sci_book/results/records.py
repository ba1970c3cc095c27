"""Per-sample records in Parquet: what a model answered, and the logits that later questions need.

One row a sample, sorted by data set and position:

=====================  ========================================================================
column                 meaning
=====================  ========================================================================
dataset, index         the sample's name; `position` its place among the raw rows of the file
group, image_hash      question group and picture: the clusters of every interval
question_type          mcq, yesno, number, short or free
category, truth        as in the data set; `truth` in the form in which rules return answers
options                the option letters of a multiple-choice row, "" otherwise
prompt_hash            of the prompt and its rewrites
prompt_tokens          text tokens of the prompt: M3ID's prompt clock
error                  class of the error that spoiled this sample, or null
tokens:P text:P        the answer of policy P: each round decoded by itself, and each method; null
                       where the sample was left out of P, since a round of P cannot ask it
parsed:P               that answer under the rule of its question type; null is *unknown*
nodes                  the logits at each recorded prefix (`trajectories.Node`, flattened): the
                       first step of every sample, and every step of short and free answers; none of
                       a sample that was left out of some policy
=====================  ========================================================================

In a file each distinct answer stands once (`packing`), and its metadata holds the stamp (model
revision, methods, prompts, data checksums, decoding) and the text of every token in a node. Writing
is deterministic: the same rows give the same bytes.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sci_book.data.answers.rules import FREE
from sci_book.files import json_text, write_whole
from sci_book.results.packing import packed, unpacked
from sci_book.results.stamps import NotRecorded, RecordsError
from sci_core.methods import Method

SCHEMA_VERSION = 1
PART_FOLDERS = "part-*-of-*"
"""Folders, below that of a run, of the commands that shared it (`run.parts`)."""
SHARD = re.compile(r"shard-(\d{5})-of-(\d{5})\.parquet")
_NODE = pa.struct(
    [
        ("prefix", pa.list_(pa.int32())),
        ("tokens", pa.list_(pa.int32())),
        ("logits", pa.list_(pa.float32())),
        ("log_norm", pa.list_(pa.float32())),
        ("outside", pa.list_(pa.float32())),
    ]
)
_ID_FIELDS = {
    "dataset": pa.string(),
    "index": pa.int64(),
    "position": pa.int32(),
    "group": pa.string(),
    "image_hash": pa.string(),
    "question_type": pa.string(),
    "category": pa.string(),
    "truth": pa.string(),
    "options": pa.string(),
    "prompt_hash": pa.string(),
    "prompt_tokens": pa.int32(),
    "error": pa.string(),
}
_ENCODINGS = {
    # Sign, exponent and mantissa bytes apart: the first two compress, the last does not.
    **{
        f"nodes.list.element.{name}.list.element": "BYTE_STREAM_SPLIT"
        for name in ("logits", "log_norm", "outside")
    },
    **dict.fromkeys(("index", "position"), "DELTA_BINARY_PACKED"),  # which mostly count up
}
STEP, BOUND_STEP = 2.0**-10, 2.0**-5
"""Of rounded records: logits are multiples of the one, bounds on what is not kept of the other.

In float32 both lose nothing. A logit then has some 16 bits, and a bound may be as coarse as this
since nearly none decides.
"""
# So many files become one table as they are read; a table a file would take more memory.
_TOGETHER = 32
_HELD: WeakValueDictionary[tuple[Path, int, int], Records] = WeakValueDictionary()
"""By a file's place, time and size, the records that were read of it and are still in use."""


class Nodes(NamedTuple):
    """All recorded nodes, padded to one width. A node's first token is repeated as padding.

    row       [nodes] place of the sample in the frame
    prefix    tokens before the node, one tuple a node
    tokens    [nodes, kept] ascending, then padding
    logits    [rounds, nodes, kept] float32
    log_norm  [rounds, nodes]
    outside   [rounds, nodes] bounds over the tokens not kept (`trajectories.Node`)
    """

    row: np.ndarray
    prefix: list[tuple[int, ...]]
    tokens: np.ndarray
    logits: np.ndarray
    log_norm: np.ndarray
    outside: np.ndarray

    @property
    def padding(self) -> np.ndarray:
        """[nodes, kept] whether a token only fills the array up."""
        padding = self.tokens == self.tokens[:, :1]
        padding[:, 0] = False
        return padding


@dataclass(frozen=True, eq=False)
class Records:
    """Records in memory: their Arrow table, the stamp, and the text of the tokens in nodes."""

    table: pa.Table
    stamp: Mapping[str, Any]
    pieces: Mapping[int, str]

    @property
    def rounds(self) -> list[str]:
        """Names of the rounds, in the order of every logits array."""
        return list(self.stamp["rounds"])

    @property
    def policies(self) -> list[str]:
        """Names under which answers are recorded, those of rounds before those of methods."""
        return _policies(self.stamp)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Everything but the nodes, one row a sample, with `kind` ("MCQ" or "Others") added."""
        frame = self.table.drop_columns(["nodes"]).to_pandas()
        for name in frame.columns:
            if name.startswith("parsed:") or name == "error":
                # Unknown is None and nothing else, whatever pandas makes of a null.
                column = frame[name].astype(object)
                frame[name] = column.where(column.notna(), None)
        frame["kind"] = np.where(frame["question_type"] == "mcq", "MCQ", "Others")
        return frame

    @cached_property
    def keys(self) -> list[tuple[str, int]]:
        """Data set and index of every row, its name in any records."""
        columns = (self.table[name].to_pylist() for name in ("dataset", "index"))
        return list(zip(*columns, strict=True))

    @cached_property
    def ok(self) -> np.ndarray:
        """Samples answered under every policy, so that any two of them can be compared."""
        ok = self.frame["error"].isna().to_numpy()
        for policy in self.policies:
            ok = ok & self.answered(policy)
        return ok

    def answered(self, policy: str) -> np.ndarray:
        """Samples that have an answer of this policy: no error, and not left out of it."""
        column = self.table[f"tokens:{self._policy(policy)}"]
        return np.asarray(pc.is_valid(column)) & self.frame["error"].isna().to_numpy()

    def left_out(self, policy: str) -> np.ndarray:
        """Samples without an error that a round of this policy cannot ask (`rewordings`)."""
        return self.frame["error"].isna().to_numpy() & ~self.answered(policy)

    def policy_of(self, method: Method) -> str | None:
        """The policy that is this method, known by its fields and not its name; None if none is."""
        if method.rule == "base":
            return "original"
        wanted = json.loads(json_text(asdict(method)))  # tuples read back from disk are lists
        for fields in self.stamp["methods"]:
            if {**fields, "name": method.name} == wanted:
                return fields["name"]
        return None

    def parsed(self, policy: str) -> np.ndarray:
        """The parsed answers of a policy, None where unknown. "base" is the original round."""
        return self.frame[f"parsed:{self._policy(policy)}"].to_numpy(dtype=object)

    def text(self, policy: str) -> np.ndarray:
        """The raw answers of a policy; "" for a sample with an error."""
        return self.frame[f"text:{self._policy(policy)}"].fillna("").to_numpy(dtype=object)

    def correct(self, policy: str) -> np.ndarray:
        """Whether the parsed answer is the truth; False where unknown or where `ok` is False."""
        return self.parsed(policy) == self.frame["truth"].to_numpy(dtype=object)

    def cut(self, policy: str) -> np.ndarray:
        """Whether the answer was cut at its limit of new tokens before the model ended it; False
        for a sample without one."""
        column = self.table[f"tokens:{self._policy(policy)}"]
        lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
        return lengths >= self.limits

    @cached_property
    def limits(self) -> np.ndarray:
        """The most new tokens that each sample's answers could take."""
        types = self.table["question_type"].to_pylist()
        return np.array([new_tokens(self.stamp, kind) for kind in types], dtype=int)

    def take(self, rows: np.ndarray) -> Records:
        """The records of some rows: a mask, or places in ascending order."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        return Records(self.table.take(pa.array(rows, pa.int64())), self.stamp, self.pieces)

    def answers_alone(self) -> Records:
        """The same without nodes, a tenth of the bytes: enough for what was decoded."""
        place = self.table.schema.get_field_index("nodes")
        empty = pa.array([[]] * len(self.table), pa.list_(_NODE))
        bare = self.table.set_column(place, self.table.schema.field("nodes"), empty)
        return Records(bare, self.stamp, {})

    def rounded(self) -> Records:
        """The same with logits as multiples of `STEP`, under two thirds of the bytes.

        What was decoded stays as it is; a replay proves no winner that half a step could turn. The
        bounds on tokens not kept are rounded up, to `BOUND_STEP`, and so stay bounds.
        """
        place = self.table.schema.get_field_index("nodes")
        column = self.table["nodes"].combine_chunks()
        flat = column.flatten()
        near = (np.round, STEP)
        grids = {"logits": near, "log_norm": near, "outside": (np.ceil, BOUND_STEP)}
        leaves = [
            _on_grid(flat.field(leaf.name), *grids[leaf.name])
            if leaf.name in grids
            else flat.field(leaf.name)
            for leaf in _NODE
        ]
        struct = pa.StructArray.from_arrays(leaves, fields=list(_NODE))
        nodes = pa.ListArray.from_arrays(column.offsets, struct)
        table = self.table.set_column(place, self.table.schema.field("nodes"), nodes)
        return replace(self, table=table, stamp={**self.stamp, "logit_step": STEP})

    @cached_property
    def nodes(self) -> Nodes:
        """All recorded logits as arrays."""
        column = self.table["nodes"].combine_chunks()
        counts = np.diff(column.offsets.to_numpy())
        flat = column.flatten()
        sizes = flat.field("tokens").value_lengths().to_numpy(zero_copy_only=False)
        width = int(sizes.max(initial=1))
        tokens = flat.field("tokens").flatten().to_numpy()
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        slots = np.arange(width)
        # Slot k of a node reads its k-th token, or its first where it has fewer.
        within = np.where(slots < sizes[:, None], slots, 0)
        rounds = len(self.rounds)
        logits = flat.field("logits").flatten().to_numpy()
        # A node's logits lie round after round, each as long as its tokens.
        base = (starts * rounds)[:, None] + within
        return Nodes(
            row=np.repeat(np.arange(len(counts)), counts),
            prefix=[tuple(prefix) for prefix in flat.field("prefix").to_pylist()],
            tokens=tokens[starts[:, None] + within],
            logits=np.stack([logits[base + r * sizes[:, None]] for r in range(rounds)]),
            log_norm=flat.field("log_norm").flatten().to_numpy().reshape(-1, rounds).T,
            outside=flat.field("outside").flatten().to_numpy().reshape(-1, rounds).T,
        )

    def _policy(self, name: str) -> str:
        name = "original" if name == "base" else name
        if name not in self.policies:
            raise NotRecorded(
                f"These records hold no answers of {name!r}; they hold {', '.join(self.policies)}. "
                "Ask for one of these, recompute it from the nodes, or evaluate again with it (a "
                "round by `--rounds`)."
            )
        return name


def _on_grid(
    lists: pa.ListArray, nearest: Callable[[np.ndarray], np.ndarray], step: float
) -> pa.ListArray:
    values = lists.flatten().to_numpy().astype(np.float64)
    rounded = (nearest(values / step) * step).astype(np.float32)
    return pa.ListArray.from_arrays(lists.offsets, pa.array(rounded))


def new_tokens(stamp: Mapping[str, Any], question_type: str) -> int:
    """The most new tokens of an answer; free answers may have a limit of their own."""
    limit = stamp["max_new_tokens"]
    return stamp.get("max_new_tokens_free", limit) if question_type in FREE else limit


def build_table(rows: Iterable[Mapping[str, Any]], policies: Sequence[str]) -> pa.Table:
    """The Arrow table of some records, given as one mapping a sample (see the module's table)."""
    return pa.Table.from_pylist([dict(row) for row in rows], schema=_schema(policies))


def write_records(path: Path, records: Records) -> None:
    """Write records to one file: under a temporary name first, then renamed in one step."""
    write_whole(path, to_bytes(records))


def to_bytes(records: Records) -> bytes:
    """The Parquet file of some records; the same records give the same bytes."""
    metadata = {
        "sci_stamp": json_text(records.stamp, ensure_ascii=False),
        "sci_pieces": json_text(
            {str(token): records.pieces[token] for token in sorted(records.pieces)},
            ensure_ascii=False,
        ),
    }
    table = records.table.combine_chunks().cast(_schema(records.policies))
    table = packed(table, records.policies).replace_schema_metadata(metadata)
    file = io.BytesIO()
    pq.write_table(
        table,
        file,
        compression="zstd",
        compression_level=19,
        use_dictionary=False,  # what repeats compresses better without one
        column_encoding=_ENCODINGS,
        write_statistics=False,
        row_group_size=1 << 20,
    )
    return file.getvalue()


def read_stamp(file: Path) -> dict[str, Any]:
    """The stamp of a file of records, without reading a row."""
    return json.loads(pq.read_schema(file).metadata[b"sci_stamp"])


def read_records(path: str | Path) -> Records:
    """Read one file of records, or all shards of a finished run from its folder.

    A file that somebody still holds is not read again: all that ask for it get the same records.

    Raises:
        RecordsError: if there is nothing, a shard is missing or unreadable, or the schema is
            another.
    """
    path = Path(path)
    files = shard_files(path) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise RecordsError(f"{path} holds no records. Make them with `sci evaluate`.")
    if path.is_dir():
        expected = shards_of(path)
        if len(files) != expected:
            raise RecordsError(
                f"{path} holds {len(files)} of {expected} shards: the run is not finished. Run the "
                "same `sci evaluate` command again; finished shards are kept."
            )
        return _read_in_order(files, path)
    state = path.stat()
    known = path.resolve(), state.st_mtime_ns, state.st_size
    if (records := _HELD.get(known)) is None:
        records = _HELD[known] = _read_in_order(files, path)
    return records


def _read_in_order(files: list[Path], path: Path) -> Records:
    read = [_read_files(files[k : k + _TOGETHER]) for k in range(0, len(files), _TOGETHER)]
    records = _one_after_the_other(read, path)
    places, schema = _order(records.table, records.stamp), records.table.schema
    if (places == np.arange(len(places))).all():  # as every file is written
        return records
    # Column by column, and each in one piece first, so that a large run is not in memory twice.
    columns, stamp, pieces = records.table.columns, records.stamp, records.pieces
    del read, records
    for number in range(len(columns)):
        column = columns[number] = columns[number].combine_chunks()
        columns[number] = column.take(pa.array(places))
        del column
    return Records(pa.Table.from_arrays(columns, schema=schema), stamp, pieces)


def shard_files(out: Path) -> list[Path]:
    """The shards in a run's folder and its parts', in order; a file of any other name is none."""
    files = [*out.glob(f"{PART_FOLDERS}/shard-*.parquet"), *out.glob("shard-*.parquet")]
    by_name = {file.name: file for file in files if SHARD.fullmatch(file.name)}
    return [by_name[name] for name in sorted(by_name)]


def shards_of(folder: Path) -> int | None:
    """How many shards the run in a folder was begun with; None if it has none yet.

    Raises:
        RecordsError: the shards are of several runs; names those to take away.
    """
    by_count: dict[int, list[str]] = {}
    for file in shard_files(folder):
        by_count.setdefault(int(SHARD.fullmatch(file.name)[2]), []).append(file.name)
    if len(by_count) > 1:
        fewest, *_ = sorted(by_count.values(), key=len)
        raise RecordsError(
            f"{folder} holds shards of several runs, of {' and '.join(map(str, by_count))} shards; "
            f"take those of all but one away, such as {', '.join(fewest[:3])}."
        )
    return next(iter(by_count), None)


def sort_records(records: Records) -> Records:
    """Rows in the order of the stamp's data sets, then of position: the one order on disk."""
    return records.take(_order(records.table, records.stamp))


def _order(table: pa.Table, stamp: Mapping[str, Any]) -> np.ndarray:
    numbers = {name: number for number, name in enumerate(stamp["datasets"])}
    datasets = np.array([numbers[name] for name in table["dataset"].to_pylist()], dtype=int)
    return np.lexsort([table["position"].to_numpy(), datasets])


def _read_files(files: Sequence[Path]) -> Records:
    """Their rows in as few pieces of memory as possible."""
    records = _one_after_the_other([_read_file(file) for file in files], files[0].parent)
    return replace(records, table=records.table.combine_chunks())


def _one_after_the_other(parts: Sequence[Records], path: Path) -> Records:
    stamp = parts[0].stamp
    if any(part.stamp != stamp for part in parts):
        raise RecordsError(f"{path} mixes shards of several runs; evaluate into an empty folder.")
    pieces = {token: text for part in parts for token, text in part.pieces.items()}
    return Records(pa.concat_tables([part.table for part in parts]), stamp, pieces)


def _read_file(path: Path) -> Records:
    try:
        with pq.ParquetFile(path) as file:
            table = file.read(use_threads=False)
        stamp = json.loads(table.schema.metadata[b"sci_stamp"])
        pieces = json.loads(table.schema.metadata[b"sci_pieces"])
        schema = stamp["schema"]
        if schema == SCHEMA_VERSION and "answers" in table.column_names:  # not so in early files
            policies = _policies(stamp)
            table = unpacked(table, policies).select(_schema(policies).names)
    except (pa.ArrowException, ValueError, OSError, KeyError, TypeError) as error:
        raise RecordsError(
            f"{path} is no file of records ({str(error).splitlines()[0]}). Expected is a "
            "Parquet file that `sci evaluate` wrote. If it did, give the command of that run "
            "again, which makes a damaged shard anew; or delete this file first."
        ) from error
    if schema != SCHEMA_VERSION:
        raise RecordsError(
            f"{path} has records of schema {schema}, this version reads schema "
            f"{SCHEMA_VERSION}. Make them anew with `sci evaluate`."
        )
    return Records(table, stamp, {int(token): text for token, text in pieces.items()})


def _policies(stamp: Mapping[str, Any]) -> list[str]:
    return [*stamp["rounds"], *(method["name"] for method in stamp["methods"])]


def _schema(policies: Sequence[str]) -> pa.Schema:
    return pa.schema(
        [
            *_ID_FIELDS.items(),
            *((f"tokens:{policy}", pa.list_(pa.int32())) for policy in policies),
            *((f"text:{policy}", pa.string()) for policy in policies),
            *((f"parsed:{policy}", pa.string()) for policy in policies),
            ("nodes", pa.list_(_NODE)),
        ]
    )

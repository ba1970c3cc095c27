"""Answers by number, as files of records keep them: each distinct answer stands there once.

Most policies give a question the same answer, and few answers differ at all; tokens, text and
parsed answer of every row and policy would be most of a file without nodes. Nothing is lost:

=========  =====================================================================================
column     meaning
=========  =====================================================================================
answers    the answers (tokens, text, parsed) that this row is the first to have; those of all
           rows, one after another, are numbered from 0
answer:P   the number of the row's answer of policy P; `SAME` where it is that of the first policy;
           null where the sample was left out of P
=========  =====================================================================================
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SAME, ABSENT = -1, -2
FIELDS = ("tokens", "text", "parsed")
"""What an answer is: outside files each has a column a policy, `FIELD:POLICY`."""


def packed(table: pa.Table, policies: Sequence[str]) -> pa.Table:
    """The table with answers by number, in place of a column each for tokens, text and parsed."""
    keys = _keys(table, policies)
    there = keys.ravel() != ABSENT
    # Row after row, and within it policy after policy.
    _, place, inverse = np.unique(keys.ravel()[there], return_index=True, return_inverse=True)
    order = np.argsort(place)
    numbers = np.full(keys.size, ABSENT)
    numbers[there] = np.argsort(order)[inverse]
    numbers = numbers.reshape(keys.shape)
    row, policy = np.divmod(np.flatnonzero(there)[place[order]], len(policies))

    rest = table.drop_columns([f"{name}:{each}" for name in FIELDS for each in policies])
    bounds = np.searchsorted(row, np.arange(len(table) + 1)).astype(np.int32)
    answers = _taken(table, policies, row, policy)
    rest = rest.append_column("answers", pa.ListArray.from_arrays(pa.array(bounds), answers))
    for at, each in enumerate(policies):
        same = (numbers[:, at] == numbers[:, 0]) & (at > 0)
        written = np.where(same, SAME, numbers[:, at])
        column = pa.array(written, pa.int32(), mask=numbers[:, at] == ABSENT)
        rest = rest.append_column(f"answer:{each}", column)
    return rest


def unpacked(table: pa.Table, policies: Sequence[str]) -> pa.Table:
    """The table with a column each for tokens, text and parsed answer of every policy again.

    Raises:
        pa.ArrowException: if a row has the number of an answer that there is not.
    """
    answers = table["answers"].combine_chunks().flatten()
    written = [table[f"answer:{policy}"].combine_chunks() for policy in policies]
    numbers = [pc.if_else(pc.equal(each, SAME), written[0], each) for each in written]
    taken = [answers.take(each) for each in numbers]
    rest = table.drop_columns(["answers", *(f"answer:{policy}" for policy in policies)])
    for name in FIELDS:
        for policy, each in zip(policies, taken, strict=True):
            rest = rest.append_column(f"{name}:{policy}", pc.struct_field(each, name))
    return rest


def _keys(table: pa.Table, policies: Sequence[str]) -> np.ndarray:
    """[rows, policies] equal where two answers are equal; `ABSENT` where there is none."""
    key = np.zeros(len(policies) * len(table), dtype=np.int64)
    there = np.zeros(len(key), dtype=bool)
    for name in FIELDS:
        columns = [table[f"{name}:{policy}"] for policy in policies]
        if name == "tokens":  # lists have no dictionary, their digits have one
            columns = [pc.binary_join(each.cast(pa.list_(pa.string())), " ") for each in columns]
        codes = _codes(columns)
        there |= codes > 0
        key = np.unique(key * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    key = np.where(there, key, ABSENT)
    return key.reshape(len(policies), len(table)).T


def _codes(columns: Sequence[pa.ChunkedArray]) -> np.ndarray:
    """The number of each value among those of all columns, one after another; 0 of a null."""
    # In pieces, for one piece may not hold all texts of a large run.
    pieces = [piece for each in columns for piece in each.iterchunks()]
    encoded = pa.chunked_array(pieces, columns[0].type).dictionary_encode()
    found = [pc.fill_null(piece.indices, -1).to_numpy() + 1 for piece in encoded.iterchunks()]
    return np.concatenate([np.zeros(0, dtype=int), *found])


def _taken(
    table: pa.Table, policies: Sequence[str], row: np.ndarray, policy: np.ndarray
) -> pa.StructArray:
    """The answers at some rows of some policies, in order."""
    order = np.argsort(policy, kind="stable")
    back = pa.array(np.argsort(order))
    fields = []
    for name in FIELDS:
        parts = [
            table[f"{name}:{each}"].combine_chunks().take(pa.array(row[policy == at]))
            for at, each in enumerate(policies)
        ]
        fields.append(pa.concat_arrays(parts).take(back))
    return pa.StructArray.from_arrays(fields, names=list(FIELDS))

"""Answers by number: nothing is lost, and each answer is written once."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.results.packing import FIELDS, packed, unpacked

KINDS = {"tokens": pa.list_(pa.int32()), "text": pa.string(), "parsed": pa.string()}
ANSWERS = st.none() | st.fixed_dictionaries(
    {
        "tokens": st.none() | st.lists(st.integers(0, 12), max_size=2),
        "text": st.none() | st.sampled_from(["", "A", "1 2", "–"]),
        "parsed": st.none() | st.sampled_from(["", "A"]),
    }
)
NONE = dict.fromkeys(FIELDS)


def table_of(rows):
    """A table of answers, one list a row and one answer a policy, between two other columns."""
    policies = [f"P{at}" for at in range(len(rows[0]) if rows else 2)]
    columns = {"place": pa.array(range(len(rows)), pa.int32())}
    for name, kind in KINDS.items():
        for at, policy in enumerate(policies):
            values = [(row[at] or NONE)[name] for row in rows]
            columns[f"{name}:{policy}"] = pa.array(values, kind)
    columns["nodes"] = pa.array([[k] for k in range(len(rows))], pa.list_(pa.int32()))
    return pa.table(columns), policies


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(ANSWERS, min_size=n, max_size=n))))
def test_what_was_packed_is_unpacked_to_the_same(rows):
    table, policies = table_of(rows)
    small = packed(table, policies)
    assert unpacked(small, policies).select(table.column_names).equals(table)
    given = [answer for row in rows for answer in row if (answer or NONE) != NONE]
    distinct = {str([answer[name] for name in FIELDS]) for answer in given}
    assert sum(map(len, small["answers"].to_pylist())) == len(distinct)


def test_pieces_of_a_table_are_packed_as_one():
    answer = {"tokens": [1], "text": "A", "parsed": "A"}
    table, policies = table_of([[answer, NONE], [NONE, answer], [answer, answer]])
    pieces = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert packed(pieces, policies).equals(packed(table, policies))
    assert packed(table, policies)["answers"].to_pylist() == [[answer], [], []]
    numbers = [packed(table, policies)[f"answer:{policy}"].to_pylist() for policy in policies]
    assert numbers == [[0, None, 0], [None, 0, -1]]


def test_a_number_that_no_answer_has_is_refused():
    table, policies = table_of([[{"tokens": [1], "text": "A", "parsed": "A"}]])
    small = packed(table, policies).set_column(3, "answer:P0", pa.array([7], pa.int32()))
    with pytest.raises(pa.ArrowException):
        unpacked(small, policies)

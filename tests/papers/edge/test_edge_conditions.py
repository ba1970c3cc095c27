"""Rows of the Edge experiments: what is done to pictures and questions, and how rows are paired."""

from collections import Counter
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest

from sci_book.data.rows import DatasetError, Problem, short_hash
from sci_book.papers.edge import conditions
from sci_book.papers.edge.negation import TEMPLATES
from sci_book.papers.shared.blur import blur
from sci_book.papers.shared.corruptions import FAMILIES, SEVERITIES, corrupt
from tests.papers.edge.edge_rows import row


@pytest.fixture
def rows():
    asked = "Is the cow red? Please answer yes or no."
    return conditions.clean_rows(
        [row(0), row(1, "free", question="Describe the picture."), row(2, "yesno", question=asked)]
    )


def test_free_rows_are_captions_and_a_picture_is_its_own_group(rows):
    assert [(each.dataset, each.index) for each in rows] == [
        ("questions", 0), ("questions", 1), ("captions", 0)
    ]  # fmt: skip
    assert len({each.group for each in rows}) == 3
    assert rows[1].category == "colour | Is the cow red?"
    assert rows[2].translation == conditions.DESCRIBE_TRANSLATED and not rows[0].translation


def test_at_most_so_many_rows_of_each_kind(monkeypatch):
    monkeypatch.setattr(conditions, "QUESTION_ROWS", 2)
    assert len(conditions.clean_rows([row(k) for k in range(5)])) == 2


def test_choices_and_nothing_to_ask_are_refused():
    with pytest.raises(DatasetError, match=r"1 rows are multiple choice \(first: row 3\)"):
        conditions.clean_rows([row(0), row(3, "mcq")])
    with pytest.raises(DatasetError, match="no question among the rows"):
        conditions.clean_rows([row(0, "free")])


def test_blur_changes_the_picture_and_nothing_else(rows):
    found = conditions.blurred_rows(rows)
    for one, other in zip(rows, found, strict=True):
        assert np.array_equal(np.asarray(other.image()), np.asarray(blur(one.image())))
        assert other.image_hash == short_hash(other.image_bytes) != one.image_hash
        assert other.dataset == f"blurred {one.dataset}"
        same = attrgetter("group", "index", "question", "category")
        assert same(other) == same(one)


def test_a_corruption_has_the_same_questions_at_all_severities(rows, monkeypatch):
    monkeypatch.setattr(conditions, "NAMES", ("fog", "contrast", "snow"))
    monkeypatch.setattr(conditions, "CORRUPTED_ROWS", 1)
    found = conditions.corrupted_rows(rows)
    assert len(found) == 3 * len(SEVERITIES)
    groups = {}
    for each in found:
        name, severity = each.category.split()
        groups.setdefault(name, set()).add(each.group)
        clean = next(one for one in rows if one.group == each.group)
        expected = corrupt(clean.image(), name, int(severity))
        assert np.array_equal(np.asarray(each.image()), np.asarray(expected))
    assert all(len(each) == 1 for each in groups.values())
    assert groups["fog"] != groups["contrast"]  # questions in turn
    assert len({each.index for each in found}) == len(found)


@pytest.mark.parametrize("limit", [20, 21, 60, 95, 100, 400, None])
def test_a_limit_bounds_every_experiment_and_keeps_severities_whole(limit, monkeypatch):
    questions = [row(number, "short", answer="cow") for number in range(18)]
    clean = conditions.clean_rows(questions + [row(number, "free") for number in range(9)])
    monkeypatch.setattr(conditions, "_redrawn", lambda row, draw: row)  # no picture is drawn
    most = conditions.most_rows(clean, limit)
    found = conditions.corrupted_rows(clean, limit=limit)
    assert len(found) == most["corrupted"]
    by_name = Counter(each.category.split()[0] for each in found)
    assert all(count % len(SEVERITIES) == 0 for count in by_name.values())
    if limit is None:
        assert most == {
            "clean": 27, "blurred": 27, "corrupted": 19 * 16 * 5, "negated": 27 * 4,
        }  # fmt: skip
        return
    assert 0 < len(found) <= limit and most["negated"] <= limit
    assert len(by_name) == min(19, limit // 5)
    families = {family for family, names in FAMILIES.items() if by_name.keys() & set(names)}
    assert families == set(FAMILIES)  # spread over all kinds


def test_probes_hold_the_models_own_answer_and_no_instruction(rows):
    found = conditions.negated_rows(rows[1:], ["Yes", "3 red cows."])
    assert [each.category for each in found] == [*TEMPLATES] * 2
    counter = found[3]
    assert counter.question == (
        "The answer to the question 'Is the cow red?' is NOT 'Yes'. What is the correct answer?"
    )
    assert "Is the cow red?" in counter.translation and "'Yes'" in counter.translation
    assert {each.question_type for each in found} == {"free"}
    assert found[0].index == 1 * len(TEMPLATES) and found[4].dataset == "negated captions"
    assert found[0].group == rows[1].group


def test_a_picture_that_cannot_be_read_keeps_its_fault(rows):
    spoilt = replace(rows[0], problem=Problem("picture", "row 0: no picture"))
    (found,) = conditions.blurred_rows([spoilt])
    assert found.problem == spoilt.problem and found.dataset == "blurred questions"


def test_the_checksum_tells_what_is_asked(rows):
    one = conditions.as_dataset(rows, "pictures")
    other = conditions.as_dataset([replace(rows[0], question="?"), *rows[1:]], "pictures")
    assert one.checksums["captions"] == other.checksums["captions"]
    assert one.checksums["questions"] != other.checksums["questions"]
    assert one.sizes == {"questions": 2, "captions": 1}

"""Figures 3 to 5: the printed prompts, and how many answers a rewrite changes."""

import re

import numpy as np
import pandas as pd
import pytest

from sci_book.data.datasets import Row
from sci_book.papers.sci.chapters import measures
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Evidence
from sci_book.resources import PAPER
from sci_book.results.records import Records, build_table, write_records
from sci_book.results.statistics import difference
from sci_core.counterfactuals import REWRITES
from tests.rows import answers, sample

ROUNDS = ("V1", "V2", "V3")
NAMES = ["original", *ROUNDS, "black", "noise500"]
TRUTH = {"mcq": "ABCD", "yesno": ["yes", "no"], "short": ["red", "blue"]}
FAMILY = "qwen2_vl"


def row_of(place, question_type):
    return Row(
        dataset="made", index=place, position=place, group=f"g{place // 3}",
        question_type=question_type, answer=TRUTH[question_type][place % 2], image_hash="",
        question="Is it red? Please answer yes or no." if question_type == "yesno" else "What?",
        options=dict(zip("ABCD", "wxyz", strict=True)) if question_type == "mcq" else {},
    )  # fmt: skip


def records_of(types, model="pocket-qwen2vl", seed=0):
    """Records with drawn answers, unknown ones among them; the last row failed."""
    rng, built = np.random.default_rng(seed), []
    for place, question_type in enumerate(types):
        row = row_of(place, question_type)
        spoilt = place == len(types) - 1
        line = sample(
            place, dataset=row.dataset, group=row.group, question_type=question_type,
            truth=row.answer, options="".join(row.options),
            error="RowError" if spoilt else None,
        )  # fmt: skip
        said = [*TRUTH[question_type], row.answer, "what"]
        drawn = {name: str(rng.choice(said)) for name in NAMES}
        built.append(line if spoilt else line | answers(drawn, unread=["what"]))
    stamp = {
        "schema": 1, "model": model, "family": FAMILY, "revision": "r", "rounds": NAMES,
        "rows": "same", "methods": [], "datasets": {"made": "sum"}, "eos": [9],
    }  # fmt: skip
    return Records(build_table(built, NAMES), stamp, {})


def subject_of(tmp_path, types, model="pocket-qwen2vl"):
    write_records(tmp_path / f"{model}.parquet", records_of(types, model))
    return chapters.subjects([model], tmp_path)[0]


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    types = ["mcq", "yesno", "short"] * 60
    return subject_of(tmp_path_factory.mktemp("records"), types)


@pytest.mark.parametrize("name", ROUNDS)
def test_the_library_decodes_with_the_papers_tables(name):
    printed = pd.read_csv(PAPER / f"fig0{2 + int(name[1])}.csv", dtype=str, keep_default_na=False)
    tables = dict(zip(printed["original"], printed["rewritten"], strict=True))
    toolkit = "Answer the question using a single word or phrase."  # the one that is not printed
    assert len(tables) == 6 and set(printed["round"]) == {name}
    assert tables == {text: said for text, said in REWRITES[name].items() if text != toolkit}
    for text, mark in zip(printed["rewritten"], printed["rewritten_mark"], strict=True):
        assert bool(re.search("[\u4e00-\u9fff]", text)) == (mark == "Chinese")


def test_what_a_rewrite_changes_beyond_another_is_paired(subject):
    def changed(name):  # an answer that cannot be read equals none, not even another such
        pairs = zip(*(subject.records.frame[f"parsed:{one}"] for one in ("original", name)),
                    strict=True)  # fmt: skip
        return np.array([before is None or before != after for before, after in pairs])

    of, rows = Evidence(subject, [], None), subject.sets("any", "rows")["all"].to_numpy()
    (sample,) = measures.changed(of, ["V2"], ["all"], ["V1"])
    gap = (changed("V2").astype(float) - changed("V1"))[rows]
    expected = difference(gap, subject.groups[rows])
    assert sample.what == "V2 − V1, all" and sample.interval == expected
    kinds = measures.changed(of, ["V2"], ["all"], ["V1"], ["MCQ", "Others"])
    assert sum(len(part.values) for part in kinds) == rows.sum() == expected.n
    sensitive = subject.sets("any", "rows")["S"].to_numpy()
    assert (sensitive == (rows & (changed("V1") | changed("V2")))).all()


@pytest.mark.parametrize("types", [["mcq"] * 8, ["yesno"] * 8, ["short"] * 8])
def test_a_missing_question_type_has_no_row(tmp_path, types):
    of = Evidence(subject_of(tmp_path, types), [], None)
    absent = "Others" if types[0] == "mcq" else "MCQ"
    (part,) = measures.changed(of, ["V2"], ["all"], ["V1"], [absent])
    assert part.interval.n == 0

"""The twins in the public formats, read by the loader that reads the real files."""

import csv
import sys
from collections import Counter
from itertools import islice

import numpy as np
import pyarrow.parquet as pq
import pytest

from sci_book.pocket import twins
from sci_book.pocket.questions import FAMILIES
from sci_book.pocket.world import BEFORE, WORLD

csv.field_size_limit(sys.maxsize)
SIZES = {"MMBench_DEV_EN_V11.tsv": 4876, "MMBench_DEV_CN_V11.tsv": 4876, "CCBench.tsv": 2040,
         "MMStar.tsv": 1500, "MME.tsv": 2374, "ViLP.parquet": 300}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    """As many rows as every twin has, pictures left out (drawing is tested on its own).

    A twin asks each family about its first scenes again and again: finding thousands by rejection
    takes minutes, and neither sizes nor rotations nor lengths of answers need it.
    """
    stock, ask = {}, twins.ask

    def ask_again(rng, family, accept):
        known = [pair for pair in stock.setdefault(family, []) if accept(pair[1])]
        if known and len(stock[family]) >= 8:
            return known[rng.integers(len(known))]
        stock[family].append(ask(rng, family, accept))
        return stock[family][-1]

    patch = pytest.MonkeyPatch()
    patch.setattr(twins, "png", lambda scene: repr(scene).encode())
    patch.setattr(twins, "ask", ask_again)
    made = {}
    for name, (source, seed, _) in twins._FILES.items():
        stock.clear()
        made[name] = list(source(seed=seed))
    patch.undo()
    return made


def test_sizes_are_the_papers(rows):
    assert {name: len(found) for name, found in rows.items()} == SIZES
    assert sum(SIZES.values()) - 300 + 900 == 16_566


def test_rotations_share_picture_and_question_and_move_the_answer(rows):
    for name in ("MMBench_DEV_EN_V11.tsv", "CCBench.tsv"):
        groups = {}
        for row in rows[name]:
            groups.setdefault(row["index"] % 1_000_000, []).append(row)
        for first, *rest in groups.values():
            assert len(rest) == 3
            assert len({row["answer"] for row in (first, *rest)}) == 4
            for row in rest:
                assert row["image"] == str(first["index"]) and row["question"] == first["question"]
                assert row[row["answer"]] == first[first["answer"]]
                assert {row[x] for x in "ABCD"} == {first[x] for x in "ABCD"}


def test_english_and_chinese_mmbench_are_the_same_questions(rows):
    english, chinese = rows["MMBench_DEV_EN_V11.tsv"], rows["MMBench_DEV_CN_V11.tsv"]
    for en, zh in zip(english, chinese, strict=True):
        assert (en["index"], en["answer"], en["image"]) == (zh["index"], zh["answer"], zh["image"])
        assert any("\u4e00" <= c <= "\u9fff" for c in zh["question"])
        assert not any("\u4e00" <= c <= "\u9fff" for c in en["question"])


def test_mme_asks_yes_then_no_about_one_picture(rows):
    found = iter(rows["MME.tsv"])
    while pair := list(islice(found, 2)):
        assert [row["answer"] for row in pair] == ["Yes", "No"]
        assert pair[1]["image"] == str(pair[0]["index"])
        assert pair[0]["image_path"] == pair[1]["image_path"]
        assert pair[0]["question"] != pair[1]["question"]


def test_vilp_asks_one_question_of_three_pictures(rows):
    for row in rows["ViLP.parquet"]:
        assert len({row["answer1"], row["answer2"], row["answer3"]}) == 3
        assert len({row["image1"], row["image2"], row["image3"]}) == 3


def test_every_family_is_asked_as_often_usual_as_not(monkeypatch):
    tally = Counter()
    for _, _, _, query in twins._questions(1, tuple(FAMILIES), 2 * 4 * len(FAMILIES)):
        tally[query.family, query.usual] += 1
    assert set(tally.values()) == {4} and len(tally) == 2 * len(FAMILIES)


def test_a_fifth_of_the_answers_has_more_than_one_token(rows, monkeypatch):
    from sci_book.pocket import tokenizer as texts

    monkeypatch.setattr(texts, "SEGMENTS", 3000)
    tokenizer = texts.build_tokenizer("qwen2_vl")
    answers = [row[row["answer"]] for name, found in rows.items() for row in found if "A" in row]
    answers += [row["answer"] for row in rows["MME.tsv"]]
    answers += [row[f"answer{i}"] for row in rows["ViLP.parquet"] for i in (1, 2, 3)]
    lengths = [len(ids) for ids in tokenizer(answers, add_special_tokens=False).input_ids]
    assert len(answers) == 16_566 and np.mean(np.array(lengths) > 1) >= 0.2


def test_each_world_has_rows_of_its_own(tmp_path, monkeypatch):
    source, number, columns = twins._FILES["ViLP.parquet"]
    few = {"ViLP.parquet": (lambda seed: islice(source(seed), 2), number, columns)}
    monkeypatch.setattr(twins, "_FILES", few)
    asked = {"now": {}, "again": {"world": WORLD}, "before": {"world": BEFORE}}
    worlds = {}
    for name, given in asked.items():
        (path,) = twins.make(tmp_path / name, say=lambda _: None, **given)
        worlds[name] = pq.read_table(path).to_pylist()
    assert worlds["now"] == worlds["again"]
    assert all(now != then for now, then in zip(worlds["now"], worlds["before"], strict=True))


def test_an_interrupted_drawing_leaves_no_half_file(tmp_path, monkeypatch):
    calls = []

    def broken(scene):
        calls.append(scene)
        if len(calls) > 30:
            raise KeyboardInterrupt
        return b"picture"

    monkeypatch.setattr(twins, "png", broken)
    with pytest.raises(KeyboardInterrupt):
        twins.make(tmp_path, say=lambda _: None)
    assert not list(tmp_path.glob("*.tsv"))


def test_what_is_there_is_not_drawn_again(tmp_path, monkeypatch):
    source, number, columns = twins._FILES["ViLP.parquet"]
    few = {"ViLP.parquet": (lambda seed: islice(source(seed), 3), number, columns)}
    monkeypatch.setattr(twins, "_FILES", few)
    (path,) = twins.make(tmp_path, say=lambda _: None)
    assert pq.read_table(path).num_rows == 3
    monkeypatch.setattr(twins, "_vilp", lambda seed: 1 / 0)
    before = path.stat().st_mtime_ns
    twins.make(tmp_path, say=lambda _: None)
    assert path.stat().st_mtime_ns == before

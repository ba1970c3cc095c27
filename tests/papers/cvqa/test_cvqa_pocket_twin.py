"""The pocket twin of C-VQA-Real: answers worked out again on a changed copy of the scene."""

import csv
import json
import re
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from sci_book.papers.cvqa.questions import COLUMNS, load
from sci_book.pocket.what_if import GROUPS, SCENES, TYPES, detections, item, write
from sci_book.pocket.world import CELLS, COLOURS, KINDS, Scene, Thing

SINGULAR = {f"{k}s": k for k in KINDS} | {k: k for k in KINDS} | {"buses": "bus"}
NAMES = r"\d+|\b(?:" + "|".join((*SINGULAR, *COLOURS, *CELLS)) + r")\b"


def nouns(text):
    return [SINGULAR[w] for w in re.findall(r"[a-z]+", text) if w in SINGULAR]


def change(things, clause):
    """The things after a presupposition, on plain dictionaries."""
    things = [dict(thing) for thing in things]
    mine = nouns(clause)
    if found := re.search(r"everything in the (\w+) (row|column)", clause):
        return [t for t in things if t[found[2]] != found[1]]
    if re.search(r"\ball .*removed", clause):
        return [t for t in things if t["kind"] != mine[0]]
    if "turned into" in clause:
        return [t | {"kind": mine[1]} if t["kind"] == mine[0] else t for t in things]
    if "switch" in clause:
        return [t | {"on": not t["on"]} if t["kind"] == "lamp" else t for t in things]
    if found := re.search(r"painted (\w+)", clause):
        return [t | {"colour": found[1]} for t in things]  # a claim about one kind only
    if found := re.search(r"moved to the (.*)\?", clause):
        return [t | {"cell": found[1]} for t in things]
    if "doubled" in clause:
        return things + [t for t in things if t["kind"] == mine[0]]
    if found := re.search(r"(\d) more", clause):
        return things + [{"kind": mine[0]}] * int(found[1])
    if found := re.search(r"(\d+) \w+ (?:was|were) removed", clause):
        kept = [t for t in things if t["kind"] != mine[0]]
        return kept + [t for t in things if t["kind"] == mine[0]][int(found[1]) :]
    assert "added" in clause, clause
    return [*things, {"kind": mine[0]}]


def ask(things, question):
    """The answer to a question whose presupposition has been carried out."""
    if question.startswith("How many"):
        if "lamps are on" in question or "lamps would be on" in question:
            return str(sum(t["kind"] == "lamp" and t["on"] for t in things))
        if found := re.search(r"How many (?:(\w+) )?things", question):
            return str(sum(found[1] in (None, t["colour"]) for t in things))
        (kind,) = nouns(question)
        return str(sum(t["kind"] == kind for t in things))
    (kind,) = nouns(question)
    mine = [t for t in things if t["kind"] == kind]
    if "in the picture" in question:
        return "yes" if mine else "no"
    if found := re.search(r"at the ([a-z ]+)$", question.rstrip("? ")):
        return "yes" if mine[0]["cell"] == found[1] else "no"
    last = question.rstrip("? ").rsplit(" ", 1)[1]
    if last in ("on", "off"):
        return "yes" if mine[0]["on"] == (last == "on") else "no"
    assert last in COLOURS
    return "yes" if mine[0]["colour"] == last else "no"


@pytest.mark.parametrize("kind", TYPES)
def test_answers_follow_from_the_scene(kind):
    seen = Counter()
    for number in range(250):
        scene, asked = item(0, kind, number)
        things = detections(scene)["things"]
        main, clause = asked.new_question.split(" if ")
        assert ask(things, asked.question) == asked.answer, asked
        assert ask(change(things, clause), main) == asked.new_answer, asked
        assert asked.answer != asked.new_answer
        seen[re.sub(NAMES, "_", clause)] += 1
    assert len(seen) >= 4, seen  # several forms of presupposition


def test_boolean_originals_are_yes_and_no_in_turn():
    answers = [item(1, "boolean", n)[1].answer for n in range(20)]
    assert answers == ["yes", "no"] * 10


def test_an_item_depends_on_seed_type_and_number_alone():
    assert item(0, "indirect", 5) == item(0, "indirect", 5)
    assert item(0, "indirect", 5) != item(1, "indirect", 5) != item(1, "indirect", 6)
    assert item(0, "direct", 5)[0] != item(0, "indirect", 5)[0]


def test_the_written_twin_is_read_by_the_real_loader(tmp_path):
    sizes = {"direct": 12, "indirect": 12, "boolean": 12}
    path = write(tmp_path, sizes=sizes, say=lambda _: None)
    assert path.read_text().splitlines()[0].split(",") == list(COLUMNS)
    found = load(path)
    assert not found.left_out and Counter(i.kind for i in found.items) == sizes
    assert not any(i.original_answer == i.counterfactual_answer for i in found.items)
    with (tmp_path / GROUPS).open() as file:
        groups = {row["img_path"]: row for row in csv.DictReader(file)}
    scenes = [json.loads(line) for line in (tmp_path / SCENES).read_text().splitlines()]
    assert [s["img_path"] for s in scenes] == [i.image for i in found.items] == list(groups)
    for scene in scenes:
        row = groups[scene["img_path"]]
        assert (row["place"], row["light"]) == (scene["place"], scene["light"])
        assert (row["indoors"] == "yes") == (scene["place"] in ("kitchen", "bedroom"))
        with Image.open(tmp_path / scene["img_path"]) as picture:
            assert picture.size == (96, 96)
    before = path.read_bytes()
    again = write(tmp_path / "again", sizes=sizes, say=lambda _: None)
    assert again.read_bytes() == before
    made = path.stat().st_mtime_ns
    write(tmp_path, sizes=sizes, say=lambda _: None)  # what is there stays
    assert path.stat().st_mtime_ns == made
    with pytest.raises(ValueError, match="holds the twin"):
        write(tmp_path, seed=3, sizes=sizes, say=lambda _: None)
    assert path.read_bytes() == before


def test_an_interrupted_drawing_leaves_no_questions(tmp_path, monkeypatch):
    monkeypatch.setattr("sci_book.pocket.what_if.png", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(tmp_path, say=lambda _: None)
    assert not [p for p in tmp_path.iterdir() if p.suffix in (".csv", ".jsonl", ".json")]


def test_scenes_without_anything_to_ask_are_passed_over():
    empty = Scene("sea", (), "clear", 1)
    for ask_about in (TYPES["direct"], TYPES["indirect"]):
        assert ask_about(empty, np.random.default_rng(0)) is None


def test_a_detector_is_told_what_is_drawn():
    lamp = Thing("lamp", "yellow", 2, on=False)
    sign = Thing("sign", "white", 3, text="K")
    assert detections(Scene("street", (lamp, sign), "dusk", 0)) == {
        "place": "street", "light": "dusk",
        "things": [
            {"kind": "lamp", "colour": "yellow", "cell": "top right", "row": "top",
             "column": "right", "on": False, "text": None},
            {"kind": "sign", "colour": "white", "cell": "left", "row": "middle", "column": "left",
             "on": None, "text": "K"},
        ],
    }  # fmt: skip

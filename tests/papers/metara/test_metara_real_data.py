"""Real photographs with real boxes and captions: every relation makes a case or names why not."""

import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from sci_book.data.datasets import load_dataset
from sci_book.papers.metara.difficulty import difficulty, word_overlap
from sci_book.papers.metara.files import read_refusals, read_rows, write_cases
from sci_book.papers.metara.metavqa import compositions
from sci_book.papers.metara.overlay import Box
from sci_book.papers.metara.relations import RELATIONS, Original, Thing

FEW = 3


@pytest.fixture(scope="module")
def photographs(real):
    folder = real / "coco_mini"
    (instances,) = folder.rglob("instances*.json")
    (captions,) = folder.rglob("captions*.json")
    known, said = (json.loads(path.read_text(encoding="utf-8")) for path in (instances, captions))
    names = {category["id"]: category["name"] for category in known["categories"]}
    found = []
    for entry in known["images"]:
        boxes = [a for a in known["annotations"] if a["image_id"] == entry["id"]]
        if len(found) == FEW or not 1 <= len(boxes) <= 6:
            continue
        (path,) = folder.rglob(entry["file_name"])
        image = Image.open(path).convert("RGB")
        image.thumbnail((240, 240))
        share = image.width / entry["width"]
        mask = np.zeros((image.height, image.width), bool)
        things = []
        for each in boxes:
            x, y, w, h = (round(share * value) for value in each["bbox"])
            box = Box(max(x, 0), max(y, 0), min(x + w, image.width), min(y + h, image.height))
            if box.left < box.right and box.top < box.bottom:
                mask[box.top : box.bottom, box.left : box.right] = True
                name = names[each["category_id"]]
                things.append(Thing(name, name + "s", box))
        caption = next(c["caption"] for c in said["annotations"] if c["image_id"] == entry["id"])
        original = Original(
            str(entry["id"]), image, f"Where is the {things[0].kind}?", "there",
            dataset="photographs", things=mask, texts=(caption.strip(), "照片"),
            words=tuple(thing.kind for thing in things), boxes=tuple(things),
        )  # fmt: skip
        found.append(original)
    assert len(found) == FEW
    return found


def test_photographs_become_cases_that_the_loader_reads(photographs, tmp_path):
    path = write_cases(tmp_path, "photographs", photographs, 2)
    rows, refusals = read_rows(path), read_refusals(path)
    assert len(rows) - FEW + len(refusals) == FEW * 2 * len(RELATIONS)
    assert {refusal.reason for refusal in refusals} <= {"no free place", "text does not fit"}
    made = Counter(rows["relation"])
    assert min(made[relation] for relation in ("MR1", "MR2", "MR3")) == 2 * FEW
    dataset = load_dataset(str(path))
    assert len({row.group for row in dataset}) == FEW and not any(row.problem for row in dataset)


def test_difficulties_and_compositions_of_photographs(photographs):
    for original in photographs:
        assert word_overlap(original.question, original.words) == 1
        assert 0 < difficulty(original) < 1
        for composed in compositions(original):
            assert all(min(part.size) >= 16 for part in composed.images[1:])


def test_without_masks_photographs_are_segmented(photographs, tmp_path):
    bare = [Original(o.key, o.image, o.question, o.answer, dataset=o.dataset) for o in photographs]
    path = write_cases(tmp_path, "bare", bare, 1)
    assert {refusal.reason for refusal in read_refusals(path)} <= {"no region found", "full mask"}
    assert Counter(read_rows(path)["relation"])["MR4"] == FEW  # nothing is known to be hidden

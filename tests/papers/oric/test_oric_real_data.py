"""ORIC's released files, the sets of Figure 5, and a construction on real photographs.

Nothing of them is in this repository: the tests read the folder named by SCI_REAL_DATA.
"""

import json
import shutil
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from sci_book.data.datasets import load_dataset
from sci_book.papers.oric import annotations, questions, scores
from sci_book.papers.oric.construct import build
from sci_book.papers.oric.encoder import ClipEncoder
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.papers.oric.other_sets import figures
from sci_book.resources import CHECKPOINTS, PAPER

TAGGED = (
    "{question} Please first provide your reasoning or working out on how you would go about "
    "solving the question between <REASONING> and </REASONING> and then your final answer between "
    "<SOLUTION> and (put yes or no here) </SOLUTION>."
)
"""Figure 11."""


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_released_questions_have_the_published_counts(real):
    bench = questions.load(real / "oric" / "oric_bench.json")
    assert len(bench.items) == 2000 and not bench.problems
    assert questions.label_counts(bench.items) == {"yes": 1000, "no": 1000}
    assert len({q.image for q in bench.items}) == 983
    assert all(q.wordings == questions.wordings(q.target) for q in bench.items)
    per_picture = Counter((q.image, q.label) for q in bench.items)
    assert set(per_picture.values()) == {2} and len(per_picture) == 1000
    train = questions.load(real / "oric" / "oric_train.json")
    assert questions.label_counts(train.items) == {"yes": 300, "no": 300}
    assert len({q.image for q in train.items}) == 478
    for q in train.items:
        assert q.wordings[0] == TAGGED.format(question=questions.wordings(q.target)[0])


def test_construction_on_real_photographs(real, tmp_path):
    folder = real / "coco_mini"
    found = annotations.load(folder / "instances_val.json", folder / "images")
    assert len(found.pictures) == 79 and len(found.categories) == 80
    assert found.reasons() == {"crowd region": 5}
    judge = CooccurrenceJudge((picture.present for picture in found.pictures), own=True)
    built = build(found, judge, ClipEncoder(CHECKPOINTS / "pocket-clip"), folder / "images", k=1)
    assert len(built.pairs) >= 10
    asked = built.questions()
    for q in asked:
        assert (q.target in found.by_name[q.image].present) == (q.label == "yes")
    shutil.copytree(folder / "images", tmp_path / "images")
    manifest = questions.write_dataset(asked, tmp_path, "images", name="coco_mini")
    rows = load_dataset(str(manifest)).rows
    assert len(rows) == 4 * len(asked) and not any(row.problem for row in rows)
    assert {row.question.removesuffix(" Please answer yes or no.") for row in rows} == {
        wording for question in asked for wording in question.wordings
    }


def test_constant_models_on_the_real_sets(real):
    oric = questions.load(real / "oric" / "oric_bench.json").items
    pope = (real / "pope" / "coco_pope_random.jsonl").read_text().splitlines()
    for truth in ([q.label for q in oric], [json.loads(line)["label"] for line in pope]):
        found = scores.metrics(scores.counts(truth, ["yes"] * len(truth)))
        assert found["recall"] == 50 and found["f1"] == pytest.approx(100 / 3)
        assert found["yes_proportion"] == found["recall_yes"] == 100


def test_the_constants_are_those_of_the_released_files(real):
    sets = {
        "AMBER": amber(real / "amber"),
        "HallusionBench": hallusionbench(real / "hallusionbench" / "HallusionBench.json"),
    }
    assert [len(items) for items in sets.values()] == [14_216, 1_129]
    lines = []
    for name, items in sets.items():
        for answer in ("yes", "no"):
            for group in [*dict.fromkeys(item[1] for item in items), "all"]:
                mine = [item for item in items if group in (item[1], "all")]
                truth, _, pictures, pairs = zip(*mine, strict=True)
                found = figures(truth, [answer] * len(mine), pictures, pairs)
                own = (found["accuracy"], found["f1_no"], *[np.nan] * 3)
                if name == "HallusionBench":
                    own = (*[np.nan] * 2, *(found[x] for x in ("accuracy", "pictures", "groups")))
                lines.append((name, answer, group, found["n"], *own, found["macro_f1"]))
    frozen = pd.read_csv(PAPER / "oric_other_sets.csv")
    made = pd.DataFrame(lines, columns=frozen.columns)
    pd.testing.assert_frame_equal(made, frozen, check_dtype=False, atol=1e-6)


def amber(folder):
    """Label, group, and neither picture nor pair, of AMBER's discriminative questions."""
    known = read_json(folder / "annotations.json")
    kinds = {each["id"]: (each["truth"], each["type"]) for each in known}
    groups = {"hallucination": "existence", "attribute": "attribute", "relation": "relation"}
    return [
        (truth, groups[kind.removeprefix("discriminative-").partition("-")[0]], None, None)
        for truth, kind in (kinds[each["id"]] for each in read_json(folder / "query_all.json"))
        if kind != "generative"
    ]


def hallusionbench(path):
    """Label, category, figure and question pair; figure 0 of a VS set is no figure at all."""
    items = []
    for each in read_json(path):
        subset = f"{each['category']}/{each['subcategory']}/{each['set_id']}"
        drawn = each["category"] != "VS" or each["figure_id"] != "0"
        figure = f"{subset}/{each['figure_id']}" if drawn else None
        label = {"1": "yes", "0": "no"}[each["gt_answer"]]
        items.append((label, each["category"], figure, f"{subset}/{each['question_id']}"))
    return items

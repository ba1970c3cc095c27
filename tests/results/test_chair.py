"""CHAIR against a table made by hand, and against counting of another kind on real annotations."""

import json
import re
import shutil

import numpy as np
import pytest
import yaml

from sci_book.data.objects import NOTHING, Objects, read_objects
from sci_book.resources import MANIFESTS, ROOT
from sci_book.results import chair
from sci_book.results.records import Records, build_table
from sci_book.results.summary import summarise_run
from tests.conftest import sci
from tests.data import formats
from tests.rows import answers, sample

# truth, description; named, invented, objects, found, repeated
BY_HAND = [
    ("dog, cat", "A dog and a cat.", (2, 0, 2, 2, 0)),
    ("dog, cat", "Dogs, a dog and a bird.", (3, 1, 2, 1, 1)),
    ("bird", "Nothing to see.", (0, 0, 1, 0, 0)),
    ("tree", "A bird, a bird and a cat in a tree", (4, 3, 1, 1, 1)),
    ("tree, dog", "Trees.", (1, 0, 2, 1, 0)),
]


def described(pairs, kinds=None, **stamp):
    """Records of descriptions, given as truth and what is said."""
    rows = [
        sample(place, truth=truth, question_type=kind) | answers({"original": said})
        for place, ((truth, said), kind) in enumerate(
            zip(pairs, kinds or ["description"] * len(pairs), strict=True)
        )
    ]
    stamp = {"rounds": ["original"], "methods": [], "max_new_tokens": 8, **stamp}
    return Records(build_table(rows, ["original"]), stamp, {})


def test_a_table_made_by_hand():
    records = described([line[:2] for line in BY_HAND])
    found = chair.counts(records, "base")[["named", "invented", "objects", "found", "repeated"]]
    assert [tuple(line) for line in found.to_numpy()] == [line[2] for line in BY_HAND]
    assert chair.chair(records, "base") == (40.0, 40.0, 62.5, 20.0, 5.0, 5)
    assert chair.mentions(records, "base")[3] == [
        ("bird", False),
        ("bird", False),
        ("cat", False),
        ("tree", True),
    ]


def test_a_list_of_objects_says_what_else_they_are_called_and_a_truth_may_be_a_description():
    words = {"dog": ["puppy"], "car": [], "person": ["man"]}
    pairs = [("A puppy beside a man.", "Dogs and men in cars")]
    assert chair.chair(described(pairs, objects=words), "base") == (
        pytest.approx(100 / 3), 100.0, 100.0, 0.0, 5.0, 1,
    )  # fmt: skip


def test_descriptions_that_name_nothing_have_no_instances():
    found = chair.chair(described([("dog", "It is dark.")]), "base")
    assert np.isnan([found.instances, found.repetition]).all()
    assert found.as_json() == {
        "chair_i": None, "chair_s": 0.0, "recall": 0.0, "repetition": None, "words": 3.0, "rows": 1,
    }  # fmt: skip


def test_a_summary_tells_descriptions_apart_from_answers():
    records = described(
        [("dog", "A cat."), ("yes", "yes"), ("cat", "cats")],
        ["description", "yesno", "description"],
    )
    summary = summarise_run(records, ["base"])
    (score,) = summary.scores
    assert (score.right, score.rows) == (1, 1)
    assert score.described == (50.0, 50.0, 50.0, 0.0, 1.5, 2)
    assert "100.00% right of 1; CHAIR_i 50.00%" in str(score) and "1.5 words each" in str(score)
    assert summary.as_json()["methods"]["base"]["description"]["chair_s"] == 50.0
    only = summarise_run(described([("dog", "A cat.")]), ["base"]).scores[0]
    assert "right" not in str(only) and "of 1 descriptions" in str(only)


def test_evaluate_describes_pictures_by_object_lists(checkpoint, tmp_path, capsys):
    """The kind `description` from a user's file to its figures: truths as lists in cells."""
    rows = [
        {
            "index": k,
            "image": formats.encoded(formats.png(k)),
            "question": "Describe it.",
            "truth": truth,
        }
        for k, truth in enumerate((["cat", "dog"], ["tree"], ["dog"]))
    ]
    formats.write_json_lines(tmp_path / "seen.jsonl", rows)
    columns = {"index": "index", "image": "image", "question": "question", "answer": "truth"}
    (tmp_path / "objects.yaml").write_text(
        yaml.safe_dump({"cat": ["kitten"], "dog": [], "tree": []})
    )
    data = formats.write_own(
        tmp_path / "seen.yaml",
        "seen.jsonl",
        columns=columns,
        question_type="description",
        objects="objects.yaml",
    )
    assert sci("data", "check", data) == 0
    capsys.readouterr()
    asked = ("--data", data, "--methods", "VCD", "--max-new-tokens", 4, "--json")
    assert sci("evaluate", "--model", checkpoint, *asked, "--out", tmp_path / "run") == 0
    said = json.loads(capsys.readouterr().out)
    assert (
        said["methods"]["VCD"]["description"]["rows"]
        == said["methods"]["base"]["description"]["rows"]
        == 3
    )
    assert said["methods"]["base"]["rows"] == 0


def forms_of(words):
    """By written form, singular or plural, the object that it names."""
    import inflect  # which takes seconds

    plural = inflect.engine().plural_noun
    names = {name: [name, *others] for name, others in words.items() if name != NOTHING}
    every = [
        (word, name)
        for name, others in {**names, NOTHING: words[NOTHING]}.items()
        for word in others
    ]
    return (
        {plural(word): name for word, name in every} | dict(every) | {name: name for name in names}
    )


def counted(text, forms):
    """The objects a text names, by walking over its words: three of them, two, one."""
    text = text.lower().replace("-", " ").replace("'s", "")
    parts, found, place = re.findall(r"[a-z']+", text), [], 0
    while place < len(parts):
        runs = [" ".join(parts[place : place + length]) for length in (3, 2, 1)]
        form = next((run for run in runs if run in forms), None)
        found += [forms[form]] if form and forms[form] != NOTHING else []
        place += len(form.split()) if form else 1
    return found


def test_photographs_of_coco_described_by_people(real):
    """People's captions against the instances alone, counted word by word by other means."""
    instances = json.loads((real / "coco_mini" / "instances_val.json").read_text("utf-8"))
    captions = json.loads((real / "coco_mini" / "captions_val.json").read_text("utf-8"))
    kinds = {each["id"]: each["name"] for each in instances["categories"]}
    seen = {each["id"]: set() for each in instances["images"]}
    for each in instances["annotations"]:
        seen[each["image_id"]].add(kinds[each["category_id"]])
    words = read_objects(MANIFESTS / "objects" / "coco.yaml")
    pairs = [
        (", ".join(sorted(seen[c["image_id"]])), c["caption"]) for c in captions["annotations"]
    ]
    figures = chair.chair(described(pairs, objects=words), "base")
    forms = forms_of(words)
    said = [counted(text, forms) for _, text in pairs]
    assert [Objects(words).named_in(text) for _, text in pairs] == said
    invented = [
        sum(name not in truth.split(", ") for name in named)
        for (truth, _), named in zip(pairs, said, strict=True)
    ]
    assert figures.rows == len(pairs) == 395
    assert figures.instances == pytest.approx(100 * sum(invented) / sum(map(len, said)))
    assert figures.sentences == pytest.approx(100 * np.mean([count > 0 for count in invented]))
    assert 5 < figures.instances < 10  # people name what no annotator framed
    again = sum(len(named) - len(set(named)) for named in said)
    assert figures.repetition == pytest.approx(100 * again / sum(map(len, said)))
    assert figures.words == pytest.approx(np.mean([len(text.split()) for _, text in pairs]))


def test_the_guides_lines_make_a_set_of_coco_that_evaluate_describes(
    real, checkpoint, tmp_path, monkeypatch, capsys
):
    page = (ROOT / "book" / "your_own_data.md").read_text(encoding="utf-8")
    (lines,) = (
        code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "coco" in code
    )
    shutil.copy(real / "coco_mini" / "instances_val.json", tmp_path / "instances_val2014.json")
    monkeypatch.chdir(tmp_path)
    exec(lines, {})
    data = formats.write_own(
        tmp_path / "coco.yaml", "coco.jsonl", pictures="files",
        picture_folder=str(real / "coco_mini" / "images"), question_type="description",
        columns={"question": "question", "answer": "objects", "image": "image"}, objects="coco",
    )  # fmt: skip
    asked = ("--data", data, "--methods", "base", "--max-new-tokens", 4, "--limit", 3, "--json")
    assert sci("evaluate", "--model", checkpoint, *asked, "--out", tmp_path / "run") == 0
    found = json.loads(capsys.readouterr().out)["methods"]["base"]["description"]
    assert found["rows"] == 3 and found["recall"] == 0 and found["words"] > 0


def test_amber_describes_by_lists(real):
    annotations = json.loads((real / "amber" / "annotations.json").read_text("utf-8"))
    lists = [each for each in annotations if each["type"] == "generative"]
    pairs = [
        (", ".join(each["truth"]), ", ".join([*each["truth"], *each["hallu"][:1]]))
        for each in lists
    ]
    figures = chair.chair(described(pairs), "base")
    assert figures.rows == 1004 and figures.recall == 100.0 and figures.repetition < 1
    assert figures.sentences > 60  # what the annotators expect to be invented is no truth's

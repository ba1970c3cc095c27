"""The published questions of POPE, ORIC, C-VQA, HallusionBench and AMBER, and real photographs,
through the loader.

Nothing of them is in this repository: the tests read the folder named by SCI_REAL_DATA.
"""

import csv
import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from sci_book.data.check import check
from sci_book.data.datasets import load_dataset
from sci_book.data.pictures import decode_picture
from sci_book.data.prompts import build_prompt
from sci_book.run.runner import evaluate
from sci_core.generate import generate
from tests import tiny
from tests.soak import mostly

pytestmark = pytest.mark.usefixtures("real")
POPE = ("pope_random", "pope_popular", "pope_adversarial")


@pytest.fixture(scope="module")
def world(real, tmp_path_factory):
    """The questions as they are, and the few photographs there are, under the names they use."""
    folder = tmp_path_factory.mktemp("public")
    for name in ("pope", "oric", "cvqa", "hallusionbench", "amber"):
        (folder / name).symlink_to(real / name)
    pictures = folder / "coco" / "val2014"
    pictures.mkdir(parents=True)
    for photograph in (real / "coco_mini" / "images").glob("*.jpg"):
        shutil.copy(photograph, pictures / f"COCO_val2014_{photograph.name}")
    return folder


@pytest.mark.parametrize("name", POPE)
def test_popes_files_are_read_whole(world, name):
    dataset = load_dataset(name, world)
    rows = dataset.rows
    assert len(rows) == 3000 and len({row.group for row in rows}) == 500
    assert Counter(row.answer for row in rows) == {"yes": 1500, "no": 1500}
    assert all(row.question.endswith("in the image? Please answer yes or no.") for row in rows)
    # Two of the 500 photographs are here; the other rows say so, and none is dropped.
    usable = [row for row in rows if row.problem is None]
    assert len(usable) == 12 and all(row.image().mode == "RGB" for row in usable)
    found = check(dataset)
    assert {kind: len(bad) for kind, bad in found.problems.items()} == {"picture is missing": 2988}


def test_orics_four_wordings_are_read_whole(world):
    rows = load_dataset("oric", world).rows
    assert len(rows) == 4 * 2000 and len({row.group for row in rows}) == 983
    assert [row.index for row in rows[:5]] == [4, 5, 6, 7, 8]
    wordings = [row.question.removesuffix(" Please answer yes or no.") for row in rows[:4]]
    assert len(set(wordings)) == 4 and all(row.category == rows[0].category for row in rows[:4])
    assert len({row.answer for row in rows[:4]}) == 1
    assert Counter(row.answer for row in rows) == Counter(
        {answer: 4 * count for answer, count in oric_answers(world).items()}
    )
    kinds = Counter(row.problem.kind if row.problem else "usable" for row in rows)
    assert kinds["picture is missing"] + kinds["usable"] == 8000 and kinds["usable"] >= 4


def oric_answers(world):
    questions = json.loads((world / "oric" / "oric_bench.json").read_text(encoding="utf-8"))
    return Counter(each["solution"] for each in questions)


def test_cvqas_real_questions_are_read_whole(world):
    rows = load_dataset("cvqa_real", world).rows
    assert len(rows) == 2 * 3144 and len({row.group for row in rows}) == 3144
    original, supposed = rows[::2], rows[1::2]
    assert all(a.group == b.group for a, b in zip(original, supposed, strict=True))
    types = {"direct": 2 * 1150, "indirect": 2 * 864, "boolean": 2 * 1130}
    assert Counter(row.category for row in rows) == types
    assert Counter(row.question_type for row in rows) == {"number": 2 * 2014, "yesno": 2 * 1130}
    assert Counter(row.answer for row in original)["yes"] == 635
    assert Counter(row.answer for row in supposed)["no"] == 623
    assert {row.problem.kind for row in rows if row.problem} == {"picture is missing"}


def test_cvqas_puzzles_are_read_whole(world):
    rows = load_dataset("cvqa_synthetic", world).rows
    assert len(rows) == 2 * 3000
    assert all(list(row.options) == ["A", "B", "C", "D"] for row in rows)
    assert all(row.question.endswith("Select the correct answer:") for row in rows)
    assert Counter(row.answer for row in rows[::2]) == {"D": 775, "C": 747, "A": 744, "B": 734}
    assert {row.problem.kind for row in rows} == {"picture is missing"}


def test_hallusionbench(world, real):
    """Answers in digits, groups named by four columns, questions without a figure."""
    rows = load_dataset("hallusionbench", world).rows
    records = json.loads((real / "hallusionbench" / "HallusionBench.json").read_text("utf-8"))
    assert len(rows) == len(records) == 1129
    words = {"0": "no", "1": "yes"}
    assert [row.answer for row in rows] == [words[record["gt_answer"]] for record in records]
    assert all(row.question.endswith(" Please answer yes or no.") for row in rows)
    kinds = Counter(row.problem.kind for row in rows)
    without = sum(record["filename"] is None for record in records)
    assert kinds == {"no picture": without, "picture is missing": 1129 - without}
    pairs = {
        tuple(record[key] for key in ("category", "subcategory", "set_id", "question_id"))
        for record in records
    }
    assert len({row.group for row in rows}) == len(pairs) == 455


def test_amber(world, real):
    """Answers in a second file, captions and yes / no questions in one, an instruction each."""
    rows = load_dataset("amber", world).rows
    truths = {
        each["id"]: each
        for each in json.loads((real / "amber" / "annotations.json").read_text("utf-8"))
    }
    assert len(rows) == len(truths) == 15_220 and len({row.group for row in rows}) == 1004
    assert Counter(row.question_type for row in rows) == {"yesno": 14_216, "description": 1004}
    for row in rows:
        truth = truths[row.index]["truth"]
        assert row.answer == (", ".join(truth) if row.question_type == "description" else truth)
        assert row.category == truths[row.index]["type"]
        asked = row.question.endswith(" Please answer yes or no.")
        assert asked == (row.question_type == "yesno")
    assert {row.problem.kind for row in rows} == {"picture is missing"}


@pytest.mark.parametrize(
    ("name", "folder", "file"),
    [
        ("hallusionbench", "hallusion_bench/VD/illusion", "14_0.png"),
        ("amber", "amber/image", "AMBER_1.jpg"),
    ],
)
def test_pictures_of_other_sets_lie_where_their_manifests_say(name, folder, file, real, tmp_path):
    (tmp_path / folder).mkdir(parents=True)
    photograph = next((real / "coco_mini" / "images").glob("*.jpg"))
    shutil.copy(photograph, tmp_path / folder / file)
    (tmp_path / name).mkdir(exist_ok=True)
    for questions in (real / name).glob("*.json"):
        shutil.copy(questions, tmp_path / name)
    usable = [row for row in load_dataset(name, tmp_path) if row.problem is None]
    assert usable and all(row.image_file.name == file for row in usable)
    assert usable[0].image().mode == "RGB"


def test_photographs_may_lie_anywhere_and_are_linked_not_copied(real, world, tmp_path):
    (tmp_path / "pope").symlink_to(real / "pope")
    (tmp_path / "coco").mkdir()
    (tmp_path / "coco" / "val2014").symlink_to(world / "coco" / "val2014")
    rows = load_dataset("pope_random", tmp_path).rows
    assert sum(row.problem is None for row in rows) == 12
    (tmp_path / "mine.yaml").write_text(
        f"file: {real}/pope/coco_pope_random.jsonl\nformat: jsonl\nquestion_type: yesno\n"
        f"pictures: files\npicture_folder: {world}/coco/val2014\n"
        "columns: {index: question_id, image: image, question: text, answer: label}\n"
        "prompt: '{question} Please answer yes or no.'\n"
    )
    mine = load_dataset(str(tmp_path / "mine.yaml")).rows
    here = [row.image_hash for row in rows if row.problem is None]
    assert [row.image_hash for row in mine if row.problem is None] == here


def test_a_data_set_of_one_s_own_over_real_photographs(real, tmp_path):
    annotations = json.loads((real / "coco_mini" / "instances_val.json").read_text())
    names = {each["id"]: each["name"] for each in annotations["categories"]}
    files = {each["id"]: each["file_name"] for each in annotations["images"]}
    questions = [
        {
            "picture": files[each["image_id"]],
            "text": f"Is there a {names[each['category_id']]} in the image?",
            "label": "yes",
        }
        for each in annotations["annotations"]
    ]
    (tmp_path / "coco.json").write_text(json.dumps(questions), encoding="utf-8")
    shutil.copytree(real / "coco_mini" / "images", tmp_path / "images")
    (tmp_path / "coco-mini.yaml").write_text(
        "file: coco.json\nformat: json\nquestion_type: yesno\npictures: files\n"
        "picture_folder: images\ngroup: picture\n"
        "columns: {question: text, answer: label, image: picture}\n"
        "prompt: '{question} Please answer yes or no.'\n"
    )
    dataset = load_dataset(str(tmp_path / "coco-mini.yaml"))
    found = check(dataset)
    assert (found.rows, found.spoilt) == (624, 0)
    assert found.pictures == len({each["picture"] for each in questions}) <= 79
    sizes = {each["file_name"]: (each["width"], each["height"]) for each in annotations["images"]}
    by_file = {row.image_file.name: row for row in dataset}
    assert all(row.image().size == sizes[name] for name, row in by_file.items())


def test_every_photograph_opens(real):
    files = sorted((real / "coco_mini" / "images").glob("*.jpg"))
    opened = [decode_picture(path.read_bytes()) for path in files]
    assert len(opened) == 79 and all(image.mode == "RGB" for image in opened)


@pytest.fixture(scope="module")
def asked(world, real, tmp_path_factory):
    """A few questions of POPE, ORIC and C-VQA, of every type, on photographs that are here.

    Of the photographs of C-VQA none is here: its questions are asked about others.
    """
    folder = tmp_path_factory.mktemp("cvqa")
    with (world / "cvqa" / "C-VQA-Real_questions.csv").open(encoding="utf-8-sig") as file:
        records = list(csv.DictReader(file))
    photographs = sorted((real / "coco_mini" / "images").glob("*.jpg"))
    chosen = [next(x for x in records if x["type"] == kind) for kind in
              ("direct", "indirect", "boolean")]  # fmt: skip
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        for record, photograph in zip(chosen, photographs, strict=False):
            shutil.copy(photograph, folder)
            writer.writerow({**record, "img_path": photograph.name})
    (folder / "cvqa-here.yaml").write_text(
        "file: questions.csv\nformat: csv\npictures: files\n"
        "columns: {image: img_path, question: [query, new query], answer: [answer, new answer]}\n"
        "question_types: {column: type, values: {direct: number, indirect: number, "
        "boolean: yesno}}\n"
        'prompt: "{question}\\nAnswer the question using a single word or phrase."\n'
    )
    parts = [load_dataset(name, world) for name in ("pope_random", "oric")]
    parts.append(load_dataset(str(folder / "cvqa-here.yaml")))
    usable = [[row for row in part if row.problem is None] for part in parts]
    rows = (*usable[0][:3], *usable[1][:4], *usable[2])
    assert len(rows) == 3 + 4 + 6 and {row.dataset for row in rows} == {each.name for each in parts}
    return replace(
        parts[0],
        name="asked",
        rows=rows,
        checksums={each.name: each.checksums[each.name] for each in parts},
        sizes={each.name: len(each) for each in parts},
    )


@pytest.mark.parametrize("kind", mostly([*tiny.KINDS]))
def test_every_family_answers_them_into_records(kind, asked, tmp_path):
    """Loader, counterfactuals, engine and records; the reference answers the same."""
    model = tiny.load(kind, "float64")
    records = evaluate(
        model, asked, ["SCI5"], tmp_path, batch_size=5, max_new_tokens=2, workers=1, progress=False
    )
    assert records.ok.all() and len(records.table) == len(asked)
    assert records.rounds == ["original", "V1", "V2", "black", "noise500"]
    assert set(records.frame["question_type"]) == {"yesno", "number"}
    some = [row for row in asked if row.index % 2 == 0][:3]
    expected = generate(
        model,
        [row.image() for row in some],
        [build_prompt(row, model.family) for row in some],
        "SCI5",
        2,
        engine="sequential",
    )
    tokens = dict(zip(records.keys, records.frame["tokens:SCI5"], strict=True))
    for row, answer in zip(some, expected, strict=True):
        assert list(tokens[row.dataset, row.index]) == list(answer.tokens)

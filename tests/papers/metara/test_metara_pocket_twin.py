"""The pocket twins of MetaRA, the cases made of them, and what `sci evaluate` reads of both."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from sci_book.cli import main
from sci_book.data.datasets import load_dataset
from sci_book.papers.metara import files
from sci_book.papers.metara.files import (
    YES_NO,
    order_frame,
    read_refusals,
    read_rows,
    violations,
    write_cases,
    write_compositions,
    write_sheets,
)
from sci_book.papers.metara.metavqa import compositions
from sci_book.papers.metara.order import order_rates
from sci_book.papers.metara.originals import ORIGINALS, read_originals
from sci_book.papers.metara.relations import OPERATIONS, RELATIONS, Original, make_cases
from sci_book.pocket.metara import SETS, UNSAFE, item, write

SIZE = 12


@pytest.fixture(scope="module", params=SETS)
def twin(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    write(folder, request.param, size=SIZE, say=lambda _: None)
    return request.param, folder, read_originals(folder)


@pytest.fixture(scope="module")
def made(twin):
    name, folder, loaded = twin
    cases = make_cases(loaded.originals, 2)
    path = write_cases(folder, f"metara_{name}", iter(loaded.originals), 2)
    return path, cases


def test_the_command_makes_cases_of_originals(twin, tmp_path, capsys):
    _, folder, _ = twin
    with pytest.raises(SystemExit, match="0"):
        main(["build-metara", str(folder), "--out", str(tmp_path), "--cases", "1"])
    path = tmp_path / f"metara_{folder.name}.yaml"
    assert capsys.readouterr().out.splitlines()[0] == str(path)
    assert len(sound(path)[1]) > SIZE
    with pytest.raises(SystemExit, match="2"):
        main(["build-metara", str(tmp_path), "--out", str(tmp_path)])
    assert "a set of originals begins with it" in capsys.readouterr().err


def sound(path):
    """A written set without a problem, and its rows."""
    dataset = load_dataset(str(path))
    assert not [row.problem for row in dataset if row.problem]
    return dataset, read_rows(path)


def recorded(dataset, answer):
    """Records of a model that answers by `answer(row)`, as `Records.frame` holds them."""
    return pd.DataFrame(
        [
            {"index": row.index, "truth": row.answer, "group": row.group, "error": None,
             "parsed:original": answer(row)}
            for row in dataset
        ]
    )  # fmt: skip


def test_originals_are_questions_of_their_set_and_masks_the_scenes(twin):
    name, folder, loaded = twin
    assert not loaded.problems and len(loaded.originals) == SIZE
    for number, original in enumerate(loaded.originals):
        scene, query = item(name, number)
        assert (original.question, original.answer) == (query.question.en, query.answer.en)
        assert query.family in SETS[name] and original.unsafe == UNSAFE[query.family]
        assert original.text_rich == (name == "text")
        assert (original.region & ~original.things).sum() == 0 < original.region.sum()
        assert original.region.sum() < original.things.sum() or len(scene.things) == 1
        assert (original.asked & original.region).sum() == original.region.sum()
        assert all(text.split()[-1] in scene.kinds for text in original.texts)
        present = Counter(thing.kind for thing in original.boxes)
        assert present == Counter(thing.kind for thing in scene.things)
        assert original.absent and not {thing.kind for thing in original.absent} & set(present)
    usual = [json.loads(x)["usual"] for x in (folder / ORIGINALS).read_text().splitlines()]
    assert sum(usual) == SIZE // 2


def test_answers_do_not_stand_in_the_texts(twin):
    for original in twin[2].originals:
        assert original.answer not in [text.split()[-1] for text in original.texts]


def test_cases_are_data_whose_groups_are_the_originals(twin, made):
    name, _, loaded = twin
    path, cases = made
    dataset, rows = sound(path)
    assert len(dataset) == len(rows) == SIZE + len(cases.cases)
    assert len(cases.cases) + len(cases.refusals) == SIZE * len(RELATIONS) * 2
    assert len(cases.cases) > 0.9 * SIZE * len(RELATIONS) * 2  # few scenes have no free place
    by_key = {original.key: original for original in loaded.originals}
    for row, line in zip(dataset, rows.itertuples(), strict=True):
        assert row.group == f"metara_{name}:{line.original}" and row.category == line.relation
        assert row.answer == by_key[line.original].answer.lower()
        own = line.relation == "original"
        assert own or line.operation in {op.name for op in OPERATIONS}
        assert own == (row.question == by_key[line.original].question)
        assert not own or row.image().tobytes() == by_key[line.original].image.tobytes()
    assert tuple(read_refusals(path)) == cases.refusals
    assert set(rows["level"]) <= {"easy", "middle", "hard"}
    kept = [row.image() for row in dataset if row.category != "original"]
    assert [k.tobytes() for k in kept] == [case.image.tobytes() for case in cases.cases]
    if name == "text":
        assert set(rows.loc[rows["relation"] == "MR2", "operation"]) == {"mirror"}


def test_sheets_are_data_in_several_orders(twin):
    name, folder, loaded = twin
    few = loaded.originals[:3]
    dataset, rows = sound(write_sheets(folder, f"sheets_{name}", few))
    counts = rows.groupby("original").size()
    assert set(counts) <= {4 * size for size in (4, 5)}
    assert rows.groupby(["original", "order"])["image"].nunique().eq(1).all()  # one sheet an order
    assert rows.groupby("original")["image"].nunique().eq(4).all()
    still = order_frame(recorded(dataset, lambda row: row.answer), rows, "original")
    found = order_rates(still)
    assert found.failed.estimate == found.variance.estimate == found.changed.estimate == 0
    places = dict(zip(rows["index"], rows["position"], strict=True))
    first = recorded(dataset, lambda row: row.answer if places[row.index] == 0 else "other")
    moved = order_rates(order_frame(first, rows, "original"))
    assert moved.changed.estimate > 0.3


def test_compositions_are_data_that_an_oracle_satisfies(twin):
    name, folder, loaded = twin
    composed = [each for original in loaded.originals for each in compositions(original)]
    assert {each.relation for each in composed} == {"count", "existence", "colour"}
    dataset, rows = sound(write_compositions(folder, f"metavqa_{name}", composed))
    assert {row.question_type for row in dataset} == {"yesno", "number", "short"}
    constant = recorded(
        dataset, lambda row: {"yesno": "no", "number": "0", "short": "red"}[row.question_type]
    )
    found = violations(constant, rows, "original")
    assert not found["value"].any() and len(found) == len(composed)
    ones = constant.assign(**{"parsed:original": [
        "1" if row.question_type == "number" else None for row in dataset]})  # fmt: skip
    assert violations(ones, rows, "original")["value"].all()  # 1 is not 1 + 1; unknown is nothing
    with pytest.raises(ValueError, match="this statistic needs every row"):
        violations(constant.iloc[1:], rows, "original")


def test_a_set_is_left_as_it_is_and_no_other_written_over_it(twin, tmp_path):
    name, folder, _ = twin
    before = (folder / ORIGINALS).stat().st_mtime_ns
    write(folder, name, size=SIZE, say=lambda _: None)
    assert (folder / ORIGINALS).stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="holds the set"):
        write(folder, name, size=SIZE + 1)
    with pytest.raises(ValueError, match="expected 1 or more of"):
        write(tmp_path, "signs")
    with pytest.raises(ValueError, match="There is no set 'signs'"):
        item("signs", 0)
    assert item(name, 3) == item(name, 3) != item(name, 3, seed=1)


# --- bad input -----------------------------------------------------------------------------------


def line(folder, **changed):
    Image.new("RGB", (40, 30), "navy").save(folder / "a.png")
    Image.new("L", (30, 40), 255).save(folder / "turned.png")
    (folder / "not.png").write_bytes(b"no picture")
    entry = {"key": "k", "image": "a.png", "question": "What is it?", "answer": "sea"}
    return json.dumps(entry | changed)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"image": "gone.png"}, "picture is missing"),
        ({"image": "../a.png"}, "picture is outside"),
        ({"image": "/etc/passwd"}, "picture is outside"),
        ({"image": 5}, "no image"),
        ({"image": "not.png"}, "no picture"),
        ({"things": "turned.png"}, "mask does not fit"),
        ({"things": "gone.png"}, "picture is missing"),
        ({"question": " "}, "no question"),
        ({"answer": None}, "no answer"),
        ({"key": ""}, "no key"),
        ({"texts": "cow"}, "bad texts"),
        ({"words": [1]}, "bad words"),
        ({"boxes": [{"kind": "cow", "plural": "cows", "box": [5, 5, 5, 9]}]}, "bad box"),
        ({"boxes": [{"kind": "cow", "plural": "cows", "box": [0, 0, 99, 9]}]}, "bad box"),
        ({"boxes": [{"kind": "cow", "plural": "cows", "box": "all"}]}, "bad box"),
        ({"boxes": [{"kind": "cow"}]}, "bad box"),
        ({"boxes": "none"}, "bad box"),
        ({"boxes": [7]}, "bad box"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lines_that_are_no_original_are_named_and_the_others_kept(changed, reason, tmp_path):
    good = line(tmp_path, key="good", options=[], boxes=None, things=None)
    (tmp_path / ORIGINALS).write_text("\n".join([good, line(tmp_path, **changed), good, "[1]"]))
    loaded = read_originals(tmp_path)
    assert [original.key for original in loaded.originals] == ["good"]
    reasons = [(p.line, p.reason) for p in loaded.problems]
    assert reasons == [(2, reason), (3, "key comes twice"), (4, "no object")]
    assert all(p.sentence.startswith(str(tmp_path)) for p in loaded.problems)


def noise(side=40, seed=0):
    values = np.random.default_rng(seed).integers(0, 255, (side, side, 3), dtype=np.uint8)
    return Image.fromarray(values)


def test_separators_of_lines_in_a_text_part_no_line(tmp_path):
    asked = "What is it,\u2028and\x85where?"
    only = Original("a\u2029b", noise(), asked, "a cow", unsafe=("background",))  # one is refused
    path = write_cases(tmp_path, "x", [only], 1)
    rows = read_rows(path)
    assert rows["question"][0] == asked and set(rows["original"]) == {"a\u2029b"}
    assert {each.original for each in read_refusals(path)} == {"a\u2029b"}


def test_missing_files_are_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="a set of originals begins with it"):
        read_originals(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"it lies beside x\.yaml"):
        read_rows(tmp_path / "x.yaml")
    with pytest.raises(ValueError, match="would have no row"):
        write_cases(tmp_path, "x", [])


def test_yes_no_and_multiple_choice_keep_their_form(tmp_path):
    asked = Original("a", noise(), "Is it the sea?", "yes", dataset="d", unsafe=("background",))
    path = write_cases(tmp_path, "yn", [asked], 1, question_type="yesno")
    rows = load_dataset(str(path)).rows
    assert len(rows) >= 3 and all(row.question.endswith("?" + YES_NO) for row in rows)
    choice = Original("b", noise(), "What is it?", "B", options=("a cow", "the sea"), dataset="d")
    path = write_cases(tmp_path, "mc", [choice], 1, question_type="mcq")
    assert yaml.safe_load(path.read_text())["columns"]["options"] == "options"
    for row in load_dataset(str(path)):
        assert row.options == {"A": "a cow", "B": "the sea"} and row.answer == "B"


def test_pictures_are_written_a_few_originals_at_a_time(tmp_path, monkeypatch):
    """Only so many originals are asked for before their pictures lie on the disk."""
    monkeypatch.setattr(files, "CHUNK", 2)

    def originals():
        for number in range(7):
            # Those before this one's two are written, each in five pictures or so.
            assert len(list((tmp_path / "pictures").glob("*.png"))) >= 4 * (number // 2 * 2)
            question = "What is it " + "so " * number + "?"
            yield Original(f"k{number}", noise(24, number), question, "noise")

    path = write_cases(tmp_path, "many", originals())
    rows = read_rows(path)
    assert rows["original"].nunique() == 7
    by_level = rows.groupby("original")["level"].first()
    assert by_level.value_counts().max() <= 3  # thirds of the originals
    assert rows.groupby("original").size().max() > 4
    with pytest.raises(ValueError, match="Two originals have the key"):
        twice = Original("k", Image.new("RGB", (24, 24)), "Who?", "me")
        write_cases(tmp_path, "twice", [twice, twice, twice])

"""The pocket twin: boxes as drawn, the same construction, and a data set that can be evaluated."""

import numpy as np
import pytest
from PIL import Image

from sci_book.data.datasets import load_dataset
from sci_book.papers.oric import annotations, detectors, questions
from sci_book.papers.oric.construct import build
from sci_book.papers.oric.detectors import NoisySceneGraph, answers
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.papers.shared import text_model
from sci_book.pocket import oric
from sci_book.pocket.draw import SIZE, draw, masks
from sci_book.pocket.world import KINDS
from sci_core.counterfactuals import rewrite
from tests.conftest import sci
from tests.text_models import ScriptedTextModel

SIZES = {"val": 40, "train": 20}  # pictures that are drawn


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oric")
    said = []
    paths = oric.write(folder, sizes=SIZES, say=said.append)
    assert len(said) == 2
    return folder, paths


@pytest.fixture
def exact(monkeypatch):
    """The scene graph of a twin's folder, without an error."""
    monkeypatch.setattr(detectors, "MISSED", 0)
    monkeypatch.setattr(detectors, "INVENTED", 0)
    return lambda folder: NoisySceneGraph.of_file(folder / "scenes_val.jsonl")


def test_annotations_are_what_is_drawn(twin):
    folder, paths = twin
    found = annotations.load(paths["val"], folder / oric.PICTURES)
    assert not found.problems and len(found.pictures) == 40
    assert found.categories == tuple(KINDS)
    for number, picture in enumerate(found.pictures):
        scene = oric.scene("val", 0, number)
        pixels = np.asarray(Image.open(folder / oric.PICTURES / picture.name))
        assert (pixels == draw(scene)).all() and pixels.shape == (SIZE, SIZE, 3)
        assert picture.present == set(scene.kinds)
        covered = masks(scene)
        for kind in scene.kinds:
            raster = np.zeros((SIZE, SIZE), bool)
            for thing, mask in zip(scene.things, covered, strict=True):
                if thing.kind == kind:
                    rows, columns = mask.any(1).nonzero()[0], mask.any(0).nonzero()[0]
                    raster[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
            assert picture.areas[kind] == raster.sum()


def test_the_twin_is_a_data_set_like_any_other(twin, exact):
    folder, paths = twin
    found = annotations.load(paths["val"], folder / oric.PICTURES)
    encoder = Stored.load(oric.vectors_path(paths["val"]))
    judge = CooccurrenceJudge(picture.present for picture in found.pictures)
    asked = build(found, judge, encoder, folder / oric.PICTURES, k=1).questions()
    assert asked
    path = questions.write_dataset(asked, folder, oric.PICTURES, name="pocket_oric_small")
    data = load_dataset(str(path))
    assert len(data) == 4 * len(asked) and not any(row.problem for row in data)
    assert {row.question_type for row in data} == {"yesno"}
    assert [row.answer for row in data.rows[::4]] == [q.label for q in asked]
    assert data.rows[0].image().size == (SIZE, SIZE)
    assert questions.load(folder / "pocket_oric_small.json").items == asked
    said = answers(exact(folder), asked, folder / oric.PICTURES)
    assert said == [question.label for question in asked]


def test_a_twin_is_written_once_and_the_same(twin, tmp_path):
    folder, paths = twin
    said = []
    assert oric.write(folder, sizes=SIZES, say=said.append) == paths and not said
    with pytest.raises(ValueError, match=r'holds the split val .*"seed": 0.*not .*"seed": 1'):
        oric.write(folder, seed=1, sizes=SIZES, say=said.append)
    again = oric.write(tmp_path, sizes={"train": 20}, say=said.append)["train"]
    assert again.read_bytes() == paths["train"].read_bytes()
    mine, other = oric.vectors_path(again), oric.vectors_path(paths["train"])
    assert mine.read_bytes() == other.read_bytes()


def test_vectors_say_what_is_at_home():
    for number in range(30):
        scene = oric.scene("val", 0, number)
        vector = oric.picture_vector(scene)
        score = {kind: float(vector @ oric.kind_vector(kind)) for kind in KINDS}
        absent = [kind for kind in KINDS if kind not in scene.kinds]
        home = [k for k in absent if scene.place in KINDS[k].places]
        abroad = [k for k in absent if scene.place not in KINDS[k].places]
        if home:
            assert min(score[k] for k in home) > max(score[k] for k in abroad)


def test_the_command_makes_a_data_set(monkeypatch, tmp_path, capsys):
    """Drawn, built, and taken by the loader under the path that is printed; twice the same."""
    write = oric.write
    monkeypatch.setattr(oric, "write", lambda folder: write(folder, seed=0, sizes=SIZES, say=print))
    assert sci("build-oric", "pocket", "--out", tmp_path) == 0
    said = capsys.readouterr().out
    assert "left out: " in said and "fewer than 3 categories" in said
    first = (tmp_path / "oric_pocket.json").read_bytes()
    assert sci("build-oric", "pocket", "--out", tmp_path) == 0
    assert (tmp_path / "oric_pocket.json").read_bytes() == first
    assert sci("build-oric", "pocket", "--out", tmp_path, "--prompt", "paper") == 0
    told = load_dataset(str(tmp_path / "oric_pocket.yaml")).rows[0].question
    asked = questions.load(tmp_path / "oric_pocket.json").items[0]
    assert all(rewrite(told, name) != told for name in ("V1", "V2", "V3"))
    assert told == questions.PROMPT_INSTRUCTED.format(question=asked.wordings[0])
    with pytest.raises(ValueError, match=r"has no \{question\} in it"):
        questions.write_dataset([asked], tmp_path, oric.PICTURES, name="x", prompt="Is it?")
    assert sci("build-oric", tmp_path / "instances_val.json", "--out", tmp_path)
    assert "expected an encoder and a folder of pictures below --out" in capsys.readouterr().err


def test_a_text_model_judges_and_a_detector_answers_where_they_are_named(
    monkeypatch, tmp_path, twin, exact, capsys
):
    (folder, _), sceptic = twin, ScriptedTextModel("No.")
    monkeypatch.setattr(oric, "write", lambda out: {
        name: folder / f"instances_{name}.json" for name in SIZES})  # fmt: skip
    monkeypatch.setattr(text_model, "text_model", lambda name, url: sceptic if name else None)
    monkeypatch.setattr(detectors, "load_detector", lambda path: exact(folder))
    command = ("build-oric", "pocket", "--out", folder, "--judge", "x", "--detector", "y")
    assert sci(*command) == 0
    assert sceptic.prompts
    assert all("background objects: [" in prompt for prompt in sceptic.prompts)
    said = capsys.readouterr().out
    assert "macro F1 100.0" in said and "0% missed" in said

"""The pocket counterpart of what Visual-RFT learns from and is asked."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from sci_book.papers.oric import annotations, construct, questions
from sci_book.papers.oric.answers import explicit
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.papers.oric.rft.material import FORMED, Material, Sample
from sci_book.pocket import oric as pocket_oric
from sci_book.pocket import oric_rft
from sci_book.pocket.draw import draw
from sci_book.pocket.world import KINDS, Scene

SAMPLES = 600  # as many as the paper's
LESSONS = 3_200
PAIRS = 120  # of held-out pictures: 480 questions
PROBES = 300


def pocket_material(pictures: Path) -> Material:
    """Visual-RFT's pocket samples, lessons and held-out questions; their pictures are drawn here.

    Samples are of the training split and the rest of the other, both made by the construction of
    ORIC with the scenes themselves as encoder.

    Args:
        pictures: the folder to draw into; what is there stays.
    """
    shown = {
        split: [pocket_oric.scene(split, 0, number) for number in range(size)]
        for split, size in pocket_oric.SPLITS.items()
    }
    asked = {"train": _rft_questions("train", shown, None)}
    asked["val"] = _rft_questions("val", shown, PAIRS)
    records = questions.as_training_records(asked["train"], SAMPLES)
    lessons = [oric_rft.lesson(index) for index in range(LESSONS)]
    probes = [oric_rft.probe(index) for index in range(PROBES)]
    scenes = {
        pocket_oric.picture_name(split, number): scene
        for split, all_of_it in shown.items()
        for number, scene in enumerate(all_of_it)
    }
    scenes |= {pocket_oric.picture_name("train", each.number): each.scene for each in lessons}
    scenes |= {pocket_oric.picture_name("val", each.number): each.scene for each in probes}
    material = Material(
        pictures,
        tuple(
            questions.Question(
                pocket_oric.picture_name("train", each.number),
                each.target,
                "yes" if each.target in each.scene.kinds else "no",
                questions.wordings(each.target),
            )
            for each in lessons
        ),
        tuple(
            Sample(
                pictures / each["image"],
                FORMED.format(question=questions.wordings(each["target_object"])[0]),
                explicit(each["solution"]),
            )
            for each in records
        ),
        asked["val"],
        tuple(
            questions.Question(
                pocket_oric.picture_name("val", each.number), each.family, each.label, (each.claim,)
            )
            for each in probes
        ),
    )
    needed = {each.image for each in (*material.lessons, *material.oric, *material.probe)}
    needed |= {each.picture.name for each in material.samples}
    _draw_missing(pictures, {name: scenes[name] for name in sorted(needed)})
    return material


def _rft_questions(
    split: str, shown: dict[str, list[Scene]], pairs: int | None
) -> tuple[questions.Question, ...]:
    """ORIC questions about a split; what goes with what is learnt from the training split."""
    names = [pocket_oric.picture_name(split, number) for number in range(len(shown[split]))]
    encoder = Stored(
        dict(zip(names, map(pocket_oric.picture_vector, shown[split]), strict=True)),
        {
            construct.DESCRIPTION.format(object=kind): pocket_oric.kind_vector(kind)
            for kind in KINDS
        },
    )
    known = CooccurrenceJudge((scene.kinds for scene in shown["train"]), own=split == "train")
    found = annotations.read(pocket_oric.annotations(split, shown[split]))
    return construct.build(found, known, encoder, "", pairs=pairs).questions()


def _draw_missing(folder: Path, scenes: dict[str, Scene]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in scenes.items():
        if not (folder / name).exists():
            part = folder / f"{name}.part"
            Image.fromarray(draw(scene)).save(part, "png", compress_level=3)
            part.replace(folder / name)

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
from sci_book.pocket.oric import picture_name
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
    by_split = {
        split: [pocket_oric.scene(split, 0, number) for number in range(size)]
        for split, size in pocket_oric.SPLITS.items()
    }
    asked = {"train": _rft_questions("train", by_split, None)}
    asked["val"] = _rft_questions("val", by_split, PAIRS)
    records = questions.as_training_records(asked["train"], SAMPLES)
    lessons = [oric_rft.lesson(index) for index in range(LESSONS)]
    probes = [oric_rft.probe(index) for index in range(PROBES)]
    scenes = {
        picture_name(split, number): scene
        for split, split_scenes in by_split.items()
        for number, scene in enumerate(split_scenes)
    }
    scenes |= {picture_name("train", lesson.number): lesson.scene for lesson in lessons}
    scenes |= {picture_name("val", probe.number): probe.scene for probe in probes}
    material = Material(
        pictures,
        tuple(
            questions.Question(
                picture_name("train", lesson.number),
                lesson.target,
                "yes" if lesson.target in lesson.scene.kinds else "no",
                questions.wordings(lesson.target),
            )
            for lesson in lessons
        ),
        tuple(
            Sample(
                pictures / record["image"],
                FORMED.format(question=questions.wordings(record["target_object"])[0]),
                explicit(record["solution"]),
            )
            for record in records
        ),
        asked["val"],
        tuple(
            questions.Question(
                picture_name("val", probe.number), probe.family, probe.label, (probe.claim,)
            )
            for probe in probes
        ),
    )
    needed = {question.image for question in (*material.lessons, *material.oric, *material.probe)}
    needed |= {sample.picture.name for sample in material.samples}
    _draw_missing(pictures, {name: scenes[name] for name in sorted(needed)})
    return material


def _rft_questions(
    split: str, scenes: dict[str, list[Scene]], pairs: int | None
) -> tuple[questions.Question, ...]:
    """ORIC questions about a split; what goes with what is learnt from the training split."""
    names = [picture_name(split, number) for number in range(len(scenes[split]))]
    encoder = Stored(
        dict(zip(names, map(pocket_oric.picture_vector, scenes[split]), strict=True)),
        {
            construct.DESCRIPTION.format(object=kind): pocket_oric.kind_vector(kind)
            for kind in KINDS
        },
    )
    judge = CooccurrenceJudge((scene.kinds for scene in scenes["train"]), own=split == "train")
    annotated = annotations.read(pocket_oric.annotations(split, scenes[split]))
    return construct.build(annotated, judge, encoder, "", pairs=pairs).questions()


def _draw_missing(folder: Path, scenes: dict[str, Scene]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in scenes.items():
        if not (folder / name).exists():
            part = folder / f"{name}.part"
            Image.fromarray(draw(scene)).save(part, "png", compress_level=3)
            part.replace(folder / name)

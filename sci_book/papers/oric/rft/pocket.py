"""The pocket counterpart of what Visual-RFT learns from and is asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sci_book.papers.oric import annotations, construct, questions
from sci_book.papers.oric.encoder import Stored
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.papers.oric.rft.material import FORMED, Material, Sample
from sci_book.pocket import oric as pocket_oric
from sci_book.pocket import oric_rft
from sci_book.pocket.draw import png
from sci_book.pocket.oric import picture_name
from sci_book.pocket.world import KINDS, Scene

SAMPLES = 600  # as many as the paper's
LESSONS = 3_200
PAIRS = 120  # of held-out pictures: 480 questions
PROBES = 300


def pocket_material(pictures: Path) -> Material:
    """Visual-RFT's pocket samples, lessons and held-out questions; their pictures are drawn here.

    Samples are of the training split and the rest of the other, both made by the construction of
    ORIC with the scenes themselves as encoder. Pictures that are there stay.
    """
    by_split = {
        split: [pocket_oric.scene(split, 0, number) for number in range(size)]
        for split, size in pocket_oric.SPLITS.items()
    }
    samples = questions.balanced(_rft_questions("train", by_split, None), SAMPLES)
    material = Material(
        pictures,
        tuple(
            questions.Question(
                picture_name("train", lesson.number),
                lesson.target,
                "yes" if lesson.target in lesson.scene.kinds else "no",
                questions.wordings(lesson.target),
            )
            for lesson in map(oric_rft.lesson, range(LESSONS))
        ),
        tuple(
            Sample(
                pictures / sample.image,
                FORMED.format(question=sample.wordings[0]),
                sample.label,
            )
            for sample in samples
        ),
        _rft_questions("val", by_split, PAIRS),
        tuple(
            questions.Question(
                picture_name("val", probe.number), probe.family, probe.label, (probe.claim,)
            )
            for probe in map(oric_rft.probe, range(PROBES))
        ),
    )
    asked = (*material.lessons, *samples, *material.oric, *material.probe)
    _draw_missing(pictures, sorted({question.image for question in asked}))
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


def _draw_missing(folder: Path, names: Iterable[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / name).exists():
            _, split, number = Path(name).stem.split("_")
            part = folder / f"{name}.part"
            part.write_bytes(png(pocket_oric.scene(split, 0, int(number))))
            part.replace(folder / name)

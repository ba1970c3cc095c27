"""The companion papers' pocket data and records: made, and compared with the frozen ones.

A model's records of a companion lie in a folder of that paper's name beside its own:
`<folder>/cvqa/<model>.parquet`, `<folder>/edge/<model>.parquet`, and `<model>-int8.parquet` or
`-nf4` for a reduced precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image

from sci_core.evaluation.datasets import load_dataset
from sci_core.evaluation.records import Records, read_records, write_records
from sci_core.evaluation.rows import Row, short_hash
from sci_core.evaluation.runner import STANDARD_METHODS, evaluate
from sci_core.evaluation.verify import Verification, verify_subset
from sci_core.models import VisionLanguageModel, load_model
from sci_core.pocket import edge as pocket_edge
from sci_core.pocket import oric, oric_rft, what_if
from sci_core.pocket.draw import draw
from sci_core.pocket.world import KINDS, Scene
from sci_core.probes.cvqa import synthetic
from sci_core.probes.edge import conditions, run
from sci_core.probes.oric import annotations, construct, judge, questions
from sci_core.probes.oric.answers import explicit
from sci_core.probes.oric.encoder import Stored
from sci_core.probes.oric.rft.material import FORMED, Material, Sample
from sci_core.report.stamp import ROOT

CVQA_DATA = ROOT / "data" / "cvqa"
CVQA = "pocket_cvqa"
# A quarter of C-VQA-Real and a tenth of C-VQA-Synthetic: as many as both pocket models answer, by
# every method, in C-VQA's half of the five minutes that the two companions have.
CVQA_TWIN = {"direct": 288, "indirect": 216, "boolean": 282}
CVQA_STEPS = {"direct": 96, "indirect": 72, "boolean": 94}  # the first third of each
CVQA_PUZZLES = {"each": 50, "size": 96}  # pixels a side: as large as a pocket picture

RFT_SAMPLES = 600  # as many as the paper's
RFT_LESSONS = 3_200
RFT_PAIRS = 120  # of held-out pictures: 480 questions
RFT_PROBES = 300


def make_cvqa_data(say: Callable[[str], None] = print) -> None:
    """Draw those of C-VQA's pocket sets that are missing, and check all by their manifests."""
    what_if.write(CVQA_DATA / "real", sizes=CVQA_TWIN, say=say)
    what_if.write(CVQA_DATA / "steps", sizes=CVQA_STEPS, say=say)
    what_if.write(CVQA_DATA / "yesno", sizes={"boolean": CVQA_TWIN["boolean"]}, say=say)
    synthetic.write(CVQA_DATA / "synthetic", **CVQA_PUZZLES, say=say)
    load_dataset(CVQA)


def edge_rows(limit: int | None = None) -> list[Row]:
    """The pocket world's questions and captions, as the Edge Reliability Gap asks them.

    Args:
        limit: about so many of both together, spread over them.
    """
    items = [pocket_edge.question(number) for number in range(conditions.QUESTION_ROWS)]
    items += [pocket_edge.caption(number) for number in range(conditions.CAPTION_ROWS)]
    rows = [
        Row(
            "pocket", number, number, str(number), item.kind, item.question, item.answer,
            short_hash(item.picture), category=item.family, image_bytes=item.picture,
        )
        for number, item in enumerate(items)
    ]  # fmt: skip
    return rows if limit is None else rows[:: max(1, -(-len(rows) // limit))]


def make_records(
    model: VisionLanguageModel, name: str, shards: Path, records: Path, limit: int | None
) -> None:
    """A model's records of every companion; a run that was cut off goes on where it stopped.

    Args:
        name: of the records' files.
        shards: the folder of the runs.
        records: the folder in which each paper has its own.
        limit: rows of each companion; all if None.
    """
    make_cvqa_data()
    questions = load_dataset(CVQA, limit=limit)
    made = evaluate(model, questions, STANDARD_METHODS, shards / f"{name}-cvqa")
    write_records(records / "cvqa" / f"{name}.parquet", made)
    made = run.run(model, edge_rows(limit), shards / f"{name}-edge")
    write_records(records / "edge" / f"{name}.parquet", made)


def frozen_files(checkpoint: Path, folder: Path, full: bool) -> list[Path]:
    """A pocket model's frozen records of the companions; those in reduced precision if `full`."""
    found = [folder / paper / f"{checkpoint.name}.parquet" for paper in ("cvqa", "edge")]
    if full:
        found += [folder / "edge" / f"{checkpoint.name}-{each}.parquet" for each in ("int8", "nf4")]
    return [path for path in found if path.is_file()]


def verify(checkpoint: Path, file: Path, share: int) -> Iterator[Verification]:
    """Answer 1 / `share` of the question groups of a frozen file anew, and compare.

    In reduced precision an answer may depend on what shares its batch: compare all, or none.

    Raises:
        RecordsError: they are of another model, data or decoding.
    """
    frozen = read_records(file)
    model = load_model(checkpoint, quantization=frozen.stamp.get("quantization"))
    if file.parent.name == "cvqa":
        yield verify_subset(model, frozen, load_dataset(CVQA), share=share)
    else:
        yield from _verify_edge(model, frozen, share)


def _verify_edge(model: VisionLanguageModel, frozen: Records, share: int) -> Iterator[Verification]:
    for part, dataset in run.datasets(edge_rows(), frozen):
        yield verify_subset(model, run.part_of(frozen, part, dataset), dataset, share=share)


def rft_material(pictures: Path) -> Material:
    """Visual-RFT's pocket samples, lessons and held-out questions; their pictures are drawn here.

    Samples are of the training split and the rest of the other, both made by the construction of
    ORIC with the scenes themselves as encoder.

    Args:
        pictures: the folder to draw into; what is there stays.
    """
    shown = {
        split: [oric.scene(split, 0, number) for number in range(size)]
        for split, size in oric.SPLITS.items()
    }
    asked = {"train": _rft_questions("train", shown, None)}
    asked["val"] = _rft_questions("val", shown, RFT_PAIRS)
    records = questions.as_training_records(asked["train"], RFT_SAMPLES)
    lessons = [oric_rft.lesson(index) for index in range(RFT_LESSONS)]
    probes = [oric_rft.probe(index) for index in range(RFT_PROBES)]
    scenes = {
        oric.picture_name(split, number): scene
        for split, all_of_it in shown.items()
        for number, scene in enumerate(all_of_it)
    }
    scenes |= {oric.picture_name("train", each.number): each.scene for each in lessons}
    scenes |= {oric.picture_name("val", each.number): each.scene for each in probes}
    material = Material(
        pictures,
        tuple(
            questions.Question(
                oric.picture_name("train", each.number),
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
                oric.picture_name("val", each.number), each.family, each.label, (each.claim,)
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
    names = [oric.picture_name(split, number) for number in range(len(shown[split]))]
    encoder = Stored(
        dict(zip(names, map(oric.picture_vector, shown[split]), strict=True)),
        {construct.DESCRIPTION.format(object=kind): oric.kind_vector(kind) for kind in KINDS},
    )
    known = judge.CooccurrenceJudge((scene.kinds for scene in shown["train"]), own=split == "train")
    found = annotations.read(oric.annotations(split, shown[split]))
    return construct.build(found, known, encoder, "", pairs=pairs).questions()


def _draw_missing(folder: Path, scenes: dict[str, Scene]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, scene in scenes.items():
        if not (folder / name).exists():
            part = folder / f"{name}.part"
            Image.fromarray(draw(scene)).save(part, "png", compress_level=3)
            part.replace(folder / name)

"""The companion papers' pocket data, made; and frozen records, compared with answers given anew.

A model's records of a companion lie in a folder of that paper's name beside its own, as
`<folder>/cvqa/<model>.parquet`; for a reduced precision, `edge` has `<model>-int8.parquet` or
`-nf4`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from sci_book.data.datasets import load_dataset
from sci_book.data.rows import Row, short_hash
from sci_book.files import write_whole
from sci_book.papers.cvqa import synthetic
from sci_book.papers.edge import conditions, run
from sci_book.papers.metara import files
from sci_book.papers.metara.metavqa import compositions
from sci_book.papers.oric import annotations, construct, pope, questions
from sci_book.papers.oric.answers import explicit
from sci_book.papers.oric.encoder import Encoder, Stored
from sci_book.papers.oric.judge import CooccurrenceJudge
from sci_book.papers.oric.rft.material import FORMED, Material, Sample
from sci_book.papers.shared.stamp import ROOT
from sci_book.pocket import edge as pocket_edge
from sci_book.pocket import metara as pocket_metara
from sci_book.pocket import oric as pocket_oric
from sci_book.pocket import oric_rft, what_if
from sci_book.pocket.draw import draw
from sci_book.pocket.lock import one_at_a_time
from sci_book.pocket.world import KINDS, Scene
from sci_book.results.records import Records, read_records
from sci_book.run.verify import Verification, verify_subset
from sci_core.families.models import VisionLanguageModel, load_model

CVQA_DATA = ROOT / "data" / "cvqa"
CVQA = "pocket_cvqa"
# A quarter of C-VQA-Real and a tenth of C-VQA-Synthetic: as many as both pocket models answer, by
# every method, in C-VQA's half of the five minutes that the two companions have.
CVQA_TWIN = {"direct": 288, "indirect": 216, "boolean": 282}
CVQA_STEPS = {"direct": 96, "indirect": 72, "boolean": 94}  # the first third of each
CVQA_PUZZLES = {"each": 50, "size": 96}  # pixels a side: as large as a pocket picture
ORIC_DATA = ROOT / "data" / "oric"
ORIC = "pocket_oric"
ORIC_QUESTIONS = ROOT / "data_manifests" / "pocket_oric.csv"
ORIC_SCENES = {"val": 1_500, "train": 3_000}  # that the questions are looked for in
ORIC_PAIRS = 100  # a fifth of ORIC-Bench
ORIC_OBJECTS = 2  # k, of each picture
METARA_DATA = ROOT / "data" / "metara"
METARA = "pocket_metara"
# Originals of each task, and how many of them, from the first on, are also asked about in parts
# (MetaVQA) and on sheets: as many as both pocket models answer, by every method, in two minutes.
METARA_ORIGINALS, METARA_IN_PARTS, METARA_ON_SHEETS = 72, 14, 10

RFT_SAMPLES = 600  # as many as the paper's
RFT_LESSONS = 3_200
RFT_PAIRS = 120  # of held-out pictures: 480 questions
RFT_PROBES = 300

SETS = {"cvqa": CVQA, "oric": ORIC, "metara": METARA}
"""The data set of each paper that has one; the Edge Reliability Gap's rows are `edge_rows`."""
FOLDERS = (CVQA_DATA, ORIC_DATA, METARA_DATA)


def make_data(say: Callable[[str], None] = print) -> None:
    """Draw all pocket sets of the companions that are missing, and check them."""
    make_cvqa_data(say)
    make_oric_data(say)
    make_metara_data(say)


def make_cvqa_data(say: Callable[[str], None] = print) -> None:
    """Draw those of C-VQA's pocket sets that are missing, and check all by their manifests."""
    with one_at_a_time(CVQA_DATA):
        what_if.write(CVQA_DATA / "real", sizes=CVQA_TWIN, say=say)
        what_if.write(CVQA_DATA / "steps", sizes=CVQA_STEPS, say=say)
        what_if.write(CVQA_DATA / "yesno", sizes={"boolean": CVQA_TWIN["boolean"]}, say=say)
        synthetic.write(CVQA_DATA / "synthetic", **CVQA_PUZZLES, say=say)
    load_dataset(CVQA)


def make_oric_data(say: Callable[[str], None] = print) -> None:
    """Draw the pictures that ORIC's pocket questions are about, if missing, and check all."""
    with one_at_a_time(ORIC_DATA):
        _draw_oric(say)
    load_dataset(ORIC)


def _draw_oric(say: Callable[[str], None]) -> None:
    stamp, known = ORIC_DATA / ORIC_QUESTIONS.name, ORIC_QUESTIONS.read_bytes()
    if not stamp.is_file() or stamp.read_bytes() != known:
        frame = pd.read_csv(ORIC_QUESTIONS)
        numbers = sorted({int(name.removesuffix(".png")[-6:]) for name in frame["image"]})
        say(f"drawing {len(numbers):,} scenes")
        pocket_oric.write_pictures(ORIC_DATA, "val", numbers)
        for name, part in frame.groupby("set", sort=False):
            asked = [
                questions.Question(one.image, one.object, one.label, questions.wordings(one.object))
                for one in part.itertuples()
            ]
            questions.write_records(questions.as_records(asked), ORIC_DATA / f"{name}.json")
        write_whole(stamp, known)


def choose_oric_questions(encoder: Encoder, folder: Path) -> pd.DataFrame:
    """What `ORIC_QUESTIONS` holds, made anew: ORIC's construction on pocket scenes.

    It is frozen because the last digits of an encoder's cosines differ between machines, and with
    them perhaps a choice. Three sets, each a pair of pictures at a time: "bench", both labels
    guided; "random", neither; "pope", POPE's objects on the pictures of "bench".

    Args:
        encoder: of pictures and texts; the frozen file is pocket-clip's.
        folder: for the pictures.
    """
    scenes = pocket_oric.write_pictures(folder, "val", range(ORIC_SCENES["val"]))
    usual = [pocket_oric.scene("train", 0, n).kinds for n in range(ORIC_SCENES["train"])]
    found = annotations.read(pocket_oric.annotations("val", scenes))
    built = construct.build(
        found, CooccurrenceJudge(usual), encoder, folder / pocket_oric.PICTURES,
        pairs=ORIC_PAIRS, k=ORIC_OBJECTS,
    )  # fmt: skip
    lines: dict[str, list[tuple[object, ...]]] = {"bench": [], "random": [], "pope": []}
    for number, pair in enumerate(built.pairs):
        image, other, similar = (
            found.by_name[name] for name in (pair.image, pair.other, pair.similar)
        )
        present = pope.present(image, ORIC_OBJECTS, np.random.default_rng(number))
        tempting = pope.adversarial(similar, ORIC_OBJECTS, found.categories, usual)
        for name, shown, there, gone in (
            ("bench", image, pair.positives["guided"], pair.negatives["guided"]),
            ("random", other, pair.positives["random"], pair.negatives["random"]),
            ("pope", image, present, tempting),
        ):
            lines[name] += [
                (name, number, shown.name, each, "yes", int(shown.areas[each])) for each in there
            ]
            lines[name] += [(name, number, similar.name, each, "no", None) for each in gone]
    columns = ["set", "pair", "image", "object", "label", "area"]
    frame = pd.DataFrame([line for part in lines.values() for line in part], columns=columns)
    return frame.astype({"area": "Int64"})


def make_metara_data(say: Callable[[str], None] = print) -> None:
    """Draw those of MetaRA's pocket sets that are missing, and check all by their manifests.

    Each task's originals with their cases, and questions about wholes and parts of some; sheets of
    originals and cases in several orders, of both tasks together.
    """
    with one_at_a_time(METARA_DATA):
        _draw_metara(say)
    load_dataset(METARA)


def _draw_metara(say: Callable[[str], None]) -> None:
    sequences = []
    for task in pocket_metara.SETS:
        folder = METARA_DATA / "originals" / task
        pocket_metara.write(folder, task, size=METARA_ORIGINALS, say=say)
        read = files.read_originals(folder)
        sequences += read.originals[:METARA_ON_SHEETS]
        if _missing(name := f"{METARA}_{task}"):
            say(f"transforming {METARA_ORIGINALS} originals")
            files.write_cases(METARA_DATA, name, read.originals)
        if _missing(name := f"{METARA}_metavqa_{task}"):
            composed = [
                each
                for one in read.originals[:METARA_IN_PARTS]
                for each in compositions(
                    one.key, one.image, read.things[one.key], read.absent[one.key]
                )
            ]
            files.write_compositions(METARA_DATA, name, composed)
    if _missing(name := f"{METARA}_sheets"):
        say(f"laying {len(sequences)} originals and their cases on sheets")
        files.write_sheets(METARA_DATA, name, sequences, 1)


def _missing(name: str) -> bool:
    """Whether a set of MetaRA is not drawn; its YAML file is written last."""
    return not (METARA_DATA / f"{name}.yaml").is_file()


def edge_rows(limit: int | None = None) -> list[Row]:
    """The pocket world's questions and captions, as the Edge Reliability Gap asks them.

    Args:
        limit: about so many of both together, spread over them.
    """
    rows = _edge_rows()
    return list(rows if limit is None else rows[:: max(1, -(-len(rows) // limit))])


@cache  # a process checks several files of records, and drawing takes seconds
def _edge_rows() -> tuple[Row, ...]:
    items = [pocket_edge.question(number) for number in range(conditions.QUESTION_ROWS)]
    items += [pocket_edge.caption(number) for number in range(conditions.CAPTION_ROWS)]
    return tuple(
        Row(
            "pocket", number, number, str(number), item.kind, item.question, item.answer,
            short_hash(item.picture), category=item.family, image_bytes=item.picture,
        )
        for number, item in enumerate(items)
    )  # fmt: skip


def frozen_files(checkpoint: Path, folder: Path, full: bool) -> list[Path]:
    """A pocket model's frozen records of the companions; those in reduced precision if `full`."""
    papers = ("cvqa", "edge", "oric", "metara")
    found = [folder / paper / f"{checkpoint.name}.parquet" for paper in papers]
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
    if file.parent.name in SETS:
        dataset = load_dataset(SETS[file.parent.name])
        yield verify_subset(model, frozen, dataset, share=share)
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
        split: [pocket_oric.scene(split, 0, number) for number in range(size)]
        for split, size in pocket_oric.SPLITS.items()
    }
    asked = {"train": _rft_questions("train", shown, None)}
    asked["val"] = _rft_questions("val", shown, RFT_PAIRS)
    records = questions.as_training_records(asked["train"], RFT_SAMPLES)
    lessons = [oric_rft.lesson(index) for index in range(RFT_LESSONS)]
    probes = [oric_rft.probe(index) for index in range(RFT_PROBES)]
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

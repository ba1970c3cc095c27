"""Sets of originals as files, and the cases made of them as data that `sci evaluate` reads.

A set of originals is a folder: `originals.jsonl`, one object a line, and pictures and masks (PNG,
any value but 0 is inside) by names relative to it. `sci_core/pocket/metara.py` writes two; any
other data can be put into the same form.

==================================  ===============================================================
key, dataset, image                 the original's name, its data set, its picture
question, answer, options           as they stand; options for multiple choice alone
group                               the cluster of intervals; by default the key
things, region, asked               names of masks, or null
text_rich, texts, words, unsafe     as in `relations.Original`
boxes                               `kind`, `plural`, `box` [left, top, right, bottom]; null in
                                    place of a box is a kind that is not there (MetaVQA)
==================================  ===============================================================

What is written is a YAML file beside a table of rows and a folder of pictures. A row's group is its
original's, so that every interval is over originals.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from PIL import Image

from sci_core.evaluation.files import write_whole
from sci_core.evaluation.manifests import climbs_out
from sci_core.evaluation.pictures import PictureError, decode_picture
from sci_core.evaluation.rows import short_hash
from sci_core.probes.metara.difficulty import Relevance, difficulty, levels
from sci_core.probes.metara.failures import ORIGINAL
from sci_core.probes.metara.metavqa import Composed, Thing, violated
from sci_core.probes.metara.order import ORDERS, sheet, turns
from sci_core.probes.metara.overlay import Box
from sci_core.probes.metara.pictures import Refused
from sci_core.probes.metara.relations import Case, Cases, Original, Refusal

ORIGINALS = "originals.jsonl"
REFUSALS = "refusals.jsonl"
MASKS = ("things", "region", "asked")
YES_NO = " Please answer yes or no."
SINGLE = "\nAnswer the question using a single word or phrase."


class Problem(NamedTuple):
    """A line of `originals.jsonl` that is no original: its number, a name to count by, why."""

    line: int
    reason: str
    sentence: str


class Loaded(NamedTuple):
    """The originals of a set, their things and the kinds that are absent, and unusable lines."""

    originals: tuple[Original, ...]
    things: Mapping[str, tuple[Thing, ...]]
    absent: Mapping[str, tuple[Thing, ...]]
    problems: tuple[Problem, ...]


class _Bad(Exception):
    def __init__(self, reason: str, sentence: str):
        super().__init__(sentence)
        self.reason = reason


# --- originals -----------------------------------------------------------------------------------


def read_originals(folder: str | Path) -> Loaded:
    """Every original of a set; a line that is none is a `Problem`, counted and left out.

    Raises
    ------
    FileNotFoundError : where the folder holds no `originals.jsonl`.
    """
    folder = Path(folder)
    path = folder / ORIGINALS
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; a set of originals begins with it.")
    originals, problems = [], []
    things: dict[str, tuple[Thing, ...]] = {}
    absent: dict[str, tuple[Thing, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            original, present, missing = _original(folder, line)
            if original.key in things:
                raise _Bad("key comes twice", f"the key {original.key!r} came before")
        except _Bad as bad:
            problems.append(Problem(number, bad.reason, f"{path}, line {number}: {bad}."))
            continue
        originals.append(original)
        things[original.key], absent[original.key] = present, missing
    return Loaded(tuple(originals), things, absent, tuple(problems))


def _original(folder: Path, line: str) -> tuple[Original, tuple[Thing, ...], tuple[Thing, ...]]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _Bad("no object", "expected one JSON object")
    texts = {name: found.get(name) for name in ("key", "image", "question", "answer")}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise _Bad(f"no {name}", f"the {name} is {text!r}; expected a text")
    lists = {name: found.get(name) or [] for name in ("options", "texts", "words", "unsafe")}
    for name, values in lists.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise _Bad(f"bad {name}", f"{name} is {str(values)[:40]}; expected a list of texts")
    image = _picture(folder, texts["image"], "RGB")
    masks = {}
    for name in MASKS:
        if found.get(name) is not None:
            mask = np.asarray(_picture(folder, found[name], "L")) > 0
            if mask.shape != (image.height, image.width):
                raise _Bad(
                    "mask does not fit", f"the mask {found[name]} is not of its picture's size"
                )
            masks[name] = mask
    boxes = found.get("boxes") or []
    present, missing = [], []
    for entry in boxes if isinstance(boxes, list) else [None]:
        thing = _thing(entry, image)
        (missing if entry["box"] is None else present).append(thing)
    original = Original(
        key=texts["key"], image=image, question=texts["question"], answer=texts["answer"],
        group=str(found.get("group") or texts["key"]), dataset=str(found.get("dataset") or ""),
        text_rich=bool(found.get("text_rich")),
        **{name: tuple(values) for name, values in lists.items()}, **masks,
    )  # fmt: skip
    return original, tuple(present), tuple(missing)


def _picture(folder: Path, name: Any, mode: str) -> Image.Image:
    if not isinstance(name, str) or climbs_out(name):
        raise _Bad("picture is outside", f"{name!r} is no name of a picture in the folder")
    try:
        return decode_picture((folder / name).read_bytes()).convert(mode)
    except OSError as error:
        raise _Bad("picture is missing", f"there is no picture {name!r}") from error
    except PictureError as error:
        raise _Bad(error.kind, f"{name!r} cannot be used ({error})") from error


def _thing(entry: Any, image: Image.Image) -> Thing:
    """A box, or an empty one for a kind that is not there."""
    try:
        kind, plural, box = str(entry["kind"]), str(entry["plural"]), entry["box"]
        place = Box(*map(int, box)) if box is not None else Box(0, 0, 0, 0)
    except (TypeError, KeyError, ValueError) as error:
        raise _Bad("bad box", "a box is no {kind, plural, box: [left, top, right, bottom]}") from (
            error
        )
    inside = (
        0 <= place.left < place.right <= image.width
        and 0 <= place.top < place.bottom <= image.height
    )
    if box is not None and not inside:
        raise _Bad("bad box", f"the box {box} is not inside its picture")
    return Thing(kind, plural, place)


# --- what a model is asked -----------------------------------------------------------------------


def write_cases(
    folder: str | Path,
    name: str,
    originals: Sequence[Original],
    made: Cases,
    *,
    question_type: str = "short",
    relevance: Relevance | None = None,
    title: str = "",
) -> Path:
    """Originals and cases as one data set, and its refusals beside it; the path of its YAML file.

    Parameters
    ----------
    name : of the YAML file and the data set.
    question_type : of every row; a yes/no question gets its instruction behind the paraphrase.
    relevance : of `difficulty.difficulty`.
    """
    scores = [difficulty(original, relevance).score for original in originals]
    level = dict(zip(map(id, originals), zip(scores, levels(scores), strict=True), strict=True))
    cases: dict[int, list[Case]] = {id(original): [] for original in originals}
    for case in made.cases:
        cases[id(case.original)].append(case)
    rows = []
    for original in originals:
        score, of_three = level[id(original)]
        own = Case(original, ORIGINAL, "", 0, original.image, original.question)
        for case in (own, *cases[id(original)]):
            rows.append(
                {
                    **_head(original, case.image, case.question),
                    "relation": case.relation,
                    "operation": case.operation,
                    "number": case.number,
                    "difficulty": round(score, 6),
                    "level": of_three,
                }
            )
    return _write(
        Path(folder), name, rows, title, question_type=question_type, refusals=made.refusals,
        prompt="{question}" + (YES_NO if question_type == "yesno" else ""),
    )  # fmt: skip


def write_sheets(
    folder: str | Path,
    name: str,
    originals: Sequence[Original],
    made: Cases,
    *,
    count: int = ORDERS,
    seed: int = 0,
    question_type: str = "short",
    title: str = "",
) -> Path:
    """Each original and its cases on sheets in several orders; see `order`.

    A sheet that would be too large is a refusal, by name, and its original is left out.
    """
    rows: list[dict[str, Any]] = []
    refusals = list(made.refusals)
    for original in originals:
        mine = [case for case in made.cases if case.original is original]
        if not mine:
            continue
        images = [original.image, *(case.image for case in mine)]
        questions = [original.question, *(case.question for case in mine)]
        try:
            sheets: dict[int, Image.Image] = {}
            asked = turns(images, questions, key=original.key, count=count, seed=seed)
            for turn in asked:
                if turn.order not in sheets:
                    sheets[turn.order] = sheet(turn.images)
        except Refused as refused:
            refusals.append(
                Refusal(original.key, "sequence", "sheet", refused.reason, str(refused))
            )
            continue
        for turn in asked:
            rows.append(
                {
                    **_head(original, sheets[turn.order], turn.question),
                    "relation": mine[turn.case - 1].relation if turn.case else ORIGINAL,
                    "order": turn.order,
                    "case": turn.case,
                    "position": turn.position,
                }
            )
    return _write(
        Path(folder), name, rows, title, question_type=question_type, refusals=refusals,
        prompt="{question}" + (YES_NO if question_type == "yesno" else ""),
    )  # fmt: skip


def write_compositions(
    folder: str | Path, name: str, composed: Iterable[Composed], *, title: str = ""
) -> Path:
    """MetaVQA's questions about wholes and parts, one row each; their ground truth is not asked."""
    suffix = {"yesno": YES_NO, "number": SINGLE, "short": ""}
    nothing = {"yesno": "yes", "number": "0", "short": "unknown"}  # a row must have an answer
    rows = []
    for number, each in enumerate(composed):
        for part, image in enumerate(each.images):
            rows.append(
                {
                    "image": image,
                    "question": each.question + suffix[each.question_type],
                    "answer": nothing[each.question_type],
                    "group": each.key,
                    "relation": each.relation,
                    "kind": each.question_type,
                    "composition": number,
                    "part": part,
                }
            )
    return _write(Path(folder), name, rows, title, question_type=None, prompt="{question}")


def read_rows(manifest: str | Path) -> pd.DataFrame:
    """The rows behind a YAML file of this module, one an index."""
    path = Path(manifest)
    table = path.with_suffix(".jsonl")
    if not table.is_file():
        raise FileNotFoundError(f"{table} does not exist; it lies beside {path.name}.")
    lines = table.read_text(encoding="utf-8").splitlines()
    return pd.DataFrame([json.loads(line) for line in lines])


def read_refusals(manifest: str | Path) -> list[Refusal]:
    """What could not be made for the set behind a YAML file of this module."""
    path = Path(manifest)
    beside = path.with_name(f"{path.stem}_{REFUSALS}")
    return [Refusal(**json.loads(line)) for line in beside.read_text("utf-8").splitlines()]


# --- what a model answered -----------------------------------------------------------------------


def order_frame(records: pd.DataFrame, rows: pd.DataFrame, policy: str) -> pd.DataFrame:
    """The answers of a run over sheets as `order.order_rates` takes them."""
    found = _answers(records, rows, policy)
    failed = ~(found["answer"].notna() & (found["answer"] == found["truth"]))
    return found.assign(failed=failed)[
        ["original", "group", "order", "case", "position", "answer", "failed"]
    ]


def violations(records: pd.DataFrame, rows: pd.DataFrame, policy: str) -> pd.DataFrame:
    """The answers of a run over compositions as `ranking.agreement` takes them.

    Columns: group, relation, value (1 where the relation is violated).
    """
    found = _answers(records, rows, policy).sort_values(["composition", "part"])
    result = []
    for _, each in found.groupby("composition"):
        whole, *parts = (None if pd.isna(answer) else str(answer) for answer in each["answer"])
        relation = str(each["relation"].iloc[0])
        result.append(
            (str(each["group"].iloc[0]), relation, float(violated(relation, whole, parts)))
        )
    return pd.DataFrame(result, columns=["group", "relation", "value"])


def _answers(records: pd.DataFrame, rows: pd.DataFrame, policy: str) -> pd.DataFrame:
    column = f"parsed:{policy}"
    if column not in records:
        raise ValueError(f"The records hold no policy {policy!r}.")
    mine = records[["index", "truth", "error", column]].rename(columns={column: "answer"})
    found = rows.drop(columns="answer").merge(mine, on="index", validate="one_to_one")
    if len(found) != len(rows) or found["error"].notna().any():
        raise ValueError(
            f"{len(found)} of {len(rows)} rows are recorded, {found['error'].notna().sum()} of "
            "them with an error; this statistic needs every row."
        )
    return found


# --- internals -----------------------------------------------------------------------------------


def _head(original: Original, image: Image.Image, question: str) -> dict[str, Any]:
    return {
        "image": image,
        "question": question,
        "answer": original.answer,
        "options": list(original.options),
        "group": original.group or original.key,
        "dataset": original.dataset,
        "original": original.key,
    }


def _write(
    folder: Path,
    name: str,
    rows: Sequence[dict[str, Any]],
    title: str,
    *,
    question_type: str | None,
    prompt: str,
    refusals: Sequence[Refusal] | None = None,
) -> Path:
    """Pictures, table and YAML file, in this order and each whole; a picture is written once."""
    if not rows:
        raise ValueError(f"{name} would have no row; see the refusals.")
    pictures = folder / "pictures"
    lines, written, names = [], set(), {}
    for index, row in enumerate(rows):
        image = row["image"]
        if id(image) not in names:
            file = io.BytesIO()
            image.convert("RGB").save(file, "PNG", compress_level=3)
            names[id(image)] = f"{short_hash(file.getvalue())}.png"
            if names[id(image)] not in written:
                write_whole(pictures / names[id(image)], file.getvalue())
                written.add(names[id(image)])
        lines.append(json.dumps({"index": index, **row, "image": names[id(image)]},
                                ensure_ascii=False))  # fmt: skip
    columns = {"index": "index", "image": "image", "question": "question", "answer": "answer",
               "category": "relation", "group": "group"}  # fmt: skip
    if question_type == "mcq":
        columns["options"] = "options"
    kinds = {"question_type": question_type} if question_type else {
        "question_types": {"column": "kind", "values": {k: k for k in ("yesno", "number", "short")}}
    }  # fmt: skip
    manifest = {
        "title": title or name,
        "source": "made by sci_core/probes/metara",
        "file": f"{name}.jsonl",
        "format": "jsonl",
        "rows": len(rows),
        "columns": columns,
        "pictures": "files",
        "picture_folder": "pictures",
        **kinds,
        "prompt": prompt,
    }
    if refusals is not None:
        said = "".join(json.dumps(r._asdict(), ensure_ascii=False) + "\n" for r in refusals)
        write_whole(folder / f"{name}_{REFUSALS}", said.encode())
    write_whole(folder / f"{name}.jsonl", ("\n".join(lines) + "\n").encode())
    path = folder / f"{name}.yaml"
    write_whole(path, yaml.safe_dump(manifest, allow_unicode=True, sort_keys=False).encode())
    return path

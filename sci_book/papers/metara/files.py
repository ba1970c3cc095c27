"""The cases made of originals as data that `sci evaluate` reads, and the answers to them.

What is written is a YAML file beside a table of rows and a folder of pictures. A row's group is its
original's, so that every interval is over originals.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import yaml
from PIL import Image

from sci_book.data.rows import short_hash
from sci_book.files import json_lines, json_text, write_whole
from sci_book.papers.metara.difficulty import cases_a_relation, difficulty, levels
from sci_book.papers.metara.failures import ORIGINAL, answers_of
from sci_book.papers.metara.metavqa import Composed, QuestionType, violated
from sci_book.papers.metara.order import ORDERS, sheet, turns
from sci_book.papers.metara.pictures import Refused
from sci_book.papers.metara.relations import Case, Original, Refusal, make_cases

REFUSALS = "refusals.jsonl"
CHUNK = 32  # originals whose pictures are in memory at once
YES_NO = " Please answer yes or no."
SINGLE = "\nAnswer the question using a single word or phrase."


# --- what a model is asked -----------------------------------------------------------------------


def write_cases(
    folder: str | Path,
    name: str,
    originals: Iterable[Original],
    count: int | None = None,
    *,
    question_type: str = "short",
    **making: Any,
) -> Path:
    """Originals and their cases as one data set; the path of its YAML file.

    Pictures are made and written a few originals at a time, so that a set of any size fits in
    memory. What could not be made lies beside the table (`read_refusals`).

    Args:
        name: of the YAML file and the data set.
        count: of each relation; by default as many as the difficulty asks for.
        question_type: of every row; a yes/no question gets its instruction behind the paraphrase.
        making: what else `make_cases` takes: seed, operations, paraphraser.
    """
    folder = Path(folder)
    rows, refusals = [], []
    scores: dict[tuple[str, str], float] = {}
    for original, cases, refused in _made(originals, count, making):
        refusals += refused
        score = scores[original.dataset, original.key] = difficulty(original)
        own = Case(original, ORIGINAL, "", 0, original.image, original.question)
        rows += [
            {
                **_head(original, _save(folder, case.image), case.question),
                "relation": case.relation,
                "operation": case.operation,
                "number": case.number,
                "difficulty": round(score, 6),
            }
            for case in (own, *cases)
        ]
    # Thirds of the originals, not of the rows: a hard original has more of them.
    level = dict(zip(scores, levels(list(scores.values())), strict=True))
    for row in rows:
        row["level"] = level[row["dataset"], row["original"]]
    return _write(folder, name, rows, question_type, refusals)


def write_sheets(folder: str | Path, name: str, originals: Iterable[Original]) -> Path:
    """Each original and a case of each relation, those of `write_cases`, in several orders.

    A sheet that would be too large is a refusal, by name, and its original is left out.
    """
    folder = Path(folder)
    rows, refusals = [], []
    for original, cases, refused in _made(originals, 1, {}):
        refusals += refused
        if not cases:
            continue
        sequence = turns(
            [original.image, *(case.image for case in cases)],
            [original.question, *(case.question for case in cases)],
            key=original.key, count=ORDERS,
        )  # fmt: skip
        try:
            sheets = {
                turn.order: _save(folder, sheet(turn.images)) for turn in sequence if not turn.case
            }
        except Refused as error:
            case_key = (original.dataset, original.key, "sequence", "sheet")
            refusals.append(Refusal(*case_key, error.reason, str(error)))
            continue
        rows += [
            {
                **_head(original, sheets[turn.order], turn.question),
                "relation": cases[turn.case - 1].relation if turn.case else ORIGINAL,
                "order": turn.order,
                "case": turn.case,
                "position": turn.position,
            }
            for turn in sequence
        ]
    return _write(folder, name, rows, "short", refusals)


def write_compositions(folder: str | Path, name: str, composed: Iterable[Composed]) -> Path:
    """MetaVQA's questions about wholes and parts, one row each; their ground truth is not asked."""
    suffix = {"yesno": YES_NO, "number": SINGLE, "short": ""}
    nothing = {"yesno": "yes", "number": "0", "short": "unknown"}  # a row must have an answer
    folder = Path(folder)
    rows = [
        {
            "image": _save(folder, image),
            "question": composition.question + suffix[composition.question_type],
            "answer": nothing[composition.question_type],
            "group": composition.key,
            "relation": composition.relation,
            "kind": composition.question_type,
            "composition": number,
            "part": part,
        }
        for number, composition in enumerate(composed)
        for part, image in enumerate(composition.images)
    ]
    return _write(folder, name, rows, None, None)


def read_rows(manifest: str | Path) -> pd.DataFrame:
    """The rows behind a YAML file of this module, one an index."""
    path = Path(manifest)
    table = path.with_suffix(".jsonl")
    if not table.is_file():
        raise FileNotFoundError(f"{table} does not exist; it lies beside {path.name}.")
    lines = json_lines(table.read_text(encoding="utf-8"))
    return pd.DataFrame([json.loads(line) for line in lines])


def read_refusals(manifest: str | Path) -> list[Refusal]:
    """What could not be made for the set behind a YAML file of this module."""
    path = Path(manifest)
    beside = path.with_name(f"{path.stem}_{REFUSALS}")
    return [Refusal(**json.loads(line)) for line in json_lines(beside.read_text("utf-8"))]


# --- what a model answered -----------------------------------------------------------------------


def order_frame(records: pd.DataFrame, rows: pd.DataFrame, policy: str) -> pd.DataFrame:
    """The answers of a run over sheets as `order.order_rates` takes them."""
    answers = _answers(records, rows, policy)
    failed = ~(answers["answer"].notna() & (answers["answer"] == answers["truth"]))
    return answers.assign(failed=failed)[
        ["original", "group", "order", "case", "position", "answer", "failed"]
    ]


def violations(records: pd.DataFrame, rows: pd.DataFrame, policy: str) -> pd.DataFrame:
    """The answers of a run over compositions as `ranking.agreement` takes them.

    Columns: group, relation, value (1 where the relation is violated).
    """
    answers = _answers(records, rows, policy).sort_values(["composition", "part"])
    lines = answers[["composition", "group", "relation", "answer"]].itertuples(
        index=False, name=None
    )
    result = []
    for _, group in groupby(lines, key=itemgetter(0)):
        asked = list(group)
        _, key, relation, _ = asked[0]
        whole, *parts = (None if pd.isna(answer) else str(answer) for *_, answer in asked)
        result.append((key, relation, float(violated(relation, whole, parts))))
    return pd.DataFrame(result, columns=["group", "relation", "value"])


def _answers(records: pd.DataFrame, rows: pd.DataFrame, policy: str) -> pd.DataFrame:
    mine = answers_of(records, policy, "index", "truth", "error")
    frame = rows.drop(columns="answer").merge(mine, on="index", validate="one_to_one")
    if len(frame) != len(rows) or frame["error"].notna().any():
        raise ValueError(
            f"{len(frame)} of {len(rows)} rows are recorded, {frame['error'].notna().sum()} of "
            "them with an error; this statistic needs every row."
        )
    return frame


# --- internals -----------------------------------------------------------------------------------


def _save(folder: Path, image: Image.Image) -> str:
    """The name under which a picture lies, each content once."""
    file = io.BytesIO()
    image.convert("RGB").save(file, "PNG", compress_level=3)
    path = folder / "pictures" / f"{short_hash(file.getvalue())}.png"
    if not path.is_file() or path.read_bytes() != file.getvalue():
        write_whole(path, file.getvalue())
    return path.name


def _made(
    originals: Iterable[Original], count: int | None, making: Mapping[str, Any]
) -> Iterator[tuple[Original, list[Case], list[Refusal]]]:
    """Originals with their cases and refusals, made a few originals at a time."""
    seen: set[tuple[str, str]] = set()
    waiting = iter(originals)
    while chunk := tuple(islice(waiting, CHUNK)):
        for original in chunk:
            name = (original.dataset, original.key)
            if name in seen:
                raise ValueError(
                    f"Two originals have the key {original.key!r}; each needs its own."
                )
            seen.add(name)
        made = make_cases(chunk, count or (lambda one: cases_a_relation(difficulty(one))), **making)
        for original in chunk:
            yield (
                original,
                [case for case in made.cases if case.original is original],
                [r for r in made.refusals if r[:2] == (original.dataset, original.key)],
            )


def _head(original: Original, picture: str, question: str) -> dict[str, Any]:
    return {
        "image": picture,
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
    question_type: str | None,
    refusals: Sequence[Refusal] | None,
) -> Path:
    """Refusals, table and YAML file, in this order and each whole."""
    if not rows:
        raise ValueError(f"{name} would have no row: no original came, or all were refused.")
    columns = {"index": "index", "image": "image", "question": "question", "answer": "answer",
               "category": "relation", "group": "group"}  # fmt: skip
    if question_type == "mcq":
        columns["options"] = "options"
    kinds: dict[str, Any] = {"question_type": question_type}
    if question_type is None:
        kinds = {
            "question_types": {
                "column": "kind",
                "values": {kind: kind for kind in get_args(QuestionType)},
            }
        }
    manifest = {
        "title": name,
        "source": "made by sci_book/papers/metara",
        "file": f"{name}.jsonl",
        "format": "jsonl",
        "rows": len(rows),
        "columns": columns,
        "pictures": "files",
        "picture_folder": "pictures",
        **kinds,
        "prompt": "{question}" + (YES_NO if question_type == "yesno" else ""),
    }
    if refusals is not None:
        _lines(folder / f"{name}_{REFUSALS}", [refusal._asdict() for refusal in refusals])
    _lines(folder / f"{name}.jsonl", [{"index": index, **row} for index, row in enumerate(rows)])
    path = folder / f"{name}.yaml"
    write_whole(path, yaml.safe_dump(manifest, allow_unicode=True, sort_keys=False).encode())
    return path


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(json_text(row, ensure_ascii=False) + "\n" for row in rows)
    write_whole(path, text.encode())

"""Table I and Figure 9: the relations as pictures, and what each promises to leave alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from sci_book.data.pictures import decode_picture
from sci_book.data.rows import short_hash
from sci_book.papers.metara import files
from sci_book.papers.metara.chapters.answers import (
    FR,
    TASKS,
    Answers,
    drawn,
    rows_of,
)
from sci_book.papers.metara.failures import ORIGINAL, Failures
from sci_book.papers.metara.local import mirror
from sci_book.papers.metara.originals import read_originals
from sci_book.papers.metara.overlay import Box, overlay
from sci_book.papers.metara.paraphrase import content_words, keep_questions
from sci_book.papers.metara.pictures import apply
from sci_book.papers.metara.relations import (
    IDENTITY,
    OPERATIONS,
    TARGETS,
    Case,
    Original,
    make_cases,
)
from sci_book.papers.shared import figures
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import Table, plain

LOCAL = ("shade", "texture", "occlusion")
ALL = tuple(operation.name for operation in OPERATIONS)
CHINESE = "图一：海边的风景"


class Promise(NamedTuple):
    """What a relation leaves as it was, and whether a case kept it."""

    relation: str
    what: str
    operations: tuple[str, ...]
    kept: Callable[[Case], bool]


PROMISES = (
    Promise("MR2", "only pixels of the edited object change", LOCAL,
            lambda case: _same(case, ~case.original.region)),
    Promise("MR2", "the mirror's mirror is the original (most signs read otherwise in it)",
            ("mirror",),
            lambda case: np.array_equal(mirror(_pixels(case.image)), _pixels(case.original.image))),
    Promise("MR3", "all things stay as they are on a new background", ("background",),
            lambda case: _same(case, case.original.things)),
    Promise("MR3", "the picture's size stays", ("stylisation", "colour transfer", "background"),
            lambda case: case.image.size == case.original.image.size),
    Promise("MR4", "no pixel of what is asked about is written over", ("text",),
            lambda case: _same(case, case.original.asked)),
    Promise("MR1 to MR4", "the question keeps every content word", ALL,
            lambda case: content_words(case.question) == content_words(case.original.question)),
    Promise("MR1 to MR4", "picture and question are not both as they were", ALL,
            lambda case: case.question != case.original.question
            or not np.array_equal(_pixels(case.image), _pixels(case.original.image))),
)  # fmt: skip


def originals(task: str, limit: int) -> list[Original]:
    """The first originals of a pocket set, with their masks."""
    folder = drawn(task).parent / "originals" / task
    return list(read_originals(folder).originals[:limit])


def promises(cases: Sequence[Case]) -> pd.DataFrame:
    """How many cases each promise was looked at in, and in how many it was kept."""
    lines = {}
    for promise in PROMISES:
        mine = [case for case in cases if case.operation in promise.operations]
        kept = sum(promise.kept(case) for case in mine)
        verdict = "holds" if mine and kept == len(mine) else "fails" if mine else "not comparable"
        lines[f"{promise.relation}: {promise.what}"] = {
            "cases": len(mine), "kept": kept, "verdict": verdict,
        }  # fmt: skip
    return pd.DataFrame.from_dict(lines, orient="index")


def promises_table(lines: pd.DataFrame) -> Table:
    """`promises`, as counts: a promise holds if no case broke it."""
    return plain(lines, name="promises", caption="What the relations promise, case by case")


def identities(limit: int) -> dict[str, float]:
    """By task, the consistency rate under identities of a model that no change escapes.

    It answers with a digest of the picture and the question that it is shown.
    """
    rates = {}
    for task in TASKS.values():
        asked = originals(task, limit)
        made = make_cases(asked, operations=IDENTITY, paraphraser=keep_questions)
        cases = [Case(one, ORIGINAL, "", 0, one.image, one.question) for one in asked]
        frame = pd.DataFrame(
            {
                "dataset": case.original.dataset,
                "original": case.original.key,
                "group": case.original.key,
                "relation": case.relation,
                "answer": short_hash(case.image.tobytes() + case.question.encode()),
                "truth": case.original.answer,
            }
            for case in (*cases, *made.cases)
        )
        rates[task] = Failures(frame).per_original("consistency")["value"].mean()
    return rates


def identities_table(rates: Mapping[str, float]) -> Table:
    """`identities`, in percent."""
    lines = {task: {"consistency FR": 100 * rate} for task, rate in rates.items()}
    return table_of(lines, name="identities", caption="Transforms that change nothing, percent")


def counts_table() -> Table:
    """Cases that were drawn of each operation, and those that could not be made, by reason."""
    tasks = TASKS.values()
    lines = {
        f"{operation.relation}, {operation.name}": {
            task: int((rows_of(task)["operation"] == operation.name).sum()) for task in tasks
        }
        for operation in OPERATIONS
    }
    for task in tasks:
        for refusal in files.read_refusals(drawn(task)):
            reason = f"not made, {refusal.relation}: {refusal.reason}"
            lines.setdefault(reason, dict.fromkeys(tasks, 0))[task] += 1
    return table_of(lines, name="cases", caption="Cases drawn, by operation and task")


def show(one: Original) -> figures.Pictures:
    """An original and one case of each operation that can be made of it, under their names."""
    cases = _one_of_each(one)
    captions = ["original", *(f"{case.relation}\n{case.operation}" for case in cases)]
    return figures.pictures([one.image, *(case.image for case in cases)], captions, columns=6)


def fullest(some: Sequence[Original]) -> Original:
    """The first original of which the most operations make a case."""
    return max(some, key=lambda one: len(_one_of_each(one)))


def questions_table(one: Original) -> Table:
    """The question in the words of each relation's case."""
    lines = {"original": {"question": one.question}} | {
        f"{case.relation}: {TARGETS[case.relation]}": {"question": case.question}
        for case in make_cases([one], seed=1).cases
    }
    return table_of(lines, name=f"prose-questions-{one.key}", caption=f"Answer: {one.answer}")


def chinese(one: Original) -> figures.Pictures:
    """A Chinese text on the upper third of a picture: every glyph has to be there."""
    box = Box(0, 0, one.image.width, one.image.height // 3)
    written = apply(partial(overlay, text=CHINESE, box=box), one.image)
    return figures.pictures([one.image, written], ["original", "Chinese text"], columns=4)


def figure09(one: Answers) -> tuple[Figure | figures.Pictures, Table]:
    """Figure 9 by rule: of each task, the most changed case that is right, the least that is wrong.

    Among originals that are answered right; "changed" is the mean absolute difference of pixels, of
    cases of the original's size.
    """
    images, captions, lines = [], [], {}
    for name, task in TASKS.items():
        cases = one.failures(task).cases.dropna(subset=FR).set_index("index")
        rows = rows_of(task).set_index("index")
        own = rows[rows["relation"] == ORIGINAL].set_index("original")["image"]
        folder = drawn(task).parent / "pictures"
        pairs, changes = {}, {}
        for index, original in cases["original"].items():
            before, after = (_read(folder / f) for f in (own[original], rows.loc[index, "image"]))
            if before.size == after.size:
                pairs[index] = before, after
                changes[index] = np.abs(_pixels(after) - _pixels(before).astype(float)).mean()
        for wrong, choose in ((0, max), (1, min)):
            mine = [index for index in changes if cases.loc[index, FR] == wrong]
            if not mine:
                continue
            chosen = choose(mine, key=changes.__getitem__)
            case = cases.loc[chosen]
            images += pairs[chosen]
            captions += [
                f"{name}, original", f"{case['operation']}: {'wrong' if wrong else 'right'}",
            ]  # fmt: skip
            lines[f"{name}: {'least changed, wrong' if wrong else 'most changed, right'}"] = {
                "operation": case["operation"], "mean change of a pixel": changes[chosen],
                "question": rows.loc[chosen, "question"], "truth": case["truth"],
                "answer": case["answer"],
            }  # fmt: skip
    caption = f"{one.subject.shown}: Figure 9 by rule"
    table = table_of(lines, name="prose-figure09", caption=caption)
    if not images:
        figure, ax = plt.subplots(figsize=(figures.WIDTH, 1))
        figures.nothing(ax, "No original is answered rightly, so there is no case to choose.")
        return figure, table
    return figures.pictures(images, captions, columns=4), table


def _one_of_each(one: Original) -> list[Case]:
    return [
        case
        for operation in OPERATIONS
        for case in make_cases([one], operations=[operation], seed=1).cases
    ]


def _read(path: Path) -> Image.Image:
    return decode_picture(path.read_bytes())


def _pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB"))


def _same(case: Case, where: np.ndarray) -> bool:
    return np.array_equal(_pixels(case.image)[where], _pixels(case.original.image)[where])

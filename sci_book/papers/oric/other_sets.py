"""AMBER and HallusionBench, on which the paper shows that its training carries over (Figure 5).

The paper gives both as macro-F1. Each has figures of its own, which stand beside it: AMBER's F1
takes "no" as the positive class; HallusionBench counts questions, figures and question pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sci_book.data.manifests import climbs_out
from sci_book.data.rows import DatasetError
from sci_book.data.tables import read_table
from sci_book.papers.oric.annotations import Problem
from sci_book.papers.oric.answers import Said
from sci_book.papers.oric.questions import LABELS, Label
from sci_book.papers.oric.scores import counts, metrics

AMBER_GROUPS = {
    "discriminative-hallucination": "existence",
    "discriminative-attribute-state": "attribute",
    "discriminative-attribute-number": "attribute",
    "discriminative-attribute-action": "attribute",
    "discriminative-relation": "relation",
    "relation": "relation",  # how the file names the relations whose answer is no
}
_GENERATIVE = "generative"


@dataclass(frozen=True)
class Item:
    """A yes / no question of another set.

    `image` is empty where the question has no picture. `group` is AMBER's (existence, attribute,
    relation) or HallusionBench's category (VD, VS); `figure` and `pair` name what HallusionBench
    counts together, None where it does not.
    """

    image: str
    question: str
    label: Label
    group: str
    figure: str | None = None
    pair: str | None = None


@dataclass(frozen=True)
class Items:
    """The usable questions of a set, in its order, and those left out."""

    items: tuple[Item, ...]
    problems: tuple[Problem, ...]

    def reasons(self) -> Mapping[str, int]:
        """How many were left out, by reason."""
        return Counter(problem.reason for problem in self.problems)


def load_amber(queries: str | Path, annotations: str | Path) -> Items:
    """AMBER's discriminative questions, from the released `query_all.json` and `annotations.json`.

    Its 1,004 generative prompts are no yes / no questions and no problem.

    Raises
    ------
    DatasetError : if a file is missing, is no JSON list, or lacks a column.
    """
    asked = _records(queries, ("id", "image", "query"))
    told = {record["id"]: record for record in _records(annotations, ("id", "type", "truth"))}
    items: list[Item] = []
    problems: list[Problem] = []
    for record in asked:
        where = f"question {record['id']}"
        truth = told.get(record["id"])
        if truth is None:
            problems.append(Problem(where, "no annotation"))
        elif truth["type"] != _GENERATIVE:
            image, text, label = record["image"], record["query"], truth["truth"]
            group = AMBER_GROUPS.get(truth["type"])
            reason = _wrong(image, text, label) or ("" if group else "unknown type")
            if reason:
                problems.append(Problem(where, reason, str(truth)[:80]))
            else:
                items.append(Item(image, text, label, group))
    return Items(tuple(items), tuple(problems))


def load_hallusionbench(path: str | Path) -> Items:
    """HallusionBench's questions, from the released JSON.

    Raises
    ------
    DatasetError : if the file is missing, is no JSON list, or lacks a column.
    """
    columns = (
        "category", "subcategory", "set_id", "figure_id", "question_id", "question", "gt_answer",
        "filename",
    )  # fmt: skip
    items: list[Item] = []
    problems: list[Problem] = []
    for number, record in enumerate(_records(path, columns), start=1):
        image, text = record["filename"] or "", record["question"]
        label = {"1": "yes", "0": "no"}.get(str(record["gt_answer"]))
        if reason := _wrong(image, text, label):
            problems.append(Problem(f"row {number}", reason, str(record["gt_answer"])[:80]))
            continue
        category = str(record["category"])
        set_name = f"{category}/{record['subcategory']}/{record['set_id']}"
        # As in the public code: figure 0 of a VS set stands for no figure at all.
        drawn = category != "VS" or str(record["figure_id"]) != "0"
        figure = f"{set_name}/{record['figure_id']}" if drawn else None
        items.append(
            Item(image, text, label, category, figure, f"{set_name}/{record['question_id']}")
        )
    return Items(tuple(items), tuple(problems))


def amber_scores(items: Sequence[Item], said: Sequence[Said]) -> pd.DataFrame:
    """AMBER's own figures, in percent, beside the macro-F1; a line a group, "all" last.

    Columns `group, n, accuracy, precision, recall, f1, macro_f1, unknown, failed`; precision,
    recall and F1 are those of the answer "no", as in its public code: a "no" is what finds a
    hallucination. Existence has no question whose answer is yes, so its macro-F1 has no value.
    """
    _paired(items, said)
    groups = [item.group for item in items]
    lines = []
    for group in [*dict.fromkeys(groups), "all"]:
        rows = [i for i, each in enumerate(groups) if group in (each, "all")]
        table = counts([items[i].label for i in rows], [said[i] for i in rows])
        found = {name: float(value) for name, value in metrics(table).items()}
        n = table["positives"] + table["negatives"]
        accuracy = 100 * (table["tp"] + table["tn"]) / n if n else np.nan
        both = table["positives"] and table["negatives"]
        lines.append(
            (group, n, accuracy, found["precision_no"], found["recall_no"], found["f1_no"],
             found["f1"] if both else np.nan, table["unknown"], table["failed"])
        )  # fmt: skip
    names = ["group", "n", "accuracy", "precision", "recall", "f1", "macro_f1", "unknown", "failed"]
    return pd.DataFrame(lines, columns=names)


def hallusionbench_scores(items: Sequence[Item], said: Sequence[Said]) -> pd.DataFrame:
    """HallusionBench's own figures, in percent, beside the macro-F1; a line a category, "all" last.

    Columns `group, n, aAcc, figures, fAcc, pairs, qAcc, macro_f1, unknown, failed`. aAcc is the
    share of questions answered right, fAcc of figures and qAcc of question pairs (one question on
    all figures of a set) with all their questions right. An unknown answer is not right; a figure
    or pair with a failed one is left out.
    """
    _paired(items, said)
    names = [field.name for field in fields(Item)]
    frame = pd.DataFrame([vars(item) for item in items], columns=names)
    frame["said"] = list(said)
    frame["right"] = frame["said"] == frame["label"]
    lines = []
    for group in [*dict.fromkeys(frame["group"]), "all"]:
        part = frame if group == "all" else frame[frame["group"] == group]
        table = counts(part["label"].tolist(), part["said"].tolist())
        answered = part[part["said"] != "failed"]
        whole = {}
        for key in ("figure", "pair"):
            spoilt = set(part.loc[part["said"] == "failed", key])
            kept = answered[answered[key].notna() & ~answered[key].isin(spoilt)]
            whole[key] = kept.groupby(key)["right"].all()
        lines.append(
            (group, len(answered), 100 * answered["right"].mean(), len(whole["figure"]),
             100 * whole["figure"].mean(), len(whole["pair"]), 100 * whole["pair"].mean(),
             float(metrics(table)["f1"]) if len(part) else np.nan,
             table["unknown"], table["failed"])
        )  # fmt: skip
    names = ["group", "n", "aAcc", "figures", "fAcc", "pairs", "qAcc", "macro_f1", "unknown",
             "failed"]  # fmt: skip
    return pd.DataFrame(lines, columns=names)


def _records(path: str | Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    path = Path(path)
    if not path.is_file():
        raise DatasetError(
            f"{path} does not exist; expected a JSON list with {', '.join(columns)}."
        )
    return read_table(path, "json", list(columns))


def _wrong(image: Any, question: Any, label: Any) -> str:
    if not isinstance(question, str) or not question.strip():
        return "no question"
    if label not in LABELS:
        return "answer that is neither yes nor no"
    if not isinstance(image, str) or climbs_out(image):
        return "picture outside its folder"
    return ""


def _paired(items: Sequence[Item], said: Sequence[Said]) -> None:
    if len(items) != len(said):
        raise ValueError(f"{len(said)} answers came for {len(items)} questions; expected one each.")

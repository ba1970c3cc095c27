"""Figures 3 to 5: the paper's prompt tables beside the library's, and the prompts they lead to."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

import pandas as pd

from sci_book.data.datasets import DatasetError, Row, load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.papers.sci.chapters.shapes import Subjects
from sci_book.papers.shared.chapters import PAPER, Subject
from sci_book.papers.shared.tables import MISSING, Table
from sci_core.counterfactuals import REWRITES, is_visual, rewrite

FIGURES = {"V1": "fig03", "V2": "fig04", "V3": "fig05"}
SAME, DIFFERENT, ABSENT = "the same", "different", "not in the library"
NEWLINE = " ⏎ "
_CHINESE = re.compile("[\u4e00-\u9fff]")

Rows = Mapping[tuple[str, int], Row]


def read_prompts() -> pd.DataFrame:
    """The printed rewrites of Figures 3 to 5, one a row: `round, original, rewritten` and marks."""
    parts = [PAPER / f"{name}.csv" for name in FIGURES.values()]
    frames = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in parts]
    return pd.concat(frames, ignore_index=True)


def comparison(printed: pd.DataFrame) -> pd.DataFrame:
    """Every printed rewrite against the library's, string for string.

    Adds `library`, the library's text (missing if it knows no such instruction), and `result`, one
    of `SAME`, `DIFFERENT` and `ABSENT`.
    """
    lines = zip(printed["round"], printed["original"], strict=True)
    library = [REWRITES.get(name, {}).get(original) for name, original in lines]
    result = [
        ABSENT if ours is None else SAME if ours == theirs else DIFFERENT
        for ours, theirs in zip(library, printed["rewritten"], strict=True)
    ]
    return printed.assign(library=library, result=result)


def unprinted(printed: pd.DataFrame) -> list[tuple[str, str]]:
    """The library's (round, instruction) that the paper's table of that round does not have."""
    known = set(zip(printed["round"], printed["original"], strict=True))
    rounds = printed["round"].unique()
    ours = [(name, original) for name in rounds for original in REWRITES.get(name, {})]
    return [pair for pair in ours if pair not in known]


def wrong_marks(printed: pd.DataFrame) -> list[str]:
    """Texts whose mark "(Chinese Prompts)" does not agree with the script they are written in."""
    return [
        text
        for side in ("original", "rewritten")
        for text, mark in zip(printed[side], printed[f"{side}_mark"], strict=True)
        if bool(_CHINESE.search(text)) != (mark == "Chinese")
    ]


def prompt_table(compared: pd.DataFrame, name: str) -> Table:
    """One figure: the original instruction, the paper's rewrite, and the library's beside it."""
    part = compared[compared["round"] == name]
    library = part["library"].where(part["result"] == DIFFERENT, part["result"])
    frame = part[["original", "rewritten"]].assign(library=library).astype(str)
    frame = frame.rename(columns={"rewritten": "paper"})
    frame.index = [str(place) for place in range(1, len(frame) + 1)]
    number = FIGURES[name].removeprefix("fig").lstrip("0")
    caption = f"Figure {number}: {name}; the library's text where it is not the same"
    return Table(f"prose-{name}", frame, caption)


def reading(compared: pd.DataFrame) -> str:
    """How many printed rewrites the library has unchanged, and what it has beyond them."""
    same = int((compared["result"] == SAME).sum())
    verdict = "holds" if same == len(compared) else "fails"
    extra = list(dict.fromkeys(original for _, original in unprinted(compared)))
    beyond = "; ".join(f"“{original}”" for original in extra) or "none"
    beyond += "" if beyond.endswith((".”", "。”")) else "."
    more = ", ".join(name for name in REWRITES if name not in FIGURES) or "none"
    marks = wrong_marks(compared)
    return (
        f"The library's tables are the paper's, string for string: *{verdict}*, {same} of "
        f"{len(compared)} rewrites. Instructions that only the library has: {beyond} Rewrites "
        f"beyond the paper's three: {more}. Texts whose mark “(Chinese Prompts)” does not fit "
        f"their script: {'; '.join(marks) or 'none'}."
    )


def rows_at_hand(subjects: Subjects) -> tuple[dict[tuple[str, int], Row], list[str]]:
    """The questions behind the records, by (data set, index), and a sentence a set that is absent.

    Records name their rows and do not hold their questions; a data set is only there once it was
    drawn or downloaded.
    """
    rows, absent = {}, []
    stamps = [subject.records.stamp for subject in subjects]
    for name in dict.fromkeys(name for stamp in stamps for name in stamp["datasets"]):
        try:
            rows |= {(row.dataset, row.index): row for row in load_dataset(name)}
        except DatasetError as error:
            absent.append(f"{name}: {error}")
    return rows, absent


def one_a_family(subjects: Subjects) -> list[Subject]:
    """The first subject of each model family: the others of a family read the same prompts."""
    by_family = {subject.records.stamp["family"]: subject for subject in reversed(subjects)}
    return list(by_family.values())[::-1]


def worked_prompts(subject: Subject, rows: Rows) -> Table:
    """A whole prompt of every data set, and what each rewrite puts in place of its instruction.

    The question is the first of its data set among the subject's records.
    """
    first = subject.records.frame.drop_duplicates("dataset")
    lines = {}
    for dataset, index in zip(first["dataset"], first["index"], strict=True):
        texts = [MISSING] * (1 + len(FIGURES))
        if row := rows.get((dataset, int(index))):
            prompt = build_prompt(row, subject.records.stamp["family"])
            texts = [prompt, *(instruction(prompt, rewrite(prompt, name)) for name in FIGURES)]
        lines[dataset.replace("_", " ")] = [text.replace("\n", NEWLINE) for text in texts]
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=["prompt", *FIGURES])
    caption = (
        f"The first prompt of each data set, as {subject.shown} reads it, and the instruction that "
        "each rewrite puts in place of its own"
    )
    return Table(f"prose-{subject.name}", frame, caption)


def instruction(prompt: str, rewritten: str) -> str:
    """What a rewrite put in place of the prompt's known instruction."""
    known = (text for text in sorted(REWRITES["V1"], key=len, reverse=True) if text in prompt)
    before, after = prompt.split(next(known))
    return rewritten.removeprefix(before).removesuffix(after)


def evaluated_prompts(subjects: Subjects, rows: Rows) -> Table:
    """Of how many recorded rows the prompt and its rewrites are those built from these tables.

    A record holds a hash of the prompt and of every textual round's prompt; so a changed character
    in either table, or in a template, shows here.
    """
    lines = {}
    for subject in subjects:
        records, family = subject.records, subject.records.stamp["family"]
        frame = records.frame[records.ok]
        textual = [name for name in records.rounds[1:] if not is_visual(name)]
        asked = zip(frame["dataset"], frame["index"].astype(int), frame["prompt_hash"], strict=True)
        same = [
            prompt_hash(row, family, textual) == digest
            for *key, digest in asked
            if (row := rows.get(tuple(key)))
        ]
        lines[subject.shown] = [f"{n:,}" for n in (len(frame), len(same), sum(same))]
    heads = ["rows", "question at hand", "same prompts"]
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=heads)
    caption = "Recorded rows whose prompts are all those of the tables above, by their hash"
    return Table("prompt-hashes", frame, caption)


def prompt_hash(row: Row, family: str, textual: Iterable[str]) -> str:
    """The hash that a record of this row holds (`results.records`)."""
    prompt = build_prompt(row, family)
    prompts = "\0".join((prompt, *(rewrite(prompt, name) for name in textual)))
    return hashlib.sha256(prompts.encode()).hexdigest()[:12]

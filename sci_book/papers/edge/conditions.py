"""The rows of every experiment: pictures as they are, blurred and corrupted; probes of answers.

Each experiment is a data set of the records. A row's group is its picture's, whatever was done to
the picture or the question, so rows of two experiments are paired by group; `category` says what
was done.

====================  ================================================  ===========================
data set              rows                                              category
====================  ================================================  ===========================
questions, captions   as they are                                       family and question, put
                                                                        together by `SEPARATOR`
blurred questions,    all of them under the paper's blur                the same
blurred captions
corrupted questions   for each corruption its own questions, at all     corruption and severity
                      severities
negated questions,    four probes of each of the first rows whose       the template
negated captions      answer was right
====================  ================================================  ===========================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import product

from PIL import Image

from sci_book.data.answers.rules import canonical_truth
from sci_book.data.rows import Dataset, DatasetError, Row, RowError, short_hash
from sci_book.papers.edge.negation import TEMPLATES, TRANSLATED, prompts
from sci_book.papers.shared.blur import blur
from sci_book.papers.shared.corruptions import NAMES, SEVERITIES, corrupt
from sci_core.counterfactuals import REWRITES

QUESTIONS, CAPTIONS = "questions", "captions"
KINDS = (QUESTIONS, CAPTIONS)
SEPARATOR = " | "
BLURRED, CORRUPTED, NEGATED = "blurred", "corrupted", "negated"
QUESTION_ROWS, CAPTION_ROWS = 240, 80
PROBED = 80
"""Rows of each kind that are probed, if their answer was right. The paper: up to 100."""
CORRUPTED_ROWS = 16
"""Questions a corruption."""
DESCRIBE_TRANSLATED = "请描述这张图片。"
"""What stands for a caption's prompt in the other language where a row has no translation."""


def clean_rows(rows: Sequence[Row]) -> list[Row]:
    """The first `QUESTION_ROWS` questions and `CAPTION_ROWS` captions (free rows), to be asked.

    A picture is its own group; a truth has the form in which answers are read.

    Raises:
        DatasetError: there is no question, or one of multiple choice: the paper defines no probes
            of it.
    """
    choices = [row.where or f"row {row.index}" for row in rows if row.question_type == "mcq"]
    if choices:
        raise DatasetError(
            f"{len(choices)} rows are multiple choice (first: {choices[0]}); the probes are of "
            "questions answered in words, and of captions. Leave them out."
        )
    clean = []
    for kind, most in ((QUESTIONS, QUESTION_ROWS), (CAPTIONS, CAPTION_ROWS)):
        mine = [row for row in rows if (row.question_type == "free") == (kind == CAPTIONS)][:most]
        clean += [
            replace(
                row, dataset=kind, index=place, position=place, group=f"{kind} {row.image_hash}",
                category=f"{row.category}{SEPARATOR}{bare_question(row.question)}",
                translation=row.translation or (DESCRIBE_TRANSLATED if kind == CAPTIONS else ""),
                answer=canonical_truth(row.question_type, row.answer),
            )
            for place, row in enumerate(mine)
        ]  # fmt: skip
    if not any(row.dataset == QUESTIONS for row in clean):
        raise DatasetError("There is no question among the rows; give short or yes/no questions.")
    return clean


def blurred_rows(rows: Sequence[Row]) -> list[Row]:
    """The same rows under the paper's blur (section 3.5)."""
    return [replace(_redrawn(row, blur), dataset=f"{BLURRED} {row.dataset}") for row in rows]


def corrupted_rows(rows: Sequence[Row], *, limit: int | None = None) -> list[Row]:
    """`CORRUPTED_ROWS` questions for each corruption, at every severity.

    Corruptions take the questions in turn, so that together they see as many as there are, while a
    question is the same at all severities of one corruption.

    Args:
        limit: at most so many rows (but one question at all severities): fewer questions a
            corruption, and where one each is too many, fewer corruptions, spread over `NAMES`.
    """
    questions = [row for row in rows if row.dataset == QUESTIONS]
    names, count = _corruptions(len(questions), limit)
    redrawn = []
    for (turn, name), severity, k in product(enumerate(names), SEVERITIES, range(count)):
        row = questions[(turn * count + k) % len(questions)]
        drawn = _redrawn(row, partial(corrupt, name=name, severity=severity))
        redrawn.append(
            replace(
                drawn, dataset=f"{CORRUPTED} {QUESTIONS}", category=f"{name} {severity}",
                index=len(redrawn), position=len(redrawn),
            )
        )  # fmt: skip
    return redrawn


def _corruptions(questions: int, limit: int | None) -> tuple[Sequence[str], int]:
    """The corruptions that `limit` rows leave, and how many of the questions each has."""
    count = min(CORRUPTED_ROWS, questions)
    if limit is None:
        return NAMES, count
    budget = max(1, limit // len(SEVERITIES))
    chosen = min(budget, len(NAMES))
    return [NAMES[k * len(NAMES) // chosen] for k in range(chosen)], min(count, budget // chosen)


def probed(limit: int | None) -> dict[str, int]:
    """Rows of each kind that are probed, if their answers are right; `limit` probes at most."""
    if limit is None:
        return dict.fromkeys(KINDS, PROBED)
    rows = limit // len(TEMPLATES)
    return {QUESTIONS: min(PROBED, (rows + 1) // 2), CAPTIONS: min(PROBED, rows // 2)}


def most_rows(clean: Sequence[Row], limit: int | None) -> dict[str, int]:
    """How many rows each experiment has at most: probes are of right answers alone."""
    of_kind = {kind: sum(row.dataset == kind for row in clean) for kind in KINDS}
    names, count = _corruptions(of_kind[QUESTIONS], limit)
    return {
        "clean": len(clean),
        BLURRED: len(clean),
        CORRUPTED: len(names) * count * len(SEVERITIES),
        NEGATED: len(TEMPLATES) * sum(min(of_kind[kind], n) for kind, n in probed(limit).items()),
    }


def negated_rows(rows: Sequence[Row], answers: Sequence[str]) -> list[Row]:
    """The four probes of every row (section 3.7), about the model's own, right answer to it."""
    probes = []
    for row, answer in zip(rows, answers, strict=True):
        question, first = bare_question(row.question), row.index * len(TEMPLATES)
        negated = prompts(question, answer)
        translated = prompts(question, answer, templates=TRANSLATED)
        probes += [
            replace(
                row, dataset=f"{NEGATED} {row.dataset}", index=place, position=place,
                question_type="free", category=template, question=negated[template],
                translation=translated[template],
            )
            for place, template in enumerate(TEMPLATES, start=first)
        ]  # fmt: skip
    return probes


def bare_question(question: str) -> str:
    """A question without the instruction that a yes/no question ends in."""
    for instruction in REWRITES["V1"]:
        question = question.removesuffix(instruction)
    return question.strip()


def as_dataset(rows: Sequence[Row], name: str) -> Dataset:
    """Rows as a data set to evaluate; the checksum of each of its parts is of all that is asked."""
    sizes = Counter(row.dataset for row in rows)
    checksums = {part: _checksum(row for row in rows if row.dataset == part) for part in sizes}
    return Dataset(name, tuple(rows), checksums, dict(sizes))


def _redrawn(row: Row, draw: Callable[[Image.Image], Image.Image]) -> Row:
    """The row with its picture redrawn; one that cannot be read stays as it is, with its error."""
    try:
        image = row.image()
    except RowError:
        return row
    file = BytesIO()
    draw(image).save(file, "PNG", compress_level=1)
    content = file.getvalue()
    return replace(row, image_bytes=content, image_file=None, image_hash=short_hash(content))


def _checksum(rows: Iterable[Row]) -> str:
    content = "\0".join(
        f"{row.index} {row.image_hash} {row.question}\1{row.answer}\1{row.translation}"
        for row in rows
    )
    return short_hash(content.encode())

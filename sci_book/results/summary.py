"""What a run comes to: how many rows each method answered rightly, by category, and what failed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sci_book.results import chair
from sci_book.results.chair import Chair
from sci_book.results.metrics import throughout
from sci_book.results.records import Records

MOST_COLUMNS = 6
"""Methods side by side in the table of categories; of more, `--json` has all."""


@dataclass(frozen=True)
class Share:
    """`right` of `rows` answered rows."""

    right: int
    rows: int

    def __str__(self) -> str:
        return f"{self.right / self.rows:7.2%}" if self.rows else "      –"


@dataclass(frozen=True)
class Paired:
    """Of groups that ask each of several questions about each of several pictures (NaturalBench):
    questions right on all their pictures (Q-Acc), pictures right in all their questions (I-Acc),
    and groups right throughout (G-Acc).

    A group with a row that has no answer is left out.
    """

    questions: Share
    pictures: Share
    groups: Share

    def __str__(self) -> str:
        shares = zip("QIG", (self.questions, self.pictures, self.groups), strict=True)
        said = ", ".join(f"{letter}-Acc {str(share).strip()}" for letter, share in shares)
        return f"{said} of {self.groups.rows:,} groups"


@dataclass(frozen=True)
class Score:
    """One method's answers.

    right, rows  rows answered rightly, of those answered
    unknown      answers that no rule can read; never right
    cut          answers that reached their limit of new tokens (`limits`, by count)
    left_out     rows that a round of the method cannot ask, since they cannot be reworded
    categories   `Share` by category, in the order of the data
    base         the base on the same rows, where it has more of its own; and by category
    described    `chair` of the rows that are descriptions, which are neither right nor wrong
    paired       `Paired`, where the data have such groups
    """

    method: str
    right: int
    rows: int
    unknown: int
    cut: int
    left_out: int
    limits: tuple[int, ...] = ()
    categories: Mapping[str, Share] = field(default_factory=dict)
    base: Share | None = None
    base_categories: Mapping[str, Share] = field(default_factory=dict)
    described: Chair | None = None
    paired: Paired | None = None

    def __str__(self) -> str:
        parts = [str(self.described)] if self.described else []
        if self.rows or not parts:
            parts.insert(0, f"{Share(self.right, self.rows)} right of {self.rows:,}")
        if self.paired:
            parts.append(str(self.paired))
        sentence = "; ".join(parts)
        if self.base:
            sentence += f" (the base on these rows:{self.base})"
        if self.unknown:
            sentence += f", {self.unknown:,} unknown"
        if self.cut:
            sentence += f", {self.cut:,} cut at {' or '.join(map(str, self.limits))} tokens"
        if self.left_out:
            sentence += f", {self.left_out:,} left out (cannot be reworded)"
        return sentence


@dataclass(frozen=True)
class Summary:
    """Rows of a run, its errors by class, the score of each method, and `split_votes`."""

    rows: int
    errors: Mapping[str, int]
    scores: Sequence[Score]
    split: int

    @property
    def failed(self) -> int:
        """Rows with an error."""
        return sum(self.errors.values())

    def lines(self) -> list[str]:
        """The scores for a reader: a line a method, then a line a category."""
        width = max(14, *(len(score.method) for score in self.scores))
        lines = [f"  {score.method:{width}} {score}" for score in self.scores]
        if self.split:
            lines.append(f"  {split_sentence(self.split, self.rows - self.failed)}")
        names = list(self.scores[0].categories)
        if len(names) > 1 and len(self.scores) <= MOST_COLUMNS:
            wide = max(len("category"), *map(len, names))
            columns: dict[str, Mapping[str, Share]] = {}
            for score in self.scores:
                if score.base:
                    columns[f"base on {score.method}'s rows"] = score.base_categories
                columns[score.method] = score.categories
            widths = {head: max(7, len(head)) for head in columns}
            heads = (f"{head:>{width}}" for head, width in widths.items())
            lines += ["", f"  {'category':{wide}}  {'  '.join(heads)}"]
            for name in names:
                shares = (f"{columns[head][name]!s:>{widths[head]}}" for head in columns)
                lines.append(f"  {name:{wide}}  {'  '.join(shares)}")
        elif len(names) > 1:
            lines.append(f"  {len(names)} categories: `--json` has their scores")
        return lines

    def as_json(self) -> dict[str, Any]:
        """The same for programs: plain numbers, all categories."""
        scores = [asdict(score) for score in self.scores]
        for fields, score in zip(scores, self.scores, strict=True):
            if fields.pop("described"):
                fields["description"] = score.described.as_json()
        methods = {score.pop("method"): score for score in scores}
        return {
            "rows": self.rows,
            "errors": dict(self.errors),
            "methods": methods,
            "split_votes": self.split,
        }


def summarise_run(records: Records, methods: Sequence[str]) -> Summary:
    """Count the answers of some policies of a run."""
    kinds = records.frame["error"].value_counts()
    errors = {str(kind): int(count) for kind, count in kinds.items()}
    scores = [_score(records, name) for name in methods]
    return Summary(len(records.table), errors, scores, int(split_votes(records).sum()))


_FIRST_WORD = re.compile(r"\s*(?:\w+|\W)")


def split_votes(records: Records) -> np.ndarray:
    """Whether two rounds of a row begin with one word in two spellings: "Yes", " Yes", "yes".

    They differ by case or space alone, but are different tokens of the vocabulary: a method, which
    compares the rounds token by token, does not see that they agree.
    """
    spellings: list[set[str]] = [set() for _ in range(len(records.table))]
    for name in records.rounds:
        for row, text in zip(spellings, records.text(name), strict=True):
            if word := _FIRST_WORD.match(text):
                row.add(word[0])
    return np.array(
        [len({word.strip().casefold() for word in words}) < len(words) for words in spellings],
        dtype=bool,
    )


def split_sentence(count: int, rows: int) -> str:
    """How many of the answered rows have `split_votes`, in words."""
    return (
        f"one word in two spellings: in {count:,} of {rows:,} rows ({count / rows:.1%}) rounds "
        "begin alike but for case or a space, and count as different"
    )


def _score(records: Records, name: str) -> Score:
    described = chair.answered(records, name)
    answered, correct = records.answered(name) & ~described, records.correct(name)
    fewer = bool((records.answered("base") & records.left_out(name)).any())
    cut = records.cut(name)
    base = records.correct("base")
    return Score(
        name,
        int(correct[answered].sum()),
        int(answered.sum()),
        sum(answer is None for answer in records.parsed(name)[answered]),
        int(cut.sum()),
        int(records.left_out(name).sum()),
        tuple(sorted({int(limit) for limit in records.limits[cut]})),
        _by_category(records, correct, answered),
        _share(base, answered) if fewer else None,
        _by_category(records, base, answered) if fewer else {},
        chair.chair(records, name) if described.any() else None,
        _paired(records, correct, answered),
    )


def _paired(records: Records, correct: np.ndarray, answered: np.ndarray) -> Paired | None:
    frame = records.frame.assign(right=np.where(answered, correct, np.nan))
    groups = frame.groupby("group")
    questions, pictures = groups["prompt_hash"].nunique(), groups["image_hash"].nunique()
    crossed = (questions > 1) & (pictures > 1) & (questions * pictures == groups.size())
    crossed &= groups["right"].count() == groups.size()
    frame = frame[frame["group"].map(crossed)]
    if frame.empty:
        return None
    units = {"questions": ["prompt_hash"], "pictures": ["image_hash"], "groups": []}
    found = {
        unit: throughout(frame["right"], frame["group"], *(frame[name] for name in names))
        for unit, names in units.items()
    }
    return Paired(**{unit: Share(int(share.correct), share.n) for unit, share in found.items()})


def _share(correct: np.ndarray, rows: np.ndarray) -> Share:
    return Share(int(correct[rows].sum()), int(rows.sum()))


def _by_category(records: Records, correct: np.ndarray, rows: np.ndarray) -> dict[str, Share]:
    labels = _categories(records)
    return {label: _share(correct, rows & (labels == label)) for label in dict.fromkeys(labels)}


def _categories(records: Records) -> np.ndarray:
    """The category of each row, under its data set's name where there are several."""
    frame = records.frame
    labels = frame["category"].fillna("").astype(str)
    if frame["dataset"].nunique() > 1:
        labels = (frame["dataset"] + " " + labels).str.strip()
    return labels.to_numpy(dtype=object)

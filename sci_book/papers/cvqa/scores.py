"""Accuracy on original and counterfactual questions, and the drop, with paired intervals.

Texts are what a model wrote to every item of one side, in the items' order; None where it failed.
An item that failed on either side is left out of both, so that the two accuracies and their
difference are about the same rows; how many that were stands beside them. A text that names no
answer is a wrong answer, and counted too.

Rows on one picture are one cluster. Accuracies and drops are in percent; a drop is original less
counterfactual, so that a positive one is a loss (the paper prints its negative).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import chisquare

from sci_book.papers.cvqa.answers import read
from sci_book.papers.cvqa.questions import LETTERS, SIDES, Item, Side
from sci_book.results.statistics import (
    Interval,
    Sample,
    difference,
    share,
    sign_flip_test,
    wilson,
)

Texts = Sequence[str | None]


def outcomes(
    items: Sequence[Item], originals: Texts, counterfactuals: Texts
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each text is right, NaN for a failed row; and whether it names no answer.

    Both `[2, items]`: original and counterfactual questions.

    Raises:
        ValueError: if there is not one text an item.
    """
    right, unread = np.full((2, len(items)), np.nan), np.zeros((2, len(items)), dtype=bool)
    for row, texts in enumerate((originals, counterfactuals)):
        if len(items) != len(texts):
            raise ValueError(
                f"{len(items)} items need one text each, failed ones None; got {len(texts)}."
            )
        for place, (item, text) in enumerate(zip(items, texts, strict=True)):
            if text is not None:
                answer = read(item, SIDES[row], text)
                right[row, place] = answer == item.answer(SIDES[row])
                unread[row, place] = answer is None
    return right, unread


def drop_table(items: Sequence[Item], originals: Texts, counterfactuals: Texts) -> pd.DataFrame:
    """Tables 3 to 7: one line a type, in the file's order, and "all" where there are several.

    Columns: `type, n`; `original, counterfactual, drop`, each with `_low` and `_high`
    (the two sides of a row kept together); `p`, the
    sign-flip test of no drop; `unread_original, unread_counterfactual`, texts that name no answer;
    `failed`, rows left out.
    """
    kinds = np.array([item.kind for item in items], dtype=object)
    pictures = np.array([item.image for item in items], dtype=object)
    return paired_drops(kinds, pictures, *outcomes(items, originals, counterfactuals))


def paired_drops(
    kinds: np.ndarray,
    clusters: np.ndarray,
    outcome: np.ndarray,
    unread: np.ndarray,
) -> pd.DataFrame:
    """The lines of `drop_table` from outcomes.

    Args:
        kinds, clusters: type and cluster of every item, `[items]`.
        outcome: right or not on the original and the counterfactual question, `[2, items]`; NaN for
            a failed row.
        unread: whether a text names no answer, `[2, items]`.
    """
    ok = np.isfinite(outcome).all(0)
    names = list(dict.fromkeys(kinds))
    lines = []
    for name in [*names, "all"] if len(names) > 1 else names:
        of_kind = np.ones(len(kinds), bool) if name == "all" else kinds == name
        rows = of_kind & ok
        drop = outcome[0][rows] - outcome[1][rows]
        lines.append(
            {
                "type": name,
                **_line(outcome[:, rows], clusters[rows]),
                "p": sign_flip_test(drop, clusters[rows]) if rows.any() else np.nan,
                **{
                    f"unread_{side}": int((missing & rows).sum())
                    for side, missing in zip(SIDES, unread, strict=True)
                },
                "failed": int((of_kind & ~ok).sum()),
            }
        )
    return pd.DataFrame(lines)


def mean_words(items: Sequence[Item], side: Side) -> float:
    """The mean number of words, split at spaces, of one side's questions."""
    return float(np.mean([len(item.query(side).split()) for item in items]))


def type_token_ratio(items: Iterable[Item], side: Side) -> float:
    """Figure 8: distinct words over words of one side's questions, lower-cased, letters only."""
    words = [w for item in items for w in re.findall(r"[a-z]+", item.query(side).lower())]
    return len(set(words)) / len(words)


def answer_shares(items: Iterable[Item], side: Side) -> pd.DataFrame:
    """Figure 3: percent of each answer by type; one line an answer, one column a type."""
    frame = pd.DataFrame([(item.kind, item.answer(side)) for item in items])
    shares = pd.crosstab(frame[1], frame[0], normalize="columns") * 100
    order = sorted(shares.index, key=lambda a: (int(a) if a.isdecimal() else -1, a))
    return shares.loc[order].rename_axis(index="answer", columns="type")


def group_drops(
    label: np.ndarray,
    pair: tuple[str, str],
    clusters: np.ndarray,
    outcome: np.ndarray,
) -> pd.DataFrame:
    """Figure 5: accuracy on original less counterfactual questions, by group.

    Args:
        label: group of every item, `[items]`; items of neither of the `pair` are left out.
        clusters, outcome: as in `paired_drops`.

    Columns `group, n, original, counterfactual, drop` with `_low` and `_high` for each. Where both
    groups have items, a last line, "A - B", holds the difference of their drops with its interval.
    """
    drop = outcome[0] - outcome[1]
    groups = {name: np.isfinite(drop) & (label == name) for name in pair}
    lines = [
        {"group": name, **_line(outcome[:, rows], clusters[rows])}
        for name, rows in groups.items()
        if rows.any()
    ]
    if len(lines) == 2:
        first, second = ((drop[rows], clusters[rows]) for rows in groups.values())
        contrast = Sample("contrast", *first, second).interval
        n = sum(len(values) for values, _ in (first, second))
        lines.append({"group": " - ".join(pair), "n": n, **_percent("drop", contrast)})
    return pd.DataFrame(lines)


def letter_shares(pairs: Sequence[tuple[str, str | None]]) -> pd.DataFrame:
    """Letter bias: how often each letter is answered, beside how often it is right.

    Args:
        pairs: the right letter and the answered one of every row, None where none was read.

    Columns `letter, right, answered, low, high, accuracy, p`: percent of rows whose right letter it
    is, percent of read answers that name it with Wilson's interval, percent right where it is the
    right one, and, the same on every line, the chi-square p-value of the answers against the key.
    The last line, "unread", counts answers that name no letter in `answered`, as percent of all.
    """
    said = Counter(answer for _, answer in pairs if answer is not None)
    key = Counter(right for right, answer in pairs if answer is not None)
    n = sum(said.values())
    # The key's shares among the read rows; a letter that is never right has no expectation.
    expected = [letter for letter in LETTERS if key[letter]]
    observed = [said[letter] for letter in expected]
    fits = len(expected) > 1 and sum(observed) > 0
    scale = sum(observed) / max(sum(key[x] for x in expected), 1)
    p = chisquare(observed, [key[x] * scale for x in expected]).pvalue if fits else np.nan
    answered = {letter: wilson(said[letter], n) for letter in LETTERS}
    answered["unread"] = wilson(len(pairs) - n, len(pairs))
    lines = []
    for letter, part in answered.items():
        line = dict(zip(("answered", "low", "high"), (100 * x for x in part[:3]), strict=True))
        if letter != "unread":
            mine = [answer == letter for right, answer in pairs if right == letter]
            line["right"] = 100 * len(mine) / len(pairs) if pairs else np.nan
            line["accuracy"] = 100 * np.mean(mine) if mine else np.nan
            line["p"] = float(p)
        lines.append({"letter": letter, **line})
    return pd.DataFrame(lines)


def _line(outcome: np.ndarray, clusters: np.ndarray) -> dict[str, int | float]:
    """The number of items, both accuracies and the drop, of outcomes `[2, items]` without NaN."""
    line = {"n": outcome.shape[1]}
    for side, values in zip(SIDES, outcome, strict=True):
        line |= _percent(side, share(values, clusters))
    return line | _percent("drop", difference(outcome[0] - outcome[1], clusters))


def _percent(name: str, interval: Interval) -> dict[str, float]:
    ends = zip(("", "_low", "_high"), interval[:3], strict=True)
    return {f"{name}{end}": 100 * value for end, value in ends}

"""DRBench: the rows on which one model is biased or sensitive (paper, section 3.3).

A row is *biased* (B) if the base answer is also the answer given to a dummy picture, and is wrong.
It is *sensitive* (S) if the base answer changes under a rewritten prompt. "The counterfactual
answers" are read as `any` (one is enough; the public code and the paper's tables) or as `all` (the
paper's ∀); each is a round's own free-running decode, not a method's.

======  ===========================================================================
subset  rows
======  ===========================================================================
B       base answer = a blind answer, and wrong
S       base answer ≠ an answer to a rewritten prompt
BS      B ∪ S
S∖B     S without B: selected on the base's errors, so it favours the base
S∩L     S where the base answer = a blind answer, right or wrong (L)
S∖L     S where it does not
======  ===========================================================================
"""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np
import pandas as pd

from sci_book.data.answers import rules as answers
from sci_book.results.records import Records

Quantifier = Literal["any", "all"]
SUBSETS = ("all", "B", "S", "BS", "S∖B", "S∩L", "S∖L", "outside BS")
VISUAL = ("black", "noise500")
TEXTUAL = ("V1", "V2")
VALIDATION_EVERY = 5  # raw row 0 of a data set, 5, 10, … is validation in the paper's split


def subsets(
    records: Records,
    quantifier: Quantifier = "any",
    comparison: Literal["parsed", "raw_prefix"] = "parsed",
) -> pd.DataFrame:
    """Membership of every row in every subset, one Boolean column a name of `SUBSETS`.

    Samples with an error are in none, "all" included.

    Args:
        quantifier: whether one counterfactual answer is enough ("any") or all are needed ("all").
        comparison: "parsed" compares parsed answers, an unknown equal to nothing: an unknown base
            answer is never biased and always sensitive. "raw_prefix" is the reference
            implementation's rule: raw lower-cased texts cut to the length of the ground truth, and
            a multiple-choice row is in B only if its letter is followed by a delimiter.
    """
    if comparison == "parsed":
        agrees = {name: _same(records, name) for name in (*VISUAL, *TEXTUAL)}
        wrong, eligible = ~records.correct("original"), np.ones(len(records.frame), dtype=bool)
    elif comparison == "raw_prefix":
        cut = {name: _raw(records, name) for name in ("original", *VISUAL, *TEXTUAL)}
        agrees = {name: cut[name] == cut["original"] for name in (*VISUAL, *TEXTUAL)}
        truth = records.frame["truth"].str.lower().to_numpy(dtype=object)
        wrong, eligible = cut["original"] != truth, _delimited(records)
    else:
        raise ValueError(
            f"There is no comparison {comparison!r}; expected 'parsed' or 'raw_prefix'."
        )
    visual, textual = (np.stack([agrees[name] for name in names]) for names in (VISUAL, TEXTUAL))
    frame = construct(visual, textual, wrong, quantifier, eligible=eligible)
    return frame & records.ok[:, None]


def construct(
    agrees_visual: np.ndarray,
    agrees_textual: np.ndarray,
    wrong: np.ndarray,
    quantifier: Quantifier = "any",
    *,
    eligible: np.ndarray | bool = True,
) -> pd.DataFrame:
    """The subsets from agreements alone.

    Args:
        agrees_visual: [M, rows] whether the base answer equals that dummy picture's.
        agrees_textual: [N, rows] whether it equals that rewritten prompt's.
        wrong: [rows] whether the base answer is wrong.
        eligible: [rows] whether a row may be in B at all.
    """
    if quantifier not in ("any", "all"):
        raise ValueError(f"There is no quantifier {quantifier!r}; expected 'any' or 'all'.")
    over = np.any if quantifier == "any" else np.all
    blind = over(agrees_visual, axis=0)
    sensitive = over(~agrees_textual, axis=0)
    biased = blind & wrong & eligible
    columns = (
        np.ones_like(biased),
        biased,
        sensitive,
        biased | sensitive,
        sensitive & ~biased,
        sensitive & blind,
        sensitive & ~blind,
        ~(biased | sensitive),
    )
    return pd.DataFrame(dict(zip(SUBSETS, columns, strict=True)))


def split(records: Records, by: Literal["rows", "groups"] = "rows") -> np.ndarray:
    """ "validation" or "test" for every row.

    "rows" is the paper's split: every fifth raw row of a data set is validation, counting from the
    first. Of the five places to begin, this alone leaves floor(0.8 n) test rows in all six data
    sets (3,900 of 4,876, ..., 13,251 in total). It puts rotations of one question, and the two
    questions of an MME picture, on both sides. "groups" keeps question groups whole: about a fifth
    of them, by a hash of their name, is validation, MMBench-EN and -CN together.
    """
    if by == "rows":
        validation = records.frame["position"].to_numpy() % VALIDATION_EVERY == 0
    elif by == "groups":
        groups = records.frame["group"]
        chosen = {group: in_hashed_share(group, 5) for group in groups.unique()}
        validation = groups.map(chosen).to_numpy(dtype=bool)
    else:
        raise ValueError(f"There is no split by {by!r}; expected 'rows' or 'groups'.")
    return np.where(validation, "validation", "test")


def in_hashed_share(group: str, share: int, salt: str = "") -> bool:
    """Whether a group falls into the fixed 1 / `share` of all groups that its hash selects."""
    digest = hashlib.sha256(f"{salt}{group}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % share == 0


def _same(records: Records, name: str) -> np.ndarray:
    return answers.same(records.parsed("original"), records.parsed(name))


def _raw(records: Records, name: str) -> np.ndarray:
    pairs = zip(records.text(name), records.frame["truth"], strict=True)
    return np.array([answers.raw_prefix(text, truth) for text, truth in pairs], dtype=object)


def _delimited(records: Records) -> np.ndarray:
    others = (records.frame["kind"] != "MCQ").to_numpy()
    letters = [answers.letter_is_delimited(text) for text in records.text("original")]
    return others | np.array(letters, dtype=bool)

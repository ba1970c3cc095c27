"""The paper's coarse rules of correctness (section 3.2, "Correctness metric").

They are kept as printed because every other number of the paper stands on them. `cider` is the
field's own measure of captions, shown beside.
"""

from __future__ import annotations

import re

import numpy as np

from sci_book.results.records import Records

MIN_LETTERS = 3
"""The shortest content word (section 3.2)."""


def normalise(text: str) -> str:
    """Lower case, every sign of punctuation a space, spaces single (section 3.2)."""
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


def vqa_correct(prediction: str, truth: str) -> bool:
    """Section 3.2, VQAv2: the normalised truth is a substring of the prediction, or the reverse.

    A substring, not a word: "no" is in "I do not know", and "t" is in "cat". An empty text is
    never right.
    """
    prediction, truth = normalise(prediction), normalise(truth)
    return bool(prediction and truth) and (truth in prediction or prediction in truth)


def caption_correct(prediction: str, truth: str) -> bool:
    """Section 3.2, COCO Captions: one word of the reference, of 3 letters or more, is in it.

    "the" is such a word, and it may stand inside another ("the" in "other").
    """
    prediction = normalise(prediction)
    return any(len(word) >= MIN_LETTERS and word in prediction for word in normalise(truth).split())


def clean_prediction(text: str) -> str:
    """The answer without the role marker "Assistant:" that a decoder may leave (section 3.4)."""
    return re.sub(r"^assistant:\s*", "", text.strip(), flags=re.IGNORECASE)


def right(records: Records, policy: str) -> np.ndarray:
    """1 or 0 for a right or wrong answer of every row by the paper's rules; NaN with an error.

    Free rows are captions, all others questions. (Rows of the negation probes are free too; their
    criteria are those of `negation`.)
    """
    frame = records.frame
    rules = {"free": caption_correct}
    triples = zip(frame["question_type"], records.text(policy), frame["truth"], strict=True)
    verdicts = [rules.get(kind, vqa_correct)(text, truth) for kind, text, truth in triples]
    return np.where(records.ok, np.array(verdicts, dtype=float), np.nan)

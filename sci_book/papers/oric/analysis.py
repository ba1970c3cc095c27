"""What an image–text encoder says of the questions themselves (sections 2.2 and 3.2, A.3)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sci_book.papers.oric.construct import DESCRIPTION
from sci_book.papers.oric.encoder import Encoder, clip_score
from sci_book.papers.oric.questions import LABELS, Question


def question_scores(questions: Sequence[Question], encoder: Encoder, images: Path) -> np.ndarray:
    """Equation (1) of every question's picture and object, NaN where the picture is none."""
    names = list(dict.fromkeys(question.image for question in questions))
    targets = list(dict.fromkeys(question.target for question in questions))
    if not names:
        return np.empty(0)
    pictures = dict(zip(names, encoder.images([images / name for name in names]), strict=True))
    texts = encoder.texts([DESCRIPTION.format(object=target) for target in targets])
    described = dict(zip(targets, texts, strict=True))
    return np.array(
        [clip_score(pictures[q.image], described[q.target]) for q in questions], dtype=float
    )


def minimum_distances(
    questions: Sequence[Question], encoder: Encoder, images: str | Path
) -> pd.DataFrame:
    """Equation (7): for each object, how near a picture with it comes to one without.

    Columns `object, positive, negative, distance`: the numbers of its pictures under either label,
    and the least cosine distance between them. Objects asked about under one label only have
    none and are left out; so are pictures that cannot be read, and one asked about under both
    labels with itself. Table 6 prints the mean over objects.
    """
    names = list(dict.fromkeys(question.image for question in questions))
    vectors = encoder.images([Path(images) / name for name in names])
    rows = {name: i for i, name in enumerate(names) if np.isfinite(vectors[i]).all()}
    lines = []
    for target in dict.fromkeys(question.target for question in questions):
        present, absent = (
            sorted(
                {
                    rows[q.image]
                    for q in questions
                    if q.target == target and q.label == label and q.image in rows
                }
            )
            for label in LABELS
        )
        if not present or not absent:
            continue
        distance = 1 - vectors[present] @ vectors[absent].T
        distance[np.equal.outer(present, absent)] = np.inf
        if np.isfinite(distance).any():
            # Beyond six decimals a cosine of float32 vectors is the processor's rounding, by which
            # equal distances would differ.
            lines.append((target, len(present), len(absent), round(float(distance.min()), 6)))
    return pd.DataFrame(lines, columns=["object", "positive", "negative", "distance"])

"""CIDEr-D of captions (Vedantam et al., 2015), as the COCO caption evaluation computes it.

The usual package carries a hundred megabytes of Java for its other measures and has not been
released since 2020, so the one measure is written here; it agrees with that package to rounding.
Its tokeniser is Java as well: here a text is cut into runs of letters, digits and apostrophes, in
lower case, which gives the same words for captions without rare signs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

LONGEST = 4  # words of an n-gram
SIGMA = 6.0  # words: how fast a difference in length is punished


def cider(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """The CIDEr-D score of each caption, 0 to 10; their mean is the score of the model.

    ``10 / 4 * sum_n mean_j exp(-(l - l_j)^2 / 72) * min(g, r_j) . r_j / (|g| |r_j|)`` with the
    TF-IDF vectors g of the caption and r_j of its references over n-grams, n = 1 to 4, and the
    lengths counted in bigrams. An n-gram is weighted with the logarithm of pictures per picture
    that has it in a reference, so scores depend on the set, and on one picture they are 0.

    Args:
        predictions: one caption a picture.
        references: the references of each picture, one or more.

    Raises:
        ValueError: if the lengths differ or a picture has no reference.
    """
    if len(predictions) != len(references):
        raise ValueError(
            f"Each caption needs its references; got {len(predictions)} captions and "
            f"{len(references)} lists of references."
        )
    if any(not texts for texts in references):
        raise ValueError("A picture has no reference caption; CIDEr needs at least one for each.")
    counted = [[_ngrams(text) for text in texts] for texts in references]
    seen_in = Counter(ngram for counts in counted for ngram in set().union(*counts))
    weights = {ngram: np.log(len(counted) / count) for ngram, count in seen_in.items()}
    unseen = float(np.log(max(len(counted), 1)))
    scores = []
    for prediction, reference_counts in zip(predictions, counted, strict=True):
        ours = _Caption(_ngrams(prediction), weights, unseen)
        theirs = [_Caption(counts, weights, unseen) for counts in reference_counts]
        scores.append(10 * np.mean([ours.similarity(reference) for reference in theirs]))
    return np.array(scores, dtype=float)


class _Caption:
    """The TF-IDF vector of a caption: its entries, their norm for each n, its length in bigrams."""

    def __init__(
        self, counts: Mapping[tuple[str, ...], int], weights: Mapping, unseen: float
    ) -> None:
        self.vector = {ngram: count * weights.get(ngram, unseen) for ngram, count in counts.items()}
        self.length = sum(count for ngram, count in counts.items() if len(ngram) == 2)
        squares = np.zeros(LONGEST)
        for ngram, value in self.vector.items():
            squares[len(ngram) - 1] += value**2
        self.norms = np.sqrt(squares)

    def similarity(self, reference: _Caption) -> float:
        products = np.zeros(LONGEST)
        for ngram in self.vector.keys() & reference.vector.keys():
            value = reference.vector[ngram]
            products[len(ngram) - 1] += min(self.vector[ngram], value) * value
        norms = self.norms * reference.norms
        cosines = np.divide(products, norms, out=np.zeros(LONGEST), where=norms > 0)
        penalty = np.exp(-((self.length - reference.length) ** 2) / (2 * SIGMA**2))
        return float(cosines.mean() * penalty)


def _ngrams(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"[\w']+", text.lower())
    return Counter(
        tuple(words[start : start + n])
        for n in range(1, LONGEST + 1)
        for start in range(len(words) - n + 1)
    )

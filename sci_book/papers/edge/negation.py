"""Negation probes (section 3.7, Tables 3, 9, 10 and 15): a right answer, asked about with a "not".

The four templates are put to pictures that both models answered rightly, so the share of successes
falls from 100 %. Criteria come in three readings:

===========  =======================================================================================
`paper`      Table 3 word for word. Substrings: "no" is in "I know", and an answer "no" is in
             "nothing". "Non-trivial" is given no meaning there; it is taken as the paper's other
             content words (section 3.2), three letters or more
`code`       the published code: of the original answer, its first 20 characters count in `is_not`
             and `absent`; `counter` asks for more than 5 characters of any reply, so a bare "yes"
             always fails and an echo of the answer passes
`words`      the same criteria on whole words, any word counting in `counter` but articles
===========  =======================================================================================

A reply without any word succeeds under none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sci_book.papers.edge.correctness import MIN_LETTERS, clean_prediction, normalise
from sci_book.papers.edge.prompts import PROMPTS
from sci_book.results.statistics import Rows

READINGS = ("paper", "code", "words")
TEMPLATES: dict[str, str] = PROMPTS["probes"]
TRANSLATED: dict[str, str] = PROMPTS["translated"]
ROWS = 100
"""Both-correct rows per data set (section 3.7): 400 judgements each, 800 in Table 9."""
_OPENING = 20  # characters of the reply in which `false_yn` looks for "no"
_ARTICLES = {"a", "an", "the"}


def draw_rows(rows: Rows, *, seed: int = 42) -> np.ndarray:
    """Up to `ROWS` of these rows, drawn at random, ascending."""
    generator = np.random.Generator(np.random.Philox(seed))
    return np.sort(generator.permutation(np.asarray(rows))[:ROWS])


def prompts(
    question: str, prediction: str, *, templates: Mapping[str, str] = TEMPLATES
) -> dict[str, str]:
    """The four probes of one row, `{answer}` being the model's own right answer.

    The paper's code takes the ground truth instead, cut to 60 characters, and 80 characters of the
    question.
    """
    answer = clean_prediction(prediction)
    return {
        name: template.format(question=question, answer=answer)
        for name, template in templates.items()
    }


def succeeds(template: str, reply: str, original: str, *, reading: str = "paper") -> bool:
    """Whether a reply meets its template's criterion (Table 3).

    Args:
        reply: what the model wrote to the probe.
        original: the answer that the probe is about, the model's own (the code takes the truth).

    Raises:
        ValueError: for an unknown template or reading.
    """
    if reading not in READINGS:
        raise ValueError(f"No reading {reading!r} of Table 3; there are {', '.join(READINGS)}.")
    if template not in TEMPLATES:
        raise ValueError(f"No template {template!r}; there are {', '.join(TEMPLATES)}.")
    reply, original = normalise(clean_prediction(reply)), normalise(clean_prediction(original))
    if not reply:
        return False
    words = reading == "words"
    if template in ("is_not", "absent"):  # does not contain the original answer
        if words:
            return f" {original} " not in f" {reply} "
        return (original[:_OPENING] if reading == "code" else original) not in reply
    if template == "false_yn":  # contains "no"; `words`: a word that begins there
        if words:
            return f" {reply} ".find(" no ", 0, _OPENING + 3) >= 0
        return "no" in reply[:_OPENING]
    if reading == "code":
        return len(reply) > 5
    new = set(reply.split()) - set(original.split())
    return bool(new - _ARTICLES) if words else any(len(word) >= MIN_LETTERS for word in new)

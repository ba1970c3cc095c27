"""From what a model wrote to yes, no or unknown (section 4.1), and POPE's way as a variant.

The paper reads an explicit yes or no and puts the rest to a text model. Here the book's own rule
reads (`sci_book.data.answers.rules.yes_no`: of a text with a `<SOLUTION>`, that alone); what it
cannot read is "unknown" unless a text model is given, and its share is shown beside every result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from sci_book.data.answers.rules import yes_no
from sci_book.papers.shared.text_model import TextModel

Said = Literal["yes", "no", "unknown", "failed"]
"""What an answer says; "failed" where there is none, which is no answer of the model's."""

_JUDGE = """\
Question: {question}
Options: yes, no
Response: {text}
Which option does the response choose? Answer with yes or no, or with unknown if it chooses none."""
_LONGEST = 2_000  # characters of a response shown to the judge


def explicit(text: str) -> Said:
    """The yes or no that a text states by the book's own rule, else "unknown"."""
    return yes_no(text) or "unknown"


def pope(text: str) -> Said:
    """POPE's parser: "no" where the first sentence holds No, not or no as a word, else "yes".

    It never says unknown: an empty answer, and "I cannot tell", are a silent yes.
    """
    words = text.split(".")[0].replace(",", "").split(" ")
    return "no" if {"No", "not", "no"} & set(words) else "yes"


RULES: dict[str, Callable[[str], Said]] = {"explicit": explicit, "pope": pope}


def read(
    texts: Sequence[str | None],
    rule: Callable[[str], Said] = explicit,
    *,
    questions: Sequence[str] = (),
    model: TextModel | None = None,
) -> list[Said]:
    """What each answer says; None, an answer that was never given, is "failed".

    Parameters
    ----------
    questions, model : the question of each text and the text model that is asked about those the
        rule cannot read (the paper's second step); without a model they stay "unknown".

    Raises
    ------
    ValueError : if a model is given without one question a text.
    """
    said: list[Said] = ["failed" if text is None else rule(text) for text in texts]
    if model is None:
        return said
    if len(questions) != len(texts):
        raise ValueError(
            f"{len(questions)} questions came for {len(texts)} texts; the second step needs one "
            "each."
        )
    unread = [index for index, each in enumerate(said) if each == "unknown"]
    prompts = [
        _JUDGE.format(question=questions[i], text=(texts[i] or "")[:_LONGEST]) for i in unread
    ]
    for index, completion in zip(unread, model.complete(prompts), strict=True):
        if completion.text is not None:
            said[index] = yes_no(completion.text) or "unknown"
    return said

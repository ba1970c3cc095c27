"""A text model as the judge of failures (section 3.4, Appendix D). It sees no picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sci_book.papers.edge.correctness import clean_prediction
from sci_book.papers.edge.prompts import PROMPTS
from sci_book.papers.edge.taxonomy import CATEGORIES, Category, Failure
from sci_book.papers.shared.text_model import Completion, TextModel, json_object

LONGEST = 2_000  # characters of any one field shown to the judge
ATTEMPTS = 2
"""How often a failure is shown to a judge whose answer cannot be read."""


class Label(NamedTuple):
    """A category, or None for a failure that is unjudged; and why."""

    category: Category | None
    reason: str


class TextJudge:
    """Appendix D's prompt, put to a text model as one turn; the answer is read as JSON.

    An answer that names no category is asked for once more; then the failure is unjudged, as is
    one whose request failed (the text model tries those again by itself).
    """

    def __init__(self, model: TextModel):
        self._model = model
        self.name = model.name

    def judge(self, failures: Sequence[Failure]) -> list[Label]:
        """One label a failure, in order, of at most `ATTEMPTS` answers."""
        prompts = [prompt(failure) for failure in failures]
        replies = [Completion("")] * len(prompts)
        for _ in range(ATTEMPTS):
            unread = [k for k, reply in enumerate(replies) if _unread(reply)]
            answers = self._model.complete([prompts[k] for k in unread]) if unread else []
            for k, answer in zip(unread, answers, strict=True):
                replies[k] = answer
        return list(map(read, replies))


def prompt(failure: Failure) -> str:
    """Appendix D, system and user part, for one failure; its fields are cut to `LONGEST`."""
    fields = failure._replace(prediction=clean_prediction(failure.prediction))._asdict()
    return PROMPTS["judge"].format(**{key: text[:LONGEST] for key, text in fields.items()})


def read(completion: Completion) -> Label:
    """The label in a judge's answer; without a category where it does not say one."""
    if completion.text is None:
        return Label(None, completion.error or "no answer")
    fields = json_object(completion.text)
    if fields is None:
        return Label(None, "the answer is no JSON object")
    category = fields.get("category")
    if not isinstance(category, str) or category not in CATEGORIES:
        return Label(None, "the answer names none of the categories A to E")
    reasoning = fields.get("reasoning")
    return Label(category, reasoning if isinstance(reasoning, str) else "")


def _unread(completion: Completion) -> bool:
    return completion.text is not None and read(completion).category is None

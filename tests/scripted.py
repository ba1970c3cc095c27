"""Records of models that answer as a script says, made by the real runner.

The seam is `engine.start`: what it returns holds, for every round, logits that lead to the end of
that round's text. Everything after it (trajectories, methods, answer rules, shards, stamps) is the
project's own, so the records are those of a model that answers so.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple
from unittest import mock

import torch
from torch import Tensor

from sci_book.data.rows import Row, RowError
from sci_book.run import shards, trajectories
from sci_core.engine.questions import Question
from sci_core.engine.rounds import Rounds
from sci_core.families.models import VisionLanguageModel

SURE = 8.0
"""Logits by which a round prefers its next token to all others."""


class Script(NamedTuple):
    """What a model answers to a row, in every round alike, and which rows spoil."""

    text: Callable[[Row], str]
    spoilt: Callable[[Row], bool] = lambda row: False


@dataclass(frozen=True)
class Scripted(Question):
    """A question and the answer that the script gives to it."""

    answer: str = ""


class Prompt(NamedTuple):
    """The ids of a question's prompt, the same in every round (`questions.EncodedQuestion`)."""

    ids: list[int]
    count: int

    def rounds(self, span: slice) -> list[tuple[list[int], None]]:
        return [(self.ids, None)] * len(range(self.count)[span])


class ScriptedRounds(Rounds):
    """`rounds.Rounds` of a model whose every round writes the script's answer and ends."""

    def __init__(self, model: VisionLanguageModel, questions: Sequence[Scripted], rounds: int):
        encode = model.tokenizer.encode
        end, self._vocab = min(model.eos_token_ids), len(model.tokenizer)
        self._paths = [[*encode(each.answer, add_special_tokens=False), end] for each in questions]
        self._off = end
        self._written: list[list[int]] = [[] for _ in questions]
        self._rounds = rounds
        self.asked = [Prompt(encode(each.prompt), rounds) for each in questions]
        self.prompt_tokens = torch.tensor([len(each.ids) for each in self.asked])
        self._deferred, self._needed = False, torch.ones(rounds, len(questions), dtype=torch.bool)
        self._set_logits()

    def _step(self, tokens: Tensor, parents: Tensor, needed: Tensor) -> None:
        self._paths = [self._paths[parent] for parent in parents.tolist()]
        written = [self._written[parent] for parent in parents.tolist()]
        self._written = [[*w, t] for w, t in zip(written, tokens.tolist(), strict=True)]
        self._set_logits()

    def _look(self, nodes: Tensor, tokens: Tensor | None) -> Tensor:
        raise NotImplementedError("An evaluation reads every round.")

    def _set_logits(self) -> None:
        self.logits = torch.zeros(self._rounds, len(self._paths), self._vocab)
        for place, (path, written) in enumerate(zip(self._paths, self._written, strict=True)):
            follows = path[: len(written)] == written and len(written) < len(path)
            self.logits[:, place, path[len(written)] if follows else self._off] = SURE


@contextmanager
def answering(script: Script) -> Iterator[None]:
    """Within it, every evaluation in this process answers as the script says."""
    real = shards.pose

    def pose(row: Row, *rest: object) -> shards.Posed:
        if script.spoilt(row):
            raise RowError(f"{row.where}: spoilt for the test")
        posed = real(row, *rest)
        return posed._replace(question=Scripted(**vars(posed.question), answer=script.text(row)))

    def start(model, questions, rounds, *rest, **options) -> ScriptedRounds:
        return ScriptedRounds(model, questions, len(rounds))

    with (
        mock.patch.object(shards, "pose", pose),
        mock.patch.object(trajectories, "start", start),
        mock.patch.object(os, "sched_getaffinity", lambda process: {0}),  # one worker: this process
    ):
        yield


# --- four models -------------------------------------------------------------------------------


def _right(row: Row) -> str:
    return row.answer


def _wrong(row: Row) -> str:
    """An answer that can be read and is not the truth, the same whatever is shown or asked."""
    if row.question_type == "mcq":
        letters = list(row.options)
        return letters[(letters.index(row.answer) + 1) % len(letters)]
    if row.question_type == "yesno":
        return {"yes": "no", "no": "yes"}[row.answer]
    if row.question_type == "number":
        return str(int(float(row.answer)) + 1)
    return "zzz"


def _habit(row: Row) -> str:
    """Right on every multiple-choice row; elsewhere one answer for all that is asked."""
    others = {"mcq": row.answer, "yesno": "yes", "number": "1", "short": "red"}
    return others.get(row.question_type, "a red apple on the table")


SCRIPTS = {
    "always-right": Script(_right),
    "always-wrong": Script(_wrong),
    "rubbish": Script(lambda row: "?! ... ?!"),
    "of-habit": Script(_habit, spoilt=lambda row: row.dataset.endswith("mmstar")),
}
"""By name. No B, no S; B is all, no S; S is all, no B; B without a multiple-choice row, and a data
set of which every row failed."""

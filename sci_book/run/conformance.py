"""A file of logits and of the tokens that each method chooses, for implementations of other hands.

`reference/` holds the raw logits of every round of some questions at one step of their answers, and
the token that every preset chooses there. Who can read safetensors and JSON can test a decoder of
his own: no picture, no checkpoint and none of this code is needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save_file

from sci_book.files import json_text, write_whole
from sci_book.resources import ROOT
from sci_core.methods import METHODS, RULES
from sci_core.scoring import scores, survivors

FOLDER = ROOT / "reference"
LOGITS, TOKENS = "logits.safetensors", "tokens.json"
SCHEMA = 1
NEAR = 1e-4
"""Of a score, or of the distance to the cutoff: nearer, float32 may choose otherwise."""


class Verdict(NamedTuple):
    """How an implementation's tokens of one method compare: `wrong` are places of questions."""

    method: str
    equal: int
    near: int
    wrong: list[int]

    def __str__(self) -> str:
        said = f"{self.method:10} {self.equal} equal"
        said += f", {self.near} near ties" if self.near else ""
        first = f", first in question {self.wrong[0]}" if self.wrong else ""
        return said + (f", {len(self.wrong)} wrong{first}" if self.wrong else "")


def write(
    logits: torch.Tensor,
    rounds: list[str],
    prompt_tokens: torch.Tensor,
    step: torch.Tensor,
    about: str,
    folder: Path = FOLDER,
) -> None:
    """Write both files.

    Args:
        logits: `[rounds, questions, vocab]`, rounded to float16, which is what counts.
        rounds: their names, the original first.
        prompt_tokens: `[questions]` text tokens of each prompt, M3ID's clock.
        step: `[questions]` tokens generated before.
        about: where they come from.
    """
    logits = logits.to(torch.float16)
    methods = {name: asdict(method) for name, method in METHODS.items()}
    metadata = {
        "schema": str(SCHEMA),
        "rounds": json_text(rounds),
        "methods": json_text(
            {n: {**m, "decides": RULES[m["rule"]].decides} for n, m in methods.items()}
        ),
        "about": about,
    }
    folder.mkdir(exist_ok=True)
    tensors = {"logits": logits, "prompt_tokens": prompt_tokens.int(), "step": step.int()}
    save_file(tensors, folder / LOGITS, metadata)
    chosen = {name: choose(name, logits.double(), rounds, prompt_tokens, step) for name in METHODS}
    content = {
        "schema": SCHEMA,
        "sha256": hashlib.sha256((folder / LOGITS).read_bytes()).hexdigest(),
        "tokens": {name: tokens for name, (tokens, _) in chosen.items()},
        "near": {name: near for name, (_, near) in chosen.items()},
    }
    write_whole(folder / TOKENS, (json_text(content) + "\n").encode())


def choose(
    name: str, logits: torch.Tensor, rounds: list[str], clock: torch.Tensor, step: torch.Tensor
) -> tuple[list[int], list[int]]:
    """The token that a method chooses for every question, and where another is nearly as good."""
    method = METHODS[name]
    Z = logits[[rounds.index(each) for each in method.rounds]]
    moved = [
        replace(method, beta=method.beta * (1 - NEAR)),
        replace(method, beta=min(1.0, method.beta * (1 + NEAR))),
    ]
    tokens, near = [], []
    for place, at in enumerate(step.tolist()):
        one = Z[:, place : place + 1]
        final = scores(method, one, step=at, prompt_tokens=clock[place : place + 1])[0]
        tokens.append(int(final.argmax()))  # the first maximum: the lowest id
        best, second = final.topk(2).values.tolist()
        fewer, more = (survivors(each, one, step=at) for each in reversed(moved))
        if best - second < NEAR or not torch.equal(fewer, more):
            near.append(place)
    return tokens, near


def check(answers: Any, folder: Path = FOLDER) -> list[Verdict]:
    """Compare an implementation's tokens with the file's, method by method.

    Args:
        answers: by the name of a method, its token for every question, in the file's order.

    Raises:
        ValueError: no method, an unknown one, tokens that are no whole numbers or too few, or a
            file of logits that is not the one the tokens are of.
    """
    known = json.loads((folder / TOKENS).read_text("utf-8"))
    if hashlib.sha256((folder / LOGITS).read_bytes()).hexdigest() != known["sha256"]:
        raise ValueError(
            f"{folder / LOGITS} is not the file that {TOKENS} was made of; fetch both anew."
        )
    tokens = known["tokens"]
    if not isinstance(answers, Mapping) or not answers or set(answers) - set(tokens):
        came = (
            ", ".join(map(str, answers)) if isinstance(answers, Mapping) else type(answers).__name__
        )
        raise ValueError(
            f"Expected tokens by the names of methods ({', '.join(tokens)}); got {came or 'none'}."
        )
    found = []
    for name, expected in tokens.items():
        if name not in answers:
            continue
        given = answers[name]
        whole = isinstance(given, list) and all(type(token) is int for token in given)
        if not whole or len(given) != len(expected):
            count = len(given) if isinstance(given, list) else type(given).__name__
            raise ValueError(
                f"{name}: expected a list of {len(expected)} whole numbers, a token a question; "
                f"got {count}."
            )
        differ = [
            k for k, pair in enumerate(zip(given, expected, strict=True)) if pair[0] != pair[1]
        ]
        near = set(known["near"][name])
        wrong = [k for k in differ if k not in near]
        found.append(Verdict(name, len(expected) - len(differ), len(differ) - len(wrong), wrong))
    return found

"""Rows of records made by hand, as `build_table` takes them."""

import numpy as np
import torch

from sci_core.scoring import scores


def sample(place, **fields):
    """A row without nodes and without answers."""
    return {
        "dataset": "x", "index": place, "position": place, "group": f"x:{place}",
        "image_hash": "", "category": "", "truth": "yes", "options": "", "prompt_hash": "",
        "prompt_tokens": 1, "nodes": [], "error": None, **fields,
    }  # fmt: skip


def first_node(tokens, logits, log_norm=None):
    """The node before any token, of `logits [rounds, tokens]`; no other token comes near."""
    log_norm = [0.0] * len(logits) if log_norm is None else log_norm
    return {"prefix": [], "tokens": tokens, "logits": logits.ravel(),
            "log_norm": log_norm, "outside": [-99.0] * len(logits)}  # fmt: skip


def answers(words, tokens=None, unread=()):
    """What each policy answers, in one token where `tokens` has the word's.

    None and the words `unread` are read as no answer.
    """
    row = {}
    for name, word in words.items():
        row[f"tokens:{name}"] = [tokens[word]] if tokens else []
        row[f"text:{name}"] = word or ""
        row[f"parsed:{name}"] = None if word in unread else word
    return row


def choices(methods, logits, rounds, prompt_tokens):
    """Of each row, the place that each round and each method chooses at the first step.

    `logits` are `[rounds, tokens]` a row. Rows of as many tokens are scored at once.
    """
    chosen = [dict(zip(rounds, row.argmax(axis=1).tolist(), strict=True)) for row in logits]
    widths = np.array([row.shape[1] for row in logits])
    for width in set(widths):
        alike = np.flatnonzero(widths == width)
        together = torch.from_numpy(np.stack([logits[place] for place in alike], axis=1))
        clock = torch.tensor([prompt_tokens[place] for place in alike])
        for method in methods:
            Z = together[[rounds.index(name) for name in method.rounds]]
            best = scores(method, Z, step=0, prompt_tokens=clock).argmax(dim=-1).tolist()
            for place, slot in zip(alike, best, strict=True):
                chosen[place][method.name] = slot
    return chosen

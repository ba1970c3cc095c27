"""Records of two models with drawn answers, small enough to be counted by hand."""

from dataclasses import asdict

import numpy as np

from sci_book.methods import BASELINES, SCI
from sci_book.results.records import Records, build_table
from sci_book.run.method_sets import STANDARD_METHODS
from tests.papers.shared.made_up import TOKENS
from tests.rows import answers, first_node, sample

ROUNDS = ["original", "V1", "V2", "V3", "black", "noise500", "noise400"]
METHODS = [*BASELINES, "M3ID generated clock", *SCI]
NAMED = {method.name: method for method in STANDARD_METHODS}
QWEN, LLAVA = "pocket-qwen2vl", "pocket-llavanext"


def records_of(model, rows=120, seed=0, digest="same"):
    """Records with drawn answers: rotations of multiple-choice questions, then pairs of yes/no."""
    rng = np.random.default_rng(seed)
    built = []
    for place in range(rows):
        mcq = place < rows * 2 // 3
        options = list("ABCD") if mcq else ["yes", "no"]
        truth = options[place % len(options)]
        words = {name: str(rng.choice([truth, *options])) for name in [*ROUNDS, *METHODS]}
        row = sample(
            place, group=f"x:{place // 4 if mcq else 1000 + place // 2}", truth=truth,
            question_type="mcq" if mcq else "yesno", options="ABCD" if mcq else "",
        )  # fmt: skip
        if place == rows - 1:
            row["error"] = "RowError"
        else:
            logits = np.zeros((len(ROUNDS), len(options)), np.float32)
            logits[0] = rng.normal(size=len(options))
            logits[0, options.index(words["original"])] = 9
            row["nodes"] = [first_node([TOKENS[name] for name in options], logits)]
            row |= answers(words, dict.fromkeys(options, 0))
        built.append(row)
    stamp = {
        "schema": 1, "model": model, "revision": "r", "rounds": ROUNDS, "rows": digest,
        "methods": [asdict(NAMED[name]) for name in METHODS],
        "datasets": {"x": "sum"}, "eos": [9],
    }  # fmt: skip
    pieces = {token: text for text, token in TOKENS.items()}
    return Records(build_table(built, [*ROUNDS, *METHODS]), stamp, pieces)

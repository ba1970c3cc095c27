"""Small records of every question type whose methods are decoded from drawn logits."""

from dataclasses import asdict

import numpy as np

from sci_book.papers.shared import chapters
from sci_book.results.records import Records, build_table, write_records
from sci_book.run.method_sets import STANDARD_METHODS
from tests.rows import answers, choices, first_node, sample

ROUNDS = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")
WORDS = ("A", "B", "C", "D", "yes", "no", "red", "green", "blue")
TOKENS = {word: token for token, word in enumerate(WORDS)}
END = 9
# Question type, options, rows a group, and whether rotations share a group.
DATASETS = {
    "tiny_mmbench_en": ("mcq", "ABCD", 4),
    "tiny_mmstar": ("mcq", "ABCD", 1),
    "tiny_mme": ("yesno", ("yes", "no"), 2),
    "tiny_vilp": ("short", ("red", "green", "blue"), 3),
}


def drawn_records(
    model, *, seed=0, rows=48, datasets=tuple(DATASETS), spoilt=(), digest="same", skill=1.0
):
    """Records of `rows` rows a data set; `spoilt` places (over all) have an error.

    The original round prefers the truth by `skill` logits; the other rounds are noisy copies of
    it. Every method's answer is what `scoring.scores` gives on these logits.
    """
    rng, built, drawn = np.random.default_rng(seed), [], []
    for dataset in datasets:
        kind, options, size = DATASETS[dataset]
        for place in range(rows):
            right = int(np.random.default_rng(place).integers(len(options)))
            logits = _logits(rng, len(options), right, skill)
            row = sample(
                place, dataset=dataset, group=f"{dataset}:{place // size}", question_type=kind,
                category=f"category {place // size % 2}", truth=options[right],
                options="ABCD" if kind == "mcq" else "", prompt_tokens=20 + place,
            )  # fmt: skip
            if len(built) in spoilt:
                row["error"] = "RowError"
            else:
                row["nodes"] = [first_node([TOKENS[word] for word in options], logits)]
                drawn.append((row, options, logits))
            built.append(row)
    clocks = [row["prompt_tokens"] for row, *_ in drawn]
    every = choices(STANDARD_METHODS, [logits for *_, logits in drawn], ROUNDS, clocks)
    for (row, options, _), chosen in zip(drawn, every, strict=True):
        row |= answers({name: options[slot] for name, slot in chosen.items()}, TOKENS)
    policies = [*ROUNDS, *(each.name for each in STANDARD_METHODS)]
    stamp = {
        "schema": 1, "model": model, "revision": "r", "rounds": list(ROUNDS), "rows": digest,
        "dtype": "float32",
        "methods": [asdict(each) for each in STANDARD_METHODS], "eos": [END],
        "datasets": dict.fromkeys(datasets, "sum"), "max_new_tokens": 1,
    }  # fmt: skip
    return Records(build_table(built, policies), stamp, dict(enumerate(WORDS)))


def _logits(rng, options, right, skill):
    original = rng.normal(size=options)
    original[right] += skill
    logits = original + rng.normal(size=(len(ROUNDS), options))
    logits[0] = original
    logits[ROUNDS.index("black") :, right] -= skill
    return logits.astype(np.float32)


def drawn_subjects(folder, names):
    """Subjects of drawn records, a seed each, one row with an error."""
    for seed, name in enumerate(names):
        write_records(folder / f"{name}.parquet", drawn_records(name, seed=seed, spoilt=(5,)))
    return chapters.subjects(names, folder)

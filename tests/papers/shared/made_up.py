"""Records with drawn logits, whose answers are those that each method chooses."""

from dataclasses import asdict, replace
from zlib import crc32

import numpy as np

from sci_book.results.records import Records, build_table
from sci_core.methods import M3ID, SCI3, SCI5, SCI7, TIE, VCD, Method, sci
from tests.rows import answers, choices, first_node, sample

EDITED = (TIE, VCD, M3ID, SCI3, SCI5, SCI7)
EXTENDED = (
    *EDITED,
    *(sci(pairs, pairs) for pairs in range(4, 8)),
    *(replace(each, name=f"{each.name} first token", edit="first_token") for each in EDITED),
)
TOKENS = {letter: place for place, letter in enumerate("ABCD")} | {"yes": 4, "no": 5}
PROMPT_TOKENS = 40


def records_of(
    model: str = "mine",
    methods: tuple[Method, ...] = EDITED,
    *,
    rows: int = 150,
    part: slice = slice(None),
    seed: int = 0,
    kinds: tuple[str, ...] = ("mcq", "yesno"),
    **stamp,
) -> Records:
    """Rotations of multiple-choice questions, and pairs of yes/no; the last row has an error.

    `part` keeps some of the rows; further keywords go into the stamp.
    """
    rounds = list(max(methods, key=lambda each: len(each.rounds)).rounds)
    rng = np.random.default_rng(seed)
    built, drawn = [], []
    for place in range(rows):
        kind = kinds[place * len(kinds) // rows]
        options = list("ABCD") if kind == "mcq" else ["yes", "no"]
        truth = options[place % len(options)]
        common = rng.normal(size=len(options))
        common[options.index(truth)] += rng.normal(1.0, 1.5)
        logits = np.stack([_drawn(seed, place, name, len(options)) for name in rounds])
        logits = (logits + common).astype(np.float32)
        row = sample(
            place, group=f"{kind}:{place // len(options)}", question_type=kind, truth=truth,
            options="ABCD" if kind == "mcq" else "", prompt_tokens=PROMPT_TOKENS,
        )  # fmt: skip
        if place == rows - 1:
            row["error"] = "RowError"
        else:
            log_norm = np.log(np.exp(logits).sum(axis=1))
            row["nodes"] = [first_node([TOKENS[name] for name in options], logits, log_norm)]
            drawn.append((row, options, logits))
        built.append(row)
    clocks = [PROMPT_TOKENS] * len(drawn)
    every = choices(methods, [logits for *_, logits in drawn], rounds, clocks)
    for (row, options, _), chosen in zip(drawn, every, strict=True):
        row |= answers({name: options[slot] for name, slot in chosen.items()}, TOKENS)
    fields = {
        "schema": 1, "model": model, "revision": "r", "rounds": rounds, "rows": f"{rows}{part}",
        "methods": [asdict(each) for each in methods], "prompts": "p",
        "datasets": {"x": "sum"}, "eos": [9], "max_new_tokens": 8, "noise": "wrap",
    }  # fmt: skip
    pieces = {token: text for text, token in TOKENS.items()}
    table = build_table(built[part], [*rounds, *(each.name for each in methods)])
    return Records(table, fields | stamp, pieces)


def _drawn(seed: int, place: int, name: str, options: int) -> np.ndarray:
    """A round's own part, the same whatever other rounds there are."""
    return np.random.default_rng([seed, place, crc32(name.encode())]).normal(size=options)

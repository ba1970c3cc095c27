"""More rounds, more robust? Figures 1(d) and 2, on to fifteen rounds.

A *ladder* is a sequence of methods, each with more rounds than the one before: of both kinds, as in
the paper, or of one kind alone. A *rule* says what becomes of tau1 on the way up, for with it the
plausibility constraint loosens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from sci_book.papers.sci.chapters.drbench_tables import (
    Claim,
    Outcomes,
    family,
    paper_accuracy,
    paper_differences,
)
from sci_book.papers.sci.chapters.shapes import Frames, Sets, Subjects, by_kind, ends, paired
from sci_book.papers.shared.chapters import Subject, side
from sci_book.papers.shared.tables import INTERVAL, MISSING, Table, number, plain
from sci_book.results.metrics import KINDS, accuracy_table, flips, null_outcomes
from sci_core.methods import SCI5, Method, sci

MOST = 7  # of each kind
SUBSETS = ("B", "S", "BS")
ELSEWHERE = ("S∖B", "outside BS", "all")
STEPS = (("SCI3", "base"), ("SCI5", "SCI3"), ("SCI7", "SCI5"))
CLAIMED = STEPS[1:]  # the paper's three sizes against each other
STEPS_BEYOND = (
    *((f"SCI{rounds + 2}", f"SCI{rounds}") for rounds in (7, 9, 11, 13)),
    ("SCI15", "SCI7"),
)
LADDERS = {
    "both": lambda count: sci(count, count),
    "dummies alone": lambda count: sci(count, 2),
    "rewrites alone": lambda count: sci(2, count),
}
RULES = {
    "τ₁ grows": {},
    "margin kept": {"raw_margin": SCI5.margin},
    "τ₁ kept": {"tau1": SCI5.tau1},
}


def ladder(kind: str, rule: str, recorded: Sequence[str]) -> dict[int, Method]:
    """The methods of a ladder by their number of rounds, as far as the recorded rounds allow.

    Args:
        kind: one of `LADDERS`; those of one kind keep the two rounds of the other that SCI5 has.
        rule: one of `RULES`: tau1 and the constraint's raw margin, tau1 * ln(1 / beta), grow as
            published (1 + N / 2); the margin stays at SCI5's while tau1 in the score grows; or
            tau1 stays at SCI5's altogether.
    """
    rungs = (replace(LADDERS[kind](count), **RULES[rule]) for count in range(MOST + 1))
    return {len(method.rounds): method for method in rungs if set(method.rounds) <= set(recorded)}


def name_of(rounds: int) -> str:
    """What the tables call an SCI with as many dummies as rewrites."""
    return "base" if rounds == 1 else f"SCI{rounds}"


def climb(subject: Subject, kind: str = "both", rule: str = "τ₁ grows") -> dict[int, np.ndarray]:
    """By number of rounds, 1 or 0 for a right or wrong answer of every row, NaN for an error."""
    rungs = ladder(kind, rule, subject.records.rounds)
    return {rounds: subject.right(method) for rounds, method in rungs.items()}


def named(outcomes: Mapping[int, np.ndarray]) -> dict[str, np.ndarray]:
    """`climb` on both kinds by `name_of`, as `drbench_tables.family` takes it."""
    return {name_of(rounds): outcome for rounds, outcome in outcomes.items()}


def certainty(subject: Subject) -> str:
    """How sure the replayed answers of all ladders and rules are, in words."""
    climbs = [(kind, "τ₁ grows") for kind in LADDERS] + [("both", rule) for rule in RULES]
    rounds = subject.records.rounds
    rungs = {method for climb in climbs for method in ladder(*climb, rounds).values()}
    frames = [subject.replay.answers(method)[subject.records.ok] for method in rungs]
    proven, known = (
        number(100 * min(frame[what].mean() for frame in frames), 1) for what in ("proven", "known")
    )
    return (
        f"**{subject.shown}.** Of the answers computed from recorded logits, in the worst of "
        f"{len(rungs)} methods {proven} % are proven (no token left out could have won) and "
        f"{known} % known (they follow from recorded tokens)."
    )


def accuracies(
    outcomes: Mapping[int, np.ndarray], subject: Subject, sets: pd.DataFrame
) -> pd.DataFrame:
    """`metrics.accuracy_table` with a column `rounds` instead of the method."""
    right = {str(rounds): outcome for rounds, outcome in outcomes.items()}
    table = accuracy_table(right, subject.records.frame, sets)
    return table.assign(rounds=table["method"].astype(int)).drop(columns="method")


def on_bs(outcomes: Mapping[int, np.ndarray], subject: Subject, sets: pd.DataFrame) -> pd.DataFrame:
    """Overall accuracy on BS by number of rounds: percent `value`, `low`, `high`, and `n`."""
    frame = accuracies(outcomes, subject, sets[["BS"]])
    overall = frame[frame["question_type"] == "Overall"].set_index("rounds").rename_axis(None)
    return overall[["value", "low", "high", "n"]]


def rounds_table(
    frame: pd.DataFrame, subject: Subject, sets: pd.DataFrame, *, caption: str
) -> Table:
    """Accuracy by subset and number of rounds, the paper's (Table 9) beside; null methods below.

    `frame` is of `accuracies`; on the same `sets` the null methods are shown too.
    """
    nulls = accuracy_table(null_outcomes(subject.records), subject.records.frame, sets)
    methods = {name_of(rounds): in_rounds(rounds) for rounds in frame["rounds"].unique().tolist()}
    methods |= {name: name for name in nulls["method"].unique()}
    every = pd.concat([frame.assign(method=frame["rounds"].map(name_of)), nulls])
    parts = dict(list(every.groupby(["subset", "method"], sort=False)))
    printed, lines, paper = paper_accuracy(subject.label), {}, {}
    for subset, method in product(frame["subset"].unique(), methods):
        label = f"{subset}, {methods[method]}"
        lines[label] = parts[subset, method].set_index("question_type")
        paper[label] = [printed.get((method, subset, kind)) for kind in KINDS]
    table = by_kind(
        lines, paper, name=f"{subject.name}-rounds", caption=caption, ours=side([subject])
    )
    table.frame["Overall", "n"] = [f"{part.loc['Overall', 'n']:,}" for part in lines.values()]
    return table


def in_rounds(rounds: int) -> str:
    """A number of rounds in words."""
    return f"{rounds} round{'s' * (rounds > 1)}"


def steps(
    subjects: Subjects,
    sets: Sets,
    right: Mapping[str, Outcomes],
    pairs: Sequence[tuple[str, str]],
    subsets: Sequence[str],
    *,
    printed: bool = True,
) -> dict[str, pd.DataFrame]:
    """Differences between sizes on subsets as one family of claims (`drbench_tables.family`).

    A pair is (size, the size compared with) of the outcomes `right`; a model without all of the
    sizes is left out. The paper's numbers stand beside if its methods are meant (`printed`).
    """
    claims: list[Claim] = [(*pair, subset) for subset in subsets for pair in pairs]
    needed = {name for pair in pairs for name in pair}
    able = [subject for subject in subjects if needed <= set(right[subject.name])]
    parts = family(able, sets, right, claims) if able else {}
    return {name: frame if printed else frame.assign(paper=np.nan) for name, frame in parts.items()}


def paper_numbers(subjects: Subjects) -> dict[tuple[str, str], float]:
    """The paper's steps on BS in points, by model and part of the page's claim."""
    return paper_differences(subjects, [(*step, "BS") for step in CLAIMED])


def joined(by_rule: Mapping[str, Mapping[str, pd.DataFrame]], subjects: Subjects) -> pd.DataFrame:
    """`steps` under several rules as one frame, each line named after its model and rule."""
    parts = [
        frames[subject.name].add_prefix(f"{subject.brief}, {rule}: ", axis=0)
        for rule, frames in by_rule.items()
        for subject in subjects
    ]
    return pd.concat(parts)


def ladder_table(frames: Frames, subject: Subject, *, name: str) -> Table:
    """`on_bs` by number of rounds, a pair of columns a ladder (or rule)."""
    columns: dict[tuple[str, str], pd.Series] = {}
    for kind, part in frames.items():
        columns[kind, "%"] = part["value"].map(number)
        columns[kind, INTERVAL] = pd.Series(ends(part), part.index)
    frame = pd.DataFrame(columns).sort_index().fillna(MISSING)
    frame.index = frame.index.map(in_rounds)
    n = int(part["n"].iloc[0])
    caption = f"Accuracy of {subject.shown} on BS: {', '.join(frames)}; n = {n:,}"
    return Table(f"{subject.name}-{name}", frame, caption)


def apart(subjects: Subjects, sets: Sets) -> pd.DataFrame:
    """What each kind of round does by itself on BS: paired differences along its ladder.

    Rows of `tables.compare`: from the ladder's first rung to SCI5, and from SCI5 to its last.
    """
    kinds = [kind for kind in LADDERS if kind != "both"]
    lines = {}
    for subject, kind in product(subjects, kinds):
        rows, outcomes = sets[subject.name]["BS"].to_numpy(), climb(subject, kind)
        for more, fewer in ((5, min(outcomes)), (max(outcomes), 5)):
            name = f"{subject.brief}: {kind}, {more} − {fewer} rounds"
            lines[name] = paired(subject, outcomes[more] - outcomes[fewer], rows)
    return pd.DataFrame.from_dict(lines, orient="index")


def turned(right: Outcomes, sets: pd.DataFrame, subject: Subject) -> Table:
    """Rows that each size turns from right to wrong, and back, where the base has much to lose."""
    columns: dict[tuple[str, str], list[str]] = {}
    sizes = [name for name in right if name != "base"]
    for subset in ELSEWHERE:
        rows = sets[subset].to_numpy()
        changes = [flips(right["base"], right[name], rows) for name in sizes]
        held = int((rows & (right["base"] == 1)).sum())
        head = f"{subset}, {int(rows.sum()):,} rows"
        columns[head, f"lost of {held:,}"] = [f"{change.right_to_wrong:,}" for change in changes]
        columns[head, "won"] = [f"{change.wrong_to_right:,}" for change in changes]
    caption = f"Rows of {subject.shown} that were right and are lost, or were wrong and are won"
    return plain(pd.DataFrame(columns, index=sizes), name=f"{subject.name}-turned", caption=caption)

"""What the paper leaves open: does Self-Critical Inference help, on misses, on hallucinations?

Every method against the base on the same questions: macro F1, recall of present objects (a miss
less is a gain) and of absent ones (a hallucination less is a gain).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sci_book.methods import COMPARED
from sci_book.papers.oric import scores
from sci_book.papers.oric.chapters import answers
from sci_book.papers.oric.chapters.answers import BENCH, Asked
from sci_book.papers.shared import figures
from sci_book.papers.shared.chapters import Subject, levels
from sci_book.papers.shared.effects import Effect, effect_frames
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import Table, number, plain
from sci_book.results.statistics import Interval, sign_flip_test
from sci_core.methods import sci

METHODS = COMPARED
METRICS = {"macro F1": "f1", "present found": "recall_yes", "absent denied": "recall_no"}
ROUNDS = tuple((M, N) for M in range(4) for N in range(4) if M + N)
"""Dummy pictures and rewritten prompts of the replays: those that the records have logits of."""
ALONE = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")


def changes(subjects: Sequence[Subject]) -> dict[str, pd.DataFrame]:
    """By model, every method less the base by metric: `effect_frames`.

    p-values are the sign-flip test's of the answers right of one label; macro F1, which is no mean
    over answers, has none.
    """
    effects = {}
    for subject in subjects:
        asked = answers.of(subject, BENCH)
        effects[subject.name] = [
            Effect(
                f"{method}: {name}", "greater", gain(asked, method, metric),
                np.nan if metric == "f1" else _p(asked, method, metric),
            )
            for method in METHODS
            for name, metric in METRICS.items()
        ]  # fmt: skip
    return effect_frames(effects)


def gain(asked: Asked, method: str, metric: str) -> Interval:
    """A method's metric less the base's, on the same questions."""
    return answers.difference(metric, asked, asked, policies=(method, "base"))


def table(subject: Subject, lines: pd.DataFrame) -> Table:
    """`changes` of a model, with Holm's p-values; the ledger judges, once for all."""
    return levels(
        lines, name=f"changes-{subject.name}", ours=subject.shown, paper=False,
        caption=f"Method less base on the benchmark, in points: {subject.shown}",
    )  # fmt: skip


def turned(subjects: Sequence[Subject]) -> Table:
    """How many answers each method turns: from and to yes, rightly and wrongly."""
    rows = {}
    for subject in subjects:
        asked = answers.of(subject, BENCH)
        base, truth = asked.said(), asked.labels
        for method in METHODS:
            said = asked.said(method)
            moved = (said != base) & (said != "failed") & (base != "failed")
            rows[f"{subject.shown}: {method}"] = {
                f"to {label}, {word}": int((moved & (said == label) & (truth == target)).sum())
                for label, target, word in (
                    ("yes", "yes", "rightly"), ("yes", "no", "wrongly"),
                    ("no", "no", "rightly"), ("no", "yes", "wrongly"),
                )
            } | {"to unknown": int((moved & (said == "unknown")).sum())}  # fmt: skip
    caption = "Answers that a method turns, of all wordings"
    return table_of(rows, name="turned", caption=caption)


def replayed(subject: Subject) -> pd.DataFrame:
    """Both recalls less the base's in points, by dummy pictures M and rewritten prompts N.

    The method is replayed from the recorded logits; `open` counts answers that they do not settle,
    which are left as not given. What these lines show chose nothing and claims nothing.
    """
    asked, lines = answers.of(subject, BENCH), []
    records = subject.records
    base = {name: answers.value(metric, asked).estimate for name, metric in METRICS.items()}
    for M, N in ROUNDS:
        if not set(sci(M, N).rounds) <= set(records.stamp["rounds"]):
            continue
        answer = subject.replay.answers(sci(M, N))["answer"].to_numpy(dtype=object)[asked.rows]
        said = np.where(pd.isna(answer), "failed", answer).astype(object)
        said[~np.isin(said, ["yes", "no"])] = "failed"
        sums = scores.columns(asked.labels, said).sum(axis=1)
        lines.append(
            {
                "M": M, "N": N, "open": int((said == "failed").sum()),
                **{
                    name: 100 * (float(scores.metric(metric)(sums)) - base[name])
                    for name, metric in METRICS.items()
                },
            }
        )  # fmt: skip
    return pd.DataFrame(lines, columns=["M", "N", "open", *METRICS])


def replay_table(subject: Subject, frame: pd.DataFrame) -> Table:
    """`replayed` as a table."""
    by_rounds = frame.set_index("M = " + frame["M"].astype(str) + ", N = " + frame["N"].astype(str))
    return plain(
        by_rounds[[*METRICS, "open"]].rename_axis(index=None), name=f"rounds-{subject.name}",
        caption=f"SCI with M dummy pictures and N rewritten prompts less the base, in points: "
        f"{subject.shown}",
    )  # fmt: skip


def alone(subjects: Sequence[Subject]) -> Table:
    """What each round says by itself: the dummy picture's yes is the prior's."""
    rows, shown = {}, METRICS | {"share of yes": "yes_proportion"}
    for subject in subjects:
        asked = answers.of(subject, BENCH)
        for policy in ALONE:
            if policy not in subject.records.stamp["rounds"]:
                continue
            said = asked.said(policy)
            sums = scores.columns(asked.labels, said).sum(axis=1)
            rows[f"{subject.shown}: {policy}"] = {
                name: 100 * float(scores.metric(metric)(sums)) for name, metric in shown.items()
            } | {"unknown": int((said == "unknown").sum())}
    caption = "Each round alone, in percent; unknown answers are counts"
    return table_of(rows, name="alone", caption=caption)


def priors(subjects: Sequence[Subject]) -> str:
    """What SCI subtracts, the yes of the black picture, and what becomes of the share of yes."""
    sentences = []
    for subject in subjects:
        asked = answers.of(subject, BENCH)
        black, base, moved = (
            100 * answers.value("yes_proportion", asked, policy=policy).estimate
            for policy in ("black", "base", "SCI5")
        )
        sentences.append(
            f"On a black picture {subject.shown} says yes to {number(black, 1)} % of the questions."
            f" SCI subtracts this prior: the share of yes goes from {number(base, 1)} % "
            f"to {number(moved, 1)} % with SCI5."
        )
    return " ".join(sentences)


def draw(subjects: Sequence[Subject], lines: Mapping[str, pd.DataFrame]) -> Figure:
    """Every method's gain on present and on absent objects; a row of panels a model."""
    names = list(METRICS)[1:]
    figure, axes = plt.subplots(
        len(subjects), 2, figsize=(figures.WIDTH, 2.3 * len(subjects)), sharex=True, squeeze=False
    )
    for panels, subject in zip(axes, subjects, strict=True):
        frame = lines[subject.name]
        for ax, name in zip(panels, names, strict=True):
            mine = {method: frame.loc[f"{method}: {name}"] for method in METHODS}
            figures.estimates(
                ax, {method: line["reproduced"] for method, line in mine.items()},
                {method: (line["low"], line["high"]) for method, line in mine.items()},
                ours=subject.shown, xlabel="points" if subject is subjects[-1] else "",
            )  # fmt: skip
            ax.get_legend().remove()
            ax.axvline(0, color=INK, linewidth=0.8)
            ax.set_title(f"{subject.shown}: {name}", fontsize=10)
    return figure


def _p(asked: Asked, method: str, metric: str) -> float:
    """The sign-flip test's p that as many answers are right, of a recall's label."""
    mine = asked.labels == metric.removeprefix("recall_")
    right = [(asked.said(policy) == asked.labels).mean(axis=0) for policy in (method, "base")]
    return sign_flip_test((right[0] - right[1])[mine], asked.images[mine])

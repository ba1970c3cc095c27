"""Why SCI gains or loses on a model: the mix of BS, what made S, which questions turn, which round.

On BS a gain is that on B and that on the rest, S∖B, in the proportion in which BS holds them:

    gain(BS) = w · gain(B) + (1 − w) · gain(S∖B),    w = |B| / |BS|
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sci_book.methods import BASELINES
from sci_book.papers.sci.chapters import components, drbench_tables
from sci_book.papers.sci.chapters.shapes import Subjects, differs, points
from sci_book.papers.shared.chapters import Subject, gain, paper_values
from sci_book.papers.shared.figures import WIDTH, colour, legend_below, nothing
from sci_book.papers.shared.svg import INK
from sci_book.papers.shared.tables import MISSING, Table, interval, number, plain
from sci_book.results.metrics import flips
from sci_book.results.statistics import NO_DATA, Interval, of_sums
from sci_core.methods import METHODS, SCI5, Method

OPPONENTS = ("base", "VCD", "TIE")
PARTS = ("B", "S∖B", "BS", "all")
REWRITES = ("V1", "V2")
WORDLESS = BASELINES
"""Methods that ask no rewording."""
MOST_FAMILIES = 14
_WON, _LOST = "#15803d", "#b91c1c"


def share_of_b(subject: Subject) -> float:
    """|B| / |BS| of the model's test rows; NaN without a row in BS."""
    sets = subject.sets("any", "rows")
    return float(sets["B"].sum() / sets["BS"].sum()) if sets["BS"].any() else np.nan


def paper_share_of_b(label: str | None) -> float | None:
    """|B| / |BS| of the paper's model (Table 1); None for one that it does not have."""
    sizes = paper_values("table01")
    counts = [sizes.get((label, "", subset, "Overall")) for subset in ("B", "BS")]
    return None if None in counts else counts[0] / counts[1]


def gaps(subject: Subject, opponent: str) -> np.ndarray:
    """SCI5 less another method, row by row; NaN for a row with an error."""
    return subject.right(SCI5) - subject.right(METHODS[opponent])


def at_mix(subject: Subject, opponent: str, share: float) -> Interval:
    """SCI5's gain on BS if B were this share of it: the gains on B and S∖B so weighted."""
    sets = subject.sets("any", "rows")
    rows = sets["BS"].to_numpy()
    values, inside = gaps(subject, opponent)[rows], sets["B"].to_numpy(dtype=float)[rows]
    if not 0 < inside.sum() < len(inside):
        return NO_DATA
    columns = np.stack([values * inside, inside, values * (1 - inside), 1 - inside])
    return of_sums(
        columns,
        subject.groups[rows],
        lambda sums: share * sums[0] / sums[1] + (1 - share) * sums[2] / sums[3],
    )


def on(subject: Subject, opponent: str, subset: str) -> Interval:
    """SCI5's gain over another method on a subset of the model's test rows."""
    rows = subject.sets("any", "rows")[subset].to_numpy()
    return subject.difference(gaps(subject, opponent), rows)


def mix_table(subject: Subject) -> Table:
    """SCI5's gain on B, on S∖B and on BS, on BS at the paper's mix, and the paper's own there."""
    share, lines = paper_share_of_b(subject.label), {}
    for opponent in OPPONENTS:
        paper = drbench_tables.paper_gap(subject, "SCI5", opponent, "BS")
        lines[f"SCI5 − {opponent}"] = {
            **{part: points(on(subject, opponent, part)) for part in PARTS[:3]},
            "BS, paper’s mix": points(at_mix(subject, opponent, share)) if share else MISSING,
            "paper, BS": number(paper),
        }
    mine, theirs = number(100 * share_of_b(subject)), number(100 * share) if share else MISSING
    caption = f"{subject.shown}: gains in points. B is {mine} % of BS here, {theirs} % in the paper"
    return Table(f"{subject.name}-mix", pd.DataFrame(lines), caption)


def draw_mix(subjects: Subjects) -> Figure:
    """A panel a model: SCI5's gain on BS as B becomes more of it, ours and the paper's marked."""
    figure, panels = plt.subplots(
        1, len(subjects), figsize=(WIDTH, 3.2), squeeze=False, sharey=True
    )
    for ax, subject in zip(panels[0], subjects, strict=True):
        _draw_mix(ax, subject)
        ax.set_title(subject.shown)
        ax.set_xlabel("B, % of BS")
    panels[0, 0].set_ylabel("SCI5’s gain on BS, points")
    legend_below(figure, ncols=4)
    return figure


def _draw_mix(ax: Axes, subject: Subject) -> None:
    mine, theirs = share_of_b(subject), paper_share_of_b(subject.label)
    if not 0 < mine < 1:
        nothing(ax, "There is no row in B, or none in S alone.")
        return
    shares = np.linspace(0, 1, 11)
    for opponent in OPPONENTS[:2]:
        shade, paper = colour(opponent), drbench_tables.paper_gap(subject, "SCI5", opponent, "BS")
        gains = [at_mix(subject, opponent, share) for share in shares]
        middle, low, high = (100 * np.array(ends) for ends in list(zip(*gains, strict=True))[:3])
        ax.plot(100 * shares, middle, color=shade, label=f"over {opponent}")
        ax.fill_between(100 * shares, low, high, color=shade, alpha=0.15, linewidth=0)
        ax.plot(100 * mine, 100 * on(subject, opponent, "BS").estimate, "o", color=shade)
        if theirs and not np.isnan(paper):
            ax.plot(100 * theirs, paper, "D", mfc="white", mec=shade, markersize=7,
                    label=f"paper, over {opponent}")  # fmt: skip
    ax.axhline(0, color=INK, linewidth=0.8)


def flipped(subject: Subject) -> pd.DataFrame:
    """S by the rewordings that change the base's answer: rows, and who is right on them, percent.

    One line a combination of V1 and V2; columns `n`, `share` (of S), and the base's, each
    rewording's and SCI5's accuracy.
    """
    sets, records = subject.sets("any", "rows"), subject.records
    one, two = (differs(records.parsed("original"), records.parsed(name)) for name in REWRITES)
    right = {name: records.correct(name) for name in ("base", *REWRITES)}
    right["SCI5"] = subject.right(SCI5) == 1
    inside, lines = sets["S"].to_numpy(), {}
    for label, moved in {"V1 alone": one & ~two, "V2 alone": two & ~one, "both": one & two}.items():
        rows = moved & inside
        lines[label] = {
            "n": int(rows.sum()),
            "share": 100 * rows.sum() / max(inside.sum(), 1),
            **{n: 100 * hit[rows].mean() if rows.any() else np.nan for n, hit in right.items()},
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def flipped_table(subject: Subject) -> Table:
    """`flipped` as a table."""
    heads = {name: f"{name} right, %" for name in ("base", *REWRITES, "SCI5")}
    frame = flipped(subject).rename(columns={"share": "% of S", **heads})
    frame["n"] = frame["n"].map("{:,}".format)
    caption = f"{subject.shown}: S by the rewording that changes the base’s answer"
    return plain(frame, name=f"{subject.name}-flipped", caption=caption)


def families(subject: Subject) -> pd.DataFrame:
    """Test rows that SCI5 turns from wrong to right and back, by the data's own category.

    Columns `n`, `won`, `lost`, most turned first, `MOST_FAMILIES` at most; rows without a category
    count with their data set.
    """
    frame, everything = subject.records.frame, subject.sets("any", "rows")["all"].to_numpy()
    named = frame["category"].mask(frame["category"] == "", frame["dataset"]).to_numpy(dtype=object)
    base, ours, lines = subject.right(METHODS["base"]), subject.right(SCI5), {}
    for name in dict.fromkeys(named[everything]):
        lost, won, n = flips(base, ours, everything & (named == name))
        lines[name] = {"n": n, "won": won, "lost": lost}
    table = pd.DataFrame.from_dict(lines, orient="index", columns=["n", "won", "lost"])
    turned = (table["won"] + table["lost"]).sort_values(ascending=False, kind="stable")
    return table.loc[turned.index[:MOST_FAMILIES]]


def draw_families(subjects: Subjects) -> Figure:
    """A panel a model: by family, % of rows that SCI5 wins (right) and loses (left)."""
    figure, panels = plt.subplots(
        1, len(subjects), figsize=(WIDTH, 0.8 + 0.22 * MOST_FAMILIES), squeeze=False, sharex=True
    )
    for ax, subject in zip(panels[0], subjects, strict=True):
        table = families(subject)
        share = 100 * table[["won", "lost"]].div(table["n"].clip(lower=1), axis=0)
        ax.barh(share.index, share["won"], color=_WON, label="from wrong to right")
        ax.barh(share.index, -share["lost"], color=_LOST, label="from right to wrong")
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.invert_yaxis()
        ax.tick_params(axis="y", labelsize=8)
        ax.set_title(subject.shown)
        ax.set_xlabel("% of a family’s test rows")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def without(subject: Subject) -> dict[str, dict[str, Interval]]:
    """By round of SCI5 and part, SCI5 less SCI with that round taken out."""
    sets, worth = subject.sets("any", "rows"), {}
    for name in SCI5.rounds[1:]:
        rest = components.combination([other for other in SCI5.rounds[1:] if other != name])
        gap = subject.right(SCI5) - subject.right(rest)
        worth[name] = {part: subject.difference(gap, sets[part].to_numpy()) for part in PARTS}
    return worth


def without_table(subject: Subject) -> Table:
    """What each round of SCI5 is worth beside the three others, in points."""
    frame = pd.DataFrame.from_dict(without(subject), orient="index")
    caption = f"{subject.shown}: SCI5 less SCI5 without a round, in points"
    return Table(f"{subject.name}-without", frame.map(points), caption)


def answer(subject: Subject) -> str:
    """What SCI5 gains on B, on the rest and on BS, and whether that is as claimed, in Markdown."""
    share = share_of_b(subject)
    if not 0 < share < 1:
        return f"**{subject.shown}.** There is no row in B, or none in S alone: nothing to explain."
    found = {part: on(subject, "base", part) for part in PARTS[:3]}
    said = {part: _gain(change) for part, change in found.items()}
    kept = found["B"].low > 0 and found["S∖B"].high < 0
    return (
        f"**{subject.shown}.** Against the base SCI5 {said['B']} on B, which is "
        f"{number(100 * share, 1)} % of BS, and {said['S∖B']} on the rest, S∖B: "
        f"{'as claimed' if kept else 'not both as claimed'}. On all of BS it {said['BS']}. "
        f"{_on_the_rest(subject)}"
    )


def _on_the_rest(subject: Subject) -> str:
    """What becomes of the base's answers on S∖B, in a sentence."""
    rows = _rest(subject)
    base, sci5, vcd = (
        subject.right(method)[rows] == 1 for method in ("base", SCI5, METHODS["VCD"])
    )
    return (
        f"On S∖B the base is right on {number(100 * base.mean(), 1)} % of {len(base):,} rows: SCI5 "
        f"spoils {(base & ~sci5).sum():,} right answers and mends {(sci5 & ~base).sum():,} wrong "
        f"ones. VCD, which asks no rewording, spoils {(base & ~vcd).sum():,}."
    )


def _rest(subject: Subject) -> np.ndarray:
    """The test rows of S∖B that were read without an error, a mask."""
    return subject.sets("any", "rows")["S∖B"].to_numpy() & subject.records.ok


DUMMIES = {"SCI5’s dummies alone, τ1 = 1": 1.0, "SCI5’s dummies alone, τ1 = 2": SCI5.tau1}
"""SCI5 without a rewording, by τ1: the one that Table 5 gives such a combination, and SCI5's."""


def spoilt(subject: Subject) -> pd.DataFrame:
    """Rows of S∖B on which a method spoils the base's right answer, SCI5 or one without rewordings.

    Columns `mended` (wrong before, right now), `spoilt`, `reworded` (spoilt, and now what V1 or V2
    says), `share` (reworded, % of spoilt), `of SCI5’s` (spoilt that SCI5 spoils too) and `of its
    reworded` (of these, SCI5's that are what V1 or V2 says). A method that was not decoded has no
    answer to compare, so it has NaN in `reworded` and `share`.
    """
    records, rows, lines = subject.records, _rest(subject), {}
    base = records.correct("original")
    others = [name for name in WORDLESS if records.policy_of(METHODS[name])]
    methods = {name: METHODS[name] for name in ("SCI5", *others)}
    methods |= {name: replace(SCI5, name=name, textual=(), tau1=tau1)
                for name, tau1 in DUMMIES.items()}  # fmt: skip
    lost = {name: rows & base & (subject.right(method) != 1) for name, method in methods.items()}
    taken = {name: gone & _as_reworded(subject, methods[name]) for name, gone in lost.items()
             if records.policy_of(methods[name])}  # fmt: skip
    for name, gone in lost.items():
        n, reworded = int(gone.sum()), taken[name].sum() if name in taken else np.nan
        lines[name] = {
            "mended": int((rows & ~base & (subject.right(methods[name]) == 1)).sum()),
            "spoilt": n,
            "reworded": reworded,
            "share": 100 * reworded / n if n else np.nan,
            "of SCI5’s": int((gone & lost["SCI5"]).sum()),
            "of its reworded": int((gone & taken["SCI5"]).sum()),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def _as_reworded(subject: Subject, method: Method) -> np.ndarray:
    """Where a method says what a rewording alone says; an unread answer says nothing."""
    said = subject.answers(method)["answer"].to_numpy(dtype=object)
    same = np.any([said == subject.records.parsed(name) for name in REWRITES], axis=0)
    return same & ~pd.isna(said)


def spoilt_table(subject: Subject) -> Table:
    """`spoilt` as a table."""
    frame = spoilt(subject)
    counts = frame.drop(columns="share").map(lambda n: MISSING if pd.isna(n) else f"{int(n):,}")
    columns = {
        "mended": counts["mended"],
        "spoilt": counts["spoilt"],
        "now as V1 or V2": counts["reworded"],
        "% of spoilt": [number(share, 1) for share in frame["share"]],
        "SCI5 spoils too": counts["of SCI5’s"],
        "and then says V1’s or V2’s": counts["of its reworded"],
    }
    caption = f"{subject.shown}: right answers of the base on S∖B that a method spoils, rows"
    return Table(f"{subject.name}-spoilt", pd.DataFrame(columns), caption)


def spoilt_sentence(subject: Subject) -> str:
    """Whether the spoilt answers that a rewording gives too are its doing, in Markdown."""
    table = spoilt(subject)
    others = table.loc[table.index.isin(WORDLESS), "share"].dropna()
    n, reworded = (int(table.at["SCI5", name]) for name in ("spoilt", "reworded"))
    if not n or others.empty:
        return ""
    shares = list(dict.fromkeys(number(share, 1) for share in (others.min(), others.max())))
    alone = [f"{table.at[name, 'of its reworded']:,}" for name in DUMMIES]
    return (
        f"**{subject.shown}.** Of the {n:,} right answers that SCI5 spoils on S∖B, {reworded:,} "
        f"({number(table.at['SCI5', 'share'], 1)} %) are now what V1 or V2 says. That does not "
        f"show that a wording spoilt them: of those that {_named(list(others.index))} spoil "
        f"there, {' to '.join(shares)} % are what V1 or V2 says too, and these methods read no "
        f"rewording. SCI5’s two dummies alone already spoil {alone[0]} (τ1 = 1) or {alone[1]} "
        f"(τ1 = 2) of the {reworded:,}."
    )


def _named(names: Sequence[str]) -> str:
    """ "TIE, VCD and M3ID"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def mix_sentence(subject: Subject) -> str:
    """SCI5's gains at the paper's mix, and which printed gain lies in the interval, in Markdown."""
    share = paper_share_of_b(subject.label)
    if not share or not 0 < share_of_b(subject) < 1:
        return ""
    gains = []
    for opponent in OPPONENTS[:2]:
        mixed = at_mix(subject, opponent, share).times(100)
        paper = drbench_tables.paper_gap(subject, "SCI5", opponent, "BS")
        inside = mixed.low <= paper <= mixed.high
        name = "the base" if opponent == "base" else opponent
        gains.append(
            f"{number(mixed.estimate)} points {interval(mixed.low, mixed.high)} over {name}; "
            f"the paper's {number(paper)} lies {'inside' if inside else 'outside'}, so the mix "
            f"{'can explain' if inside else 'does not explain'} how the two differ"
        )
    return (
        f"**{subject.shown}.** With the paper's {number(100 * share, 1)} % of B, SCI5 would gain "
        f"{'. It would gain '.join(gains)}."
    )


def flipped_sentence(subject: Subject) -> str:
    """The largest part of S and who is right on it, in Markdown; nothing of an empty S."""
    table = flipped(subject)
    most = table["share"].idxmax()
    if not table.loc[most, "n"]:
        return ""
    of_s, base, sci5 = (number(table.loc[most, name], 1) for name in ("share", "base", "SCI5"))
    return (
        f"**{subject.shown}.** On {of_s} % of S the base’s answer changes under {most}; on these "
        f"rows the base is right on {base} %, SCI5 on {sci5} %."
    )


def without_sentence(subject: Subject) -> str:
    """Which round adds most and which least on BS, or that none differs, in Markdown.

    Nothing of an empty BS.
    """
    if np.isnan(share_of_b(subject)):
        return ""
    worth = {name: parts["BS"] for name, parts in without(subject).items()}
    most, least = (pick(worth, key=lambda name: worth[name].estimate) for pick in (max, min))
    if worth[most].estimate == worth[least].estimate:
        return (
            f"**{subject.shown}.** On BS, in points, every round adds the same to the other "
            f"rounds, {points(worth[most])}."
        )
    return (
        f"**{subject.shown}.** On BS, in points, {most} adds most to the other rounds, "
        f"{points(worth[most])}, and {least} adds least, {points(worth[least])}."
    )


def _gain(change: Interval) -> str:
    low, high = 100 * change.low, 100 * change.high
    return f"{gain(100 * change.estimate)} {interval(low, high)}"

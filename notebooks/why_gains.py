# %% [markdown]
# # Why does SCI gain or lose?
#
# **Claim.** On BS, SCI5 gains over the base on the questions of B and loses on the others, S∖B, so
# that the share of B decides whether it gains at all.
#
# A gain on BS mixes two. On B the base is wrong by definition, so a changed answer can only help.
# On S∖B (sensitive, not biased) the base may be right, and then a changed answer hurts. How much of
# BS is B may differ from model to model, and so may what made a row sensitive: the rewording V1 (in
# the prompt's language) or V2 (in the other language).

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"  # which rows are test: the paper's "rows", or "groups", which splits none
quantifier: str = "any"  # of the counterfactual answers that make a row biased or sensitive
beta: float = None  # a token has to be β times as likely as the best; None: each method's own β
tau2: float = None  # temperature of SCI's visual half, whose weight falls with it; None: its own

# %% tags=["hide-input"]
from dataclasses import replace
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from sci_book.methods import BASELINES, betas, with_constants
from sci_book.papers.sci.chapters import drbench_tables
from sci_book.papers.sci.chapters.shapes import differs
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.figures import INK, WIDTH, colour, legend_below
from sci_book.results.metrics import flips
from sci_book.results.statistics import measure
from sci_core.methods import METHODS, SCI5

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## The mix
#
# With w = |B| / |BS|: gain(BS) = w · gain(B) + (1 − w) · gain(S∖B). So the two gains say what the
# gain on BS would be at any w, also at that of the paper's models (its Table 1). It holds in each
# training; of means over trainings, each by itself, it need not. Test rows; intervals over question
# groups, and over trainings too where four or more have the answers.

# %%
OPPONENTS = ("base", "VCD", "TIE")
OURS = with_constants(SCI5, beta=beta, tau2=tau2)
others = {name: with_constants(METHODS[name], beta=beta) for name in OPPONENTS}
sizes = chapters.paper_values("table01")


def over(opponent):
    """Of a training, SCI5 less another method, row by row."""
    return lambda training: training.right(OURS) - training.right(others[opponent])


def rows_in(subset):
    return lambda training: training.sets(quantifier, split_by)[subset].to_numpy()


def paper_gain(model, opponent, part="BS"):
    return drbench_tables.paper_gap(model, "SCI5", opponent, part)


def paper_share(model):
    of_b, of_bs = (sizes.get((model.label, "", name, "Overall"), np.nan) for name in ("B", "BS"))
    return of_b / of_bs


# %%
def at_mix(model, opponent, share, part):
    """SCI5's gain on BS if B were this share of it: the gains on B and S∖B so weighted."""

    def sums(training):
        gap, in_b = over(opponent)(training), 1.0 * rows_in("B")(training)
        rows = rows_in("BS")(training) & np.isfinite(gap)
        rows &= all(rows_in(one)(training).any() for one in ("B", "S∖B"))  # none if one is empty
        columns = np.stack([gap * in_b, in_b, gap * (1 - in_b), 1 - in_b])
        return columns[:, rows], training.groups[rows]

    def mixed(each):
        return share * each[0] / each[1] + (1 - share) * each[2] / each[3]

    keys = {"opponent": opponent, "part": part, "share": share}
    interval = partial(measure, statistic=mixed, span=(-1.0, 1.0))
    return frame.score(model, sums, interval, paper=paper_gain(model, opponent), **keys)


def gains():
    """SCI5 less each opponent on B, S∖B and BS, and on BS with the paper's share of B."""
    for model, opponent in product(subjects, OPPONENTS):
        for part in ("B", "S∖B", "BS"):
            keys = {"opponent": opponent, "part": part}
            keys["paper"] = paper_gain(model, opponent, part)
            yield frame.line(model, over(opponent), rows_in(part), **keys)
        if not np.isnan(share := paper_share(model)):
            yield at_mix(model, opponent, share, "BS, paper’s mix")


def shares():
    """How much of BS is B, of the rows that no answer is missing of."""
    for model in subjects:
        yield frame.line(model, lambda training: 1.0 * rows_in("B")(training), rows_in("BS"),
                         span=(0.0, 1.0), paper=100 * paper_share(model))  # fmt: skip


gained, of_b = frame.measured(gains()), frame.measured(shares())
by_part = gained.set_index(["model", "opponent", "part"])


# %% tags=["hide-input", "remove-output"]
def change(line):
    ends = tables.interval(line["low"], line["high"])
    return f"{chapters.gain(line['estimate'])} {ends}"


answers = []
for model, share in zip(subjects, of_b["estimate"], strict=True):
    if not 0 < share < 100:
        text = "There is no row in B, or none in S alone: nothing to explain."
    else:
        b, rest, both = (by_part.loc[model.shown, "base", part] for part in ("B", "S∖B", "BS"))
        word = "as claimed" if b["low"] > 0 and rest["high"] < 0 else "not both as claimed"
        text = (
            f"Against the base SCI5 {change(b)} on B, which is {tables.number(share)} % of BS, and "
            f"{change(rest)} on the rest, S∖B: {word}. On all of BS it {change(both)}."
        )
    answers.append(f"**{model.shown}.** {text}")
at_head.write("\n\n".join(answers))

# %%
figure, axes = plt.subplots(1, len(subjects), figsize=(WIDTH, 3.2), squeeze=False, sharey=True)
for ax, model, (_, of_bs) in zip(axes[0], subjects, of_b.iterrows(), strict=True):
    share = of_bs["estimate"]
    ax.set(title=model.shown, xlabel="B, % of BS")
    if not 0 < share < 100:
        figures.nothing(ax, "There is no row in B, or none in S alone.")
        continue
    for name in OPPONENTS[:2]:
        curve = frame.measured(at_mix(model, name, x, "") for x in np.linspace(0, 1, 11))
        x, shade = 100 * curve["share"], colour(name)
        ax.plot(x, curve["estimate"], color=shade, label=f"over {name}")
        ax.fill_between(x, curve["low"], curve["high"], color=shade, alpha=0.15, linewidth=0)
        here = by_part.loc[model.shown, name, "BS"]
        ax.plot(share, here["estimate"], "o", color=shade)
        grey = "each training" if here["trainings"] > 1 else "other trainings"
        for other in zip(of_bs["others"], here["others"], strict=False):
            ax.plot(*other, "o", color=frame.OTHER, ms=4, label=grey)
        if not np.isnan(paper := paper_gain(model, name)):
            ax.plot(100 * paper_share(model), paper, "D", mfc="white", mec=shade, markersize=7,
                    label=f"paper, over {name}")  # fmt: skip
    ax.axhline(0, color=INK, linewidth=0.8)
axes[0, 0].set_ylabel("SCI5’s gain on BS, points")
legend_below(figure, ncols=3)
figures.show(
    figure,
    "SCI5’s gain on BS as the share of B in BS goes from none to all; the dot is the mix as "
    "measured, the diamond the paper’s; grey: single trainings, each at its own mix.",
    alt="A panel a model: two lines with bands, the gain over base and over VCD in points "
    "against B as a percentage of BS.",
)

# %% [markdown]
# Dots: as it is here. Diamonds: the paper's model of the same family {cite:p}`tang2026sci`, at its
# own share. Where a diamond lies in its band, the mix of BS is enough to explain how the paper's
# gain differs from ours; elsewhere it is not. The table has the same: in its last line of a model,
# our gain at the paper's share of B stands beside the paper's gain.

# %%
heads = [f"{at['model']} {tables.number(at['estimate'])} % (paper {tables.number(at['paper'])} %)"
         for at in of_b.dropna(subset="estimate").to_dict("records")]  # fmt: skip
frame.table(
    gained,
    rows=("model", "part"),
    columns=("opponent",),
    name="mix",
    caption=f"SCI5’s gains in points; {betas([OURS, *others.values()], beta)}. B is of BS: "
    f"{', '.join(heads) or 'nothing'}",
)

# %% [markdown]
# ## What made S
#
# A row is in S if V1 or V2 changes the base's answer. These lines hold the part of S that lies in B
# too: there the base is always wrong and SCI5 can only gain, so SCI5 can be level with the base on
# S and yet lose on S∖B.

# %%
MOVED = {"V1 alone": (True, False), "V2 alone": (False, True), "both": (True, True)}


def moved_by(label):
    """Of a training, the rows of S on whose base answer these rewordings alone differ."""

    def rows(training):
        said = [training.answers(name)["answer"] for name in ("base", "V1", "V2")]
        one, two = (differs(said[0], other) for other in said[1:])
        return rows_in("S")(training) & (one == MOVED[label][0]) & (two == MOVED[label][1])

    return rows


def of_s():
    """By what changes the base's answer: how much of S, and who is right there."""
    for model, label in product(subjects, MOVED):

        def moved(training, label=label):
            return 1.0 * moved_by(label)(training)

        keys = {"label": label, "span": (0.0, 1.0)}
        yield frame.line(model, moved, rows_in("S"), what="% of S", **keys)
        for name, asked in {"base": "base", "V1": "V1", "V2": "V2", "SCI5": OURS}.items():
            yield frame.line(model, lambda training, asked=asked: training.right(asked),
                             moved_by(label), what=f"{name} right, %", **keys)  # fmt: skip


made_s = frame.measured(of_s()).set_index(["model", "label", "what"])
levels = made_s["estimate"].unstack(sort=False)
levels.insert(0, "n", made_s.xs("base right, %", level="what")["n"].map("{:,.0f}".format))
levels.index = levels.index.map(": ".join)
caption = "S by the rewording that changes the base’s answer"
tables.plain(levels, name="made-s", caption=caption)

# %% [markdown]
# ## Who spoils S∖B
#
# S∖B is made of rows on which V1 or V2 differs from the base. So a method that drops the base's
# right answer there may land on what V1 or V2 says, whether it has read them or not. Methods that
# read no rewording say how often: where their share is not below SCI5's, SCI5's share does not show
# that a wording spoilt the answer. The last two lines are SCI5 without its rewordings, once at the
# τ1 that Table 5 gives such a combination, once at SCI5's own. They were not decoded, so that
# what they say beyond the first token is not compared.

# %%
REWORDINGS = ("V1", "V2")


spoiling = {"SCI5": OURS}
spoiling |= {name: with_constants(METHODS[name], beta=beta) for name in BASELINES}
spoiling |= {f"SCI5’s dummies alone, τ1 = {tau1:g}": replace(OURS, textual=(), tau1=tau1)
             for tau1 in (1.0, OURS.tau1)}  # fmt: skip


def as_reworded(model, method):
    """Where a method says what a rewording alone says; an unread answer says nothing."""
    said = model.answers(method)["answer"]
    reworded = (model.answers(name)["answer"] for name in REWORDINGS)
    return ~np.all([differs(said, other) for other in reworded], axis=0)


# %%
spoilt = {}
for model in subjects:
    rows = rows_in("S∖B")(model) & model.records.ok
    base = model.right("base") == 1
    decoded = {name for name, method in spoiling.items() if model.records.policy_of(method)}
    lost = {name: rows & base & (model.right(method) != 1) for name, method in spoiling.items()
            if model.holds(method)}  # fmt: skip
    taken = {name: lost[name] & as_reworded(model, spoiling[name]) for name in decoded}
    by_sci5 = taken.get("SCI5", rows & False)
    for name, gone in lost.items():
        now = int(taken[name].sum()) if name in decoded else None
        share = 100 * now / gone.sum() if now is not None and gone.any() else None
        spoilt[f"{model.shown}: {name}"] = {
            "mended": f"{(rows & ~base & (model.right(spoiling[name]) == 1)).sum():,}",
            "spoilt": f"{gone.sum():,}",
            "now as V1 or V2": tables.number(now, 0),
            "% of spoilt": tables.number(share, 1),
            "SCI5 spoils too": f"{(gone & lost.get('SCI5', False)).sum():,}",
            "and then says V1’s or V2’s": f"{(gone & by_sci5).sum():,}",
        }
    right = f"{tables.number(100 * base[rows].mean(), 1)} %" if rows.any() else "none"
    display(Markdown(f"{model.shown}: on S∖B the base is right on {right} of {rows.sum():,} rows."))
caption = "Answers on S∖B that a method spoils or mends, rows of the shipped training"
tables.plain(pd.DataFrame.from_dict(spoilt, orient="index"), name="spoilt", caption=caption)

# %% [markdown]
# ## Which questions turn
#
# All test rows by the data's own categories, in and outside BS; those of which most rows turn
# first, fourteen at most.

# %%
figure, axes = plt.subplots(1, len(subjects), figsize=(WIDTH, 3.9), squeeze=False, sharex=True)
for ax, model in zip(axes[0], subjects, strict=True):
    ax.set(title=model.shown, xlabel="% of a family’s test rows")
    if not model.holds(OURS):
        figures.nothing(ax, "SCI5 is not recorded.")
        continue
    named, rows = model.records.frame, rows_in("all")(model)
    named = named["category"].mask(named["category"] == "", named["dataset"]).to_numpy()
    turned = {name: flips(model.right("base"), model.right(OURS), rows & (named == name))
              for name in dict.fromkeys(named[rows])}  # fmt: skip
    most = sorted(turned, key=lambda name: -sum(turned[name][:2]))[:14]
    lost, won = (np.array([100 * turned[name][way] / turned[name].n for name in most])
                 for way in (0, 1))  # fmt: skip
    ax.barh(most, won, color="#15803d", label="from wrong to right")
    ax.barh(most, -lost, color="#b91c1c", label="from right to wrong")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.invert_yaxis()
    ax.tick_params(axis="y", labelsize=8)
legend_below(figure, axes[0, :1], ncols=2)
figures.show(
    figure,
    "The rows that SCI5 turns from wrong to right and from right to wrong, by family of question, "
    "in the shipped training.",
    alt="A panel a model, a line a family of questions: a green bar to the right for rows that "
    "became right, a red bar to the left for rows that became wrong, in percent of the "
    "family’s test rows.",
)

# %% [markdown]
# ## Which round
#
# Each round taken out in turn, the three others kept; τ1 follows the number of rewordings
# (τ1 = 1 + N/2). {ref}`table05_components` averages over all combinations instead.


# %%
def without(name):
    """SCI5 without one of its rounds."""
    textual, visual = (tuple(one for one in side if one != name)
                       for side in (OURS.textual, OURS.visual))  # fmt: skip
    return replace(OURS, textual=textual, visual=visual, tau1=1 + 0.5 * len(textual))


def worth():
    """SCI5 less SCI5 without a round, a line a model, round and part."""
    known = [model for model in subjects if model.holds(without("V1"))]
    for model, name, part in product(known, OURS.rounds[1:], ("B", "S∖B", "BS", "all")):
        yield frame.line(
            model,
            lambda training, name=name: training.right(OURS) - training.right(without(name)),
            rows_in(part),
            round=name,
            part=part,
        )


frame.table(
    frame.measured(worth()),
    rows=("model", "round"),
    columns=("part",),
    name="without",
    caption="SCI5 less SCI5 without a round, in points",
    show=("here",),
)

# %% [markdown]
# ## Reading and deviations
#
# - S∖B was selected on the base's errors, since the rows where the base is wrong as without the
#   picture have been taken out: that favours the base ({doc}`../book/drbench`).
# - The mix explains a difference in one number, not a cause: a model whose B is small may have a
#   small B for the reason that makes SCI useless to it. {ref}`dial` turns two causes by hand.
# - What is counted in rows, and the families of questions, are of the shipped training alone.
# - {ref}`conditions` says whether a claim about SCI can be judged on a model at all.
# - Whether such gains come of something else, a shift to “no” or more compute: {doc}`objections`.
#
# ## If you change …
#
# - `beta=0.8`, the constraint that the paper uses on the data sets as they are: fewer answers can
#   change, so B may gain less and S∖B lose less.
# - `quantifier=all`: a row is in B or S if *every* dummy or rewording makes it so, and the share of
#   B in BS is another.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # Do the plausibility constraint and the temperatures decide? Tables 6 and 8
#
# **Claims.** Without its plausibility constraint SCI5 is right less often, on all validation rows
# and on B, S and BS, for each model shown. And tuning is not worth it: the point of a grid of
# constants that is best on the validation rows of BS beats the paper's preset on its test rows by
# less than one point.
#
# Self-Critical Inference {cite:p}`tang2026sci` has three constants. The constraint keeps a token
# only if TC/τ1, the textual half, finds it at least β times as likely as the best one; τ1 and τ2
# weigh TC and VC, the visual half. The paper chose τ1 = 2, τ2 = 0.2 and β = 0.3 on the validation
# rows of one model and applied them to the other unchanged. Table 6 switches the constraint off,
# Table 8 prints eight pairs of temperatures. Like both, this page looks at validation rows, and at
# test rows only where it says so.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"  # which rows are validation: the paper's "rows", or "groups", splitting none
quantifier: str = "any"  # of the counterfactual answers that make a row biased or sensitive
beta: float = None  # a token has to be β times as likely as the best; None: SCI5's own β
tau1: float = None  # of its textual half: the larger, the looser the constraint; None: its own
tau2: float = None  # of its visual half: the smaller, the more that weighs; None: its own

# %% tags=["hide-input"]
from dataclasses import replace
from functools import cache
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from IPython.display import Markdown, display

from sci_book.methods import with_constants
from sci_book.papers.sci.chapters import temperature_grid
from sci_book.papers.sci.chapters.shapes import less
from sci_book.papers.shared import chapters, figures, frame, stamp, sweeps, tables
from sci_book.papers.shared.figures import LOSS_TO_GAIN, colour, legend_below
from sci_book.pipeline import findings as ledger
from sci_book.resources import PAPER
from sci_book.results.controls import NULLS
from sci_book.results.statistics import difference, share
from sci_core.methods import BASE, SCI3, SCI5, SCI7, VCD
from sci_core.scoring import survivors

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
of_beta = ledger.of_page("table06_plausibility", subjects)
of_tau = ledger.of_page("table08_temperature", subjects)
Markdown(ledger.conclusion(of_beta))

# %% tags=["hide-input"]
Markdown(ledger.conclusion(of_tau))

# %% [markdown]
# ## What the constants are worth
#
# On the same validation rows, the preset's answers less those with one thing changed: a row counts
# 1 if the preset alone is right, −1 if the other alone is. The mean is in points; its interval is
# over question groups. Change β, τ1 or τ2 above (`sci notebook beta_and_tau --set beta=0.5 --out
# runs`), and another setting is compared with the same rows of the tables; the verdicts above stay
# those of the paper's constants. Further trainings were not asked with these variants: what follows
# is of the shipped one, the scoreboard's sentences aside.

# %%
SUBSETS = ("all", "B", "S", "BS")
FREE = "no constraint"
setting = with_constants(SCI5, beta=beta, tau1=tau1, tau2=tau2)


def pair(one, other):
    return f"τ1 = {one:g}, τ2 = {other:g}"


six = pd.read_csv(PAPER / "table06.csv", keep_default_na=False)
eight = pd.read_csv(PAPER / "table08.csv")
pairs = eight[["tau1", "tau2"]].dropna().drop_duplicates().itertuples(index=False, name=None)
pairs = {pair(*each): replace(setting, tau1=each[0], tau2=each[1]) for each in pairs}
others = {FREE: replace(setting, beta=0.0)} | pairs
six["row"] = six["constraint"].map({"": "base", "no": FREE, "yes": "SCI5"})
eight["row"] = ["base" if one != one else pair(one, two)
                for one, two in zip(eight["tau1"], eight["tau2"], strict=True)]  # fmt: skip
keys = ["model", "row", "subset", "question_type"]
printed = pd.concat([six, eight]).drop_duplicates(keys).set_index(keys)["value"].astype(float)

# %%
tuned = [sweeps.part(subject, quantifier, split_by, "validation") for subject in subjects]
changed = [(FREE, subset) for subset in SUBSETS]
changed += [(name, "BS") for name, method in pairs.items() if method != setting]


outcome = cache(sweeps.outcome)


def rows_of(training, subset, method):
    """The rows in a subset; none where the records leave too many of a method's answers open."""
    rows = training.sets(quantifier, split_by, "validation")[subset].to_numpy()
    return rows & outcome(training, method).enough(rows)


def worth():
    """The preset less the same with one thing changed, a line a model and change."""
    for model, (name, subset) in product(tuned, changed):
        theirs = ((model.label, one, subset, "Overall") for one in ("SCI5", name))
        yield frame.line(
            model,
            lambda training, name=name: training.right(setting) - training.right(others[name]),
            lambda training, at=(subset, others[name]): rows_of(training, *at),
            rule="SCI5",
            change=f"{name}, {subset}",
            paper=less(printed, *theirs),
        )


lines = frame.measured(worth())


# %%
figures.show(
    frame.dots(
        lines, ("rule", "model"), "change", xlabel="the preset less the other, points",
        coloured="rule",
    ),
    "SCI5 with its constraint and its temperatures less the same with others, on validation rows; "
    "open: the paper. To the right of the line the preset is right more often.",
    alt="A panel a model, a line for no constraint on each subset and for each other pair of "
    "temperatures on BS: dots with intervals in points, and diamonds for the paper.",
)  # fmt: skip

# %%
frame.table(
    lines,
    rows=("change",),
    columns=("model",),
    name="worth",
    caption=f"The preset less the other, points, {tables.INTERVAL}s",
    show=("paper", "here", "n"),
)

# %% [markdown]
# ## Records
#
# A method that was decoded has its decoded answers; the validation rows have records of their own
# with the rows of both tables. All other answers follow from recorded logits. A record keeps the
# tokens that some round ranks near its top. As the constraint loosens, the winner may be another
# token, or open an answer that no decoded method opened. Such a row is *unsettled*: its answer is
# read off the first token, and where more than one row in twenty is unsettled no value is shown,
# or only what may be right at most.

# %% tags=["hide-input"]
chapters.rows_table(subjects, quantifier, split_by)

# %% [markdown]
# (table06_plausibility)=
# ## Table 6: the plausibility constraint
#
# Below the paper's rows stand two trivial answers: the base's second choice (*runner-up*), and
# another option by lot ({doc}`table02_drbench`).

# %%
levels = {}
for model in tuned:
    results = {"base": BASE, FREE: others[FREE], "SCI5": setting}
    results = {name: sweeps.outcome(model, method) for name, method in results.items()}
    nulls = {name: model.right(name) for name in NULLS}
    for subset, name in product(SUBSETS, (*results, *nulls)):
        rows, bound = model.sets(quantifier, split_by, "validation")[subset].to_numpy(), ""
        if name in results:
            bound = "" if results[name].enough(rows) else sweeps.AT_MOST
            right = results[name].read_or_most(rows)
        else:
            right, rows = nulls[name], rows & np.isfinite(nulls[name])
        level = model.share(right, rows)
        known = printed.get((model.label, name, subset, "Overall"))
        here = tables.shown(level) + bound if bound else tables.shown(level)
        cells = {"paper": tables.number(known), "here": here, "n": f"{level.n:,}"}
        for head, text in cells.items():
            levels.setdefault((model.shown, head), {})[f"{subset}: {name}"] = text
table06 = pd.DataFrame(levels, dtype=object).drop([f"all: {name}" for name in nulls])
tables.Table("table06", table06, f"Accuracy on validation rows in %, {tables.INTERVAL}s")

# %%
for model in tuned:
    policy, ok = model.records.policy_of(others[FREE]), model.records.ok
    if policy is not None and ok.any():
        unread = 100 * pd.isna(model.records.parsed(policy)[ok]).mean()
        line = f"- Without its constraint SCI5 of {model.shown} gives an answer that cannot be read"
        line += f" on {tables.number(unread, 1)} % of all validation rows; it counts as wrong."
        if (known := printed.get((model.label, FREE, "all", "Overall"))) is not None:
            most = tables.number(100 - known, 1)
            line += f" In the paper at most {most} % can be wrong in this way."
        display(Markdown(line))

# %% [markdown]
# The sentences on Table 6, each by its own interval from {doc}`the scoreboard <verdicts>`:

# %% tags=["hide-input"]
for table in ledger.tables(of_beta):
    display(table.fold())

# %% [markdown]
# ### The whole curve
#
# From β = 1, which keeps the best token of TC alone, to the loosest β that the records settle.
# VCD at β = 1 is the base, which is wrong on every row of B by construction.

# %%
BETAS = sorted({1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, setting.beta})
MARGINS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0)
SWEPT = (SCI3, setting, SCI7, VCD)


def along(field, methods, places):
    """Accuracy of each method at each place of a constant, a line a model and subset."""
    for model, method, at, subset in product(tuned, methods, places, ("all", "B", "BS")):
        varied = replace(method, **{field: at})
        yield frame.line(
            model,
            lambda training, varied=varied: training.right(varied),
            lambda training, at=(subset, varied): rows_of(training, *at),
            span=(0.0, 1.0),
            subset=subset,
            method=method.name,
            at=at,
        )


along_beta = frame.measured(along("beta", SWEPT, BETAS))
along_margin = frame.measured(along("raw_margin", SWEPT[:3], MARGINS))


def draw(ax, curves, field):
    """A line a method, a dot where its constant stands, and the interval of SCI5 alone."""
    for method in SWEPT:
        part = curves[curves["method"] == method.name].set_index("at").sort_index()
        if len(part):  # SCI7 dashed: its colour is near that of SCI5; four bands hide each other
            style, shade = "--" if method.name == "SCI7" else "-", colour(method.name)
            frame.curve(ax, part, shade, method.name, style, band=method.name == "SCI5")
            at = getattr(method, field)
            ax.plot(at, np.interp(at, part.index, part["estimate"]), "o", color=shade, ms=5)
    ax.tick_params(labelsize=8)


# %% tags=["hide-input"]
across, size = ("all", "B", "BS"), (figures.WIDTH, 0.7 + 1.55 * len(tuned))
figure, axes = plt.subplots(len(tuned), 3, figsize=size, squeeze=False, sharex=True)
panels = product([model.shown for model in tuned], across)
for ax, (name, subset) in zip(axes.flat, panels, strict=True):
    draw(ax, along_beta[along_beta["model"].eq(name) & along_beta["subset"].eq(subset)], "beta")
    ax.set(title=subset, xscale="log", xlim=(1.05, min(BETAS) / 1.05))
    ax.set_xticks([1, 0.3, 0.1], ["1", "0.3", "0.1"])
    ax.minorticks_off()
for line, model in zip(axes, tuned, strict=True):
    line[0].set_ylabel(f"{model.shown}\naccuracy, %", fontsize=9)
for ax in axes[-1]:
    ax.set_xlabel("β", fontsize=9)
legend_below(figure)
figures.show(
    figure,
    "Accuracy as the constraint loosens from left to right; dots mark the setting of each method, "
    f"the band holds the {tables.INTERVAL}s of SCI5, point by point.",
    alt="A row of panels a model, for all rows, B and BS: accuracy against β from 1 down, a "
    "line each for SCI3, SCI5, SCI7 and VCD, with a band around SCI5.",
)

# %% [markdown]
# ### What the constraint decides alone
#
# Where one token survives, it is the answer whatever the dummy pictures say, and the engine's gate
# skips the visual rounds ({doc}`table07_cost`). The margin, τ1 ln(1/β), is how far below the best
# TC logit a token may lie. A token that was not kept counts as a survivor where its bound would be
# one, so the shares are never too large; the download has them.


# %%
def decided(records, method):
    """Rows on which one token alone survives the constraint at the first step, whatever VC is."""
    nodes, places = records.nodes, [records.rounds.index(name) for name in method.rounds]
    places = places[: 1 + len(method.textual)]
    roots = np.array([not prefix for prefix in nodes.prefix], dtype=bool)
    kept, others = nodes.logits[places][:, roots], nodes.outside[places][:, roots, None]
    left = survivors(method, torch.from_numpy(np.concatenate([kept, others], axis=2)), step=0)
    alone = (left[:, :-1].numpy() & ~nodes.padding[roots]).sum(axis=1) == 1
    mask = np.zeros(len(records.frame), dtype=bool)
    mask[nodes.row[roots]] = alone & ~left[:, -1].numpy()
    return mask


alone = {}
for model, method, subset, at in product(tuned, SWEPT, ("all", "BS"), (0.8, 0.5, 0.3, 0.1)):
    rows = model.sets(quantifier, split_by, "validation")[subset].to_numpy()
    mask = decided(model.records, replace(method, beta=at))[rows]
    line = alone.setdefault(f"{model.shown}: {method.name}", {})
    line[subset, f"β = {at:g}"] = 100 * float(mask.mean()) if len(mask) else np.nan
alone = pd.DataFrame.from_dict(alone, orient="index")
alone.columns = pd.MultiIndex.from_tuples(alone.columns)

# %% [markdown]
# ### More rounds, or a looser constraint?
#
# At one β the margins of SCI3, SCI5 and SCI7 differ, since τ1 grows with the rounds: TC, not
# divided by it, may find a token $\beta^{\tau_1}$ times as likely as the best one. In the figure
# all three have one margin, so that at any place on the horizontal axis only the rounds differ, and
# τ1 in the score. Dots mark each method's own margin; the band holds the intervals of SCI5.
# {ref}`The page about rounds <fig01d_fig02_scaling>` has the paper's steps at one margin and at one
# τ1.

# %%
figure, axes = sweeps.panels(
    len(tuned), height=1.9, xlabel="margin, logits", ylabel="accuracy, %", sharey=False
)
for ax, model in zip(axes, tuned, strict=True):
    draw(ax, along_margin.query("model == @model.shown and subset == 'BS'"), "margin")
    ax.set_title(f"BS of {model.shown}")
legend_below(figure)
figures.show(
    figure,
    "The same on BS against the margin in logits, which makes methods with different weights "
    "comparable.",
    alt="A panel a model: accuracy on BS against the margin from 0 to 6 logits, a line each for"
    " SCI3, SCI5 and SCI7, with a band.",
)

# %% [markdown]
# (table08_temperature)=
# ## Table 8: the temperatures
#
# Accuracy on the validation rows of BS, by question type. In the paper the preset is the best row;
# the figure at the top compares it with every other pair.

# %%
for model in tuned:
    sets = model.sets(quantifier, split_by, "validation")[["BS"]]
    results = {name: sweeps.outcome(model, method) for name, method in pairs.items()}
    results = {"base": sweeps.outcome(model, BASE), **results}
    rows = sets["BS"].to_numpy()
    right = {name: result.read_or_most(rows) for name, result in results.items()}
    marks = {name: name + ("" if result.enough(rows) else sweeps.AT_MOST)
             for name, result in results.items()}  # fmt: skip
    of_eight = eight[eight["model"] == model.label].pivot(
        index="row", columns="question_type", values="value"
    )
    table = sweeps.beside_paper(
        right, of_eight.reindex(list(results)), model, sets, marks, name=f"table08-{model.name}",
        caption=f"Table 8 of {model.shown}: accuracy of SCI5 on the validation rows of BS in %",
    )  # fmt: skip
    display(table)

# %% [markdown]
# The sentences on Table 8:

# %% tags=["hide-input"]
for table in ledger.tables(of_tau):
    display(table.fold())

# %% [markdown]
# ### The whole grid
#
# Greedy decoding asks only which score is largest. Multiplying all scores by τ2 changes no answer,
# so the temperatures matter through two numbers alone: the *weight* τ1 / τ2, of VC against TC, and
# the *margin* τ1 ln(1/β) of the constraint, in logits. Table 8's sweep of τ1 moves both at once.
# The grid takes τ1, τ2 and ln(1/β) in steps of √2 around the paper's preset, so that many of its
# points share a weight and a margin, and one map shows them all.
#
# A point is *within noise of the best* if the interval of the best less the point, paired and over
# question groups, reaches zero.

# %%
grids, near, places = {}, {}, {}
for subject in subjects:
    part = sweeps.part(subject, quantifier, split_by, "validation", "BS")
    grid = grids[subject.name] = temperature_grid.sweep(part)
    behind = [difference(grid.right[grid.best] - other, grid.groups).low for other in grid.right]
    near[subject.name] = (np.array(behind) <= 0) & grid.allowed
    methods = [grid.method(place) for place in range(len(grid.places))]
    places[subject.name] = np.array([[m.tau1 / m.tau2, m.margin] for m in methods])


# %% tags=["hide-input"]
def draw_grid(ax, subject, gain, reach):
    """Every place of the grid: its accuracy against the preset's, and what stands out."""
    grid, (weight, margin) = grids[subject.name], places[subject.name].T
    drawn = ax.scatter(weight, margin, c=gain, cmap=LOSS_TO_GAIN, vmin=-reach, vmax=reach,
                       marker="s", s=44, linewidths=0, rasterized=True)  # fmt: skip
    dots, crosses = near[subject.name], ~grid.allowed
    ax.plot(weight[dots], margin[dots], ".", color="#71717a", ms=2.5, rasterized=True,
            label="within noise of the best")  # fmt: skip
    ax.plot(weight[crosses], margin[crosses], "x", color="#a1a1aa", ms=2.5, rasterized=True,
            label="left open by the records")  # fmt: skip
    style = {"mfc": "#fdfdfd", "mec": "#71717a"}  # white on a dark page too, where cells are dark
    tried = [m for m in pairs.values() if m != SCI5]
    ax.plot([m.tau1 / m.tau2 for m in tried], [m.margin for m in tried], "D", ms=5,
            label="Table 8", **style)  # fmt: skip
    ax.plot(SCI5.tau1 / SCI5.tau2, SCI5.margin, "*", ms=12, label="preset", **style)
    ax.plot(*places[subject.name][grid.best], "o", mfc="none", mec="#71717a", ms=9, label="best")
    ax.set(title=subject.shown, xscale="log", yscale="log")
    ax.grid(visible=False)
    return drawn


gains = {name: grid.accuracies - grid.accuracies[0] for name, grid in grids.items()}
reach = np.nanmax([1.0, *(np.nanmax(np.abs([0.0, *gain])) for gain in gains.values())])
figure, axes = sweeps.panels(
    len(subjects), height=3.4, xlabel="weight τ1 / τ2", ylabel="margin τ1 ln(1/β), logits"
)
for ax, subject in zip(axes, subjects, strict=True):
    drawn = draw_grid(ax, subject, gains[subject.name], reach)
figure.colorbar(drawn, ax=axes, label="points against the preset", shrink=0.8)
legend_below(figure, axes[:1], ncols=3, fontsize=8)
figures.show(
    figure,
    "Accuracy for every pair of temperatures, in points against the preset; dots are as "
    "good as the best within noise; at the pale crosses the records leave too much open.",
    alt="A panel a model: coloured squares over the weight along the axis and the margin up, "
    "orange above the preset and blue below; a star for the preset, a circle for the best, "
    "diamonds for Table 8.",
)

# %% [markdown]
# ### Where the preset sits, and what is noise
#
# - The best of many noisy numbers is too good: the *winner's curse*. So the validation groups are
#   cut in random halves, 500 times; the best point of one half is scored on both. What it gains on
#   the preset where it was chosen is *promised*; what it gains on the other half is *kept*.
# - "best − preset" is taken on the rows that chose the best, so it is too good as well.
# - The last lines are the choice on test rows, each read once.

# %%
facts = {}
for subject in subjects:
    grid = grids[subject.name]
    values, best = grid.accuracies, grid.best
    method, curse = grid.method(best), temperature_grid.winners_curse(grid)
    ahead = difference(grid.right[best] - grid.right[0], grid.groups)
    rows = subject.sets(quantifier, split_by)["BS"].to_numpy()
    chosen, preset = (
        tables.shown(subject.share(result.read_or_most(rows), rows))
        for result in temperature_grid.chosen_and_preset(subject, grid).values()
    )
    facts[subject.shown] = {
        "validation rows of BS": f"{grid.right.shape[1]:,}",
        "points; different places among them": f"{len(grid.points):,}; {len(grid.places):,}",
        "points the records settle": f"{grid.counts(grid.allowed):,}",
        "best": f"{tables.number(values[best])} %",
        "at": f"τ1 = {method.tau1:.3g}, τ2 = {method.tau2:.2g}, β = {method.beta:.2g}",
        "its weight, its margin": f"{method.tau1 / method.tau2:.3g}, {method.margin:.3g}",
        "preset": f"{tables.number(values[0])} %",
        "standard error of a point":
            f"{tables.number(100 * share(grid.right[0], grid.groups).error)} points",
        "points better than the preset":
            f"{grid.counts(np.nan_to_num(values, nan=-1) > values[0]):,}",
        "best − preset, points": tables.shown(ahead),
        "points within noise of the best": f"{grid.counts(near[subject.name]):,}",
        "preset among them": "yes" if near[subject.name][0] else "no",
        "gain promised on the half chosen on": f"{tables.number(curse.promised)} points",
        "gain kept on the other half": f"{tables.number(curse.kept)} points",
        "test rows of BS": f"{rows.sum():,}",
        "the best on them, %": chosen,
        "the preset on them, %": preset,
    }  # fmt: skip
facts = pd.DataFrame(facts, dtype=object)  # str would drop the intervals' keys
tables.Table("grid", facts, "The grid of temperatures and β on BS")

# %% [markdown]
# ## Deviations
#
# - The curves and the grid are drawn on rows that a method may be tuned on. No β is chosen.
# - **A gain on BS is not a gain.** BS holds B, where the base is wrong on every row, so a search on
#   BS alone favours whatever changes answers. {doc}`table02_drbench` shows the rows outside it.
# - **A multiple-choice or yes/no answer is replayed at its first token**; what follows is as it
#   was recorded. "At most" counts as right what the best kept token reads as, and every short
#   answer whose words were not recorded; it can be far too high.
# - Of several best points the one nearest the preset, in steps, is the chosen one.
# - The paper's Tables 6 and 8 are of Qwen2-VL, without intervals; the paper truncates some
#   percentages, and writes "Original" for what is called *all* here.
# - With one margin τ1 still differs in the score, where it weighs TC against VC; with one τ1 it
#   does not.
#
# ## If you change …
#
# - `beta=0.8`, the constraint that the paper uses on the data sets as they are: fewer answers can
#   change, and BS may gain less.
# - `tau2=2`, the weight of VC a tenth as large: the picture at the top shows what Table 8's other
#   pairs gain or lose against it.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.

# %% [markdown]
# ## Stamp
#
# The download holds accuracy and the rows left open along β, what each preset lets pass, and what
# the constraint decides alone.

# %%
heads = {"estimate": "accuracy along β, validation, %", "open": "rows left open along β, %"}
along_beta["open"] = [
    100 * outcome(model, replace(method, beta=at)).unsettled(
        model.sets(quantifier, split_by, "validation")[subset].to_numpy()
    ) for model, method, at, subset in product(tuned, SWEPT, BETAS, ("all", "B", "BS"))
]  # fmt: skip
along = [
    tables.plain(
        along_beta.pivot(index=["model", "subset", "at"], columns="method", values=value),
        name=head, caption="",
    ) for value, head in heads.items()
]  # fmt: skip
odds = {method.name: {"τ1": method.tau1, "β": method.beta, "margin, logits": method.margin,
                      "least odds, β to the power τ1": tables.number(method.beta**method.tau1, 3)}
        for method in SWEPT}  # fmt: skip
tables.download("beta_and_tau", [
    *along, tables.plain(pd.DataFrame(odds).T, name="let pass", caption=""),
    tables.plain(alone, name="decided by the constraint alone, %", caption="", decimals=1),
])  # fmt: skip

# %% tags=["hide-input"]
chapters.stamp_of(subjects, chapters.validation_files(subjects))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

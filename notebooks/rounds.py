# %% [markdown]
# # What does each round add, and do more rounds help? Table 5, Figures 1(d) and 2
#
# **Claims.** On BS every counterfactual round has a positive marginal value, and more rounds are
# better: SCI₇ is right more often than SCI₅, and SCI₅ more often than SCI₃; each for each model
# shown.
#
# Self-Critical Inference {cite:p}`tang2026sci` combines the original input with reworded prompts
# (V1, V2, V3) and dummy pictures (black, noise at steps 500 and 400). The paper's Table 5 tries
# fourteen combinations of one model's rounds, its Figures 1(d) and 2 go up to seven rounds, and it
# concludes that robustness "can be improved with more incorporated counterfactual rounds" (section
# 4.3). Here *every* subset of the paper's rounds is a method, and the curve goes on beyond them,
# over what they cost.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
extended: str = "data_manifests/records/extended"  # of fifteen rounds, where a model has them
split_by: str = "rows"  # which rows are test: the paper's "rows", or "groups", which splits none
quantifier: str = "any"  # of the counterfactual answers that make a row biased or sensitive
beta: float = None  # a token has to be β times as likely as the best; None: each method's own β
tau2: float = None  # temperature of SCI's visual half, whose weight falls with it; None: its own
image_tokens: int = 320  # of the questions on which cost is counted

# %% tags=["hide-input"]
from dataclasses import replace
from functools import cache
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import Markdown, display

from sci_book.methods import betas, with_constants
from sci_book.papers.sci import nulls
from sci_book.papers.sci.audit_counts import unfit
from sci_book.papers.sci.chapters import components, drbench_tables
from sci_book.papers.sci.overhead import ratio
from sci_book.papers.sci.shapley import coalitions
from sci_book.papers.shared import chapters, figures, frame, stamp, sweeps, tables, timing
from sci_book.papers.shared import extended as beside
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.figures import INK, LOSS_TO_GAIN, legend_below
from sci_book.papers.shared.pages import address
from sci_book.pipeline import findings as ledger
from sci_book.resources import PAPER, RESULTS
from sci_book.results.metrics import KINDS, accuracy_table, flips
from sci_core.methods import BASE, METHODS, SCI5, SCI7, sci

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
of_each = ledger.of_page("table05_components", subjects)
of_more = ledger.of_page("fig01d_fig02_scaling", subjects)
Markdown(ledger.conclusion(of_each))

# %% tags=["hide-input"]
Markdown(ledger.conclusion(of_more))

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # how much of Table 5 is τ1's: computed below, and written here

# %% [markdown]
# ## What two more rounds change
#
# On the same test rows, a size's answers less those of the size before: a row counts 1 if the
# larger alone is right, −1 if the smaller alone is. The mean over a subset is in points; its
# interval is over question groups, and over trainings too where four or more have the answers. The
# first step, from the base, cannot lose on B, where the base is wrong on every row. A grey dot is a
# single training, on its own subsets.
# Change β or τ2 above (`sci notebook rounds --set beta=0.5 --out runs`), and answers are
# recomputed from the recorded logits; the verdicts above stay those of the paper's constants.

# %%
SUBSETS = ("BS", "B", "S", "S∖B", "outside BS", "all")
settings = {"beta": beta, "tau2": tau2}
sizes = {"base": BASE}
for count in range(1, 8):
    size = sci(count, count)
    sizes[size.name] = with_constants(METHODS.get(size.name, size), **settings)
STEPS = (("SCI3", "base"), ("SCI5", "SCI3"), ("SCI7", "SCI5"))


def steps(asked, pairs, subsets, part="test", **change):
    """Each of `pairs` of sizes, the larger less the smaller, a line a model, subset and pair."""
    for model, subset, (more, fewer) in product(asked, subsets, pairs):
        methods = [replace(sizes[size], **change) for size in (more, fewer)]
        printed = drbench_tables.paper_gap(model, more, fewer, subset)
        yield frame.line(
            model,
            lambda training, pair=methods: np.subtract(*map(training.right, pair)),
            lambda training, subset=subset: training.sets(quantifier, split_by, part)[subset],
            subset=subset,
            size=more,
            step=f"{more} − {fewer}",
            paper=np.nan if change or part != "test" else printed,
        )


changes = frame.measured(steps(subjects, STEPS, SUBSETS))

# %%
shown = changes[changes["size"].ne("SCI3") & changes["subset"].isin(["BS", "S∖B", "all"])]
figures.show(
    frame.dots(shown, ("model", "subset"), "size", xlabel="less the size before, points"),
    "What two more rounds change beyond SCI3, by subset: to the right of the line the larger size "
    "is right more often; open: the paper, grey: single trainings.",
    alt="A row of panels a model, a panel a subset, a line each for SCI5 less SCI3 and SCI7 less "
    "SCI5: dots with intervals in points, open diamonds for the paper, grey dots for trainings.",
)

# %%
frame.table(
    changes,
    rows=("step", "subset"),
    columns=("model",),
    name="steps",
    caption=f"What two more rounds change, points, {tables.INTERVAL}s; "
    f"{betas(sizes.values(), beta)}",
    show=("paper", "here", "n"),
)

# %% [markdown]
# ## Records
#
# Nothing is decoded here. The presets' answers are those decoded; those of other combinations
# follow from the recorded logits of the original input and of each round. N textual rounds take
# τ1 = 1 + 0.5 N, as the paper's rows do.

# %% tags=["hide-input"]
chapters.rows_table(subjects, quantifier, split_by)

# %% [markdown]
# (table05_components)=
# ## Table 5: what each round adds
#
# First each input alone, then the original input with one round or more: the paper's rows, in its
# order, then any round that the paper does not have. Two trivial answers follow, the base's second
# choice (*runner-up*) and another option by lot ({doc}`table02_drbench`). A dagger marks a printed
# row that cannot be: no numbers of right answers, over the sizes in the paper's Table 1, give its
# three percentages.

# %%
table05 = pd.read_csv(PAPER / "table05.csv", keep_default_na=False)
sets = {model.shown: model.sets(quantifier, split_by) for model in subjects}
right = {model.shown: components.outcomes(model, **settings) for model in subjects}
for model in subjects:
    printed = table05[table05["model"] == model.label].pivot(
        index="rounds", columns="question_type", values="value"
    )
    printed = printed.reindex(index=table05["rounds"].unique(), columns=KINDS).astype(float)
    rows, labels = {}, {}
    odd = unfit("table05", model.label, "rounds")
    beyond = [f"original {name}" for name in components.counterfactuals(model)
              if name not in SCI7.rounds]  # fmt: skip
    for rounds in [*printed.index, *beyond]:
        first, *more = rounds.split()
        if first == "original" and tuple(more) in right[model.shown]:
            rows[rounds] = right[model.shown][tuple(more)]
        elif first in model.records.rounds and not more:
            rows[rounds] = model.right(first)
        labels[rounds] = " + ".join((first, *more)) if more else f"{first} alone"
        labels[rounds] += " †" if rounds in odd else ""
    table = sweeps.beside_paper(
        rows, printed, model, sets[model.shown][["BS"]], labels, name=f"table05-{model.name}",
        caption=f"Table 5 of {model.shown}, training {model.number}: accuracy on BS in %",
    )  # fmt: skip
    display(table)

# %% [markdown]
# ### Every combination
#
# All subsets of the recorded rounds on the test rows of BS, of the shipped training as in Table 5.
# The first row holds textual rounds alone, the first column visual rounds alone, the corner the
# base.

# %%
grids = {}
for model in subjects:
    rows = sets[model.shown]["BS"].to_numpy()
    textual, visual = (
        sorted(coalitions(side), key=len) for side in components.sides(list(right[model.shown])[-1])
    )
    grids[model.shown] = pd.DataFrame(
        {" + ".join(across) or "none": {
            " + ".join(down) or "none": 100 * share.mean() if len(share) else np.nan
            for down in visual for share in [right[model.shown][*across, *down][rows]]
        } for across in textual}
    )  # fmt: skip

# %% tags=["hide-input"]
gains = {name: grid - grid.iloc[0, 0] for name, grid in grids.items()}
reach = max(np.nanmax(np.abs(gain.to_numpy()), initial=1.0) for gain in gains.values())
figure, axes = sweeps.panels(
    len(gains), height=2.5, xlabel="textual rounds", ylabel="visual rounds"
)
for ax, (name, gain) in zip(axes, gains.items(), strict=True):
    said = {"xlabel": ax.get_xlabel(), "ylabel": ax.get_ylabel(), "title": name}
    sns.heatmap(
        gain, ax=ax, cmap=LOSS_TO_GAIN, vmin=-reach, vmax=reach, cbar=False, rasterized=True
    )
    ax.set(**said)
    ax.grid(visible=False)  # it would show through
    ax.tick_params(axis="x", labelsize=8, rotation=90)
    ax.tick_params(axis="y", labelsize=8, rotation=0)
bar = figure.colorbar(axes[0].collections[0], ax=axes, location="bottom", shrink=0.6, aspect=40)
bar.set_label("BS, points against the base")
figures.show(
    figure,
    "The gain on BS of every combination of rounds: a line adds dummies, a column adds rewordings.",
    alt="Coloured cells in a panel a model: a line a combination of dummies, a column a "
    "combination of rewordings; orange gains on the base, blue loses.",
)

# %% [markdown]
# How many of them differ from the base? Each gain has its own interval, so of combinations that
# change nothing some would be counted by chance.

# %%
against = {}
for model, subset in product(subjects, ("BS", "all")):
    base, *combined = right[model.shown].values()
    rows = sets[model.shown][subset].to_numpy()
    found = [model.difference(one - base, rows) for one in combined]
    better, worse = sum(gap.low > 0 for gap in found), sum(gap.high < 0 for gap in found)
    against[f"{model.shown}: {subset}"] = {
        "rows": int(rows.sum()), "combinations": len(found), "better": better, "worse": worse,
        "undecided": len(found) - better - worse,
    }  # fmt: skip
against = pd.DataFrame.from_dict(against, orient="index")
tables.plain(against, name="against", caption="Combinations against the base, test rows")

# %% [markdown]
# ### The value of a round
#
# The *Shapley value* of a round is what it adds on average, if the rounds arrive one after another
# in an order drawn at random. The values of all rounds sum to the gain of the full combination. It
# is taken on every row from all combinations. Textual and visual rounds are summed below them; the
# last line is their interaction: what both do together beyond the sum of what each side does alone.

# %%
BOTH = [*components.SIDES, components.INTERACTION]


@cache
def values_of(training, **tau1):
    """By round and side, what it adds on every row; and what both sides do together."""
    return components.contributions(components.outcomes(training, **settings, **tau1))


def added():
    """What each round adds, a line a model, subset and round."""
    for model, subset in product(subjects, ("BS", "B", "S", "S∖B", "all")):
        for name in values_of(model):
            yield frame.line(
                model,
                lambda training, name=name: values_of(training)[name],
                lambda training, subset=subset: training.sets(quantifier, split_by)[subset],
                subset=subset,
                round=name,
            )


rounds = frame.measured(added())

# %%
alone = rounds[~rounds["round"].isin(BOTH) & rounds["subset"].isin(["BS", "S∖B", "all"])]
figures.show(
    frame.dots(alone, ("model", "subset"), "round", xlabel="points added"),
    "What a round adds to a combination without it, on average, by subset.",
    alt="A row of panels a model, a panel a subset, a line a round: dots with intervals for the"
    " points that it adds.",
)

# %%
frame.table(
    rounds[rounds["round"].isin(BOTH) & rounds["subset"].isin(["BS", "all"])],
    rows=("round", "subset"),
    columns=("model",),
    name="sums",
    caption=f"What textual and visual rounds add, points, {tables.INTERVAL}s",
    show=("here", "n"),
)

# %% [markdown]
# Each rewording raises τ1 as well, so these values are of both. What is left to the rewordings if
# every combination has the τ1 of SCI₇, or if they join SCI₅'s two dummies at its own τ1?


# %%
def at_one_tau1():
    """What all rewordings together add: by Shapley, and beside the dummies of SCI5."""
    for model in subjects:
        yield frame.line(
            model,
            lambda training: values_of(training, tau1=SCI7.tau1)[components.SIDES[0]],
            lambda training: training.sets(quantifier, split_by)["BS"],
            of="one τ1 for all",
        )
    whole, reading = with_constants(SCI5, **settings), (quantifier, split_by)
    for line in nulls.MEASURES["beyond_dummies"](subjects, [whole], ["BS"], reading):
        yield {**line, "of": "beside SCI5’s two dummies, at its τ1"}


by_rule = rounds[(rounds["round"] == components.SIDES[0]) & (rounds["subset"] == "BS")]
textual = pd.concat(
    [by_rule.assign(of="the paper’s τ1 = 1 + N/2"), frame.measured(at_one_tau1(), "of")]
)
frame.table(
    textual, rows=("of",), columns=("model",), name="textual", show=("here", "n"),
    caption=f"What all rewordings together add, on BS, points, {tables.INTERVAL}s",
)  # fmt: skip

# %% tags=["hide-input", "remove-output"]
said = []
for shown, part in textual[textual["n"] > 0].groupby("model", sort=False):
    gains = {of: tables.with_ends(*line[["estimate", "low", "high"]], key=line["key"])
             for of, line in part.set_index("of").iterrows()}  # fmt: skip
    said.append(f"- {shown}: " + "; ".join(f"{gain} ({of})" for of, gain in gains.items()))
left = textual[textual["of"].eq("one τ1 for all") & textual["n"].gt(0)]
still = f"{sum(left['low'] > 0)} of {len(left)} models"
at_head.write(
    "**What a rewording adds is mixed with what τ1 adds**, which the paper raises with each. "
    f"At one τ1 for all combinations, what the rewordings add is surely above 0 for {still}. All "
    "of them together add, in points on BS:\n\n" + "\n".join(said) + "\n\n"
    f"[What do the rewordings do?]({address('rewordings')}) takes the two apart."
)  # fmt: skip

# %% [markdown]
# The sentences on Table 5, each by its own interval from {doc}`the scoreboard <verdicts>`. Its
# conditions are those that it rests on: a rewording asks the same, a dummy shows nothing. Whether
# the base is near the paper's as well is told of each training among {ref}`all conditions
# <conditions>`.

# %% tags=["hide-input"]
for table in ledger.tables(of_each):
    display(table.fold())

# %% [markdown]
# (fig01d_fig02_scaling)=
# ## Figures 1(d) and 2: more rounds
#
# The paper's two figures print no numbers, so its Table 9 stands for them here, dashed and open.
# Our lines are the shipped training's, the band the interval of Overall; {doc}`table02_drbench` has
# our numbers over trainings, by subset and question type. One round is the base, which is wrong on
# every row of B by definition; the paper's Qwen2-VL was sampled, and so is right on some.

# %% tags=["hide-input"]
styles = {"MCQ": ("#0072b2", "o"), "Others": ("#dd6b20", "s"), "Overall": (INK, "D")}
shape, size = (len(subjects), 3), (figures.WIDTH, 0.6 + 1.9 * len(subjects))
figure, axes = plt.subplots(*shape, figsize=size, squeeze=False, sharex=True, sharey=True)
names = ["base", "SCI3", "SCI5", "SCI7"]
for ax, (model, subset) in zip(axes.flat, product(subjects, ("B", "S", "BS")), strict=True):
    found = {name: model.right(sizes[name]) for name in names}
    levels = accuracy_table(found, model.records.frame, sets[model.shown][[subset]])
    printed = drbench_tables.paper_accuracy(model.label)
    for kind, (shade, mark) in styles.items():
        part = levels[levels["question_type"] == kind].rename(columns={"value": "estimate"})
        part = part.set_index(pd.Index([1, 3, 5, 7])).astype({"low": float, "high": float})
        frame.curve(ax, part, shade, kind, "-", band=kind == "Overall")
        if printed:
            theirs = [printed[name, subset, kind] for name in names]
            ax.plot([1, 3, 5, 7], theirs, f"{mark}--", color=shade, mfc="white", ms=4, lw=1,
                    label=f"{kind}, paper")  # fmt: skip
    ax.set(title=subset, xticks=[1, 3, 5, 7])
for line, model in zip(axes, subjects, strict=True):
    line[0].set_ylabel(f"{model.shown}, %", fontsize=9)
for ax in axes[-1]:
    ax.set_xlabel("rounds", fontsize=9)
legend_below(figure, ncols=3, fontsize=9)
figures.show(
    figure,
    "Accuracy as rounds are added, by subset and type of question, beside the paper’s.",
    alt="A row of panels a model, a panel each for B, S and BS: accuracy against 1 to 7 rounds,"
    " lines for multiple choice, others and overall; dashed lines with open marks are the "
    "paper’s.",
)

# %% [markdown]
# The sentences on both figures; the claim is about the steps to five rounds and to seven:

# %% tags=["hide-input"]
for table in ledger.tables(of_more):
    display(table.fold())

# %% [markdown]
# ### On to fifteen rounds
#
# The rules of the presets go on as they are: a dummy and a rewrite more for each two rounds,
# $\tau_1$ half a unit more. The further dummies are noisier than the paper's, at steps 600, 700,
# 800 and 900: less noise would show more of what a dummy must hide. The further rewrites, V4 to V7,
# are of our own making. They combine the paper's three ideas (details, the other language, a clever
# student) in the four ways left, in the paper's own words, and were never tuned. The shipped
# training alone ran these rounds, on a fixed part of the question groups (see *Records of these
# rounds*).

# %%
longest = [beside.extended(model, extended) or model for model in subjects]
enough = [model for model in longest if set(sizes["SCI15"].rounds) <= set(model.records.rounds)]
BEYOND = [("SCI9", "SCI7"), ("SCI11", "SCI9"), ("SCI13", "SCI11"), ("SCI15", "SCI13"),
          ("SCI15", "SCI7")]  # fmt: skip
if without := ", ".join(model.shown for model in longest if model not in enough):
    display(Markdown(f"No records of more than seven rounds: {without}."))
if enough:
    beyond = frame.table(
        frame.measured(steps(enough, BEYOND, ["BS"])), ("step", "subset"), ("model",),
        name="beyond", caption=f"Steps beyond seven rounds on BS, points, {tables.INTERVAL}s",
        show=("here", "n"),
    )  # fmt: skip
    display(beyond)

# %% tags=["hide-input"]
part = chapters.rows_table(longest, quantifier, split_by)
replace(part, name="rows-longest", caption=f"{part.caption}: the part with all fifteen rounds")

# %% [markdown]
# ### Which rounds, at what cost, and is it the constraint?
#
# Three ladders. *Both* adds a dummy and a rewrite at a time. *Dummies alone* keeps SCI₅'s two
# rewrites and goes from no dummy to seven; *rewrites alone* keeps its two dummies. They meet at
# SCI₅. Two more ladders have the rounds of *both*, but hold something fixed. The constraint drops a
# token whose TC lies more than $\tau_1 \ln(1/\beta)$ below the best, so it loosens as $\tau_1$
# grows. *Margin kept* holds that margin at SCI₅'s and lets $\tau_1$ grow in the score; *τ1 kept*
# holds both, and with them the weight of VC against TC. Nothing is chosen: all follow from the
# presets. The first table has the paper's own steps under both, on all test rows of BS, over
# trainings; the curves are of the shipped training, on the part with all fifteen rounds.
#
# Cost is in tokens through the language model, counted by the engine's own plan with the rounds in
# two phases, in multiples of the base. A rewrite costs its own few tokens, a noisy dummy a picture
# and a prompt anew. Squares are medians of time on the pocket twins with the gate, on one thread,
# with bars between quartiles ({doc}`table07_cost`).

# %%
REGIMES = {"own margins": {}, "one margin": {"raw_margin": SCI5.margin},
           "one τ1": {"tau1": SCI5.tau1}}  # fmt: skip
pairs = (("SCI5", "SCI3"), ("SCI7", "SCI5"), ("SCI7", "SCI3"))
tuned = [sweeps.part(model, quantifier, split_by, "validation") for model in subjects]
kept = {
    part: frame.table(
        pd.concat([frame.measured(steps(asked, pairs, ["BS"], part, **change)).assign(regime=name)
                   for name, change in REGIMES.items()]),
        ("regime", "step"), ("model",), name=f"kept-{part}",
        show=("paper", "here", "n") if part == "test" else ("here",),
        caption=f"The paper's steps with the margin or τ1 kept, BS of {part} rows, points",
    ) for part, asked in (("test", subjects), ("validation", tuned))
}  # fmt: skip
kept["test"]

# %%
LADDERS = {
    "both": (lambda count: sci(count, count), {}, "#dd6b20", "o-"),
    "dummies alone": (lambda count: sci(count, 2), {}, "#6b21a8", "o--"),
    "rewrites alone": (lambda count: sci(2, count), {}, "#3b82f6", "o:"),
    "margin kept": (lambda count: sci(count, count), REGIMES["one margin"], "#0f766e", "o--"),
    "τ1 kept": (lambda count: sci(count, count), REGIMES["one τ1"], INK, "o:"),
}


def ladder(model, kind):
    """The methods of a ladder by their number of rounds, as far as these are recorded."""
    rung, change, *_ = LADDERS[kind]
    made = [with_constants(rung(count), **settings, **change) for count in range(8)]
    return {len(m.rounds): m for m in made if set(m.rounds) <= set(model.records.rounds)}


def on_bs(training):
    return training.sets(quantifier, split_by)["BS"]


def climb():
    """Accuracy on BS and cost of every rung, a line a model, ladder and number of rounds."""
    for model, kind in product(longest, LADDERS):
        for count, method in ladder(model, kind).items():
            cost = ratio(method, image_tokens)
            yield frame.line(
                model, lambda training, method=method: training.right(method), on_bs,
                span=(0.0, 1.0), ladder=kind, rounds=count, count=str(count), cost=cost,
                rung=f"{count} round{'s' * (count > 1)}: {tables.number(cost)} × base",
            )  # fmt: skip


def one_kind():
    """What rounds of one kind change up to five rounds and beyond, a line a model and step."""
    for model, kind in product(longest, ("dummies alone", "rewrites alone")):
        rungs = ladder(model, kind)
        for more, fewer in ((5, min(rungs)), (max(rungs), 5)):
            pair = rungs[more], rungs[fewer]
            yield frame.line(
                model,
                lambda training, pair=pair: np.subtract(*map(training.right, pair)),
                on_bs,
                step=f"{kind}, {more} − {fewer} rounds",
            )


climbs, apart = frame.measured(climb()), frame.measured(one_kind())
twins = timing.on_pocket_data(timing.load_results(RESULTS)["CPU"])
twins = twins[twins["method"].str.fullmatch(r"SCI\d+")]

# %%
figure, axes = plt.subplots(
    2, len(longest), figsize=(figures.WIDTH, 5.6), squeeze=False, sharex="row", sharey="col"
)
for (over, by_count), model in zip(axes.T, longest, strict=True):
    rungs = climbs[climbs["model"] == model.shown].set_index("ladder")
    for ax, place, kinds in ((over, "cost", ("both", "dummies alone", "rewrites alone")),
                             (by_count, "rounds", ("both", "margin kept", "τ1 kept"))):  # fmt: skip
        for kind in kinds:
            *_, shade, style = LADDERS[kind]
            part = rungs.loc[[kind]].set_index(place)
            frame.curve(ax, part, shade, kind, style, band=kind == "both")
    both = rungs.loc[["both"]].set_index("rounds")
    for _, line in twins[twins["model"] == model.name].iterrows():
        height = both["estimate"][int(line["method"][3:])]
        over.hlines(height, line["ratio_q1"], line["ratio_q3"], color=INK, linewidth=2)
        over.plot(line["ratio_median"], height, "s", mfc="white", mec=INK, ms=6, zorder=5,
                  label="both, time on the twins")  # fmt: skip
    over.set_title(f"{model.shown}, n = {both['n'].max():,}", fontsize=10)
    over.set_xlabel("cost, multiples of the base")
    by_count.set(xlabel="rounds", xticks=range(1, 16, 2))
for ax in axes[:, 0]:
    ax.set_ylabel("accuracy on BS, %")
legend_below(figure, ncols=3, fontsize=9)
figures.show(
    figure,
    "What rounds buy on BS: above against their cost, for both kinds and for each alone; below by "
    "number, with the weight that grows with the rounds, with the margin kept, and with the weight "
    "kept. The band is that of both.",
    alt="Two panels a model: accuracy on BS against cost in multiples of the base and against 1 to "
    "15 rounds, five lines for five ways to add rounds; squares mark measured time.",
)

# %%
frame.table(
    climbs[climbs["ladder"] == "both"], ("rung",), ("model",), name="prices", show=("here",),
    caption=f"Accuracy on BS of the part with fifteen rounds, %; {image_tokens} image tokens",
)  # fmt: skip

# %% tags=["hide-input"]
for model in longest:
    methods = {m for kind in LADDERS for m in ladder(model, kind).values()}
    answers = [model.replay.answers(method)[model.records.ok] for method in methods]
    proven, known = (100 * min(one[what].mean() for one in answers) for what in ("proven", "known"))
    line = f"- {model.shown}: in the worst of {len(methods)} methods, {tables.number(proven, 1)} % "
    line += "of the answers computed from logits are proven (no token left out could have won) and "
    display(
        Markdown(f"{line}{tables.number(known, 1)} % known (they follow from recorded tokens).")
    )

# %% [markdown]
# ### Records of these rounds
#
# A fifth of the question groups, chosen by a hash of their name, was evaluated under all fifteen
# rounds, by the shipped training of each model:
#
# ```bash
# sci evaluate --model checkpoints/pocket-qwen2vl --methods extended --share 5 \
#     --out runs/extended/pocket-qwen2vl
# sci freeze runs/extended/pocket-qwen2vl \
#     data_manifests/records/extended/pocket-qwen2vl.parquet
# ```
#
# ## Deviations
#
# - **A flat curve is no failure of the method**, but of the claim that rounds pay by themselves.
# - **On B nothing can be worse than the base.** The base is wrong there on every row by
#   construction, so the first round that changes its answers can only gain. BS holds B, so its
#   values lean upwards too. Values on S∖B lean downwards, for it lacks those errors of the base.
#   Those of all rows lean neither way.
# - **A textual round does two things**: it adds its logits to TC, and it raises τ1, which loosens
#   the constraint. {ref}`table06_plausibility` takes the two apart.
# - The paper's Table 5 shows one model, Qwen2-VL; its rows "VC-N" are noise at step 500.
# - A combination that was not decoded may open an answer as no decoded one did. Such an answer is
#   read off its first token, or counted as wrong if it is a short one.
# - Cost is compared at one layout and, in time, on one thread of one processor. On a device with
#   room to spare, rounds in one batch cost less time than they cost tokens.
# - Noise steps above 500 and rewrites V4 to V7 are not the paper's; another choice of rounds may
#   scale otherwise. The subsets are built from the same two dummies and two rewrites at every size.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %%
for model in subjects:
    rows = sets[model.shown]["BS"].to_numpy()
    combined = [with_constants(components.combination(rounds), **settings)
                for rounds in right[model.shown]]  # fmt: skip
    most = 100 * max(sweeps.outcome(model, method).unsettled(rows) for method in combined)
    share = f"at most {tables.number(most, 1)} % of the test rows of BS in any combination"
    display(Markdown(f"- Answers opened as no decoded one was, {model.shown}: {share}."))

# %% [markdown]
# ## If you change …
#
# - `beta=0.8`, the constraint that the paper uses on the data sets as they are: rounds can change
#   fewer answers, so steps may be smaller.
# - `tau2=1`, a fifth of the weight for the dummies: black and noise count for less.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.

# %% [markdown]
# ## Stamp
#
# The download holds every combination, what a round adds on the other subsets, the ladders, and the
# rows that each size loses and wins.

# %%
turned = {}
for model, subset, name in product(
    subjects, ("S∖B", "outside BS", "all"), ("SCI3", "SCI5", "SCI7")
):
    rows, base = sets[model.shown][subset].to_numpy(), model.right("base")
    change = flips(base, model.right(sizes[name]), rows)
    turned[f"{model.shown}: {name}, {subset}"] = {
        "rows": change.n, "right before": int((rows & (base == 1)).sum()),
        "lost": change.right_to_wrong, "won": change.wrong_to_right,
    }  # fmt: skip
further = [
    *(tables.plain(grid, name=f"BS of {name}, %", decimals=1, caption="")
      for name, grid in grids.items()),
    frame.table(rounds, ("round", "subset"), ("model",), name="added, points", caption="",
                show=("here",)),
    frame.table(climbs[climbs["ladder"] != "both"], ("ladder", "count"), ("model",),
                name="by rounds on BS, %", caption="", show=("here",)),
    frame.table(apart, ("step",), ("model",), name="one kind at a time, points", caption="",
                show=("here",)),
    kept["validation"],
    tables.plain(pd.DataFrame(turned).T, name="lost and won", caption=""),
]  # fmt: skip
tables.download("rounds", further)

# %% tags=["hide-input"]
paths = [model.path for model in longest if model not in subjects]
chapters.stamp_of(subjects, [*paths, timing.load_results(RESULTS)["CPU"]["path"]])

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

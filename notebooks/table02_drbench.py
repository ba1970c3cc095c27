# %% [markdown]
# # Tables 2 and 9: methods on DRBench
#
# **Claim.** On BS, the rows on which a model is biased (B) or sensitive (S), SCI5 is right more
# often than VCD (visual contrastive decoding), for each model read.
#
# This is the paper's main result {cite:p}`tang2026sci`, asked in the book of small models on drawn
# pictures: on the rows where a model is biased or sensitive, does Self-Critical Inference help more
# than the contrastive decoding it builds on? Table 2 has the methods; Table 9 adds each
# counterfactual input by itself. SCI is compared with VCD and not with the base, since BS was
# chosen by the base's failures: to beat the base there proves little (see the traps below).
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"  # which rows are test: the paper's "rows", or "groups", which splits none
quantifier: str = "any"  # of the counterfactual answers that make a row biased or sensitive
beta: float = 0.3  # a token has to be at least β times as likely as the best, of every method
tau2: float = 0.2  # temperature of the visual half in SCI: the smaller, the more it weighs

# %% tags=["hide-input"]
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown, display

from sci_book import accuracy_table
from sci_book.methods import COMPARED, colour
from sci_book.papers.sci.chapters import drbench_tables
from sci_book.papers.sci.chapters.shapes import legend_below
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.pipeline import findings as ledger
from sci_core.methods import METHODS

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
findings = ledger.of_page("table02_drbench", subjects)
Markdown(ledger.conclusion(findings))

# %% [markdown]
# ## What each method changes
#
# On the same rows, a method's answers less the base's: a row counts 1 if the method alone is right,
# −1 if the base alone is. The mean over a subset is in points; its interval is over question
# groups. A grey dot is another training of the same recipe, on its own B and S. Change β or τ2
# above (`sci notebook table02_drbench --set beta=0.5 --out runs`), and answers are recomputed from
# the recorded logits; the verdict above stays that of the paper's constants.

# %%
SUBSETS = ("B", "S", "BS", "S∖B")
constants = {"beta": beta, "tau2": tau2}
less_base = {}
for model, subset, name in product(subjects, SUBSETS, COMPARED):
    rows = model.sets(quantifier, split_by)[subset].to_numpy()
    gap = model.right(replace(METHODS[name], **constants)) - model.right("base")
    found = model.difference(gap, rows).times(100)
    less_base[model.shown, subset, name] = {
        "points": found.estimate, "low": found.low, "high": found.high, "n": found.n,
        "paper": drbench_tables.paper_gap(model, name, "base", subset),
    }  # fmt: skip
less_base = pd.DataFrame.from_dict(less_base, orient="index")
less_base.index.names = ["model", "subset", "method"]
less_base = less_base.sort_index()

# %%
others = {}  # what further trainings give; their records hold answers alone, at the presets
for model, subset, name in product(subjects, SUBSETS, COMPARED):
    for seed, training in enumerate(model.trainings[1:], 1):
        if all(getattr(METHODS[name], key) == value for key, value in constants.items()):
            rows = training.sets(quantifier, split_by)[subset].to_numpy()
            gap = training.right(METHODS[name]) - training.right("base")
            others[model.shown, subset, name, seed] = 100 * gap[rows].mean()


# %% tags=["hide-input"]
def draw(panel, part, dots):
    """One model and subset: a line a method, ours with its interval, the paper's as a diamond."""
    places, shades = range(len(part)), [colour(name) for name in part.index]
    panel.hlines(places, part["low"], part["high"], color=shades, linewidth=2.5)
    panel.scatter(part["points"], places, c=shades, s=40, zorder=3, label="here")
    panel.plot(part["paper"], places, "D", mfc="white", mec="#111827", ms=6, label="paper")
    faint = [(dot, place) for place, name in enumerate(part.index) for dot in dots[name]]
    panel.scatter(*zip(*faint, strict=True), c="#9ca3af", s=14) if faint else None
    panel.axvline(0, color="#111827", linewidth=0.8)
    panel.set_yticks(places, list(part.index))
    panel.tick_params(labelsize=9, labelbottom=True)
    panel.grid(axis="y", visible=False)


figure, axes = plt.subplots(
    len(subjects), len(SUBSETS), figsize=(figures.WIDTH, 0.5 + 2 * len(subjects)),
    squeeze=False, sharex="col", sharey=True,
)  # fmt: skip
for (down, model), (across, subset) in product(enumerate(subjects), enumerate(SUBSETS)):
    part = less_base.loc[model.shown, subset].loc[list(COMPARED)]
    dots = {name: [v for key, v in others.items() if key[:3] == (model.shown, subset, name)]
            for name in part.index}  # fmt: skip
    draw(axes[down, across], part, dots)
    axes[down, across].set_title(f"{subset}, n = {part['n'].iloc[0]:,.0f}", fontsize=10)
    axes[down, 0].set_ylabel(model.shown)
    axes[-1, across].set_xlabel("less the base, points", fontsize=9)
axes[0, 0].invert_yaxis()
legend_below(figure, axes[0, :1])
figures.show(
    figure,
    "What each method changes on each subset, here (full; grey: other trainings) and in the paper "
    "(open): to the left of the line it is less often right than the base. On B nothing can be "
    "lost.",
    alt="A row of panels a model, a panel each for B, S, BS and S∖B, a line a method: dots with"
    " intervals for our difference from the base in points, diamonds for the paper’s.",
)

# %%
ends = less_base[["points", "low", "high"]].to_numpy()
cells = pd.DataFrame(
    {"paper": less_base["paper"].map(tables.number), "here": [tables.with_ends(*e) for e in ends]}
)
wide = cells.unstack("subset").swaplevel(axis=1)[[*product(SUBSETS, ("paper", "here"))]]
wide = wide.loc[[*product((model.shown for model in subjects), COMPARED)]]
wide.index = [f"{model}: {name}" for model, name in wide.index]
tables.Table("less-base", wide, f"Each method less the base, points, {tables.INTERVAL}s")

# %% [markdown]
# ## Records
#
# Subsets and outcomes of every method follow from the recorded answers. Two *null methods* join
# them: the base's **runner-up**, the best first token that reads as another answer, and a **uniform
# other** answer, whose expected outcome is known without a draw (short answers have no options and
# are left out of it). *M3ID, own clock* is M3ID with time counted as in its own paper, in generated
# tokens.

# %% tags=["hide-input"]
sets = {subject.name: subject.sets(quantifier, split_by) for subject in subjects}
right = {subject.name: drbench_tables.outcomes(subject, **constants) for subject in subjects}
subsets = [*drbench_tables.PAPER_SUBSETS, *drbench_tables.OTHER_SUBSETS]
accuracies = {
    name: accuracy_table(right[name], subject.records.frame, sets[name][subsets])
    for name, subject in zip(sets, subjects, strict=True)
}
chapters.rows_table(subjects, quantifier, split_by)

# %% [markdown]
# ## Accuracy on B, S and BS
#
# Top-1 accuracy on the test rows. Base accuracy on B is zero by construction under greedy decoding;
# the paper explains by sampling that its Qwen2-VL's is not ({doc}`../book/deviations`). A question
# group is a cluster of every interval; where all rows are alike there is none.

# %% tags=["hide-input"]
for subject in subjects:
    for subset in ("B", "S", "BS"):
        table = drbench_tables.accuracy_on(subset, accuracies[subject.name], subject)
        display(table if subset == "BS" else table.fold())

# %% [markdown]
# ## The fourth column: S∖B
#
# S∖B holds the rows that are sensitive and not biased. The paper does not print it, but its tables
# imply it: what is right on BS less what is right on B, over the difference of the sizes.

# %% tags=["hide-input"]
for subject in subjects:
    display(drbench_tables.accuracy_on("S∖B", accuracies[subject.name], subject).fold())

# %% [markdown]
# ## Paired differences
#
# Both methods answer the same rows, so their difference is taken row by row. The claim of each line
# is that it is positive. The p-values of the sign-flip test over question groups are adjusted over
# the lines of all models (Holm). McNemar's exact test stands beside, unadjusted; it takes rows for
# independent, which rotations of one question are not. The line with a star cannot come out
# negative: the base is wrong on every row of B. Verdicts follow from the intervals.

# %% tags=["hide-input"]
claims = drbench_tables.family(subjects, sets, right)
for subject in subjects:
    caption = f"Differences of {subject.shown} in points; “{quantifier}”, split by {split_by}"
    display(drbench_tables.contrast_table(claims[subject.name], subject, caption))

# %% tags=["hide-input"]
drbench_tables.p_table(claims, subjects).fold()

# %% [markdown]
# The page's claim and the paper's others on these tables, each by its own interval from
# {doc}`the scoreboard <verdicts>`:

# %% tags=["hide-input"]
for table in ledger.tables(findings, drbench_tables.paper_differences(subjects)):
    display(table)

# %% [markdown]
# ## The headline under other readings
#
# The same difference with the other quantifier (∀, `all`), and on the split that keeps question
# groups together.

# %% tags=["hide-input"]
tables.compare(
    drbench_tables.other_readings(subjects, right),
    name="readings",
    caption="SCI5 − VCD on BS, in points",
    ours=chapters.side(subjects),
).fold()

# %% [markdown]
# ## Where there is something to lose
#
# L holds the rows whose base answer equals a blind answer, *right or wrong*. Unlike S∖B, the split
# of S into S∩L and S∖L ignores correctness. The rows outside BS are those that the benchmark drops.

# %% tags=["hide-input"]
for subject in subjects:
    for part in (("S∩L", "S∖L"), ("outside BS", "all")):
        display(drbench_tables.accuracy_elsewhere(part, accuracies[subject.name], subject).fold())

# %% tags=["hide-input"]
for subject in subjects:
    display(drbench_tables.flip_table(right[subject.name], sets[subject.name], subject).fold())

# %% [markdown]
# ## Reading: two traps
#
# **Improving on B cannot fail.** The base is wrong there on every row, so any other answer gains.
# The fair opponent is a method that changes the answer without merit.

# %% tags=["hide-input"]
for subject in subjects:
    display(
        Markdown(drbench_tables.first_trap(subject, accuracies[subject.name], claims[subject.name]))
    )

# %% [markdown]
# **S∖B is selected on the base's errors.** It has lost the rows where the base was wrong in a blind
# way, which favours the base; so a loss of a method there is no proof of harm, and no causal claim
# rests on it. S∩L and S∖L are free of that, though S itself was still chosen because the base
# wavers.

# %% tags=["hide-input"]
for subject in subjects:
    traps = drbench_tables.second_trap(
        subject, accuracies[subject.name], right[subject.name], sets[subject.name]
    )
    display(Markdown(traps))

# %% [markdown]
# ## Deviations
#
# - Decoding is greedy throughout. The paper ran Qwen2-VL with top-k sampling.
# - Every method uses the paper's constants: β = 0.3 for all, noise at step 500 as the one dummy of
#   TIE, VCD and M3ID. M3ID counts time in prompt tokens, as the published code does.
# - The paper's S∖B is derived, not printed; rounding of its percentages leaves the counts exact.
# - {doc}`Deviations <../book/deviations>` lists the rest, and {doc}`DRBench <../book/drbench>`
#   says how its subsets are built.
#
# ## If you change …
#
# - `beta=0.8`, the constraint that the paper uses on the data sets as they are: what changes little
#   is spared, and B gains less.
# - `quantifier=all`: a row is biased if *every* dummy leaves the answer as it is. The paper's own
#   tables fit *any*.
# - `models=[mine]` and `records=runs`: a model of yours, from the folder of `sci evaluate`.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

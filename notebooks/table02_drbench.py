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

from IPython.display import Markdown, display

from sci_book import accuracy_table
from sci_book.methods import COMPARED
from sci_book.papers.sci.chapters import drbench_tables
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
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


def less_base():
    """Every method less the base, a line a model, subset and method."""
    for model, subset, name in product(subjects, SUBSETS, COMPARED):
        method = replace(METHODS[name], beta=beta, tau2=tau2)
        yield frame.line(
            model,
            lambda training, method=method: training.right(method) - training.right("base"),
            lambda training, subset=subset: training.sets(quantifier, split_by)[subset],
            subset=subset,
            method=name,
            paper=drbench_tables.paper_gap(model, name, "base", subset),
        )


changes = frame.measured(less_base())

# %%
figures.show(
    frame.dots(changes, ("model", "subset"), "method", xlabel="less the base, points"),
    "What each method changes on each subset, here (full; grey: other trainings) and in the paper "
    "(open): to the left of the line it is less often right than the base. On B nothing can be "
    "lost.",
    alt="A row of panels a model, a panel each for B, S, BS and S∖B, a line a method: dots with"
    " intervals for our difference from the base in points, diamonds for the paper’s.",
)

# %%
frame.table(
    changes,
    rows=("model", "method"),
    columns=("subset",),
    name="less-base",
    caption=f"Each method less the base, points, {tables.INTERVAL}s",
)

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
constants = {"beta": beta, "tau2": tau2}
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
# imply it: what is right on BS less what is right on B, over the difference of the sizes. The
# picture above has what each method changes there, the file above the stamp its accuracy.

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
# of S into S∩L and S∖L ignores correctness. The rows outside BS are those that the
# benchmark drops; accuracies there are in the file above the stamp.

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

# %% tags=["hide-input"]
elsewhere = [drbench_tables.accuracy_on("S∖B", accuracies[model.name], model) for model in subjects]
elsewhere += [
    drbench_tables.accuracy_elsewhere(part, accuracies[model.name], model)
    for part in (("S∩L", "S∖L"), ("outside BS", "all"))
    for model in subjects
]
tables.download("table02-elsewhere", elsewhere)

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # Table 1: how many rows each model stumbles over
#
# **Claim.** Of the two models read, as of the paper's two, Qwen2-VL is the more robust: a smaller
# share of the same test rows is in its BS, the rows on which it is biased or sensitive.
#
# {doc}`DRBench <../book/drbench>` builds its subsets anew for every model. The paper's Table 1
# {cite:p}`tang2026sci` counts them, and section 3.3 reads three things off the counts: Qwen2-VL is
# the more robust of the two models; it is more biased than sensitive; LLaVA-NeXT is the more
# sensitive. The book takes the same counts of two small models on drawn pictures. Their *levels*
# are no reproduction of the paper's. What can be asked is whether the three statements are true
# of the models read as well.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"
quantifier: str = "any"

# %% tags=["hide-input"]

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import subset_sizes
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.pipeline import findings as ledger

began = stamp.begin()
PAIR = ("Qwen2-VL", "LLaVA-NeXT")  # the paper calls the first the more robust

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
findings = ledger.of_page("table01_subset_sizes", subjects)
Markdown(ledger.conclusion(findings))

# %% [markdown]
# ## Records
#
# Every row was evaluated once. The subsets follow from recorded answers: the original one, those
# to two dummy pictures (black, noise at step 500) and those to two rewordings (V1, V2). A row whose
# evaluation failed is left out, not scored as wrong.

# %%
readings = list(dict.fromkeys([(quantifier, split_by), *chapters.READINGS]))
chapters.rows_table(subjects, quantifier, split_by)

# %% [markdown]
# ## Table 1
#
# The paper counts 13,251 test rows, 10,632 of them multiple choice; the pocket twins have as many
# of each. *n* is the number of our rows that could be in a subset. Intervals come from 10,000 draws
# of whole question groups, since the rotations of one question stand or fall together.

# %% tags=["hide-input"]
sizes = {each.name: subset_sizes.sizes(each, each.sets(quantifier, split_by)) for each in subjects}
figure, axes = plt.subplots(
    1, len(subjects), figsize=(figures.WIDTH, 4.2), squeeze=False, sharex=True, sharey=True
)
for ax, each in zip(axes[0], subjects, strict=True):
    subset_sizes.draw_sizes(ax, sizes[each.name], title=each.shown)
figures.show(
    figure,
    "The sizes of the subsets, here (full) and in the paper (open).",
    alt="A panel a model, a line each for B, S, BS and their overlap by type of question: dots "
    "with intervals for our share of rows, diamonds for the paper’s.",
)

# %%
for each in subjects:
    caption = f"Subset sizes of {each.shown}, test rows, quantifier “{quantifier}”"
    table = subset_sizes.size_table(each, sizes[each.name], name=each.name, caption=caption)
    display(table)

# %% [markdown]
# ## The paper's three statements
#
# 1. *Qwen2-VL is the more robust*: its BS is the smaller, so BS of Qwen2-VL less that of LLaVA-NeXT
#    is negative.
# 2. *Qwen2-VL is more biased than sensitive*: its B less its S is positive.
# 3. *LLaVA-NeXT is the more sensitive*: its S less that of Qwen2-VL is positive.
#
# Each is a difference of two shares of the same rows, so it is paired row by row. The unit is
# points: percent of all test rows, by the quantifier `any` and the split by rows.

# %%
for table in ledger.tables(findings, subset_sizes.paper_numbers(subjects, PAIR)):
    display(table)

# %% [markdown]
# ## Other readings of the definition
#
# The paper writes that *all* counterfactual answers must agree (∀, `all`); its tables fit only that
# *any* of them does (∃, `any`). And its split, row by row, puts rotations of one question on both
# sides; the split by `groups` keeps them together. The shares of all test rows under the four
# readings:

# %%
table = {}
for q, by in readings:
    column = table.setdefault(f"{q}, by {by}", {})
    for each in subjects:
        lines = subset_sizes.sizes(each, each.sets(q, by))
        for subset in subset_sizes.COUNTED:
            line = lines.loc[f"{subset}, Overall"]
            ends = tables.interval(line["low"], line["high"], 1)
            column[f"{each.brief}: {subset}"] = f"{line['reproduced']:.1f} {ends}"
tables.plain(
    pd.DataFrame(table),
    name="readings",
    caption="Share of test rows in each subset, %, with 95 % intervals",
)

# %% [markdown]
# And the three statements under the three readings not used for them above; the intervals of one
# reading cover together with 95 %:

# %%
elsewhere = {
    f"{q}, by {by}: {text.split(',')[0]}": line
    for q, by in chapters.READINGS[1:]
    for text, line in subset_sizes.statements(subjects, PAIR, q, by).iterrows()
}
tables.compare(
    pd.DataFrame.from_dict(elsewhere, orient="index").assign(paper=float("nan")),
    name="statements-elsewhere",
    caption="The three statements under other readings, in points",
    ours=chapters.side(subjects),
)

# %% [markdown]
# ## The validation rows
#
# Whoever tunes a method needs enough rows to tune on. The pocket world was made hard enough for at
# least 125 multiple-choice rows and 50 others in each of B and S, on the validation split and by
# the quantifier `any`; the test split was never looked at for this.

# %%
tables.plain(
    pd.concat([subset_sizes.floors(each, "rows", "any") for each in subjects]),
    name="validation",
    caption="Validation rows in B and S, split by rows, quantifier “any”",
)

# %% [markdown]
# ## Reading and deviations
#
# - **A pocket model is no stand-in for its namesake.** The two share an architecture and a loader
#   with the paper's models, not their weights or their training. If a statement fails here, that
#   says nothing against the paper; if it holds, it says that the counts *can* come out like this.
# - **B holds some chance.** A wrong answer counts as biased if it equals a blind one, and of two
#   unrelated answers to a yes/no question half agree. So B says "could have been said without
#   looking", not "was".
# - Answers are compared after parsing. An answer that cannot be parsed counts as different from
#   every answer, so its row is sensitive. {doc}`Deviations <../book/deviations>` lists this and the
#   other choices.
# - The paper gives no intervals; its Table 1 holds counts of one run.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

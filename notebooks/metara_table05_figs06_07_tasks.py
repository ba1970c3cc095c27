# %% [markdown]
# # MetaRA Table V and Figures 6, 7: two tasks
#
# **Claim.** The conditional failure rate is higher on text than on knowledge questions, for each
# model shown.
#
# "OCR-VQA tasks have both a higher average FR and greater variance than KBVQA"
# {cite:p}`xu2026metara`, of one model on six data sets; FR is the failure rate. The pocket world
# has one data set of each task. *Knowledge*, for KBVQA, asks what the picture alone does not show;
# *text*, for OCR-VQA, asks about the text on a sign.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, tasks
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_table05_figs06_07_tasks", ledger.named(models, records))
Markdown(f"{ledger.conclusion(findings)}\n\n{tasks.spread_line(findings)}")

# %% tags=["hide-input"]
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much more often text questions fail than knowledge questions, of originals "
    "answered right.",
    xlabel="text less knowledge, points of failure rate",
)

# %% [markdown]
# ## Table V

# %%
tasks.table05(made)

# %% tags=["hide-input"]
if made:
    figures.show(
        tasks.draw(made),
        "Failure rates of the two tasks beside those of the paper’s data sets, and how they "
        "spread over originals.",
        alt="Two panels. Left: diamonds for the paper’s six data sets, dots with intervals for "
        "each model on the two pocket tasks. Right: steps that say what share of originals "
        "fails no more often than the rate along the axis.",
    )

# %% [markdown]
# ## Which rate?
#
# The gap depends on the rate: the absolute one counts what was wrong before anything changed, the
# conditional one does not. Where a model answers more originals of one task than of the other, the
# two can point either way. And it depends on the mirror: a sign that reads otherwise in it no
# longer shows the answer. Of the lines without MR2 nothing is claimed.

# %%
for model in made:
    display(tasks.gaps_table(model))

# %%
for table in ledger.tables(findings):
    display(table)

# %% tags=["hide-input"]
Markdown(tasks.without_mirror(made))

# %% [markdown]
# ## Reading and deviations
#
# - **The variance of the paper is between data sets**, two of one task and four of the other. Here
#   the spread is between originals.
# - Figure 6 is a radar of six numbers; a dot plot shows the same with intervals.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

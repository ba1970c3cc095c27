# %% [markdown]
# # MetaRA Tables II, III and Figures 3, 4: failure rates of models
#
# **Claim.** Of the originals answered right, more than a tenth fail in some case, on each task, for
# each model shown.
#
# That is what "failure modes that remain hidden under standard benchmarks" {cite:p}`xu2026metara`
# means in numbers: accuracy sees the original alone. The paper prints one failure rate, and its
# equations and tables speak of different ones. Here are three, each under its name:
#
# - **absolute** (eq. 7): the share of cases answered wrong;
# - **conditional**: the same, among originals that are answered right (what eqs. 3 to 6
#   presuppose);
# - **consistency**: the share of cases whose answer is not that of the original, right or wrong.
#
# Each is a mean over an original's cases, then over originals; an unknown answer is a failure. The
# columns of data sets in Tables II and III are accuracies by their own numbers, so they stand
# beside accuracies. The final FR stands beside the conditional rate: the absolute one would mean
# that nearly all the paper's models answer changed inputs better than the originals; the
# consistency rate could be as low too, and the conditional one is taken because equations 3 to 6
# presuppose a right original.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.
# The pocket set *knowledge* stands for the paper's KBVQA, *text* for its OCR-VQA.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers
from sci_book.papers.metara.chapters import models as chapter
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_tables02_03_figs03_04_models", ledger.named(models, records))
margin = "The margin of a tenth is ours, chosen after results were seen."
Markdown(f"{ledger.conclusion(findings)}\n\n{margin}")

# %% tags=["hide-input"]
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "Of the originals answered right, how many fail in some case: what accuracy does not see.",
    xlabel="% of the originals answered right",
)

# %% [markdown]
# ## What was read
#
# `sci evaluate --data pocket_metara` makes such records: knowledge questions (the place, what
# adding or removing does, what a switch does) and questions about the text on a sign, each original
# with its cases under the four relations, more for more difficult ones.

# %% tags=["hide-input"]
chapter.counts_table(made) if made else Markdown("No records were read.")

# %% [markdown]
# ## Three failure rates
#
# Originals are what the intervals draw again. Where all are alike, a share has Wilson's interval.

# %%
for model in made:
    display(chapter.rates_table(model))

# %% [markdown]
# ## The final failure rate

# %%
for task in answers.TASKS:
    display(chapter.final_table(made, task) if made else Markdown("*not comparable*: no records"))

# %% tags=["hide-input"]
if made:
    figures.show(
        chapter.draw(made),
        "Failure rates of the paper’s models and of the pocket models.",
        alt="Two panels, one a task, a line a model: diamonds for the paper’s models, dots with"
        " intervals for the pocket models.",
    )

# %% [markdown]
# ## The columns of data sets

# %%
for task in answers.TASKS:
    display(chapter.columns_table(made, task))

# %% [markdown]
# ## What accuracy does not see

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# On text MR2 is the mirror, in which most signs no longer show the answer. Without it:

# %%
chapter.without_mirror(made) if made else Markdown("*not comparable*: no records")

# %% [markdown]
# ## Reading and deviations
#
# - **One pocket data set a task**, so that the final FR is that data set's.
# - **The conditional rate is of other originals for each model**: those that it answers right. The
#   absolute one is of all, and so it also counts what a model gets wrong before anything changes.
# - More cases find more failures: a share of originals with *some* failing case says how many were
#   looked at as much as how robust a model is.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

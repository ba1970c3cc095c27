# %% [markdown]
# # Every method on every probe
#
# **Claim.** SCI5 gains on every probe of the papers, for each model shown.
#
# No paper asks this; it is the book's own question. A method that helps where its paper looked may
# cost something elsewhere: in captions, in calibration, in what it finds in a picture. This page
# puts every method {cite:p}`tang2026sci` on every probe of all papers, always against the same
# model without it.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]
from IPython.display import HTML, Markdown

from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import matrix
from sci_book.pipeline.pocket_data import draw_companions

began = stamp.begin()
draw_companions(say=lambda _: None)  # drawn in seconds: some probes read what was drawn
subjects = chapters.subjects(models, records)
cells = matrix.cells(models, records)

# %% tags=["hide-input"]
Markdown(matrix.conclusion(subjects, cells, "SCI5"))

# %% tags=["hide-input"]
figures.show(
    matrix.draw(cells),
    "What each method changes on each probe, in points: blue where it is better than the base, red "
    "where it is worse, bold where the interval does not reach zero, nothing where the records do "
    "not settle it. A rate of failures, a Brier score or a drop is better when it falls.",
    alt="A panel a model, a line a probe, a column a method: coloured cells with the change "
    "against the base in points.",
)

# %% [markdown]
# ## The matrix
#
# Sort it by a click on a head, filter it, and open a cell for the rows behind it (the shipped
# training's). Of four trainings and more a line is over all of them; of fewer, each has lines of
# its own. Intervals are read one by one: if no method changed anything, some would still exclude
# zero by chance.

# %% tags=["hide-input"]
HTML(matrix.as_html(cells))

# %% [markdown]
# ## Reading and deviations
#
# - Each number is by its chapter's measure (`data_manifests/paper/matrix.yaml`), and has the
#   interval that it has there.
# - A dash stands where the records do not settle a method, with *not recorded* where they settle it
#   on no probe; and in place of an interval, where no row changes or too few questions were asked.
# - A model that does not meet {ref}`the conditions of SCI <conditions>` is not judged.
# - Cost is counted, not measured: tokens through the language model for a question about a picture
#   of 320 tokens, black kept, every round read ({doc}`table07_cost`).
# - `sci matrix --models NAME` prints the same for any model with records.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, matrix.sources(models, records))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

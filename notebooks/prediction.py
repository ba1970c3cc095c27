# %% [markdown]
# # A prediction for real models
#
# **Claim.** How much SCI5 gains over VCD on a model's BS follows from the share of B in it, which
# the model's own Table 1 tells before any SCI is decoded.
#
# B holds the questions that a model answers wrongly and as it does without the picture, S those
# that it answers otherwise when they are reworded; BS is both together. {doc}`why_gains` takes a
# gain on BS apart: into that on B, that on the rest, S∖B, and the share of each. If the two gains
# are much alike in every model, then the share alone predicts. Here the gains come from pocket
# trainings, and the prediction is for models that nobody here has run.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
trained: list = ["pocket-qwen2vl", "pocket-llavanext"]

# %% tags=["hide-input"]

from IPython.display import Markdown

from sci_book.papers.sci.chapters import headline, prediction
from sci_book.papers.shared import chapters, figures, parameters, stamp
from sci_book.resources import FROZEN_RECORDS

began = stamp.begin()
subjects = chapters.subjects(models, records)
by_seed = headline.seeds(parameters.names(trained, "trained"), FROZEN_RECORDS)
known = prediction.trainings(by_seed)

# %% tags=["hide-input"]
Markdown(prediction.answer(known))

# %% tags=["hide-input"]
figures.show(
    prediction.draw(known, subjects),
    "What SCI5 − VCD on BS should be, from the share of B in BS alone; the marks are what was "
    "measured.",
    alt="A line with a band: the predicted difference in points against B as a percentage of "
    "BS; dots for each training of the pocket models and open marks for the paper’s two "
    "models.",
)

# %% [markdown]
# Line and band: the prediction, and where one more training would lie with 95 %. Dots: the
# trainings that it is made of. Open marks: the paper's two models {cite:p}`tang2026sci`, which took
# no part in it.

# %%
prediction.prediction_table(known, subjects)

# %% [markdown]
# ## Refute it
#
# On a model of your own, from a hub or a folder:
#
# ```bash
# make reproduce MODEL=<hub id or folder> ONLY=sci
# ```
#
# renders this page with that model among the lines above: its share of B, what is predicted from
# it, and what SCI5 and VCD did. A model outside the interval refutes that the share is enough.

# %% [markdown]
# ## What it is made of

# %%
prediction.trainings_table(known)

# %% [markdown]
# ## Reading and deviations
#
# - The band treats trainings as draws of one kind. Real models differ in more than a seed, so the
#   band may be too narrow; every model outside it is news.
# - The paper's models are no blind test: their numbers were known when this was written.
# - A claim about SCI may be put to a training whose rewordings ask the same, whose dummies show
#   nothing and whose base beats a guess ({ref}`conditions`). The further condition, a base as near
#   the paper's as is allowed, is not met by all; the table names what is not met or undecided.
#   Every training counts here nevertheless.
# - Seeds 1 and 2 are trainings of their own; seed 0 of either model goes on from the book's first
#   models ({ref}`registration`).

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

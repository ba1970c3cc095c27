# %% [markdown]
# # Registration and amendments
#
# **Claim.** What decides a verdict of this book is what was registered before the results that it
# decides on, or was amended since with a reason that stands here.

# %% tags=["parameters", "hide-input"]
results: str = "benchmarks/results"

# %% tags=["hide-input"]

from IPython.display import Markdown

from sci_book.papers.shared import stamp
from sci_book.pipeline import registration

began = stamp.begin()

# %% tags=["hide-input"]
Markdown(f"**Verdict: {registration.verdict()}.** {registration.sentence()}")

# %% [markdown]
# ## What is registered
#
# Five ledgers, one a paper, and the conditions that a model must meet ({doc}`conditions`). The
# first models of this book were trained, asked and shown before their ledger was begun: this is a
# registration *after seeing earlier models*. What it had not seen are other trainings and another
# world.

# %% tags=["hide-input"]
Markdown(registration.unseen())

# %%
registration.files_table()

# %% [markdown]
# `sha256sum` of a file in `data_manifests/paper` prints the same number, as long as the file was
# not amended; a test holds every file to the registration and its amendments.

# %% [markdown]
# ## The book's own claims
#
# What the book claims for itself was written down by page, before its results.

# %% tags=["hide-input"]
Markdown(registration.beside())

# %% [markdown]
# ## Amendments

# %%
registration.amendments_table()

# %% [markdown]
# ## What was mended before
#
# Each predicate that was changed on the day of registration, with its verdict before and after on
# the models of that day, conditions aside: so a reader sees which change moved a verdict.

# %%
registration.mended_table(results)

# %% [markdown]
# ## The paper's own numbers, by the same tests
#
# A claim that the paper's own tables do not meet can hardly be held against another model. These
# are the ones, of all whose numbers are printed; the column stands in the ledger of every paper
# ({doc}`verdicts`). No interval is at hand there: a number is on the claimed side or not.

# %%
registration.own_numbers_table()

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
registration.stamp_of(results)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

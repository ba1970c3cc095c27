# %% [markdown]
# # Finished runs side by side
#
# **Claim.** SCI5 answers more rows right than the model alone, in every run shown here.
#
# This page takes any number of finished runs and sets them beside each other, whatever model or
# data set each was made with. In the book it shows the shipped pocket models. For runs of your own,
# name their records (files, or folders of finished `sci evaluate` runs):
#
# ```bash
# sci notebook runs --set 'runs=[runs/mine, runs/other]' --out runs/compared
# ```
#
# Where runs answered the same rows, they are paired on them.

# %% tags=["parameters", "hide-input"]
runs: list = [
    "data_manifests/records/pocket-qwen2vl.parquet",
    "data_manifests/records/pocket-llavanext.parquet",
]
method: str = "SCI5"

# %% tags=["hide-input"]

from IPython.display import Markdown

from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import runs_compared

began = stamp.begin()
loaded = runs_compared.load(runs)

# %% tags=["hide-input"]
gains = runs_compared.gains(loaded, method)
Markdown(runs_compared.conclusion(loaded, gains, method))

# %% tags=["hide-input"]
figures.show(
    runs_compared.draw(gains, method),
    "The accuracy of the base and of the method, run by run.",
    alt="A line a run: a grey dot for the base’s accuracy and an orange one for the method’s, "
    "joined by a line.",
)

# %% [markdown]
# ## What was run

# %%
runs_compared.overview(loaded, method)

# %% [markdown]
# ## What the method gains
#
# Rows with an error are left out. The verdicts are on the lines "all"; each interval covers by
# itself.

# %%
runs_compared.gains_table(gains, method)

# %% [markdown]
# ## Against the first run
#
# Every other run less the first, on the rows that both answered; a run that shares no row with it
# has n = 0.

# %%
runs_compared.against_table(runs_compared.against_first(loaded, method), loaded[0].shown)

# %% [markdown]
# ## Reading and deviations
#
# - All rows are read here, validation and test alike, of one training, and the method with its own
#   β. {doc}`results` reads test rows, over trainings, with that β and a larger one: its gains may
#   differ in sign from those here.
# - Two runs may differ in more than the model: precision and data are in the table of
#   runs and in the stamp, and the reader decides what a difference means.
# - An unknown answer is wrong, and equals no other.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
runs_compared.stamp_of(loaded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # Figure 1(c): whose hard rows are they?
#
# **Claim.** At least a quarter of the rows that either of two models stumbles over are its own: the
# rows that both stumble over are fewer than three quarters of each model's BS.
#
# The paper {cite:p}`tang2026sci` builds its benchmark anew for every model because hard rows are
# not fixed: of all rows, 24.68 % are hard for LLaVA-NeXT, and only 7.34 % for Qwen2-VL as well.
# Some overlap is there by chance, and more because some questions are simply hard. So beside the
# shared share stand the share that independence would give and the ratio of the two.
#
# The margin of three quarters was set before there was a trained model to look at. That the shared
# rows are *no more* than each model's own needs no test: they are a part of them.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"
quantifier: str = "any"

# %% tags=["hide-input"]

import matplotlib.pyplot as plt
from IPython.display import Markdown

from sci_book.papers.sci.chapters import nonrobust_share
from sci_book.papers.shared import chapters, figures, stamp, tables

began = stamp.begin()
MARGIN = 0.75

# %% [markdown]
# ## Kinds of failure
#
# The test rows of each model fall into B only, S only, both, and neither. The paper prints the
# total of one model; the rest of its column follows from its Table 1.

# %%
subjects = chapters.subjects(models, records)
sets = {each.name: each.sets(quantifier, split_by) for each in subjects}
chapters.levels(
    nonrobust_share.failures(subjects, sets),
    name="kinds",
    caption=f"Share of all test rows, %; quantifier “{quantifier}”, split by {split_by}",
    ours=chapters.side(subjects),
)

# %% tags=["hide-input"]
figure, ax = plt.subplots(figsize=(figures.WIDTH, 0.9 + 0.8 * len(subjects)))
nonrobust_share.draw_bars(ax, nonrobust_share.failure_bars(subjects, sets))
plt.show()

# %% [markdown]
# ## The rows both models stumble over
#
# First the shares of all test rows. Then the rows that both stumble over as a share of each model's
# BS: 100 % would mean that the other model's list holds every row of its own. These two are
# claimed, with intervals that cover together with 95 %. The last line is a ratio: how many times
# more often both stumble than if they did so independently.

# %%
shared = nonrobust_share.shared(subjects, sets, MARGIN)
tables.compare(
    shared,
    name="shared",
    caption="Percent of all test rows, then of one model’s BS; the last line is a ratio",
    ours=chapters.side(subjects),
)

# %% tags=["hide-input"]
figure, ax = plt.subplots(figsize=(figures.WIDTH, 1.7))
nonrobust_share.draw_bars(ax, nonrobust_share.shared_bars(subjects, sets))
plt.show()

# %% tags=["hide-input"]
claims = shared[shared["verdict"].notna()]
found = [chapters.finding(name, line, " %") for name, line in claims.iterrows()]
Markdown(f"**Verdict: {chapters.overall(claims['verdict'])}.** {'. '.join(found)}.")

# %% [markdown]
# ## Reading and deviations
#
# - **The paper's 7.34 % is read as a share of all rows**, like the 24.68 % beside it. Its sentence
#   ("among all 24.68% hard samples […] there are only 7.34% shared") could also mean a share of
#   the hard ones; that would be 240 rows, fewer than the 433 of two independent models.
# - **The last ratio is the other half of the story.** Hard rows differ from model to model, and
#   yet a row that is hard for one is likelier to be hard for the other wherever that ratio is
#   above 1. A list made for one model is neither useless for another nor enough.
# - Two pocket models share the pictures they were trained on, so they may share more of their
#   habits than two models from different laboratories.
# - What the subsets are, and which reading of their definition is used, is in
#   {doc}`DRBench <../book/drbench>`; {doc}`table01_subset_sizes` has the sizes under all readings.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

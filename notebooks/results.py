# %% [markdown]
# # Results at a glance
#
# **Claim.** SCI5 is right more often than VCD on BS, for each model read.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]
from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import glance
from sci_book.papers.shared import chapters, figures, stamp

began = stamp.begin()
subjects = chapters.subjects(models, records)
effects = glance.effects(subjects)

# %% tags=["hide-input"]
Markdown(glance.sentences(effects, subjects))

# %% [markdown]
# A dot is this book's model, with its interval; a diamond is the paper's model of the same family.
# B: the base is wrong, and says the same of a dummy picture. S: a rewording changes the base's
# answer. BS: rows in B, in S, or in both. S∖B: rows in S that are not in B
# ({doc}`../book/drbench`). VCD is visual contrastive decoding, SCI's predecessor.

# %% tags=["hide-input"]
figures.show(
    glance.draw(effects, subjects),
    "What SCI5 gains over VCD and over the base on each subset, in the paper (open) and here "
    "(full): to the right of the line SCI5 is better.",
    alt="Two panels, SCI5 less VCD and SCI5 less base, a line a subset, B, S, S∖B, BS and all "
    "rows: dots with intervals for the pocket models and diamonds for the paper’s models, "
    "in points.",
)

# %% tags=["hide-input"]
Markdown(f"**Verdict: {chapters.overall(effects.xs(('VCD', 'BS'), level=(1, 2))['verdict'])}.**")

# %% [markdown]
# ## The numbers
#
# Differences on test rows; each interval covers by itself, as the ledger's does for a claim of one
# part. On all rows both methods have the constraint that the paper uses there,
# β = 0.8. TIE, which subtracts what the model says of a noisy picture (noise500), is shown on BS
# alone. *Not comparable* means that the model does not meet what the claim rests on
# ({ref}`conditions`). {doc}`why_gains` says where the gain comes from; {doc}`verdicts` has every
# other sentence of the paper.

# %% tags=["hide-input"]
for subject in subjects:
    display(glance.table(effects, subject))

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

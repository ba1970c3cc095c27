# %% [markdown]
# # Results at a glance
#
# **Claim.** SCI5 is right more often than VCD on BS, for each model read.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import glance
from sci_book.papers.shared import chapters, stamp

began = stamp.begin()
subjects = chapters.subjects(models, records)
effects = glance.effects(subjects)

# %% tags=["hide-input"]
Markdown(glance.sentences(effects, subjects))

# %% [markdown]
# A dot is this book's model, with its interval; a diamond is the paper's model of the same family.
# B holds the rows that the base gets wrong as it would without the picture, S those whose answer
# another wording changes, BS both ({doc}`../book/drbench`).

# %% tags=["hide-input"]
glance.draw(effects, subjects)
plt.show()

# %% tags=["hide-input"]
Markdown(f"**Verdict: {chapters.overall(effects.xs(('VCD', 'BS'), level=(1, 2))['verdict'])}.**")

# %% [markdown]
# ## The numbers
#
# Differences on test rows; intervals cover together with 95 % over all lines of the page. On all
# rows both methods have the constraint that the paper uses there, β = 0.8. *Not comparable* means
# that the model does not meet what the claim rests on ({doc}`conditions`). Where the gain comes
# from, {doc}`why_gains` says; {doc}`claims` has every other sentence of the paper.

# %% tags=["hide-input"]
for each in subjects:
    display(glance.table(effects, each))

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

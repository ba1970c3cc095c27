# %% [markdown]
# # C-VQA: does SCI shrink the counterfactual drop?
#
# **Claim.** SCI5's counterfactual drop is smaller than the base's, for each model shown.
#
# The question that neither paper asks {cite:p}`zhang2023cvqa,tang2026sci`. Self-Critical Inference
# listens to what a model says without the picture and in other words; a presupposition is one more
# thing to be heard in the words. If a model falls for what it sees, or for the words it knows, then
# its critic might help it; if it cannot reason, nothing will.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from sci_book.papers.cvqa import paper
from sci_book.papers.cvqa.chapters import pairs, shrinking
from sci_book.papers.shared import chapters, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %%
found = pairs.subjects(models, records)
subjects = found.subjects
Markdown(chapters.absences(found))

# %% [markdown]
# ## Methods against the base, and against each other
#
# All items of the twin, numbers as the paper asks for them and booleans as the models understand
# them. The difference of two drops is taken item by item, pictures are resampled, intervals cover
# together with 95 % over the lines of all models, and p-values of the sign-flip test are Holm's
# over the same lines. The constants are the methods' own; nothing was tuned here.

# %%
found = shrinking.family(subjects)
for each in subjects:
    if each.name in found:
        display(shrinking.table(each, found[each.name]))

# %% tags=["hide-input"]
if found:
    shrinking.draw(subjects, found)
    plt.show()

# %% [markdown]
# ## The claim
#
# SCI5 against the base by itself, a question of the book's own and asked of one model at a time. So
# its interval is narrower than that of the same line in the tables above, which covers together
# with all others: what is decided here by a little may be undecided there.

# %%
findings = ledger.of_page("cvqa_sci_shrinking", ledger.named(models, records))
for table in ledger.tables(findings):
    display(table)

# %% tags=["hide-input"]
Markdown(ledger.conclusion(findings))

# %% [markdown]
# ## Either side by itself
#
# A drop shrinks also if the original question is answered worse. So here are both sides.

# %%
for each in subjects:
    if each.name in found:
        display(shrinking.both_sides(each))

# %%
for each in subjects:
    if each.name in found:
        display(shrinking.by_type(each))

# %% tags=["hide-input"]
Markdown(" ".join(shrinking.moved(each) for each in subjects if each.name in found))

# %% [markdown]
# ## Reading and deviations
#
# - **The critic hears one instruction in other words**; none of its rounds leaves the
#   presupposition out. A round that did would be the natural counterfactual of a counterfactual
#   question, and another method than the paper's.
# - An interval that reaches zero is no proof of nothing: it says how large an effect these items
#   could have hidden.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

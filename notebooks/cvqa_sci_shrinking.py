# %% [markdown]
# # C-VQA: does SCI shrink the counterfactual drop?
#
# **Claim.** SCI5's counterfactual drop is smaller than the base's, for each model shown.
#
# Neither paper asks this question {cite:p}`zhang2023cvqa,tang2026sci`. Self-Critical Inference
# compares what a model says without the picture and in other words. If a model answers the
# counterfactual question from habit, or from the picture as it is, SCI may help; if the model
# cannot reason, it will not.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.cvqa import paper
from sci_book.papers.cvqa.chapters import pairs, shrinking
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("cvqa_sci_shrinking", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
recorded = pairs.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much of the base's drop on counterfactual questions SCI5 takes away.",
    xlabel="the base's drop less SCI5's, points",
)

# %% [markdown]
# ## Methods against the base, and against each other
#
# All items of the twin, numbers as the paper asks for them and booleans as the models understand
# them. The difference of two drops is taken item by item, a picture is a cluster of every interval,
# and p-values of the sign-flip test are Holm's over the lines of all models. The constants are the
# methods' own; nothing was tuned here.

# %%
family = shrinking.family(subjects)
for subject in subjects:
    if subject.name in family:
        display(shrinking.table(subject, family[subject.name]))

# %% tags=["hide-input"]
if family:
    figures.show(
        shrinking.draw(subjects, family),
        "What each method takes off the drop from original to counterfactual questions: to the "
        "right of the line the drop shrinks.",
        alt="A panel a model, a line a method: dots with intervals for the points that it takes"
        " off the base’s drop.",
    )

# %% [markdown]
# ## The claim
#
# SCI5 against the base, for one model at a time; below 0, SCI5's drop is the larger one. The
# interval is narrower than that of the same line in the tables above, which covers all lines
# together: a difference that is decided here may be undecided there.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Either side by itself
#
# A drop also shrinks if the original question is answered worse, so both sides are shown.

# %%
for subject in subjects:
    if subject.name in family:
        display(shrinking.both_sides(subject))

# %%
for subject in subjects:
    if subject.name in family:
        display(shrinking.by_type(subject))

# %% tags=["hide-input"]
Markdown(" ".join(shrinking.moved(subject) for subject in subjects if subject.name in family))

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

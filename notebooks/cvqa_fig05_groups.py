# %% [markdown]
# # C-VQA, Figure 5: does one group lose more?
#
# **Claim.** The counterfactual drop is larger on pictures of the smaller group than on those of the
# larger one, for each model shown.
#
# Of the pictures with people of one gender alone, the paper {cite:p}`zhang2023cvqa` has 510 of men
# and 207 of women, and finds that most end-to-end models lose more on the second. It prints no
# interval. The pocket world has no people; its groups are attributes of a scene that no question
# asks about: indoors or outdoors, dim or clear. What can be asked of them is the form of the
# finding: does the smaller group lose more, and would this many pictures show it?

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.cvqa import paper
from sci_book.papers.cvqa.chapters import groups, pairs
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("cvqa_fig05_groups", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
recorded = pairs.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much more accuracy a counterfactual question costs on the smaller group of "
    "pictures than on the larger.",
    xlabel="points lost on the smaller group less points lost on the larger",
)

# %% [markdown]
# ## Differences by group
#
# diff(group) = accuracy on original less counterfactual questions. The last line of each method is
# the difference of the two, which is what bias means here.

# %%
families = {name: groups.family(subjects, name) for name in groups.ATTRIBUTES}
for name, tables in families.items():
    for subject in subjects:
        if (subject.name, "base") in tables:
            display(groups.table(subject, name, tables))

# %% tags=["hide-input"]
if all(families.values()):
    figures.show(
        groups.draw(subjects, families),
        "The drop by group of pictures: a group in full marks beside its opposite in open ones.",
        alt="Four panels, two pairs of groups by two models: dots with intervals for the drop "
        "from original to counterfactual questions, in points, for base, VCD and SCI5.",
    )

# %% [markdown]
# ## The claim
#
# Answers of the base, both attributes.
#
# The folded tables test a second claim, `cvqa-systematic-bias`: “MLLMs demonstrate systematic bias
# in answering gender-related counterfactual questions”. It has two sides: the drop on dim pictures
# differs from that on clear ones, whichever is larger. It can stay undecided, and cannot fail.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Figure 4: a question asked of either group
#
# The paper shows a pair of like questions of which a model answers only the one about a man. No
# pair is shown here: among hundreds of pictures one can always be found, in either direction, and
# the tables above are of all pairs.
#
# ## Reading and deviations
#
# - **Groups differ in more than their name.** Indoors there are other things than outdoors, and dim
#   pictures are harder to see. A difference would not say which of these it was; nor does the
#   paper's.
# - The paper compares two bars by eye and prints no interval; how wide it would be follows below.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% tags=["hide-input"]
Markdown(groups.resolution(subjects))


# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

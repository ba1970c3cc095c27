# %% [markdown]
# # ORIC, Table 7: guided objects against objects by lot
#
# **Claim.** Guided present objects lower recall of yes, and guided absent ones recall of no, for
# each model shown.
#
# The paper's ablation {cite:p}`oric`: objects by lot, present ones guided alone, absent ones guided
# alone. It adds that "no-recall declines more sharply in most models". Guided present objects are
# unexpected *and* smaller than the others of their picture, and stand on other pictures than those
# by lot: a table of its own shows what is left at equal sizes, and nothing is claimed of it.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric import paper
from sci_book.papers.oric.chapters import answers, encoder, sampling
from sci_book.papers.oric.detectors import NoisySceneGraph
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet
recorded = answers.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
findings = ledger.of_page("oric_table07_sampling", ledger.named(models, records))
answer = ledger.led_by(findings, "no-declines-more", "the sharper decline")
Markdown(ledger.conclusion(answer))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much recall is lost where objects are guided and not drawn by lot.",
    xlabel="by lot less guided, points of recall",
    paper=sampling.paper_numbers(subjects),
)

# %% [markdown]
# ## Records
#
# A hundred pairs of pictures, two present and two absent objects each, in the paper's four
# wordings; a fifth of ORIC-Bench. The construction is the paper's; the judge of what is expected is
# co-occurrence in other scenes, the encoder a pocket CLIP, and the questions it chose are frozen in
# `data_manifests/pocket_oric.csv`. Every metric is averaged over the wordings; a picture is a
# cluster of every interval. An answer that is neither yes nor no is *unknown*: it counts as wrong.

# %% [markdown]
# ## Table 7
#
# The table as the paper prints it, a change being against objects by lot, and ours. *Random* are
# objects by lot; *positives only* guides the present objects alone, *negatives only* the absent
# ones. The detector knows nothing of context, so that its lines show what is chance.

# %%
answers.as_printed("oric_table07", "Table 7")

# %%
detector = NoisySceneGraph.of_file(encoder.DATA / "scenes_val.jsonl")
sampling.table07(subjects, detector) if subjects else Markdown("No answers.")

# %% tags=["hide-input"]
if subjects:
    figures.show(
        sampling.draw(subjects),
        "Recall where objects are chosen by lot, and where they are guided.",
        alt="Two panels, present and absent objects, a group a model: dots with intervals for "
        "recall with objects by lot and with guided objects; diamonds for the model of the "
        "same family in the paper.",
    )

# %% [markdown]
# ## What guidance costs
#
# Recall with objects by lot less recall with guided ones.

# %%
for table in ledger.tables(findings, sampling.paper_numbers(subjects)):
    display(table)

# %%
sampling.equal_sizes(subjects) if subjects else Markdown("No answers.")

# %%
Markdown(sampling.crowding(subjects, encoder.things()) if subjects else "No pictures.")

# %% [markdown]
# ## Reading and deviations
#
# - Guided and random absent objects are asked about on the same picture, so their difference is
#   paired. Present objects are not: the guidance chooses pictures that hold unexpected objects, and
#   random present objects are on any picture with three categories. Whether those pictures are
#   easier is not settled.
# - What is left at equal sizes on the *same* pictures is not settled either:
#   {doc}`oric_table04_fig10_sizes`.
# - The weights of the line at equal sizes are the shares of sizes among ORIC's objects, held fixed
#   in the interval. Sizes are those of {doc}`oric_table04_fig10_sizes`.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

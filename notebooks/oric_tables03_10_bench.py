# %% [markdown]
# # ORIC, Tables 3 and 10: the benchmark
#
# **Claim.** On the pocket ORIC-Bench macro F1 is below 79.55 %, the paper's best, and recall of no
# is above recall of yes, for each model shown.
#
# ORIC {cite:p}`oric` asks about objects that are there against all expectation, and about absent
# ones that the scene suggests. "The 79.55 F1 ceiling shows LVLMs still struggle with incongruous
# cases", it says, and finds "a shared “yes”-conservatism bias".
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric import paper
from sci_book.papers.oric.chapters import answers, bench, encoder
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
findings = ledger.of_page("oric_tables03_10_bench", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "Macro F1 on the pocket ORIC-Bench, below the paper's best or not, and how much recall "
    "of no exceeds recall of yes.",
    xlabel="macro F1 in %; difference of recalls in points",
    paper=bench.paper_numbers(subjects),
)

# %% [markdown]
# ## Records
#
# A hundred pairs of pictures, two present and two absent objects each, in the paper's four
# wordings; a fifth of ORIC-Bench. The construction is the paper's; the judge of what is expected is
# co-occurrence in other scenes, the encoder a pocket CLIP, and the questions it chose are frozen in
# `data_manifests/pocket_oric.csv`. Every metric is averaged over the wordings; a picture is a
# cluster of every interval. An answer that is neither yes nor no is *unknown*: it counts as wrong.

# %%
Markdown(answers.unread(subjects, {"the benchmark": answers.BENCH}))

# %% [markdown]
# ## Tables 3 and 10
#
# Table 10 as the paper prints it; Table 3 is a part of it. Then each of our models, beside it the
# paper's model of its family, a larger one.

# %%
answers.as_printed("oric_table10", "Table 10")

# %%
for subject in subjects:
    display(bench.table(subject))

# %% tags=["hide-input"]
if subjects:
    figures.show(
        bench.draw(subjects),
        "Present objects found beside absent objects denied: above the diagonal a model prefers"
        " to say no.",
        alt="Dots for the paper’s twenty rows and for each pocket model with its intervals: the"
        " recall of yes along the axis, the recall of no up, and a diagonal.",
    )

# %% [markdown]
# A point above the diagonal denies absent objects more often than it finds present ones.
#
# ## The wordings
#
# The paper averages over them; how far they lie apart it does not say.

# %%
bench.wordings(subjects) if subjects else Markdown("No answers.")

# %% [markdown]
# ## A detector
#
# The pocket world's detector is the scene graph itself, with objects missed and invented by lot. It
# does not know what is usual, so context cannot mislead it: it shows the shape of the paper's two
# rows, and tells nothing of open-vocabulary detectors.

# %%
detector = NoisySceneGraph.of_file(encoder.DATA / "scenes_val.jsonl")
bench.detector_table(subjects, detector) if subjects else Markdown("No questions.")

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings, bench.paper_numbers(subjects)):
    display(table)

# %% [markdown]
# The same for POPE's questions about the same pictures, where nothing is out of place:

# %%
bench.elsewhere(subjects) if subjects else Markdown("No answers.")

# %% [markdown]
# ## Reading and deviations
#
# - **The prompt is not the paper's**: a pocket model reads "Please answer the question based on the
#   given image." as the sign of another kind of question. It is told "Please answer yes or no.",
#   behind each of the paper's four wordings.
# - The pocket models learnt "Is there a cow in the picture?"; the wordings are of other words, and
#   the table of wordings shows what that costs.
# - The paper puts an unclear answer to a text model. Here it stays unknown.
# - The margin 79.55 is a number of another model on another world.
# - **Neither half of the claim is about context**: the last table asks the same of POPE's usual
#   objects. What context costs, {doc}`the next page <oric_tables01_08_pope>` asks.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

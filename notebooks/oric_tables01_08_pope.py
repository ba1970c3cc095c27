# %% [markdown]
# # ORIC, Tables 1 and 8: POPE on the same pictures
#
# **Claim.** On the same pictures macro F1 is lower on ORIC's objects than on POPE's, random and
# adversarial, for each model shown. *Table 1:* in its pairs macro F1 falls by more than 20 points.
#
# The paper {cite:p}`oric` keeps picture and label, changes the object, and sees macro F1 fall
# "dramatically to around 60" (Table 1); over whole benchmarks, POPE {cite:p}`li2023pope` and
# ORIC-Bench, most models lose too (Table 8). The pocket POPE asks about any objects that are
# present, and about absent ones by lot or (adversarial) those that most often stand beside what is
# there.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric import paper
from sci_book.papers.oric.chapters import answers, context, encoder
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet
recorded = answers.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
findings = ledger.of_page("oric_tables01_08_pope", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    ledger.led_by(findings, "dramatic-drop", ledger.PAGE),
    "How much lower macro F1 is on ORIC's objects than on POPE's, on the same pictures; in the "
    "last line, in Table 1's pairs.",
    xlabel="POPE less ORIC, points of macro F1",
    paper=context.paper_numbers(subjects),
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
Markdown(answers.unread(subjects, answers.SETS))

# %% [markdown]
# ## Table 8

# %%
for subject in subjects:
    display(context.table08(subject))

# %% tags=["hide-input"]
if subjects:
    figures.show(
        context.draw(subjects),
        "Macro F1 on the same pictures by who chose the objects.",
        alt="A group a model: dots with intervals for POPE, adversarial POPE and ORIC; diamonds"
        " for the model of the same family in the paper.",
    )

# %%
Markdown(f"{context.paper_drops()} {encoder.shared_questions()}")

# %% [markdown]
# ## What is lost
#
# By label: a loss on present objects is misses, a loss on absent ones is hallucinations. Nothing is
# claimed here.

# %%
context.by_label(subjects) if subjects else Markdown("No answers.")

# %% [markdown]
# ## Table 1
#
# One object of POPE's and one of ORIC's on the same picture, with the same label. The paper chose
# 25 of each label by hand; here it is the first object that only one of the two sets asks about.

# %%
answers.as_printed("oric_table01", "Table 1")

# %%
for subject in subjects:
    display(context.table01(subject))

# %%
context.fallen(subjects) if subjects else Markdown("No pairs.")

# %% [markdown]
# ## Figures 1 and 2
#
# Pairs that a model has right on POPE's object and wrong on ORIC's in every wording, the first two
# of each label.

# %% tags=["hide-input"]
for subject in subjects:
    display(Markdown(subject.shown))
    if (examples := context.examples(subject)).empty:
        display(Markdown("No pair is right on POPE's and wrong on ORIC's in every wording."))
    else:
        figures.show(
            context.gallery(examples, encoder.DATA / "images"),
            "Pairs of questions about one picture of which one was answered right and the other "
            "wrong.",
            alt="Small drawn pictures; under each, which object was found or denied rightly, and "
            "which was missed or invented.",
        )

# %% [markdown]
# ## The claims
#
# What macro F1 loses on the same pictures, and, in the pairs of Table 1, whether the fall is
# dramatic. Below each model's table stand the paper's other sentences about these sets, as the
# ledger has them.

# %%
for table in ledger.tables(findings, context.paper_numbers(subjects)):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **Same pictures, both sets.** The paper's POPE has its own 500 pictures, so that its Table 8
#   compares pictures too. Here the present objects of both sets are on one picture and the absent
#   ones of both on another, and the difference is paired.
# - POPE's objects are drawn from all there are, or by what is usual; some are ORIC's own, which
#   draws the sets together (the sentence above counts them). Table 1 leaves those out.
# - **ORIC's present objects are smaller, too.** At equal sizes the loss on them is not settled:
#   {doc}`oric_table04_fig10_sizes`.
# - Which of POPE's three settings the paper took it does not say. Random and adversarial stand
#   here; the most frequent objects are left out.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # ORIC, Table 4 and Figure 10: is it size?
#
# **Claim.** Recall of present objects is lower on ORIC than on POPE at each size that both ask
# about, and at ORIC's own mix of sizes, for each model shown.
#
# ORIC's present objects are the smaller ones of their pictures. The paper {cite:p}`oric` shows that
# recall falls at each size and concludes that "contextual incongruity, rather than scale, is the
# main source". At equal sizes, what is left?
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric.chapters import answers, sizes
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = answers.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
findings = ledger.of_page("oric_table04_fig10_sizes", ledger.named(models, records))
answer = ledger.led_by(findings, "context-rather-than-scale", "the paper's conclusion")
Markdown(ledger.conclusion(answer))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much lower recall of present objects is on ORIC than on POPE, at equal sizes.",
    xlabel="POPE less ORIC, points of recall",
    paper=sizes.paper_numbers(subjects),
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
# ## Figure 10
#
# The paper's limits are of pictures several times as large. Here the limits are those at which the
# pocket world's objects have the shares of COCO's in Figure 10; size is the area that the boxes of
# an object cover together.

# %%
share = sizes.shares()
sizes.shares_table(share)

# %% tags=["hide-input"]
figures.show(
    sizes.draw(share),
    "The sizes of the present objects that each set of questions asks about.",
    alt="Stacked horizontal bars, the paper’s COCO, POPE and ORIC and the pocket sets: the "
    "shares of small, medium and large present objects.",
)

# %% [markdown]
# ## Table 4

# %%
answers.as_printed("oric_table04", "Table 4, recall of yes by size")

# %%
for subject in subjects:
    display(sizes.recalls(subject))

# %% [markdown]
# ## The claims
#
# What recall loses from POPE to ORIC, size by size, and where POPE's sizes are weighted as ORIC's
# are. Below stand the paper's other sentences about sizes, as the ledger has them; its shares are
# of the questions, the same for every model. Here n counts POPE's questions; Table 4 above counts
# ORIC's too.

# %%
for table in ledger.tables(findings, sizes.paper_numbers(subjects)):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **A size that one set does not have is left out**, which was decided after the results: here
#   ORIC asks about no large object, since its objects lie below the median of their picture.
# - The paper prints 24² where COCO has 32², and gives no interval: with a few dozen objects of a
#   size, a difference of some points is noise.
# - **Equal sizes have little room**: where nearly all of ORIC's objects are small, the line at
#   ORIC's sizes rests on POPE's small ones.
# - In a pocket scene a large object is several things of one kind, for each stands in its own cell.
#   So size here is number, and not distance.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

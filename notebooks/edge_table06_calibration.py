# %% [markdown]
# # Edge Tables 6 and 11 to 14, Figure 3: confidence
#
# **Claim.** Confidence saturates: more than 99 % of the answers to questions lie in the top bin,
# for each model shown.
#
# The paper {cite:p}`erol2026edge` takes the geometric mean of an answer's token probabilities as
# its confidence (equation 2) and finds a constant 0.999 for its larger model. Here the
# probabilities come from the recorded **raw** logits. Scores that a decoder has already processed
# hold minus infinity at every token it has ruled out, and so saturate at 1 whatever the model
# believed: one reason for a constant.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import calibration
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = edge.read(models, records)
pair = recorded.pair

# %% tags=["hide-input"]
findings = ledger.of_page("edge_table06_calibration", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How many of the answers to questions have a confidence of 0.9 or more.",
    xlabel="% of answers",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(f"{edge.missing_line(recorded)} {edge.pair_line(pair)}"))
display(Markdown(edge.ABOUT_RECORDS), edge.rows_table(recorded))

# %% [markdown]
# ## Table 6
#
# ECE is biased upwards, the more the fewer answers a bin has; a picture is a cluster of every
# interval. The average is the mean of both kinds, as in the paper.

# %%
calibration.table06(recorded, pair)

# %% [markdown]
# ## Tables 11 to 14
#
# The paper's bins at the left, ours at the right with Wilson's interval of what is right; the
# number of answers of a bin is its n. Each answer has a picture of its own.

# %%
for model in calibration.binned(recorded):
    for kind in calibration.KINDS:
        display(calibration.bin_table(model, kind, pair))

# %% [markdown]
# ## Figure 3
#
# Marks grow with the number of answers in a bin; open marks are the paper's bins.

# %% tags=["hide-input"]
figures.show(
    calibration.draw(recorded, pair),
    "How often an answer is right beside how sure the model was: below the dashed line it was "
    "too sure.",
    alt="Two panels, questions and captions: accuracy against confidence in bins, a line a "
    "model; open marks are the paper’s two models; a dashed diagonal is perfect "
    "calibration.",
)

# %% [markdown]
# ## Over- or underconfident
#
# Mean confidence less accuracy, in points: above 0 is overconfident.

# %%
chapters.levels(
    calibration.gaps(recorded),
    name="gaps",
    caption="Confidence − accuracy, points",
    ours=edge.side(recorded.models),
)

# %% [markdown]
# ## Confidence as a gate
#
# What the paper asks of confidence: a threshold that lets right answers pass and stops wrong ones.

# %%
calibration.gate(recorded)

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **Captions are underconfident by construction of the rule**: nearly all of them pass it, and no
#   geometric mean over a dozen tokens is that sure. So the ledger counts that claim as one by
#   construction, and the claim that no single threshold works leans on the same ceiling.
# - A yes or a no has the probability of its first token; short answers and captions have those of
#   all their tokens. The end of the answer is not counted, as in equation 2.
# - The paper's bins are closed below and open above; the last one is closed here, or a confidence
#   of 1 would have none.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

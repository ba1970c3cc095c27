# %% [markdown]
# # Edge: does Self-Critical Inference change reliability?
#
# **Claim.** SCI5 changes calibration, blur sensitivity and negation for the better, on questions
# and captions of each model shown.
#
# The Edge Reliability Gap {cite:p}`erol2026edge` says that test-time remedies are developed for
# models of 7 billion parameters and more, and leaves open what they do to its own measures.
# Self-Critical Inference {cite:p}`tang2026sci` is such a remedy. Every row of these experiments was
# answered by the base and by SCI5, with the presets of its paper, so that the two can be compared
# row by row.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.edge.chapters import effects
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
recorded = edge.read(models, records)
pair = recorded.pair

# %% tags=["hide-input"]
findings = ledger.of_page("edge_sci", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What SCI5 changes in calibration (Brier score, lower is better), in the cost of blur, "
    "and in negation probes passed.",
    xlabel="SCI5 less base, points",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(f"{edge.missing_line(recorded)} {edge.pair_line(pair)}"))
display(Markdown(edge.ABOUT_RECORDS), edge.rows_table(recorded))

# %% [markdown]
# ## SCI5 less the base
#
# Means of the same rows; p-values are the sign-flip test's with Holm's correction over the lines of
# all models. The Brier score is the mean squared distance between confidence and outcome; lower is
# better. It stands for calibration in the tests because it is a mean over rows. The claim's lines
# stand once more in the ledger's tables below.

# %%
for model in recorded.full:
    display(effects.shown(recorded, model))

# %% tags=["hide-input"]
figures.show(
    effects.draw(recorded),
    "What SCI5 changes in each of the paper’s measurements: to the right is better, so Brier "
    "scores and drops stand with their sign turned.",
    alt="A line a measurement, such as accuracy, Brier score, drop under blur and probes "
    "passed: a dot with an interval for each model, SCI5 less base in points.",
)

# %% [markdown]
# ## Calibration
#
# The confidence of either answer is its probability in the eyes of the base: the original round's
# raw logits. It says how sure the model is of the answer that the method makes it give. An answer
# with a token that no round kept has no confidence, and counts only in the lines about accuracy.

# %%
effects.ece_table(recorded)

# %% [markdown]
# ## VCD, for comparison
#
# Intervals and Holm's correction are over VCD's own lines, of all models.

# %%
for model in recorded.full:
    display(effects.shown(recorded, model, "VCD").fold())

# %% [markdown]
# ## The claim

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - **SCI's presets are made for a letter, a word or a yes.** A caption of a dozen tokens is a dozen
#   chances to leave what the original round would have written, and its mean probability falls.
# - Prompts without an instruction to reword (captions, probes) take the paper's V1 in front, and a
#   translation of ours as V2.
# - **The rule for captions is at its ceiling** with the base: by it nothing can be gained by SCI,
#   and what the base loses to blur does not show. The line “whole scene” counts captions that say
#   all that is there and nothing else.
# - The verdict is that of the claim's own intervals, each over two lines. Those of the tables above
#   are over all lines, and so wider, as is Holm's correction.
# - The Brier score mixes calibration with accuracy; the change in ECE stands beside it with its own
#   interval.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

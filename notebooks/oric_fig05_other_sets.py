# %% [markdown]
# # ORIC, Figure 5: does Visual-RFT carry over?
#
# **Claim.** After Visual-RFT on ORIC questions macro F1 is higher on held-out claims of another
# kind: above the model as it is, and above the same model taught the form of the answer alone.
#
# The paper {cite:p}`oric` asks its fine-tuned model about AMBER and HallusionBench, with and
# without “let's think step-by-step” and after Visual-RFT, and says that training "improves
# generalization beyond ORIC-Bench". No pocket model reads photographs. Its counterpart is the
# *probe*: claims about colours, numbers, positions and places in held-out pictures of the pocket
# world, which the fine-tuning never asks about. {doc}`oric_table05_rft` tells how the model was
# made.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
run: str = "pocket-llavanext"
results: str = "benchmarks/results"
margin: float = 10.0  # points that are called more, of a constant answer

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric.chapters import other_sets, rft
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger
from sci_book.resources import FROZEN_RECORDS

began = stamp.begin()
result = rft.read(run, f"{results}/rft")

# %% tags=["hide-input"]
findings = ledger.of_page("oric_fig05_other_sets", ledger.named([run], FROZEN_RECORDS), results)
Markdown(f"{ledger.conclusion(findings)}\n\n{other_sets.untested(result)}")

# %% tags=["hide-input"]
ledger.show_parts(
    ledger.drop_empty_parts(findings),
    "What Visual-RFT on ORIC questions changes on held-out claims of another kind; parts that are "
    "not comparable are left out.",
    xlabel="difference of macro F1, points",
)

# %% [markdown]
# ## Figure 5
#
# The paper writes out its numbers without CoT and after Visual-RFT. Those with CoT are in its
# drawing alone. The control, a model taught the form, is ours. An answer that says neither yes nor
# no counts as wrong. A picture is a cluster of every interval.

# %%
other_sets.figure05(result)

# %% tags=["hide-input"]
figures.show(
    other_sets.draw_others(result),
    "Macro F1 on other data sets, before and after training: in the paper, and on our own probe.",
    alt="Three panels: diamonds for the paper on HallusionBench and AMBER, dots with intervals "
    "for the pocket model on a probe, a line each for reasoning first, as it is, taught the"
    " form, and after Visual-RFT.",
)

# %% [markdown]
# ## Before and after
#
# Differences on the same claims.

# %%
for table in ledger.tables(findings):
    display(table)

# %%
other_sets.by_family(result)

# %% [markdown]
# ## Beside: what the two sets' figures are worth
#
# The paper gives macro F1. Both sets have figures of their own: AMBER's F1 takes "no" as the
# positive class, HallusionBench counts questions (aAcc), figures (fAcc) and question pairs (qAcc).
# What an answer scores that looks at nothing, always yes or always no, follows from the labels of
# the released files. Nothing is claimed of it.

# %%
frame = other_sets.read()
other_sets.table(frame, "AMBER")

# %%
other_sets.table(frame, "HallusionBench")

# %%
apart = other_sets.apart(frame)
other_sets.apart_table(apart)

# %% tags=["hide-input"]
figures.show(
    other_sets.draw(apart),
    "What one who always gives the same answer would score, by macro F1 and by each set’s own "
    "figure.",
    alt="Four lines, always yes and always no on AMBER and on HallusionBench: a dot for macro "
    "F1, a dot for the set’s own figure, and a diamond for the paper’s macro F1 before "
    "training.",
)

# %% tags=["hide-input"]
Markdown(other_sets.flattered(apart, margin))

# %% [markdown]
# ## Reading and deviations
#
# - **The probe is not AMBER.** It is another kind of question about the same world, as AMBER's
#   attributes and relations are of the same photographs as its objects. Illusions, as in
#   HallusionBench, have no pocket twin.
# - The paper compares with the model as it is. "Taught the form" tells apart what the form of the
#   answer does and what the rewards do.
# - **One run, one seed, one model.** The intervals are about claims; they do not say how another
#   run would end. The page and its claim were written when a run on the book's first model was
#   known; the run shown is of the same settings on the model of today (commit `2ed6d73`).
# - A condition that says yes or no to less than half of the claims has a level here and no
#   difference.
# - Existence in AMBER has no question whose answer is yes, so macro F1 has no value there.
# - The released files are not in this repository; its tests compute the constants from them again
#   where they are at hand (`SCI_REAL_DATA`).
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
rft.stamp_of(result, {"constants": stamp.checksum([other_sets.CONSTANTS])})

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

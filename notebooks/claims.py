# %% [markdown]
# # The ledger of claims
#
# **Claim.** Every checkable claim of the paper holds for the models run here.
#
# That is what a perfect reproduction would show, and nobody should expect it of small models on
# drawn pictures. The ledger takes each sentence of Self-Critical Inference {cite:p}`tang2026sci`
# that records can speak to, says which quantity it is taken to mean, and evaluates it for each
# model; its companions have {doc}`a ledger of their own <claims_companions>`. Words, quantity, side
# and margin stand in `data_manifests/paper/claims_sci.yaml`. They were written down *after* the
# first records of these models and the first three pages on them (21 November 2026, 10:25 and
# 15:03 UTC), mended after all of them, and registered then, before any other model's
# ({doc}`registration`). `sci claims --json` prints both ledgers, and the registration.
#
# Verdicts on pocket models judge the claim *there*. They confirm or refute nothing about the
# paper's own models.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
results: str = "benchmarks/results"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import ledger
from sci_book.pipeline.claims import load_claims

began = stamp.begin()

# %% [markdown]
# ## How a verdict comes about
#
# A claim is about one quantity or several: shares right, differences of two methods on the same
# rows, sizes of subsets, times. Each gets an interval from 10,000 draws of whole question groups
# (100,000 where a claim has more than ten parts), wide enough that all parts of one claim are
# covered together with 95 %; times get the quartiles of what was measured. A part *holds* if its
# interval lies wholly on the claimed side of the margin, and *fails* if it lies wholly on the
# other; a claim holds if all its parts do and fails with one of them, unless the paper itself asks
# for less ("almost all data sets"). A claim about one of the paper's two models, or a pair of
# them, is tested on the model of that name (in the book, the pocket model) and is *not comparable*
# elsewhere.
#
# What SCI assumes of its rounds has to hold before a claim about SCI can be judged
# ({doc}`conditions`). On a model that does not meet what a claim rests on, or of which that is not
# known, the numbers are shown, and the claim is *not comparable*.
#
# Every claim stands for itself: nothing is adjusted over the ledger. Claims that have one end
# alone, by definition, as an identity or for want of rows, are marked and not counted. The last
# column puts the same test to the paper's own numbers, where they are printed.

# %%
subjects = chapters.subjects(models, records)
claims = [each for each in load_claims() if each.paper == "sci"]
findings = ledger.evaluate(claims, subjects, results)
titles = {each.name: each.shown for each in subjects}
ledger.summary(findings)

# %% tags=["hide-input"]
Markdown(f"**Verdict: {ledger.overall_verdict(findings)}.** {ledger.sentence(findings)}")

# %% [markdown]
# ## Self-Critical Inference
#
# "Decided by" names the deciding comparison; its estimate stands beside it. The figure shows every
# part of every claim. The words of the claims, and what they are taken to mean, are below.

# %% tags=["hide-input"]
figures.show(
    ledger.draw(findings, titles),
    "Every part of every claim, beside its margin: to the right of the line is the side that "
    "the claim asks for. Green parts hold, red ones fail, grey ones are inconclusive, pale ones"
    " are not judged.",
    alt="A panel a model, a line a claim: dots with intervals along an axis of the distance to "
    "the claim’s margin, logarithmic beyond ten hundredths.",
)

# %%
for each in subjects:
    display(ledger.page_of(findings, "sci", each.name).fold())

# %% tags=["hide-input"]
Markdown(ledger.wording(findings))

# %% [markdown]
# ## Reading and deviations
#
# - Claims about what was measured on the paper's GPU are tested on one thread of a processor, from
#   the committed timing ({doc}`table07_cost`); their intervals span quartiles.
# - DRBench's subsets are those of the default reading (∃, the paper's row split); validation rows
#   where the paper used validation. {doc}`ablation_variants` turns these knobs.
# - Two claims in one sentence are two lines here, and a sentence that no record can speak to (about
#   the field, about future work) has none.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, ledger.sources(subjects, results))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

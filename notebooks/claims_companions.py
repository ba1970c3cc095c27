# %% [markdown]
# # The ledger of the companions' claims
#
# **Claim.** Every checkable claim of the companion papers holds for the models run here.
#
# As {doc}`the ledger of Self-Critical Inference <claims>`, which says how a verdict comes about:
# each sentence of a companion that records can speak to, the quantity it is taken to mean, and what
# became of it for each model. Which margins were not written down before any result, the files say
# (`data_manifests/paper/claims_*.yaml`); all are registered now ({doc}`registration`). `sci claims
# --json` prints the same for programs.
#
# Verdicts on pocket models judge the claim *there*. They confirm or refute nothing about the
# papers' own models.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
results: str = "benchmarks/results"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import ledger
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_companions

began = stamp.begin()
draw_companions(say=lambda _: None)  # some claims read what is drawn, in seconds

# %%
subjects = chapters.subjects(models, records)
claims = [each for each in load_claims() if each.paper != "sci"]
findings = ledger.evaluate(claims, subjects, results)
titles = {each.name: each.shown for each in subjects}
ledger.summary(findings)

# %% tags=["hide-input"]
for paper in dict.fromkeys(each.claim.paper for each in findings):
    mine = ledger.of_paper(findings, paper)
    word, told = ledger.overall_verdict(mine), ledger.sentence(mine)
    display(Markdown(f"**Verdict, {PAPERS[paper].title}: {word}.** {told}"))

# %% [markdown]
# ## C-VQA

# %% tags=["hide-input"]
figures.show(
    ledger.draw(ledger.of_paper(findings, "cvqa"), titles),
    "Every part of every claim of C-VQA, beside its margin: to the right of the line is the "
    "side that the claim asks for.",
    alt="A panel a model, a line a claim of C-VQA: dots with intervals along the distance to "
    "the claim’s margin; green holds, red fails, grey is inconclusive.",
)

# %%
for each in subjects:
    display(ledger.page_of(findings, "cvqa", each.name).fold())

# %% tags=["hide-input"]
Markdown(ledger.wording(ledger.of_paper(findings, "cvqa")))

# %% [markdown]
# ## The Edge Reliability Gap

# %% tags=["hide-input"]
figures.show(
    ledger.draw(ledger.of_paper(findings, "edge"), titles),
    "Every part of every claim of the Edge Reliability Gap, beside its margin.",
    alt="A panel a model, a line a claim of the Edge Reliability Gap: dots with intervals along"
    " the distance to the claim’s margin; green holds, red fails, grey is inconclusive.",
)

# %%
for each in subjects:
    display(ledger.page_of(findings, "edge", each.name).fold())

# %% tags=["hide-input"]
Markdown(ledger.wording(ledger.of_paper(findings, "edge")))

# %% [markdown]
# ## ORIC

# %% tags=["hide-input"]
figures.show(
    ledger.draw(ledger.of_paper(findings, "oric"), titles),
    "Every part of every claim of ORIC, beside its margin.",
    alt="A panel a model, a line a claim of ORIC: dots with intervals along the distance to the"
    " claim’s margin; green holds, red fails, grey is inconclusive.",
)

# %%
for each in subjects:
    display(ledger.page_of(findings, "oric", each.name).fold())

# %% tags=["hide-input"]
Markdown(ledger.wording(ledger.of_paper(findings, "oric")))

# %% [markdown]
# ## MetaRA

# %% tags=["hide-input"]
figures.show(
    ledger.draw(ledger.of_paper(findings, "metara"), titles),
    "Every part of every claim of MetaRA, beside its margin.",
    alt="A panel a model, a line a claim of MetaRA: dots with intervals along the distance to "
    "the claim’s margin; green holds, red fails, grey is inconclusive.",
)

# %%
for each in subjects:
    display(ledger.page_of(findings, "metara", each.name).fold())

# %% tags=["hide-input"]
Markdown(ledger.wording(ledger.of_paper(findings, "metara")))

# %% [markdown]
# ## Reading and deviations
#
# - A companion's claims are tested on its own records; a model without them is *not comparable*.
# - Sentences about a data set, not about answers, have the same verdict for every model.
# - Two claims in one sentence are two lines here, and a sentence that no record can speak to (about
#   the field, about future work) has none.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, ledger.sources(subjects, results))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

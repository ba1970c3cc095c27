# %% [markdown]
# # Scoreboard: every table, figure and claim, and what became of it
#
# **Claim.** Every table and figure of the papers has a page here that says what became of it, or a
# line below that says why it has none, and every checkable claim of the papers holds for the models
# run here.
#
# The second half is what a perfect reproduction would show, and nobody should expect it of small
# models on drawn pictures. Verdicts on pocket models judge a claim *there*. They confirm or refute
# nothing about the papers' own models.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
extended: str = "data_manifests/records/extended"
trainings: str = "data_manifests/records/dial"
results: str = "benchmarks/results"
pages: str = "notebooks"
papers: list = ["Self-Critical Inference", "C-VQA", "The Edge Reliability Gap", "ORIC", "MetaRA"]

# %% tags=["hide-input"]
import pandas as pd
from IPython.display import HTML, Markdown, display

from sci_book.papers.registry import PAPERS, papers_titled
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import ledger, own_claims, verdicts
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_companions

began = stamp.begin()
draw_companions(say=lambda _: None)  # drawn in seconds: some claims read what was drawn
chosen = papers_titled(papers)
subjects = chapters.subjects(models, records)
titles = {subject.name: subject.shown for subject in subjects}
claims = [claim for claim in load_claims() if claim.paper in chosen]
findings = ledger.evaluate(claims, subjects, results)
indices = {paper: verdicts.index(paper, pages, findings) for paper in chosen}
ours = own_claims.claim_lines(subjects, extended, trainings) if "sci" in chosen else None

# %% tags=["hide-input"]
whole = chapters.overall(verdicts.completeness(paper, indices[paper]) for paper in chosen)
tested = {paper: verdicts.claim_lines(paper, findings) for paper in chosen}
by_paper = [verdicts.claims_sentence(paper, lines) for paper, lines in tested.items()]
Markdown(
    f"**Verdict on the pages: {whole}.** {verdicts.sentence(indices)} "
    f"{verdicts.without_sentence(chosen)}\n\n"
    f"{verdicts.claims_verdict(tested.values())} {verdicts.by_chance(findings)}\n\n"
    + "\n".join(by_paper)
)

# %% [markdown]
# Apart from the papers' claims there are those of two pages of the book's own, which were
# registered before the results that they are about, on the models of that time, and are judged on
# today's ({ref}`registration`; it names the pages whose claims were not). Those of {ref}`dial` are
# about trainings that are turned on purpose, and no condition keeps one of them back:

# %% tags=["hide-input"]
Markdown("Not asked for." if ours is None else verdicts.claims_sentence(verdicts.OURS, ours))

# %% [markdown]
# ## Find a table, a figure or a claim
#
# A line with a table or figure of a paper has the verdict of the paper's sentences about it, on all
# models that they can be tested on, and how many there are, once for each model. Beside it stands
# the verdict of the page's own claim, in its first lines, which is another claim and may come out
# otherwise. A line with one such sentence has its verdict, and then each model's own. *By
# construction* says what the definitions or equations alone settle; records of one model may leave
# even that open.

# %% tags=["hide-input"]
lines = {paper: pd.concat([indices[paper], tested[paper]], ignore_index=True) for paper in chosen}
if ours is not None:
    asked = verdicts.index(verdicts.OURS, pages, findings)
    lines[verdicts.OURS] = pd.concat([asked, ours], ignore_index=True)
HTML(verdicts.scoreboard(lines))

# %%
ledger.summary(findings).fold()

# %% [markdown]
# ## What has no page

# %% tags=["hide-input"]
Markdown(verdicts.without_lines(chosen))

# %% [markdown]
# ## Every part of every claim
#
# To the right of a figure's line is the side that the claim asks for. The tables below each figure
# name the comparison that decided; the last column puts the same test to the paper's own numbers,
# where they are printed. Then follow the claims in words. Neither is printed on paper, where the
# scoreboard above has the words; `sci claims --json` has the numbers.

# %% tags=["hide-input"]
for paper in chosen:
    mine = ledger.of_paper(findings, paper)
    figures.show(
        ledger.draw(mine, titles),
        f"{PAPERS[paper].title}: every part of every claim, beside its margin. Green parts hold, "
        "red ones fail, grey ones are inconclusive, lilac ones are not judged.",
        alt=f"A panel a model, a line a claim of {PAPERS[paper].title}: dots with intervals along "
        "an axis of the distance to the claim’s margin, logarithmic beyond ten hundredths.",
    )
    for subject in subjects:
        display(ledger.page_of(findings, paper, subject.name).fold())
    display(Markdown(ledger.wording(mine)))

# %% [markdown]
# ## How a verdict comes about
#
# A claim is about one quantity or several: shares right, differences of two methods on the same
# rows, sizes of subsets, times. Each has one interval in the whole book, over question groups, and
# over trainings too where there are four or more; times get the quartiles of what was measured. A
# part *holds* if its interval lies wholly on the claimed side of the margin, *fails* if it lies
# wholly on the other, and is *inconclusive* if it reaches the margin. A claim holds if all its
# parts do. It fails only if a part lies on the other side beyond chance: of k parts one does so by
# chance k times as often, so that part's p is first taken k times (unless the paper itself asks for
# less: "almost all data sets"). A claim about one of the paper's two models, or a pair of them, is
# tested on the model of that name (in the book, the pocket model) and is *not comparable*
# elsewhere; a companion's claims are tested on its own records.
#
# A model is judged over the trainings of its recipe whose records have what a claim asks for: of
# four and more each part is the mean over trainings, with an interval over trainings and questions
# together; of fewer every training is judged by itself, and the verdict is the word that all have,
# else *inconclusive* (the numbers are then the first training's). Two models are compared
# training by training. What was measured apart from records, time and fine-tuning, is of one.
#
# What SCI assumes of its rounds has to hold before a claim about SCI can be judged
# ({ref}`conditions`). On a model that does not meet what a claim rests on, or of which that is not
# known, the numbers are shown, and the claim is *not comparable*, with the word that it would have
# behind it.
#
# Words, quantity, side and margin stand in `data_manifests/paper/claims_*.yaml`. Those of
# Self-Critical Inference {cite:p}`tang2026sci` were written down *after* the first records of the
# book's first models and the first three pages of results (21 November 2026, 10:25 and 15:03 UTC).
# The companions' files say which of their claims were written down after a result. Some were
# mended, after all records of those models, and all registered (23 November, 19:10). They were
# registered once more, over trainings whose seeds nobody chose, before any method's answer on these
# was compared with a truth ({ref}`registration`). But claims on time are judged on a measurement of
# 21 November, of the weights of that day, and the two on Visual-RFT on a run of 26 November, of the
# LLaVA-NeXT before today's (`2ed6d73`). `sci claims --json` prints the ledger, and both
# registrations.

# %% [markdown]
# ## Reading and deviations
#
# - Every claim stands for itself: nothing is adjusted over the ledger. Claims that have one end
#   alone, by definition, as an identity or for want of rows, are marked and not counted.
# - Sentences about a data set, not about answers, have the same verdict for every model.
# - Claims about what was measured on the paper's GPU are tested on one thread of a processor, from
#   the committed timing ({doc}`table07_cost`); their intervals span quartiles.
# - DRBench's subsets are those of the default reading (∃, the paper's row split); validation rows
#   where the paper used validation. {doc}`ablation_variants` turns these knobs.
# - Two claims in one sentence are two lines here, and a sentence that no record can speak to (about
#   the field, about future work) has none.
# - A dash stands where a page has no verdict: it states facts, or answers a question in numbers.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, ledger.sources(subjects, results))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

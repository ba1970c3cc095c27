# %% [markdown]
# # From a paper to its page
#
# **Claim.** Every table of results and every figure of the papers has a page here that says what
# became of it.
#
# Find the table or figure, follow the link: the page gives its verdict in its first lines, which
# this index repeats, and sets the paper's numbers beside those of the models run here. A verdict is
# about the page's own claim, stated in its first lines. The last column counts the page's entries
# in {doc}`the ledger of claims <claims>`, or {doc}`of the companions' claims <claims_companions>`.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
results: str = "benchmarks/results"
pages: str = "notebooks"

# %% tags=["hide-input"]

from IPython.display import HTML, Markdown

from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters, stamp
from sci_book.pipeline import ledger, verdicts
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_companions

began = stamp.begin()
draw_companions(say=lambda _: None)  # drawn in seconds: some claims read what was drawn
subjects = chapters.subjects(models, records)
findings = ledger.evaluate(load_claims(), subjects, results)
indices = {paper: verdicts.index(paper, pages, findings) for paper in PAPERS}

# %% tags=["hide-input"]
whole = chapters.overall(verdicts.completeness(paper, indices[paper]) for paper in PAPERS)
Markdown(f"**Verdict: {whole}.** " + " ".join(map(verdicts.sentence, indices, indices.values())))

# %% [markdown]
# ## Self-Critical Inference
#
# The paper {cite:p}`tang2026sci`.

# %% tags=["hide-input"]
HTML(verdicts.as_links("sci", indices["sci"]))

# %% [markdown]
# ## C-VQA
#
# The paper {cite:p}`zhang2023cvqa`.

# %% tags=["hide-input"]
HTML(verdicts.as_links("cvqa", indices["cvqa"]))

# %% [markdown]
# ## The Edge Reliability Gap
#
# The paper {cite:p}`erol2026edge`.

# %% tags=["hide-input"]
HTML(verdicts.as_links("edge", indices["edge"]))

# %% [markdown]
# ## ORIC
#
# The paper {cite:p}`oric`. Its Tables 2 and 9 and Figures 11 and 12 are set-up.

# %% tags=["hide-input"]
HTML(verdicts.as_links("oric", indices["oric"]))

# %% [markdown]
# ## MetaRA
#
# The paper {cite:p}`xu2026metara`; its tables have Roman numbers.

# %% tags=["hide-input"]
HTML(verdicts.as_links("metara", indices["metara"]))

# %% [markdown]
# ## Reading
#
# - *holds* and *fails* come from intervals, never from points; *inconclusive* says that the
#   interval reaches the margin; *not comparable* that there was nothing to test.
# - A verdict on a page of pocket models judges the paper's sentence there, and is no judgement of
#   the paper's own models.
# - A dash stands where a page states facts and claims nothing.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, ledger.sources(subjects, results))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

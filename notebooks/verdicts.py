# %% [markdown]
# # From the paper to its page
#
# **Claim.** Every table and figure of the paper has a page here that says what became of it.
#
# Find the table or figure, follow the link: the page sets the paper's numbers {cite:p}`tang2026sci`
# beside those of the models run here and ends in a verdict, which stands in this index as that page
# prints it. A verdict is about the page's own claim, stated in its first lines. The last column
# counts the page's entries in {doc}`the ledger of claims <claims>`.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
results: str = "benchmarks/results"
pages: str = "notebooks"

# %% tags=["hide-input"]
import time

from IPython.display import HTML, Markdown

from sci_core.report import chapters, ledger, stamp, verdicts

began = time.perf_counter()
subjects = chapters.subjects(models, records)
findings = ledger.evaluate(ledger.load_claims(), subjects, results)
index = verdicts.index("sci", pages, findings)

# %% tags=["hide-input"]
HTML(verdicts.as_links(index, "sci"))

# %% tags=["hide-input"]
Markdown(f"**Verdict: {verdicts.completeness(index, "sci")}.** {verdicts.sentence(index)}")

# %% [markdown]
# ## Reading
#
# - *holds* and *fails* come from intervals, never from points; *inconclusive* says that the interval
#   reaches the margin; *not comparable* that there was nothing to test.
# - A verdict on a page of pocket models judges the paper's sentence there, and is no judgement of
#   the paper's own models.
# - A dash stands where a page states facts and claims nothing.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, ledger.sources(subjects, results))

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(time.perf_counter() - began)

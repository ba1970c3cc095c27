# %% [markdown]
# # An audit of the companions' numbers
#
# **Claim.** The printed numbers of each companion paper agree with each other, and its sentences
# with its tables.
#
# Like {doc}`the audit of the main paper <audit_paper_numbers>`, this needs no model. The
# transcribed tables are held against each other, each paper by what its own tables can be asked.
# What does not stand the test is listed with what follows from the other numbers, and no cause is
# assigned.

# %% tags=["parameters", "hide-input"]
papers: list = ["C-VQA", "The Edge Reliability Gap", "ORIC", "MetaRA"]

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.audit import pages
from sci_book.audit.findings import not_consistent, verdict_of
from sci_book.papers.registry import COMPANIONS, PAPERS, audited, papers_titled
from sci_book.papers.shared import chapters, stamp, tables
from sci_book.resources import AUDITS

began = stamp.begin()
audits = {PAPERS[name].title: audited(name) for name in COMPANIONS}

# %% tags=["hide-input"]


def show_in_question(paper: str) -> None:
    """Shows the tables of a paper that have a number in question: the first open, others folded."""
    for table in pages.redraw(audits[paper]):
        display(table)


shown = [title for name in papers_titled(papers) if (title := PAPERS[name].title) in audits]
for paper in shown:
    verdict = verdict_of(audits[paper].findings.values())
    display(Markdown(f"**Verdict, {paper}: {verdict}.** {pages.summary(audits[paper])}"))

# %% [markdown]
# Below, a coloured cell with a sign fails the check that the line below its table names. The mark
# stands at the number that the check asks about; the slip may as well be in a number that it is
# held against. A sentence that its table contradicts marks no cell: the list of findings has it.

# %% [markdown]
# ## C-VQA
#
# The first companion {cite:p}`zhang2023cvqa` prints one decimal and seldom says over how many rows.
# Its differences can be recomputed, the sizes behind a row of percentages searched for, and its
# sentences held against its tables. Table 5's rows are said to be a tenth of the set, drawn at
# random. Such a draw does not hold just a tenth of each type; so where a type's sizes are none,
# that alone tells nothing, and only all rows together are held against ten percent.

# %% tags=["hide-input"]
show_in_question("C-VQA")

# %%
pages.ledger(
    audits["C-VQA"].findings, name="cvqa", caption="C-VQA: printed numbers and sentences"
).fold()

# %% [markdown]
# ## The Edge Reliability Gap
#
# The second {cite:p}`erol2026edge` prints counts, bins and test statistics, so that most of it can
# be computed again: calibration errors from their bins, intervals and p-values from counts.

# %% tags=["hide-input"]
show_in_question("The Edge Reliability Gap")

# %%
pages.ledger(
    audits["The Edge Reliability Gap"].findings,
    name="edge",
    caption="The Edge Reliability Gap: numbers computed again",
).fold()

# %% [markdown]
# ## ORIC
#
# The third {cite:p}`oric` prints macro values beside those by class, which must be their means, an
# F1 beside precision and recall, a share of yes that the recalls imply, and some numbers twice.
# Only what is not consistent is listed; the tally below counts all. Its Tables 3 and 8 repeat
# numbers of Table 10, and the mark stands in Table 10 alone.

# %% tags=["hide-input"]
show_in_question("ORIC")

# %%
pages.ledger(
    not_consistent(audits["ORIC"].findings),
    name="oric",
    caption="ORIC: numbers that others contradict, or leave open",
).fold()

# %% [markdown]
# ## MetaRA
#
# The fourth {cite:p}`xu2026metara` prints shares right and failure rates of the same models, ranks
# by both, and means over models. Only what is not consistent is listed, as above.

# %% tags=["hide-input"]
show_in_question("MetaRA")

# %%
pages.ledger(
    not_consistent(audits["MetaRA"].findings),
    name="metara",
    caption="MetaRA: numbers that others contradict, or leave open",
).fold()

# %% [markdown]
# ## All findings

# %% tags=["hide-input"]
tables.plain(
    pages.tally({paper: audits[paper].findings for paper in shown}),
    name="tally",
    caption="Findings by paper and verdict",
)

# %% [markdown]
# ## Reading and deviations
#
# - A printed number stands for every value that rounds to it; a finding is *inconsistent* only
#   where none of them fits. Where the numbers leave it open, it says so.
# - An average over prompts hides the counts behind it: what no single prompt can print, a mean of
#   four may.
# - The figures' curves are not transcribed.
# - {doc}`Deviations <../book/deviations>` lists where the book leaves the papers.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
files = [path for name in COMPANIONS for path in sorted(chapters.PAPER.glob(f"{name}_*.csv"))]
checks = [AUDITS / f"{name}.yaml" for name in COMPANIONS]
stamp.provenance(
    models={},
    data={"transcribed tables": stamp.checksum(files), "checks": stamp.checksum(checks)},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

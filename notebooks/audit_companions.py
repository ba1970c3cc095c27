# %% [markdown]
# # An audit of the companions' numbers
#
# **Claim.** The printed numbers of each companion paper agree with each other, and its sentences
# with its tables.
#
# As {doc}`the audit of the main paper <audit_paper_numbers>`, without a model: the transcribed
# tables are held against each other, each paper by what its own tables can be asked. What does not
# stand the test is listed with what follows from the other numbers, and no cause is assigned.

# %% tags=["parameters", "hide-input"]
papers: list = ["C-VQA", "The Edge Reliability Gap", "ORIC", "MetaRA"]

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.cvqa.chapters import audit as cvqa
from sci_book.papers.edge import audit as edge
from sci_book.papers.metara import audit as metara
from sci_book.papers.oric import audit as oric
from sci_book.papers.shared import audit, chapters, stamp, tables

began = stamp.begin()
found = {
    "C-VQA": cvqa.findings(),
    "The Edge Reliability Gap": edge.findings(),
    "ORIC": oric.findings(),
    "MetaRA": metara.findings(),
}

# %% tags=["hide-input"]
for title in papers:
    wrong = [about for about, each in found[title].items() if each.verdict == audit.INCONSISTENT]
    display(
        Markdown(
            f"**Verdict, {title}: {audit.verdict_of(found[title].values())}.** Inconsistent, of "
            f"{len(found[title])} checks: {'; '.join(wrong) or 'none'}."
        )
    )

# %% [markdown]
# ## C-VQA
#
# The first companion {cite:p}`zhang2023cvqa` prints one decimal and seldom says over how many rows.
# Its differences can be recomputed, the sizes behind a row of percentages searched for, and its
# sentences held against its tables. Table 5's rows are said to be a tenth of the set, drawn at
# random. Such a draw does not hold just a tenth of each type; so where a type's sizes are none,
# that alone tells nothing, and only all rows together are held against ten percent.

# %%
audit.ledger(found["C-VQA"], name="cvqa", caption="C-VQA: printed numbers and sentences").fold()

# %% [markdown]
# ## The Edge Reliability Gap
#
# The second {cite:p}`erol2026edge` prints counts, bins and test statistics, so that most of it can
# be computed again: calibration errors from their bins, intervals and p-values from counts.

# %%
audit.ledger(
    found["The Edge Reliability Gap"],
    name="edge",
    caption="The Edge Reliability Gap: numbers computed again",
).fold()

# %% [markdown]
# ## ORIC
#
# The third {cite:p}`oric` prints macro values beside those by class, which must be their means, an
# F1 beside precision and recall, a share of yes that the recalls imply, and some numbers twice.
# Only what is not consistent is listed; the tally below counts all.

# %%
audit.ledger(
    {about: each for about, each in found["ORIC"].items() if each.verdict != audit.CONSISTENT},
    name="oric",
    caption="ORIC: numbers that others contradict, or leave open",
).fold()

# %% [markdown]
# ## MetaRA
#
# The fourth {cite:p}`xu2026metara` prints shares right and failure rates of the same models, ranks
# by both, and means over models. Only what is not consistent is listed, as above.

# %%
audit.ledger(
    {about: each for about, each in found["MetaRA"].items() if each.verdict != audit.CONSISTENT},
    name="metara",
    caption="MetaRA: numbers that others contradict, or leave open",
).fold()

# %% [markdown]
# ## All findings

# %% tags=["hide-input"]
tables.plain(
    audit.tally({name: found[name] for name in papers}),
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
read = [
    path
    for name in ("cvqa", "edge", "oric", "metara")
    for path in sorted(chapters.PAPER.glob(f"{name}_*.csv"))
]
stamp.provenance(models={}, data={"transcribed tables": stamp.checksum(read)})

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

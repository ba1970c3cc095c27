# %% [markdown]
# # Can this number be?
#
# **Claim.** Every accuracy in the paper's tables is a whole number of right answers over the size
# of its set, printed with two decimals, and the parts of each row add up to its whole.

# %% tags=["parameters", "hide-input"]
tolerance: float = 0.01  # points that a share may exceed its printed value; 0.005 is rounding alone

# %% tags=["hide-input"]
from dataclasses import replace

from IPython.display import HTML, display

from sci_book.audit import engine, pages
from sci_book.audit.findings import INCONSISTENT, verdict_of
from sci_book.audit.printed import counts_printed
from sci_book.papers.sci import audit_counts, audit_regions
from sci_book.papers.sci.audit import own
from sci_book.papers.sci.chapters.standard_sets import DATASETS
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.resources import AUDITS

began = stamp.begin()
printed = audit_counts.read()

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# A percentage of right answers is a count over the number of rows. With two decimals and fewer than
# 10,000 rows, most percentages are none. Type one of your own:


# %%
def can_be(share: str, rows: int) -> str:
    """Which counts of right answers, of so many rows, are printed as this percentage."""
    decimals, fits = len(share.partition(".")[2]), counts_printed(share, rows)

    def told(count):
        return f"{count:,} right answers are {tables.number(100 * count / rows, decimals + 1)} %"

    of = f"{share} % of {rows:,} rows"
    if len(fits) > 1:
        return f"{of} can be: {fits[0]:,} to {fits[-1]:,} right answers all are."
    if fits:
        return f"{of} can be: {told(fits[0])}."
    below = int(float(share) * rows / 100)
    return f"{of} cannot be: {told(below)}, {told(below + 1)}."


share, rows = "27.93", 1756  # of Table 5, whose set has 1,756 rows
HTML(
    f'<div class="can-it-be" data-share="{share}" data-rows="{rows}">'
    f"<p>{can_be(share, rows)}</p></div>"
)

# %% [markdown]
# So the tables of the paper {cite:p}`tang2026sci` can be checked against each other without a
# model: this chapter reads the transcribed tables and nothing else. It searches every row; no
# inconsistency is named beforehand. What does not stand the test is listed with what follows from
# the other numbers, and no cause is assigned: a slip of the pen, another run and another set look
# alike from here. The companion papers have {doc}`a page of their own <audit_companions>`.

# %%
audit = engine.audit("sci", own(tolerance))
found = audit.sections

# %% tags=["hide-input", "remove-output"]
at_head.write(
    f"**Verdict: {verdict_of(found['accuracies as counts'].values())}.** "
    f"{pages.summary(audit)}"
    f"\n\n{audit_counts.summary_of(printed, tolerance)}"
)

# %% [markdown]
# ## The tables with numbers in question
#
# A coloured cell with a sign fails the check that the line below its table names. The mark stands
# at the number that the check asks about; the slip may as well be in a number that it is held
# against. A sentence that its table contradicts marks no cell: the list of sentences has it.

# %%
for table in pages.redraw(audit, opened=2):
    heads = {"columns": DATASETS}  # the paper's abbreviations: the last columns stay in sight
    frame, doubts = table.frame.rename(**heads), table.doubts.rename(**heads)
    display(replace(table, frame=frame, doubts=doubts))

# %% [markdown]
# ## The paper's sentences beside its own numbers
#
# Every sentence that quotes a percentage, a ratio or a size, and the sentences that compare methods
# or models in words. A sentence in words is taken at its word: *consistently* means every
# comparison that it covers, *can* means one. First those that the tables contradict; then those
# that they bear out, and one that they cannot settle.

# %%
contradicted = {
    about: finding
    for about, finding in found["sentences"].items()
    if finding.verdict == INCONSISTENT
}
borne_out = {about: each for about, each in found["sentences"].items() if about not in contradicted}
pages.ledger(contradicted, name="contradicted", caption="Sentences that the tables contradict")

# %%
pages.ledger(
    borne_out, name="sentences", caption="Sentences that the tables bear out, or cannot settle"
).fold()

# %% [markdown]
# ## Every accuracy as a count
#
# Of *n* rows under 10,000 only *n* of the 10,000 numbers with two decimals are counts, so that a
# slip rarely goes unseen: *by chance* is how many numbers of a table would fit if they were drawn
# at random. From 10,000 rows on every number fits; such cells are *silent*, and only the sum over
# the data sets can speak for them. A row is *rounded* if its cells are rounded counts that add up,
# *truncated* if some of them fit only when cut off after two decimals.

# %%
tables.plain(
    audit_counts.count_summary(printed, tolerance),
    name="counts",
    caption="Numbers and rows of accuracies, by table",
).fold()

# %% [markdown]
# The rows that are not plain counts, and one line a table for the rest. A row that fits no counts
# of its own set was tried on every other set whose size is known: either model, every subset, the
# test and the validation rows and both together.

# %%
pages.ledger(
    found["accuracies as counts"], name="accuracies", caption="Accuracies as counts"
).fold()

# %% [markdown]
# A mean needs no count: Overall must be the mean of MCQ and Others weighted by their rows, and
# these of the data sets, for rows that fit no counts as well.

# %%
pages.ledger(
    found["totals as means"], name="means", caption="Totals as means of their parts"
).fold()

# %% [markdown]
# ## Sizes
#
# The paper prints the sizes of the subsets in Table 1; the published sizes by data set are those of
# its repository. The sizes of the validation subset behind Table 8 are not printed, but its numbers
# imply them: they are searched for among all sizes under 1,000.

# %%
pages.ledger(found["sizes"], name="sizes", caption="Sizes that follow from other sizes").fold()

# %% [markdown]
# ## One quantity in two tables, ratios and shares
#
# Every quantity that stands in two tables, by pairs of tables; then the ratios of Table 7 against
# its milliseconds, and the two shares of Figure 1(c) against the counts that they can be.

# %%
pages.ledger(
    found["numbers printed twice"], name="repeated", caption="Numbers printed twice"
).fold()

# %%
pages.ledger(
    found["ratios and shares"], name="ratios", caption="Ratios of Table 7 and shares of Figure 1(c)"
).fold()

# %% [markdown]
# ## Between the subsets
#
# B, S and BS settle the rest: the right answers on B∩S are those on B and S less those on BS, and
# those on **S∖B**, the rows that are sensitive and not biased, are those on BS less those on B. The
# implied counts must at least be possible.

# %%
pages.ledger(
    found["implied counts"],
    name="possible",
    caption="Implied counts between 0 and the rows there are",
).fold()

# %% [markdown]
# And they say where a gain on S comes from. On B∩S the base is all but never right, by the choice
# of the rows, so that any other answer gains there. What is left of the gain is on S∖B.

# %%
audit_regions.sensitive_table(
    audit_regions.sensitive_only(printed, audit_regions.COMPLETE, tolerance),
    name="sensitive",
    caption="Accuracy on S∖B implied by Tables 1 and 9, %; in brackets the change from the base",
).fold()

# %% tags=["hide-input"]
figures.show(
    audit_regions.draw_sensitive_only(printed, tolerance),
    "What the printed numbers on S imply for S∖B: the rows of S that are not in B.",
    alt="Six panels, three types of question by two models: for each method a diamond for the "
    "printed change from the base on S, and a dot for the change on S∖B that follows from "
    "it.",
)

# %%
pages.ledger(
    found["gains on S∖B"], name="gains", caption="Does a gain on S, as printed, hold on S∖B?"
).fold()

# %% [markdown]
# ## Which “for all”?
#
# The paper defines B and S with *for all* counterfactual inputs (∀). Its text and numbers can be
# asked whether *any* (∃) fits better. Each line is one consequence of a reading, exact under greedy
# decoding; *inconsistent* means that the printed numbers rule the consequence out. A base that is
# right on some row of B was asked again and sampled, so for that model the lines tell nothing.

# %%
pages.ledger(
    found["consequences of ∀ and ∃"], name="quantifier", caption="Consequences of ∀ and ∃"
).fold()

# %% [markdown]
# ## All findings

# %% tags=["hide-input"]
tables.plain(pages.tally(found), name="tally", caption="Findings by section and verdict")

# %% [markdown]
# ## Reading and deviations
#
# - **What a row without counts is, cannot be told.** Its totals are still the weighted means of
#   its parts where the table above says so, which speaks against a slip in one cell. Means over
#   several sampled runs would look like this, and so would another version of the set.
# - **S∖B is selected on the base's errors**: it has lost the rows where the base was wrong in a
#   blind way, which favours the base. So a loss there is no proof of harm. It does say that a gain
#   on S which is none on S∖B is made on the rows of B. The methods' answers to single rows are not
#   printed, so there is no paired test.
# - **A reading that misses by a row or two need not be wrong.** The published code compares answers
#   by one rule and scores them by another, so that an answer can count as the same and yet be
#   scored differently. {doc}`DRBench <../book/drbench>` builds both readings.
# - A cell that fits a count by chance is not found: the chance is *n* in 10,000 for one cell and
#   far smaller for a row whose cells must also add up.
# - The figures' curves are not transcribed, since the paper prints no numbers on them.
# - {doc}`Deviations <../book/deviations>` lists where the book leaves the paper.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
files = [chapters.PAPER / f"{name}.csv" for name in (*printed.tables, "quotes")]
checks = stamp.checksum([AUDITS / "sci.yaml"])
stamp.provenance(models={}, data={"transcribed tables": stamp.checksum(files), "checks": checks})

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

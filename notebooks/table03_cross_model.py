# %% [markdown]
# # Table 3: one model on another's weak rows
#
# **Claim.** On the BS rows that one model builds, SCI5 makes another model right more often than
# its base does, for every pair of models that are fit to be asked ({ref}`conditions`). (BS: where a
# model is biased, B, or sensitive, S.)
#
# DRBench is built anew for every model, from that model's own failures. So a gain on it may come
# from how its rows were chosen. The paper {cite:p}`tang2026sci` answers that doubt with Table 3,
# where each model answers the rows of the other: "The performance gains achieved through SCI in
# one model are transferable to DR-Benchs constructed by other models, thereby validating the
# generalization ability of SCI" (section 4.3; question 4 of section 4.4 says it again).
#
# It is the fairer test. On its own B a model's base is wrong on every row *by construction*, so any
# other answer can only gain. On the B of another model the base is right on some rows, and SCI has
# something to lose.
#
# In the book a third pocket model stands beside the paper's two: Qwen2-VL once more, smaller.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext", "pocket-qwen2vl-small"]
records: str = "data_manifests/records"
split_by: str = "rows"
quantifier: str = "any"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import cross_model, drbench_tables
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
findings = ledger.of_page("table03_cross_model", cross_model.asked(subjects))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What SCI5 gains on the BS that another model built.",
    xlabel="SCI5 less base, points",
    paper=cross_model.paper_numbers(subjects),
)

# %% tags=["hide-input"]
every = ledger.of_page("table03_cross_model", subjects)
display(Markdown(cross_model.not_asked(subjects, {finding.verdict for finding in every})))
for subject in cross_model.left_out(subjects):
    display(cross_model.alone_table(subject))

# %% [markdown]
# ## Records
#
# All models answered the same rows, so any model's answers can be read on any model's subsets.

# %% tags=["hide-input"]
ours = chapters.side(subjects)
sets = {subject.name: subject.sets(quantifier, split_by) for subject in subjects}
right = {subject.name: drbench_tables.outcomes(subject) for subject in subjects}
chapters.rows_table(subjects, quantifier, split_by)

# %% [markdown]
# How much of a model is each? A guess among four options is right on 25 % of MCQ. A gain of SCI5 on
# the BS of a model that hardly beats a guess comes from how the rows were chosen: read the lines of
# such a model as a control.

# %% tags=["hide-input"]
cross_model.base_table(subjects, sets, right).fold()

# %% [markdown]
# ## Table 3
#
# BS on the test rows, built by one model and answered by all. The paper prints base and SCI5. Below
# them stand VCD and two *null methods* of the model that answers: its **runner-up**, the best first
# token that reads as another answer than its base's, and a **uniform other** answer (short answers
# have no options and are left out of it). Records that hold answers alone give no runner-up. Where
# a null gains, a gain shows no merit.

# %% tags=["hide-input"]
for built in subjects:
    display(cross_model.bs_table(built, subjects, sets, right))

# %% [markdown]
# ## Do the gains carry over?
#
# SCI5 less the base on the other model's BS, paired row by row. Below it stands the paper's other
# reading of Table 3: "non-robust samples vary significantly across different LVLMs". If so, the
# base of another model is right more often on a model's BS than that model's own base. BS was
# chosen by the errors of the second and not of the first, which favours this claim.

# %% tags=["hide-input"]
for table in ledger.tables(findings, cross_model.paper_numbers(subjects)):
    display(table)

# %% [markdown]
# The gain of SCI5 by question type. The p-values of the sign-flip test over question groups are
# adjusted over all lines (Holm).

# %% tags=["hide-input"]
cross_model.transfer_table(cross_model.transfer(subjects, sets, right), ours).fold()

# %% [markdown]
# ## The whole matrix
#
# Every model on every model's rows, for B, S, BS and S∖B (sensitive and not biased). On the
# diagonal, framed, a model answers its own rows. VCD is the further opponent.

# %% tags=["hide-input"]
matrices = {
    subset: cross_model.matrix(subjects, sets, right, subset)
    for subset in drbench_tables.PAPER_SUBSETS
}

# %% tags=["hide-input"]
figures.show(
    cross_model.draw_matrices(matrices),
    "Rows chosen by one model and answered by another: a gain outside the framed diagonal "
    "carries over to a model that did not choose the rows.",
    alt="Tables of coloured cells for B, S, BS and S∖B: a line for the model that built the "
    "rows, a column for the model that answers; from above, base, SCI5, SCI5 less base, "
    "SCI5 less VCD.",
)

# %% tags=["hide-input"]
for subset, frame in matrices.items():
    display(cross_model.matrix_table(frame, subset, cross_model.models_of(subjects)).fold())

# %% [markdown]
# Bold figures are differences whose interval leaves out zero. Rows are the models that built the
# subset, columns the models that answer.

# %% [markdown]
# ## Flips
#
# What SCI5 wins and loses against the base, in rows. On its own B a model has nothing to lose.

# %% tags=["hide-input"]
cross_model.flip_table(subjects, sets, right).fold()

# %% [markdown]
# ## Reading: what is left of the trap
#
# On its own B the base is wrong by definition; on another's it is not. So the test is fairer, but
# not free of the trap: some rows of another model's BS are in one's own BS as well, and there the
# base is at a disadvantage again. The table divides the rows by that. All test rows beside them say
# what SCI5 does where no model chose.

# %% tags=["hide-input"]
Markdown(cross_model.left_over(subjects, sets, right))

# %% tags=["hide-input"]
cross_model.overlap_table(subjects, sets, right).fold()

# %% [markdown]
# ## Deviations
#
# - The rows that are left once one's own BS is taken out were selected too: on them the base is not
#   wavering and not wrong in a blind way, so it has more to lose. No causal claim rests on either
#   half alone.
# - Decoding is greedy throughout, so that base accuracy on a model's own B is zero. The paper ran
#   Qwen2-VL with top-k sampling.
# - The paper's Table 3 has two models and BS only. Two models of one name (such as two seeds) are
#   no pair of the paper's, and no printed number stands beside them.
# - {doc}`Deviations <../book/deviations>` lists the rest, {doc}`Tables 2 and 9 <table02_drbench>`
#   show each model on its own rows in full.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

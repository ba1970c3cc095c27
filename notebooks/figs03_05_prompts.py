# %% [markdown]
# # Figures 3 to 5: three rewrites of a prompt
#
# **Claim.** The translated instruction (V2) changes more answers than the rewording in the prompt's
# own language (V1), for each model shown.
#
# The textual rounds of Self-Critical Inference {cite:p}`tang2026sci` ask the same question with
# another instruction: V1 tells the model to look at the details, V2 gives the instruction in the
# other language, V3 tells the model that it is a clever student. The paper prints the three tables
# and what each rewrite alone scores. It does not say how often a rewrite changes an answer, or to
# what; the records of this book do.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import prompt_tables, rewrite_effects, rewrite_moves
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
subjects = chapters.subjects(models, records)

# %% tags=["hide-input"]
findings = ledger.of_page("figs03_05_prompts", subjects)
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How many more answers the translated instruction (V2) changes than the rewording (V1).",
    xlabel="V2 less V1, points of answers changed",
)

# %% [markdown]
# ## The three tables
#
# The paper's tables, transcribed, beside the tables that the library decodes with, string for
# string.

# %%
compared = prompt_tables.comparison(prompt_tables.read_prompts())
for name in prompt_tables.FIGURES:
    display(prompt_tables.prompt_table(compared, name))

# %% tags=["hide-input"]
Markdown(prompt_tables.reading(compared))

# %% [markdown]
# ## The prompts that were asked
#
# A rewrite replaces the instruction and leaves the rest of the prompt as it is. Records hold a hash
# of each row's prompt and its rewrites, so that all of them can be checked against the tables; one
# whole prompt a data set is shown. A line break is written ⏎.

# %%
questions, absent = prompt_tables.rows_at_hand(subjects)
for subject in prompt_tables.one_a_family(subjects):
    display(prompt_tables.worked_prompts(subject, questions).fold())

# %%
prompt_tables.evaluated_prompts(subjects, questions)

# %% tags=["hide-input"]
Markdown(f"Data sets whose questions are not at hand: {'; '.join(absent) or 'none'}.")

# %% [markdown]
# ## How often a rewrite changes the answer
#
# Test rows; an answer that cannot be parsed equals no other, as in DRBench's S. A question group is
# a cluster of every interval.

# %%
for subject in subjects:
    display(rewrite_effects.shares(subject, split_by))

# %% [markdown]
# Whether V2 moves more answers than V1 and V3: differences of the shares in points, taken row by
# row on the test rows of the split by rows.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## What becomes of the changed answers
#
# *Unknown* is an answer that no rule understands, before or after the rewrite.

# %%
for subject in subjects:
    display(rewrite_effects.flows(subject, split_by).fold())

# %% [markdown]
# What is left of the changes when those for the better and for the worse have cancelled is the
# difference in accuracy. The paper's differences are those of its Table 10; whether its numbers
# there are counts at all is asked in {doc}`the audit <audit_paper_numbers>`.

# %%
chapters.levels(
    rewrite_effects.net_change(subjects, split_by),
    name="net",
    caption="Accuracy of a rewrite alone less the base's, all test rows, in points",
    ours=chapters.side(subjects),
)

# %% [markdown]
# ## From which answer to which
#
# Each cell is a pair of answers: of the rows to which the base gives the one (down), what
# percentage gets the other from the rewrite (across). What stays is grey; “?” is an answer not
# understood. Colours mean the same in all figures.

# %% tags=["hide-input"]
for subject in subjects:
    figures.show(
        rewrite_moves.draw_transitions(subject, split_by),
        "How answers move when the prompt is reworded: each line adds up to 100 %, and all that"
        f" is off the diagonal has moved. Dashes stand for fewer than {rewrite_moves.LEAST} rows.",
        alt="Tables of coloured cells, one a rewording, for letters and for yes or no: the "
        "percentage of rows with the answer of that line to the original prompt that give "
        "the answer of that column to the rewording.",
    )

# %% [markdown]
# Does one letter draw the changed answers? Beside the share of the changed rows that go to each
# letter stands its distance from the share that it would have if each row took any other of its
# options with equal chance.

# %%
pulls = {subject.name: rewrite_moves.pulls(subject, split_by) for subject in subjects}
for subject in subjects:
    display(rewrite_moves.destinations(pulls[subject.name], subject))

# %% tags=["hide-input"]
for subject in subjects:
    display(Markdown(rewrite_moves.drawn_to(pulls[subject.name], subject)))

# %% [markdown]
# ## Examples
#
# For each rewrite and type of question, the changed test row whose name has the smallest SHA-256:
# a rule, so that nobody picked them.

# %%
for subject in subjects:
    display(rewrite_effects.examples(subject, questions, split_by).fold())

# %% [markdown]
# ## Reading and deviations
#
# - **A rewrite tests the model and its training at once.** A pocket model met other instructions
#   in the last stage of its training, in both languages; what the paper's models met is unknown.
#   That V2 moves more, or not, says nothing of translation as such.
# - A change is not a loss: a wrong answer may change for the better, or for another wrong one.
# - The paper prints “directly” in one instruction where the evaluation toolkit's own prompt has
#   none; the library knows both and keeps the one it finds.
# - Answers are each round's own greedy decode, not a step of SCI, in which all rounds share one
#   answer.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # C-VQA, Figures 2, 3 and 8: what the questions are like
#
# **Claim.** Among the counterfactual answers of the twin's numerical questions, 0, 1 and 2 are each
# more frequent in the indirect group than in the direct one, and larger numbers less, as in the
# paper's Figure 3.
#
# A data set has its own habits, and a model can live on them. This chapter reads questions and
# answers {cite:p}`zhang2023cvqa`, and no model.

# %% tags=["parameters", "hide-input"]
questions: str = "pocket_cvqa_real"
puzzles: str = "pocket_cvqa_synthetic"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.cvqa import paper
from sci_book.papers.cvqa.chapters import dataset, programs
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet
items = dataset.questions(questions)
ours = "pocket twin" if questions.startswith("pocket") else questions

# %% tags=["hide-input"]
asked = dataset.asked(questions) or ledger.named([questions], "")
findings = ledger.of_page("cvqa_figs03_08_questions", asked)
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
paper_numbers = {(questions, name): gap for name, gap in dataset.public_gaps().items()}
ledger.show_parts(
    findings,
    "How much commoner a counterfactual count is among indirect questions than among "
    "direct ones; of three and more, how much rarer.",
    xlabel="share among indirect less share among direct questions, points",
    paper=paper_numbers,
)

# %% tags=["hide-input"]
Markdown(" ".join(dataset.rows_read(name) for name in (questions, puzzles)))

# %% [markdown]
# ## Figure 3
#
# The paper draws its shares without numbers; the diamonds, and the table's column of the paper, are
# computed from its public file. The table has the share of an answer among indirect questions less
# that among direct ones, in points; of the larger numbers together the reverse.

# %% tags=["hide-input"]
if items:
    figures.show(
        dataset.draw_shares(items),
        "The counts that questions ask for, beside those of the public file.",
        alt="Bars by answer from 0 up: the share of direct and of indirect questions with that "
        "answer; diamonds mark the public file’s shares.",
    )

# %%
for table in ledger.tables(findings, paper_numbers):
    display(table)

# %% [markdown]
# ## Section 3.4 and the table of Figure 8
#
# The paper's numbers are of its own questions. A copy of the public file bears them out but for the
# type-token ratio, which it has half as large, and the last digit of the words of a counterfactual
# question (13.157, printed 13.15); the ratios of verbs and nouns were not checked. {doc}`The audit
# <audit_companions>` has what can be told from the paper alone. The twin's questions come from
# templates, so its lengths and words are its own.

# %%
dataset.statistics_table(items, dataset.questions(puzzles) or [], ours) if items else Markdown(
    "No questions."
)

# %% tags=["hide-input"]
if items:
    figures.show(
        dataset.draw_words(items),
        "The commonest words of counterfactual questions.",
        alt="Horizontal bars, one a word: how often it stands in counterfactual questions.",
    )

# %% tags=["hide-input"]
Markdown(
    "**Verdict, Figure 8: not comparable.** The twin has the paper’s shares of types because it "
    "was made so, and its words are those of its templates. A ratio of distinct words falls with "
    "the number of words besides, and no draw of words has an interval for it."
)

# %% [markdown]
# ## Figure 2: from a question to a counterfactual one
#
# The paper lets ChatGPT flip the answer, find a presupposition that makes it so, write the new
# question, and polish it. The chain is kept behind an interface that any text model can stand
# behind; without one it works by rule. Every item is checked by rule before it enters. Here the
# first 200 originals of each of two types of the twin went through it.

# %%
dataset.annotation_table(items) if items else Markdown("No questions.")

# %% [markdown]
# ## Reading and deviations
#
# - **The twin's answers are smaller than the paper's**: nine cells hold at most nine things.
#   Whether small numbers are still likelier in the indirect group was a property of the twin's
#   generator that nobody had set.
# - The word clouds are bars: a length can be read.
# - The type-token ratio here is distinct words over words, lower-cased; the paper does not define
#   its own.
# - The ratios of Figure 8 for nouns and verbs need a tagger of parts of speech, so the twin has
#   none of its own; {doc}`the audit <audit_companions>` tells what the printed ones imply.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
programs.stamp_of(questions, puzzles)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

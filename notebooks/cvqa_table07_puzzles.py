# %% [markdown]
# # C-VQA, Table 7: puzzles and letters
#
# **Claim.** On the puzzles, each model shown is right between 20 and 30 % of the time, on either
# question: at the level of chance, which is 25 %.
#
# C-VQA-Synthetic {cite:p}`zhang2023cvqa` has flowers in polygons and dots in circles, with four
# options a question. "Almost no models show normal performance", and "the distribution of the
# options answered by these models is highly biased". The puzzles here are drawn by this project to
# the same six templates, fifty of each.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.cvqa import paper
from sci_book.papers.cvqa.chapters import letters, pairs
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("cvqa_table07_puzzles", ledger.named(models, records))
Markdown(f"{ledger.conclusion(findings)}\n\n{letters.letters_verdict(findings)}")

# %% tags=["hide-input"]
recorded = pairs.subjects(models, records)
subjects = recorded.subjects
if recorded.absent:
    display(Markdown(chapters.absences(recorded)))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How far the share of puzzles that are answered rightly lies from chance.",
    xlabel="distance from 25 %, points",
)

# %% [markdown]
# ## Table 7
#
# The paper's three models, then what 3,000 puzzles can tell of them: is 25 % inside the interval?

# %%
letters.paper_table()

# %%
tables.plain(letters.random_level(), name="chance", caption="The paper’s numbers against chance")

# %% [markdown]
# The models read. All 300 puzzles of the pocket set give an interval of more than ten points, so
# the claim, which allows ten, can fail on them or stay undecided; it cannot be shown to hold.

# %%
with_puzzles = letters.with_puzzles(subjects)
for subject in with_puzzles:
    display(letters.accuracy_table(subject))

# %%
for subject in with_puzzles:
    display(letters.by_template(subject))

# %% [markdown]
# ## Letters
#
# A dash marks how often the letter is the right answer.

# %% tags=["hide-input"]
if with_puzzles:
    figures.show(
        letters.draw(with_puzzles),
        "Which letters are answered, for originals and counterfactuals. Short lines mark how "
        "often a letter is right.",
        alt="A panel a model, bars in pairs for the letters A to D: the share of answers with "
        "that letter for original and for counterfactual puzzles, with intervals; a dashed "
        "line at the share that would be right.",
    )

# %%
for subject in with_puzzles:
    display(letters.bias_table(subject))

# %% [markdown]
# ## The claims
#
# How far either side's share of right answers lies from 25 %, whichever way; then the paper's other
# sentences. “Highly biased” is taken for one letter with more than 40 % of the answers to original
# puzzles (cvqa-letters); counterfactual puzzles are shown, and no claim is made of them. The same
# answers tell which letter that is, so its interval is one of those of all four.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Tables 1 and 2: the puzzles
#
# The first puzzle of each template, and its counterfactual question.

# %% tags=["hide-input"]
figures.show(
    letters.gallery(),
    "The first puzzle of each of the six templates.",
    alt="Six drawings: points inside two overlapping polygons in three of them, dots inside six"
    " circles in the other three.",
)

# %%
letters.questions()

# %% [markdown]
# ## Reading and deviations
#
# - **A letter's share is not an error.** The key is balanced, so a model at chance that always says
#   D is right a quarter of the time; a biased model and an undecided one look alike in Table 7.
# - The puzzles are as large as a pocket picture, 96 pixels a side, and of our own drawing: the
#   flowers are no photographs of icons, and the public set's seed is not known.
# - The options are asked as every multiple-choice question of this book, one a line; the files, the
#   public set's and ours, have them inside the question.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

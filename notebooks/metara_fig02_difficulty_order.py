# %% [markdown]
# # MetaRA Figure 2: difficulty, and the order of inputs
#
# **Claim.** Among questions of one family, those that d(x) calls harder fail more often, on each
# task, for each model shown.
#
# Two stages of the framework {cite:p}`xu2026metara` leave numbers behind. *Input understanding*
# gives each input a difficulty, which settles how many cases it gets: "the easier a QI pair is, the
# higher the probability that the model will yield a correct result". *Inference* feeds the original
# and its cases as one sequence, in several orders. The paper prints neither a formula nor a result.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers, difficulty
from sci_book.papers.shared import chapters, figures, stamp
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_fig02_difficulty_order", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
recorded, made = answers.read(models, records)
if missing := answers.absences(recorded, made):
    display(Markdown(missing))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "How much more often the harder half of a family's questions fails than the easier half.",
    xlabel="failure rate of the harder half less that of the easier, points",
)

# %% [markdown]
# ## Difficulty
#
# $$\begin{aligned}
# d(x) &= \tfrac12 (1 - \text{relevance}) + \tfrac14 \, \frac{\text{entropy}}{8} \\
# &\quad + \tfrac14 \, \frac{\min(\text{words}, 30)}{30}
# \end{aligned}$$
#
# is ours: relevance is the share of the question's content words that are known to be in the
# picture, entropy that of its grey values. In the pocket sets the words of a question come from its
# family, so that d mostly tells families apart. A family that fails more is no evidence for d; so
# here each family's harder half is compared with its own easier half, and families weigh alike.

# %%
difficulty.family_table()

# %% tags=["hide-input"]
if made:
    figures.show(
        difficulty.draw(made),
        "The failure rate of an original against its difficulty: the paper asks that the lines "
        "rise.",
        alt="Two panels, one a task: small dots for the originals of each model, and for each "
        "half a mean, joined by a line.",
    )

# %% tags=["hide-input"]
Markdown(
    "Dots are originals; lines join the means of a family's easier and harder half. Dots of two "
    f"models would cover each other, so they are drawn {difficulty.APART / 2:.1f} points below and "
    "above their value; means stand at their values."
)

# %% [markdown]
# The rate is the
# absolute one: the sentence is about right answers, and a condition on the original would leave out
# the hardest.

# %%
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## By level
#
# The thirds of a task's originals by d, easy, middle and hard, in each of the three rates. They are
# taken across families, so that a level says which families are in it before it says anything of d.
# Nothing is claimed here.

# %%
difficulty.level_table(made) if made else Markdown("*not comparable*: no records")

# %% [markdown]
# ## Order
#
# The original and a case of each relation are laid on one sheet, in four orders, and every question
# says which picture it is about. Asked alone, the order variance is zero by construction.

# %%
difficulty.order_table(made) if made else Markdown("*not comparable*: no records")

# %% [markdown]
# ## Reading and deviations
#
# - **One sheet stands for a sequence.** The engine reads one picture a question. A pocket model
#   never saw a sheet; where its rate of failure there is high, a change of answers with the order
#   says how a model at a loss behaves, and no more.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

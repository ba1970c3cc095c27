# %% [markdown]
# # ORIC, Table 5: Visual-RFT
#
# **Claim.** Visual-RFT raises macro F1 on held-out ORIC questions: above the model as it is, and
# above the same model taught the form of the answer alone.
#
# ORIC {cite:p}`oric` fine-tunes Qwen3-VL-8B on 600 questions about objects out of context, by
# reinforcement: eight answers to a question are sampled, each is rewarded for being right and for
# having the asked form, and the better ones of a group become likelier (GRPO). The paper reports a
# higher macro F1 than the model has by itself, with or without “let's think step-by-step”, and
# gains on other benchmarks. Here the same is done to a pocket model, through TRL, with 600
# questions about the pocket world made by the same construction.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
run: str = "pocket-llavanext"
results: str = "benchmarks/results"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.oric.chapters import rft
from sci_book.papers.shared import figures, stamp
from sci_book.pipeline import findings as ledger
from sci_book.resources import FROZEN_RECORDS

began = stamp.begin()
result = rft.read(run, f"{results}/rft")

# %% tags=["hide-input"]
findings = ledger.of_page("oric_table05_rft", ledger.named([run], FROZEN_RECORDS), results)
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What Visual-RFT changes on held-out ORIC questions.",
    xlabel="difference of macro F1, points",
    paper=rft.paper_numbers(result),
)

# %% [markdown]
# ## The run
#
# `sci rft` makes it, in three parts. A pocket model does not know the tags of Figure 11, so it is
# first **taught the form**, and with its own words: its description of a picture as the reasoning,
# its own yes or no as the solution. The rewards come later, and with them the labels:
# **Visual-RFT** on 600 questions. Then held-out questions are asked in four ways: of the model as
# it is, with and without Figure 12's prompt, of the model that was taught the form, and of the
# fine-tuned one; the last two in the words of the lessons. The sets are ORIC questions about other
# pictures, in four wordings, and a *probe*: claims about colours, numbers, positions and places,
# which the fine-tuning never asks about: the counterpart of Figure 5, on {doc}`its own page
# <oric_fig05_other_sets>`.
#
# The run takes minutes and is no part of the tests: its result, with every answer, is committed.
#
# ## Table 9
#
# This table is set-up, as are the prompts of Figures 11 and 12.

# %%
rft.settings_table(result)

# %% [markdown]
# ## Rewards

# %%
rft.groups_table(result)

# %% tags=["hide-input"]
figures.show(
    rft.draw_curves(result),
    "The rewards as Visual-RFT goes on, and the share of groups that teach nothing since all "
    "their rewards are equal.",
    alt="Two panels against the update: the mean reward for accuracy and for form, and the "
    "share of groups with equal rewards for each and for their sum.",
)

# %% tags=["hide-input"]
Markdown(rft.idle_line(result))

# %% [markdown]
# A group whose answers have all the same reward moves nothing: its z-score is zero (equation 5).
# The right panel shows how often that is so, for either reward and for their sum, which is what
# counts.
#
# ## What was said

# %%
rft.read_table(result)

# %%
rft.examples(result)

# %% [markdown]
# ## Table 5(a)
#
# Means over the four wordings. A picture is a cluster of every interval.

# %%
rft.table05(result)

# %% tags=["hide-input"]
figures.show(
    rft.draw_scores(result),
    "Macro F1 before and after training, on held-out questions of ORIC and on other claims.",
    alt="Two panels: dots with intervals for reasoning first, the model as it is, taught the "
    "form, and after Visual-RFT; diamonds for the paper’s Table 5(a).",
)

# %% [markdown]
# ## Table 5(b): by whose labels?
#
# The paper has people label 200 questions anew and scores the model by them. Nobody was asked about
# the pocket world; its *onlooker* is a rule, which stands for the way people's labels differ from
# annotations: a thing that hardly stands out is not there. A thing is seen if its mean colour
# differs from what surrounds it by an eighth of the range in some channel.

# %% tags=["hide-input"]
Markdown(rft.onlooker_line(result))

# %%
rft.table05b(result)

# %%
rft.gain_by_label(result)

# %% [markdown]
# ## Before and after
#
# Differences on the same questions; both macro F1 are taken of the same pictures. A model that says
# neither yes nor no to more than half of the questions is nothing to compare with.

# %%
for table in ledger.tables(findings, rft.paper_numbers(result)):
    display(table)

# %% [markdown]
# Shown beside, without a claim:

# %%
rft.beside(result)

# %% [markdown]
# ## Reading and deviations
#
# - **“Taught the form” is the control that the paper lacks.** It sees the same prompt, writes the
#   same tags and has met no label of a training question. What the rewards add beyond the habit of
#   describing first is the difference from it. Its lessons ask about an object that is there in
#   one picture and one that is not in the next, so that its own answers are of both kinds.
# - **One run, one seed, one model.** The intervals are about questions; they do not say how another
#   run would end.
# - Table 9's learning rate, sampling and epochs are an eight-billion model's; the pocket run's own
#   stand beside them. Where the paper says nothing, TRL decides: the z-score's deviation divides by
#   n − 1, and there is no setting for the longest prompt.
# - The answers of an update are sampled together and serve it alone. So the ratio of equation (6)
#   is 1 when it is used, and its clip never acts.
# - Figure 11's prompt is in words that a pocket model has never met. The lessons ask “Describe the
#   picture. Please answer yes or no.” in its place, which it has, and teach the tags by example.
# - **The lessons are few.** A pocket model learnt to bind answers to questions from far more turns
#   than these. “Taught the form − as it is” says what the form costs it; the rewards start from
#   there.
# - **This run was not the first try.** In two earlier tries the wording of a lesson gave its answer
#   away, and the model learnt the wording; the second try showed this by its answers to these
#   held-out questions. We then changed the lessons: pairs share one wording, the prompt uses known
#   words, the first steps are smaller, and yes and no weigh more. We judged these changes by the
#   model's answers to other lessons. We halved the learning rate of the fine-tuning once, when the
#   model said yes to everything. All this was done on the book's first model; the run shown is of
#   the settings found then, on the model of today (commit `2ed6d73`).
# - Table 5(b) compares with people's answers; the onlooker's labels are no people's. They come from
#   the picture alone, by a threshold that was set before any answer was scored by it.
# - Figure 12's prompt means nothing to a model that has never reasoned in words; its answers are
#   shown as they are.
# - {doc}`Deviations <../book/deviations>` lists the rest.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
rft.stamp_of(result)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

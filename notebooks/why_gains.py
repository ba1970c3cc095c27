# %% [markdown]
# # Why SCI gains or loses
#
# **Claim.** On BS, SCI5 gains over the base on the questions of B and loses on the others, S∖B, so
# that the share of B decides whether it gains at all.
#
# A gain on BS mixes two. On B the base is wrong by definition, so a changed answer can only help.
# On S∖B (sensitive, not biased) the base is often right, so a changed answer can hurt. How much of
# BS is B differs from model to model, and so does what made a row sensitive: the rewording V1 (in
# the prompt's language) or V2 (in the other language).

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"

# %% tags=["hide-input"]

from IPython.display import Markdown, display

from sci_book.papers.sci.chapters import why
from sci_book.papers.shared import chapters, figures, stamp

began = stamp.begin()
subjects = chapters.subjects(models, records)

# %% tags=["hide-input"]
Markdown("\n\n".join(map(why.answer, subjects)))

# %% tags=["hide-input"]
figures.show(
    why.draw_mix(subjects),
    "SCI5’s gain on BS as the share of B in BS goes from none to all; the dot is the mix as "
    "measured, the diamond the paper’s.",
    alt="A panel a model: two lines with bands, the gain over base and over VCD in points "
    "against B as a percentage of BS.",
)

# %% [markdown]
# How SCI5's gain on BS grows with the share of B in it. Dots: as it is here. Diamonds: the paper's
# model of the same family {cite:p}`tang2026sci`, at its own share. Where a diamond lies in its
# band, the mix of BS is enough to explain how the paper's gain differs from ours; elsewhere it is
# not.

# %% [markdown]
# ## The mix
#
# With w = |B| / |BS|: gain(BS) = w · gain(B) + (1 − w) · gain(S∖B). Test rows; intervals over
# question groups.

# %% tags=["hide-input"]
Markdown("\n\n".join(map(why.mix_sentence, subjects)))

# %%
for subject in subjects:
    display(why.mix_table(subject))

# %% [markdown]
# ## What made S
#
# A row is in S if V1 or V2 changes the base's answer. These lines hold the part of S that lies in B
# too: there the base is always wrong and SCI5 can only gain, so SCI5 can be level with the base on
# S and yet lose on S∖B.

# %% tags=["hide-input"]
Markdown("\n\n".join(map(why.flipped_sentence, subjects)))

# %%
for subject in subjects:
    display(why.flipped_table(subject))

# %% [markdown]
# ## Who spoils S∖B
#
# S∖B is made of rows on which V1 or V2 differs from the base. So a method that drops the base's
# answer there lands often on what V1 or V2 says, whether it has read them or not. Methods that read
# no rewording say how often.

# %% tags=["hide-input"]
Markdown("\n\n".join(map(why.spoilt_sentence, subjects)))

# %%
for subject in subjects:
    display(why.spoilt_table(subject))

# %% [markdown]
# ## Which questions turn
#
# All test rows by the data's own categories, in and outside BS.

# %% tags=["hide-input"]
figures.show(
    why.draw_families(subjects),
    "The rows that SCI5 turns from wrong to right and from right to wrong, by family of question.",
    alt="A panel a model, a line a family of questions: a green bar to the right for rows that "
    "became right, a red bar to the left for rows that became wrong, in percent of the "
    "family’s test rows.",
)

# %% [markdown]
# ## Which round
#
# Each round taken out in turn, the three others kept; τ1 follows the number of rewordings
# (τ1 = 1 + N/2). {ref}`table05_components` averages over all combinations instead.

# %% tags=["hide-input"]
Markdown("\n\n".join(map(why.without_sentence, subjects)))

# %%
for subject in subjects:
    display(why.without_table(subject))

# %% [markdown]
# ## Reading and deviations
#
# - S∖B was selected on the base's errors, since the rows where the base is wrong as without the
#   picture have been taken out: that favours the base ({doc}`../book/drbench`).
# - The mix explains a difference in one number, not a cause: a model whose B is small may have a
#   small B for the reason that makes SCI useless to it. {ref}`dial` turns two causes by hand.
# - {ref}`conditions` says whether a claim about SCI can be judged on a model at all.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

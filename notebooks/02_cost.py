# %% [markdown]
# # What a round costs, and where every multiple comes from
#
# Seven rounds look like seven times the work. The paper {cite:p}`tang2026sci` pays 6.68 times the
# base for SCI₇ one round after another and 2.48 times in one batch, and names shared key-value
# caches as future work. This chapter counts the tokens that go through the language model once
# caches are shared, in the engine that decodes everywhere else in this book.
#
# **Claim.** At 1,280 image tokens, with a prompt of the layout below and black already read, SCI₃,
# SCI₅ and SCI₇ compute 1.08, 2.11 and 3.13 times the tokens of the base, to two decimals; without
# sharing they compute 3, 5 and 7 times as many or more.
#
# The counts are exact and the same on every machine. What they are worth in time is measured in
# {doc}`table07_timing`.

# %% tags=["parameters", "hide-input"]
checkpoints: list = ["checkpoints/pocket-qwen2vl", "checkpoints/pocket-llavanext"]
data: str = "pocket"
rows_each: int = 16
image_tokens: int = 1280

# %% tags=["hide-input"]
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from sci_book import load_dataset
from sci_book.papers.sci.chapters import cost
from sci_book.papers.sci.overhead import LAYOUT
from sci_book.papers.shared import figures, stamp, tables
from sci_book.run.provenance import revision
from sci_core import BASE, SCI3, SCI5, SCI7, load_model, sci

began = stamp.begin()
METHODS = (SCI3, SCI5, SCI7)
CLAIMED = {"SCI3": 1.08, "SCI5": 2.11, "SCI7": 3.13}

# %% [markdown]
# ## The plan of a question
#
# The textual rounds show one picture and begin with the same words; they differ only where the
# instruction begins. So the engine computes in two phases. First the *prefix*: the words of the
# chat template and the picture. Then, packed into one row behind it, the rest of the question,
# once, and each round's instruction; a mask lets every token see its own round and nothing else. A
# dummy picture shares nothing with the original, so its round costs a whole prompt; but black is
# black for every picture of a size, so its prefix is read once in a data set and kept in a store.
#
# The figure is drawn from the plan that the engine makes, for 320 image tokens.

# %% tags=["hide-input"]
figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.6))
cost.draw_plan(ax, cost.plan_of(SCI7, 320))
figures.show(
    figure,
    "What each round of SCI7 computes, what it shares with another round, and what is kept from"
    " an earlier question.",
    alt="Horizontal bars, one a round, along the position in tokens. The original computes "
    "everything; rewordings compute the instruction alone; black computes question and "
    "instruction; the two noisy pictures compute all of theirs.",
)
print(", ".join(f"{name}: {tokens}" for name, tokens in LAYOUT.items()), "(tokens)")

# %% [markdown]
# ## Where every multiple comes from
#
# One round after another, the rounds of SCI₇ in the order in which they would be added. A reworded
# instruction costs its own tokens. Black costs the question and its instruction. Every noisy
# picture costs as much as the base: it is another picture, and nothing of it was seen before.

# %%
tables.plain(
    cost.multiples(SCI7, image_tokens),
    name="multiples",
    caption=f"What each round adds at {image_tokens:,} image tokens, black kept",
)

# %% [markdown]
# ## Cost against the number of rounds
#
# Unshared, the cost grows by a whole prompt a round, padding to the longest instruction on top.
# With two phases only the noisy pictures do. The lowest line is a question that the textual rounds
# decide: the gate then reads no dummy picture at all (see below). The labels stand at the seven
# rounds of SCI₇.

# %% tags=["hide-input"]
figure, axes = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.8), sharey=True)
for ax, tokens in zip(axes, (320, image_tokens), strict=True):
    cost.draw_curves(ax, cost.curves(tokens), f"{tokens:,} image tokens")
axes[0].set_ylabel("tokens, multiples of the base")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
figures.show(
    figure,
    "The tokens that a method computes, as its rounds grow: one by one and in one batch they "
    "rise with every round, by two phases more slowly, and with the gate hardly at all.",
    alt="Two panels, for few and many image tokens: lines of tokens in multiples of the base "
    "against the number of rounds from 1 to 9, one line for each of four ways to compute "
    "them.",
)

# %%
tables.plain(
    cost.curves(image_tokens),
    name="curves",
    caption=f"Tokens in multiples of the base at {image_tokens:,} image tokens",
)

# %% [markdown]
# All this holds once black is kept. The first question about a picture of a new shape (what the
# image processor makes of its size) also pays black's prefix, nearly one more base.

# %%
tables.plain(
    cost.first_and_later(METHODS, image_tokens),
    name="first",
    caption=f"Tokens in multiples of the base at {image_tokens:,} image tokens",
)

# %% tags=["hide-input"]
shared = {each.name: cost.ratio(each, image_tokens) for each in METHODS}
unshared = {each.name: cost.ratio(each, image_tokens, "sequential", "none") for each in METHODS}
holds = all(round(shared[name], 2) == value for name, value in CLAIMED.items()) and all(
    unshared[each.name] >= len(each.rounds) for each in METHODS
)
found = ", ".join(
    f"{name} {tables.number(shared[name])} against {tables.number(unshared[name])} unshared"
    for name in shared
)
Markdown(f"**Verdict: {'holds' if holds else 'fails'}.** Times the base: {found}.")

# %% [markdown]
# ## The gate: rounds that need not be run
#
# If the textual rounds leave one token to the plausibility constraint, that token wins whatever the
# dummy pictures would say: every other score is minus infinity. So the textual rounds go first, and
# the dummy pictures are read only for questions with two survivors or more, from the tokens written
# so far, with the output head on the survivors alone. This is exact, greedy and sampled; the tests
# compare tokens with the gate on and off: all of them in float64, all but near-ties in float32.
#
# How often it skips depends on how sure a model is. Here are the first rows of each data set, in
# percent of the questions still open at a step.

# %%
loaded = {Path(each).name: load_model(stamp.located(each)) for each in checkpoints}
dataset = load_dataset(data)
rows = cost.first_rows(dataset, rows_each)
decoded = {
    name: cost.decode_rows(each, rows, (BASE, *(sci(0, n) for n in (1, 2, 3)), *METHODS))
    for name, each in loaded.items()
}
for name in loaded:
    for each in METHODS:
        rates = cost.skip_rates(rows, decoded[name][each.name].answers)
        caption = f"{name}, {each.name}: questions decided without dummy pictures, %"
        display(tables.plain(rates, name=f"skips-{name}-{each.name}", caption=caption, decimals=0))

# %% [markdown]
# ## What that comes to on these rows
#
# Tokens through the language model with the gate, in multiples of the base on the same rows,
# padding included. The lines `SCI(M=0, …)` have no dummy picture: they are the floor that no gate
# can go under. Where a prompt is mostly text, as the first table says of pocket prompts, a reworded
# instruction weighs more than beside a picture of hundreds of tokens; and a model in doubt looks at
# its dummy pictures.

# %%
tables.plain(
    cost.prompt_lengths(loaded, rows),
    name="lengths",
    caption="Tokens of the prompts of these rows, on average",
    decimals=0,
)

# %%
for name in loaded:
    display(
        tables.plain(
            cost.counted_ratios(decoded[name]),
            name=f"counted-{name}",
            caption=f"{name}, {len(rows)} rows, gate on: work, and the store of prefixes",
        )
    )

# %% [markdown]
# ## Reading and deviations
#
# - **Tokens are not time.** A step of decoding reads all weights for a handful of tokens, and the
#   vision tower works beside the language model. {doc}`table07_timing` measures.
# - **Black kept, noise not.** The first question of each picture shape also pays black's prefix, as
#   counted above. So questions are ordered by the sizes of their pictures where the order is free:
#   a store with room for a few prefixes then reads black once a shape. The noise of a picture is
#   shared by the questions about that picture; the curves above give every question a picture of
#   its own.
# - **The layout is an assumption**, printed under the first figure. Longer questions make the
#   textual rounds cheaper, longer rewrites dearer.
# - If a checkpoint's template puts the instruction *before* the picture, the rounds share only what
#   precedes the first difference. The engine finds that from the tokens and stays exact; the
#   multiples are then nearly those of unshared rounds.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
stamp.provenance(
    models={name: revision(each) for name, each in loaded.items()},
    data={name: value[:16] for name, value in dataset.checksums.items()},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

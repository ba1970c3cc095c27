# %% [markdown]
# # Table 7: what the rounds cost, in tokens and in time
#
# **Claim.** With shared prefixes SCI₃, SCI₅ and SCI₇ take at most 1.25, 2.35 and 3.5 times as long
# as the base. This is claimed at 320 image tokens, on one thread of a processor, with every visual
# round read: in every setting measured, the upper quartile lies below (brackets hold quartiles).
# The models timed have the pocket models' sizes and random weights, on which time does not depend.
#
# **Claim on Section 4.4, A2.** At 1,280 image tokens, with a prompt of the layout below and black
# already read, they compute 1.08, 2.11 and 3.13 times the tokens of the base, to two decimals.
# Without sharing they compute 3, 5 and 7 times as many or more.

# %% tags=["parameters", "hide-input"]
results: str = "benchmarks/results"
timed: list = ["pocket-qwen2vl", "pocket-llavanext"]
image_tokens: int = 320
checkpoints: list = ["checkpoints/pocket-qwen2vl", "checkpoints/pocket-llavanext"]
data: str = "pocket"
loading: dict = {}
rows_each: int = 16
counted_tokens: int = 1280

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from sci_book import load_dataset
from sci_book.data.catalogue import how_to_load, model_name, settled
from sci_book.papers.sci.chapters import cost
from sci_book.papers.sci.overhead import LAYOUT
from sci_book.papers.shared import chapters, figures, parameters, stamp, tables, timing
from sci_book.pipeline import findings as ledger
from sci_book.resources import FROZEN_RECORDS
from sci_book.run.provenance import revision
from sci_core import BASE, SCI3, SCI5, SCI7, load_model, sci

began = stamp.begin()
METHODS = (SCI3, SCI5, SCI7)
CLAIMED = {"SCI3": 1.08, "SCI5": 2.11, "SCI7": 3.13}
measured = timing.load_results(results)

# %% tags=["hide-input"]
shared = {method.name: cost.ratio(method, counted_tokens) for method in METHODS}
Markdown(timing.joined(measured, shared["SCI7"], counted_tokens))

# %% tags=["hide-input"]
of_times = chapters.subjects(parameters.names(timed, "timed"), FROZEN_RECORDS)
findings = ledger.of_page("table07_cost", of_times, results)
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
unshared = {
    method.name: cost.ratio(method, counted_tokens, "sequential", "none") for method in METHODS
}
holds = all(round(shared[name], 2) == value for name, value in CLAIMED.items()) and all(
    unshared[method.name] >= len(method.rounds) for method in METHODS
)
counts = ", ".join(
    f"{name} {tables.number(shared[name])} against {tables.number(unshared[name])} unshared"
    for name in shared
)
Markdown(
    f"**Verdict, Section 4.4, A2: {'holds' if holds else 'fails'}.** Times the base: {counts}."
)

# %% tags=["hide-input"]
claims = [finding.claim for finding in ledger.leading(findings)]
levels = {claim.arguments["method"]: claim.margin for claim in claims}
sizes = {"qwen2vl": "Qwen2-VL", "llavanext": "LLaVA-NeXT"}
figure, axes = plt.subplots(1, len(sizes), figsize=(figures.WIDTH, 3.6), sharey=True)
for ax, size in zip(axes, sizes, strict=True):
    timing.draw_ratios(ax, measured["CPU"], (size, image_tokens, 1, 5), levels)
    ax.set_title(f"size of pocket {sizes[size]}")
axes[0].set_ylabel("time, multiples of the base")
figures.legend_below(figure, ncols=2)
figures.show(
    figure,
    f"Time in multiples of the base on one thread of a processor, {image_tokens} image tokens and "
    "5 new ones, by how the rounds are computed, beside the paper’s. Bars are quartiles, most of "
    "them within a dot; the claim is on two phases with black kept.",
    alt="A panel for the sizes of each model, groups for SCI3, SCI5 and SCI7: dots for one by "
    "one, one batch, two phases with and without a kept black picture, and with the gate; a "
    "diamond for the paper’s batch on a GPU, a dotted line for what is claimed.",
)

# %% [markdown]
# The paper {cite:p}`tang2026sci` times SCI on an A800, and names shared key-value caches as future
# work. It does not say how large the pictures were, how many tokens were written, or whether the
# rounds had prompts of their own. Here image tokens, new tokens and batch stand beside every ratio.
# Counts are exact and the same on every machine. Times were measured by `benchmarks/overhead.py`
# and committed with the name of the device: a notebook that timed itself would say something else
# on every machine.

# %% [markdown]
# ## The paper's table
#
# Only these lines can be set beside the paper's: one question at a time, five tokens, and in one
# batch the same prompt in all rounds, so that no row is padded. The paper's device is a graphics
# processor, which one small run need not fill; ours is one thread of a processor.

# %%
timing.paper_protocol(measured)

# %%
timing.devices(measured).fold()

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
    cost.multiples(SCI7, counted_tokens),
    name="multiples",
    caption=f"What each round adds at {counted_tokens:,} image tokens, black kept",
)

# %% [markdown]
# ## Cost against the number of rounds
#
# Unshared, the cost grows by a whole prompt a round; one batch adds padding to the longest
# instruction. In two phases only a noisy picture costs a whole prompt. The lowest line is a
# question that the textual rounds decide: the gate then reads no dummy picture at all (see below).
# The labels stand at the seven rounds of SCI₇.

# %% tags=["hide-input"]
figure, axes = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.8), sharey=True)
for ax, tokens in zip(axes, (image_tokens, counted_tokens), strict=True):
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
    cost.curves(counted_tokens),
    name="curves",
    caption=f"Tokens in multiples of the base at {counted_tokens:,} image tokens",
).fold()

# %% [markdown]
# All this holds once black is kept. The first question about a picture of a new shape (what the
# image processor makes of its size) also pays black's prefix, nearly one more base.

# %%
tables.plain(
    cost.first_and_later(METHODS, counted_tokens),
    name="first",
    caption=f"The same at {counted_tokens:,} image tokens, first of its shape and later",
).fold()

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
loaded = {
    model_name(str(checkpoint)): load_model(
        stamp.located(checkpoint), **settled(how_to_load(str(checkpoint), data, **loading))
    )
    for checkpoint in parameters.names(checkpoints, "checkpoints")
}
dataset = load_dataset(data)
rows = cost.first_rows(dataset, rows_each)
decoded = {
    name: cost.decode_rows(model, rows, (BASE, *(sci(0, n) for n in (1, 2, 3)), *METHODS))
    for name, model in loaded.items()
}
for name in loaded:
    for method in METHODS:
        rates = cost.skip_rates(rows, decoded[name][method.name].answers)
        caption = f"{name}, {method.name}: questions decided without dummy pictures, %"
        table = tables.plain(rates, name=f"skips-{name}-{method.name}", caption=caption, decimals=0)
        display(table.fold())

# %% [markdown]
# ## What that comes to on these rows
#
# Tokens through the language model with the gate, in multiples of the base on the same rows,
# padding included. The lines `SCI(M=0, …)` have no dummy picture: they are the floor that no gate
# can go under. Where a prompt is mostly text, as the next table says of pocket prompts, a reworded
# instruction weighs more than beside a picture of hundreds of tokens; and a model in doubt looks at
# its dummy pictures.

# %%
tables.plain(
    cost.prompt_lengths(loaded, rows),
    name="lengths",
    caption="Tokens of the prompts of these rows, on average",
    decimals=0,
).fold()

# %%
for name in loaded:
    display(
        tables.plain(
            cost.counted_ratios(decoded[name]),
            name=f"counted-{name}",
            caption=f"{name}, {len(rows)} rows, gate on: work, and the store of prefixes",
        ).fold()
    )

# %% [markdown]
# ## Sharing, measured
#
# Every round has a prompt of the layout above. The vision tower is part of the time, the
# preparation of pictures is not.

# %%
timing.ratio_table(measured["CPU"], image_tokens, "ratios").fold()

# %%
timing.ratio_table(measured["CPU"], 1280, "ratios-1280").fold()

# %% [markdown]
# ## Against the levels
#
# A level holds if the upper quartile is below it, and fails if the lower quartile is above. The
# column *tokens* has what is counted: tokens through the language model, in multiples of the base.
# Black's picture is encoded once, so time can fall below the count, the more the vision tower
# weighs; the calls that sharing adds work against it, most of all at batch 1. After the levels
# stand the paper's own sentences about time, and the levels on pocket data.

# %%
caption = f"CPU, gate off, {image_tokens} image tokens: multiples of the base"
timing.counted(timing.ungated(measured["CPU"], image_tokens), caption).fold()

# %%
for table in ledger.tables(findings):
    display(table.fold())

# %% tags=["hide-input"]
exact = timing.exactness(measured["CPU"])
Markdown(
    "Each way of decoding was also compared once with the rounds one after another: "
    + (
        "it chose the same token at every step, "
        if exact["least token agreement"] == 1
        else f"it chose the same token in {100 * exact['least token agreement']:.1f} % of steps, "
    )
    + "and no first logit differed by more than "
    f"{exact['largest difference of a logit']:.0e}."
)

# %% [markdown]
# ## The pocket models on pocket data
#
# `generate` with the trained models, from picture to text, preparing the pictures included, the
# gate on. Its levels suppose questions that the textual rounds mostly decide.

# %% tags=["hide-input"]
Markdown(cost.pocket_sentence(findings))

# %%
caption = "CPU, pocket data: multiples of the base"
timing.counted(timing.on_pocket_data(measured["CPU"]), caption).fold()

# %% [markdown]
# Where these levels fail, the tokens counted above say why. A pocket prompt is mostly text, so the
# textual rounds alone, which no gate can skip, already compute a multiple of the base's tokens (its
# lines `SCI(M=0, …)`); and the pocket models are so often in doubt that many questions need their
# dummy pictures too.

# %% [markdown]
# ## What the time beyond the base consists of
#
# *Arithmetic* is what is computed beyond the base, at the base's own rate. *Further calls* of the
# language model each cost at least what a call with one token does. *The rest* is arithmetic at
# another rate (masked attention, small products) and copies; it is negative where black, which is
# encoded once and for all, saves more than that.

# %%
timing.terms(measured["CPU"], image_tokens).fold()

# %% [markdown]
# ## How near to the machine's limit
#
# Arithmetic counted by torch, attention included, beside the rate of a large matrix product on the
# same thread. Where a line runs at a lower rate than the base, something beside arithmetic takes
# time: calls, or memory.

# %%
timing.roofline(measured["CPU"], image_tokens).fold()

# %% [markdown]
# ## Reading and deviations
#
# - **A processor is no A800.** What carries over from here are counts and ratios of work, not
#   milliseconds. `python benchmarks/overhead.py --preset gpu` measures Qwen2-VL-7B and
#   LLaVA-NeXT-8B with random weights on a GPU, and the table of the paper's protocol then has them.
# - **The gate on random weights** skips next to nothing, since they leave every question undecided;
#   its lines then show what it costs: the dummy pictures are read in calls of their own, a little
#   later. What it saves shows on data.
# - **Combining the rounds is not compiled.** `torch.compile` could save at most what maximum, mean,
#   constraint and choice take together, which is the share printed below.
# - **Tokens are not time.** A step of decoding reads all weights for a handful of tokens, and the
#   vision tower works beside the language model.
# - **Black kept, noise not.** The first question of each picture shape also pays black's prefix, as
#   counted above. So questions are ordered by the sizes of their pictures where the order is free:
#   a store with room for a few prefixes then reads black once a shape. The noise of a picture is
#   shared by the questions about that picture; the curves above give every question a picture of
#   its own.
# - **The layout is an assumption**, printed under the plan above. Longer questions make the
#   textual rounds cheaper, longer rewrites dearer.
# - If a checkpoint's template puts the instruction *before* the picture, the rounds share only what
#   precedes the first difference. The engine finds that from the tokens and stays exact; the
#   multiples are then nearly those of unshared rounds.

# %%
shares = timing.grid(measured["CPU"])["combining_share"].groupby("method").max()
for name, share in shares.items():
    print(f"{name}: combining took {100 * share:.1f} % of the time at most")

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
stamp.provenance(
    models={name: revision(model) for name, model in loaded.items()},
    data={name: value[:16] for name, value in dataset.checksums.items()},
    records={kind: stamp.checksum([result["path"]]) for kind, result in measured.items()},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

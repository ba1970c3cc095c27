# %% [markdown]
# # Table 7: what the rounds cost in time
#
# **Claim.** At 320 image tokens, on one thread of a processor, with every visual round read, SCI₃,
# SCI₅ and SCI₇ take at most 1.25, 2.35 and 3.5 times as long as the base: in every setting
# measured, the upper quartile lies below.
#
# The paper {cite:p}`tang2026sci` times SCI on an A800: 2.96, 5.01 and 6.68 times the base one round
# after another, 1.29, 1.81 and 2.48 times in one batch. It does not say how large the pictures
# were, how many tokens were written, or whether the rounds had prompts of their own. Here image
# tokens, new tokens and batch stand beside every ratio, and {doc}`02_cost` says where each multiple
# comes from.
#
# The numbers below were measured by `benchmarks/overhead.py` and committed with the name of the
# device. A notebook that timed itself would say something else on every machine.

# %% tags=["parameters", "hide-input"]
results: str = "benchmarks/results"
timed: list = ["pocket-qwen2vl", "pocket-llavanext"]
image_tokens: int = 320

# %% tags=["hide-input"]

import matplotlib.pyplot as plt
from IPython.display import Markdown, display

from sci_book.papers.shared import chapters, figures, stamp, timing
from sci_book.pipeline import findings as ledger
from sci_book.resources import FROZEN_RECORDS

began = stamp.begin()

# %% tags=["hide-input"]
findings = ledger.of_page("table07_timing", chapters.subjects(timed, FROZEN_RECORDS), results)
Markdown(ledger.conclusion(findings))

# %% [markdown]
# ## What was measured on what

# %%
measured = timing.load_results(results)
timing.devices(measured)

# %% [markdown]
# ## The paper's table
#
# Only these lines can be set beside the paper's: one question at a time, five tokens, and in one
# batch the same prompt in all rounds, so that no row is padded. The paper's device is a graphics
# processor, which one small run need not fill; ours is one thread of a processor.

# %%
timing.paper_protocol(measured)

# %% [markdown]
# ## Sharing, measured
#
# From here on every round has a prompt of its own, of the layout in {doc}`02_cost`. The models have
# the pocket models' sizes and random weights, on which time does not depend; the vision tower is
# part of it, the preparation of pictures is not. Bars span the quartiles.

# %% tags=["hide-input"]
setting = ("qwen2vl", image_tokens, 1, 5)
figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.4))
timing.draw_ratios(ax, measured["CPU"], setting)
ax.set_title(f"CPU, pocket size of {setting[0]}, {image_tokens} image tokens, 5 new tokens")
figures.show(
    figure,
    "Time in multiples of the base, by how the rounds are computed, beside the paper’s.",
    alt="Groups for SCI3, SCI5 and SCI7: dots for one by one, one batch, two phases with and "
    "without a kept black picture, and with the gate; a diamond for the paper’s batch on a "
    "GPU.",
)

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
timing.counted(timing.ungated(measured["CPU"], image_tokens), caption)

# %%
for table in ledger.tables(findings):
    display(table)

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
# gate on. Its levels (1.15, 1.6 and 2.0, above) suppose questions that the textual rounds mostly
# decide.

# %%
caption = "CPU, pocket data: multiples of the base"
timing.counted(timing.on_pocket_data(measured["CPU"]), caption)

# %% [markdown]
# Where these levels fail, {doc}`02_cost` names the term that stands in the way. A pocket prompt is
# mostly text, so the textual rounds alone, which no gate can skip, already compute a multiple of
# the base's tokens (its lines `SCI(M=0, …)`); and the pocket models are so often in doubt that many
# questions need their dummy pictures too.

# %% [markdown]
# ## What the time beyond the base consists of
#
# *Arithmetic* is what is computed beyond the base, at the base's own rate. *Calls more* of the
# language model each cost at least what a call with one token does. *The rest* is arithmetic at
# another rate (masked attention, small products) and copies; it is negative where black, which is
# encoded once and for all, saves more than that.

# %%
timing.terms(measured["CPU"], image_tokens)

# %% [markdown]
# ## How near to the machine's limit
#
# Arithmetic counted by torch, attention included, beside the rate of a large matrix product on the
# same thread. Where a line runs at a lower rate than the base, something beside arithmetic takes
# time: calls, or memory.

# %%
timing.roofline(measured["CPU"], image_tokens)

# %% [markdown]
# ## Reading and deviations
#
# - **A processor is no A800.** What carries over from here are counts and ratios of work, not
#   milliseconds. The words “not measured” stand where nobody has run the benchmark yet: `python
#   benchmarks/overhead.py --preset gpu` runs it on Qwen2-VL-7B and LLaVA-NeXT-8B with random
#   weights, and the table above then fills in.
# - **The gate on random weights** skips next to nothing, since they leave every question undecided;
#   its lines then show what it costs: the dummy pictures are read in calls of their own, a little
#   later. What it saves shows on data.
# - **Combining the rounds is not compiled.** `torch.compile` could save at most what maximum, mean,
#   constraint and choice take together, which is the share printed below.

# %%
shares = timing.grid(measured["CPU"])["combining_share"].groupby("method").max()
for name, share in shares.items():
    print(f"{name}: combining took {100 * share:.1f} % of the time at most")

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
stamp.provenance(
    models={},
    data={},
    records={kind: stamp.checksum([each["path"]]) for kind, each in measured.items()},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

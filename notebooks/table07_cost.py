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
results: str = "benchmarks/results"  # times, as `benchmarks/overhead.py` writes them
timed: list = ["pocket-qwen2vl", "pocket-llavanext"]  # models whose sizes were timed
image_tokens: int = 320  # of the pictures at which times are claimed
counted_tokens: int = 1280  # of the pictures at which tokens are claimed
checkpoints: list = ["checkpoints/pocket-qwen2vl", "checkpoints/pocket-llavanext"]
data: str = "pocket"  # the data set whose first rows are decoded
loading: dict = {}  # how to load a model that is no pocket model
rows_each: int = 16  # first rows of each part of the data set

# %% tags=["hide-input"]
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from matplotlib.patches import Patch

from sci_book import load_dataset
from sci_book.data.catalogue import how_to_load, model_name, settled
from sci_book.data.prompts import build_prompt
from sci_book.papers.sci.overhead import LAYOUT, counted, made_up, ratio, work
from sci_book.papers.shared import chapters, figures, parameters, stamp, tables, timing
from sci_book.papers.shared.svg import INK, ON_INK, ON_PALE
from sci_book.pipeline import findings as ledger
from sci_book.resources import FROZEN_RECORDS, PAPER
from sci_book.run.provenance import revision
from sci_core import BASE, SCI3, SCI5, SCI7, PrefixCache, generate, load_model, sci
from sci_core.counterfactuals import is_constant, rewrite
from sci_core.engine.reading import read
from sci_core.methods import Method

began = stamp.begin()
METHODS = (SCI3, SCI5, SCI7)
measured = timing.load_results(results)
printed = pd.read_csv(PAPER / "table07.csv", keep_default_na=False).query("metric == 'ratio'")
printed = printed.set_index(["batched", "method"])["value"].astype(float)
of_times = chapters.subjects(parameters.names(timed, "timed"), FROZEN_RECORDS)
findings = ledger.of_page("table07_cost", of_times, results)

# %% tags=["hide-input"]
Markdown(ledger.conclusion(findings))

# %%
CLAIMED = {"SCI3": 1.08, "SCI5": 2.11, "SCI7": 3.13}
shared = {method.name: ratio(method, counted_tokens) for method in METHODS}
unshared = {method.name: ratio(method, counted_tokens, "sequential", "none") for method in METHODS}
holds = all(round(shared[name], 2) == value for name, value in CLAIMED.items()) and all(
    unshared[method.name] >= len(method.rounds) for method in METHODS
)
said = ", ".join(
    f"{name} {tables.number(shared[name])} against {tables.number(unshared[name])} unshared"
    for name in shared
)
Markdown(f"**Verdict, Section 4.4, A2: {'holds' if holds else 'fails'}.** Times the base: {said}.")

# %% tags=["hide-input"]
line = (
    f"In the paper SCI₇ takes {tables.number(printed['no', 'SCI7'])} times as long as the base one "
    f"round after another, and {tables.number(printed['yes', 'SCI7'])} times in one batch (A800). "
    f"With shared prefixes it computes **{tables.number(shared['SCI7'])}** times the tokens at "
    f"{counted_tokens:,} image tokens."
)
for kind, way in product(measured, ("two phases", "one batch")):
    rows = timing.grid(measured[kind]).query(
        f"image_tokens == {counted_tokens} and method == 'SCI7' and new_tokens == 5 "
        f"and batch == 1 and way == {way!r}"
    )
    for (size, *_), row in rows.iterrows():
        line += f" On a {kind} it takes {timing.shown(row)} times as long in {way} ({size})."
Markdown(line)

# %%
levels = {f.claim.arguments["method"]: f.claim.margin for f in ledger.leading(findings)}
places, names = np.arange(len(METHODS)), [method.name for method in METHODS]
sizes = {"qwen2vl": "Qwen2-VL", "llavanext": "LLaVA-NeXT"}
figure, axes = plt.subplots(1, len(sizes), figsize=(figures.WIDTH, 3.6), sharey=True)
for ax, size in zip(axes, sizes, strict=True):
    setting = timing.grid(measured["CPU"]).loc[size, image_tokens, 1, 5]
    for offset, (way, shade) in enumerate(timing.STRATEGIES.values()):
        rows, x = setting.xs(way, level="way").loc[names], places + 0.14 * (offset - 2)
        ax.vlines(x, rows["ratio_q1"], rows["ratio_q3"], color=shade, linewidth=3)
        ax.plot(x, rows["ratio_median"], "o", color=shade, markersize=5, label=way)
    in_batch = printed["yes"][names]
    ax.plot(places, in_batch, "D", mfc="white", mec=INK, label="paper, one batch, on a GPU")
    claimed = [levels[name] for name in names]
    ax.hlines(claimed, places - 0.4, places + 0.4, color=INK, linestyle=":", label="claimed")
    ax.set_xticks(places, names)
    ax.grid(axis="x", visible=False)
    ax.set_ylim(bottom=0)
    ax.set_title(f"size of pocket {sizes[size]}")
axes[0].set_ylabel("time, multiples of the base")
figures.legend_below(figure, ncols=2)
figures.show(
    figure,
    f"Time in multiples of the base on one thread of a processor, {image_tokens} image tokens and "
    "5 new ones, by how the rounds are computed, beside the paper’s. Bars are quartiles, where "
    "they reach beyond a dot; the claim is on two phases with black kept.",
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
# processor, which one small run need not fill; ours is one thread of a processor. Brackets hold
# quartiles.

# %%
WAYS = {
    "one by one": ("no", "strategy == 'sequential' and prompts == 'own'"),
    "one batch": ("yes", "strategy == 'naive_batch' and prompts == 'identical'"),
}
protocol = {}
for (way, (batched, chosen)), name in product(WAYS.items(), names):
    cells = protocol[f"{name}, {way}"] = {"paper, A800": tables.number(printed[batched, name])}
    for kind in sorted(measured):
        rows = measured[kind]["frame"].query(f"{chosen} and new_tokens == 5 and batch == 1")
        for row in rows[rows["method"] == name].to_dict("records"):
            cells[f"{kind}: {row['model']}, {row['image_tokens']}"] = timing.shown(row)
protocol = pd.DataFrame(list(protocol.values()), index=list(protocol), dtype=object)
taken = ", ".join(f"{kind}: {measured[kind]['device']}" for kind in sorted(measured))
caption = "Time in multiples of the base; one question, five tokens; by size and image tokens"
tables.Table("protocol", protocol.fillna("not measured"), f"{caption} ({taken})")

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


# %%
def plan_of(method, image_tokens):
    """By round, its runs of tokens in order: name, length, and who computes them."""
    model, questions = made_up(image_tokens)
    (question,) = questions.batch(method, 1)
    textual, rounds = len(question.texts), {}
    for place, name in enumerate(method.rounds):
        if place < textual:
            plan = read(model, question, slice(0, textual)).plan
            taken = "shared" if place else "computed"
            rest = [("question", len(plan.shared), taken)]
            rest += [("instruction", len(plan.suffixes[place]), "computed")]
        else:
            plan = read(model, question, slice(place, place + 1)).plan
            taken = "from the store" if is_constant(name) else "computed"
            rest = [("question and instruction", len(plan.packed), "computed")]
        picture = plan.prefix.count(model.image_token_id)
        template = len(plan.prefix) - picture
        rounds[name] = [("template", template, taken), ("picture", picture, taken), *rest]
    return rounds


# %% tags=["hide-input"]
HATCHES = {"computed": None, "shared": "///", "from the store": "..."}
figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.6))
rounds = plan_of(SCI7, 320)
for height, (name, runs) in enumerate(rounds.items()):
    left, pale = 0, name.startswith("noise") or name == "V1"
    ink = ON_INK if name == "original" else ON_PALE if pale else "white"
    for run, tokens, taken in runs:
        shade = figures.colour(name) if taken == "computed" else "white"
        edge = "white" if taken == "computed" else "#9ca3af"
        ax.barh(height, tokens, left=left, height=0.72, color=shade, edgecolor=edge,
                hatch=HATCHES[taken], linewidth=0.8)  # fmt: skip
        if tokens > 30 and taken == "computed":
            ax.text(left + tokens / 2, height, tokens, ha="center", va="center", fontsize=8,
                    color=ink)  # fmt: skip
        if name == "original" and run != "template":  # which is too narrow for its name
            end = run == "question"  # the next begins where it ends
            ax.text(left + (tokens - 5 if end else 5), -0.55, run, fontsize=8,
                    ha="right" if end else "left")  # fmt: skip
        left += tokens
ax.set_yticks(range(len(rounds)), list(rounds))
ax.invert_yaxis()
ax.grid(axis="y", visible=False)
ax.set_xlabel("position in the round, tokens")
handles = [Patch(facecolor=INK, label="computed")]
handles += [Patch(facecolor="white", edgecolor="#9ca3af", hatch=hatch, label=taken)
            for taken, hatch in HATCHES.items() if hatch]  # fmt: skip
ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=3)
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
lines, before = {}, {"token_rows": 0, "pictures": 0}
for place, name in enumerate(SCI7.rounds):
    textual = SCI7.textual[:place]
    visual = SCI7.visual[: place - len(textual)]
    so_far = work(Method("so far", "sci", textual, visual) if place else BASE, counted_tokens)
    lines[name] = {
        "tokens computed": so_far["token_rows"] - before["token_rows"],
        "pictures encoded": so_far["pictures"] - before["pictures"],
        "× base so far": so_far["token_rows"] / work(BASE, counted_tokens)["token_rows"],
    }
    before = so_far
multiples = pd.DataFrame.from_dict(lines, orient="index")
caption = f"What each round adds at {counted_tokens:,} image tokens, black kept"
tables.plain(multiples, name="multiples", caption=caption)

# %% [markdown]
# ## Cost against the number of rounds
#
# Unshared, the cost grows by a whole prompt a round; one batch adds padding to the longest
# instruction. In two phases only a noisy picture costs a whole prompt. The lowest line is a
# question that the textual rounds decide: the gate then reads no dummy picture at all (see below).
# The labels stand at the seven rounds of SCI₇.
#
# All this holds once black is kept. The first question about a picture of a new shape (what the
# image processor makes of its size) also pays black's prefix, nearly one more base.

# %%
LOOKS = {"one by one": ":", "one batch": "--", "two phases": "-", "with gate": "-"}
by_way = {way: (*key, shade) for key, (way, shade) in timing.STRATEGIES.items() if way in LOOKS}
curves = {
    tokens: pd.DataFrame(
        {way: {1 + 2 * pairs: ratio(sci(pairs, pairs), tokens, strategy, cache)
               for pairs in range(5)} for way, (strategy, cache, _) in by_way.items()}
    ) for tokens in (image_tokens, counted_tokens)
}  # fmt: skip
first = {method.name: {"first of its shape": ratio(method, counted_tokens, cache="cold"),
                       "later": shared[method.name]} for method in METHODS}  # fmt: skip

# %%
figure, axes = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.8), sharey=True)
for ax, (tokens, curve) in zip(axes, curves.items(), strict=True):
    for way, (*_, shade) in by_way.items():
        ax.plot(curve.index, curve[way], LOOKS[way], color=shade, marker="o", ms=4, label=way)
        if way != "one by one":  # which lies on the line of the batch
            above = way == "with gate"  # whose line has the axis below it
            end = curve[way][7]
            ax.annotate(tables.number(end), (7, end), fontsize=8, color=INK,
                        textcoords="offset points", xytext=(3, 5 if above else -11))  # fmt: skip
    ax.set(title=f"{tokens:,} image tokens", xlabel="rounds", xticks=curve.index)
axes[0].set_ylabel("tokens, multiples of the base")
figures.legend_below(figure, axes[:1], ncols=2)
figures.show(
    figure,
    "The tokens that a method computes, as its rounds grow: one by one and in one batch they "
    "rise with every round, by two phases more slowly, and with the gate hardly at all.",
    alt="Two panels, for few and many image tokens: lines of tokens in multiples of the base "
    "against the number of rounds from 1 to 9, one line for each of four ways to compute "
    "them.",
)

# %% [markdown]
# ## The gate: rounds that need not be run
#
# If the textual rounds leave one token to the plausibility constraint, that token wins whatever the
# dummy pictures would say: every other score is minus infinity. So the textual rounds go first, and
# the dummy pictures are read only for questions with two survivors or more, from the tokens written
# so far, with the output head on the survivors alone. This is exact, greedy and sampled; the tests
# compare tokens with the gate on and off: all of them in float64, all but near-ties in float32.
#
# How often it skips depends on how sure a model is. Here are the first rows of each data set, whole
# questions, in percent of the questions still open at a step.

# %% tags=["hide-input"]
loaded = {
    model_name(str(checkpoint)): load_model(
        stamp.located(checkpoint), **settled(how_to_load(str(checkpoint), data, **loading))
    )
    for checkpoint in parameters.names(checkpoints, "checkpoints")
}
dataset = load_dataset(data)

# %%
by_dataset = {}
for row in dataset:
    kept = by_dataset.setdefault(row.dataset, [])
    if len(kept) < rows_each or kept[-1].group == row.group:
        kept.append(row)
rows = [row for kept in by_dataset.values() for row in kept]
decoded = {}
for (name, model), method in product(
    loaded.items(), (BASE, *(sci(0, n) for n in (1, 2, 3)), *METHODS)
):
    images = [row.image() for row in rows]
    prompts = [build_prompt(row, model.family) for row in rows]
    store = PrefixCache()
    with counted(model) as counts:
        answers = generate(model, images, prompts, method, 8, batch_size=16, prefixes=store)
    decoded[name, method.name] = answers, counts, store

# %%
STEPS = ("", "step 1", "step 2", "step 3 on")
looks = pd.DataFrame(
    [(f"{name}: {method}", row.dataset, STEPS[min(step, 3)], 100 * (not one))
     for name, method in product(loaded, names)
     for row, answer in zip(rows, decoded[name, method][0], strict=True)
     for step, one in enumerate(answer.looked, start=1)],
    columns=["of", "data set", "step", "decided"],
)  # fmt: skip


def decided(*by):
    """Percent of open questions that need no dummy picture, by step and over all steps."""
    steps = looks.pivot_table(index=by, columns="step", values="decided", sort=False)
    return steps.assign(**{"every step": looks.groupby(list(by), sort=False)["decided"].mean()})


caption = "Questions decided without dummy pictures, % of those still open at a step"
tables.plain(decided("of").rename_axis(None), name="decided", caption=caption, decimals=0)

# %% [markdown]
# ## What that comes to on these rows
#
# Tokens through the language model with the gate, in multiples of the base on the same rows,
# padding included, and what the store of prefixes did. The lines `SCI(M=0, …)` have no dummy
# picture: they are the floor that no gate can go under. Where a prompt is mostly text, a reworded
# instruction weighs more than beside a picture of hundreds of tokens; and a model in doubt looks at
# its dummy pictures.

# %%
lines, lengths = {}, {}
for (name, method), (_, counts, store) in decoded.items():
    base = decoded[name, "base"][1]
    lines[f"{name}: {method}"] = {
        "tokens, × base": counts["token_rows"] / base["token_rows"],
        "pictures, × base": counts["pictures"] / base["pictures"],
        "hits": store.hits, "misses": store.misses, "MB kept": store.bytes / 1e6,
    }  # fmt: skip
for name, model in loaded.items():
    prompts = [build_prompt(row, model.family) for row in rows]
    picture = model.processor.prepare(rows[0].image().convert("RGB")).tokens
    lengths[name] = {"picture": float(picture)}
    for one in ("original", *SCI7.textual):
        texts = [text if one == "original" else rewrite(text, one) for text in prompts]
        ids = model.processor.token_ids(texts, [()] * len(texts))
        lengths[name][f"text, {one}"] = np.mean([len(text) for text in ids])
computed = pd.DataFrame.from_dict(lines, orient="index")
computed = computed[~computed.index.str.endswith(": base")]
caption = f"Work on {len(rows)} rows, others than were timed, with the gate on; prefixes kept"
tables.plain(computed, name="work", caption=caption)

# %% [markdown]
# ## Against the levels
#
# Every round has a prompt of the layout above, and the gate is off; the vision tower is part of the
# time, the preparation of pictures is not. Below, on pocket data, `generate` goes from picture to
# text with pocket models as trained when this was measured, preparing the pictures included, the
# gate on: its levels suppose questions that the textual rounds mostly decide.
#
# A level holds if the upper quartile is below it, and fails if the lower quartile is above. The
# column *tokens* has what is counted: tokens through the language model, in multiples of the base.
# Black's picture is encoded once, so time can fall below the count, the more the vision tower
# weighs; the calls that sharing adds work against it, most of all at batch 1.

# %%
ways = timing.grid(measured["CPU"])
two_phases = timing.ungated(measured["CPU"], image_tokens)
on_data = timing.on_pocket_data(measured["CPU"])
lines = {}
for row in [*two_phases.to_dict("records"), *on_data.to_dict("records")]:
    lines[f"{row['model']}, {timing.setting(row)}"] = {
        "tokens": tables.number(row["token_rows_ratio"]), "time": timing.shown(row),
        "skipped, %": tables.number(100 * row["skip_rate"], 0),
    }  # fmt: skip
levels_table = pd.DataFrame(list(lines.values()), index=list(lines), dtype=object)
caption = f"CPU, multiples of the base: {image_tokens} image tokens, or pocket data"
tables.Table("levels", levels_table, caption)

# %% [markdown]
# The levels one by one, and the paper's own sentences about time:

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table.fold())

# %% tags=["hide-input"]
asked = [f for f in findings if f.claim.measure == "time_on_pocket" and f.interval.n]
failed = sum(finding.verdict == "fails" for finding in asked)
same = 100 * ways["token_agreement"].min()
Markdown(
    (f"**{failed} of {len(asked)} levels on pocket data fail.** " if asked else "")
    + "Each way of decoding was also compared once with the rounds one after another: it chose the "
    + f"same token {'at every step' if same == 100 else f'in {tables.number(same, 1)} % of steps'}"
    + ", and no first logit differed by more than "
    f"{ways['largest_logit_difference'].max():.0e}."
)

# %% [markdown]
# Where a level on pocket data fails, the tokens counted above may say why. Where a prompt is mostly
# text, the textual rounds alone, which no gate can skip, already compute a multiple of the base's
# tokens (the lines `SCI(M=0, …)`); and a question on which a model is in doubt needs its dummy
# pictures too.

# %% [markdown]
# ## What the time beyond the base consists of
#
# *Arithmetic* is what is computed beyond the base, at the base's own rate. *Further calls* of the
# language model each cost at least what a call with one token does. *The rest* is arithmetic at
# another rate (masked attention, small products) and copies; it is negative where black, which is
# encoded once and for all, saves more than that.

# %%
plain = measured["CPU"]["frame"].query("strategy == 'base'").set_index(timing.SETTING)
lines = {}
for row in two_phases.to_dict("records"):
    base = plain.loc[tuple(row[field] for field in timing.SETTING)]
    arithmetic, calls = row["gflop"] / base["gflop"] - 1, row["calls"] - base["calls"]
    waiting = calls * row["call_seconds"] / base["seconds_median"]
    lines[f"{row['model']}, {timing.setting(row)}"] = {
        "arithmetic": arithmetic, "further calls": int(calls), "their time": waiting,
        "the rest": row["ratio_median"] - 1 - arithmetic - waiting,
        "together": row["ratio_median"] - 1,
    }  # fmt: skip
terms = pd.DataFrame.from_dict(lines, orient="index")
caption = f"Time beyond the base, in multiples of the base, {image_tokens} image tokens"
tables.plain(terms, name="terms", caption=caption).fold()

# %% [markdown]
# ## How near to the machine's limit
#
# Arithmetic counted by torch, attention included, beside the rate of a large matrix product on the
# same thread. Where a line of the download runs at a lower rate than the base, something beside
# arithmetic takes time: calls, or memory.

# %%
peak = measured["CPU"]["settings"]["matmul_gflops"]
chosen = measured["CPU"]["frame"].query(
    "data == 'made up' and prompts == 'own' and cache != 'cold' and method in ['base', 'SCI7'] "
    f"and image_tokens == {image_tokens}"
)
rate = chosen["gflop"] / chosen["seconds_median"]
at = [f"{row['model']}, {timing.setting(row)}" for row in chosen.to_dict("records")]
rates = pd.DataFrame({
    "computed": chosen["strategy"].replace(timing.way_names()), "GFLOP": chosen["gflop"],
    "ms": 1000 * chosen["seconds_median"], "GFLOP/s": rate, "of product, %": 100 * rate / peak,
}).set_axis(at)  # fmt: skip
combining = ways["combining_share"].groupby("method").max()
print(f"A large matrix product: {peak:.0f} GFLOP/s; here {rate.min():.0f} to {rate.max():.0f}.")
for name, part in combining.items():
    share = tables.number(100 * part, 1)
    print(f"{name}: combining the rounds took {share} % of the time at most.")

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
#   constraint and choice take together, which is the share printed above.
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
#
# ## If you change …
#
# - `image_tokens=1280`: times of larger pictures, beside which a reworded instruction is nothing.
# - `counted_tokens=64`: small pictures, where the words are most of a prompt and rounds cost more.
# - `checkpoints=[mine]`, with `data` and `loading` if it is no pocket model: how often a model of
#   yours needs its dummy pictures.

# %% [markdown]
# ## Stamp
#
# The download holds times by every way, tokens by rounds, decided questions by data set, lengths of
# prompts, and rates of arithmetic.

# %%
further = [
    tables.plain(
        ways["ratio_median"].unstack("way"), name="median time, × base", caption=""
    ),
    *(tables.plain(curve, name=f"tokens at {tokens} image tokens, × base", caption="")
      for tokens, curve in curves.items()),
    tables.plain(pd.DataFrame(first).T, name="tokens by question, × base", caption=""),
    tables.plain(decided("of", "data set"), name="decided, %", caption="", decimals=0),
    tables.plain(pd.DataFrame(lengths).T, name="tokens of prompts", caption="", decimals=0),
    tables.plain(rates, name="arithmetic", caption="", decimals=[0, 1, 0, 0, 0]),
    tables.plain(pd.DataFrame({kind: result["versions"] for kind, result in measured.items()}).T,
                 name="versions", caption=""),
]  # fmt: skip
tables.download("table07_cost", further)

# %% tags=["hide-input"]
stamp.provenance(
    models={name: revision(model) for name, model in loaded.items()},
    data={name: value[:16] for name, value in dataset.checksums.items()},
    records={kind: stamp.checksum([result["path"]]) for kind, result in measured.items()},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

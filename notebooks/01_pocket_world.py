# %% [markdown]
# # The pocket world and its models
#
# The papers' phenomena, bias and sensitivity, are observed on large models whose training nobody
# can change, and whose weights and pictures cannot travel with a book. In the pocket world they
# have a cause that we control. This project draws the scenes: boats on a sea, sheep in a field,
# cups in a kitchen. Every attribute that a question can ask about has a *usual* value.
#
# Training draws the usual value more often than the others, which gives a model a language prior to
# lean on. Evaluation asks as often about unusual values, where the prior is wrong. Most of the
# training shows the original instruction. Its last stage shows instructions put together by lot in
# both languages, and empty pictures, some of them static; never the paper's own sentences, nor its
# dummies. That stage was revised on pilots, so that a model be right on a rewording as often as on
# the original, read nothing in a dummy, and be right about as often as the paper's models;
# {ref}`conditions` says of which trainings that is so. No method was decoded on a pilot, so nothing
# there was tuned on how SCI scores.
#
# **Claim.** Both pocket models, the shipped training of each family, know their world (at least
# 90 % right, in every question family, where the answer is the usual one) and lean on habit (they
# are right less often where it is not).

# %% tags=["parameters", "hide-input"]
pocket_models: list[str] = ["pocket-qwen2vl", "pocket-llavanext"]
twins: str = "pocket"
frozen: str = "data_manifests/records"

# %% tags=["hide-input"]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from sci_book import load_dataset, model_entry, read_records, share, verdict
from sci_book.papers.shared import chapters, figures, parameters, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.pocket.draw import draw
from sci_book.pocket.twins import is_usual
from sci_book.pocket.world import LIGHTS, PLACES, Lot, sample_scene
from sci_book.results.statistics import apart

began = stamp.begin()

# %% tags=["hide-input"]
pocket_models = parameters.names(pocket_models, "pocket_models")

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %%
files = {name: stamp.located(frozen) / f"{name}.parquet" for name in pocket_models}
records = {name: read_records(file) for name, file in files.items()}
labels = {name: f"pocket {model_entry(name)['label']}" for name in pocket_models}
known, drops = {}, {}
for name, record in records.items():
    frame = record.frame
    right, group = record.correct("base").astype(float), frame["group"].to_numpy(dtype=object)
    usual = np.array(
        [is_usual(*pair) for pair in zip(frame["dataset"], frame["index"], strict=True)]
    )
    family = frame["category"].where(frame["category"] != "", "short answers")
    family = family.str.replace("_", " ").to_numpy()
    for category in sorted(set(family)):
        for is_it, word in ((True, "usual"), (False, "unusual")):
            mask = (family == category) & (usual == is_it) & record.ok
            known[category, labels[name], word] = share(right[mask], group[mask])
    sides = [mask & record.ok for mask in (usual, ~usual)]
    gap = apart([tuple((right[mask], group[mask]) for mask in sides)])
    drops[name] = gap._replace(n=int(record.ok.sum()))

# %% tags=["remove-output"]
lines, answers = {}, []
for name, label in labels.items():
    families = [key for key in known if key[1:] == (label, "usual")]
    weakest = min(families, key=lambda key: known[key].low)
    knows = f"{label}: at least 90 % in the weakest family, {weakest[0]}"
    lines[knows] = (known[weakest], 0.9)
    lines[f"{label}: usual better than unusual"] = (drops[name], 0.0)
    answers.append(
        f"- **{label}**: where the answer is the usual one, {tables.shown(known[weakest])} % right "
        f"in the weakest family, {weakest[0]}; where it is not, {tables.shown(drops[name])} points "
        "less over all families."
    )
verdicts = [verdict(interval, margin=margin) for interval, margin in lines.values()]
at_head.write("\n".join([f"**Verdict: {chapters.overall(verdicts)}.**\n", *answers]))

# %%
accuracies = pd.Series({key: 100 * interval.estimate for key, interval in known.items()}).unstack(
    [1, 2]
)
figure, axes = plt.subplots(
    1, len(pocket_models), figsize=(figures.WIDTH, 4.2), sharey=True, squeeze=False
)
for ax, name in zip(axes[0], pocket_models, strict=True):
    for word, marker in (("usual", "o"), ("unusual", "s")):
        column = accuracies[labels[name], word]
        ax.plot(
            column,
            range(len(column)),
            marker,
            label=word,
            color=figures.colour("base" if word == "usual" else "SCI5"),
        )
    ax.set_yticks(range(len(accuracies)), accuracies.index)
    ax.set_xlabel("right, %")
    ax.set_title(labels[name])
    ax.set_xlim(0, 103)
axes[0, 0].invert_yaxis()
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
against = [
    f"{family} of {label}"
    for label in labels.values()
    for family in accuracies.index[accuracies[label, "usual"] < accuracies[label, "unusual"]]
]
figures.show(
    figure,
    "Right answers by family of questions, where the answer is the usual one and where it is not. "
    "Where a square lies left of its dot, the model is the worse for its habit"
    + (f"; it is not so in {', '.join(against)}." if against else "."),
    alt="A panel a model, a line a family of questions: a dot for the share right where the "
    "answer is the usual one, a square where it is not; the axis runs from 0 to 100 %.",
)

# %%
cells = [[tables.shown(interval), str(interval.n), word]
         for (interval, _), word in zip(lines.values(), verdicts, strict=True)]  # fmt: skip
heads = ["%, or points", "n", "verdict"]
frame = pd.DataFrame(cells, list(lines), heads, dtype=object)
caption = f"The claim, for the shipped training of each family, with {tables.INTERVAL}s"
tables.Table("verdict", frame, caption)

# %% [markdown]
# ## What a scene is
#
# A scene is a place with things on a grid of three by three cells, under a light. Each kind of
# thing has its usual colour, number, position and places; a sign shows a letter or digit; a lamp is
# on or off. There are six places, nineteen kinds of things in nine colours, and four lights. A
# picture is 96 pixels wide; each is drawn from a short description that also gives the exact answer
# to every question.
#
# ```{literalinclude} ../sci_book/pocket/world.py
# :pyobject: Kind
# ```
#
# ```{literalinclude} ../sci_book/pocket/world.py
# :pyobject: Lot
# ```

# %%
generator = np.random.default_rng(11)
scenes = [sample_scene(generator, Lot(skew=0.7, dim=0.25)) for _ in range(400)]
full = {place: [s for s in scenes if s.place == place and len(s.things) > 3] for place in PLACES}
chosen = [full[place][k] for k in range(3) for place in PLACES]
captions = [*PLACES, *[""] * (len(chosen) - len(PLACES))]
figures.show(
    figures.pictures([draw(scene) for scene in chosen], captions, columns=len(PLACES)),
    "Three of the scenes drawn at each of the six places.",
    alt="Eighteen small drawn pictures, six columns by place: sea, field, kitchen, street, "
    "bedroom, garden; things such as fish, flowers, sheep and cups stand in a grid in front"
    " of them.",
)

# %% [markdown]
# Dusk, fog and a grainy sensor make a share of the pictures hard to read. There a model does well
# to answer what is usual: this is where habit comes from.

# %%
dim = {light: next(s for s in scenes if s.light == light and len(s.things) > 3) for light in LIGHTS}
figures.show(
    figures.pictures([draw(scene) for scene in dim.values()], dim),
    "The four lights: in the last three a picture is hard to read.",
    alt="Four drawn pictures: a clear one, a dark one, one behind pale fog, and one under "
    "coloured grain.",
)

# %% [markdown]
# Pictures are textured and low in contrast on purpose: on flat, bright drawings the paper's noise
# hides nothing. Whether a dummy picture still shows something to these models is measured in
# {ref}`conditions`.
#
# ## What is asked
#
# A question belongs to a family: colour, number, position, place, what is there and what is not,
# the letter on a sign, captions, and "what if" questions about things added, removed or switched
# off. It is put as a multiple choice of four, as yes or no, or as a short answer, in English and
# Chinese. The families were chosen for all five papers at once.
#
# ## The six twins
#
# The world yields a twin of each data set of the paper, in the **public file format and at the
# paper's own size**, rotations, question pairs and picture triplets included. One loader reads twin
# and original, and nothing downstream knows which it was given. The last two columns: rows whose
# answer is the usual one, and rows whose answer has several words or Chinese characters.

# %%
dataset = load_dataset(twins)
lines = {}
for name in dataset.sizes:
    rows = [row for row in dataset if row.dataset == name]
    truths = [row.options.get(row.answer, row.answer) for row in rows]
    several = [" " in text or (text > "\u4e00" and len(text) > 1) for text in truths]
    lines[name] = {
        "rows": len(rows),
        "groups": len({row.group for row in rows}),
        "pictures": len({row.image_hash for row in rows}),
        "usual, %": 100 * np.mean([is_usual(name, row.index) for row in rows]),
        "several words, %": 100 * np.mean(several),
    }
frame = pd.DataFrame(lines).T
frame = frame.astype({name: int for name in ("rows", "groups", "pictures")}).astype(object)
tables.plain(frame, name="twins", caption="The pocket twins", decimals=1)

# %% [markdown]
# ## The pocket models
#
# Checkpoints in the ordinary Hugging Face layout: a configuration of the real
# `Qwen2VLForConditionalGeneration` {cite:p}`wang2024qwen2vl` and of the real
# `LlavaNextForConditionalGeneration` {cite:p}`liu2024llavanext`, of one to two million parameters
# each, trained from random weights:
#
# ```bash
# sci train-pocket --arch qwen2_vl --training 0
# ```
#
# and so, with `--arch llava_next`, the second, and with `--training sister-0` the third. The first
# two stand for the paper's models, and are training 0 of their families; further trainings of each
# lie in `checkpoints/trainings`. The third, which is narrower, answers questions of size: does a
# gain carry over to a smaller model ({doc}`Table 3 <table03_cross_model>`), what does scale do to
# blur ({ref}`Edge Table 8 <edge_table08_ablations>`)? Seeds follow from the recipe's file; nobody
# chose one. {ref}`registration` tells what was known when they were trained.
#
# A pocket CLIP (`sci train-pocket --arch clip`) tells how well an object goes with a picture; it
# chooses the objects of {ref}`ORIC's pocket questions <oric_tables03_10_bench>`. The model cards
# hold the loss curves.
#
# ## What the pocket models know
#
# Base decoding (greedy, the original prompt) of the shipped training of each family, by question
# family, on held-out pictures. Intervals are over question groups.

# %%
counts = pd.Series({key: interval.n for key, interval in known.items()}).unstack([1, 2])
order = [(labels[name], word) for name in pocket_models for word in ("usual", "unusual")]
display(
    tables.plain(
        accuracies[order],
        name="families",
        decimals=1,
        caption="Accuracy of base decoding by question family, %",
    )
)
display(
    tables.plain(
        counts[order].astype(int).astype(object),
        name="families-n",
        caption="Rows behind each accuracy",
    ).fold()
)

# %% [markdown]
# ## Reading
#
# A gap between usual and unusual is the language prior at work. No pilot of this training was
# decoded with SCI; its first part is the recipe of earlier models, whose results had been seen
# ({ref}`registration`). In a family that is not known well even where
# the answer is usual, a wrong answer may be ignorance as well as habit: the subsets of later
# chapters hold both. A question group that has rows on both sides of the gap counts once for its
# interval.
#
# ## What transfers, and what does not
#
# The architecture code is the real one, so identities, the agreement of the two engines, and the
# tokens that a round costs are the same facts here as on a large checkpoint; times are not. The
# *direction* of an effect is evidence, no more: a prior that we planted is simpler than one learnt
# from the web. *Levels* do not transfer at all. Every pocket number in this book is labelled as
# one.

# %% [markdown]
# ## Stamp

# %%
stamp.provenance(
    models={name: record.stamp["revision"] for name, record in records.items()},
    data={name: value[:24] for name, value in dataset.checksums.items()},
    records={name: stamp.checksum([file]) for name, file in files.items()},
)

# %% tags=["nbval-ignore-output"]
stamp.circumstances(began)

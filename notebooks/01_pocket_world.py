# %% [markdown]
# # The pocket world and its models
#
# The papers' weights and pictures cannot travel with a book, so this one draws a world of its own
# and ships two models trained on it. Training leans on what is usual there; the six twins of the
# papers' data sets ask as often where the usual is wrong.
#
# **Claim.** Both pocket models know their world (at least 90 % right, in every question family,
# where the answer is the usual one) and lean on habit (they are right less often where it is not).

# %% tags=["parameters"]
models: list = ["pocket-qwen2vl", "pocket-llava-next"]
data: str = "pocket"
records: str = "../data_manifests/records"

# %% tags=["hide-input"]
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from sci_core.evaluation import (
    Interval,
    cluster_bootstrap,
    load_dataset,
    model_entry,
    read_records,
    verdict,
)
from sci_core.pocket.draw import draw
from sci_core.pocket.twins import is_usual
from sci_core.pocket.world import LIGHTS, PLACES, Lot, sample_scene
from sci_core.report import figures, stamp, tables

began = time.time()
figures.use_style()

# %% [markdown]
# ## A gallery
#
# Six places, nineteen kinds of things in nine colours, signs with a letter or digit, lamps that
# are on or off, and four lights. A picture is 96 pixels wide; each is drawn from a short
# description that also gives the exact answer to every question.

# %%
generator = np.random.default_rng(11)
scenes = [sample_scene(generator, Lot(skew=0.7, dim=0.25)) for _ in range(400)]
chosen = [
    next(s for s in scenes[k * 20 :] if s.place == place and len(s.things) > 3)
    for k in range(3)
    for place in PLACES
]
figure, axes = plt.subplots(3, 6, figsize=(figures.WIDTH, 3.7))
for ax, scene in zip(axes.ravel(), chosen, strict=True):
    ax.imshow(draw(scene), interpolation="nearest")
    ax.set_title(scene.place if ax in axes[0] else "", fontsize=9, loc="center")
    ax.set_axis_off()
plt.show()

# %% [markdown]
# Dusk, fog and a grainy sensor make a share of the pictures hard to read. There a model does well
# to answer what is usual: this is where habit comes from.

# %%
dim = {light: next(s for s in scenes if s.light == light and len(s.things) > 3) for light in LIGHTS}
figures.pictures({light: draw(scene) for light, scene in dim.items()})
plt.show()

# %% [markdown]
# ## The six twins
#
# Same files, columns, rows and groups as the public data sets.

# %%
dataset = load_dataset(data)
lines = {}
for name in dataset.sizes:
    rows = [row for row in dataset if row.dataset == name]
    truths = [row.options.get(row.answer, row.answer) for row in rows]
    usual = [is_usual(name, row.index) for row in rows]
    lines[name] = {
        "rows": len(rows),
        "groups": len({row.group for row in rows}),
        "pictures": len({row.image_hash for row in rows}),
        "usual answer, %": 100 * np.mean(usual),
        "answers of several words or characters, %": 100 * np.mean([len(t.split()) > 1 or
            (len(t) > 1 and "\u4e00" <= t[0] <= "\u9fff") for t in truths]),
    }  # fmt: skip
tables.plain(pd.DataFrame(lines).T.astype({"rows": int, "groups": int, "pictures": int}).astype(object),
             name="twins", caption="The pocket twins", decimals=1)  # fmt: skip

# %% [markdown]
# ## What the pocket models know
#
# Base decoding (greedy, the original prompt), by question family, on held-out pictures. Intervals
# are bootstrapped over question groups.

# %%
found = {name: read_records(Path(records) / f"{name}.parquet") for name in models}
labels = {name: f"pocket {model_entry(name)['label']}" for name in models}
known, drops = {}, {}
for name, record in found.items():
    frame = record.frame
    right, group = record.correct("base").astype(float), frame["group"].to_numpy(dtype=object)
    usual = np.array(
        [is_usual(*pair) for pair in zip(frame["dataset"], frame["index"], strict=True)]
    )
    family = frame["category"].where(frame["category"] != "", "short answers").to_numpy()
    for each in sorted(set(family)):
        for is_it, word in ((True, "usual"), (False, "unusual")):
            mask = (family == each) & (usual == is_it) & record.ok
            known[each, labels[name], word] = cluster_bootstrap(right[mask], group[mask])
    sign = np.where(usual, 1, -1) * right
    drops[name] = {word: cluster_bootstrap(right[(usual == is_it) & record.ok],
                   group[(usual == is_it) & record.ok]) for is_it, word in ((True, "usual"), (False, "unusual"))}  # fmt: skip

shown = pd.Series({key: 100 * interval.estimate for key, interval in known.items()}).unstack([1, 2])
counts = pd.Series({key: interval.n for key, interval in known.items()}).unstack([1, 2])
order = [(labels[name], word) for name in models for word in ("usual", "unusual")]
display(
    tables.plain(
        shown[order],
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
    )
)

# %%
figure, axes = plt.subplots(
    1, len(models), figsize=(figures.WIDTH, 4.2), sharey=True, squeeze=False
)
for ax, name in zip(axes[0], models, strict=True):
    for word, marker in (("usual", "o"), ("unusual", "s")):
        column = shown[labels[name], word]
        ax.plot(
            column,
            range(len(column)),
            marker,
            label=word,
            color=figures.colour("base" if word == "usual" else "SCI5"),
        )
    ax.set_yticks(range(len(shown)), shown.index)
    ax.set_xlabel("right, %")
    ax.set_title(labels[name])
    ax.set_xlim(0, 101)
axes[0][-1].legend(loc="lower left")
plt.show()

# %% [markdown]
# ## The claim's verdict

# %%
lines = {}
for name in models:
    low = min(
        (key for key in known if key[1:] == (labels[name], "usual")), key=lambda k: known[k].low
    )
    worst = known[low]
    lines[f"{labels[name]}: weakest family, usual ({low[0]}) ≥ 90 %"] = (
        worst,
        verdict(worst, margin=0.9),
    )
    usual, unusual = drops[name]["usual"], drops[name]["unusual"]
    gap = Interval(usual.estimate - unusual.estimate, usual.low - unusual.high,
                   usual.high - unusual.low, usual.n + unusual.n, usual.clusters + unusual.clusters)  # fmt: skip
    lines[f"{labels[name]}: usual better than unusual"] = (gap, verdict(gap))
frame = pd.DataFrame(
    {
        key: {
            "estimate, %": 100 * i.estimate,
            "95 % interval": tables.interval(100 * i.low, 100 * i.high),
            "n": str(i.n),
            "verdict": v,
        }
        for key, (i, v) in lines.items()
    }
).T
tables.plain(frame, name="verdict", caption="The claim, for each pocket model")

# %% [markdown]
# ## Reading
#
# The gap between usual and unusual is the language prior at work, and it is the only thing that
# makes these models biased: nothing in the world or the training was chosen by looking at how SCI
# scores. The gap's interval is conservative: it takes the two ends of two intervals.

# %% [markdown]
# ## Stamp

# %%
stamp.provenance(
    models={name: record.stamp["revision"] for name, record in found.items()},
    data={name: value[:24] for name, value in dataset.checksums.items()},
    records={name: stamp.checksum([Path(records) / f"{name}.parquet"]) for name in models},
)

# %% tags=["nbval-ignore-output"]
stamp.circumstances(time.time() - began)

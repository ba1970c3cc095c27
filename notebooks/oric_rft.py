# %% [markdown]
# # ORIC, Table 5 and Figure 5: does fine-tuning on such questions help, and does it carry over?
#
# **Claim.** Visual-RFT raises macro F1 on held-out ORIC questions: above the model as it is, and
# above the same model taught the form of the answer alone. *Figure 5:* it does so on held-out
# claims of another kind too.
#
# ORIC {cite:p}`oric` fine-tunes Qwen3-VL-8B on 600 questions about objects out of context, by
# reinforcement: eight answers to a question are sampled, each is rewarded for being right and for
# having the asked form, and the better ones of a group become likelier (GRPO). The paper reports a
# higher macro F1 than the model has by itself, with or without “let's think step-by-step”, and
# says that training "improves generalization beyond ORIC-Bench". Here the same is done to a pocket
# model, through TRL, with 600 questions about the pocket world made by the same construction.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
run: str = "pocket-llavanext"  # the model that was fine-tuned
results: str = "benchmarks/results"

# %% tags=["hide-input"]
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from sci_book.papers.oric.chapters.answers import title
from sci_book.papers.oric.printed import PRINTED, printed_row
from sci_book.papers.oric.rft import result as rft
from sci_book.papers.oric.rft.settings import PRESETS, PRINTED_AS
from sci_book.papers.shared import figures, frame, stamp, tables
from sci_book.papers.shared.lines import table_of
from sci_book.pipeline import findings as ledger
from sci_book.pocket import oric
from sci_book.pocket.draw import draw, masks
from sci_book.resources import FROZEN_RECORDS, PAPER
from sci_book.results import statistics

began = stamp.begin()

# %% tags=["hide-input"]
result = rft.read(run, f"{results}/rft")
model = ledger.named([run], FROZEN_RECORDS)
on_oric = ledger.of_page("oric_table05_rft", model, results)
on_probe = ledger.of_page("oric_fig05_other_sets", model, results)
Markdown("\n\n".join(ledger.conclusion(findings) for findings in (on_oric, on_probe)))

# %% [markdown]
# (oric_table05_rft)=
# ## Before and after, Table 5
#
# `sci rft` makes the run, in three parts. A pocket model does not know the tags of Figure 11, so it
# is first **taught the form**, and with its own words: its description of a picture as the
# reasoning, its own yes or no as the solution. The rewards come later, and with them the labels:
# **Visual-RFT** on 600 questions. Then held-out questions are asked in four ways: of the model as
# it is, with and without Figure 12's prompt (*0-shot CoT*), of the model that was taught the form,
# and of the fine-tuned one; the last two in the words of the lessons. The sets are ORIC questions
# about other pictures, in four wordings, and a *probe*: claims about colours, numbers, positions
# and places, which the fine-tuning never asks about. An answer that says neither yes nor no counts
# as wrong. The run is no part of the tests: its result, with every answer, is committed.

# %%
PRINTED_ROWS = {"cot": "w 0-shot CoT", "plain": "w/o 0-shot CoT", "rft": "Visual-RFT"}
table5 = {
    (part, condition): printed_row("oric_table05", name, part)
    for part, (condition, name) in product("ab", PRINTED_ROWS.items())
}
figure5 = {  # the paper's text; its numbers with CoT are drawn and nowhere written
    (name, condition): PRINTED.quote(f"figure 5 {name} {word}")
    for name in ("HallusionBench", "AMBER")
    for condition, word in (("plain", "before"), ("rft", "after"))
}
f1 = {
    (name, condition): rft.score(result, name, condition, "f1").times(100)
    for name, condition in product(("oric", "probe"), rft.SHOWN)
}

# %%
figure, axes = plt.subplots(1, 3, figsize=(figures.WIDTH, 2.8), sharey=True)
for panel, name in zip(axes, ("oric", "probe"), strict=False):
    for place, condition in enumerate(rft.SHOWN):
        score = f1[name, condition]
        panel.hlines(place, score.low, score.high, color="#dd6b20", linewidth=2.5)
        panel.plot(score.estimate, place, "o", color="#dd6b20",
                   label=None if place or name == "probe" else result.heading)  # fmt: skip
for place, condition in enumerate(rft.SHOWN):
    marks = [(0, table5["a", condition]["f1"], "D")] if condition in PRINTED_ROWS else []
    marks += [(2, value, "s" if name == "AMBER" else "D")
              for (name, known), value in figure5.items() if known == condition]  # fmt: skip
    for panel, value, marker in marks:
        axes[panel].plot(value, place, marker, mfc="white", mec=figures.INK)
heads = ("ORIC, held out", "other claims, held out", "HallusionBench, AMBER")
for panel, head in zip(axes, heads, strict=True):
    panel.set_title(head, fontsize=10)
    panel.set_xlabel("macro F1, %")
    panel.set_xlim(-3, 103)
axes[0].set_yticks(range(len(rft.SHOWN)), list(rft.SHOWN.values()))
axes[0].set_ylim(len(rft.SHOWN) - 0.5, -0.5)
axes[2].plot([], [], "D", mfc="white", mec=figures.INK, label="paper")
axes[2].plot([], [], "s", mfc="white", mec=figures.INK, label="paper, AMBER")
figure.legend(loc="outside lower center", ncols=3)
figures.show(
    figure,
    "Macro F1 before and after training, on held-out questions of ORIC, on other claims, and in the"
    " paper’s Figure 5.",
    alt="Three panels, ORIC, other claims, and the paper’s two other sets: dots with intervals for "
    "reasoning first, the model as it is, taught the form, and after Visual-RFT; open marks for the"
    " paper.",
)

# %% [markdown]
# Differences of macro F1 on the same questions; a picture is a cluster of every interval. A model
# that says neither yes nor no to more than half of the questions is nothing to compare with.
#
# *Table 5(b).* The paper has people label 200 questions anew and scores the model by them. Nobody
# was asked about the pocket world; its *onlooker* is a rule, which stands for the way people's
# labels differ from annotations: a thing that hardly stands out is not there. A thing is seen if
# its mean colour differs from what surrounds it by an eighth of the range in some channel.

# %%
STANDS_OUT = 32  # least difference of mean colours in some channel, of 255
AROUND = 4  # pixels beyond a thing's box


def sees(scene, kind):
    """Whether some thing of a kind stands out: its visible pixels against those around its box."""
    covered, picture = masks(scene), draw(scene).astype(float)
    bare = ~covered.any(axis=0)
    for number, thing in enumerate(scene.things):
        visible = covered[number] & ~covered[number + 1 :].any(axis=0)
        if thing.kind != kind or not visible.any():
            continue
        near = np.zeros_like(bare)
        rows, columns = visible.nonzero()
        near[max(rows.min() - AROUND, 0) : rows.max() + 1 + AROUND,
             max(columns.min() - AROUND, 0) : columns.max() + 1 + AROUND] = True  # fmt: skip
        ground = picture[near & bare if (near & bare).any() else bare].mean(axis=0)
        if np.abs(picture[visible].mean(axis=0) - ground).max() >= STANDS_OUT:
            return True
    return False


def relabel(images, kinds, labels):
    """The annotations' labels of questions, "yes" only where the onlooker sees it."""
    numbers = [int(image.removesuffix(".png").rpartition("_")[2]) for image in images]
    return [
        "yes" if label == "yes" and sees(oric.scene("val", 0, number), kind) else "no"
        for number, kind, label in zip(numbers, kinds, labels, strict=True)
    ]


# %%
rows = result.rows("oric")
seen = relabel(rows["image"], rows["target"], rows["label"])
sets = {**result.content["sets"], "onlooker": {**rows, "label": seen}}
relabelled = replace(result, content={**result.content, "sets": sets})
there = f"{seen.count('yes')} of {rows['label'].count('yes')} things seen"
changes = []
for first, second, name, part in (
    ("rft", "plain", "oric", "a"),
    ("rft", "taught", "oric", "a"),
    ("rft", "cot", "oric", "a"),
    ("taught", "plain", "oric", "a"),
    ("rft", "plain", "onlooker", "b"),
    ("rft", "plain", "probe", ""),
    ("rft", "taught", "probe", ""),
):
    change = rft.difference(relabelled, name, first, second)
    both = [table5[part, condition]["f1"] for condition in (first, second)
            if (part, condition) in table5]  # fmt: skip
    label = f"by the onlooker’s labels ({there})" if name == "onlooker" else name
    what = f"{label}: {rft.SHOWN[first]} − {rft.SHOWN[second]}"
    paper = both[0] - both[1] if len(both) == 2 else None
    changes.append(frame.single(result.heading, change, what=what, paper=paper))
caption = f"Change of macro F1 of {result.heading}, in points; positive is better"
changes, show = frame.measured(changes), ("paper", "here", "n")
frame.table(changes, ("what",), (), name="changes", caption=caption, show=show)

# %%
METRICS = ("f1", "precision", "recall", "yes_proportion")
METRICS += ("f1_yes", "recall_yes", "f1_no", "recall_no")
parts = {}
for part, name, conditions in (("a", "oric", rft.SHOWN), ("b", "onlooker", ("plain", "rft"))):
    lines = [
        frame.single(
            result.heading, rft.score(relabelled, name, condition, metric),
            metric=title(metric), asked=rft.SHOWN[condition],
            paper=table5.get((part, condition), {}).get(metric),
        )
        for condition, metric in product(conditions, METRICS)
    ]  # fmt: skip
    parts[part] = frame.table(
        frame.measured(lines), ("metric", "asked"), (), name=f"table05{part}", show=show,
        caption=f"Table 5({part}), percent: the paper’s model on its benchmark, and held out "
        f"{result.heading}",
    )  # fmt: skip
parts["a"].fold()

# %% tags=["hide-input"]
for table in ledger.tables(on_oric):
    display(table.fold())

# %% [markdown]
# ### The rewards, and what was said
#
# A group whose answers have all the same reward moves nothing: its z-score is zero (equation 5).
# The panel of such groups shows how often that is so, for either reward and for their sum, which is
# what counts.

# %%
WINDOW = 20  # updates
curve, shades = result.curve, {"accuracy": "#0072b2", "form": "#009e73", "their sum": "#6b7280"}
figure, (left, right) = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.2), sharex=True)
for name, shade in shades.items():
    same = "constant" if name == "their sum" else f"constant_{name}"
    style = (0, (4, 3)) if name == "their sum" else "-"  # the line below shows through
    right.plot(curve["step"], curve[same].rolling(WINDOW).mean(), color=shade, linestyle=style,
               label=name)  # fmt: skip
    if name in curve:
        left.plot(curve["step"], curve[name].rolling(WINDOW).mean(), color=shade)
left.set_ylabel("mean reward")
right.set_ylabel("groups of equal rewards, share")
for panel in (left, right):
    panel.set_xlabel(f"update (means of the last {WINDOW})")
    panel.set_ylim(-0.03, 1.03)
figure.legend(loc="outside lower center", ncols=3)
figures.show(
    figure,
    "The rewards as Visual-RFT goes on, and the share of groups that teach nothing since all "
    "their rewards are equal.",
    alt="Two panels against the update: the mean reward for accuracy and for form, and the "
    "share of groups with equal rewards for each and for their sum.",
)

# %%
read = {
    f"{name}: {shown}": {
        "answers": int(np.size(result.rows(name)["form"][condition])),
        "yes or no, %": result.answered(name, condition),
        "in the form, %": float(100 * np.mean(result.rows(name)["form"][condition])),
    }
    for name, (condition, shown) in product(("oric", "probe"), rft.SHOWN.items())
}
display(table_of(read, name="read", caption="What could be read of the answers", decimals=1))
said = {
    rows["wording"][place]: {"label": rows["label"][place]}
    | {rft.SHOWN[name]: rows["texts"][name][place] for name in ("plain", "taught", "rft")}
    for place in range(3)
}
caption = "The first questions, asked in the first wording"
table_of(said, name="prose-rft-answers", caption=caption).fold()  # so its words wrap (book.css)

# %% [markdown]
# *Table 9*, the settings, with what `sci rft --preset paper` makes of it and the pocket run's own;
# the prompts of Figures 11 and 12 are set-up too.

# %%
printed = pd.read_csv(PAPER / "oric_training.csv", dtype=str).set_index("name")["printed"]
preset, own = vars(PRESETS["paper"]), result.content["settings"]
settings = {
    name: {
        "paper": text.replace("^{-6}", "⁻⁶"),
        "preset “paper”": str(preset.get(PRINTED_AS.get(name), "")),
        "pocket run": str(own.get(PRINTED_AS.get(name), "")),
    }
    for name, text in {**printed, "answers an update": ""}.items()
}
table_of(settings, name="table09", caption="Table 9: hyper-parameters").fold()

# %% [markdown]
# (oric_fig05_other_sets)=
# ## Other questions, Figure 5
#
# The paper asks its fine-tuned model about AMBER and HallusionBench. No pocket model reads
# photographs; the probe is the counterpart. The probe is another kind of question about the same
# world, as AMBER's attributes and relations are of the same photographs as its objects; illusions,
# as in HallusionBench, have no pocket twin.

# %%
lines = {
    shown: {
        f"{name}, paper": figure5.get((name, condition)) for name in ("HallusionBench", "AMBER")
    }
    | {"probe": f1["probe", condition], "n": f1["probe", condition].n}
    for condition, shown in rft.SHOWN.items()
}
caption = (
    f"Figure 5, macro F1 in percent: two sets of the paper’s, and {result.heading} on the probe"
)
display(table_of(lines, name="figure05", caption=caption))

rows = result.rows("probe")
target, label, image = (np.array(rows[name]) for name in ("target", "label", "image"))
right = {name: (result.said("probe", name)[0] == label).astype(float) for name in rft.SHOWN}
families = {}
for family in dict.fromkeys(rows["target"]):
    mine = target == family
    change = statistics.difference((right["rft"] - right["plain"])[mine], image[mine])
    families[family] = {
        "claims": int(mine.sum()),
        **{f"{rft.SHOWN[name]}, %": 100 * hits[mine].mean() for name, hits in right.items()},
        "Visual-RFT − as it is, points": change.times(100),
    }
table_of(families, name="families", caption="The probe by what is claimed", decimals=1)

# %% tags=["hide-input"]
for table in ledger.tables(on_probe):
    display(table.fold())

# %% [markdown]
# ### Beside: what the two sets' figures are worth
#
# The paper gives macro F1. Both sets have figures of their own: AMBER's F1 takes "no" as the
# positive class, HallusionBench counts questions (aAcc), figures (fAcc) and question pairs (qAcc).
# What an answer scores that looks at nothing, always yes or always no, follows from the labels of
# the released files, exactly. Nothing is claimed of it.

# %%
CONSTANTS = PAPER / "oric_other_sets.csv"
constants = pd.read_csv(CONSTANTS)
whole = constants[constants["group"] == "all"]
names = whole["set"] + ", always " + whole["answer"]
apart = pd.DataFrame({"own figure": whole["f1"].where(whole["set"] == "AMBER", whole["aAcc"])})
apart["macro F1"] = whole["macro_f1"]
apart["own less macro F1"] = apart["own figure"] - apart["macro F1"]
apart["paper’s macro F1, before training"] = [figure5[name, "plain"] for name in whole["set"]]
caption = "Constant answers, in percent: AMBER’s F1 or HallusionBench’s aAcc, and macro F1"
tables.plain(apart.set_axis(names.tolist()), name="apart", caption=caption)

# %% [markdown]
# ## Reading and deviations
#
# - **“Taught the form” is the control that the paper lacks.** It sees the same prompt, writes the
#   same tags and has met no label of a training question. What the rewards add beyond the habit of
#   describing first is the difference from it. Its lessons ask about an object that is there in
#   one picture and one that is not in the next, so that its own answers can be of both kinds.
# - **One run, one seed, one model.** The intervals are about questions; they do not say how another
#   run would end.
# - Table 9's learning rate, sampling and epochs are an eight-billion model's; the pocket run's own
#   stand beside them. Where the paper says nothing, TRL decides: the z-score's deviation divides by
#   n − 1, and there is no setting for the longest prompt.
# - The answers of an update are sampled together and serve it alone. So the ratio of equation (6)
#   is 1 when it is used, and its clip never acts.
# - Figure 11's prompt is in words that a pocket model has never met. The lessons ask “Describe the
#   picture. Please answer yes or no.” in its place, which it has, and teach the tags by example.
#   Figure 12's means nothing to a model that has never reasoned in words.
# - **The lessons are few.** A pocket model learnt to bind answers to questions from far more turns
#   than these. “Taught the form − as it is” says what the form changes; the rewards start from
#   there.
# - **The settings were found on the book's first model.** In two tries the wording of a lesson gave
#   its answer away, and the model learnt the wording; the second try showed this by its answers to
#   the held-out questions of then. We then changed the lessons: pairs share one wording, the prompt
#   uses known words, the first steps are smaller, and yes and no weigh more. We judged these
#   changes by the model's answers to other lessons. We halved the learning rate of the fine-tuning
#   once, when the model said yes to everything. The claims were written when a run on that model
#   was known; the run shown is a later one, by these settings, of the LLaVA-NeXT that was the
#   book's before today's, on the questions of that time (`2ed6d73`).
# - Table 5(b) compares with people's answers; the onlooker's labels are no people's. They come from
#   the picture alone, by a threshold that was set before any answer was scored by it.
# - Existence in AMBER has no question whose answer is yes, so macro F1 has no value there. The
#   released files are not in this repository; its tests compute the constants from them again
#   where they are at hand (`SCI_REAL_DATA`).
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `run=mine`, with the `result.json` of `sci rft --model mine` as `rft/mine.json` in `results`.
# - `"f1"` of the first cell to `"yes_proportion"`: how far training moves the answers to one side.
# - `WINDOW = 1`: every update's own rewards.
# - `STANDS_OUT = 64`: the onlooker's labels if a thing must stand out twice as much.
#
# In the download: Table 5(b), the rewards at both ends of the run, and what constant answers score.

# %%
size = min(WINDOW, max(1, len(curve) // 2))
spans = {f"first {size}": curve.head(size), f"last {size}": curve.tail(size)}
spans[f"all {len(curve)}"] = curve
shares = ["constant_accuracy", "constant_form", "constant", "cut"]
rewards = {
    f"updates: {name}": part[["accuracy", "form", "tokens"]].mean().to_dict()
    | {f"{share}, %": 100 * part[share].mean() for share in shares}
    for name, part in spans.items()
}
constants.index = constants[["set", "answer", "group"]].agg(", ".join, axis=1)
further = [
    parts["b"],
    table_of(rewards, name="rewards", caption="Rewards, and groups that teach nothing"),
    tables.plain(
        constants.drop(columns=["set", "answer", "group"]), name="constants",
        caption="Constant answers by group of questions, in percent",
    ),
]  # fmt: skip
tables.download("oric_rft", further)

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
content = result.content
versions = ", ".join(f"{name} {text}" for name, text in content["stamp"]["versions"].items())
stamp.provenance(
    models={content["model"]: content["revision"][:16]},
    data={"constants": stamp.checksum([CONSTANTS])},
    records={f"{result.path.name} ({versions})": stamp.checksum([result.path])},
)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

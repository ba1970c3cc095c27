# %% [markdown]
# # Does the gain outlive other rows, and other trainings?
#
# A gain on the rows that a benchmark selects may come of the selection, and a gain of one model of
# its training. So BS is selected here by rounds that SCI5 never reads, and the paper's headline
# claims {cite:p}`tang2026sci` are put to every training of a recipe that has records.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
extended: str = "data_manifests/records/extended"  # records of fifteen rounds, of a model each
others: int = 2  # dummies, and rewordings, that select in place of SCI5's; it has two of each

# %% tags=["hide-input"]
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown, display

from sci_book.papers.sci import printed
from sci_book.papers.sci.chapters.shapes import built_with, name_lines
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.extended import extended as read_extended
from sci_book.papers.shared.figures import INK, colour, legend_below
from sci_book.papers.shared.pages import address, named
from sci_book.results.drbench import split
from sci_book.results.statistics import FEWEST
from sci_core.counterfactuals import is_visual
from sci_core.methods import METHODS, SCI5

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
longer = [model for each in subjects if (model := read_extended(each, extended)) is not None]
trainings = chapters.by_training(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## What is measured
#
# On the same rows, one method's answers less another's: a row counts 1 if the first alone is right,
# −1 if the other alone is. The mean over a subset is in points; its interval is over question
# groups, and over trainings too where four or more are taken together.

# %%
OWN, OTHER, ALL = "SCI5’s rounds", f"{2 * others} other rounds", "all other rounds"


def constructions(model):
    """By name, the dummies and rewordings that build BS; noise400, which may show much, in none."""
    rounds = [[name for name in model.records.rounds[1:] if is_visual(name) == visual]
              for visual in (True, False)]  # fmt: skip
    rest = [[name for name in kind if name not in (*SCI5.rounds, "noise400")] for kind in rounds]
    return {
        OWN: [[name for name in kind if name in SCI5.rounds] for kind in rounds],
        OTHER: [kind[:others] for kind in rest],
        ALL: rest,
    }


def sets_of(model, built):
    test = model.records.ok & (split(model.records) == "test")
    return built_with(model.records, *constructions(model)[built]) & test[:, None]


def less(one, other):
    """Of a training, a method less another, row by row."""
    return lambda training: training.right(METHODS[one]) - training.right(METHODS[other])


def held_out():
    """SCI5 less base and less VCD on B, S∖B and BS of each construction."""
    for model, opponent, part in product(longer, ("base", "VCD"), ("B", "S∖B", "BS")):
        for built in (OWN, OTHER, ALL):
            claimed = {"claim": "greater"} if (opponent, part) == ("base", "BS") else {}
            yield frame.line(
                model, less("SCI5", opponent),
                lambda training, at=(built, part): sets_of(training, at[0])[at[1]],
                part=part, built=built, mark=f"over {opponent}, {built}", fit=model.fit,
                what=f"SCI5 − {opponent}, {part} built with {built}", **claimed,
            )  # fmt: skip


# %%
def differences(training, beside):
    """By name: two methods, and the rows; SCI5's gains, more rounds, rows of another model."""
    sets, pairs = training.sets("any", "rows"), (("SCI5", "base"), ("SCI5", "VCD"))
    for subset, (one, other) in product(("B", "S", "BS"), pairs):
        yield f"{one} − {other}, {subset}", (one, other), sets[subset]
    for one, other in (("SCI5", "SCI3"), ("SCI7", "SCI5")):
        yield f"{one} − {other}, BS", (one, other), sets["BS"]
    for model in beside:
        yield f"SCI5 − base, BS of {model.shown}", pairs[0], model.sets("any", "rows")["BS"]


def headlines():
    """Every difference of every training by itself, each claimed to be positive."""
    for number, beside in trainings.items():
        for training in beside:
            rest = [model for model in beside if model is not training]
            for what, pair, rows in differences(training, rest):
                judging = beside if " of " in what else [training]
                yield frame.line(
                    training, less(*pair), lambda _, rows=rows: rows, what=what,
                    mark=f"training {number}", claim="greater",
                    fit=all(each.fit for each in judging),
                )  # fmt: skip


def judged(lines):
    """`frame.measured`; no claim is judged on a model that does not meet its conditions."""
    tidy = frame.measured(lines)
    if "verdict" in tidy:
        tidy["verdict"] = tidy["verdict"].where(tidy["fit"] | tidy["verdict"].isna(),
                                                "not comparable")  # fmt: skip
    return tidy


held, by_training = judged(held_out()), judged(headlines())

# %% [markdown]
# A verdict depends on the training where the claim holds on one and fails on another. Of fewer than
# four trainings there is no interval over them: the verdict of all is then the word that each has.

# %%
ONE, ALIKE, OPEN, AGAINST = "one at most", "the same on all", "differs", "contradicted"


def together(words):
    """How the verdicts of several trainings agree, those apart that cannot be judged."""
    words = [word for word in words if word != "not comparable"]
    if len(words) < 2:
        return ONE
    return AGAINST if {"holds", "fails"} <= {*words} else ALIKE if len({*words}) == 1 else OPEN


def over_trainings():
    """Every difference over all trainings: their mean, the word of all, whether they agree."""
    merged = {}
    for line in headlines():
        whole = merged.setdefault((line["model"], line["what"]), {**line, "trainings": []})
        whole["trainings"] += line["trainings"]
    tidy = judged(merged.values()).set_index(["model", "what"])
    single = by_training.groupby(["model", "what"], sort=False)
    tidy["mean"], words = single["estimate"].mean(), single["verdict"].agg(list)
    tidy["together"], tidy["trainings"] = words.map(together), words.map(len)
    few = words.map(lambda each: each[0] if len({*each}) == 1 else "inconclusive")
    barred = words.map(lambda each: "not comparable" in each)
    tidy["verdict"] = tidy["verdict"].where(tidy["trainings"] >= FEWEST, few)
    tidy["verdict"] = tidy["verdict"].mask(barred, "not comparable")
    tidy["verdict"] = tidy["verdict"].mask(tidy["trainings"] < 2, tables.MISSING)
    return tidy


overall = over_trainings()


# %% tags=["hide-input", "remove-output"]
def told(line):
    ends = tables.interval(line.low, line.high)
    return f"{chapters.gain(line.estimate)} {ends}, *{line.verdict}*, on the BS that {line.built}"


def of_held_out():
    """The verdict on rows that other rounds select, and what SCI5 gains on them, in Markdown."""
    claims = held[held["claim"].notna()] if longer else pd.DataFrame(columns=["built", "verdict"])
    word = chapters.overall(claims.loc[claims["built"] == OTHER, "verdict"])
    head = f"**Verdict, {named('drbench_held_out')}: {word}.** SCI5 against the base, BS built"
    answers = [f"{head} with {OTHER}; the shipped training."]
    for model, part in claims.groupby("model", sort=False) if longer else ():
        own, other, rest = map(told, part.itertuples())
        answers.append(f"**{model}.** Against the base SCI5 {own} select. It {other} select; it "
                       f"{rest} select.")  # fmt: skip
    none = "No model has records of more than seven rounds (`sci evaluate --methods extended` "
    return "\n\n".join([*answers, *([] if longer else [f"{none}makes them)."])])


def of_trainings():
    """Whether a verdict depends on the training, and how many claims come out alike."""
    count = overall["together"].value_counts()
    word = chapters.unchanged(compared=bool(count.get(ONE, 0) < len(overall)),
                              changed=OPEN in count, contradicted=AGAINST in count)  # fmt: skip
    said = {
        ALIKE: "every training has the same verdict",
        OPEN: "some are inconclusive where another holds or fails",
        ONE: f"at most one training can be judged ([conditions]({address('conditions')}))",
    }
    counts = [f"on {count[key]} {text}" for key, text in said.items() if key in count]
    counts.append(f"{count.get(AGAINST, 'none')} held on one training and failed on another")
    return (
        f"**Verdict, {named('headline_seeds')}: {word}.** Of {len(overall)} headline claims (each "
        f"model's its own), {'; '.join(counts)}. A claim that holds on one training and "
        "fails on another refutes this page's."
    )


at_head.write(f"{of_held_out()}\n\n{of_trainings()}")


# %%
def draw(tidy, lines, shades):
    """A panel a model, a line a value of `lines`, a mark each of `shades`: its colour and face."""
    shown = list(dict.fromkeys(tidy["model"]))
    most = tidy.groupby("model")[lines].nunique().max()
    size = figures.WIDTH, 0.6 + (0.6 + 0.34 * most) * len(shown)
    figure, axes = plt.subplots(len(shown), 1, figsize=size, squeeze=False, sharex=True)
    for ax, model in zip(axes[:, 0], shown, strict=True):
        part = tidy[tidy["model"] == model]
        names = list(dict.fromkeys(part[lines]))
        for place, (mark, (shade, face)) in enumerate(shades.items()):
            mine = part[part["mark"] == mark]
            aside = 0.7 * ((place + 0.5) / len(shades) - 0.5)
            heights = [names.index(name) + aside for name in mine[lines]]
            ax.hlines(heights, mine["low"], mine["high"], color=shade, linewidth=1.5)
            ax.plot(mine["estimate"], heights, "o", color=shade, mfc=face, ms=5, label=mark)
        ax.axvline(0, color=INK, linewidth=0.8)
        name_lines(ax, names)
        ax.set_title(model)
        if not part["n"].any():
            figures.nothing(ax, "No test row is in any of these subsets.")
    axes[-1, 0].set_xlabel("difference, points")
    legend_below(figure, axes[:1, 0], ncols=2 if len(shades) == 4 else 3)
    return figure


if longer:
    marks = {f"over {name}, {built}": (colour(name), colour(name) if built == OWN else "white")
             for name, built in product(("base", "VCD"), (OWN, OTHER))}  # fmt: skip
    figures.show(
        draw(held[held["built"] != ALL], "part", marks),
        "SCI5’s gain on subsets built with the rounds that it reads, and on those built with "
        f"{OTHER}. Where the two marks agree, the gain does not come from choosing rows by the "
        "rounds that decode.",
        alt="A panel a model, lines for B, S∖B and BS: SCI5’s gain over base and over VCD in "
        "points with intervals, full marks for subsets built with SCI5’s own rounds, open "
        "marks for those built with others.",
    )

# %%
shades = zip(dict.fromkeys(by_training["mark"]), figures.TRAINING_COLOURS, strict=False)
figures.show(
    draw(by_training, "what", {mark: (shade, shade) for mark, shade in shades}),
    "The headline differences by training: marks of one line that lie apart may be the luck of a "
    "training.",
    alt="A panel a model, a line a difference such as SCI5 less base on B: a dot with an "
    "interval for each training, in points.",
)

# %% [markdown]
# (drbench_held_out)=
# ## DRBench held out
#
# **Claim.** SCI5's gain over the base on BS survives where the rounds that select the rows are not
# the rounds that decode them, for each model shown.
#
# DRBench is built with black, noise500, V1 and V2, and SCI5 combines the same four. The paper asks
# itself whether its gains are "tailored to its corresponding DRBench data" (A4), and answers with
# the BS of another model (Table 3). But that was built with the same four rounds. Here BS is built
# with rewordings and noises that SCI5 never reads.
#
# The rows are those of the records of more rounds, which the shipped training alone has: a fixed
# part of the question groups. One changed answer selects a row, so more rounds select more rows.
# The fair comparison has as many other rounds as SCI5 has: two rewordings and two dummies.
#
# S∖B leans towards the base and B against it, whichever rounds select ({doc}`../book/drbench`); BS
# mixes both, in a share that may differ between the constructions ({doc}`why_gains`). So the parts
# stand beside the whole. The claim is about BS, against the base.

# %%
if longer:
    display(frame.table(
        held, rows=("what",), columns=("model",), show=("here", "n", "verdict"), name="held-out",
        caption=f"Gains of SCI5, points, {tables.INTERVAL}s; verdicts on what is claimed",
    ))  # fmt: skip

# %% [markdown]
# ### The constructions

# %%
sizes = {}
for model, built in product(longer, (OWN, OTHER, ALL)):
    sets, own = sets_of(model, built), sets_of(model, OWN)["BS"]
    common = 100 * (sets["BS"] & own).sum() / sets["BS"].sum() if sets["BS"].any() else None
    sizes[f"{model.shown}, {built}"] = {
        "rounds": ", ".join(name for kind in constructions(model)[built] for name in kind),
        "test rows": f"{sets['all'].sum():,}",
        **{part: f"{sets[part].sum():,}" for part in ("B", "S", "BS")},
        "of BS in SCI5’s, %": tables.number(common),
    }
if longer:
    caption = "The constructions, on the rows that have more rounds"
    display(tables.Table("prose-sizes", pd.DataFrame.from_dict(sizes, orient="index"), caption))

# %% [markdown]
# ### The same question to the paper
#
# Rows that another model stumbles over may be rows where this one does not, with little to gain;
# and both BS come from one list of rounds. A BS built with V3 to V7 and other dummies, as here,
# would tell the two apart, and needs no further training or data: some rounds more on the test
# rows.

# %%
texts = []
for label in printed.labels():
    there, more = printed.own_against_others(label, ["SCI5"], ["base"])
    own, elsewhere = tables.number(100 * (more + there)), tables.number(100 * there)
    texts.append(f"{label} gains {own} points on its own BS and {elsewhere} on the other’s")
Markdown(f"In its Table 3, {', '.join(texts)}.")

# %% [markdown]
# (headline_seeds)=
# ## The headline claims on several trainings
#
# **Claim.** No verdict on a headline claim depends on the training.
#
# A pocket model trained with another seed, on other pictures of the same world, is another model.
# From four trainings on, intervals on the other pages are over them too; here each stands by
# itself. Each model's DRBench is its own, so that of another training holds other rows.
#
# The claim is that each difference is positive. The line with the BS of another model asks whether
# the gain carries over to rows that the other model's training of the *same number* stumbles over.

# %%
for model in subjects:
    mine, how = (
        by_training[by_training["model"] == model.shown],
        {"rows": ("what",), "columns": ("mark",)},
    )
    caption = f"Headline claims of {model.shown}, differences in points, by training"
    display(frame.table(mine, **how, show=("here", "n"), name=f"trainings-{model.name}",
                        caption=caption))  # fmt: skip
    caption = f"Headline claims of {model.shown}: whether each is positive"
    table = frame.table(mine, **how, show=("verdict",), name=f"agree-{model.name}",
                        caption=caption)  # fmt: skip
    mine = overall.loc[model.shown].reindex(table.frame.index)
    mean = [
        tables.with_ends(at.estimate, at.low, at.high, 1, at.key)
        if at.trainings >= FEWEST
        else tables.number(at.mean, 1)
        for at in mine.itertuples()
    ]
    table.frame["all: mean"] = pd.Series(mean, mine.index, dtype=object)
    table.frame["all: verdict"] = mine["verdict"]
    display(table)

# %% [markdown]
# ## Reading and deviations
#
# - A few trainings show whether a sign is an accident of one. Under four there is no interval over
#   them; the verdict is then the word that all have, else *inconclusive*. With one there is nothing
#   to compare.
# - The paper has one training of each model, as published; it says nothing on this question.
# - All trainings of a family share world, curriculum, number of steps and sizes; the seed draws
#   weights, pictures and questions. The evaluation's pictures are the same for all.
#
# ## If you change …
#
# - `others=3`: three dummies and three rewordings select. BS grows, towards that of all other
#   rounds.
# - `differences`: one more line, such as `"TIE"` in the place of `"VCD"`, puts another claim to
#   every training.
# - `models=[mine]` and `records=runs/mine`: a model of yours; with `sci evaluate --methods
#   extended` in `extended` it has rows that other rounds select.

# %% [markdown]
# ## Stamp
#
# The download holds how many test rows are in each subset, by training.

# %%
every = [training for of_one in trainings.values() for training in of_one]
counted = {}
for each in every:
    sets = each.sets("any", "rows")[["all", "B", "S", "BS"]]
    counted[f"{each.shown}, training {each.number}"] = sets.sum()
counted = tables.plain(pd.DataFrame.from_dict(counted, orient="index"), name="rows", caption="")
tables.download("other_rows", [counted])

# %% tags=["hide-input"]
shipped = [replace(each, name=f"{each.name} training {each.number}") for each in every]
chapters.stamp_of(shipped, [model.path for model in longer])

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # MetaRA: which changes make a model fail?
#
# MetaRA {cite:p}`xu2026metara` changes a picture and its question in four ways that are meant to
# leave the answer as it is: benign adjustments (MR1), local edits (MR2; the mirror where reading is
# asked), style or background (MR3), a text written into the picture (MR4); each time the question
# is put in other words. Which of them makes a model fail? Does each leave alone what it promises to
# leave? Do harder questions fail more often? The pocket set *knowledge* stands for the paper's
# KBVQA, *text* for its OCR-VQA. Pocket numbers stand *beside* the paper's. Levels do not carry
# over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
rate: str = "conditional"  # of the three failure rates; or "absolute", "consistency"
originals: int = 24  # of each task, whose cases are looked at for what the relations promise

# %% tags=["hide-input"]
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from PIL import ImageOps

from sci_book.data.pictures import decode_picture
from sci_book.papers.metara import files, paper
from sci_book.papers.metara.chapters import answers
from sci_book.papers.metara.chapters.answers import FR, TASKS, by_original, drawn, rows_of
from sci_book.papers.metara.chapters.measures import halves
from sci_book.papers.metara.difficulty import LEVELS
from sci_book.papers.metara.failures import ORIGINAL, RATES
from sci_book.papers.metara.order import order_rates
from sci_book.papers.metara.originals import read_originals
from sci_book.papers.metara.paraphrase import content_words, keep_questions
from sci_book.papers.metara.printed import PRINTED
from sci_book.papers.metara.relations import IDENTITY, OPERATIONS, RELATIONS, make_cases
from sci_book.papers.shared import chapters, figures, frame, pages, stamp, tables
from sci_book.papers.shared.lines import table_of
from sci_book.pipeline import findings as ledger

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
subjects = ledger.named(models, records)
by_relation = ledger.of_page("metara_table06_fig08_relations", subjects)
by_difficulty = ledger.of_page("metara_fig02_difficulty_order", subjects)
for findings in (by_relation, by_difficulty):
    display(Markdown(ledger.conclusion(findings)))

# %% tags=["hide-input"]
recorded = answers.subjects(models, records)
made = recorded.subjects
if missing := chapters.absences(recorded):
    display(Markdown(missing))

# %% [markdown]
# (metara_table06_fig08_relations)=
# ## Table VI and Figures 8, A, B: relation by relation
#
# **Claim.** On each task, the conditional failure rate is higher under MR2 and MR4 than under MR1
# and MR3, each pair, for each model shown.
#
# The paper finds models robust to benign changes and to style, and not to local edits and texts. A
# rate of an original is a mean over its cases under a relation; the numbers are means over the
# originals that have such cases, which the intervals draw again; where four trainings or more have
# the answers, an interval is over trainings too. The conditional rate, of originals answered right,
# stands beside the paper's FR, a mean over its models and data sets.

# %%
points = []
for (dataset, task), relation, model in product(TASKS.items(), RELATIONS, made):
    printed = PRINTED.number("metara_table06", split=relation, dataset=dataset)
    keys = {"relation": relation, "paper": printed if rate == FR else None}
    points.append(answers.line(model, rate, task, {"relation": relation}, **keys))
points = frame.measured(points)

# %%
figure, axes = plt.subplots(1, len(TASKS), figsize=(figures.WIDTH, 2.9), sharex=True, sharey=True)
colours = figures.model_colours([model.name for model in made])
for panel, (dataset, task) in zip(axes, TASKS.items(), strict=True):
    for place, model in enumerate(made):
        part = points[(points["model"] == model.shown) & (points["task"] == task)]
        heights = np.arange(len(RELATIONS)) + 0.2 * (place - (len(made) - 1) / 2)
        panel.hlines(heights, part["low"], part["high"], color=colours[model.name], linewidth=2.5)
        panel.plot(part["estimate"], heights, "o", color=colours[model.name], label=model.shown)
    theirs = [PRINTED.number("metara_table06", split=r, dataset=dataset) for r in RELATIONS]
    panel.plot(theirs, RELATIONS, "D", mfc="white", mec=figures.INK, label="paper")
    panel.set(title=f"{task} ({dataset})", xlabel=f"{rate} failure rate, %")
axes[0].invert_yaxis()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=3)
figures.show(
    figure,
    "Failure rate by relation and task, here with intervals, in the paper as diamonds: the claim "
    "is that MR2 and MR4 lie to the right of MR1 and MR3.",
    alt="Two panels, one a task, a line for each of the four relations: dots with intervals for "
    "each model and diamonds for the paper, along the failure rate in percent.",
)

# %%
caption = f"Table VI: FR, {rate}, percent; n originals"
rows, show = ("task", "relation", "model"), ("paper", "here", "n")
frame.table(points, rows, (), name="relations", caption=caption, show=show)

# %% [markdown]
# Every pair that the sentence asserts, on the originals that have both relations; below, the
# paper's other sentences about relations:

# %% tags=["hide-input"]
for table in ledger.tables(by_relation):
    display(table.fold())

# %% [markdown]
# A mirror leaves some letters as they are (H, T, X) and makes others into something else. If the
# mirror "disrupts text perception", it does so on the others.

# %%
by_operation = {
    f"{operation.relation}, {operation.name}": {
        f"{model.shown}, {task}": f"{tables.number(100 * values.mean())} of {len(values)}"
        for model, task in product(made, TASKS.values())
        for values in [by_original(model, rate, task, operation=operation.name)["value"]]
    }
    for operation in OPERATIONS
    if made
}
signs = set(rows_of("text")["original"])
changed = len(signs - answers.same_in_a_mirror())
caption = "FR by operation, percent, of how many originals; the mirror changes "
caption += f"the sign of {changed} of {len(signs)}; the shipped training"
table_of(by_operation, name="operations", caption=caption).fold()

# %% [markdown]
# (metara_table01_fig09_gallery)=
# ## Table I and Figure 9: the relations as pictures
#
# **Claim.** In every case looked at, each relation leaves unchanged what it promises to leave: the
# pixels outside the edited object, the things on a new background, what is asked about under a
# text, the content words of the question.
#
# What a relation promises can be checked case by case, without any model. Where an operation would
# change the answer (a new background, where the place is asked for), it is left out.


# %%
def one_of_each(original):
    """One case of each operation that can be made of an original."""
    each = [make_cases([original], operations=[operation], seed=1) for operation in OPERATIONS]
    return [case for made in each for case in made.cases]


folders = {task: drawn(task).parent / "originals" / task for task in TASKS.values()}
sets = {task: read_originals(folder).originals[:originals] for task, folder in folders.items()}
example = max(sets["knowledge"][:6], key=lambda one: len(one_of_each(one)))
mirrored = [case for case in one_of_each(sets["text"][0]) if case.operation == "mirror"]
cases = [*one_of_each(example), *mirrored]
names = ["original", *(f"{case.relation}\n{case.operation}" for case in cases)]
figures.show(
    figures.pictures([example.image, *(case.image for case in cases)], names, columns=8),
    f"“{example.question}” ({example.answer}): an original and one case of each operation; the "
    "mirror is of a question about text.",
    alt="Small drawn pictures: an original, and the same scene under each operation, such as "
    "brighter, rotated, scaled, stylised, on another background, and with a text; a sign mirrored.",
)


# %%
def pixels(image):
    return np.asarray(image.convert("RGB"))


def same(case, where=...):
    """Whether a case's pixels are those of its original, where a mask says so."""
    return np.array_equal(pixels(case.image)[where], pixels(case.original.image)[where])


EVERY = [operation.name for operation in OPERATIONS]
PROMISES = {
    "MR2: only pixels of the edited object change":
        (["shade", "texture", "occlusion"], lambda case: same(case, ~case.original.region)),
    "MR2: the mirror's mirror is the original (most signs read otherwise in it)":
        (["mirror"], lambda case: same(case._replace(image=ImageOps.mirror(case.image)))),
    "MR3: all things stay as they are on a new background":
        (["background"], lambda case: same(case, case.original.things)),
    "MR3: the picture's size stays":
        (["stylisation", "colour transfer", "background"],
         lambda case: case.image.size == case.original.image.size),
    "MR4: no pixel of what is asked about is written over":
        (["text"], lambda case: same(case, case.original.asked)),
    "MR1 to MR4: the question keeps every content word":
        (EVERY, lambda case: content_words(case.question) == content_words(case.original.question)),
    "MR1 to MR4: picture and question are not both as they were":
        (EVERY, lambda case: case.question != case.original.question or not same(case)),
}  # fmt: skip


def kept(cases, promises=PROMISES):
    """In how many cases each promise was looked at, and in how many it was kept."""
    lines = {}
    for what, (operations, keeps) in promises.items():
        mine = [keeps(case) for case in cases if case.operation in operations]
        word = "not comparable" if not mine else "holds" if all(mine) else "fails"
        lines[what] = {"cases": len(mine), "kept": sum(mine), "verdict": word}
    return pd.DataFrame.from_dict(lines, orient="index")


# %%
every = [original for part in sets.values() for original in part]
cases = make_cases(every, 3).cases
promises = kept(cases)
idle = make_cases(every, operations=IDENTITY, paraphraser=keep_questions).cases
unmoved = sum(same(case) and case.question == case.original.question for case in idle)
words = [*promises["verdict"], "holds" if unmoved == len(idle) else "fails"]
about = pages.named("metara_table01_fig09_gallery")
display(Markdown(
    f"**Verdict, {about}: {chapters.overall(words)}.** {promises['cases'].sum():,} checks of "
    f"{len(cases):,} cases, three of each relation for {originals} originals of either task. Of "
    f"{len(idle)} cases of transforms that change nothing, {unmoved} are their original."
))  # fmt: skip
tables.plain(promises, name="promises", caption="What the relations promise, case by case")

# %% [markdown]
# ### Figure 9
#
# The paper shows a case that is changed much and answered right, and one that is changed little and
# answered wrong. Here a rule chooses them, for the first model, as shipped: of each task the most
# changed case that is right and the least changed that is wrong, among originals that are answered
# right, by the mean absolute difference of pixels.


# %%
images, titles, chosen = [], [], {}
for model, (dataset, task) in product(made[:1], TASKS.items()):
    rows, folder = rows_of(task).set_index("index"), drawn(task).parent / "pictures"
    own = rows[rows["relation"] == ORIGINAL].set_index("original")["image"]
    cases = answers.failures(model, task).cases.dropna(subset=FR).set_index("index")
    pairs, changes = {}, {}
    for index, original in cases["original"].items():
        names = own[original], rows.loc[index, "image"]
        before, after = [decode_picture((folder / name).read_bytes()) for name in names]
        if before.size == after.size:
            pairs[index] = before, after
            changes[index] = np.abs(pixels(after) - pixels(before).astype(float)).mean()
    for wrong, choose, name in ((0, max, "most changed, right"), (1, min, "least changed, wrong")):
        if mine := [index for index in changes if cases.loc[index, FR] == wrong]:
            index = choose(mine, key=changes.get)
            case = cases.loc[index]
            images += pairs[index]
            titles += [f"{dataset}, original", f"{case['operation']}: {name.split()[-1]}"]
            chosen[f"{dataset}: {name}"] = {
                "operation": case["operation"], "mean change of a pixel": changes[index],
                "question": rows.loc[index, "question"], **case[["truth", "answer"]],
            }  # fmt: skip

# %% tags=["hide-input"]
if images:
    figures.show(
        figures.pictures(images, titles, columns=8),
        "Of each task, the most changed case that is answered right and the least changed that is "
        "answered wrong.",
        alt="Pictures in pairs, original and case, for each task: first a case that is much "
        "changed and right, then one that is little changed and wrong.",
    )
table_of(chosen, name="prose-figure09", caption="Figure 9 by rule").fold()

# %% [markdown]
# (metara_fig02_difficulty_order)=
# ## Figure 2: difficulty, and the order of inputs
#
# **Claim.** Among questions of one family, those that d(x) calls harder fail more often, on each
# task, for each model shown.
#
# Two stages of the framework leave numbers behind. *Input understanding* gives each input a
# difficulty, which settles how many cases it gets: "the easier a QI pair is, the higher the
# probability that the model will yield a correct result". *Inference* feeds the original and its
# cases as one sequence, in several orders. The paper prints neither a formula nor a result.
#
# $$\begin{aligned}
# d(x) &= \tfrac12 (1 - \text{relevance}) + \tfrac14 \, \frac{\text{entropy}}{8} \\
# &\quad + \tfrac14 \, \frac{\min(\text{words}, 30)}{30}
# \end{aligned}$$
#
# is ours: relevance is the share of the question's content words that are known to be in the
# picture, entropy that of its grey values. In the pocket sets the words of a question come from its
# family, so that d also tells families apart. A family that fails more is no evidence for d; so
# here each family's harder half is compared with its own easier half, and families weigh alike. The
# rate is the absolute one: the sentence is about right answers, and a condition on the original
# would leave out the hardest.

# %%
figure, axes = plt.subplots(1, len(TASKS), figsize=(figures.WIDTH, 3.1), sharey=True)
for panel, task in zip(axes, TASKS.values(), strict=True):
    for place, model in enumerate(made):
        rates = 100 * by_original(model, "absolute", task).set_index("original")["value"]
        about = halves(task).loc[rates.index].assign(rate=rates)
        apart = 1.2 * (place - (len(made) - 1) / 2)  # dots of two models would cover each other
        colour = colours[model.name]
        panel.plot(about["score"], rates + apart, ".", color=colour, alpha=0.7, markersize=5)
        for _, family in about.groupby("family"):
            means = family.groupby("harder")[["score", "rate"]].mean()
            panel.plot(means["score"], means["rate"], "-o", color=colour)
        panel.plot([], [], "-o", color=colour, label=model.shown)
    panel.set(title=task, xlabel="difficulty d")
axes[0].set_ylabel("absolute failure rate of an original, %")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=2)
figures.show(
    figure,
    "The failure rate of an original against its difficulty: the paper asks that the lines rise. "
    "Dots are originals, those of two models drawn a little apart, of the shipped trainings; lines "
    "join the means of a family's easier and harder half.",
    alt="Two panels, one a task: small dots for the originals of each model, and for each "
    "half a mean, joined by a line.",
)

# %% tags=["hide-input"]
for table in ledger.tables(by_difficulty):
    display(table.fold())

# %% [markdown]
# ### Order
#
# The original and a case of each relation are laid on one sheet, in four orders, and every question
# says which picture it is about. Asked alone, the order variance is zero by construction. The table
# is of the shipped training.

# %%
scales = {
    "failure rate (FR) averaged over orders, %": 100.0,
    "variance of FR between orders, points²": 1e4,
    "answers changed, %": 100.0,
}
in_orders = {}
for model, task in product(made, TASKS.values()):
    if len(sheets := answers.orders(model, task)):
        for (what, scale), found in zip(scales.items(), order_rates(sheets), strict=True):
            cells = {"here": found.times(scale), "n": found.n}
            in_orders[f"{task}, {model.shown}: {what}"] = cells
caption = "Sheets in several orders; n: originals, and pictures for answers that changed"
table_of(in_orders, name="orders", caption=caption).fold()

# %% [markdown]
# The file holds all three rates by relation, the cases that were drawn and could not be made, d by
# family, and the rates by level of difficulty: thirds of a task's originals, taken across families,
# so that a level says which families are in it before it says anything of d.

# %%
scores = {task: halves(task).groupby("family")["score"].describe() for task in TASKS.values()}
families = pd.concat(scores)[["count", "min", "50%", "max"]]
three = {
    f"{task}, {relation}, {model.shown}": {
        name: answers.percent(model, name, task, relation=relation) for name in RATES
    }
    for model, task, relation in product(made, TASKS.values(), RELATIONS)
}
by_level = frame.measured(
    answers.line(model, name, task, {"level": third}, level=third)
    for model, task, name, third in product(made, TASKS.values(), RATES, LEVELS)
)
counts = {}
for task in TASKS.values():
    refused = [f"not made: {refusal.reason}" for refusal in files.read_refusals(drawn(task))]
    counts[task] = pd.Series([*rows_of(task)["operation"], *refused]).value_counts()
counts = pd.DataFrame(counts).drop(index="").fillna(0).astype(int)

caption = "FR by level of difficulty, percent; n originals"
tables.download(
    "metara_relations",
    [
        tables.plain(families, name="families", caption="Difficulty", decimals=(0, 2, 2, 2)),
        table_of(three, name="three", caption="The three rates of the shipped training, percent"),
        tables.plain(counts, name="cases", caption="Cases drawn, by operation and task"),
        frame.table(
            by_level,
            ("task", "model", "rate", "level"),
            (),
            name="levels",
            caption=caption,
            show=("here", "n"),
        ),
    ],
)

# %% [markdown]
# ## Reading and deviations
#
# - **Most mirrored signs no longer show the answer**: the expected answer is the original's. What
#   fails there is as much the relation as the model. The mirror is the paper's own relation for
#   text (section IV-C).
# - Local edits are slight (the paper gives no amounts): shades, textures and a disk over at most a
#   tenth of an object. Amounts settle levels, and so does the training: a pocket model saw noise,
#   and no rotated or scaled picture.
# - The text of MR4 never hides what is asked about; in scenes without a free place the case is
#   missing, and counted; no other takes its place.
# - **Figures 8, A and B** draw the eight numbers of Table VI as shades, bars and steps; dots show
#   them once, with intervals.
# - **Styles are classical, paraphrases by rule, masks the scene's own.** The paper paints with
#   Stable Diffusion; `sci build-metara` takes a diffusion model and a text model where they are
#   given, and GrabCut finds a region where data have no mask.
# - **One sheet stands for a sequence.** The engine reads one picture a question. A pocket model
#   never saw a sheet; where its rate of failure there is high, a change of answers with the order
#   says how a model at a loss behaves, and no more.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `rate=absolute`: cases of originals that were wrong to begin with count too; `consistency` asks
#   for the answer to the original, right or wrong.
# - `originals=72`: the promises are looked at in the cases of every original.
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

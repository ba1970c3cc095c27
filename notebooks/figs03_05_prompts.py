# %% [markdown]
# # How often does a reworded prompt change the answer? Figures 3 to 5
#
# **Claim.** The translated instruction (V2) changes more answers than the rewording in the prompt's
# own language (V1), for each model shown.
#
# The textual rounds of Self-Critical Inference {cite:p}`tang2026sci` ask the same question with
# another instruction: V1 tells the model to look at the details, V2 gives the instruction in the
# other language, V3 tells the model that it is a clever student. The paper prints the three tables
# and what each rewrite alone scores. It does not say how often a rewrite changes an answer, or to
# what; the records of this book do.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
split_by: str = "rows"  # which rows are test: the paper's "rows", or "groups", which splits none

# %% tags=["hide-input"]
import hashlib
import re
from functools import cache
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from sci_book.data.datasets import DatasetError, load_dataset
from sci_book.data.prompts import build_prompt
from sci_book.papers.sci.chapters.shapes import differs, less
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.figures import INK, READ_ON, over_ground
from sci_book.pipeline import findings as ledger
from sci_book.resources import PAPER
from sci_book.run.presets import prompt_hash
from sci_core.counterfactuals import REWRITES, is_visual, rewrite

began = stamp.begin()

# %% tags=["hide-input"]
subjects = chapters.subjects(models, records)
findings = ledger.of_page("figs03_05_prompts", subjects)
Markdown(ledger.conclusion(findings))

# %% [markdown]
# ## How often
#
# A row counts 1 if the rewritten prompt's answer is another than the base's. An answer that cannot
# be parsed equals no other, as in DRBench's S. Test rows, of all data sets, by type of question and
# by data set. A question group is a cluster of every interval, which is over trainings too where
# there are four or more; a grey dot is a single training.

# %%
ROUNDS = ("V1", "V2", "V3")


def changed(training, name):
    """Where the answer to a rewritten prompt is another than the base's."""
    return differs(*(training.records.parsed(policy) for policy in ("base", name)))


@cache
def tested(training):
    return training.sets("any", split_by)["all"].to_numpy()


def rows_of(part):
    """Of a training, the test rows of a type of question or data set; "Overall" has all."""

    def rows(training):
        inside = (training.kinds == part) | (training.records.frame["dataset"] == part).to_numpy()
        return tested(training) & (inside | (part == "Overall"))

    return rows


def changes():
    """The share of answers that each rewrite changes, a line a model, part and rewrite."""
    for model in subjects:
        sets = model.records.frame["dataset"].unique()
        for part, name in product(("Overall", "MCQ", "Others", *sets), ROUNDS):
            yield frame.line(
                model,
                lambda training, name=name: 1.0 * changed(training, name),
                rows_of(part),
                span=(0.0, 1.0),
                part=part.replace("_", " "),
                rewrite=name,
            )


shares = frame.measured(changes())

# %%
few = shares[shares["part"].isin(("Overall", "MCQ", "Others"))]
figure = frame.dots(few, ("model", "part"), "rewrite", xlabel="answers changed, %")
figure.set_figheight(0.8 + 1.5 * len(subjects))
figure.axes[0].set_ylim(len(ROUNDS) - 0.5, -0.5)
figures.show(
    figure,
    "How many answers each rewrite of the prompt changes (grey: single trainings).",
    alt="A row of panels a model, a panel each for all questions, multiple choice and others; a "
    "line a rewrite: a dot with its interval, in percent of the answers.",
)

# %%
frame.table(
    shares.assign(part=shares["part"] + ", n = " + shares["n"].map("{:,}".format)),
    rows=("model", "part"),
    columns=("rewrite",),
    name="changed",
    caption=f"Answers that a rewrite changes, % of n, with {tables.INTERVAL}s",
    show=("here",),
)

# %% [markdown]
# Whether V2 moves more answers than V1 and V3: differences of the shares in points, taken row by
# row on the test rows of the split by rows.

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## What becomes of the changed answers
#
# Of the shipped training, in rows. *Unknown* is an answer that no rule understands, before or after
# the rewrite.

# %%
FLOWS = ("right → wrong", "wrong → right", "wrong → other wrong", "to unknown", "from unknown")


def flow(training, name):
    """Which of `FLOWS` every row is in; "" where the answer did not change."""
    said = training.records
    unknown = [pd.isna(said.parsed(policy)) for policy in ("base", name)]
    conditions = [~changed(training, name), *unknown, said.correct("base"), said.correct(name)]
    return np.select(conditions, ["", FLOWS[4], FLOWS[3], FLOWS[0], FLOWS[1]], default=FLOWS[2])


flows = {}
for model, name in product(subjects, ROUNDS):
    states = flow(model, name)[tested(model)]
    counts = {"of": len(states), "changed": (states != "").sum()}
    counts |= {state: (states == state).sum() for state in FLOWS}
    flows[f"{model.shown}: {name}"] = {head: f"{n:,}" for head, n in counts.items()}
flows = pd.DataFrame.from_dict(flows, orient="index")
tables.plain(flows, name="flows", caption="Rows whose answer a rewrite changes").fold()

# %% [markdown]
# What is left of the changes when those for the better and for the worse have cancelled is the
# difference in accuracy. The paper's differences are those of its Table 10; whether its numbers
# there are counts at all is asked in {doc}`the audit <audit_paper_numbers>`.

# %%
table10 = chapters.paper_values("table10")


def net():
    """Accuracy of each rewrite less the base's, on all test rows."""
    for model, name in product(subjects, ROUNDS):
        known = ((model.label, one, "all", "Overall") for one in (name, "base"))
        yield frame.line(
            model,
            lambda training, name=name: training.right(name) - training.right("base"),
            tested,
            rewrite=name,
            paper=less(table10, *known),
        )


frame.table(
    frame.measured(net()),
    rows=("model", "rewrite"),
    columns=(),
    name="net",
    caption="Accuracy of a rewrite alone less the base's, all test rows, in points",
    show=("paper", "here", "n"),
)

# %% [markdown]
# ## From which answer to which
#
# Each cell is a pair of answers: of the rows to which the base gives the one (down), what
# percentage gets the other from the rewrite (across), in the shipped training. What stays is grey;
# “?” is an answer not understood. Colours mean the same in all figures.

# %%
TYPES = {"mcq": "letters", "yesno": "yes/no"}
LEAST = 20  # rows below which an answer has no line of percentages


def of_type(training, kind):
    return tested(training) & (training.records.frame["question_type"] == kind).to_numpy()


def readable(training, policy):
    parsed = training.records.parsed(policy)
    return np.where(pd.isna(parsed), "?", parsed)


def answers(model, kind, policies):
    """The answers of a question type, in order, and "?" if one of these policies has it."""
    letters = sorted(set("".join(model.records.frame["options"].unique())))
    seen = np.concatenate([readable(model, policy)[of_type(model, kind)] for policy in policies])
    return (letters if kind == "mcq" else ["yes", "no"]) + ["?"] * ("?" in seen)


def moves(model, name, kind):
    """Of each base answer's rows (down), the percentage that gives each answer (across).

    An answer that too few rows have is left out.
    """
    base, after = (readable(model, policy)[of_type(model, kind)] for policy in ("base", name))
    down, across = answers(model, kind, ["base"]), answers(model, kind, ROUNDS)
    counts = [[((base == a) & (after == b)).sum() for b in across] for a in down]
    counts = pd.DataFrame(counts, down, across, dtype=float)
    total = counts.sum(axis=1)
    return 100 * counts.div(total, axis=0)[total >= LEAST]


# %% tags=["hide-input"]
FULL = 15.0  # percent from which on a cell has the full colour, on every figure


def draw_moves(ax, table):
    """Colour for what moves; what stays is grey."""
    if not table.size:
        ax.set_axis_off()
        return
    stays = table.index.to_numpy()[:, None] == table.columns.to_numpy()
    shades = np.ma.masked_invalid(np.where(stays, np.nan, table))
    colours = over_ground("#dd6b20", opaque=READ_ON).with_extremes(bad=(0.5, 0.5, 0.5, 0.12))
    ax.imshow(shades, cmap=colours, vmin=0, vmax=FULL, aspect="auto")
    for (down, across), value in np.ndenumerate(table.to_numpy()):
        ink, text = "#6b7280" if stays[down, across] else INK, tables.number(value, 0)
        ax.text(across, down, text, ha="center", va="center", color=ink, fontsize=8)
    ax.set_xticks(range(len(table.columns)), table.columns)
    ax.set_yticks(range(len(table.index)), table.index)
    ax.tick_params(labelsize=9)
    ax.grid(visible=False)


# %% tags=["hide-input"]
for model in subjects:
    size = {"figsize": (figures.WIDTH, 3.7), "height_ratios": [4, 2]}
    figure, axes = plt.subplots(len(TYPES), len(ROUNDS), **size)
    for ax, (kind, name) in zip(axes.flat, product(TYPES, ROUNDS), strict=True):
        draw_moves(ax, moves(model, name, kind))
    for ax, kind in zip(axes[:, 0], TYPES.values(), strict=True):
        ax.set_ylabel(f"base, {kind}", fontsize=9)
    for ax, name in zip(axes[0], ROUNDS, strict=True):
        ax.set_title(name, fontsize=10, loc="center")
    figure.supxlabel(f"answer to the rewrite, {model.shown}", fontsize=9)
    figures.show(
        figure,
        "How answers of the shipped training move when the prompt is reworded: each line adds up to"
        " 100 %, and all that is off the diagonal has moved. Answers of fewer than"
        f" {LEAST} rows have no line.",
        alt="Tables of coloured cells, one a rewording, for letters and for yes or no: the "
        "percentage of rows with the answer of that line to the original prompt that give "
        "the answer of that column to the rewording.",
    )

# %% [markdown]
# Does one letter draw the changed answers? Beside the share of the changed rows that go to each
# letter stands its distance from the share that it would have if each row took any other of its
# options with equal chance. Where that interval lies above 0, the letter draws them.


# %%
def chance(training, answer):
    """Of every row, how likely an answer is if the row takes any other of its options."""
    options = zip(training.records.frame["options"], readable(training, "base"), strict=True)
    others = [set(letters) - {was} for letters, was in options]
    return np.array([(answer in left) / max(len(left), 1) for left in others])


def drawn(beyond):
    """The share of changed multiple-choice rows that go to an answer; beyond uniform, or all."""
    for model, name in product(subjects, ROUNDS):
        for answer in answers(model, "mcq", [name]):
            yield frame.line(
                model,
                lambda training, to=(name, answer): (
                    (readable(training, to[0]) == to[1]) - beyond * chance(training, to[1])
                ),
                lambda training, name=name: of_type(training, "mcq") & changed(training, name),
                span=(-1.0 * beyond, 1.0),
                rewrite=name,
                answer=answer,
            )


drawn_to = frame.measured(drawn(beyond=True))
drawn_to["%"] = frame.measured(drawn(beyond=False)).get("estimate")
frame.table(
    drawn_to,
    rows=("model", "answer"),
    columns=("rewrite",),
    name="drawn",
    caption="Where changed multiple-choice rows go, % of them; beside, what is beyond uniform",
    show=("%", "here"),
)

# %% [markdown]
# ## The three tables
#
# The paper's tables, transcribed, beside the tables that the library decodes with, string for
# string.

# %%
FIGURES = {"V1": "fig03", "V2": "fig04", "V3": "fig05"}
paper = [PAPER / f"{name}.csv" for name in FIGURES.values()]
paper = pd.concat([pd.read_csv(path, dtype=str, keep_default_na=False) for path in paper])
asked = list(zip(paper["round"], paper["original"], strict=True))
ours = [REWRITES.get(name, {}).get(original, "not in the library") for name, original in asked]
same = np.array(ours) == paper["rewritten"].to_numpy()
paper["library"] = np.where(same, "the same", ours)
for name, part in paper.groupby("round"):
    part = part[["original", "rewritten", "library"]].rename(columns={"rewritten": "paper"})
    part.index = [str(place + 1) for place in range(len(part))]
    caption = f"Figure {FIGURES[name][-1]}: {name}; the library's text where it is not the same"
    display(tables.Table(f"prose-{name}", part, caption))

# %%
CHINESE = re.compile("[\u4e00-\u9fff]")
extra = [text for name in FIGURES for text in REWRITES.get(name, {}) if (name, text) not in asked]
extra = "; ".join(f"“{text}”" for text in dict.fromkeys(extra)) or "none."
more = ", ".join(name for name in REWRITES if name not in FIGURES) or "none"
texts = [pair for side in ("original", "rewritten")
         for pair in zip(paper[side], paper[f"{side}_mark"], strict=True)]  # fmt: skip
marks = [text for text, mark in texts if bool(CHINESE.search(text)) != (mark == "Chinese")]
Markdown(
    "The library's tables are the paper's, string for string: "
    f"*{'holds' if same.all() else 'fails'}*, {same.sum()} of {len(paper)} rewrites. Instructions "
    f"that only the library has: {extra} Rewrites beyond the paper's three: {more}. Texts whose "
    f"mark “(Chinese Prompts)” does not fit their script: {'; '.join(marks) or 'none'}."
)

# %% [markdown]
# ## The prompts that were asked
#
# A rewrite replaces the instruction and leaves the rest of the prompt as it is. Records hold a hash
# of each row's prompt and its rewrites, so that all of them can be checked against the tables; one
# whole prompt a data set is shown, as the first model of each family reads it. A line break is
# written ⏎.

# %%
questions, absent = {}, []
for name in dict.fromkeys(name for model in subjects for name in model.records.stamp["datasets"]):
    try:
        questions |= {(row.dataset, row.index): row for row in load_dataset(name)}
    except DatasetError as error:
        absent.append(f"{name}: {error}")


def keys_of(model):
    named = model.records.frame
    return list(zip(named["dataset"], named["index"].astype(int), strict=True))


def instruction(prompt, rewritten):
    """What a rewrite put in place of the prompt's known instruction."""
    known = (text for text in sorted(REWRITES["V1"], key=len, reverse=True) if text in prompt)
    before, after = prompt.split(next(known))
    return rewritten.removeprefix(before).removesuffix(after)


def worked(key, family):
    """A whole prompt, and what each rewrite puts in place of its instruction."""
    if key not in questions:
        return [tables.MISSING] * (1 + len(ROUNDS))
    prompt = build_prompt(questions[key], family)
    texts = [prompt, *(instruction(prompt, rewrite(prompt, name)) for name in ROUNDS)]
    return [text.replace("\n", " ⏎ ") for text in texts]


families = {model.records.stamp["family"]: model for model in reversed(subjects)}
for family, model in reversed(families.items()):
    first = {dataset.replace("_", " "): (dataset, index)
             for dataset, index in reversed(keys_of(model))}  # fmt: skip
    cells = {name: worked(key, family) for name, key in reversed(first.items())}
    cells = pd.DataFrame.from_dict(cells, orient="index", columns=["prompt", *ROUNDS])
    caption = f"The first prompt of each data set, as {model.shown} reads it, and its rewrites"
    display(tables.Table(f"prose-{model.name}", cells, caption).fold())

# %%
counts = {}
for model in subjects:
    said, same = model.records, []
    textual = [name for name in said.rounds[1:] if not is_visual(name)]
    asked = zip(keys_of(model), said.frame["prompt_hash"], said.ok, strict=True)
    for key, digest, ok in asked:
        if ok and key in questions:
            prompt = build_prompt(questions[key], said.stamp["family"])
            same.append(
                prompt_hash((prompt, *(rewrite(prompt, name) for name in textual))) == digest
            )
    counts[model.shown] = [f"{n:,}" for n in (said.ok.sum(), len(same), sum(same))]
heads = ["rows", "question at hand", "same prompts"]
counts = pd.DataFrame.from_dict(counts, orient="index", columns=heads)
caption = "Recorded rows whose prompts are all those of the tables above, by their hash"
display(tables.Table("prompt-hashes", counts, caption))
Markdown(f"Data sets whose questions are not at hand: {'; '.join(absent) or 'none'}.")

# %% [markdown]
# ## Examples
#
# For each rewrite and type of question, the changed test row of the shipped training whose name has
# the smallest SHA-256: a rule, so that nobody picked them.


# %%
def order(key):
    return hashlib.sha256("{}:{}".format(*key).encode()).hexdigest()


def asked_in(key):
    if key not in questions:
        return tables.MISSING
    options = ", ".join(f"{letter}. {text}" for letter, text in questions[key].options.items())
    return f"{questions[key].question} {options}".strip().replace("\n", " ⏎ ")


for model in subjects:
    named, said, lines = keys_of(model), model.records, []
    for name, kind in product(ROUNDS, ("mcq", "yesno", "short")):
        places = np.flatnonzero(changed(model, name) & of_type(model, kind))
        if len(places):
            at = min(places, key=lambda place: order(named[place]))
            texts = [said.text(policy)[at] or tables.MISSING for policy in ("base", name)]
            row = " ".join(map(str, named[at]))
            lines.append((name, row, asked_in(named[at]), said.frame["truth"][at], *texts))
    columns = ["rewrite", "row", "question", "truth", "base", "rewritten"]
    lines = pd.DataFrame(lines, columns=columns).set_index("rewrite").rename_axis(index=None)
    caption = f"The first changed test row of each rewrite and question type, {model.shown}"
    display(tables.Table(f"prose-examples-{model.name}", lines, caption).fold())

# %% [markdown]
# ## Reading and deviations
#
# - **A rewrite tests the model and its training at once.** A pocket model met other instructions
#   in its training, in both languages; what the paper's models met is unknown. That V2 moves more,
#   or not, says nothing of translation as such.
# - A change is not a loss: a wrong answer may change for the better, or for another wrong one.
# - The paper prints “directly” in one instruction where the evaluation toolkit's own prompt has
#   none; the library knows both and keeps the one it finds.
# - Answers are each round's own greedy decode, not a step of SCI, in which all rounds share one
#   answer.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `split_by=groups`: which rows are test.
# - `records=data_manifests/records/training1`: another training of the same recipe alone.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # MetaRA: what does accuracy not see of a model?
#
# MetaRA {cite:p}`xu2026metara` finds "failure modes that remain hidden under standard benchmarks":
# accuracy sees the original alone. Below are the failure rates of models, then two more questions:
# whether text is harder than knowledge, and whether MetaRA ranks models as the relations of MetaVQA
# do.
#
# The paper prints one failure rate, and its equations and tables speak of different ones. Here are
# three, each under its name:
#
# - **absolute** (eq. 7): the share of cases answered wrong;
# - **conditional**: the same, among originals that are answered right (what eqs. 3 to 6
#   presuppose);
# - **consistency**: the share of cases whose answer is not that of the original, right or wrong.
#
# Each is a mean over an original's cases, then over originals; an unknown answer is a failure. The
# pocket set *knowledge*, for the paper's KBVQA, asks what the picture alone does not show; *text*,
# for OCR-VQA, asks about the text on a sign. Pocket numbers stand *beside* the paper's. Levels do
# not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
rate: str = "conditional"  # of the figures, beside the paper's FR; or "absolute", "consistency"
relations: list = ["MR1", "MR2", "MR3", "MR4"]  # whose cases the figures count

# %% tags=["hide-input"]
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from scipy.stats import kendalltau

from sci_book.papers.metara import metavqa, paper
from sci_book.papers.metara.chapters import answers
from sci_book.papers.metara.chapters.answers import FR, TASKS, by_original, less, mean
from sci_book.papers.metara.chapters.measures import failing, rankings
from sci_book.papers.metara.failures import RATES
from sci_book.papers.metara.printed import OVERALL, PRINTED, SETS
from sci_book.papers.metara.relations import RELATIONS
from sci_book.papers.shared import chapters, figures, frame, parameters, stamp, tables
from sci_book.papers.shared.lines import table_of
from sci_book.pipeline import findings as ledger
from sci_book.resources import PAPER

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
subjects = ledger.named(models, records)
of_models = ledger.of_page("metara_tables02_03_figs03_04_models", subjects)
of_tasks = ledger.of_page("metara_table05_figs06_07_tasks", subjects)
of_rankings = ledger.of_page("metara_table04_fig05_ranking", subjects)
for findings in (of_models, of_tasks, of_rankings):
    display(Markdown(ledger.conclusion(findings)))

# %% tags=["hide-input"]
recorded = answers.subjects(models, records)
made = recorded.subjects
relations = parameters.names(relations, "relations")
if missing := chapters.absences(recorded):
    display(Markdown(missing))

# %% [markdown]
# (metara_tables02_03_figs03_04_models)=
# ## Tables II, III and Figures 3, 4: failure rates of models
#
# **Claim.** Of the originals answered right, more than a tenth fail in some case, on each task, for
# each model shown. (The margin of a tenth is ours, chosen with results of earlier models at hand.)
#
# The paper's final FR stands beside the conditional rate. The absolute one would mean that nearly
# all the paper's models answer changed inputs better than the originals; the consistency rate could
# be as low too, and the conditional one is taken because equations 3 to 6 presuppose a right
# original. Originals are what the intervals draw again; where four trainings or more have the
# answers, an interval is over trainings too.

# %%
over = {"relation": relations}
tidy = frame.measured(
    answers.line(model, rate, task, over) for model, task in product(made, TASKS.values())
)
at = {(line.model, line.task): line for line in tidy.itertuples()}

# %%
figure, axes = plt.subplots(1, len(TASKS), figsize=(figures.WIDTH, 4.2 + 0.2 * len(made)))
colours = figures.model_colours([model.name for model in made])
for panel, (table, dataset) in zip(axes, OVERALL.items(), strict=True):
    printed = PRINTED.rows(table, metric="final FR")
    names = [*(printed["model"] + " " + printed["base"]), *(model.shown for model in made)]
    theirs = printed["value"].astype(float)
    panel.plot(theirs, range(len(theirs)), "D", mfc="white", mec=figures.INK, markersize=5)
    for height, model in enumerate(made, len(theirs)):
        line = at[model.shown, TASKS[dataset]]
        panel.hlines(height, line.low, line.high, color=colours[model.name], linewidth=2.5)
        panel.plot(line.estimate, height, "o", color=colours[model.name])
    panel.set_yticks(range(len(names)), names, fontsize=7)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.set_xlabel(f"{rate} FR, % (◇ the paper)", fontsize=9)
    panel.set_title(f"{TASKS[dataset]} ({dataset})")
figures.show(
    figure,
    "Failure rates of the paper’s models and of the pocket models.",
    alt="Two panels, one a task, a line a model: diamonds for the paper’s models, dots with"
    " intervals for the pocket models.",
)

# %% [markdown]
# Beside each model stands the paper's of its name, or the nearest of its family: Qwen2-VL-7B and
# LLaVA-NeXT-8B in Table II. Table III names neither. Robust(M) is 1 where the original and all its
# cases are answered right (eqs. 1, 2).

# %%
relatives = pd.read_csv(PAPER / "metara_relatives.csv", dtype=str, keep_default_na=False)


def beside(model, table, **fields):
    """What a table prints of the model, or of the nearest of its family; None if of neither."""
    mine = relatives[(relatives["label"] == model.label) & (relatives["table"] == table)]
    for row in mine[["model", "base"]].to_dict("records"):
        return PRINTED.number(table, **row, **fields)


NAMES = ("accuracy", *RATES, "robust")
tasks = [(TASKS[dataset], table) for table, dataset in OVERALL.items()]
rates = []
for model, (task, table), name in product(made, tasks, NAMES):
    known = beside(model, table, metric="final FR") if name == FR else None
    rates.append(answers.line(model, name, task, paper=known))
rates = frame.measured(rates)
caption = "Accuracy and Robust(M) = 1, percent of originals; FR, means over them; n originals"
show = ("paper", "here", "n")
frame.table(rates, ("model", "task", "rate"), (), name="rates", caption=caption, show=show)

# %% [markdown]
# Of the originals answered right, those that fail in some case. On text MR2 is the mirror, in which
# most signs no longer show the answer; so the share without it stands beside.

# %%
OVER = {"all": RELATIONS, "without MR2": [name for name in RELATIONS if name != "MR2"]}


def some_fail(training, task, over):
    """Of each original answered right, 1 where some case under these relations fails, else 0."""
    return failing(by_original(training, FR, task, relation=OVER[over]))


hidden = []
for model, task, over in product(made, TASKS.values(), OVER):
    rows = partial(some_fail, task=task, over=over)
    hidden.append(frame.score(model, rows, mean, task=task, relations=over))
hidden = frame.measured(hidden)
caption = "Originals answered right that fail in some case, percent; n right originals"
show = ("here", "n")
frame.table(hidden, ("model", "task"), ("relations",), name="hidden", caption=caption, show=show)

# %% tags=["hide-input"]
for table in ledger.tables(of_models):
    display(table.fold())

# %% [markdown]
# The columns of data sets in Tables II and III are accuracies by their own numbers, so they stand
# beside accuracies, here of the shipped training.

# %%
for table, dataset in OVERALL.items():
    rows = PRINTED.rows(table, metric="FR")
    names = (rows["model"] + " " + rows["base"]).str.strip()
    columns = (rows["dataset"] + " " + rows["split"]).str.strip()
    wide = rows["value"].astype(float).set_axis([names, columns]).unstack(sort=False)
    for model in made:
        accuracy = answers.percent(model, "accuracy", TASKS[dataset])
        wide.loc[model.shown, f"pocket {TASKS[dataset]}"] = accuracy
    wide = wide.rename_axis(index=None, columns=None)
    caption = f"{dataset}: the columns printed as FR, and the accuracy of originals; percent"
    display(tables.plain(wide, name=f"columns-{dataset}", caption=caption, decimals=1).fold())

# %% [markdown]
# (metara_table05_figs06_07_tasks)=
# ## Table V and Figures 6, 7: two tasks
#
# **Claim.** The conditional failure rate is higher on text than on knowledge questions, for each
# model shown.
#
# "OCR-VQA tasks have both a higher average FR and greater variance than KBVQA", the paper writes of
# one model on six data sets. The pocket world has one data set of each task, so that its spread is
# between originals.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.1))
ticks = [name for names in SETS.values() for name in names]
theirs = [PRINTED.number("metara_table05", dataset=name) for name in ticks]
left.plot(theirs, range(len(ticks)), "D", mfc="white", mec=figures.INK, label="paper")
for (place, model), task in product(enumerate(made), TASKS.values()):
    line, colour = at[model.shown, task], colours[model.name]
    height = len(ticks) + (task == "text") + 0.2 * (place - (len(made) - 1) / 2)
    left.hlines(height, line.low, line.high, color=colour, linewidth=2.5)
    left.plot(line.estimate, height, "o", color=colour)
    values = np.sort(100 * by_original(model, rate, task, relation=relations)["value"])
    share = 100 * np.arange(1, len(values) + 1) / len(values)
    right.step(
        [0, *values, 100], [0, *share, 100], "--" if task == "text" else "-", where="post",
        color=colour, label=f"{model.shown}, {task}",
    )  # fmt: skip
ticks += [f"pocket {task}" for task in TASKS.values()]
left.set_yticks(range(len(ticks)), ticks, fontsize=8)
left.set(ylim=(len(ticks) - 0.5, -0.5), xlabel="FR, percent (◇ the paper)")
left.set_xlim(left=0)
right.set(xlabel="FR of an original, percent", ylabel="originals with at most this FR, %")
figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncol=2, fontsize=8)
figures.show(
    figure,
    "Failure rates of the two tasks beside those of the paper’s data sets, and how they "
    "spread over originals, those of the shipped training.",
    alt="Two panels. Left: diamonds for the paper’s six data sets, dots with intervals for "
    "each model on the two pocket tasks. Right: steps that say what share of originals "
    "fails no more often than the rate along the axis.",
)

# %% [markdown]
# The gap may depend on the rate: the absolute one counts what was wrong before anything changed,
# the conditional one does not. Where a model answers more originals of one task than of the other,
# the two can point either way. And it may depend on the mirror: a sign that reads otherwise in it
# no longer shows the answer. Of the lines without MR2 nothing is claimed.


# %%
def text_less_knowledge(training, name, over):
    """A failure rate on text less that on knowledge."""
    tasks = ("text", "knowledge")
    return less(*(by_original(training, name, task, relation=OVER[over]) for task in tasks))


gaps = []
for model, over, name in product(made, OVER, RATES):
    terms = partial(text_less_knowledge, name=name, over=over)
    gaps.append(frame.score(model, terms, answers.weighted, rate=name, relations=over))
gaps = frame.measured(gaps)
caption = "FR on text less that on knowledge, points; n originals"
frame.table(gaps, ("model", "rate"), ("relations",), name="gaps", caption=caption, show=show).fold()

# %% [markdown]
# The "greater variance" is a claim of its own: the variance over originals of FR, a share, is
# larger on text than on knowledge.

# %% tags=["hide-input"]
for table in ledger.tables(of_tasks):
    display(table.fold())

# %% [markdown]
# (metara_table04_fig05_ranking)=
# ## Table IV and Figure 5: two rankings
#
# **Claim.** On each task, the rankings of seven ways of decoding by MetaRA's failure rate and by
# MetaVQA's agree more than they disagree (Kendall's τ above zero), for each model shown.
#
# The paper ranks four models by MetaRA and by the relations of MetaVQA, finds the same order and
# concludes that MetaRA is right. MetaVQA needs no ground truth: the number of things in a picture
# must be the sum over its two halves, what is in a picture must be in a half, and a thing keeps its
# colour in a crop. Two models give no ranking. So the methods, from the base to SCI7, stand
# for models: they answer the same questions, each in its own way.

# %%
ranked = {
    (model.shown, task): found
    for model, task in product(made, TASKS.values())
    if (found := rankings(model, task)) is not None
}


def place_methods(panel, found, names):
    """A dot a method, at its two ranks; names of methods that tie in both stand in a pile."""
    panel.plot([1, len(names)], [1, len(names)], "--", color="#9ca3af", linewidth=1)
    places = [(found.second[name], found.first[name]) for name in names]
    for order, (name, place) in enumerate(zip(names, places, strict=True)):
        panel.plot(*place, "o", color=figures.colour(name))
        offset = 5, 4 + 9 * places[:order].count(place)
        panel.annotate(name, place, xytext=offset, textcoords="offset points", fontsize=8)
    panel.set(xlim=(0.5, len(names) + 1.2), ylim=(0.5, len(names) + 0.9),
              xlabel="rank by MetaVQA", ylabel="rank by MetaRA")  # fmt: skip


if ranked:
    figure, axes = plt.subplots(
        len(made), len(TASKS), figsize=(figures.WIDTH, 2.4 * len(made)), squeeze=False
    )
    for (row, model), (column, task) in product(enumerate(made), enumerate(TASKS.values())):
        axes[row, column].set_title(f"{model.shown}, {task}")
        if (model.shown, task) in ranked:
            place_methods(axes[row, column], ranked[model.shown, task], answers.methods(model))
    figures.show(
        figure,
        "Methods ranked by MetaRA and by MetaVQA, in the shipped training: on the dashed line both "
        "agree.",
        alt="A panel for each model and task: a dot a method, its rank by MetaVQA along the "
        "axis and its rank by MetaRA up.",
    )

# %% [markdown]
# The interval draws originals again, for all methods and both rates at once, and ranks anew each
# time: a rank moves by jumps, so the interval is Student's with the variance of the draws. The
# p-value takes the ranks as given, and is asymptotic where methods tie. The first table is of the
# shipped training.

# %%
agreement = {
    f"{task}, {shown}": {
        "tau": found.tau.estimate, "p": tables.p_value(found.p),
        "draws without a ranking, %": 100 * found.undefined,
    }
    for (shown, task), found in ranked.items()
}  # fmt: skip
caption = "Kendall’s tau-b between the rankings of the methods"
table_of(agreement, name="tau", caption=caption).fold()

# %% tags=["hide-input"]
for table in ledger.tables(of_rankings):
    display(table.fold())

# %% [markdown]
# Table IV prints ranks of four of its models, and failure rates on TextVQA of a fifth one too. Its
# two columns of ranks are the same; the failure rates that it prints beside them order the models
# almost the other way round. Its columns for MetaRA are equal, number by number, to columns of
# Tables II and III, where they are accuracies; they stand beside no failure rate here.

# %%
PEERS = {"KBVQA": "E-VQA", "OCR-VQA": "TextVQA"}  # Table IV's data set of each task
cells = {f"{name}: printed FR": {"dataset": name, "metric": "FR"} for name in PEERS.values()}
own = {}
for line, fields in {**cells, "printed ranks": {"metric": "rank"}}.items():
    rows = PRINTED.rows("metara_table04", **fields)
    both = rows.pivot(index="model", columns="method", values="value").astype(float).dropna()
    tau, p = kendalltau(both["MetaVQA"], both["MetaRA"])
    own[line] = {"models": len(both), "tau": float(tau), "p": tables.p_value(p)}
caption = "The paper’s Table IV: tau of what it prints"
display(table_of(own, name="tau-paper", caption=caption).fold())


def of_relation(training, task, name):
    """The compositions of a relation of MetaVQA that the base violates, of all by default."""
    rows = answers.violations(training, task)
    return rows[rows["relation"] == name] if name else rows


def violated():
    """MetaVQA's failure rate, a line a model, task and relation."""
    for model, (dataset, task), name in product(made, TASKS.items(), ("", *metavqa.RELATIONS)):
        fields = {"dataset": PEERS[dataset], "method": "MetaVQA", "metric": "FR"}
        paper = None if name else beside(model, "metara_table04", **fields)
        keys = {"task": task, "relation": name or "all", "paper": paper}
        yield frame.score(model, partial(of_relation, task=task, name=name), mean, **keys)


caption = "FR of the base by MetaVQA, percent; n compositions"
tidy, rows = frame.measured(violated()), ("model", "task", "relation")
show = ("paper", "here", "n")
frame.table(tidy, rows, (), name="metavqa", caption=caption, show=show).fold()

# %% [markdown]
# The file holds Table V, what was read (originals that are wrong or unknown to start with enter no
# conditional rate), and both failure rates of every method with its ranks: 1 has the lowest rate,
# and methods that tie share the mean of their ranks. Our numbers there are of the shipped training.

# %% tags=["hide-input"]
printed = PRINTED.tables["metara_table05"]
(who,) = set(printed["model"] + " " + printed["base"] + " (paper)")
five = {who: dict(zip(printed["dataset"], printed["value"].astype(float), strict=True))} | {
    model.shown: {f"pocket {task}": answers.percent(model, FR, task) for task in TASKS.values()}
    for model in made
}
counts = {}
for model in made:
    frame = model.records.frame
    counts[model.shown] = {"rows": len(frame), "with an error": int(frame["error"].notna().sum())}
    for task in TASKS.values():
        left = answers.failures(model, task).left
        counts[model.shown] |= {f"{task}: {name}": count for name, count in left.items()}
ranks = {
    f"{model.shown}, {task}: {name}": {
        "MetaVQA": 100 * answers.violations(model, task, name)["value"].mean(),
        "MetaRA": answers.percent(model, FR, task, name),
        "rank by MetaVQA": tables.number(ranked[model.shown, task].second[name], 1),
        "rank by MetaRA": tables.number(ranked[model.shown, task].first[name], 1),
    }
    for model, task in product(made, TASKS.values())
    if (model.shown, task) in ranked
    for name in answers.methods(model)
}

tables.download(
    "metara_models",
    [
        table_of(five, name="table05", caption="Table V: FR by data set, percent", decimals=1),
        table_of(counts, name="counts", caption="Rows read, and originals"),
        table_of(ranks, name="ranks", caption="FR in percent, and ranks"),
    ],
)

# %% [markdown]
# ## Reading and deviations
#
# - **One pocket data set a task**, so that the final FR is that data set's. The variance of the
#   paper is between data sets, two of one task and four of the other.
# - **The conditional rate is of other originals for each model**: those that it answers right. The
#   absolute one is of all, and so it also counts what a model gets wrong before anything changes.
# - More cases find more failures: a share of originals with *some* failing case says how many were
#   looked at as much as how robust a model is.
# - Figure 6 is a radar of six numbers; a dot plot shows the same with intervals.
# - **A ranking of near-equals is mostly chance.** Where methods differ by less than their
#   intervals, another draw of originals may rank them otherwise; that is what the width of τ's
#   interval says, and why a p-value that takes ranks as given says too much. The claim asks for
#   less than the paper's sentence: no interval shows that two rankings are the same.
# - **Halves of a picture are not what a pocket model was trained on**: no training picture was cut;
#   some show nothing, but the right count was never nought. So MetaVQA's rate of *count* says
#   little here.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `relations=[MR1, MR3, MR4]`: the figures without the mirror, in which most signs no longer show
#   the answer.
# - `rate=absolute`: cases of originals that were wrong to begin with count too, which accuracy has
#   seen; the gap between the tasks can turn.
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

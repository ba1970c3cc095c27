# %% [markdown]
# # MetaRA: does SCI lower a failure rate?
#
# **Claim.** SCI5 (Self-Critical Inference of five rounds) fails less than the base in each of the
# three rates (absolute, conditional, consistency), on each task, for each model shown.
#
# The question that neither paper asks {cite:p}`xu2026metara,tang2026sci`. Self-Critical Inference
# compares what a model says under rewordings and without the picture; MetaRA rewords the question
# and changes the picture. An answer that turns on the wording can be noticed by the rewordings; SCI
# never compares the edited picture with the original.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
against: str = "base"  # what each method is compared with: a method, or a round such as "V1"

# %% tags=["hide-input"]
from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Markdown, display

from sci_book.methods import COMPARED
from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers
from sci_book.papers.metara.chapters.answers import METHODS, TASKS, less
from sci_book.papers.metara.failures import RATES
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.papers.shared.lines import table_of
from sci_book.pipeline import findings as ledger
from sci_book.results.statistics import holm, sign_flip_test

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_sci", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
made, recorded = answers.read(models, records)
if missing := chapters.absences(recorded):
    display(Markdown(missing))

# %% [markdown]
# ## What each method changes
#
# A rate of an original is a mean over its cases. A method's change is the mean of its rates over
# originals, less that of the base; its interval is over originals, each drawn with all its cases,
# for both methods at once. The absolute and the consistency rate are of the same originals for all
# methods. The conditional one is of those that a method itself answers right, so that a method
# which answers more of them takes on harder ones. The p-values, of the sign-flip test, are of the
# originals that have the rate under both methods, and Holm's over all lines of this page.

# %%
lines = []
for model, task, rate, name in product(made, TASKS.values(), RATES, COMPARED):
    under, base = model.rate(rate, task, name), model.rate(rate, task, against)
    both = under.merge(base, on=["original", "group"])
    p = sign_flip_test(both["value_x"] - both["value_y"], both["group"])
    points, low, high, n, *_ = less(under, base).times(100)
    lines.append((model.shown, task, rate, name, points, low, high, n, p))
columns = ["model", "task", "rate", "method", "points", "low", "high", "n", "p"]
changes = pd.DataFrame(lines, columns=columns)
changes["p"] = holm(changes["p"])


# %%
def draw(panel, part):
    """One model and rate: a line a method, a colour a task."""
    for shift, (task, colour) in zip((-0.15, 0.15), answers.TASK_COLOURS.items(), strict=True):
        mine = part[part["task"] == task]
        heights = [place + shift for place in range(len(mine))]
        panel.hlines(heights, mine["low"], mine["high"], color=colour, linewidth=2)
        panel.plot(mine["points"], heights, "o", color=colour, markersize=4, label=task)
    panel.axvline(0, color=figures.INK, linewidth=0.8)
    panel.set_yticks(range(len(COMPARED)), COMPARED, fontsize=8)
    panel.set_ylim(len(COMPARED) - 0.5, -0.5)
    panel.grid(axis="y", visible=False)


if made:
    figure, axes = plt.subplots(
        len(made), len(RATES), figsize=(figures.WIDTH, 0.9 + 2.1 * len(made)),
        sharex=True, sharey=True, squeeze=False,
    )  # fmt: skip
    for (down, model), (across, rate) in product(enumerate(made), enumerate(RATES)):
        chosen = (changes["model"] == model.shown) & (changes["rate"] == rate)
        draw(axes[down, across], changes[chosen])
        axes[0, across].set_title(rate, fontsize=9)
        axes[down, 0].set_ylabel(model.shown, fontsize=9)
        axes[-1, across].set_xlabel(f"points against the {against}", fontsize=8)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncol=2)
    figures.show(
        figure,
        "What each method changes in the failure rates: to the left of the line it fails less.",
        alt="A row of panels a model, a panel a rate, absolute, conditional and consistency: "
        "dots with intervals for each method and task, in points against the base.",
    )

# %%
titles = {"accuracy": "accuracy of originals", **answers.LABELS, "robust": "Robust(M) = 1"}
by_method = {
    f"{model.shown}, {task}: {title}": {name: model.percent(rate, task, name) for name in METHODS}
    for model, task, (rate, title) in product(made, TASKS.values(), titles.items())
}
table_of(by_method, name="methods", caption="Percent, by method", decimals=1)

# %% [markdown]
# ## Is it more than chance?
#
# Each verdict comes from the line's own interval. A *fails* without p < 0.05 is weak evidence that
# SCI5 fails more. The two can differ for three reasons. Holm corrects over the lines of all methods
# and models. An interval is too sure of its end near zero where a method changes few originals,
# nearly all one way. In conditional lines the interval compares means of different originals, and p
# is of the originals that both answer right.

# %%
sentences = []
for words, decided in (("less", changes["high"] < 0), ("more", changes["low"] > 0)):
    sure = changes[decided & (changes["p"] < 0.05)]
    named = "; ".join(f"{x.task}, {x.rate}: {x.method} ({x.model})" for x in sure.itertuples())
    sentences.append(
        f"A method fails {words} on {decided.sum()} of {len(changes)} lines by its interval, on "
        f"{len(sure)} by p too{': ' * bool(named)}{named}."
    )
for model, task in product(made, TASKS.values()):
    both = model.rate("absolute", task).merge(model.rate("absolute", task, "SCI5"), on="original")
    differing = (both["value_x"] != both["value_y"]).sum()
    sentences.append(
        f"{model.shown}, {task}: SCI5 changes the absolute rate of {differing} of {len(both)} "
        "originals."
    )
Markdown(" ".join(sentences))

# %% [markdown]
# The claim is about SCI5 alone:

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## With which rounds?
#
# SCI3 hears one rewording and one dummy picture; SCI5 and SCI7 add one more of each. Nothing is
# claimed of these lines.

# %%
rounds = {
    f"{task}, {rate}: {more} less {fewer}, {model.shown}": chapters.row(
        less(model.rate(rate, task, more), model.rate(rate, task, fewer))
    )
    for model, task, rate in product(made, TASKS.values(), RATES)
    for fewer, more in (("SCI3", "SCI5"), ("SCI5", "SCI7"))
}
caption = "FR with more rounds less that with fewer, points; n originals"
answers.levels(made, rounds, name="rounds", caption=caption, paper=False).fold()

# %% [markdown]
# A method combines rounds: the picture under the instruction as it is and as rewritten (V1 to V3),
# and the dummy pictures. The file holds what each round alone would answer. On the black picture
# that is the prior, which hears a case's paraphrase and sees nothing of what MetaRA changes in the
# picture: a low rate there is no robustness.

# %%
ALONE = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")
alone = {
    f"{task}, {model.shown}: {name}": {
        "accuracy of originals": model.percent("accuracy", task, name),
        **{rate: model.percent(rate, task, name) for rate in RATES},
        "originals right": len(model.rate("conditional", task, name)),
    }
    for model, task, name in product(made, TASKS.values(), ALONE)
    if name in model.subject.records.stamp["rounds"]
}

# %% tags=["hide-input"]
tables.download(
    "metara_sci",
    [
        tables.plain(
            changes.set_index(columns[:4]),
            name="changes",
            decimals=(2, 2, 2, 0, 4),
            caption=f"FR of a method less the {against}'s, points (− fails less)",
        ),
        table_of(alone, name="alone", caption="Each round alone: FR in percent", decimals=1),
    ],
)

# %% [markdown]
# ## Reading and deviations
#
# - An interval that reaches zero is no proof of nothing: it says how large an effect these
#   originals could have hidden.
# - The constants are the methods' own; nothing was tuned here.
# - **Its rewordings are of the instruction, MetaRA's of the question**: a critic that heard the
#   question in other words is another method than the paper's.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `against=SCI3`: what the other methods change beside SCI3; `against=black`, beside the prior.
#   The verdict stays that against the base.
# - `models=[mine]` and `records=runs`: a model of yours, asked by `sci evaluate --data
#   pocket_metara`. MetaRA's records hold answers alone, so a method with another β has to be
#   decoded, not replayed.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

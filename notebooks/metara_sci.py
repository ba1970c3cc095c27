# %% [markdown]
# # MetaRA: does SCI lower a failure rate?
#
# **Claim.** SCI5 (Self-Critical Inference of five rounds) fails less than the base in each of the
# three rates (absolute, conditional, consistency), on each task, for each model shown.
#
# Neither paper asks this {cite:p}`xu2026metara,tang2026sci`. Self-Critical Inference
# compares what a model says under rewordings and without the picture; MetaRA rewords the question
# and changes the picture. An answer that turns on the wording can be noticed by the rewordings; SCI
# never compares the edited picture with the original.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
against: str = "base"  # what each method is compared with: a method, or a round such as "V1"

# %% tags=["hide-input"]
from functools import partial
from itertools import product

from IPython.display import Markdown, display

from sci_book.methods import COMPARED
from sci_book.papers.metara import paper
from sci_book.papers.metara.chapters import answers
from sci_book.papers.metara.chapters.answers import TASKS, by_original, less, weighted
from sci_book.papers.metara.failures import RATES
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.lines import table_of
from sci_book.pipeline import findings as ledger
from sci_book.results.statistics import LEVEL, holm, sign_flip_test

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in less than a minute, if not there yet

# %% tags=["hide-input"]
findings = ledger.of_page("metara_sci", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
recorded = answers.subjects(models, records)
made = recorded.subjects
if missing := chapters.absences(recorded):
    display(Markdown(missing))

# %% [markdown]
# ## What each method changes
#
# A rate of an original is a mean over its cases. A method's change is the mean of its rates over
# originals, less that of the base; its interval is over originals, each drawn with all its cases,
# for both methods at once, and over trainings too where four or more have the answers. The absolute
# and the consistency rate are of the same originals for all methods. The conditional one is of
# those that a method itself answers right, so that a method which answers more of them may take on
# harder ones. The p-values, of the sign-flip test, are of the shipped training, of the originals
# that have the rate under both methods, and Holm's over all lines of this page.


# %%
def less_base(training, rate, task, method, base=against):
    """The mean of a rate under a method less that under another, over the originals of a task."""
    return less(*(by_original(training, rate, task, name) for name in (method, base)))


def p_of(model, **change):
    """That the originals that have the rate under both methods fail as often under either."""
    (_, under), (_, base) = less_base(model, **change)
    both = under.merge(base, on=["original", "group"])
    return sign_flip_test(both["value_x"] - both["value_y"], both["group"])


def lines():
    """Every method less the base, a line a model, task, rate and method."""
    for model, task, rate, method in product(made, TASKS.values(), RATES, COMPARED):
        keys = {"rate": rate, "task": task, "method": method}
        where = f"{model.shown}\n{task}"
        terms = partial(less_base, **keys)
        p = frame.if_recorded(partial(p_of, model, **keys))
        yield frame.score(model, terms, weighted, **keys, where=where, p=p)


changes = frame.measured(lines(), "task", "rate", "method", "where", "p")
changes["p"] = holm(changes["p"])

# %%
figures.show(
    frame.dots(changes, ("where", "rate"), "method", xlabel=f"points against the {against}"),
    "What each method changes in the failure rates: to the left of the line it fails less.",
    alt="A row of panels a model and task, a panel a rate, absolute, conditional and consistency: "
    "dots with intervals for each method, in points against the base.",
)

# %%
titles = {
    "accuracy": "accuracy of originals",
    "absolute": "absolute (eq. 7)",
    "conditional": "conditional on a right original",
    "consistency": "consistency with the original’s answer",
    "robust": "Robust(M) = 1",
}
by_method = {
    f"{model.shown}, {task}: {title}": {
        name: frame.if_recorded(
            answers.percent, model, rate, task, name, otherwise=tables.NOT_RECORDED
        )
        for name in ("base", *COMPARED)
    }
    for model, task, (rate, title) in product(made, TASKS.values(), titles.items())
}
table_of(by_method, name="methods", caption="Percent, by method, shipped training", decimals=1)

# %% [markdown]
# ## Is it more than chance?
#
# Each verdict comes from the line's own interval. A *fails* by the interval and not by p is weak
# evidence that SCI5 fails more. The two can differ for several reasons. An interval may be over
# trainings, and p is of the shipped one. Holm corrects over the lines of all methods and models. An
# interval is too sure of its end near zero where a method changes few originals, nearly all one
# way. In conditional lines the interval compares means of different originals, and p is of the
# originals that both answer right.

# %%
sentences = []
for words, decided in (("less", changes["high"] < 0), ("more", changes["low"] > 0)):
    sure = changes[decided & (changes["p"] < 1 - LEVEL)]
    named = "; ".join(f"{x.task}, {x.rate}: {x.method} ({x.model})" for x in sure.itertuples())
    sentences.append(
        f"A method fails {words} on {decided.sum()} of {len(changes)} lines by its interval, on "
        f"{len(sure)} by p too{': ' * bool(named)}{named}."
    )
for model, task in product(made, TASKS.values()):
    if "SCI5" not in answers.methods(model):
        continue
    sides = [by_original(model, "absolute", task, name) for name in ("base", "SCI5")]
    both = sides[0].merge(sides[1], on="original")
    differing = (both["value_x"] != both["value_y"]).sum()
    sentences.append(
        f"{model.shown}, {task}: in the shipped training SCI5 changes the absolute rate of "
        f"{differing} of {len(both)} originals."
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
rounds = frame.measured(
    frame.score(
        model, partial(less_base, rate=rate, task=task, method=more, base=fewer), weighted,
        task=task, rate=rate, rounds=f"{more} less {fewer}",
    )
    for model, task, rate in product(made, TASKS.values(), RATES)
    for fewer, more in (("SCI3", "SCI5"), ("SCI5", "SCI7"))
)  # fmt: skip
caption = "FR with more rounds less that with fewer, points; n originals"
show = ("here", "n")
frame.table(
    rounds, ("model", "task", "rate"), ("rounds",), name="rounds", caption=caption, show=show
).fold()

# %% [markdown]
# A method combines rounds: the picture under the instruction as it is and as rewritten (V1 to V3),
# and the dummy pictures. The file holds what each round of the shipped training alone would answer.
# On the black picture that is the prior, which hears a case's paraphrase and sees nothing of what
# MetaRA changes in the picture: a low rate there is no robustness.

# %%
ALONE = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")
alone = {
    f"{task}, {model.shown}: {name}": {
        "accuracy of originals": answers.percent(model, "accuracy", task, name),
        **{rate: answers.percent(model, rate, task, name) for rate in RATES},
        "originals right": len(by_original(model, "conditional", task, name)),
    }
    for model, task, name in product(made, TASKS.values(), ALONE)
    if name in model.records.stamp["rounds"]
}

# %%
tables.download(
    "metara_sci",
    [
        frame.table(
            changes.assign(p=changes["p"].map(tables.p_value)),
            ("model", "task", "rate", "method"),
            (),
            name="changes",
            show=("here", "n", "p"),
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
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`. MetaRA's records hold answers alone, so a method with
#   another β has to be decoded, not replayed.

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(recorded.subjects) if recorded.subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

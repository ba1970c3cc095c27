# %% [markdown]
# # Edge: does Self-Critical Inference change reliability?
#
# **Claim.** SCI5 changes calibration, blur sensitivity and negation for the better, on questions
# and captions of each model shown.
#
# The Edge Reliability Gap {cite:p}`erol2026edge` says that test-time remedies are developed for
# models of 7 billion parameters and more, and leaves open what they do to its own measures.
# Self-Critical Inference {cite:p}`tang2026sci` is such a remedy. Every row of these experiments was
# answered by the base and by SCI5, with the presets of its paper, so that the two can be compared
# row by row.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
method: str = "SCI5"  # what is set against the base in figure and table: "SCI5" or "VCD"

# %% tags=["hide-input"]
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown, display

from sci_book.papers.edge.calibration import ece_of_sums, terms
from sci_book.papers.edge.chapters import measures
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.shared import figures, frame, stamp, tables
from sci_book.pipeline import findings as ledger
from sci_book.results.statistics import holm, ratio, sign_flip_test

began = stamp.begin()
recorded = edge.read(models, records)

# %% tags=["hide-input"]
findings = ledger.of_page("edge_sci", ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% [markdown]
# ## SCI5 less the base
#
# `changed_by` pairs each row's answer with the base's and gives how far the row moves a measure:
# right or wrong, the Brier score, the drop under blur, probes passed. The mean over rows is the
# change. The Brier score is the mean squared distance between confidence and outcome (lower is
# better); it stands for calibration in the tests because it is a mean over rows. p-values are the
# sign-flip test's, of the shipped training, with Holm's correction over the lines of all models,
# for each method by itself.

# %%
METHODS = tuple(dict.fromkeys((method, "SCI5", "VCD")))


def p_of(model, name, place):
    """That the method's answers and the base's are alike in a measure."""
    change = measures.changed_by(model, name)[place]
    return sign_flip_test(change.values, change.clusters) if len(change.values) else np.nan


def changes():
    """Each method less the base in every measure, on the same rows."""
    for name, model in product(METHODS, recorded.full):
        for place, measure in enumerate(measures.changed_by(model, "base")):
            yield frame.of_sums(
                model,
                lambda training, name=name, place=place: (
                    measures.changed_by(training, name)[place].columns
                ),
                ratio, span=(-1.0, 1.0), method=name, what=measure.what,
                colour=recorded.colours[model.name],
                side=-1 if measures.less_is_better(measure.what) else 1,  # turned: right is better
                p=frame.if_recorded(p_of, model, name, place),
            )  # fmt: skip


effects = frame.measured(changes(), "method", "what", "colour", "side", "p")
for _, known in effects.groupby("method"):
    effects.loc[known.index, "p"] = holm(known["p"])
effects["p (Holm)"] = [tables.p_value(p) for p in effects["p"]]

# %%
figure, ax = plt.subplots(figsize=(figures.WIDTH, 4.4))
chosen = effects[effects["method"] == method]
names = list(chosen["what"].drop_duplicates())
for turn, (model, part) in enumerate(chosen.groupby("model", sort=False)):
    y = np.arange(len(part)) + 0.22 * (turn - (len(recorded.full) - 1) / 2)
    turned, tint = (
        part[["estimate", "low", "high"]].mul(part["side"], axis=0),
        part["colour"].iloc[0],
    )
    ax.hlines(y, turned["low"], turned["high"], color=tint, linewidth=2.5)
    ax.plot(turned["estimate"], y, "o", color=tint, label=model)
    for height, line in zip(y, part.itertuples(), strict=True):  # single trainings
        ax.plot(line.side * np.array(line.others), height + 0 * np.array(line.others), ".",
                color=frame.OTHER)  # fmt: skip
ax.axvline(0, color=figures.INK, linewidth=0.8)
ax.set_yticks(range(len(names)), names, fontsize=8)
ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
ax.grid(axis="y", visible=False)
ax.set_xlabel(f"change by {method}, points; to the right is better")
if recorded.full:
    ax.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
figures.show(
    figure,
    f"What {method} changes in each of the paper’s measures: to the right is better, so Brier "
    "scores and drops stand with their sign turned. Grey: single trainings.",
    alt="A line a measure, such as accuracy, Brier score, drop under blur and probes passed: a "
    "dot with an interval for each model, the method less the base in points; grey dots for "
    "trainings.",
)


# %%
def effect_table(name):
    """A method less the base: a line a measure, and of each model its change, rows and p."""
    return frame.table(
        effects[effects["method"] == name],
        rows=("what",),
        columns=("model",),
        name=f"effects-{name}",
        caption=f"{name} less the base, in points, with {tables.INTERVAL}s",
        show=("here", "n", "p (Holm)"),
    )


effect_table(method)

# %% [markdown]
# ## Calibration
#
# The confidence of either answer is its probability in the eyes of the base: the original round's
# raw logits. It says how sure the model is of the answer that the method makes it give. An answer
# with a token that no round kept has no confidence. The expected calibration error (ECE) is no mean
# over rows: both answers' terms are summed by bin, and the change is that of the sums.


# %%
def confident(model, kind, name):
    """The rows whose answers by the base and by a method both have a confidence."""
    both = edge.paired(edge.answers(model, kind), edge.answers(model, kind, name))
    return both[both["confidence"].notna() & both["confidence two"].notna()]


def by_bin(both):
    """What the ECE of the base's answers, then of the method's, is a function of, by row."""
    columns = [terms(both[f"confidence{end}"], both[f"right{end}"]) for end in ("", " two")]
    return np.vstack(columns), both["group"].to_numpy(dtype=object)


def change(sums):
    """ECE of the method's answers less that of the base's."""
    base, other = np.split(sums, 2)
    return ece_of_sums(other) - ece_of_sums(base)


# %%
def mean_confidence(model, kind, name):
    """Of the base's answers and of the method's."""
    return confident(model, kind, name)[["confidence", "confidence two"]].mean()


def calibration():
    """The change in ECE, and either mean confidence, on the same rows."""
    for model, kind, name in product(recorded.full, KINDS, METHODS):
        base, other = frame.if_recorded(mean_confidence, model, kind, name, otherwise=[np.nan] * 2)
        yield frame.of_sums(
            model,
            lambda training, kind=kind, name=name: by_bin(confident(training, kind, name)),
            change, scale=1, kind=kind, method=name,
            base=base, other=other,
        )  # fmt: skip


heads = {"base": "confidence, base", "other": "confidence, method"}
ece_table = frame.table(
    frame.measured(calibration()).rename(columns=heads),
    rows=("kind", "method", "model"),
    columns=(),
    name="ece-change",
    caption=f"Confidence in the answer, and the change in ECE with its {tables.INTERVAL}",
    show=(*heads.values(), "here", "n"),
    decimals=3,
)
display(ece_table)

# %% [markdown]
# ## The claim

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(edge.about(recorded)), edge.rows_table(recorded))

# %% [markdown]
# ## Reading and deviations
#
# - **SCI's presets are made for a letter, a word or a yes.** A caption of a dozen tokens is a dozen
#   chances to leave what the original round would have written, and its mean probability may fall.
# - Prompts without an instruction to reword (captions, probes) take the paper's V1 in front, and a
#   translation of ours as V2.
# - **The rule for captions has a ceiling.** Where the base reaches it, SCI can gain nothing by it,
#   and what the base loses to blur does not show. The line “whole scene” counts captions that say
#   all that is there and nothing else.
# - The Brier score mixes calibration with accuracy; the change in ECE stands beside it with its own
#   interval.
# - Lines are over trainings where four or more have the answers. Brier scores, confidences and ECE
#   need logits, which the shipped training alone has, and are of it; so is every p.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `method=VCD`: contrastive decoding, which has one visual round.
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`.

# %% tags=["hide-input"]
tables.download("edge_sci", [*map(effect_table, METHODS), ece_table])

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

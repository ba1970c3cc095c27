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
import pandas as pd
from IPython.display import Markdown, display

from sci_book.papers.edge.calibration import ece_of_sums, terms
from sci_book.papers.edge.chapters import measures
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.shared import figures, stamp, tables
from sci_book.pipeline import findings as ledger
from sci_book.results.statistics import NO_DATA, difference, holm, of_sums, sign_flip_test

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
# sign-flip test's, with Holm's correction over the lines of all models, for each method by itself.

# %%
METHODS = tuple(dict.fromkeys((method, "SCI5", "VCD")))
lines = []
for name, model in product(METHODS, recorded.full):
    for change in measures.changed_by(model, name):
        points = difference(change.values, change.clusters).times(100)
        p = sign_flip_test(change.values, change.clusters) if points.n else np.nan
        lines.append((name, model.shown, change.what, change.better, *points[:4], points.key, p))
columns = ["method", "model", "what", "better", "points", "low", "high", "n", "key", "p"]
effects = pd.DataFrame(lines, columns=columns)
for _, known in effects[effects["n"] > 0].groupby("method"):
    effects.loc[known.index, "p"] = holm(known["p"])

# %%
figure, ax = plt.subplots(figsize=(figures.WIDTH, 4.4))
chosen = effects[effects["method"] == method]
names = list(chosen["what"].drop_duplicates())
for turn, model in enumerate(recorded.full):
    part = chosen[chosen["model"] == model.shown]
    side = np.where(part["better"] == "greater", 1, -1)  # turned, so that right is better
    y = np.arange(len(part)) + 0.22 * (turn - (len(recorded.full) - 1) / 2)
    ax.hlines(y, side * part["low"], side * part["high"], color=model.colour, linewidth=2.5)
    ax.plot(side * part["points"], y, "o", color=model.colour, label=model.shown)
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
    "scores and drops stand with their sign turned.",
    alt="A line a measure, such as accuracy, Brier score, drop under blur and probes passed: a "
    "dot with an interval for each model, the method less the base in points.",
)


# %%
def effect_table(name):
    """A method less the base: a line a measure, and of each model its change, rows and p."""
    cells = {}
    for line in effects[effects["method"] == name].itertuples():
        change = tables.with_ends(line.points, line.low, line.high, key=line.key)
        change = change if line.n else tables.MISSING
        told = {tables.INTERVAL: change, "n": f"{line.n:.0f}", "p (Holm)": tables.p_value(line.p)}
        cells.setdefault(line.what, {}).update({(line.model, key): v for key, v in told.items()})
    frame = pd.DataFrame.from_dict(cells, orient="index", dtype=object)  # str would drop the keys
    return tables.Table(f"effects-{name}", frame, f"{name} less the base, in points")


effect_table(method)

# %% [markdown]
# ## Calibration
#
# The confidence of either answer is its probability in the eyes of the base: the original round's
# raw logits. It says how sure the model is of the answer that the method makes it give. An answer
# with a token that no round kept has no confidence. The expected calibration error (ECE) is no mean
# over rows: both answers' terms are summed by bin, and the change is that of the sums.


# %%
def ece_change(both):
    """ECE of the method's answers less that of the base's, on the same rows."""
    ends = ("", " two")
    columns = [terms(both[f"confidence{end}"], both[f"right{end}"]) for end in ends]

    def change(sums):
        base, other = np.split(sums, 2)
        return ece_of_sums(other) - ece_of_sums(base)

    return of_sums(np.vstack(columns), both["group"], change) if len(both) else NO_DATA


cells = {}
for model, kind, name in product(recorded.full, KINDS, METHODS):
    both = edge.paired(model.answers(kind), model.answers(kind, name))
    both = both[both["confidence"].notna() & both["confidence two"].notna()]
    change = ece_change(both)
    cells[f"{kind}, {name}, {model.shown}"] = {
        "confidence, base": tables.number(both["confidence"].mean(), 3),
        "confidence, method": tables.number(both["confidence two"].mean(), 3),
        f"ECE change, {tables.INTERVAL}": tables.shown(change, 1.0, 3),
        "n": f"{change.n}",
    }
frame = pd.DataFrame.from_dict(cells, orient="index", dtype=object)
ece_table = tables.Table("ece-change", frame, "Confidence in the answer and ECE, same rows")
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
#   chances to leave what the original round would have written, and its mean probability falls.
# - Prompts without an instruction to reword (captions, probes) take the paper's V1 in front, and a
#   translation of ours as V2.
# - **The rule for captions is at its ceiling** with the base: by it nothing can be gained by SCI,
#   and what the base loses to blur does not show. The line “whole scene” counts captions that say
#   all that is there and nothing else.
# - The Brier score mixes calibration with accuracy; the change in ECE stands beside it with its own
#   interval.
# - Of each family one training has answers to this paper's questions, on all three of its pages.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `method=VCD`: contrastive decoding, which has one visual round, changes less in captions.
# - `models=[mine]` and `records=runs`: a model of yours, with records of `sci probe edge`.

# %% tags=["hide-input"]
tables.download("edge_sci", [*map(effect_table, METHODS), ece_table])

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

# %% [markdown]
# # C-VQA: does SCI shrink the counterfactual drop?
#
# **Claim.** SCI5's counterfactual drop is smaller than the base's, for each model shown.
#
# C-VQA asks a question about a picture, and then the same under a presupposition: "How many cats
# would there be if the TV was off?" Neither paper asks whether Self-Critical Inference helps there
# {cite:p}`zhang2023cvqa,tang2026sci`. It compares what a model says without the picture and in
# other words. If a model answers the counterfactual question from habit, or from the picture as it
# is, SCI may help; if the model cannot reason, it will not. The drop may also differ from one group
# of pictures to another, with SCI or without ({ref}`Figure 5 <cvqa_fig05_groups>`).

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]  # whose answers are read
records: str = "data_manifests/records"  # the folder of their answers; C-VQA lies in cvqa/

# %% tags=["hide-input"]
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from sci_book.methods import COMPARED, SCI
from sci_book.papers.cvqa import measures, pairs, paper
from sci_book.papers.cvqa.questions import REAL, SIDES
from sci_book.papers.cvqa.scores import fall
from sci_book.papers.shared import chapters, figures, stamp, tables
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.tables import INTERVAL, number, p_value, signed
from sci_book.pipeline import findings as ledger
from sci_book.resources import PAPER
from sci_book.results.statistics import apart, difference, holm, sign_flip_test

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %% tags=["hide-input"]
known = ledger.named(models, records)
findings = ledger.of_page("cvqa_sci_shrinking", known)
of_groups = ledger.of_page("cvqa_fig05_groups", known)
Markdown("\n\n".join(ledger.conclusion(section) for section in (findings, of_groups)))

# %% tags=["hide-input"]
recorded = pairs.subjects(models, records)
subjects = [model for model in recorded.subjects if pairs.understood(model).ok.any()]
Markdown(chapters.absences(recorded)) if recorded.absent else None

# %% [markdown]
# (cvqa_sci_shrinking)=
# ## What each method takes off the drop
#
# A drop is what a model loses from the original questions to the counterfactual ones. Both methods
# of a line answer the same items, so the difference of their drops is taken item by item: all
# items of the twin, numbers as the paper asks for them and booleans as the models understand them.
# A picture is a cluster of every interval. The constants are the methods' own; nothing was tuned
# here.

# %%
CONTRASTS = [
    *product(COMPARED, ["base"]),
    *product(SCI, ["VCD"]),  # against the method that SCI builds on
    ("SCI5", "SCI3"), ("SCI7", "SCI5"),  # more rounds against fewer
]  # fmt: skip
lines = {}  # by model, method and other
for model, (method, other) in product(subjects, CONTRASTS):
    items = pairs.understood(model)
    items = items.where(items.ok)
    less = items.drop(other) - items.drop(method)  # above 0: the method loses less
    found = difference(less, items.groups).times(100)
    lines[model.shown, method, other] = {
        "points off the drop": found,
        "n": found.n,
        "moved": (less != 0).sum(),
        "p (Holm)": sign_flip_test(less, items.groups),
    }
adjusted = holm([line["p (Holm)"] for line in lines.values()])  # over the lines of all models
for line, p in zip(lines.values(), adjusted, strict=True):
    line["p (Holm)"] = p_value(p)

# %%
figure, panels = figures.panels([model.shown for model in subjects], 2.9, sharex=True)
for model, panel in panels.items():
    found = {name: lines[model, name, "base"]["points off the drop"] for name in COMPARED}
    points = {name: one.estimate for name, one in found.items()}
    ends = {name: (one.low, one.high) for name, one in found.items()}
    figures.estimates(panel, points, ends, ours=model, xlabel="points off the drop")
    panel.get_legend().remove()
    panel.axvline(0, color=figures.INK, linewidth=0.8)
figures.show(
    figure,
    "What each method takes off the drop from original to counterfactual questions: to the right "
    "of the line the drop shrinks.",
    alt="A panel a model, a line a method: dots with intervals for the points that it takes off the"
    " base’s drop.",
)

# %% [markdown]
# An interval that reaches zero is no proof of nothing: it says how large an effect these items
# could have hidden. *Moved* counts the items whose drop differs at all. The p-values of the
# sign-flip test are Holm's over the lines of all models.

# %%
shrinking = table_of(
    {f"{name}: {method} against {other}": line for (name, method, other), line in lines.items()},
    name="shrinking",
    caption=f"How much smaller the drop is (− is larger), with {INTERVAL}s",
)
display(shrinking)

# %% [markdown]
# The claim is SCI5's line against the base, one model at a time:

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table)

# %% [markdown]
# ## Either side by itself
#
# A drop also shrinks if the original question is answered worse, so both sides are shown, with
# their change from the base.

# %%
sides = {}
for model, method in product(subjects, ["base", *COMPARED]):
    items = pairs.understood(model)
    base, found = (fall(items.right(name), items.groups) for name in ("base", method))
    sides[f"{model.shown}: {method}"] = {
        side: f"{number(found[side].estimate)} "
        f"({signed(found[side].estimate - base[side].estimate)})"
        for side in SIDES
    } | {f"drop, {INTERVAL}": found["drop"]}
both = table_of(sides, name="sides", caption="Percent right (less the base), and points lost")
display(both)

# %% [markdown]
# (cvqa_fig05_groups)=
# ## Does one group of pictures lose more? Figure 5
#
# Of the pictures with people of one gender alone, the paper has 510 of men and 207 of women, and
# finds that most end-to-end models lose more on the second. It prints no interval. The pocket world
# has no people; its groups are attributes of a scene that no question asks about: indoors or
# outdoors, dim or clear. What can be asked of them is the form of the finding: does the smaller
# group lose more, and would this many pictures show it? The claim is about answers of the base and
# both attributes, for each model shown.

# %%
POLICIES = ("base", "VCD", "SCI5")
drops, gaps = {}, {}  # by model, attribute, method (and group)
for model, (attribute, (small, large, _)) in product(subjects, measures.ATTRIBUTES.items()):
    label = measures.of_pictures(model, attribute)
    if label is None:  # whose groups are not known
        continue
    answered = pairs.understood(model)
    masks = {group: answered.ok & (label == group) for group in (small, large)}
    for method in POLICIES:
        right, lost = answered.right(method), answered.drop(method)
        for group, rows in masks.items():
            line = fall(right[:, rows], answered.groups[rows])
            drops[model.shown, attribute, method, group] = line
        two = [(lost[rows], answered.groups[rows]) for rows in masks.values()]
        gaps[model.shown, attribute, method] = apart(*two).times(100)

# %%
shown = list(dict.fromkeys(name for name, *_ in drops))
figure, axes = plt.subplots(
    2, max(1, len(shown)), figsize=(figures.WIDTH, 4.8), sharex=True, squeeze=False
)
for (down, attribute), (across, name) in product(enumerate(measures.ATTRIBUTES), enumerate(shown)):
    panel, (small, large, _) = axes[down, across], measures.ATTRIBUTES[attribute]
    for place, method in enumerate(POLICIES):
        tint = figures.colour(method)
        for shift, group, fill in ((-0.15, small, tint), (0.15, large, "white")):
            estimate, low, high, *_ = drops[name, attribute, method, group]["drop"]
            panel.hlines(place + shift, low, high, color=tint)
            panel.plot(estimate, place + shift, "o", color=tint, mfc=fill)
    panel.set_yticks(range(len(POLICIES)), POLICIES)
    panel.invert_yaxis()
    panel.grid(axis="y", visible=False)
    panel.set_title(f"{name}\n{small} full, {large} open", fontsize=9)
for panel in axes[-1]:
    panel.set_xlabel("original − counterfactual, points")
for panel in () if shown else axes[:, 0]:
    figures.nothing(panel, "No model has answered questions whose groups are known.")
figures.show(
    figure,
    "The drop by group of pictures: a group in full marks beside its opposite in open ones.",
    alt="Panels, two pairs of groups by model: dots with intervals for the drop from original to "
    "counterfactual questions, in points, for base, VCD and SCI5.",
)

# %% [markdown]
# Two intervals that overlap do not decide whether one group loses more; the difference of the two
# drops does, which is what bias means here.

# %%
bias = {}
for name, attribute in dict.fromkeys((name, attribute) for name, attribute, _ in gaps):
    small, large, _ = measures.ATTRIBUTES[attribute]
    sizes = [drops[name, attribute, "base", group]["drop"].n for group in (small, large)]
    bias[f"{name}: {small} less {large}"] = {
        "n": f"{sizes[0]} and {sizes[1]}",
        **{method: gaps[name, attribute, method] for method in POLICIES},
    }
caption = f"What the smaller group loses more than the larger, in points, with {INTERVAL}s"
table_of(bias, name="groups", caption=caption)

# %% tags=["hide-input"]
for table in ledger.tables(of_groups):
    display(table)

# %%
printed = pd.read_csv(PAPER / "cvqa_quotes.csv", dtype=str).set_index("id")["printed"]
sizes = printed[["male images", "female images"]].astype(float)
widths = []
for model in subjects:
    spread = 100 * np.nanstd(pairs.understood(model).drop("base"))
    width = 2 * 1.96 * spread * np.sqrt((1 / sizes).sum())
    widths += [f"{number(width, 0)} points if its items vary as those of {model.shown} do"]
clause = f"is about {', '.join(widths)}" if widths else "is of a width that nothing here tells"
Markdown(
    f"With {sizes.iloc[0]:.0f} and {sizes.iloc[1]:.0f} pictures, the {INTERVAL} of the paper's "
    f"contrast {clause}."
)

# %% [markdown]
# ## Deviations
#
# - **The critic hears one instruction in other words**; none of its rounds leaves the
#   presupposition out. A round that did would be the natural counterfactual of a counterfactual
#   question, and another method than the paper's.
# - **Groups differ in more than their name.** Indoors there are other things than outdoors, and dim
#   pictures are harder to see. A difference would not say which of these it was; nor does the
#   paper's, which compares two bars by eye.
# - The second claim on Figure 5, `cvqa-systematic-bias`, has two sides: the drop on dim pictures
#   differs from that on clear ones, whichever is larger. It can stay undecided, and cannot fail.
# - Figure 4 shows a pair of like questions of which a model answers only the one about a man. No
#   pair is shown here: among hundreds of pictures one can always be found, in either direction.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `pairs.understood(model)` to `pairs.of(model, "real")`: the boolean questions are then in the
#   paper's wording too, which a pocket model takes for another kind of question.
# - `["VCD"]` in `CONTRASTS` to `["TIE"]`: what SCI adds to the change of the picture alone.
# - `POLICIES`: any method of the records, such as `"SCI7"`, by group.
# - `models=[mine]` and `records=runs`: a model of yours, from the folder of `sci evaluate`.

# %%
types = {}
for model, kind, method in product(subjects, REAL, SCI):
    items = pairs.understood(model)
    items = items.where(items.ok & (items.kinds == kind))
    less = items.drop("base") - items.drop(method)
    found = difference(less, items.groups).times(100)
    types[f"{model.shown}: {kind}, {method}"] = {"points off the drop": found, "n": found.n}
by_type = table_of(types, name="types", caption="What SCI takes off the drop, by type")
levels = {
    f"{name}: {method}, {group}": {**line, "n": line["drop"].n}
    for (name, _, method, group), line in drops.items()
}
by_group = table_of(levels, name="levels", caption="Percent right and points lost by group")
tables.download("cvqa_sci", [shrinking, both, by_type, by_group])

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

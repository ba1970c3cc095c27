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
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from scipy.special import ndtri

from sci_book.methods import COMPARED, SCI
from sci_book.papers.cvqa import measures, pairs, paper
from sci_book.papers.cvqa.questions import REAL
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.tables import INTERVAL, number, p_value, signed
from sci_book.pipeline import findings as ledger
from sci_book.resources import PAPER
from sci_book.results.statistics import LEVEL, holm, sign_flip_test

began = stamp.begin()
paper.draw(say=lambda _: None)  # drawn in seconds, where it is not there yet

# %% tags=["hide-input"]
known = ledger.named(models, records)
findings = ledger.of_page("cvqa_sci_shrinking", known)
of_groups = ledger.of_page("cvqa_fig05_groups", known)
Markdown("\n\n".join(ledger.conclusion(section) for section in (findings, of_groups)))

# %% tags=["hide-input"]
recorded = pairs.subjects(models, records)
subjects = [
    model for model in recorded.subjects if (pairs.understood(model) & pairs.ok(model)).any()
]
Markdown(chapters.absences(recorded)) if recorded.absent else None

# %% [markdown]
# (cvqa_sci_shrinking)=
# ## What each method takes off the drop
#
# A drop is what a model loses from the original questions to the counterfactual ones. Both methods
# of a line answer the same items, so the difference of their drops is taken item by item: all
# items of the twin, numbers as the paper asks for them and booleans with "Please answer yes or no."
# A picture is a cluster of every interval, which is over trainings too where four or more have the
# answers. The constants are the methods' own; nothing was tuned here.

# %%
CONTRASTS = [
    *product(COMPARED, ["base"]),
    *product(SCI, ["VCD"]),  # against the method that SCI builds on
    ("SCI5", "SCI3"), ("SCI7", "SCI5"),  # more rounds against fewer
]  # fmt: skip


def shrinkage():
    """What each method takes off the other's drop: above 0 it loses less."""
    for model, (method, other) in product(subjects, CONTRASTS):
        less, rows = partial(pairs.spared, method=method, other=other), pairs.understood
        kept = rows(model) & pairs.ok(model)
        own = frame.if_recorded(less, model, otherwise=None)
        if own is None:
            moved, p = tables.MISSING, np.nan
        else:
            moved, p = f"{(own[kept] != 0).sum()}", sign_flip_test(own[kept], model.groups[kept])
        yield frame.line(
            model, less, rows, contrast=f"{method} against {other}", method=method, other=other,
            moved=moved, p=p,
        )  # fmt: skip


contrasts = frame.measured(shrinkage(), "contrast", "other", "p")
contrasts["p (Holm)"] = [p_value(p) for p in holm(contrasts["p"])]  # over all models

# %%
figures.show(
    frame.dots(
        contrasts[contrasts["other"] == "base"].assign(drop="the drop"),
        ("drop", "model"),
        "method",
        xlabel="points off the drop",
    ),
    "What each method takes off the drop from original to counterfactual questions: to the right "
    "of the line the drop shrinks.",
    alt="A panel a model, a line a method: dots with intervals for the points that it takes off the"
    " base’s drop.",
)

# %% [markdown]
# An interval that reaches zero is no proof of nothing: it says how large an effect these items
# could have hidden. *Moved* counts the items whose drop differs at all, in the shipped training.
# The p-values of the sign-flip test are of this training too, and Holm's over the lines of all
# models.

# %%
shrinking = frame.table(
    contrasts,
    rows=("model", "contrast"),
    columns=(),
    name="shrinking",
    caption=f"How much smaller the drop is (− is larger), in points, with {INTERVAL}s",
    show=("here", "n", "moved", "p (Holm)"),
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
lines = (
    line
    for model, method in product(subjects, ("base", *COMPARED))
    for line in pairs.fall(model, pairs.understood, method, method=method)
)
sides = frame.measured(lines, "method", "what")
base = sides[sides["method"] == "base"].set_index(["model", "what"])["estimate"]
sides["less the base"] = [
    "" if line.method == "base" else f"({signed(line.estimate - base[line.model, line.what])})"
    for line in sides.itertuples()
]
both = frame.table(
    sides,
    rows=("model", "method"),
    columns=("what",),
    name="sides",
    caption=f"Percent right, and points lost, with {INTERVAL}s (less the base)",
    show=("here", "less the base"),
)
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
known_groups = [
    (model, attribute, *measures.ATTRIBUTES[attribute][:2])
    for model, attribute in product(subjects, measures.ATTRIBUTES)
    if measures.of_pictures(model, attribute) is not None
]


def of_group(training, attribute, group):
    """The rows of items about one group's pictures."""
    return pairs.understood(training) & (measures.of_pictures(training, attribute) == group)


def by_group():
    """Either side and the drop, by group of pictures."""
    for (model, attribute, *groups), method in product(known_groups, POLICIES):
        for group in groups:
            rows = partial(of_group, attribute=attribute, group=group)
            yield from pairs.fall(model, rows, method, method=method, group=group)


def smaller_less_larger():
    """What the smaller group loses more than the larger."""
    for (model, attribute, *groups), method in product(known_groups, POLICIES):
        small, large = (partial(of_group, attribute=attribute, group=group) for group in groups)
        yield frame.line(model, partial(pairs.drop, method=method), small, less=large,
                         groups=" less ".join(groups), method=method)  # fmt: skip


levels = frame.measured(by_group(), "method", "group", "what")
gaps = frame.measured(smaller_less_larger(), "groups", "method")

# %%
figures.show(
    frame.dots(gaps, ("groups", "model"), "method", xlabel="points lost more"),
    "What the smaller group of pictures loses more than the larger, from original to "
    "counterfactual questions. Right of the line the smaller group loses more.",
    alt="Panels, two pairs of groups by model: dots with intervals for the difference of the two "
    "groups’ drops, in points, for base, VCD and SCI5.",
)

# %% [markdown]
# The drop of either group is in the download. Two intervals that overlap do not decide whether one
# group loses more; the difference of the two drops does, which is what bias means here.

# %%
frame.table(
    gaps,
    rows=("model", "groups"),
    columns=("method",),
    name="groups",
    caption=f"What the smaller group loses more, in points, with {INTERVAL}s; n of the smaller",
    show=("here", "n"),
)

# %% tags=["hide-input"]
for table in ledger.tables(of_groups):
    display(table)

# %%
printed = pd.read_csv(PAPER / "cvqa_quotes.csv", dtype=str).set_index("id")["printed"]
sizes = printed[["male images", "female images"]].astype(float)
widths = []
for model in subjects:
    spread = 100 * np.nanstd(pairs.drop(model, "base")[pairs.understood(model)])
    width = 2 * ndtri((1 + LEVEL) / 2) * spread * np.sqrt((1 / sizes).sum())
    widths += [f"{number(width, 0)} points if its items vary as in the shipped {model.shown}"]
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
#   pair is shown here: among hundreds of pictures one is easily found, in either direction.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `pairs.understood` to `partial(pairs.of, part="real")`: the boolean questions are then in the
#   paper's wording too, which a pocket model may take for another kind of question.
# - `["VCD"]` in `CONTRASTS` to `["TIE"]`: what SCI adds to the change of the picture alone.
# - `POLICIES`: any method of the records, such as `"SCI7"`, by group.
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`.


# %%
def by_type():
    """What each SCI takes off the drop, on the items of one type."""
    for model, kind, method in product(subjects, REAL, SCI):
        less, rows = partial(pairs.spared, method=method), pairs.only(pairs.understood, kind)
        yield frame.line(model, less, rows, kind=kind, method=method)


types = frame.table(
    frame.measured(by_type()), ("model", "kind", "method"), (), name="types",
    caption="What SCI takes off the drop, by type", show=("here", "n"),
)  # fmt: skip
level_table = frame.table(
    levels, ("model", "method", "group"), ("what",), name="levels",
    caption="Percent right and points lost by group", show=("here", "n"),
)  # fmt: skip
tables.download("cvqa_sci", [shrinking, both, types, level_table])

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects) if subjects else Markdown("No records were read.")

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

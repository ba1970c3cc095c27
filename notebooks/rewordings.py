# %% [markdown]
# # What do the rewordings do?
#
# **Claim.** On BS, SCI5 is right more often than its own two dummy pictures without a rewording, at
# the same τ1 and the same constraint, for each model shown.
#
# The paper's Table 5 {cite:p}`tang2026sci` adds rewordings to Self-Critical Inference, and each
# step raises its temperature τ1 = 1 + N/2 as well. TC, the maximum over the wordings, is divided by
# τ1: so a larger τ1 gives the dummy pictures more weight, and lets more tokens pass the constraint.
# A step of Table 5 is a rewording *and* a temperature. Here the two are taken apart.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
method: str = "SCI5"  # whose rewordings are judged: SCI3, SCI5, SCI7, or with constants of your own
split_by: str = "rows"  # which rows are test: the paper's "rows", or "groups", which splits none
quantifier: str = "any"  # of the counterfactual answers that make a row biased or sensitive

# %% tags=["hide-input"]
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import Markdown

from sci_book.papers.sci import nulls
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.pipeline import over_trainings as second
from sci_core.methods import SCI7
from sci_core.methods import method as named_method

began = stamp.begin()
subjects = chapters.subjects(models, records)
judged = second.of_page("rewordings", subjects)

# %% tags=["hide-input"]
Markdown(second.standing())

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## A step of Table 5, taken apart
#
# From the dummies alone at τ1 = 1 to the whole method, in two steps: first τ1 is raised, then the
# rewordings are added. Both gains are differences of answers to the same test rows, and add up to
# what Table 5 credits to the rewordings. Where four trainings or more have the answers, an interval
# is over them too.

# %%
WHOLE = named_method(method)
ALONE = replace(WHOLE, textual=())  # its dummies, at its τ1 and so at its margin
AT_ONE = replace(ALONE, tau1=1.0)
STEP, HEAT, WORDS = "step of Table 5", "τ1 alone", "rewordings alone"
PARTS = {STEP: (WHOLE, AT_ONE), HEAT: (ALONE, AT_ONE), WORDS: (WHOLE, ALONE)}


def gap(training, part):
    """Row by row, what a part of the step changes."""
    one, other = PARTS[part]
    return training.right(one) - training.right(other)


def rows_in(subset):
    return lambda training: training.sets(quantifier, split_by)[subset].to_numpy()


def taken_apart(model, subset, part):
    values = partial(gap, part=part)
    return frame.line(model, values, rows_in(subset), subset=subset, part=part)


apart = frame.measured(taken_apart(*case) for case in product(subjects, nulls.SUBSETS, PARTS))
figures.show(
    frame.side_by_side(subjects, apart, "subset", "part", xlabel="points"),
    f"From the dummies of {WHOLE.name} at τ1 = 1 to the whole method: the step that Table 5 "
    "credits to the rewordings, and its two parts.",
    alt="Panels for B, S, BS, S∖B and all rows: three lines, the whole step, τ1 alone and the "
    "rewordings alone, a dot with its interval a model, in points.",
)

# %% [markdown]
# What share of the step is τ1? In a training it is the mean change by τ1 alone over the mean change
# of the step; of several trainings it is the mean share. It says something only where the step is
# not near 0: elsewhere there is a dash.


# %%
def share_of_heat(model, subset):
    """Of the step, the share that τ1 alone makes."""

    def both(training):
        return np.stack([gap(training, HEAT), gap(training, STEP)])

    return frame.line(model, both, rows_in(subset), None, subset=subset, part="τ1’s share, %")


shares = frame.measured(share_of_heat(*case) for case in product(subjects, nulls.SUBSETS))
steps = apart[apart["part"] == STEP].reset_index(drop=True)
near = ~((steps["low"] > 0) | (steps["high"] < 0))
shares.loc[near, ["estimate", "low", "high", "n"]] = np.nan, np.nan, np.nan, 0
order = [model.shown for model in subjects]
both = pd.concat([apart, shares]).sort_values(
    "model", key=lambda names: names.map(order.index), kind="stable"
)
of_rows = apart.groupby(["model", "subset"])["n"].max()
both["rows"] = [f"{subset}, n = {of_rows[shown, subset]:,}"
                for shown, subset in zip(both["model"], both["subset"], strict=True)]  # fmt: skip
frame.table(
    both, ("model", "rows"), ("part",), name="apart", show=("here",),
    caption=f"{WHOLE.name}, points (the share in %), {tables.INTERVAL}s",
)  # fmt: skip

# %% tags=["hide-input", "remove-output"]
said, on_bs = [], apart[(apart["subset"] == "BS") & (apart["n"] > 0)]
of_step = shares[shares["subset"] == "BS"].set_index("model")["estimate"].dropna()
for shown, part in on_bs.groupby("model", sort=False):
    gains = (tables.with_ends(one.estimate, one.low, one.high, key=one.key)
             for one in part.set_index("part").loc[[WORDS, HEAT]].itertuples())  # fmt: skip
    text = "{}: the rewordings alone {}, τ1 alone {}".format(shown, *gains)
    if shown in of_step:
        text += f", which is {of_step[shown]:.0f} % of the step that Table 5 shows"
    said.append(f"{text}.")
head = second.conclusion([each for each in judged if each.claim.id == "rewordings-beyond-dummies"])
numbers = f"What parts of {WHOLE.name} add on BS, in points. {' '.join(said)}" if said else ""
at_head.write(f"{head}\n\n{numbers}")

# %% [markdown]
# ## Does τ1 act by weight or by margin?
#
# A larger τ1 divides TC, so VC weighs more; and it lowers the constraint's cutoff, from
# ln(1/β) logits below the best to τ1 · ln(1/β). `raw_margin` sets the second apart from the first.

# %%
SAID = {"margin_alone": "by the margin", "weight_alone": "by the weight"}


def measured(names, subsets, methods=(method,)):
    """Measures of `nulls` by the words for them."""
    reading = (quantifier, split_by)
    lines = ({**line, "measure": words, "method": line["contrast"].rpartition(",")[0]}
             for name, words in names.items()
             for line in nulls.MEASURES[name](subjects, methods, subsets, reading))  # fmt: skip
    return frame.measured(lines, "measure", "method", "subset")


frame.shown(
    subjects, measured(SAID, nulls.SUBSETS), "subset", "measure",
    "What raising τ1 from 1 changes with no rewording at all, split into what the looser "
    "constraint does and what the larger weight of the dummies does.",
    name="heat",
    alt="Panels for B, S, BS, S∖B and all rows: a line for the margin and one for the weight, a "
    "dot with its interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## Other wordings in their place
#
# If a rewording works by what it says, another one should do less: the first one asked again,
# or one of five wordings of V1’s length that ask for nothing (`data_manifests/neutral.yaml`). And
# TC may be the mean over the wordings in place of their maximum (equation 6).

# %%
OTHERS = {
    "beyond_dummies": "rewordings against none",
    "other_wordings": "rewordings against V1 asked again",
    "asking_nothing": "rewordings against words that ask nothing",
    "nothing_beyond": "words that ask nothing against none",
    "repeated_by_rule": "V1 asked again, at the paper’s τ1",
    "by_maximum": "maximum against mean",
    "mean_beyond_dummies": "mean against none",
}
frame.shown(
    subjects, measured(OTHERS, ("BS", "all")), "subset", "measure",
    f"{WHOLE.name} less itself with something else in the rewordings' place. What has no dot is "
    "not recorded.",
    name="others",
    alt="A panel for BS and one for all rows: seven differences, a dot with its interval a model, "
    "in points.",
)  # fmt: skip

# %% [markdown]
# What is each wording worth as the only prompt? Less the original, on validation rows: words that
# ask for nothing may cost little, or they are no null.

# %%
alone = frame.measured(
    nulls.inputs(subjects, subsets=("all",), reading=(quantifier, split_by, "validation"))
)
frame.table(
    alone, ("contrast",), ("model",), name="alone", show=("here", "n"),
    caption=f"Each wording alone, less the original, validation rows, points, {tables.INTERVAL}s",
)  # fmt: skip

# %% [markdown]
# ## More of them
#
# With every rewording more the paper raises τ1 by a half. At one τ1 and margin, what do one, two
# and three add? The last line is SCI5 at β = 0.8, as the paper asks the data sets as they are.

# %%
SIZES = ("SCI3", "SCI5", "SCI7", "SCI(M=2, N=2, beta=0.8)")
sizes = measured({"beyond_dummies": "rewordings alone", "tau1_alone": "τ1 alone"},
                 ("BS", "all"), SIZES)  # fmt: skip
sizes["what"] = sizes["measure"] + ", " + sizes["subset"]
frame.shown(
    subjects, sizes, "what", "method",
    "What the rewordings of each size add to its dummies at one τ1, and what its τ1 adds to these "
    "dummies without a rewording.",
    name="sizes",
    alt="Panels for the rewordings and for τ1, on BS and on all rows: a line a method, a dot with "
    "its interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## Shapley values at one τ1
#
# {ref}`table05_components` gives each round its fair share, averaged over all combinations of the
# others, by the paper's τ1, which grows with the rewordings in a combination. Here every
# combination has SCI7's τ1: what is left to the rewordings is theirs.


# %%
def values(tau1):
    """Shapley values of the rounds of SCI7 on BS."""
    for line in nulls.shapley(subjects, (), tau1, ("BS",), (quantifier, split_by)):
        yield {**line, "round": line["contrast"].partition(",")[0],
               "τ1": "τ1 = 1 + N/2" if tau1 is None else f"τ1 = {tau1:g}"}  # fmt: skip


fair = frame.measured([*values(None), *values(SCI7.tau1)], "τ1", "round")
frame.shown(
    subjects, fair, "τ1", "round",
    "The value of each round on BS: by the paper's τ1, and with one τ1 for all combinations.",
    name="shapley",
    alt="A panel for the paper's τ1 and one for a single τ1: a line a round of SCI7, a dot with "
    "its interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## Could the paper's own numbers tell?
#
# To tell a rewording from a temperature, the paper would have to print two numbers on the same
# rows, with the same dummies and τ1, one with rewordings and one without. The table lists all pairs
# on the same rows that differ in rewordings; the last column says whether τ1 is the same, or does
# not matter for want of a dummy.

# %%
pairs = nulls.printed_pairs()
pairs["dummies"] = pairs["dummies"].replace("", "none")
pairs["only a rewording?"] = np.where(pairs["alike"], "yes", "no: τ1 too")
heads = ["dummies", "value without", "τ1 without", "value with", "τ1 with", "only a rewording?"]
pairs.columns = pairs.columns.str.replace("tau1", "τ1")
tables.plain(
    pairs.set_index(pairs["model"] + ": " + pairs["rewordings"])[heads], name="prose-pairs",
    caption="Table 5 with and without rewordings, accuracy on BS in %",
)  # fmt: skip

# %% tags=["hide-input"]
told = pairs[pairs["dummies"] != "none"]
Markdown(
    f"Of the {len(told)} pairs with a dummy picture {told['alike'].sum() or 'none'} could tell a "
    "rewording from a temperature."
)

# %% [markdown]
# ## All claims

# %% tags=["hide-input"]
Markdown(second.conclusion(judged))

# %%
second.table(judged, "prose-judged").fold()

# %% [markdown]
# ## Deviations
#
# - Methods without rewordings were not decoded. They are replayed from recorded logits, so they are
#   of trainings with logits alone; what these leave open is read off the first token.
# - The share of a step that τ1 makes has no meaning where the step may be 0, and is left out
#   there. It can be more than 100 % where the rewordings lose.
# - S and S∖B are selected by V1 and V2 ({doc}`../book/drbench`). {doc}`why_gains` says why a gain
#   or a loss there is no proof that a wording did it.
# - The registered claims are about SCI5 with the paper's split and ∃, whatever is set above.
#
# ## If you change …
#
# - `method=SCI7`: one rewording and one dummy more, and a τ1 of 2.5 in place of 2.
# - `method="SCI(M=2, N=2, beta=0.8)"`: where the constraint is tight, its margin matters less.
# - `quantifier=all`: a row is in B or S if *every* dummy or rewording makes it so.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.
#
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

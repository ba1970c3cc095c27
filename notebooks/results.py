# %% [markdown]
# # Results at a glance
#
# **Claim.** SCI5 is right more often than VCD on BS, for each model read.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
gentle: float = 0.8  # a second β over all rows: the paper's where little is biased (Table 4)

# %% tags=["hide-input"]
from itertools import product

import numpy as np

from sci_book.methods import with_constants
from sci_book.papers.sci.chapters import drbench_tables
from sci_book.papers.sci.chapters.shapes import less as printed_gap
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.pages import address
from sci_core.methods import METHODS

began = stamp.begin()
subjects = chapters.subjects(models, records)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## What SCI5 gains, and over what
#
# B: the base is wrong, and says the same of a dummy picture. S: a rewording changes the base's
# answer. BS: rows in B, in S, or in both. S∖B: rows in S that are not in B, so chosen among the
# base's right answers. S∩L and S∖L part S without a look at what is right: L holds the rows whose
# base answer is that to a dummy picture, right or wrong ({doc}`../book/drbench`). On a subset each
# method has its own β. *VCD*, visual contrastive decoding, is SCI's predecessor; *TIE* subtracts
# what the model says of a noisy picture.

# %%
SUBSETS = ("B", "S", "BS", "S∖B", "S∩L", "S∖L")
BETAS = {"all rows": None, f"all rows, β = {gentle:g}": gentle}
LINES = {subset: (subset, None) for subset in SUBSETS}
LINES |= {name: ("all", beta) for name, beta in BETAS.items()}
OPPONENTS = ("VCD", "TIE", "base")


def less(model, other, part):
    """SCI5 less another method, on the test rows that a line of the picture is of."""
    subset, beta = LINES[part]
    one, two = (with_constants(METHODS[name], beta=beta) for name in ("SCI5", other))
    return frame.line(
        model,
        lambda training: training.right(one) - training.right(two),
        lambda training: training.sets("any", "rows")[subset],
        part=part,
        contrast=f"SCI5 − {other}",
        paper=printed(model, other, subset, beta),
        claim="greater",
    )


def printed(model, other, subset, beta):
    """The paper's difference in points; over all rows that of Table 10, whose β is 0.8."""
    if subset != "all":
        return drbench_tables.paper_gap(model, "SCI5", other, subset)
    if beta != 0.8:
        return np.nan
    of = [(model.label, name, "all", "Overall") for name in ("SCI5", other)]
    return printed_gap(chapters.paper_values("table10"), *of)


gains = frame.measured(less(*case) for case in product(subjects, OPPONENTS, LINES))

# %%
figures.show(
    frame.side_by_side(subjects, gains, "contrast", "part", xlabel="points"),
    "What SCI5 gains over VCD, over TIE and over the base, here (full; grey: trainings beside) and "
    "in the paper (open): to the right of the line SCI5 is better.",
    alt="Three panels, SCI5 less VCD, less TIE and less base, a line a subset and one each for all "
    "rows at two β: dots with intervals for the pocket models, diamonds for the paper’s, in "
    "points.",
)

# %%
frame.table(
    gains, ("model", "part"), ("contrast",), name="glance", show=("paper", "here", "n"),
    caption=f"SCI5 less other methods on test rows, points, {tables.INTERVAL}s",
).fold()  # fmt: skip


# %%
def told(model, contrast, part):
    """A line as a verb, its interval, the paper's number and what single trainings say."""
    at = gains[(gains["model"] == model.shown) & (gains["contrast"] == f"SCI5 − {contrast}")]
    (line,) = at[at["part"] == part].to_dict("records")
    if not line["n"]:
        return chapters.gain(np.nan)
    beside = [] if np.isnan(line["paper"]) else [f"paper: {tables.signed(line['paper'])}"]
    if line["trainings"] > 1:
        across = sum(np.sign(one) != np.sign(line["estimate"]) for one in line["others"])
        beside.append(f"over {line['trainings']} trainings, {across} of them not on this side")
    elif line["others"]:
        beside.append(f"other trainings: {', '.join(map(tables.signed, line['others']))}")
    ends = tables.interval(line["low"], line["high"], key=line["key"])
    said = f"{chapters.gain(line['estimate'])} {ends}"
    return said + (f" ({'; '.join(beside)})" if beside else "")


WHOLE, GENTLE = BETAS
known = gains[(gains["contrast"] == "SCI5 − VCD") & (gains["part"] == "BS")]["verdict"]
words = [
    word if model.fit else "not comparable" for model, word in zip(subjects, known, strict=True)
]
lines = [
    f"- **{model.shown}**: on BS, against VCD, SCI5 {told(model, 'VCD', 'BS')}; against TIE, it "
    f"{told(model, 'TIE', 'BS')}. Over all rows, against the base, it "
    f"{told(model, 'base', WHOLE)}; with β = {gentle:g}, it {told(model, 'base', GENTLE)}."
    for model in subjects
]
unfit = " and ".join(model.shown for model in subjects if not model.fit)
limit = (
    "How accurate a large model is. What may carry over from a pocket model is structure: "
    "identities, directions, costs."
) if not unfit else (
    "SCI assumes that a rewording asks the same question and that a dummy picture shows nothing. "
    f"[That is not shown]({address('conditions')}) of {unfit}, so these numbers say little about "
    "the paper’s claims."
)  # fmt: skip

# %% tags=["remove-output", "hide-input"]
at_head.write(
    "\n".join(
        [
            f"**Verdict: {chapters.overall(words)}.**\n",
            *lines,
            f"- **What that does not say.** {limit}",
        ]
    )
)

# %% [markdown]
# An interval is over trainings and questions where there are four trainings or more, and of fewer
# that of the shipped one over questions. *Not comparable* means that a model does not meet what the
# claim rests on ({ref}`conditions`). {doc}`why_gains` says where the gain comes from,
# {doc}`objections` what else could explain it; {doc}`verdicts` has every other sentence of the
# paper.
#
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

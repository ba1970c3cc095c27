# %% [markdown]
# # Objections, answered
#
# **Claim.** Self-Critical Inference stands against nine objections to decoders of its kind: each
# sentence below that its case needs holds, for each model shown.
#
# Decoders that subtract what a spoilt input says are said to gain for other reasons than the one
# they name {cite:p}`yin2025mirage`, and their users ask the same. The paper {cite:p}`tang2026sci`
# does not answer them. Each section has the objection, where it was made, and what the records
# answer. A claim says what somebody who proposes SCI would have to say: where it *fails*, the
# objection is right. All rows are test rows of the paper's split; differences are of answers to the
# same questions, in points, with intervals over question groups, and over trainings too where four
# or more have the answers.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
gentle: float = 0.8  # β of the second SCI5, which changes fewer answers; registered claims have 0.8
image_tokens: int = 320  # of the picture whose tokens a method is priced by

# %% tags=["hide-input"]
from functools import cache, partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown

from sci_book.methods import COMPARED
from sci_book.papers.sci import objections
from sci_book.papers.sci.chapters import standard_sets, turned
from sci_book.papers.sci.overhead import cost
from sci_book.papers.shared import chapters, figures, frame, stamp, tables
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.evidence import method_of, title
from sci_book.papers.shared.figures import INK, colour, legend_below
from sci_book.pipeline import over_trainings as second
from sci_book.results.controls import READS, confidence
from sci_book.results.statistics import LEVEL
from sci_core.methods import BASE, METHODS

began = stamp.begin()
subjects = chapters.subjects(models, records)
judged = second.of_page("objections", subjects)


# %% tags=["hide-input"]
Markdown(second.standing())

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # computed below, and written here

# %% [markdown]
# ## (a) A shift towards “no”?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(a)"))

# %% [markdown]
# > “crude, unidirectional adjustments to the model’s output distribution”
# >
# > Yin, Si and Wang {cite:p}`yin2025mirage`, abstract: the first of two reasons why such methods
# > seem to gain on POPE, a set of yes/no questions
#
# A decoder that says “no” more often is right more often where “no” is right, and less where “yes”
# is. So the picture has how often SCI5 says “yes”, and how often it is right where the answer is
# yes and where it is no, each less the base. Its last column compares SCI5 with a plain shift: the
# base, with one constant added to the logit of “yes”, the best of the validation rows of each set.
# On ORIC-Bench that column is of the shipped training, which alone has logits there. All of it is
# on test rows, where the page {doc}`oric_sci` has every question of ORIC-Bench.

# %%
SHARES = {"yes": "says “yes”", "present": "right: is “yes”", "absent": "right: is “no”"}
GENTLE = {"M": 2, "N": 2, "beta": gentle}
asked = [model for model in subjects if frame.if_recorded(model.beside, "oric", otherwise=None)]
places = ((subjects, ""), (asked, "oric"))


def named(lines, **keys):
    """Lines whose data set goes by its name in tables, with further keys."""
    for line in lines:
        name = standard_sets.column_of(line["dataset"]).removeprefix("pocket_")
        yield {**line, **keys, "dataset": name.replace("_", " ")}


def of_yes():
    """SCI5 less base by share, and less the shifted base, on every set of yes/no questions."""
    for there, where in places:
        sets = set()
        for line in objections.rates(there, ["SCI5"], [*SHARES], ["base"], where):
            sets.add(line["dataset"])
            yield from named([line], share=SHARES[line["share"]])
        for line in objections.by_dataset(there, ["SCI5"], ["shift"], where):
            if line["dataset"] in sets:
                yield from named([line], share="right, less shift")


# %%
frame.shown(
    subjects, frame.measured(of_yes(), "share", "dataset"), "share", "dataset",
    "SCI5 less the base in how often it says “yes”, and is right where the answer is yes and where "
    "it is no; and SCI5 less the base with the best shift of “yes”. Grey: single trainings.",
    name="yes",
    alt="Panels for the share of yes, for hits where yes and where no is right, and for the "
    "difference from a shifted base; a line a data set, a dot with its interval a model, in "
    "points.",
)  # fmt: skip

# %% [markdown]
# ## (b) The constraint?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(b)"))

# %% [markdown]
# > “the adaptive plausibility constraint, which reduces the sampling strategy to greedy search”
# >
# > Yin, Si and Wang {cite:p}`yin2025mirage`, abstract: the second reason
#
# Where answers are drawn, a method that forbids unlikely tokens may gain by that alone. So here all
# draw at temperature 1: the base; the base with SCI's constraint and nothing else (“sampled,
# plausible”); and SCI5. What an answer of one token draws is computed, not drawn. A short answer is
# drawn 20 times; one without draws by both methods is left out.

# %%
DRAWN = (("sampled, plausible", "sampled"), ("SCI5", "sampled"), ("SCI5", "sampled, plausible"))
drawn = (
    {**line, "contrast": line["contrast"].removesuffix(", drawn")}
    for one, other in DRAWN
    for line in objections.difference(subjects, [one], [other], ("BS", "all"), drawn=True)
)
frame.shown(
    subjects, frame.measured(drawn), "subset", "contrast",
    "All drawn at temperature 1: what the constraint alone gains on the base, what SCI5 does, and "
    "SCI5 less the constraint alone, which is what SCI adds.",
    name="drawn",
    alt="A panel for BS and one for all rows: three differences of accuracy between drawn "
    "answers, a dot with its interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## (c) Only more compute?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(c)"))

# %% [markdown]
# > “these more expenses can afford sampling more solutions with self-consistency, I wonder is that
# > a fair comparison”
# >
# > a user of another method that asks several times, a debate of models
# > ([composable-models/llm_multiagent_debate, issue
# > 6](https://github.com/composable-models/llm_multiagent_debate/issues/6))
#
# The same may be asked of five rounds. vote(N) answers what most of the original and N rewordings
# answer, so vote(3) is a vote of four wordings; mean(N) takes the mean of their log-probabilities.
# Neither reads a dummy picture, so both cost fewer tokens than SCI5. Tokens are counted, for one
# question on a picture of as many tokens as the parameter says.

# %%
PRICED = (*COMPARED, GENTLE, "mean(2)", "mean(3)", "vote(2)", "vote(3)")
WHERE = ("BS", "all")
MARKS = {
    "s": lambda name: name[:4] in ("mean", "vote"),
    "D": lambda name: "β" in name,
    "o": lambda name: name in COMPARED,
}


def tokens(name):
    """Those that a method reads of a question, in multiples of the base's."""
    method = READS.get(name, method_of(name)) if isinstance(name, str) else method_of(name)
    return cost(method, image_tokens).read / cost(BASE, image_tokens).read


paid = frame.measured(objections.difference(subjects, PRICED, ["base"], WHERE), "contrast")
paid["method"] = paid["contrast"].str.removesuffix(" − base")
paid["tokens"] = paid["method"].map({title(name): tokens(name) for name in PRICED})

# %%
size = {"figsize": (figures.WIDTH, 0.9 + 2.3 * len(subjects)), "squeeze": False, "sharex": True}
figure, axes = plt.subplots(len(subjects), len(WHERE), **size)
for ax, (model, subset) in zip(axes.flat, product(subjects, WHERE), strict=True):
    part = paid[(paid["model"] == model.shown) & (paid["subset"] == subset)]
    one = [colour(name.partition(" (")[0]) for name in part["method"]]
    ax.vlines(part["tokens"], part["low"], part["high"], color=one, linewidth=1.5)
    for mark, is_of in MARKS.items():
        some = part[part["method"].map(is_of)]
        inks = [colour(name.partition(" (")[0]) for name in some["method"]]
        faces = inks if mark != "D" else "white"
        ax.scatter(some["tokens"], some["estimate"], c=faces, edgecolors=inks, marker=mark, s=36,
                   zorder=3)  # fmt: skip
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_title(f"{model.shown}: {subset}", fontsize=10)
for name in paid["method"].unique():
    (mark,) = (mark for mark, is_of in MARKS.items() if is_of(name))
    shade = colour(name.partition(" (")[0])
    face = shade if mark != "D" else "white"
    axes[0, 0].plot([], [], mark, color=shade, mfc=face, label=name)
for ax in axes[-1]:
    ax.set_xlabel("tokens read, × base")
for ax in axes[:, 0]:
    ax.set_ylabel("less base, points")
legend_below(figure, axes[0, :1], ncols=4)
figures.show(
    figure,
    "What each method gains on the base for the tokens that it reads; squares ask reworded "
    "questions alone, the diamond is SCI5 at the gentler β. To the right of a mark that is "
    "higher, tokens were spent for nothing.",
    alt="A panel for BS and one for all rows of each model: tokens in multiples of the base's "
    "along the horizontal axis, the difference from the base in points along the vertical one.",
)

# %%
paid["tokens"] = paid["tokens"].map(tables.number)
frame.table(
    paid, ("method", "tokens"), ("model", "subset"), name="paid", show=("here",),
    caption=f"Less the base, points, {tables.INTERVAL}s; tokens in multiples of the base's",
).fold()  # fmt: skip

# %% [markdown]
# ## (d) Does any other answer do as well?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(d)"))

# %% [markdown]
# > On B the base is wrong by construction. Whoever changes its answer gains there.
# >
# > this book ({doc}`../book/drbench`)
#
# The second choice of the base is on B a strong opponent: of the answers that are left, it is the
# likeliest, and of two it is the right one. Elsewhere it is wrong wherever the base is right. So a
# gain on B says little before it is compared with this, and a loss against it says that more
# answers should have changed there, not that the second choice is a method.

# %%
OTHERS = ("runner-up", "uniform other")
others = objections.difference(subjects, ["VCD", "SCI5"], OTHERS, ("B", "BS", "all"))
frame.shown(
    subjects, frame.measured(others), "subset", "contrast",
    "SCI5 and VCD less the base’s second choice (“runner-up”), and less any option but the base’s, "
    "by lot: on B and BS, and on all rows, where both are wrong wherever the base is right.",
    name="others",
    alt="Panels for B, BS and all rows: SCI5 and VCD less two ways to take another answer than the "
    "base’s, a dot with its interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## (e) What does it do where nothing is wrong?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(e)"))

# %% [markdown]
# > “outperformed by a model with no modifications at all. Is this approach intended to be a method
# > that negatively impacts performance?”
# >
# > a user of VCD ([DAMO-NLP-SG/VCD, issue 16](https://github.com/DAMO-NLP-SG/VCD/issues/16))
#
# A method *mends* an answer if it alone is right, and *breaks* it if the base alone is. Over all
# rows both are counted; outside BS, on the rows that no rewording moves and whose error, if any, no
# dummy repeats, there may be little to mend.

# %%
TURNED = ("TIE", "VCD", "SCI3", "SCI5", GENTLE, "SCI7", "vote(3)")


def share_of(model, name, way, subset):
    """The share of rows that a method mends, or breaks."""
    keys = {"method": title(name), "subset": subset}
    return turned.turned(
        model,
        method_of(name),
        way,
        lambda training: training.sets("any", "rows")[subset].to_numpy(),
        **keys,
    )


cases = product(subjects, TURNED, ("mends", "breaks"), ("all", "outside BS"))
moved = frame.measured(share_of(*case) for case in cases)

# %%
size = {"figsize": (figures.WIDTH, 3.2), "squeeze": False, "sharex": True, "sharey": True}
figure, axes = plt.subplots(1, len(subjects), **size)
for ax, model in zip(axes[0], subjects, strict=True):
    part = moved[(moved["model"] == model.shown) & (moved["subset"] == "all")]
    for way, side, shade in (("mends", 1, "#15803d"), ("breaks", -1, "#b91c1c")):
        bars = part[part["way"] == way]
        ends = side * bars[["estimate", "low", "high"]].to_numpy()
        ax.barh(bars["method"], ends[:, 0], color=shade, label=way)
        ax.hlines(bars["method"], ends[:, 1], ends[:, 2], color=INK, linewidth=1)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set(title=model.shown, xlabel="% of all rows")
axes[0, 0].invert_yaxis()
legend_below(figure, axes[0, :1])
figures.show(
    figure,
    "The answers of the base that a method mends (right) and breaks (left), of all rows: where the "
    "left bar is the longer one, the method costs more than it gives.",
    alt="A panel a model, a line a method: a green bar to the right for answers mended, a red bar "
    "to the left for answers broken, in percent of all test rows.",
)
frame.table(
    moved, ("model", "method"), ("subset", "way"), name="turned", show=("here",),
    caption=f"Answers mended and broken, % of rows, {tables.INTERVAL}s",
).fold()  # fmt: skip

# %% [markdown]
# ## (f) Greedy or sampled?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(f)"))

# %% [markdown]
# > “it seems impossible to prove whether your method worked or the greedy method did”
# >
# > a user of another such decoder ([1zhou-Wang/MemVR, issue
# > 22](https://github.com/1zhou-Wang/MemVR/issues/22)); a user of VCD found its greedy answers
# > worse than plain greedy ones ([DAMO-NLP-SG/VCD, issue
# > 8](https://github.com/DAMO-NLP-SG/VCD/issues/8))
#
# Greedy decoding may help the base most: where a sampled base loses on a greedy one, a method that
# sharpens the distribution wins that back. The paper decodes greedily, in effect, and so does this
# book; this section has both.

# %%
GAINS = {
    "greedy": objections.difference,
    "drawn": partial(objections.difference, drawn=True),
    "drawn less greedy": objections.drawn_gain,
}
both = ({**line, "how": how, "contrast": line["contrast"].partition(",")[0]}
        for how, measure in GAINS.items()
        for line in measure(subjects, ["VCD", "SCI3", "SCI5", "SCI7"], ["base"]))  # fmt: skip
frame.shown(
    subjects, frame.measured(both), "how", "contrast",
    "Each method less the base over all rows: both greedy; both drawn at temperature 1; and the "
    "second less the first, which comes of drawing and not of the method.",
    name="sampled",
    alt="Panels for greedy and drawn answers and for their difference: four methods less the base, "
    "a dot with its interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## (g) Other benchmarks?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(g)"))

# %% [markdown]
# > “how would VCD perform on LLaVA suite of benchmarks that is not focused on hallucination […]?
# > Would it incur a performance hit on these benchmarks because the VLM uses less language prior?”
# >
# > a user of VCD ([DAMO-NLP-SG/VCD, issue 17](https://github.com/DAMO-NLP-SG/VCD/issues/17))
#
# All test rows of each data set, whether or not a model fails on them. The paper asks these with
# β = 0.8, at which fewer answers can change.

# %%
by_set = (
    line
    for there, where in places
    for line in named(objections.by_dataset(there, ["SCI5", GENTLE], ["base"], where))
)
frame.shown(
    subjects, frame.measured(by_set), "contrast", "dataset",
    "SCI5 less the base on all rows of each data set, at β = 0.3 and at the gentler β.",
    name="by-set",
    alt="A panel for each β, a line a data set: SCI5 less the base, a dot with its interval a "
    "model, in points.",
)  # fmt: skip

# %% [markdown]
# ## (h) Is it sure of itself?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(h)"))

# %% [markdown]
# > A decoder that makes the likeliest answers likelier still is sure where it is wrong.
# >
# > this book, after what a companion asks of compressed models {cite:p}`erol2026edge`
#
# How sure a method is of an answer: what its own scores, as a distribution at temperature 1, give
# it. A method that is as often right as it is sure lies on the diagonal. The Brier score is the
# mean squared distance between how sure it is and whether it is right, 1 or 0; reliability is the
# part of it that lies off the diagonal. Of both less is better. Answers of one token alone.

# %%
SURE = ("base", "VCD", "SCI3", "SCI5")
EDGES = np.linspace(0, 1, objections.BINS + 1)


@cache
def sure(training, name):
    return confidence(training.records, training.replay, METHODS[name])


def in_bin(model, name, at):
    """How often a method is right of the answers that it is as sure of as a bin says."""

    def rows(training):
        test = training.sets("any", "rows")["all"].to_numpy()
        place = np.clip(np.digitize(sure(training, name), EDGES) - 1, 0, objections.BINS - 1)
        return test & np.isfinite(sure(training, name)) & (place == at)

    middle = 50 * (EDGES[at] + EDGES[at + 1])
    return frame.line(model, lambda training: training.right(name), rows, (0.0, 1.0),
                      method=name, sure=middle)  # fmt: skip


along = frame.measured(in_bin(*case) for case in product(subjects, SURE, range(objections.BINS)))
figure, panels = figures.panels([model.shown for model in subjects], 3.6, sharey=True)
for (shown, ax), name in product(panels.items(), SURE):
    part = along[(along["model"] == shown) & (along["method"] == name) & (along["n"] >= 50)]
    frame.curve(ax, part.set_index("sure"), colour(name), name, band=True)
for ax in panels.values():
    ax.plot([0, 100], [0, 100], ":", color=INK, linewidth=1)
    ax.set(xlabel="how sure, %", ylabel="how often right, %")
legend_below(figure, [*panels.values()][:1])
figures.show(
    figure,
    "How often a method is right of the answers that it is this sure of, in bins of ten percent "
    "with 50 answers and more: below the diagonal it is surer than it should be.",
    alt="A panel a model: a line with a band for each method, how sure it is along the horizontal "
    "axis and how often right along the vertical one, and a dotted diagonal.",
)

# %%
SCORES = {"Brier": objections.brier, "reliability": objections.reliability}
scores = [{**line, "method": name, "score": score} for model in subjects for name in SURE[1:]
          for score, of in SCORES.items() for line in of([model], [name], ["base"])]  # fmt: skip
frame.table(
    frame.measured(scores, "method", "score"), ("model", "method"), ("score",), name="scores",
    show=("here", "n"), caption=f"Less the base, hundredths, {tables.INTERVAL}s: above 0 is worse",
)  # fmt: skip

# %% [markdown]
# ## (i) The neighbours?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "(i)"))

# %% [markdown]
# > ICD and VDD are further rounds of the same kernel, and the paper compares with neither.
# >
# > this book ({doc}`../book/deviations`)
#
# ICD subtracts what the model says under a confusing instruction {cite:p}`wang2024icd`, VDD what it
# says without the picture {cite:p}`zhang2024vdd`, each with its own paper's constants.

# %%
beside = objections.difference(subjects, ["SCI5"], ["TIE", "VCD", "M3ID", "ICD", "VDD"], WHERE)
frame.shown(
    subjects, frame.measured(beside), "subset", "contrast",
    "SCI5 less each method that subtracts one spoilt input. A line without a dot is not recorded.",
    name="neighbours",
    alt="A panel for BS and one for all rows: SCI5 less five other methods, a dot with its "
    "interval a model, in points.",
)  # fmt: skip

# %% [markdown]
# ## Use it or not?

# %% tags=["hide-input"]
Markdown(second.conclusion(judged, "use it or not"))

# %% [markdown]
# What somebody has to know who does not know which of their questions are in BS: SCI5 over all
# rows, less the base and less a vote of four wordings, vote(3), which costs fewer tokens.

# %%
overall = frame.measured(objections.difference(subjects, ["SCI5", GENTLE], ["base", "vote(3)"]))
frame.shown(
    subjects, overall, "subset", "contrast",
    "SCI5 less the base and less a vote of four wordings, over all rows, at both β.",
    name="use",
    alt="Four differences over all rows, a dot with its interval a model, in points.",
)  # fmt: skip

# %% tags=["hide-input", "remove-output"]
words = {}
for place in dict.fromkeys(each.claim.place for each in judged):
    there = [each for each in judged if each.claim.place == place]
    words.setdefault(second.verdict_of(there), []).append(
        place[:3] if place[0] == "(" else f"“{place}”"
    )
verbs = {"holds": "hold", "fails": "fail", "inconclusive": "are open",
         "not comparable": "cannot be compared"}  # fmt: skip
counted = [f"{verbs[word]} at {', '.join(places)}" for word, places in words.items()]
said = [f"**Verdict: {second.verdict_of(judged)}.** The claims for SCI5 {'; '.join(counted)}."]
for shown, part in overall[overall["n"] > 0].groupby("model", sort=False):
    gains = [f"{at.contrast} {tables.with_ends(at.estimate, at.low, at.high, key=at.key)}"
             for at in part.itertuples()]  # fmt: skip
    said.append(f"{shown}, over all rows, points: {'; '.join(gains)}.")
at_head.write("\n\n".join(said))

# %% [markdown]
# ## All claims
#
# Each claim by its own interval. If every true difference lay at its margin, chance alone would let
# some hold: how many stands below the table.

# %%
second.table(judged, "prose-judged").fold()

# %% tags=["hide-input"]
count = len({each.claim.id for each in judged})
most = tables.number(count * (1 - LEVEL) / 2, 1)
Markdown(f"By chance alone at most {most} of {count} claims on a model.")

# %% [markdown]
# ## Deviations
#
# - The objections were made to methods on large models. Pocket models can show that an objection
#   is right here, not that it is right there.
# - A shift is fitted for each data set and training on validation rows of its own, which no method
#   has: it is the strongest form of the objection.
# - What an answer of one token draws, and how sure it is, follows from recorded logits, so both are
#   of trainings with logits alone. Tokens outside the recorded ones count as wrong.
# - BS is built by the paper's quantifier, ∃; {doc}`table02_drbench` has the other one.
#
# ## If you change …
#
# - `gentle=0.9`: nearer to the base still. The claims stay judged at their own constants.
# - `image_tokens=1280`: a larger picture makes a reworded question cheaper, and a noisy one dearer.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.
#
# ## Stamp

# %% tags=["hide-input"]
chapters.stamp_of(subjects, [model.beside("oric").path for model in asked])

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

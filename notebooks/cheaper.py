# %% [markdown]
# # What does a gain on B cost elsewhere, and is there a rule or a picture that costs less?
#
# **Claims.** Some method and setting gains on BS and loses nothing over all rows. A rule that
# subtracts less where the dummies disagree gains on BS, more than SCI5 at the same β, and loses
# less than half a point over all rows. And SCI5 with its noise on a picture of a quarter of the
# width and height loses less than half a point on BS, for at most 1.3 times the tokens of the base.
#
# The paper reports what Self-Critical Inference {cite:p}`tang2026sci` gains on BS, the questions
# that a model answers as it does without the picture, and wrongly (B), or otherwise when they are
# reworded (S). Outside BS answers may be lost. So this page, which is the book's own and not the
# paper's, asks what each gain costs: in answers elsewhere, and in tokens.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
extended: str = "data_manifests/records/extended"  # of SCI5's cheaper rounds, if a model has them
quantifier: str = "any"  # of the counterfactual answers that make a row biased or sensitive
beta: float = None  # of SCI along τ2 and along its rounds; None: its own, as in other sweeps
tau2: float = None  # of SCI along β and its rounds; None: its own
tolerated: float = 0.5  # points that a chosen setting may lose over all rows

# %% tags=["hide-input"]
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown

from sci_book.methods import with_constants
from sci_book.papers.sci import rules
from sci_book.papers.sci.chapters import own_rules
from sci_book.papers.sci.chapters.shapes import differs, name_lines
from sci_book.papers.sci.overhead import again, cost, ratio
from sci_book.papers.shared import chapters, figures, gate, stamp, sweeps, tables
from sci_book.papers.shared import frame as framed
from sci_book.papers.shared.answer import Answer
from sci_book.papers.shared.figures import INK, colour, legend_below
from sci_book.papers.shared.pages import named
from sci_book.pipeline import registration
from sci_book.results.controls import READS
from sci_book.results.statistics import verdict
from sci_book.run.method_sets import CHEAPER, EDITED
from sci_core.methods import BASE, ICD, MEANS, METHODS, SCI5, SCI7, VDD, sci

began = stamp.begin()
subjects = chapters.subjects(models, records)
of_rules = own_rules.models(subjects, extended)
judged = own_rules.judged(of_rules)

# %% tags=["hide-input", "nbval-ignore-output"]
at_head = Answer()  # of the frontier: computed below, and written here

# %% tags=["hide-input"]
claims = own_rules.claims(judged)
word = chapters.overall(claim.verdict for claim in claims)
said = [f"- *{claim.means}* {claim.verdict.capitalize()}: {claim.ends}." for claim in claims]
Markdown("\n".join([f"**Verdict, {named('own_rules')}: {word}.**\n", *said]))

# %% [markdown]
# (frontier)=
# ## The frontier: what a gain on B costs elsewhere
#
# **Claim.** Some method and setting gains on BS and loses nothing over all rows: the one chosen on
# validation rows does so on test rows, for each model shown.
#
# Every method along its β, SCI5 along its τ2, and SCI with up to three dummy pictures and three
# rewordings: their answers less the base's in the shipped training, in points, on validation and on
# test rows. Groups of questions are kept together, so none is both chosen by and tested on.

# %%
BETAS = (0.05, 0.1, 0.3, 0.5, 0.8, 0.95)
PARTS = ("B", "outside BS", "BS", "all")
along = {m.name: {f"{m.name}, β {at:g}": with_constants(m, beta=at, tau2=tau2) for at in BETAS}
         for m in EDITED}  # fmt: skip
along["SCI5, along τ2"] = {f"SCI5, τ2 {at:g}": with_constants(SCI5, beta=beta, tau2=at)
                           for at in (0.1, 0.5, 1.0, 2.0, 5.0)}  # fmt: skip
along["SCI of M dummies, N rewordings"] = {
    sci(M, N).name: with_constants(sci(M, N), beta=beta, tau2=tau2)
    for M, N in product(range(4), range(4)) if M != N
}  # fmt: skip
settings = {name: method for line in along.values() for name, method in line.items()}


def changes(model, part, names):
    """By setting that the records settle, and by subset, its answers less the base's, in points."""
    sets, base, change = model.sets(quantifier, rules.SPLIT, part), model.right("base"), {}
    for name in names:
        if set(settings[name].rounds) <= set(model.records.rounds):
            result = sweeps.outcome(model, settings[name])
            if result.enough(sets["all"].to_numpy()):
                change[name] = result.read - base
    return pd.DataFrame(
        {name: {where: 100 * one[sets[where]].mean() if sets[where].any() else np.nan
                for where in PARTS} for name, one in change.items()}, index=PARTS
    ).T  # fmt: skip


test = {model.shown: changes(model, "test", settings) for model in subjects}
further = {}  # of further trainings, the answers that were decoded alone
for model in subjects:
    decoded = [name for name, m in settings.items() if model.trainings[-1].records.policy_of(m)]
    others = [changes(one, "test", decoded) for one in model.trainings[1:]]
    further[model.shown] = pd.concat(others) if others else pd.DataFrame(columns=PARTS)

# %% [markdown]
# Of all settings, the one that gains most on BS of those that lose nothing over all rows, on
# validation rows alone, is tried on test rows. What the records leave open widens its interval.


# %%
def worth_it(frame):
    """The settings that gain on BS and lose nothing over all rows, by their estimates."""
    return frame[(frame["all"] >= 0) & (frame["BS"] > 0)]


lines, picked = {}, {}
for model in subjects:
    fine = worth_it(changes(model, "validation", settings))
    if fine.empty:
        continue
    name = picked[model.shown] = fine["BS"].idxmax()
    for part, margin in (("BS", 0.0), ("all", -tolerated / 100)):
        rows = model.sets(quantifier, rules.SPLIT)[part].to_numpy()
        pair = (sweeps.outcome(model, method) for method in (settings[name], BASE))
        change = sweeps.bounded([(*pair, rows, model.groups)])
        word = verdict(change, margin=margin) if model.fit else "not comparable"
        found = {**chapters.row(change), "verdict": word, "p alone": change.p(margin)}
        lines[f"{model.shown}: {name}, {part}"] = found
chosen = tables.frame_of(lines)

# %% tags=["hide-input", "remove-output"]
said, words = [], list(chosen["verdict"])
for model in subjects:
    fine, everything = worth_it(test[model.shown]), test[model.shown]
    text = f"- {model.shown}: of {len(everything)} settings {len(fine)} gain on BS and lose nothing"
    text += " over all rows, by their estimates."
    if name := picked.get(model.shown):
        ends = chosen.loc[[f"{model.shown}: {name}, {part}" for part in ("BS", "all")]]
        on_bs, over_all = ends[["reproduced", "low", "high"]].to_numpy(dtype=float)
        text += f" Chosen on validation rows: {name}; on test rows {tables.with_ends(*on_bs)} "
        text += f"points on BS and {tables.with_ends(*over_all)} over all."
    elif model.sets(quantifier, rules.SPLIT, "validation")["all"].any():
        text += " On validation rows none does both, so none was tested."
        words.append("inconclusive" if model.fit else "not comparable")
    else:
        text += " There is no validation row to choose one by."
        words.append("not comparable")
    lacking = gate.of_claim(gate.OF_SCI, {model.name: model.unmet_by_trainings})
    said.append(text + (f" Not judged over its trainings: {lacking}." if lacking else ""))
word = chapters.overall(words, chosen["p alone"])
head = f"**Verdict, {named('frontier')}: {word}.** The setting chosen has to gain on BS, and to "
head += f"lose less than {tolerated:g} points over all rows.\n"
at_head.write("\n".join([head, *said]))

# %%
figure, (axes,) = plt.subplots(1, len(subjects), figsize=(figures.WIDTH, 4.2), squeeze=False)
for ax, model in zip(axes, subjects, strict=True):
    frame, others = test[model.shown], further[model.shown]
    if frame["BS"].isna().all():
        figures.nothing(ax, "There is no row in BS, or no setting that the records settle.")
        continue
    ax.plot(others["all"], others["BS"], ".", color="#9ca3af", label="other trainings")
    for name, line in along.items():
        part, method = frame.reindex(line).dropna(), name in METHODS
        style = "o-" if method else "s" if "τ2" in name else "o"
        shade = colour(name if method else "SCI5") if style != "o" else "#9ca3af"
        ax.plot(part["all"], part["BS"], style, color=shade, ms=4, label=name,
                mfc="none" if style == "o" else shade)  # fmt: skip
    if (ring := picked.get(model.shown)) in frame.index:
        ax.plot(*frame.loc[ring, ["all", "BS"]], "o", mfc="none", mec=INK, ms=12, label="chosen")
    ax.axvline(-tolerated, color=INK, linewidth=0.8, linestyle="--")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set(title=model.shown, xlabel="change over all rows, points")
axes[0].set_ylabel("gain on BS, points")
legend_below(figure, ncols=3)
figures.show(
    figure,
    "Gain on BS against the change over all rows, test rows: a line is a method along its β, the "
    f"dashed line the loss that is tolerated{', the ring the setting chosen' if picked else ''}. "
    "Of other trainings only what was decoded is shown.",
    alt="A panel a model: points and lines, the change over all rows in points along the "
    "horizontal axis and the gain on BS in points along the vertical one.",
)

# %%
caption = (
    "The setting chosen on validation rows, on test rows, in points: above 0 on BS, above "
    f"−{tolerated:g} over all rows"
)
tables.compare(chosen, name="chosen", caption=caption, ours="change", paper=False)

# %% [markdown]
# How much room is there? *Any wording right* is no method, since it asks for the truth: it takes
# the right one of the original's answer and those of the rewordings, where there is one. The table
# is of the shipped training.

# %%
oracle = {}
for model in subjects:
    wordings = [name for name in ("original", *SCI7.textual) if name in model.records.rounds]
    best = np.any([model.records.correct(name) for name in wordings], axis=0)
    sets, gain = model.sets(quantifier, rules.SPLIT), best - model.right("base")
    oracle[model.shown] = {where: tables.shown(model.difference(gain, sets[where].to_numpy()))
                           for where in PARTS}  # fmt: skip
caption = f"Any wording right, less the base, test rows, points with {tables.INTERVAL}s"
tables.Table("oracle", pd.DataFrame(oracle, dtype=object).T, caption)

# %% [markdown]
# What do tokens buy otherwise? Beside each method stand the tokens that it reads of a question on a
# picture with 320 image tokens, in multiples of the base's, and through how many rounds each token
# of its answer goes. A vote asks the original and N rewordings, and takes what most of them answer;
# a mean takes that of their log-probabilities. Neither reads a dummy picture, so both cost far less
# than SCI5: no vote here has SCI5's tokens. Where four trainings or more have the answers, a number
# is their mean, and its interval is over them too.

# %%
PRICED = (*EDITED, replace(SCI5, name="SCI5, β 0.8", beta=0.8), ICD, VDD, *MEANS, "vote(2)",
          "vote(3)")  # fmt: skip


def bought(model, method, part):
    """A method less the base, with what it costs."""
    read, rounds = cost(READS.get(method, method), 320)
    paid = f"{tables.number(read / cost(BASE, 320).read)} × base, {rounds} rounds"
    return framed.line(
        model,
        lambda training: training.right(method) - training.right("base"),
        lambda training: training.sets(quantifier, rules.SPLIT)[part],
        method=getattr(method, "name", method), tokens=paid, subset=part,
    )  # fmt: skip


cases = product(subjects, PRICED, ("BS", "all"))
paid = framed.measured((bought(*case) for case in cases), "method", "tokens")
framed.table(
    paid, ("method", "tokens"), ("model", "subset"), name="paid", show=("here",),
    caption=f"What tokens buy: less the base on test groups, points, {tables.INTERVAL}s",
)  # fmt: skip

# %% [markdown]
# (own_rules)=
# ## A rule of our own, and a cheaper SCI5
#
# A setting that loses nothing on one model may lose on the other. SCI5 subtracts from every score
# what the dummy pictures say of it on average, however much they differ. The mean of dummies is an
# estimate of the prior, and what they disagree about is its error. At each step, take every round's
# logits less their mean over the recorded tokens of that step. Let $d$ be VC of a token, the
# original's logit less the dummies' mean, and $s^2$ the variance of the dummies' logits; of two
# dummies it is an estimate of the variance of their mean. The rule keeps of $d$ what Wiener's
# filter keeps of a signal with that error, with $d^2$ for the power of the signal, which is not
# known:
#
# $$\begin{gathered}
# \frac{\mathrm{TC}}{\tau_1} + \frac{1}{\tau_2}\,\frac{d^3}{d^2 + s^2} \\
# \text{in place of}\quad \frac{\mathrm{TC}}{\tau_1} + \frac{d}{\tau_2}.
# \end{gathered}$$
#
# It was chosen on earlier models, among five rules and SCI5 itself at six β, on validation rows
# alone: none gained on BS and lost nothing over all rows on both of them, and this one, at β = 0.8,
# came nearest. (`benchmarks/rules.py` prints what each gains and loses on validation rows of
# today's models.)

# %% tags=["hide-input"]
Markdown(registration.sentence(registered=own_rules.REGISTRATION))

# %%
figure, ax = plt.subplots(figsize=(figures.WIDTH, 3.2))
what = [name.split(": ", 1)[1].replace(own_rules.label(own_rules.RULE), own_rules.RULE)
        for name in judged.index]  # fmt: skip
places, shown = list(dict.fromkeys(what)), list(judged["model"].unique())
shades = figures.model_colours(list(judged["name"].unique()))
if judged.empty:
    figures.nothing(ax, "No model has records with logits, or of the cheaper rounds.")
for name, (_, line) in zip(what, judged.iterrows(), strict=True):
    place, shade = places.index(name), shades[line["name"]]
    height = place + 0.3 * (shown.index(line["model"]) - (len(shown) - 1) / 2)
    ax.hlines(height, line["low"], line["high"], color=shade, linewidth=2.5)
    ax.plot(line["reproduced"], height, "o", color=shade, ms=7, label=line["model"])
    ax.plot([line["margin"]] * 2, [place - 0.4, place + 0.4], color=INK, linewidth=1.2)
if len(judged):
    ax.axvline(0, color=INK, linewidth=0.6, linestyle=":")
    name_lines(ax, places)
    ax.set_xlabel("change, points")
    legend_below(figure)
figures.show(
    figure,
    f"What was predicted of the rule ({own_rules.label(own_rules.RULE)}) and of SCI5-lite, on test "
    "rows of the shipped training: a prediction holds for a model if all of its interval lies to "
    "the right of the bar.",
    alt="A line for each prediction, a dot for each model: the change in points with its interval "
    "along the horizontal axis, and a vertical bar at what it must lie above.",
)

# %%
above = {name: f"{name}, above {tables.number(margin, 1)}"
         for name, margin in judged["margin"].items()}  # fmt: skip
lines, caption = judged.rename(index=above), "What was predicted, on test groups, in points"
tables.compare(lines, name="judged", caption=caption, ours="change", paper=False)

# %% [markdown]
# ### Cheaper rounds
#
# Nearly all that SCI5 costs is one noisy picture. `SCI5-lite` reads the noise of SCI5 on a picture
# of a quarter of the width and height, “tiny” below; “small” noise has half of them. The usual
# prior is the dummies' mean score of each token over the validation rows of the data set: one prior
# for all questions, and no dummy is read. Cost is in tokens, in multiples of the base's first
# question on a picture with 320 or 1,280 image tokens: black kept; “first” of a picture's shape,
# when it is not; “again” of a further question on the same picture.

# %%
tokens, without, wide = (320, 1280), sci(0, 2), {}
priced = {method.name: method for method in (BASE, *CHEAPER, without)}
for name, method in (priced | {own_rules.SHARED: without}).items():
    line = wide[name] = {f"× base, {n:,}": ratio(method, n) for n in tokens}
    line["first, 1,280"] = ratio(method, 1280, cache="cold")
    line["again, 1,280"] = again(method, 1280)
prices = pd.DataFrame.from_dict(wide, orient="index")
tables.plain(prices, name="prices", caption="Tokens of SCI5 with other dummies, × base")

# %%
same = {}
for model, name in product(of_rules, prices.index.drop(SCI5.name)):
    if (one := model.reading(name)) is None:
        continue
    line = same.setdefault(f"{model.ordinary.shown}: {name}", {})
    if name != own_rules.SHARED and one.records.policy_of(priced[name]):
        alike = ~differs(*(one.answers(method)["answer"] for method in (priced[name], SCI5)))
        found = one.share(alike, one.sets("any", rules.SPLIT)["all"].to_numpy())
        line["as SCI5"] = tables.shown(found)
    for part in ("BS", "all"):
        line[part] = tables.shown(own_rules.change(one, name, SCI5.name, part))
columns = ["as SCI5", "BS", "all"]
same = pd.DataFrame.from_dict(same, orient="index", columns=columns, dtype=object)
caption = (
    "On test groups: rows answered as SCI5 answers them, %, and accuracy less SCI5’s in points, "
    f"with {tables.INTERVAL}s; the shipped training"
)
tables.Table("same", same.fillna(tables.MISSING), caption)

# %% [markdown]
# A picture that is asked about again costs no dummy picture: noise is a function of the pixels, so
# `PrefixCache` keeps what was read of it like what was read of the picture. Each dummy round still
# reads the prompt, and the base reads its prompt alone.
#
# ## Deviations
#
# - **SCI with V1 and V2 alone cannot lose outside BS**: there both say what the base says. What it
#   loses is in S∖B, and shows over all rows. V3, which does not define S, can cost something there.
# - What a run decoded stands as decoded; the other settings and the rule are replayed from recorded
#   logits. A setting that the records do not settle on nearly all rows is left out; where no
#   decoded method opened an answer, it is read off the first token.
# - Nothing is corrected for choosing among so many. The numbers of rows differ from those of other
#   pages, which split by rows as the paper does. A model that does not meet {ref}`the conditions
#   <conditions>` is not judged.
# - Tokens are counted for the prompts of {doc}`table07_cost`, black already read and no visual
#   round left out. The gate leaves out many of them and makes each of these methods cheaper.
# - Tokens follow pixels in Qwen2-VL: a quarter of width and height is a sixteenth of the tokens,
#   as counted here. A family that cuts a picture into tiles saves less, LLaVA-NeXT a half or so,
#   and one that gives every picture as many tokens, as LLaVA-1.5 does, saves nothing.
# - A pocket picture has 96 pixels a side. Small and tiny noise have 4 and 1 image tokens on pocket
#   Qwen2-VL in place of 9; on pocket LLaVA-NeXT they have as many as the picture, so there
#   SCI5-lite is SCI5 with a coarser noise. Accuracy is measured here, and cost is counted at the
#   sizes of real pictures.
# - The power of these tests was reckoned for a single one, on earlier models; for SCI5-lite none
#   was. The claims were registered on those models too, with intervals that covered all lines
#   together; now each has its own, an amendment that came with an earlier result at hand
#   ({ref}`registration`). The verdict that it names is of those models.
# - What holds of the rule holds for training 0 of each model, the shipped one. The registered file
#   names the rule, and `sci_book/papers/sci/rules.py` computes it.
#
# ## If you change …
#
# - `tolerated=1`: more may be lost over all rows, so the test of the chosen setting is easier.
# - `beta=0.8`: SCI along τ2 and along its rounds moves towards the base, in gains and losses.
# - `models=[mine]` and `records=runs/mine`: a model of yours, from the folder of `sci evaluate`.

# %% [markdown]
# ## Stamp
#
# The download holds every setting of the frontier less the base on test rows, by part.

# %%
tables.download("cheaper", [
    tables.plain(frame.sort_values("BS", ascending=False), name=f"{name}, points", caption="")
    for name, frame in test.items()
])  # fmt: skip

# %% tags=["hide-input"]
chapters.stamp_of(subjects, [model.cheaper.path for model in of_rules if model.cheaper])

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

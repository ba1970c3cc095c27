# %% [markdown]
# # Edge: what is wrong, why, and does the model know?
#
# **Claims.** The paper's rule for captions lets much pass that is wrong (more than 10 % of all
# captions); semantic drift is the majority of the errors A to C on questions; and confidence
# saturates: more than 99 % of the answers to questions lie in the top bin. Each for each model
# shown.
#
# The Edge Reliability Gap {cite:p}`erol2026edge` counts right answers by a coarse rule, sorts the
# wrong ones by a tree of rules and a text model, and asks whether a model's confidence knows which
# are wrong. In the pocket world a true caption is the whole scene, the family of a question says
# what was asked, and the records hold what the model says to a *black* picture: so the rule, the
# tree and the confidence can themselves be judged.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
judge: str = ""  # a text model that sorts failures: a folder, a hub id, or an endpoint's name
url: str = ""  # an OpenAI-compatible endpoint; its key comes from the environment

# %% tags=["hide-input"]
from functools import partial
from io import BytesIO
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display
from PIL import Image
from scipy.linalg import block_diag
from sklearn.metrics import cohen_kappa_score

from sci_book.data.rows import short_hash
from sci_book.papers.edge import calibration, printed
from sci_book.papers.edge.chapters import measures
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.edge.cider import cider
from sci_book.papers.edge.conditions import KINDS, QUESTIONS
from sci_book.papers.edge.judge import TextJudge
from sci_book.papers.edge.printed import PAPER_PAIR, PAPER_SETS
from sci_book.papers.edge.taxonomy import CATEGORIES, SHARED, Failure, concordance
from sci_book.papers.shared import figures, frame, stamp, tables
from sci_book.papers.shared.intervals import mean_of_means
from sci_book.papers.shared.lines import table_of
from sci_book.papers.shared.text_model import text_model
from sci_book.pipeline import findings as ledger
from sci_book.pocket import edge as pocket
from sci_book.results import statistics

began = stamp.begin()
recorded = edge.read(models, records)

# %% tags=["hide-input"]
sections = ("edge_table04_accuracy", "edge_table05_taxonomy", "edge_table06_calibration")
findings = ledger.of_sections(sections, ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "Captions that pass the paper's rule although they misdescribe their picture; errors A to C on "
    "questions that are semantic drift by the paper's tree; answers to questions with a confidence "
    "of 0.9 or more.",
    xlabel="% of captions, of errors, of answers",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(edge.about(recorded)), edge.rows_table(recorded))

# %% [markdown]
# (edge_table04_accuracy)=
# ## Edge Table 4: what counts as right
#
# An answer is right if it contains the true one or is contained in it, a caption if it shares one
# word of three letters or more with the true one. Both models of the pair by these rules; their
# difference is of the same pictures. Combined is the mean of both kinds, each counting half, as the
# paper's data sets of 2,000 do. A line is over trainings where four or more have the answers; of a
# smaller sister there is one, so the difference from her, like every p, is of the shipped training.


# %%
SHARE, GAP = (0.0, 1.0), (-1.0, 1.0)


def right_of(training, side, kind):
    """A side's answers of one kind; of the difference, the large model's less the compact one's."""
    own = edge.answers(training, kind)
    if side != printed.DIFFERENCE:
        return own
    compact = edge.of_training(recorded.pair[0], training)
    both = edge.paired(edge.answers(compact, kind), own)
    return both.assign(right=both["right two"] - both["right"])


def of_both(training, side):
    """Both kinds together, each counting half."""
    kinds = [right_of(training, side, kind) for kind in KINDS]
    return [statistics.of_mean(rows["right"], rows["group"]) for rows in kinds]


# %%
def table04():
    """Right answers of the compact model, the large one, and their difference, by kind."""
    sides = [(name, model, model.shown) for model, name, _ in recorded.sides]
    sides += [(printed.DIFFERENCE, model, "large − compact") for model in recorded.pair[1:]]
    for side, model, title in sides:
        look, gap = partial(printed.value, "edge_table04", model=side), side == printed.DIFFERENCE
        for kind in KINDS:
            rows = right_of(model, side, kind)
            p = statistics.sign_flip_test(rows["right"], rows["group"]) if gap else np.nan
            span, of_side = GAP if gap else SHARE, partial(right_of, side=side, kind=kind)
            keys = {"what": kind, "side": title, "paper": look(dataset=PAPER_SETS[kind]), "p": p}
            yield edge.line(model, of_side, "right", span, **keys)
        keys = {"what": "combined", "side": title, "paper": look(dataset="Combined")}
        yield frame.score(model, partial(of_both, side=side), mean_of_means, **keys)


accuracy = frame.measured(table04(), "p")
tested = accuracy["p"].notna()
accuracy.loc[tested, "p (Holm)"] = [*map(tables.p_value, statistics.holm(accuracy["p"][tested]))]
frame.table(
    accuracy, ("what", "side"), (), name="table04", decimals=1,
    caption=f"Table 4: accuracy in %, differences in points, with {tables.INTERVAL}s",
    show=("paper", "here", "n", "p (Holm)"),
)  # fmt: skip

# %% [markdown]
# **Other rules,** of the shipped training. Beside the paper's stand the book's own exact reading of
# short answers, captions that say the whole scene and nothing else, and CIDEr-D, which the paper
# names as missing.


# %%
def rules_table(shown, name):
    """What is right in % by each rule, a line a model."""
    lines = {}
    for model in shown:
        questions, captions = (edge.answers(model, kind) for kind in KINDS)
        right = {
            "questions, soft match": questions["right"],
            "questions, exact": questions["parsed"].eq(questions["truth"]),
            "captions, one word": captions["right"],
            "captions, whole scene": measures.exact(captions),
            "passes, but wrong": measures.passing_but_wrong(captions),
        }
        scores = cider(captions["text"].tolist(), [[text] for text in captions["truth"]])
        lines[model.shown] = {rule: 100 * values.mean() for rule, values in right.items()}
        lines[model.shown]["CIDEr"] = pd.Series(scores).mean()
    return table_of(lines, name=name, caption="Right in % by rule; CIDEr-D 0 to 10", decimals=1)


rules_table(recorded.compared, "rules")

# %% [markdown]
# (edge_table05_taxonomy)=
# ## Edge Table 5, Figures 1 and 2: why an answer is wrong
#
# Two judges of one failure: the paper's tree, which sees words alone, and the scene, which knows
# what is there. The tree's column has the failures by the paper's rules, by which few captions may
# be wrong: where there is no failure there is nothing to sort. The scene's has the same wrong
# answers to questions, and the captions that do not say the whole scene. Failures are those of the
# shipped training; the paper's numbers are its judge's, GPT-4o.

# %%
wrong = {each: measures.failures(*reversed(each)) for each in product(KINDS, recorded.compared)}
asked = text_model(judge, url)
for (kind, _), rows in wrong.items() if asked else ():
    failed = [Failure(kind, line.question, line.truth, line.text) for line in rows.itertuples()]
    rows["judge"] = [label.category for label in TextJudge(asked).judge(failed)]


def share_of(labels, category):
    """A category's share of A to C in % with Wilson's interval; of D and E the count."""
    count, among = int((labels == category).sum()), int(measures.among(labels, category).sum())
    if category in SHARED:
        return tables.shown(statistics.wilson(count, among), decimals=1), str(among)
    return str(count) if among else tables.MISSING, str(among)


lines = {}
for kind, (model, name, end), category in product(KINDS, recorded.sides, CATEGORIES):
    paper = printed.value("edge_table05", dataset=PAPER_SETS[kind], model=name, item=category)
    failed = wrong[kind, model]
    label = measures.failures(model, kind, "paper")["label"]
    by = {"the tree": label, "the scene": failed["scene"]}
    by |= {asked.name: failed["judge"]} if asked else {}
    cells = {"paper": tables.number(paper, 1 if category in SHARED else 0)}
    for who, labels in by.items():
        cells[f"by {who}"], cells[f"n, {who}"] = share_of(labels, category)
    lines[f"{kind}, {'large' if end else 'compact'}: {category}"] = cells
meanings = ", ".join(f"{category} {name}" for category, name in CATEGORIES.items())
caption = f"Table 5: A to C in % of these three, D and E as counts ({meanings})"
cells = pd.DataFrame.from_dict(lines, orient="index", dtype=object)  # str would drop the keys
tables.Table("table05", cells, caption)

# %% tags=["hide-input"]
COLOURS = dict(zip("ABCDE", ("#b45309", "#0072b2", "#6b21a8", "#009e73", "#9ca3af"), strict=True))


def stacked(ax, bars):
    """A bar a judge, the categories' shares of all its failures beside one another."""
    for y, counts in enumerate(bars.values()):
        widths = 100 * counts / max(counts.sum(), 1)
        left = widths.cumsum() - widths
        for category in CATEGORIES:
            label = f"{category} {CATEGORIES[category]}" if not y else None
            ax.barh(y, widths[category], left=left[category], color=COLOURS[category], label=label)
    ax.set_yticks(range(len(bars)), list(bars), fontsize=8)
    ax.set_xlabel("failures, %")
    ax.grid(axis="y", visible=False)


if recorded.pair:
    figure, panels = plt.subplots(1, 2, figsize=(figures.WIDTH, 2.6), sharey=True)
    counts = printed.label_counts(printed.PRINTED)
    for ax, kind in zip(panels, KINDS, strict=True):
        paper = pd.DataFrame([counts[name, PAPER_SETS[kind]] for name in PAPER_PAIR])
        both = pd.concat([wrong[kind, model] for model in recorded.pair])
        counted = {"paper, judge": paper.sum(), "here, tree": both["label"].value_counts(),
                   "here, scene": both["scene"].value_counts()}  # fmt: skip
        bars = {who: each.reindex([*CATEGORIES], fill_value=0) for who, each in counted.items()}
        stacked(ax, bars)
        ax.set_title(f"{kind} ({PAPER_SETS[kind]})")
    panels[0].invert_yaxis()
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=7, ncols=5, loc="outside lower center")
    figures.show(
        figure,
        "Figure 1: failures by kind, as the paper’s judge sorts them, and as the tree and the scene"
        " do here, both models of the pair together. A caption fails here where it does not say "
        "the whole scene, for the tree too.",
        alt="Two panels, questions and captions: stacked bars of the shares of five kinds of "
        "failure, one bar for the paper, one for the tree and one for the scene.",
    )

# %% [markdown]
# **The judges against one another.** How often two judges of the same failures agree, and Cohen's
# κ, which the paper leaves open. A text model named in `judge` is asked with the prompt of
# Appendix D, one request a failure; it sees no picture either, and what it does not label is left
# out.

# %%
lines = {}
judges = {"the tree": "label"} | ({asked.name: "judge"} if asked else {})
for (who, column), ((kind, model), rows) in product(judges.items(), wrong.items()):
    judged = rows[rows[column].notna()]
    alike = statistics.share(judged[column] == judged["scene"], judged["group"])
    several_kinds = len({*judged[column], *judged["scene"]}) > 1  # of one category κ is undefined
    kappa = cohen_kappa_score(judged[column], judged["scene"]) if several_kinds else np.nan
    lines[f"{kind}, {model.shown}: {who}"] = {
        "failures": f"{len(judged)}",
        f"same label, %, {tables.INTERVAL}": tables.shown(alike, decimals=0),
        "κ": tables.number(kappa),
    }
cells = pd.DataFrame.from_dict(lines, orient="index", dtype=object)  # str would drop the keys
tables.Table("agreement", cells, "A judge and the scene on the same failures")

# %% [markdown]
# **Concordance.** The paper's κ pairs the n-th failure of one model with the n-th of the other,
# though they are of different pictures. Shuffled orders say what such a κ is worth.

# %%
lines = {}
for kind in KINDS if recorded.pair else ():
    labels = [wrong[kind, model]["label"].tolist() for model in recorded.pair]
    found = concordance(*labels) if all(labels) else None
    paper = printed.value("edge_table05", dataset=PAPER_SETS[kind], metric="kappa")
    lines[kind] = {
        "paper’s κ": tables.number(paper, 3),
        "κ": tables.number(found and found.kappa, 3),
        "of shuffled orders": " to ".join(
            tables.number(found and end, 3) for end in (found and found.low, found and found.high)
        ),
        "profiles apart, %": tables.number(found and 100 * found.distance, 0),
        "failures": " / ".join(str(len(each)) for each in labels),
    }
caption = "Failure-profile concordance of the pair, by the tree; κ is undefined of one category"
table_of(lines, name="concordance", caption=caption).fold()

# %% [markdown]
# **Figure 2.** Failures of both models at once that are of one category in either, by the scene:
# the first of each of two categories among the questions, the first among the captions, as far as
# there are any, so that nobody picked them. Pictures are drawn again from their numbers.

# %%
lines, images = {}, {}
for kind in KINDS if recorded.pair else ():
    both = edge.paired(*(wrong[kind, model] for model in recorded.pair)).sort_index()
    alike = both[both["scene"] == both["scene two"]].drop_duplicates("scene")
    for number, line in alike.head(2 if kind == QUESTIONS else 1).iterrows():
        shown = line[["question", "truth", "text", "text two", "scene"]]
        shown.index = ["question", "truth", "compact", "large", "category"]
        lines[f"{kind[:-1]} {number}"] = shown.to_dict()
        drawn = pocket.MAKERS[kind](number).picture
        if line["group"].endswith(short_hash(drawn)):  # and not of a data set of one's own
            images[f"{kind[:-1]} {number}: {line['scene']}"] = Image.open(BytesIO(drawn))
if images:
    figures.show(
        figures.pictures(images.values(), images),
        "Figure 2: failures of both models, by question and kind.",
        alt="Small drawn pictures, each under the number of its question and the letter of its kind"
        " of failure.",
    )
table_of(lines, name="prose-grid", caption="Failures of both models").fold()

# %% [markdown]
# (edge_table06_calibration)=
# ## Edge Tables 6 and 11 to 14, Figure 3: confidence
#
# Confidence is the geometric mean of an answer's token probabilities (equation 2), here from the
# recorded **raw** logits. Scores that a decoder has already processed hold minus infinity at every
# token it has ruled out, and so saturate at 1 whatever the model believes; the paper's constant
# 0.999 may be of that kind. The expected calibration error (ECE, equation 3) is biased upwards, the
# more the fewer answers a bin has; the average is the mean of both kinds. Where confidence exceeds
# accuracy a model is overconfident. All of this is of the shipped training, which has the logits.


# %%
def by_bin(training, kinds):
    """What the ECE is a function of, by row: each kind in columns of its own."""
    samples = [measures.confident(training, kind) for kind in kinds]
    terms = [calibration.terms(rows["confidence"], rows["right"]) for rows in samples]
    rows = pd.concat(samples if all(map(len, samples)) else [samples[0][:0]])
    return block_diag(*terms)[:, : len(rows)], rows["group"].to_numpy(dtype=object)


def mean_ece(sums):
    """The mean of the ECE of both kinds, pictures of both varying at once."""
    return np.mean([*map(calibration.ece_of_sums, np.split(sums, len(KINDS)))], axis=0)


def over(training, kind):
    """Confidence less accuracy of every answer that has a confidence."""
    rows = measures.confident(training, kind)
    return rows.assign(over=rows["confidence"] - rows["right"])


beside = {model.name: name for model, name, _ in recorded.sides}


def calibrations(shown):
    """ECE by model and kind and their mean, beside the paper's; and confidence less accuracy."""
    for model, kind in product(shown, (*KINDS, "average")):
        kinds, statistic = ([kind], calibration.ece_of_sums)
        if kind == "average":
            kinds, statistic = KINDS, mean_ece
        at = {"dataset": PAPER_SETS.get(kind, "Average"), "model": beside.get(model.name, "")}
        keys = {"what": "ECE", "kind": kind, "paper": printed.value("edge_table06", **at)}
        yield frame.of_sums(model, partial(by_bin, kinds=kinds), statistic, scale=1, **keys)
        if kind != "average":
            yield edge.line(model, partial(over, kind=kind), "over", GAP, what="over", kind=kind)


# %%
def calibration_table(shown):
    """Table 6 of some models."""
    tidy = frame.measured(calibrations(shown), "what")
    caption = f"Table 6: expected calibration error, 10 bins, with {tables.INTERVAL}s"
    of = {"rows": ("kind", "model"), "columns": (), "name": "table06", "caption": caption}
    errors, less = (tidy[tidy["what"] == what] for what in ("ECE", "over"))
    made = frame.table(errors, **of, show=("paper", "here", "n"), decimals=3)
    if len(less):
        points = frame.table(less, **of, show=("here",)).frame["here"].reindex(made.frame.index)
        made.frame["confidence − accuracy, points"] = points.fillna(tables.MISSING)
    return made


calibration_table(recorded.compared)

# %% [markdown]
# **Tables 11 to 14.** Each bin with the interval of what is right in it, the paper's bins
# beside; each answer has a picture of its own. Figure 3 draws them: marks grow with the number of
# answers in a bin, open marks are the paper's bins.

# %%
paper_bins = {
    tuple(place): lines
    for lines, *place in (printed.bins(printed.PRINTED, name) for name in printed.BIN_TABLES)
}
here_bins = {}
for model, kind in product(recorded.compared, KINDS):
    rows = measures.confident(model, kind)
    here_bins[model.name, kind] = calibration.reliability(rows["confidence"], rows["right"])


def in_bin(training, kind, low):
    """The answers of one kind whose confidence lies in the bin from `low`."""
    rows = measures.confident(training, kind)
    return rows[calibration.bin_of(rows["confidence"]) == round(low * calibration.BINS)]


def bins():
    """What is right in each bin of confidence, beside the paper's bins."""
    for model, kind in product(recorded.compared, KINDS):
        ours = here_bins[model.name, kind]
        theirs = paper_bins.get((beside.get(model.name), PAPER_SETS[kind]), ours[:0])
        for low in sorted({*ours["low"], *theirs["low"]}):
            cells = {"kind": kind, "bin": f"from {tables.number(low, 1)}"}
            for who, lines in (("paper", theirs), ("here", ours)):
                own = lines[lines["low"] == low]
                count, sure, right = own[["count", "confidence", "accuracy"]].mean()
                cells |= {f"{who}: count": tables.number(count, 0)}
                cells |= {f"{who}: confidence": tables.number(sure, 3)}
                cells |= {f"{who}: right, %": tables.number(100 * right, 1)}
            yield edge.line(model, partial(in_bin, kind=kind, low=low), "right", **cells)


frame.table(
    frame.measured(bins()), ("kind", "model", "bin"), (), name="bins", decimals=1,
    caption=f"Tables 11 to 14: bins of confidence; right in %, here with {tables.INTERVAL}s",
    show=("paper: count", "paper: confidence", "paper: right, %", "here: count",
          "here: confidence", "here"),
).fold()  # fmt: skip

# %%
figure, panels = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.6), sharex=True, sharey=True)
tints = {name: recorded.colours[model.name] for model, name, _ in recorded.sides}
for ax, kind in zip(panels, KINDS, strict=True):
    ax.plot([0, 1], [0, 1], "--", color="#9ca3af", linewidth=1)
    for model in recorded.compared:
        of, tint = here_bins[model.name, kind], recorded.colours[model.name]
        size = 8 + 160 * of["count"] / max(of["count"].sum(), 1)
        at = of["confidence"], of["accuracy"]
        ax.plot(*at, color=tint, alpha=0.5)
        ax.scatter(*at, s=size, color=tint, label=model.shown)
    for name, marker in zip(PAPER_PAIR, "Ds", strict=True):
        of = paper_bins[name, PAPER_SETS[kind]]
        ax.plot(of["confidence"], of["accuracy"], marker, mfc="white", markersize=5,
                mec=tints.get(name, "#6b7280"), label=f"paper, {name}")  # fmt: skip
    ax.set_title(f"{kind} ({PAPER_SETS[kind]})")
    ax.set(xlabel="confidence", xlim=(0, 1.03), ylim=(-0.03, 1.03))
panels[0].set_ylabel("accuracy")
handles = panels[0].get_legend_handles_labels()
figure.legend(*handles, fontsize=7, ncols=3, loc="outside lower center")
figures.show(
    figure,
    "Figure 3: how often an answer is right beside how sure the model was: below the dashed line "
    "it was too sure.",
    alt="Two panels, questions and captions: accuracy against confidence in bins, a line a "
    "model; open marks are the paper’s two models; a dashed diagonal is perfect calibration.",
)

# %% [markdown]
# **Confidence as a gate.** What the paper asks of confidence: a threshold that lets right answers
# pass and stops wrong ones.

# %%
THRESHOLDS = (0.5, 0.7, 0.9, 0.99)
lines = {}
for model, kind in product(recorded.compared, KINDS):
    rows, cells = measures.confident(model, kind), {}
    for threshold in THRESHOLDS:
        passed = rows["confidence"] >= threshold
        right = tables.number(100 * rows["right"][passed].mean(), 0)
        cells[f"≥ {threshold:g}"] = f"{tables.number(100 * passed.mean(), 0)} ({right})"
    lines[f"{kind}, {model.shown}"] = cells
caption = "Answers that pass a threshold, % (right of them, %)"
table_of(lines, name="gate", caption=caption)

# %% [markdown]
# ## The claims

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table.fold())

# %% [markdown]
# ## Reading and deviations
#
# - **The coarse rule may measure little here.** Captions of different scenes share words, “the”
#   among them, and a three-letter word inside another counts as well.
# - VQAv2 has ten annotators; a pocket question has one answer. The official accuracy of VQAv2
#   needs all ten.
# - The paper asks “Generate a short caption for this image.”; pocket models were trained on
#   “Describe the picture.” and are asked so.
# - **The tree sees one word where there is one.** A wrong answer of one word shares none with the
#   truth, so the tree may say A where a person would say “wrong colour”. Answers yes, no and single
#   letters have no content word at all, and become E. A wrong caption that shares a content word
#   with the true one is B to the tree, whatever it gets wrong.
# - As printed, the tree cannot reach C at all (the audit chapter counts it); this is the published
#   code's order, in which C needs a truth without a content word. Every true caption has some, so
#   the ledger counts “no prior bias in captions” as a claim by construction.
# - “The scene” calls C only what the model says without the picture as well. Yes or no can be wrong
#   in one way only, so there C may be chance.
# - **Captions are underconfident by construction of the rule**: where nearly all of them pass it, a
#   geometric mean over a dozen tokens is hardly ever that sure. So the ledger counts that claim as
#   one by construction, and the claim that no single threshold works leans on the same rule.
# - A yes or a no has the probability of its first token; short answers and captions have those of
#   all their tokens. The end of the answer is not counted, as in equation 2. The paper's bins are
#   closed below and open above; the last one is closed here, or a confidence of 1 would have none.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `judge` and `url`: any local or OpenAI-compatible text model sorts the failures too, in a column
#   of Table 5 and beside the tree. None is named here, and none is called.
# - `THRESHOLDS` of the gate: is there one to trust for both kinds?
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`.

# %% tags=["hide-input"]
further = rules_table(recorded.models, "rules"), calibration_table(recorded.models)
tables.download("edge_errors", further)

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

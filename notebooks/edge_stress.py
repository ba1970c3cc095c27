# %% [markdown]
# # Edge: blur, precision, negation: what breaks a right answer?
#
# **Claims.** The paper's blur costs accuracy, over all questions and captions; the 4-bit precision
# NF4 makes a model more sensitive to blur; and open negation is easier than a false premise: of the
# probes that ask what is *not* in the picture a model passes more than of those that deny what is
# there. Each for each model shown.
#
# The Edge Reliability Gap {cite:p}`erol2026edge` takes pictures that both of its models answer
# rightly, and looks at what the answers survive: a blurred picture, fewer bits, a “not” in the
# question. Here every row is asked again, so that the rows that one model or none has right are
# seen too.
#
# Pocket numbers stand *beside* the paper's. Levels do not carry over.

# %% tags=["parameters", "hide-input"]
models: list = ["pocket-qwen2vl", "pocket-llavanext"]
records: str = "data_manifests/records"
reading: str = "paper"  # of Table 3: "paper" to the letter, "code" as published, "words" on words

# %% tags=["hide-input"]
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from sci_book.papers.edge import printed
from sci_book.papers.edge.calibration import ece, reliability
from sci_book.papers.edge.chapters import models as edge
from sci_book.papers.edge.chapters.measures import changes, confident, corrupted
from sci_book.papers.edge.conditions import KINDS
from sci_book.papers.edge.negation import READINGS, TEMPLATES, draw_rows
from sci_book.papers.edge.printed import PAPER_SETS
from sci_book.papers.edge.statistics import mcnemar_edwards, sensitivity_ratio, wald_difference
from sci_book.papers.shared import figures, frame, stamp, tables
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.corruptions import FAMILIES, NAMES, SEVERITIES
from sci_book.papers.shared.lines import table_of
from sci_book.pipeline import findings as ledger
from sci_book.results import statistics

began = stamp.begin()
recorded = edge.read(models, records)

# %% tags=["hide-input"]
sections = ("edge_table07_blur", "edge_table08_ablations", "edge_table09_negation")
findings = ledger.of_sections(sections, ledger.named(models, records))
Markdown(ledger.conclusion(findings))

# %% tags=["hide-input"]
ledger.show_parts(
    findings,
    "What the paper's blur costs in accuracy, over all questions and captions; how much more it "
    "costs in NF4, on the same rows; how much more often open negation is passed than a false "
    "premise.",
    xlabel="points",
)

# %% [markdown]
# ## Records

# %% tags=["hide-input"]
display(Markdown(edge.about(recorded)), edge.rows_table(recorded))

# %% [markdown]
# (edge_table07_blur)=
# ## Edge Table 7, Figure 4: blur, and more corruptions
#
# A kernel of five taps cuts a Gaussian of sigma 2 off at one sigma: what is applied has a sigma of
# 1.29 pixels. Table 7 takes the rows that both models have right when clean; there no drop that is
# counted is negative (an interval may reach below 0), and clean accuracy is 100 %. In the other
# strata an answer may also come right under blur, so on all rows together the two may partly
# cancel. Of a smaller sister there is one training, so what is set beside her is of the shipped
# one.

# %%
STRATA = {"both right": [1, 1], "compact alone right": [1, 0]}
STRATA |= {"large alone right": [0, 1], "both wrong": [0, 0]}
SHARE, GAP = (0.0, 1.0), (-1.0, 1.0)
compact, large = recorded.pair or (None, None)


def stratum(training, name):
    """The rows of one stratum, of a training of the large model and the compact one's beside it."""
    both = edge.paired(changes(edge.of_training(compact, training)), changes(training), " large")
    return both[(both[["right", "right large"]] == STRATA[name]).all(axis=1)]


def to(low, high, decimals=1):
    """An interval that the paper prints."""
    ends = [tables.number(end, decimals) for end in (low, high)]
    return tables.MISSING if tables.MISSING in ends else " to ".join(ends)


def table07():
    """What stays right of what both have right when clean, and the drop."""
    shown = (("blurred", "right two", SHARE), ("drop", "drop", GAP))
    for (what, column, span), (model, theirs, end) in product(shown, recorded.sides):
        look = partial(printed.value, "edge_table07", model=theirs)
        ends = to(look(metric=f"{what} low"), look(metric=f"{what} high"))
        rows, keys = partial(stratum, name="both right"), {"paper’s interval": ends}
        yield edge.line(large, rows, column + end, span, what=what, side=model.shown,
                        right="both right", paper=look(metric=what), **keys)  # fmt: skip


blur = frame.measured(table07())

# %%
figures.show(
    frame.dots(blur, ("right", "what"), "side", xlabel="percent, or points"),
    "Figure 4: of the answers that both models have right when clean, what stays right under blur, "
    "and what is lost.",
    alt="Two panels, blurred accuracy and drop, a line a model of the pair: a dot with an interval "
    "and a diamond for the paper’s model beside it.",
)

# %%
frame.table(
    blur, ("what", "side"), (), name="table07", decimals=1,
    caption=f"Table 7: accuracy in % and drop in points with {tables.INTERVAL}s; clean it is 100 %",
    show=("paper", "paper’s interval", "here", "n"),
)  # fmt: skip


# %%
def ratio_text(ratio, why):
    """A ratio of drops with its interval, or why it has none."""
    if not ratio.n:
        return f"degenerate: {why}"
    return f"{tables.number(ratio.estimate)}, no bounds" if why else tables.shown(ratio, 1)


tests = {}
if recorded.pair:
    rows = stratum(large, "both right")
    look = partial(printed.value, "edge_table07")
    quoted = printed.PRINTED.quoted("discordant pairs")
    first, second = rows["right two"], rows["right two large"]
    alone = int((first > second).sum()), int((second > first).sum())
    rho, low, high = (look(metric=f"rho{end}") for end in ("", " low", " high"))
    ours = ratio_text(*sensitivity_ratio(rows["drop"], rows["drop large"], rows["group"]))
    p = mcnemar_edwards(*alone), statistics.mcnemar(first, second)
    tests = {
        "right alone: compact, large": (f"{quoted}, {quoted}", f"{alone[0]}, {alone[1]}"),
        "ρ, compact over large": (f"{tables.number(rho)} ({to(low, high, 2)})", ours),
        "p, McNemar with Edwards’ correction": (
            tables.number(look(metric="McNemar p"), 3), tables.number(p[0], 3),
        ),
        "p, McNemar, exact": (tables.MISSING, tables.number(p[1], 3)),
    }  # fmt: skip
cells = pd.DataFrame.from_dict(tests, orient="index", columns=["paper", "here"], dtype=object)
tables.Table("tests", cells, "Rows that both models have right when clean, of the shipped training")

# %%
drops = (
    edge.line(large, partial(stratum, name=name), f"drop{end}", GAP, stratum=name, side=model.shown)
    for name, (model, _, end) in product(STRATA, recorded.sides)
)
frame.table(
    frame.measured(drops), ("stratum", "side"), (), name="strata", decimals=1, show=("here", "n"),
    caption="Drop under blur by stratum of clean answers, points",
)  # fmt: skip

# %% [markdown]
# **More corruptions.** The nineteen of ImageNet-C at severities 1 to 5. Each corruption has sixteen
# questions, the same at all severities; severity 0 is these questions on clean pictures.
# Corruptions take the 240 questions in turn: the last four of the nineteen ask what the first four
# asked.


# %%
def corrupted_by(training, names, severity):
    """The questions of some corruptions at a severity; at 0 the same questions, clean."""
    rows = corrupted(training)
    rows = rows[rows["name"].isin(names) & (rows["severity"] == max(severity, 1))]
    return rows if severity else rows.assign(right=rows["clean"])


def severities():
    """Questions right, by corruption or group of them, and severity."""
    named = {**FAMILIES, "all": NAMES, **{name: [name] for name in NAMES}}
    for model, severity, what in product(recorded.full, (0, *SEVERITIES), named):
        rows = partial(corrupted_by, names=named[what], severity=severity)
        yield edge.line(model, rows, "right", what=what, severity=severity)


curves = frame.measured(severities(), "what", "severity")
curves = curves[curves["n"] > 0]

# %% tags=["hide-input"]
figure, panels = plt.subplots(1, len(FAMILIES), figsize=(figures.WIDTH, 2.9), sharey=True)
groups = zip(panels, FAMILIES.items(), strict=True)
for (ax, (family, names)), model in product(groups, recorded.full):
    mine, tint = curves[curves["model"] == model.shown], recorded.colours[model.name]
    for _, one in mine[mine["what"].isin(names)].groupby("what"):
        ax.plot(one["severity"], one["estimate"], color=tint, lw=0.5, alpha=0.5)
    part = mine[mine["what"] == family]
    low, high = part["low"].astype(float), part["high"].astype(float)
    ax.plot("severity", "estimate", "o-", data=part, color=tint, label=model.shown)
    ax.fill_between(part["severity"].astype(float), low, high, color=tint, alpha=0.15, lw=0)
    ax.set(title=family, xticks=[0, *SEVERITIES], xlabel="severity")
panels[0].set_ylabel("questions right, %")
if recorded.full:
    panels[0].legend(fontsize=7, loc="lower left")
figures.show(
    figure,
    "Accuracy as the picture gets worse, by group of corruptions; bands are intervals, a thin line "
    "is one of the nineteen corruptions. All numbers are in the page's download.",
    alt="Four panels, noise, blur, weather and digital: percent of questions right against "
    "severity from 0 to 5, a line a model with a band for its interval, thin lines for each "
    "corruption.",
)

# %% [markdown]
# (edge_table08_ablations)=
# ## Edge Table 8: precision, scale, architecture
#
# The paper compares two models that differ in scale, precision and architecture at once, and
# separates the three with two more models on the same hundred pictures. The book has records of
# each pocket model in float32 and, of the shipped training alone, in int8 and in NF4, which
# bitsandbytes really computes; and of a smaller Qwen2-VL in float32 and int8: it is too narrow for
# NF4 there.
#
# The pool: rows that both named models have right when clean, in full precision. The smaller sister
# and the models in reduced precision were no part of the selection, and may start below 100 %. A
# drop is over trainings where four or more have the answers; the other columns, and ρ below, are of
# the shipped training.


# %%
def of_pool(training):
    """The rows that all models as they are have right when clean, as this training does them."""
    rows = changes(training)
    for model in recorded.full:
        own = changes(edge.of_training(model, training))
        rows = rows.loc[rows.index.intersection(own.index[own["right"] == 1])]
    return rows


def table08():
    """The drop under blur on the shared pool, of every model."""
    for model in recorded.models:
        rows = of_pool(model)
        clean, blurred = rows["right"].mean(), rows["right two"].mean()
        yield edge.line(
            model, of_pool, "drop", GAP, precision=recorded.precision(model),
            **{"clean, %": 100 * clean, "blurred, %": 100 * blurred},
            retention=tables.number(blurred / clean, 3) if clean > 0 else tables.MISSING,
        )  # fmt: skip


frame.table(
    frame.measured(table08()), ("model",), (), name="table08", decimals=1,
    caption=f"Table 8: blur on the shared pool; the drop in points with its {tables.INTERVAL}",
    show=("precision", "clean, %", "blurred, %", "here", "retention", "n"),
)  # fmt: skip

# %% [markdown]
# **One factor at a time.** The drop of one variant less that of the other, on all rows, so that no
# selection favours either. Scale sets the smaller sister of the first model against it: one family
# and recipe, layers as many and narrower. ρ, equation 1, is the ratio of the two drops; one whose
# denominator does not drop is degenerate and has no number, infinity included; where it may not
# drop at all, ρ has no bounds.

# %%
pairs = []  # factor, what, the model said to be more sensitive, the one it is set against
for model, precision in product(recorded.unreduced, edge.PRECISIONS):
    reduced = recorded.named(f"{model.name}-{precision}")
    pairs.append(("precision", f"{precision} − full, {model.shown}", reduced, model))
if recorded.full:
    first, *others = recorded.full
    small = recorded.named(f"{first.name}-{edge.SMALL}")
    pairs.append(("scale", f"small − standard, {first.shown}", small, first))
    pairs += [("architecture", f"{m.shown} − {first.shown}", m, first) for m in others[:1]]


def against(training, model):
    """The rows of a training and of a model's beside it; `more` is what the first drops more."""
    both = edge.paired(changes(training), changes(edge.of_training(model, training)), " second")
    return both.assign(more=both["drop"] - both["drop second"])


def contrasts():
    """The drop of one variant less that of the other, and their ratio."""
    for factor, what, reduced, model in pairs:
        if reduced:
            rows = against(reduced, model)
            rho = sensitivity_ratio(rows["drop"], rows["drop second"], rows["group"])
            yield edge.line(reduced, partial(against, model=model), "more", GAP,
                            factor=factor, what=what, ρ=ratio_text(*rho))  # fmt: skip


missing = ", ".join(what for _, what, reduced, _ in pairs if not reduced)
caption = "Drop under blur, first less second, in points, on all rows of both; ρ first over second"
caption += f". Without records: {missing}" if missing else ""
frame.table(frame.measured(contrasts()), ("factor", "what"), (), name="contrasts",
            caption=caption, show=("here", "n", "ρ"), decimals=1)  # fmt: skip

# %% [markdown]
# Of the paper's four ratios only that of scale changes one thing alone. What it calls ρ of
# precision sets SmolVLM2 over Qwen2.5-VL-7B, both in FP16: scale and architecture differ, precision
# does not. Its ρ of architecture changes scale as well. The audit chapter reports both.

# %% tags=["hide-input"]
cells = printed.PRINTED.tables["edge_table08"].replace("inf", "degenerate (printed as ∞)")
wide = cells.pivot(index=["model", "item"], columns="metric", values="value")
wide = wide[["clean", "blurred", "change", "retention", "rho"]].fillna(tables.MISSING)
wide.index, wide.columns.name = map(", ".join, wide.index), None
tables.Table("paper-table08", wide.replace("^-", "−", regex=True), "The paper’s Table 8").fold()

# %% [markdown]
# **What precision does to clean answers:** how many change their words, how many more are right,
# and the expected calibration error (ECE).


# %%
def gained(training, model, kind):
    """A reduced model's answers of one kind less those of the model as it is."""
    full = edge.of_training(model, training)
    both = edge.paired(edge.answers(full, kind), edge.answers(training, kind))
    return both.assign(gain=both["right two"] - both["right"])


def changed():
    """Answers in reduced precision against those of the model as it is."""
    for model, precision, kind in product(recorded.unreduced, edge.PRECISIONS, KINDS):
        if reduced := recorded.named(f"{model.name}-{precision}"):
            both = gained(reduced, model, kind)
            full, coarse = (
                tables.number(ece(reliability(rows["confidence"], rows["right"])), 3)
                for rows in (confident(model, kind), confident(reduced, kind))
            )
            yield edge.line(
                reduced, partial(gained, model=model, kind=kind), "gain", GAP, kind=kind,
                **{"other words, %": 100 * (both["text"] != both["text two"]).mean()},
                **{"ECE full": full, "ECE reduced": coarse},
            )  # fmt: skip


frame.table(
    frame.measured(changed()), ("kind", "model"), (), name="changed", decimals=1,
    caption="Clean answers in reduced precision less those of the model as it is, in points",
    show=("other words, %", "here", "ECE full", "ECE reduced", "n"),
).fold()  # fmt: skip

# %% [markdown]
# (edge_table09_negation)=
# ## Edge Tables 3, 9, 10, 15 and Figure 5: negation
#
# The paper takes what both models answered rightly and asks again with a “not”, in four templates.
# `is_not` and `absent` are open. `false_yn` has a false premise; the paper's compact model says
# “yes” to it on every caption. `counter` calls a right answer wrong. Pocket models have never seen
# these sentences in training.

# %% tags=["hide-input"]
read = {"keep_default_na": False, "dtype": str, "index_col": "template"}
prompts, criteria = (
    pd.read_csv(PAPER / f"edge_{name}.csv", **read).drop(columns="table")
    for name in ("table15", "table03")
)
templates = prompts.join(criteria).rename_axis(index=None)
tables.Table("prose-templates", templates, "Tables 15 and 3, as printed")

# %% [markdown]
# Probes of pictures that both models answered rightly, at most a hundred of a kind, drawn by lot.
# Four probes share a picture, and both models share all pictures; an interval takes whole pictures.
# Wald's z and its p take every probe as independent, as the paper does; z and every p are of the
# shipped training. Before the “not” every row was right, so success less 1 is the paper's change.


# %%
def put_to_both(training, kinds=KINDS, templates=tuple(TEMPLATES), reading=reading):
    """The probes put to both models: `success`, `success large`, and `gap`, large − compact."""
    pair = edge.of_training(compact, training), training
    both = edge.paired_probes(*(edge.probes(m, reading=reading) for m in pair), " large")
    drawn = {kind: draw_rows(np.unique(rows)) for kind, rows in both.groupby("kind")["row"]}
    kept = [line.row in drawn[line.kind] for line in both.itertuples()]
    both = both[np.array(kept, dtype=bool)]
    both = both[both["kind"].isin(kinds) & both["template"].isin(templates)]
    return both.assign(gap=both["success large"] - both["success"])


def change(training):
    """What the probes cost: before the “not” every row was right."""
    both = put_to_both(training)
    return both.assign(**{name: both[name] - 1 for name in ("success", "success large")})


def table09():
    """Probes passed under negation, and the change."""
    read = (("negation", put_to_both, SHARE), ("change", change, (-1.0, 0.0)))
    for (what, rows, span), (model, name, end) in product(read, recorded.sides):
        paper = printed.value("edge_table09", dataset="both", model=name, metric=what)
        keys = {"what": what, "side": model.shown, "paper": paper}
        yield edge.line(large, rows, f"success{end}", span, **keys)


frame.table(
    frame.measured(table09()), ("what", "side"), (), name="table09", decimals=1,
    caption=f"Table 9: probes passed in %, and the change in points, with {tables.INTERVAL}s",
    show=("paper", "here", "n"),
)  # fmt: skip


# %%
def gaps():
    """What the large model passes more often, beside the paper's z and p."""
    for kind in (*KINDS, "both") if recorded.pair else ():
        asked = {"dataset": PAPER_SETS.get(kind, kind), "model": printed.DIFFERENCE}
        look = partial(printed.value, "edge_table09", **asked)
        kinds = KINDS if kind == "both" else (kind,)
        rows = put_to_both(large, kinds)
        if not (n := len(rows)):
            continue
        wald = wald_difference(int(rows["success"].sum()), n, int(rows["success large"].sum()), n)
        below, flip = look(metric="p below"), statistics.sign_flip_test(rows["gap"], rows["group"])
        theirs = f"< {below:.0e}" if below > 0 else tables.number(look(metric="p"))
        yield edge.line(
            large, partial(put_to_both, kinds=kinds), "gap", GAP, kind=kind,
            paper=look(metric="gap"),
            **{"paper: z": tables.number(look(metric="z")), "z": tables.number(wald.z)},
            **{"paper: p": theirs, "p of z": tables.p_value(wald.p)},
            **{"p by picture": tables.p_value(flip)},
        )  # fmt: skip


frame.table(
    frame.measured(gaps()), ("kind",), (), name="negation-gap", decimals=1,
    caption="Table 9: large − compact in points; p of no gap, by picture the sign-flip test’s",
    show=("paper", "here", "n", "paper: z", "z", "paper: p", "p of z", "p by picture"),
)  # fmt: skip


# %%
MORE = "large − compact"


def table10():
    """Probes passed by template, and by how much more of them the large model passes."""
    for template, kind in product((*TEMPLATES, "average"), KINDS):
        templates = tuple(TEMPLATES) if template == "average" else (template,)
        rows, keys = partial(put_to_both, kinds=(kind,), templates=templates), {"kind": kind}
        for model, name, end in recorded.sides:
            at = {"dataset": PAPER_SETS[kind], "model": name, "item": template}
            yield edge.line(large, rows, f"success{end}", template=template, what=model.shown,
                            paper=printed.value("edge_table10", **at), **keys)  # fmt: skip
        if recorded.pair and template != "average":
            own = rows(large)
            p = statistics.sign_flip_test(own["gap"], own["group"]) if len(own) else 1.0
            yield edge.line(large, rows, "gap", GAP, template=template, what=MORE, p=p, **keys)


by_template = frame.measured(table10(), "template", "kind", "what", "paper", "p")
compared = by_template["what"] == MORE
by_template.loc[compared, "Holm’s p"] = [
    tables.number(p, 3) for p in statistics.holm(by_template["p"][compared])
]
figures.show(
    frame.dots(by_template[~compared], ("kind", "what"), "template", xlabel="probes passed, %"),
    "Figure 5 and Table 10: the share of probes passed, by probe, beside the paper’s.",
    alt="Panels, questions and captions by the small and the standard model, a line a probe and "
    "one for the average: dots with intervals for percent passed, diamonds for the paper’s models.",
)

# %% [markdown]
# **Three readings of Table 3.** The paper's criteria to the letter (`paper`), as the published code
# has them (`code`), and on whole words (`words`), of the same replies.

# %%
lines = {}
for name in READINGS if recorded.pair else ():
    rows = put_to_both(large, reading=name)
    for model, _, end in recorded.sides:
        by = 100 * rows.groupby("template")[f"success{end}"].mean().reindex([*TEMPLATES])
        lines[f"{name}: {model.shown}"] = by.to_dict()
table_of(lines, name="readings", caption="Success in % by reading of Table 3", decimals=0).fold()

# %% [markdown]
# **Replies** to the first question and caption probed, right or wrong.

# %%
lines = {}
for model, kind in product(recorded.full, KINDS):
    mine, own = edge.probes(model).query("kind == @kind"), edge.answers(model, kind)["text"]
    for probe in mine[mine["row"] == mine["row"].min()].itertuples():
        lines[f"{model.shown}, {kind} {probe.row}, {probe.template}"] = {
            "its own answer": own[probe.row],
            "its reply": probe.text,
            "passes": "yes" if probe.success else "no",
        }
table_of(lines, name="prose-replies", caption="Replies to the first picture of each kind").fold()

# %% [markdown]
# ## The claims

# %% tags=["hide-input"]
for table in ledger.tables(findings):
    display(table.fold())

# %% [markdown]
# ## Reading and deviations
#
# - **A blur in pixels is more to a small picture.** Pocket pictures are 96 pixels wide; the
#   constants of all corruptions are the published ones, made for pictures of 224. The code is ours,
#   on SciPy and Pillow; `papers.shared.corruptions` lists what differs from the published one.
# - McNemar's test is exact; Edwards' correction stands beside it because the paper prints it,
#   without the clamp at zero that would give 1 at equal counts.
# - The ratio ρ has no value where the second model does not drop, and no bounds where by its own
#   interval it may not. The paper's own drops, 0 to 4 of 100 pictures, cannot differ significantly
#   in any pairing (the audit chapter); an interval that reaches zero here says no more than that.
# - In int8 bitsandbytes chooses outlier columns over a whole batch, so that an answer may depend on
#   its neighbours. The batch size is part of the stamp. In reduced precision the base alone is
#   asked, without any counterfactual round. NF4's arithmetic is bitsandbytes' fallback on the
#   processor; its results are those of its blocks, its speed is not that of a GPU.
# - **A pass is not an understanding.** A reply “no” passes `is_not` because it lacks the answer,
#   and it passes `false_yn` as well. An answer “no” turns the criteria round: “Is it true that ‘no’
#   is NOT shown” is no sentence about a picture. The paper asks it of yes/no questions too, and so
#   it is asked here.
# - `{answer}` is the model's own right answer, as the paper says; its code takes the ground truth.
#   Up to 80 rows of each kind are probed, and of those the rows that both models have right are
#   compared; the paper takes 100.
# - {doc}`Deviations <../book/deviations>` lists the rest.
#
# ## If you change …
#
# - `reading=words`: an echo of the answer no longer passes, and an article counts for nothing.
# - `models=[pocket-llavanext, pocket-qwen2vl]`: the first model is the large one of the pair, and
#   the second stands in for its smaller sister.
# - `models=[mine]` and `records=runs/mine-pocket-all/records`: a model of yours, from the
#   folder of `make reproduce MODEL=mine`.

# %% tags=["hide-input"]
of = {"name": "severities", "caption": "Questions right, %", "show": ("here", "n"), "decimals": 1}
by_severity = frame.table(curves.astype({"severity": str}), ("what", "model"), ("severity",), **of)
of = {"name": "table10", "caption": "Probes passed, and large − compact", "decimals": 1}
probed = frame.table(by_template, ("template", "kind", "what"), (), **of,
                     show=("paper", "here", "n", "Holm’s p"))  # fmt: skip
tables.download("edge_stress", [by_severity, probed])

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

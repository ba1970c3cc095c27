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
from sci_book.papers.shared import figures, stamp, tables
from sci_book.papers.shared.chapters import PAPER, levels, row, side
from sci_book.papers.shared.corruptions import FAMILIES, NAMES, SEVERITIES
from sci_book.papers.shared.lines import compared, points, table_of
from sci_book.pipeline import findings as ledger
from sci_book.results import statistics

began = stamp.begin()
recorded = edge.read(models, records)
ours = side(recorded.pair)

# %% tags=["hide-input"]
findings = []
for section in ("edge_table07_blur", "edge_table08_ablations", "edge_table09_negation"):
    of_section = ledger.of_page(section, ledger.named(models, records))
    display(Markdown(ledger.conclusion(of_section)))
    findings += of_section

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
# 1.29 pixels. Table 7 takes the rows that both models have right when clean; there a drop cannot be
# negative, and clean accuracy is 100 %. In the other strata an answer may also come right under
# blur, so on all rows together the two partly cancel.

# %%
STRATA = ("both right", "compact alone right", "large alone right", "both wrong")
strata = {name: pd.DataFrame() for name in STRATA}
if recorded.pair:
    rows = edge.paired(*map(changes, recorded.pair), " large")
    right = rows[["right", "right large"]].astype(bool).to_numpy()
    cases = zip(STRATA, product((True, False), repeat=2), strict=True)
    strata = {name: rows[(right == case).all(axis=1)] for name, case in cases}
both_right = strata["both right"]
lines, printed_ends = {}, []
for model, name, end in recorded.sides:
    look = partial(printed.value, "edge_table07", model=name)
    blurred = statistics.share(both_right[f"right two{end}"], both_right["group"])
    drop = statistics.difference(both_right[f"drop{end}"], both_right["group"])
    lines[f"blurred, {model.shown}"] = row(blurred, paper=look(metric="blurred"))
    lines[f"drop, {model.shown}"] = row(drop, paper=look(metric="drop"))
    printed_ends += [tables.MISSING]
    printed_ends += [tables.interval(look(metric="drop low"), look(metric="drop high"), 1)]
caption = "Table 7: accuracy in % and drop in points; clean it is 100 %"
table07 = compared(lines, recorded.pair, name="table07", caption=caption, decimals=1)
table07.frame.insert(1, "paper’s interval", printed_ends)
display(table07)

# %%
figure, ax = plt.subplots(figsize=(0.75 * figures.WIDTH, 2.8))
for turn, (model, name, _) in enumerate(recorded.sides):
    line = lines[f"blurred, {model.shown}"]
    x, colour = np.array([0, 1]) + 0.06 * (turn - 0.5), model.colour
    ax.plot(x, [100, line["reproduced"]], "o-", color=colour, label=model.shown)
    ax.vlines(x[1], line["low"], line["high"], color=colour, linewidth=2.5)
    ax.plot(x, [100, line["paper"]], "D:", mfc="white", color=colour, label=f"paper, {name}")
ax.set(xticks=[0, 1], xticklabels=["clean", "blurred"], xlim=(-0.3, 1.3), ylabel="accuracy, %")
if recorded.pair:
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
figures.show(
    figure,
    "Figure 4: what was right without blur, and how much of it stays right under blur.",
    alt="Lines from clean to blurred: percent right of the answers that were right on clean "
    "pictures, for the pocket models with intervals and for the paper’s two models as open marks.",
)


# %%
def ratio_text(ratio):
    """A ratio of drops with its interval, or why it has none."""
    if ratio.value is None:
        return f"degenerate: {ratio.degenerate}"
    if ratio.low is None:
        return f"{tables.number(ratio.value)}, no bounds"
    return tables.with_ends(*ratio[:3])


tests = {}
if recorded.pair:
    look, quoted = (
        partial(printed.value, "edge_table07"),
        printed.PRINTED.quoted("discordant pairs"),
    )
    compact, large = both_right["right two"], both_right["right two large"]
    alone = int((compact > large).sum()), int((large > compact).sum())
    rho = sensitivity_ratio(both_right["drop"], both_right["drop large"], both_right["group"])
    theirs = tables.with_ends(*(look(metric=f"rho{end}") for end in ("", " low", " high")))
    edwards, exact = mcnemar_edwards(*alone), statistics.mcnemar(compact, large)
    tests = {
        "right alone: compact, large": (f"{quoted}, {quoted}", f"{alone[0]}, {alone[1]}"),
        "ρ, compact over large": (theirs, ratio_text(rho)),
        "p, McNemar with Edwards’ correction": (
            tables.number(look(metric="McNemar p"), 3),
            tables.number(edwards, 3),
        ),
        "p, McNemar, exact": (tables.MISSING, tables.number(exact, 3)),
    }
frame = pd.DataFrame.from_dict(tests, orient="index", columns=["paper", ours])
tables.Table("tests", frame, f"{len(both_right)} rows that both models have right when clean")

# %%
lines = {}
for (name, rows), (model, _, end) in product(strata.items(), recorded.sides):
    drop = statistics.difference(rows[f"drop{end}"], rows["group"])
    lines[f"{name}: {model.shown}"] = {"rows": len(rows), **points("drop, points", drop)}
table_of(lines, name="strata", caption="Drop under blur by stratum of clean answers", decimals=1)

# %% [markdown]
# **More corruptions.** The nineteen of ImageNet-C at severities 1 to 5. Each corruption has sixteen
# questions, the same at all severities; severity 0 is these questions on clean pictures.
# Corruptions take the 240 questions in turn: the last four of the nineteen ask what the first four
# asked.

# %%
lines = []
for model in recorded.full:
    rows = corrupted(model)
    for what, names in {**FAMILIES, "all": NAMES, **{name: [name] for name in NAMES}}.items():
        mine = rows[rows["name"].isin(names)]
        for severity in (0, *SEVERITIES) if len(mine) else ():
            part = mine[mine["severity"] == max(severity, 1)]
            right = statistics.share(part["right" if severity else "clean"], part["group"])
            lines.append((model.shown, what, severity, *right.times(100)[:4]))
columns = {"model": str, "what": str, "severity": int, "right": float, "low": float, "high": float}
curves = pd.DataFrame(lines, columns=[*columns, "n"]).astype(columns)

# %% tags=["hide-input"]
figure, panels = plt.subplots(1, len(FAMILIES), figsize=(figures.WIDTH, 2.9), sharey=True)
groups = zip(panels, FAMILIES.items(), strict=True)
for (ax, (family, names)), model in product(groups, recorded.full):
    mine = curves[curves["model"] == model.shown].set_index("what")
    for name in mine.index.intersection(names):
        ax.plot("severity", "right", data=mine.loc[name], color=model.colour, lw=0.5, alpha=0.5)
    part = mine[mine.index == family]
    ax.plot("severity", "right", "o-", data=part, color=model.colour, label=model.shown)
    ax.fill_between("severity", "low", "high", data=part, color=model.colour, alpha=0.15, lw=0)
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
# each pocket model in float32, in int8 and in NF4, which bitsandbytes really computes, and of a
# smaller Qwen2-VL in the first two: it is too narrow for NF4 there.
#
# The pool: rows that both named models have right when clean, in full precision. The smaller sister
# and the models in reduced precision were no part of the selection, and may start below 100 %.

# %%
pool, lines = None, {}
for model in recorded.full:
    right = changes(model).query("right == 1").index
    pool = right if pool is None else pool.intersection(right)
for model in recorded.models:
    rows = changes(model)
    rows = rows.loc[rows.index.intersection(pool)]
    clean, blurred = rows["right"].mean(), rows["right two"].mean()
    lines[model.shown] = {
        "precision": model.precision,
        "clean, %": 100 * clean,
        "blurred, %": 100 * blurred,
        **points("drop, points", statistics.difference(rows["drop"], rows["group"])),
        "retention": f"{blurred / clean:.3f}" if clean > 0 else tables.MISSING,
        "n": len(rows),
    }
table_of(lines, name="table08", caption="Table 8: blur on the shared pool", decimals=1)

# %% [markdown]
# **One factor at a time.** The drop of one variant less that of the other, on all rows, so that no
# selection favours either. Scale sets the smaller sister of the first model against it: one family
# and recipe, layers as many and narrower. ρ, equation 1, is the ratio of the two drops; one whose
# denominator does not drop is degenerate and has no number, infinity included.

# %%
contrasts = []  # what, factor, the model said to be more sensitive, the one it is set against
for model, precision in product(recorded.unreduced, edge.PRECISIONS):
    reduced = recorded.named(f"{model.name}-{precision}")
    if reduced or model in recorded.full:  # the smaller sister may be too narrow for it
        contrasts.append((f"{precision} − full, {model.shown}", "precision", reduced, model))
if recorded.full:
    large, second = (*recorded.full, None)[:2]
    small = recorded.named(f"{large.name}-{edge.SMALL}")
    contrasts.append((f"small − standard, {large.shown}", "scale", small, large))
    title = f"{second.shown if second else 'another'} − {large.shown}"
    contrasts.append((title, "architecture", second, large))
lines, rho = {}, {}
for what, factor, first, model in contrasts:
    drop, ratio = statistics.NO_DATA, "no records"
    if first and model:
        both = edge.paired(changes(first), changes(model), " second")
        drop = statistics.difference(both["drop"] - both["drop second"], both["group"])
        ratio = ratio_text(sensitivity_ratio(both["drop"], both["drop second"], both["group"]))
    lines[f"{factor}: {what}"], rho[f"{factor}: {what}"] = row(drop), ratio
caption = "Drop under blur, first less second, in points, on all rows of both; ρ first over second"
caption += ", without bounds where the second may not drop at all"
where = {"name": "contrasts", "caption": caption, "ours": side(recorded.models)}
contrast_table = levels(tables.frame_of(lines), decimals=1, paper=False, **where)
contrast_table.frame["ρ"] = list(rho.values())
display(contrast_table)

# %% [markdown]
# Of the paper's four ratios only that of scale changes one thing alone. What it calls ρ of
# precision sets SmolVLM2 over Qwen2.5-VL-7B, both in FP16: scale and architecture differ, precision
# does not. Its ρ of architecture changes scale as well. The audit chapter reports both.

# %%
cells = printed.PRINTED.tables["edge_table08"].replace("inf", "degenerate (printed as ∞)")
wide = cells.pivot(index=["model", "item"], columns="metric", values="value")
wide = wide[["clean", "blurred", "change", "retention", "rho"]].fillna(tables.MISSING)
wide.index, wide.columns.name = map(", ".join, wide.index), None
tables.Table("paper-table08", wide.replace("^-", "−", regex=True), "The paper’s Table 8").fold()

# %% [markdown]
# **What precision does to clean answers:** how many change their words, how many more are right,
# and the expected calibration error (ECE).

# %%
lines = {}
for model, precision, kind in product(recorded.unreduced, edge.PRECISIONS, KINDS):
    if reduced := recorded.named(f"{model.name}-{precision}"):
        both = edge.paired(model.answers(kind), reduced.answers(kind))
        gain = statistics.difference(both["right two"] - both["right"], both["group"])
        full, coarse = (
            ece(reliability(rows["confidence"], rows["right"]))
            for rows in (confident(model, kind), confident(reduced, kind))
        )
        lines[f"{kind}, {reduced.shown}"] = {
            "other words, %": 100 * (both["text"] != both["text two"]).mean(),
            **points("accuracy, points", gain),
            "ECE full": tables.number(full, 3),
            "ECE reduced": tables.number(coarse, 3),
            "n": len(both),
        }
caption = "Clean answers in reduced precision, against the model as it is"
table_of(lines, name="changed", caption=caption, decimals=1).fold()

# %% [markdown]
# (edge_table09_negation)=
# ## Edge Tables 3, 9, 10, 15 and Figure 5: negation
#
# The paper takes what both models answered rightly and asks again with a “not”, in four templates.
# `is_not` and `absent` are open. `false_yn` has a false premise; the paper's compact model says
# “yes” to it on every caption. `counter` calls a right answer wrong. Pocket models have never seen
# these sentences in training.

# %%
read = {"keep_default_na": False, "dtype": str, "index_col": "template"}
prompts, criteria = (
    pd.read_csv(PAPER / f"edge_{name}.csv", **read).drop(columns="table")
    for name in ("table15", "table03")
)
frame = prompts.join(criteria).rename_axis(index=None)
tables.Table("prose-templates", frame, "Tables 15 and 3, as printed")

# %% [markdown]
# Probes of pictures that both models answered rightly, at most a hundred of a kind, drawn by lot.
# Four probes share a picture, and both models share all pictures; the intervals by picture, and the
# paired ones, take whole pictures. Wilson's and Wald's take every probe as independent, as the
# paper does. Before the “not” every row was right, so success less 1 is the paper's change.


# %%
def probes_of_both(reading):
    """The probes put to both models of the pair: `success` and `success large`."""
    if not recorded.pair:
        return pd.DataFrame(columns=["kind", "row", "template", "group", "success"])
    both = edge.paired_probes(*(m.probes(reading=reading) for m in recorded.pair), " large")
    drawn = both.groupby("kind")["row"].transform(
        lambda rows: rows.isin(draw_rows(np.unique(rows)))
    )
    return both[drawn.astype(bool)]


def passed(rows, end):
    """The share passed by the model whose columns have an `end`, with Wilson's interval."""
    return statistics.wilson(int(rows[f"success{end}"].sum()), len(rows))


probes, lines = probes_of_both(reading), {}
for model, name, end in recorded.sides:
    look = partial(printed.value, "edge_table09", dataset="both", model=name)
    success, group, paper = probes[f"success{end}"], probes["group"], look(metric="negation")
    by_picture = statistics.share(success, group)
    change = statistics.mean(success - 1, group, span=(-1.0, 0.0))
    lines[f"success, {model.shown} (Wilson)"] = row(passed(probes, end), paper=paper)
    lines[f"success, {model.shown} (by picture)"] = row(by_picture, paper=paper)
    lines[f"change, {model.shown} (by picture)"] = row(change, paper=look(metric="change"))
caption = "Table 9: probes passed in %, and the change in points"
compared(lines, recorded.pair, name="table09", caption=caption, decimals=1)

# %%
lines = {}
for kind in (*KINDS, "both") if recorded.pair else ():
    asked = {"dataset": PAPER_SETS.get(kind, kind), "model": printed.DIFFERENCE}
    look = partial(printed.value, "edge_table09", **asked)
    mine = probes if kind == "both" else probes[probes["kind"] == kind]
    if n := len(mine):
        compact, large = int(mine["success"].sum()), int(mine["success large"].sum())
        gaps = mine["success large"] - mine["success"]
        gap = statistics.difference(gaps, mine["group"])
        wald, below = wald_difference(compact, n, large, n), look(metric="p below")
        flip = statistics.sign_flip_test(gaps, mine["group"])
        lines[kind] = {
            "paper": tables.number(look(metric="gap"), 1),
            f"{ours}, by picture": tables.shown(gap, decimals=1),
            "Wald’s interval": tables.interval(100 * wald.low, 100 * wald.high, 1),
            "n": n,
            "paper: z": tables.number(look(metric="z")),
            f"{ours}: z": tables.number(wald.z),
            "paper: p": f"< {below:.0e}" if below > 0 else tables.number(look(metric="p")),
            f"{ours}: p of z": tables.p_value(wald.p),
            "p by picture": tables.p_value(flip),
        }
caption = "Table 9: large − compact in points; p of no gap, by picture the sign-flip test’s"
table_of(lines, name="negation-gap", caption=caption)

# %%
lines, by_template, p = {}, {}, []
for template, kind in product((*TEMPLATES, "average"), KINDS):
    templates = [*TEMPLATES] if template == "average" else [template]
    mine = probes[(probes["kind"] == kind) & probes["template"].isin(templates)]
    for _, name, end in recorded.sides:
        success = passed(mine, end)
        if template == "average":
            success = statistics.share(mine[f"success{end}"], mine["group"])
        paper = printed.value("edge_table10", dataset=PAPER_SETS[kind], model=name, item=template)
        cell = tables.shown(success, decimals=0)
        head = f"{kind}, {'large' if end else 'compact'}"
        lines.setdefault(template, {})[head] = f"{cell} ({paper:g})"
    if template != "average" and recorded.pair:
        gaps = mine["success large"] - mine["success"]
        gap = statistics.difference(gaps, mine["group"])
        by_template[f"{kind}, {template}"] = {**points("gap, points", gap), "n": gap.n}
        p.append(statistics.sign_flip_test(gaps, mine["group"]) if gap.n else 1.0)
for cells, adjusted in zip(by_template.values(), statistics.holm(p), strict=True):
    cells["Holm’s p"] = tables.number(adjusted, 3)
pictures = ", ".join(f"{kind} {probes['row'][probes['kind'] == kind].nunique()}" for kind in KINDS)
caption = "Table 10: success in %, Wilson’s interval (average: by picture), and the paper’s; "
caption += f"pictures: {pictures}"
table_of(lines, name="table10", caption=caption)

# %% tags=["hide-input"]
figure, panels = plt.subplots(1, 2, figsize=(figures.WIDTH, 3.2), sharey=True)
for (ax, kind), (turn, (model, name, end)) in product(
    zip(panels, KINDS, strict=True), enumerate(recorded.sides)
):
    for x, template in enumerate(TEMPLATES):
        success = passed(probes.query("kind == @kind and template == @template"), end).times(100)
        paper = printed.value("edge_table10", dataset=PAPER_SETS[kind], model=name, item=template)
        at, first = x + 0.36 * (turn - 0.5), not x
        if success.n:
            label = model.shown if first else None
            ax.bar(at, success.estimate, 0.34, color=model.colour, label=label)
            ax.vlines(at, success.low, success.high, color=figures.INK)
        ax.plot(at, paper, "Ds"[turn], mfc="white", mec=figures.INK, markersize=5,
                label=f"paper, {name}" if first else None)  # fmt: skip
    ax.set_xticks(range(len(TEMPLATES)), list(TEMPLATES), fontsize=8)
    ax.set(title=f"{kind} ({PAPER_SETS[kind]})", ylim=(-3, 105))
    ax.grid(axis="x", visible=False)
panels[0].set_ylabel("probes passed, %")
if recorded.pair:
    panels[1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
figures.show(
    figure,
    "Figure 5: the share of probes passed, by probe, beside the paper’s.",
    alt="Two panels, questions and captions, bars in pairs for four probes: percent passed by the "
    "small and the standard model with intervals; diamonds for the paper’s two models.",
)

# %% [markdown]
# **Three readings of Table 3.** The paper's criteria to the letter (`paper`), as the published code
# has them (`code`), and on whole words (`words`), of the same replies.

# %%
lines = {}
for name in READINGS if recorded.pair else ():
    rows = probes_of_both(name)
    for model, _, end in recorded.sides:
        by = 100 * rows.groupby("template")[f"success{end}"].mean().reindex([*TEMPLATES])
        lines[f"{name}: {model.shown}"] = by.to_dict()
table_of(lines, name="readings", caption="Success in % by reading of Table 3", decimals=0).fold()

# %% [markdown]
# **Replies** to the first question and caption probed, right or wrong.

# %%
lines, counts = {}, {}
for model, kind in product(recorded.full, KINDS):
    mine, own = model.probes().query("kind == @kind"), model.answers(kind)["text"]
    counts.setdefault(model.shown, []).append(f"{mine['row'].nunique()} {kind}")
    for probe in mine[mine["row"] == mine["row"].min()].itertuples():
        lines[f"{model.shown}, {kind} {probe.row}, {probe.template}"] = {
            "its own answer": own[probe.row],
            "its reply": probe.text,
            "passes": "yes" if probe.success else "no",
        }
probed = "; ".join(f"{model}: {' and '.join(each)}" for model, each in counts.items())
display(Markdown(f"Pictures probed. {probed or 'None'}."))
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
# - `models=[mine]` and `records=runs`: a model of yours, with records of `sci probe edge`.

# %% tags=["hide-input"]
severities = {}
for line in curves.itertuples():
    cells = severities.setdefault(f"{line.what}, {line.model}", {"n": line.n})
    cells[f"severity {line.severity}"] = tables.with_ends(line.right, line.low, line.high, 1)
further = [
    table_of(severities, name="severities", caption="Questions right, %"),
    table_of(by_template, name="gaps", caption="Success, large − compact", decimals=1),
]
tables.download("edge_stress", further)

# %% [markdown]
# ## Stamp

# %% tags=["hide-input"]
edge.stamp_of(recorded)

# %% tags=["hide-input", "nbval-ignore-output"]
stamp.circumstances(began)

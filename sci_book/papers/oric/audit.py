"""The paper's printed numbers against each other (Tables 1, 3 to 5, 7, 8, 10; Figures 3, 4, 10).

Every finding is computed from the transcribed tables and sentences: what is printed, what the
others imply, and whether the two agree. A printed number stands for every value that rounds to it.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from sci_book.papers.oric.scores import COUNTS, SIZES, metrics
from sci_book.papers.shared.audit import (
    CONSISTENT,
    EPSILON,
    INCONSISTENT,
    UNTOLD,
    Finding,
    Mark,
    PrintedTables,
    Verdict,
    agreement,
    half_unit,
    table_title,
)

PROMPTS = 4
_FULL = ("oric_table10", "oric_table05")  # tables with values by class
_HALF = 0.005  # half a unit of the last digit of every percentage
ROW_LABELS = ("part", "model", "item")
"""Fields that label the rows of a redrawn table; the others head its columns."""
ABOVE_RECALL = "On as many questions of both labels no macro F1 is above its macro recall."
NO_RECALL = "No mean of four prompts over the questions gives this recall."
NO_MACRO = "The overall value is not the mean of the values of yes and of no."
NO_SHARE = "The two recalls allow no share of yes this large."
NO_SIZES = "The recalls by size in Table 4 and the shares in Figure 10 give another recall."


class Printed(PrintedTables):
    """The paper's tables and sentences."""

    paper = "oric"

    def models(self, table: str, part: str | None = None) -> list[tuple[str, str]]:
        """Part and model of every row of a table, in its order."""
        frame = self.tables[table]
        rows = zip(frame["part"], frame["model"], strict=True)
        return [pair for pair in dict.fromkeys(rows) if part in (None, pair[0])]

    def row(self, table: str, model: str, part: str | None = None) -> dict[str, float]:
        """A row's values by label and metric, such as "overall f1"; empty where there is none.

        `part` is needed where a table has a model in several.
        """
        mine = self.rows(table, model=model, **({} if part is None else {"part": part}))
        names = (mine["label"] + " " + mine["metric"]).tolist()
        return dict(zip(names, mine["value"].astype(float), strict=True))


def findings(printed: Printed | None = None) -> dict[str, Finding]:
    """Every check, by what it is about."""
    printed = printed or Printed()
    return {
        **subset_findings(printed),
        **class_findings(printed),
        **repetition_findings(printed),
        **size_findings(printed),
        **ablation_findings(printed),
        **score_findings(printed),
        **text_findings(printed),
    }


def subset_findings(printed: Printed) -> dict[str, Finding]:
    """Table 1, 25 questions of each label: which numbers of right answers print as its rows."""
    n = int(printed.quotes["questions of table 1"])
    tp, tn = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    whole = np.full(len(tp), n)
    values = metrics(dict(zip(COUNTS, (tp, n - tn, tn, n - tp, whole, whole), strict=True)))
    if (values["f1"] > values["recall"] + EPSILON).any():
        raise AssertionError("On balanced labels no macro F1 is above its macro recall.")
    checks = {}
    for part, model in printed.models("oric_table01"):
        row = {
            name: printed.text("oric_table01", part=part, model=model, metric=name)
            for name in ("precision", "recall", "f1")
        }
        # Two rows print one digit (100.0), and stand for what rounds to it.
        fits = np.ones(len(tp), bool)
        for name, text in row.items():
            fits &= np.abs(values[name] - float(text)) <= half_unit(text) + EPSILON
        # A mean over four prompts: recalls in steps of 1 / 8n, and never below the F1.
        step = 100 / (2 * n * PROMPTS)
        recall, f1 = float(row["recall"]), float(row["f1"])
        slack = half_unit(row["recall"]) + EPSILON
        reasons, marks = [], []
        if f1 > recall + slack + half_unit(row["f1"]):
            reasons.append(f"F1 {f1 - recall:.2f} above recall: it is never above on {n} / {n}")
            marks.append(_mark("oric_table01", part, model, "overall f1", ABOVE_RECALL))
        if abs(recall - step * round(recall / step)) > slack:
            reasons.append(f"no mean of four prompts over {2 * n} questions is {row['recall']} %")
            marks.append(_mark("oric_table01", part, model, "overall recall", NO_RECALL))
        follows = (
            f"{tp[fits][0]} of {n} yes and {tn[fits][0]} of {n} no right" if fits.any()
            else "; ".join(reasons) or "no one prompt prints so; a mean of four may"
        )  # fmt: skip
        checks[f"Table 1, {model}, {part}"] = Finding(
            "Table 1", " / ".join(row.values()), follows,
            CONSISTENT if fits.any() else INCONSISTENT if reasons else UNTOLD, marks,
        )  # fmt: skip
    return checks


def class_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 5 and 10, row by row: macro means, harmonic means, yes-proportions and counts."""
    checks = {}
    questions = int(printed.quotes["questions"])
    for table in _FULL:
        for part, model in printed.models(table):
            row = printed.row(table, model, part)
            about = model if table == "oric_table10" else f"{model}, Table 5({part})"
            place = table_title(table) + (f"({part})" if table == "oric_table05" else "")
            for metric in ("precision", "recall", "f1"):
                both = row[f"yes {metric}"], row[f"no {metric}"]
                value = sum(both) / 2
                other = 2 * row[f"overall {metric}"] - both[0]
                checks[f"macro {metric}, {about}"] = _near(
                    place, row[f"overall {metric}"], value, _HALF,
                    f"({both[0]:.2f} + {both[1]:.2f}) / 2 = {value:.3f}; beside this yes, no "
                    f"would be {other:.2f}",
                    _mark(table, part, model, f"overall {metric}", NO_MACRO),
                )  # fmt: skip
            checks[f"yes-proportion, {about}"] = _yes_proportion(
                place, row, _mark(table, part, model, "overall yes_proportion", NO_SHARE)
            )
            for label in ("yes", "no"):
                p, r, f1 = (row[f"{label} {m}"] for m in ("precision", "recall", "f1"))
                most = _harmonic(p + _HALF, r + _HALF) + _HALF
                least = _harmonic(max(p - _HALF, 0.0), max(r - _HALF, 0.0)) - _HALF
                alone = part.startswith("Open-vocabulary")  # detectors have one prompt
                fits = f1 <= most + EPSILON and (not alone or f1 >= least - EPSILON)
                checks[f"F1 of {label}, {about}"] = Finding(
                    place, f"{f1:.2f}",
                    f"harmonic mean of {p:.2f} and {r:.2f}: {_harmonic(p, r):.2f}"
                    + (", of one prompt" if alone else ", never below a mean over prompts"),
                    agreement(fits),
                )  # fmt: skip
                if table == "oric_table10":
                    step = 100 / (questions * (1 if alone else PROMPTS))
                    near = step * round(r / step)
                    checks[f"recall of {label} as a count, {about}"] = _near(
                        place, r, near, 0.0, f"{near / step:.0f} answers of {100 / step:.0f}"
                    )
    return checks


def repetition_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 3, 5 and 8 where they repeat Table 10."""
    checks = {}
    for name, columns in (("oric_table03", None), ("oric_table08", "ORIC")):
        rows = printed.models(name, columns)
        wrong = []
        for part, model in rows:
            complete = printed.row("oric_table10", model)
            for key, value in printed.row(name, model, part).items():
                if value != complete[key]:
                    wrong.append(f"{model}, {key}: {value} and {complete[key]}")
        checks[f"{table_title(name)} and Table 10"] = Finding(
            f"{table_title(name)}; Table 10", f"{len(rows)} models",
            "; ".join(wrong) or "equal cells", agreement(not wrong),
        )  # fmt: skip
    model = printed.quotes["baseline of table 5"]
    mine = printed.row("oric_table05", "w/o 0-shot CoT", "a")
    checks["Table 5 and Table 10"] = Finding(
        "Table 5(a); Table 10", "w/o 0-shot CoT", f"the row of {model}",
        agreement(mine == printed.row("oric_table10", model)),
    )  # fmt: skip
    return checks


def size_findings(printed: Printed) -> dict[str, Finding]:
    """Table 4, Figure 10 and section 4.2: gaps, weighted recalls, shares and the limit."""
    checks = {}
    look = partial(printed.number, "oric_table04", label="yes", metric="recall")
    models = [model for _, model in printed.models("oric_table04", "ORIC")]
    for model, part in product(models, ("POPE", "ORIC")):
        gap = printed.quote(f"gap {model} {part}")
        ends = [look(part=part, model=model, item=size) for size in ("large", "small")]
        checks[f"gap between sizes, {model}, {part}"] = _near(
            "section 4.2; Table 4", gap, ends[0] - ends[1], 2 * _HALF,
            f"{ends[0]:.2f} − {ends[1]:.2f} = {ends[0] - ends[1]:.2f}",
        )  # fmt: skip
    parts = {model: part for part, model in printed.models("oric_table10")}
    for model in models:
        recalls = np.array([look(part="ORIC", model=model, item=size) for size in SIZES])
        shares = np.array([printed.quote(f"share ORIC {size}") for size in SIZES]) / 100
        value = float(recalls @ shares)
        # A share is printed to a tenth of a percent; what one has too much another has too little.
        slack = _HALF + 0.0005 * float(np.ptp(recalls))
        overall = printed.row("oric_table10", model)["yes recall"]
        checks[f"recall over sizes, {model}"] = _near(
            "Table 4; Figure 10; Table 10", overall, value, slack,
            f"{value:.2f} from the sizes' recalls and shares",
            _mark("oric_table10", parts[model], model, "yes recall", NO_SIZES),
        )  # fmt: skip
    for part in ("POPE", "ORIC", "COCO"):
        shares = [printed.quote(f"share {part} {size}") for size in SIZES]
        total = sum(shares)
        checks[f"shares of sizes, {part}"] = Finding(
            "Figure 10", " + ".join(f"{share:.1f}" for share in shares), f"{total:.1f} %",
            agreement(abs(total - 100) <= 0.15 + EPSILON),
        )  # fmt: skip
    side, coco = printed.quote("small below"), 32
    checks["limit of small objects"] = Finding(
        "section 4.2", f"COCO's tiers, small below {side:g}²", f"COCO's own limit is {coco:g}²",
        agreement(side == coco),
    )  # fmt: skip
    checks["models of Table 4"] = Finding(
        "Table 4", f"{printed.quotes['models of table 4']} LVLMs", f"{len(models)} rows",
        agreement(printed.quotes["models of table 4"] == str(len(models))),
    )  # fmt: skip
    return checks


def ablation_findings(printed: Printed) -> dict[str, Finding]:
    """Table 7: its changes, and its recalls beside Table 10's of the same sampling."""
    checks = {}
    models = [model for _, model in printed.models("oric_table07", "random")]
    complete = [model for _, model in printed.models("oric_table10")]
    for model, (part, label) in product(
        models, (("positives only", "yes"), ("negatives only", "no"))
    ):
        row = printed.row("oric_table07", model, part)
        recall = row[f"{label} recall"]
        base = printed.row("oric_table07", model, "random")[f"{label} recall"]
        value = recall - base
        checks[f"change, {model}, {part}"] = _near(
            "Table 7", row[f"{label} change"], value, 2 * _HALF,
            f"{recall:.2f} − {base:.2f} = {value:.2f}",
        )  # fmt: skip
        (name,) = (full for full in complete if model in full)
        other = printed.row("oric_table10", name)[f"{label} recall"]
        checks[f"sampling alone and together, {model}, {label}"] = Finding(
            "Table 7; Table 10",
            f"{recall:.2f} with {part}",
            f"{other:.2f} where both are guided: the same sampling of this label, so other "
            "questions or another run",
            CONSISTENT if abs(recall - other) <= 2 * _HALF else UNTOLD,
        )
    return checks


def score_findings(printed: Printed) -> dict[str, Finding]:
    """Figures 3 and 4 and sections 2.2 and 3.2: CLIPScores that are printed twice, and sizes."""
    quote = printed.quotes
    checks = {}
    for about, first, second in (
        ("mean CLIPScore of incongruous yes", "figure 3 incongruous yes",
         "section 3.2 incongruous yes"),
        ("mean CLIPScore of ORIC's no", "figure 3 ORIC no", "section 3.2 ORIC no"),
    ):  # fmt: skip
        checks[about] = Finding(
            "Figure 3; section 3.2", quote[first], f"{quote[second]} in section 3.2",
            agreement(quote[first] == quote[second]),
        )  # fmt: skip
    scores = [printed.quote(f"figure 4 {name}") for name in ("first", "second", "third")]
    usual = [printed.quote(f"figure 3 {name}") for name in ("POPE yes", "ORIC no")]
    checks["CLIPScores of Figure 4"] = Finding(
        "Figure 4; equation 1",
        " / ".join(f"{score:g}" for score in scores),
        f"means of 100 cosines are {min(usual):g} to {max(usual):g} in Figure 3; these three add "
        f"up to {sum(scores):.2f}, as percentages of a softmax would",
        UNTOLD,
    )
    checks["k of Figure 4"] = Finding(
        "Figure 4; section 4.1", f"k = {quote['figure 4 k']}",
        "two present and two absent objects a pair of pictures: k = 2",
        CONSISTENT if quote["figure 4 k"] == "2" else UNTOLD,
    )  # fmt: skip
    return checks


def text_findings(printed: Printed) -> dict[str, Finding]:
    """What sections 4.2 and B.3.2 say of the tables: numbers of models, and directions."""
    quote, checks = printed.quotes, {}
    for about, place, table in (
        ("models, abstract", "abstract; Table 10", "oric_table10"),
        ("models, appendix", "appendix B.3.2; Table 10", "oric_table10"),
        ("models of table 3", "section 4; Table 3", "oric_table03"),
    ):
        parts = [part for part, _ in printed.models(table)]
        count = sum(not part.startswith("Open-vocabulary") for part in parts)
        checks[about] = Finding(
            place, f"{quote[about]} LVLMs", f"{count} rows",
            agreement(quote[about] == str(count)),
        )  # fmt: skip
    lead = printed.row("oric_table10", quote["baseline of table 5"])["overall f1"]
    ahead = lead - max(
        printed.row("oric_table10", model)["overall f1"]
        for part, model in printed.models("oric_table10") if part.startswith("Closed")
    )  # fmt: skip
    checks["lead of the best open model"] = _near(
        "section 4.2; Table 10", printed.quote("trails by"), ahead, 2 * _HALF, f"{ahead:.2f} points"
    )
    named = quote["opposite trend"].split(", ")
    rows = {model: printed.row("oric_table10", model) for model in named}
    checks["the opposite trend"] = Finding(
        "section 4.2; Table 10",
        f"{quote['opposite trend']}: opposite to a high no recall beside a lower yes recall",
        "; ".join(
            f"{model}: no {row['no recall']:.2f}, yes {row['yes recall']:.2f}"
            for model, row in rows.items()
        ),
        agreement(all(row["no recall"] < row["yes recall"] for row in rows.values())),
    )
    f1 = _on_both(printed, "POPE no easier", "f1")
    checks["models for which POPE is no easier"] = Finding(
        "appendix B.3.2; Table 8",
        f"F1 on POPE comparable to or above ORIC's: {', '.join(f1)}",
        "; ".join(f"{model} {a:.2f} and {b:.2f}" for model, (a, b) in f1.items()),
        agreement(any(a > b for a, b in f1.values()) or all(b - a <= 1 for a, b in f1.values())),
    )
    yes = _on_both(printed, "mostly yes", "yes_proportion")
    checks["models that mostly say yes"] = Finding(
        "appendix B.3.2; Table 8",
        f"a high proportion of yes on both: {', '.join(yes)}",
        "; ".join(f"{model} {a:.2f} and {b:.2f} %" for model, (a, b) in yes.items()),
        agreement(all(min(both) > 50 for both in yes.values())),
    )
    return checks


# --- internals -----------------------------------------------------------------------------------


def _mark(table: str, part: str, model: str, name: str, reason: str) -> Mark:
    """A number of `Printed.row`, by its label and metric, as one in question."""
    label, metric = name.split(" ")
    return Mark(table, {"part": part, "model": model, "label": label, "metric": metric}, reason)


def _on_both(printed: Printed, quote: str, metric: str) -> dict[str, list[float]]:
    """A metric on POPE and on ORIC, in Table 8, of the models that a sentence names."""
    look = partial(printed.number, "oric_table08", metric=metric)
    return {
        model: [look(part=part, model=model) for part in ("POPE", "ORIC")]
        for model in printed.quotes[quote].split(", ")
    }


def _yes_proportion(place: str, row: dict[str, float], mark: Mark) -> Finding:
    """YP = (R_yes + 100 − R_no) / 2, less half the share of unknown answers to "no" questions."""
    value = (row["yes recall"] + 100 - row["no recall"]) / 2
    printed = row["overall yes_proportion"]
    slack = 2 * _HALF + EPSILON
    verdict: Verdict = CONSISTENT
    follows = f"({row['yes recall']:.2f} + 100 − {row['no recall']:.2f}) / 2 = {value:.3f}"
    if printed > value + slack:
        verdict, follows = INCONSISTENT, follows + ", and unknown answers only lower it"
    elif printed < value - slack:
        verdict = UNTOLD
        follows += (
            f": {2 * (value - printed):.2f} % of the answers to no questions unknown, or labels "
            "that are not half and half"
        )
    return Finding(place, f"{printed:.2f} %", follows, verdict, [mark])


def _near(
    place: str, printed: float, value: float, slack: float, follows: str, *marks: Mark
) -> Finding:
    """A printed number against what others imply, which may be off by `slack`."""
    fits = abs(printed - value) <= _HALF + slack + EPSILON
    return Finding(place, f"{printed:.2f}", follows, agreement(fits), marks)


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first + second else 0.0

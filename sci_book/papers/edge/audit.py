"""The paper's printed numbers against each other (Tables 4 to 14, Figure 1, sections 3.5 to 4.5).

Every finding is computed from the transcribed tables and sentences: what is printed, what the
others imply, and whether the two agree. A printed number stands for every value that rounds to it,
so two are called inconsistent only where no such values fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from sci_book.papers.edge.calibration import ece
from sci_book.papers.edge.negation import TEMPLATES, succeeds
from sci_book.papers.edge.statistics import Discordant, mcnemar_edwards, wald_difference
from sci_book.papers.edge.taxonomy import CATEGORIES, SHARED, Failure, Label, Tree, concordance
from sci_book.papers.shared.audit import (
    EPSILON,
    INCONSISTENT,
    PAPER,
    UNTOLD,
    Finding,
    PrintedTables,
    agreement,
    counts_behind,
    half_unit,
    rounds_to,
    table_title,
)
from sci_book.papers.shared.blur import effective_sigma
from sci_book.papers.shared.corruptions import LEVELS
from sci_book.results.statistics import mcnemar, wilson

BIN_TABLES = ("edge_table11", "edge_table12", "edge_table13", "edge_table14")
DATASETS = ("VQAv2", "COCO")
PER_DATASET = 2_000  # samples (Table 4)


class Printed(PrintedTables):
    """The paper's tables and sentences, and its two models."""

    paper = "edge"

    def __init__(self, folder: Path = PAPER):
        super().__init__(folder)
        accuracies = self.rows("edge_table04", unit="percent")
        self.compact, self.large = self.models = tuple(dict.fromkeys(accuracies["model"]))
        self.pair = f"{self.large} - {self.compact}"


def findings(printed: Printed | None = None) -> dict[str, Finding]:
    """Every check of this module, by what it is about."""
    printed = printed or Printed()
    return {
        **accuracy_findings(printed),
        **calibration_findings(printed),
        **taxonomy_findings(printed),
        **blur_findings(printed),
        **negation_findings(printed),
        **rule_findings(),
    }


def accuracy_findings(printed: Printed) -> dict[str, Finding]:
    """Table 4: its means and differences, and the shares of rows that both models have right."""
    look = partial(printed.text, "edge_table04", metric="accuracy")
    found = {}
    cells = {(m, d): look(model=m, dataset=d) for m in printed.models for d in DATASETS}
    for model in printed.models:
        parts = [cells[model, dataset] for dataset in DATASETS]
        found[f"combined accuracy, {model}"] = _sum_finding(
            "Table 4", look(model=model, dataset="Combined"), parts, (0.5, 0.5)
        )
    for dataset in DATASETS:
        parts = [cells[printed.large, dataset], cells[printed.compact, dataset]]
        found[f"difference in accuracy, {dataset}"] = _sum_finding(
            "Table 4", look(model=printed.pair, dataset=dataset), parts, (1.0, -1.0)
        )
        share = float(printed.quotes[f"both correct {dataset}"])
        one, two = (float(part) for part in parts)
        low, high = max(0.0, one + two - 100), min(one, two)
        found[f"rows that both have right, {dataset}"] = Finding(
            "section 4.4; Table 4",
            f"{share} %",
            f"between {low:.1f} % and {high:.1f} %; {one * two / 100:.1f} % if independent",
            agreement(low - 0.15 <= share <= high + 0.1),
        )
    return found


def calibration_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 6 and 11 to 14: sizes, counts, ECE and accuracy behind the bins."""
    found = {}
    for name in BIN_TABLES:
        diagram, model, dataset = bins(printed, name)
        where = f"{table_title(name)}; Table 6"
        about = f"{model}, {dataset}"
        ece_printed = printed.text("edge_table06", model=model, dataset=dataset)
        value = ece(diagram)
        # The confidences and accuracies of the bins are rounded to three digits themselves.
        found[f"ECE, {about}"] = Finding(
            where, ece_printed, f"{value:.5f} from the bins",
            agreement(abs(value - float(ece_printed)) <= 0.0015),
        )  # fmt: skip
        total = int(diagram["count"].sum())
        cells = list(zip(diagram["accuracy_printed"], diagram["count"].tolist(), strict=True))
        once = sum(bool(_counts(percent, size)) for percent, size in cells)
        fit = [_counts(percent, size, twice=True) for percent, size in cells]
        found[f"bins, {about}"] = Finding(
            table_title(name),
            f"{len(diagram)} bins of {PER_DATASET} predictions",
            f"{total} predictions; of {len(fit)} accuracies {once} are counts, "
            f"{sum(map(bool, fit))} if rounded twice (to four digits, as the code stores them, "
            "then to three)",
            agreement(total == PER_DATASET and all(fit)),
        )
        low, high = (sum(end(counts, default=0) for counts in fit) for end in (min, max))
        accuracy = printed.text("edge_table04", model=model, dataset=dataset, metric="accuracy")
        right = _counts(accuracy, PER_DATASET)
        found[f"accuracy of the bins, {about}"] = Finding(
            f"{table_title(name)}; Table 4",
            f"{accuracy} %",
            f"{_range(low, high)} right ({_range(100 * low / total, 100 * high / total, 2)} %), "
            f"where {accuracy} % is {_range(min(right), max(right))}",
            agreement(set(range(low, high + 1)) & set(right)),
        )
    lowest = bins(printed, BIN_TABLES[0])[0]["low"].min()
    first = int(printed.quotes["lowest bin"])
    found["lowest bin"] = Finding(
        "section 4.3; Appendix A", f"bins {first} to 9",
        f"bin {round(10 * lowest)} holds a prediction too, counted from 0 as bin 9 is",
        agreement(round(10 * lowest) == first),
    )  # fmt: skip
    for model in printed.models:
        look = partial(printed.text, "edge_table06", model=model)
        parts = [look(dataset=dataset) for dataset in DATASETS]
        found[f"mean ECE, {model}"] = _sum_finding(
            "Table 6", look(dataset="Average"), parts, (0.5, 0.5)
        )
    return found


def taxonomy_findings(printed: Printed) -> dict[str, Finding]:
    """Table 5: the counts behind its shares, Figure 1, and what the printed kappa tells."""
    found = {}
    counts = label_counts(printed)
    n = int(printed.quotes["labels"])
    for (model, dataset), labels in counts.items():
        shares = [
            printed.text("edge_table05", model=model, dataset=dataset, item=c) for c in SHARED
        ]
        found[f"labels, {model}, {dataset}"] = Finding(
            "Table 5",
            " / ".join(shares) + " %",
            ", ".join(f"{c} {count}" for c, count in labels.items()) + f" of {n}"
            if labels
            else f"no counts of {n} labels print so",
            agreement(labels),
        )
    whole = {dataset for dataset in DATASETS if all(counts[m, dataset] for m in printed.models)}
    for about, percent in printed.quotes.items():
        if not about.startswith("figure 1 "):
            continue
        dataset, category = about.removeprefix("figure 1 ").split()
        if dataset in whole:
            total = sum(counts[model, dataset][category] for model in printed.models)
            found[f"Figure 1, {dataset}, {category}"] = Finding(
                "Figure 1; Table 5", f"{percent} %", f"{total} of {2 * n}",
                agreement(total in _counts(percent, 2 * n)),
            )  # fmt: skip
    for dataset in [each for each in DATASETS if each in whole]:
        lists = [
            [Label(c, "") for c, k in counts[model, dataset].items() for _ in range(k)]
            for model in printed.models
        ]
        chance = concordance(*lists)
        kappa = printed.number("edge_table05", dataset=dataset, metric="kappa")
        inside = chance.low <= kappa <= chance.high
        found[f"kappa, {dataset}"] = Finding(
            "section 4.2; Table 5",
            f"κ = {kappa:g} between labels of different pictures",
            f"shuffled labels give {chance.low:.3f} to {chance.high:.3f}, 0 on average: it "
            f"says nothing of the profiles, which differ by {100 * chance.distance:.0f} points",
            UNTOLD if inside else INCONSISTENT,
        )
    return found


def blur_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 7 and 8 and section 3.5: McNemar's p, retentions, ratios, the blur's severity."""
    seven, eight = partial(printed.text, "edge_table07"), partial(printed.number, "edge_table08")
    failures = [
        round(printed.number("edge_table07", model=m, metric="drop")) for m in printed.models
    ]
    p = seven(metric="McNemar p")
    edwards = mcnemar_edwards(Discordant(*failures)).p
    exact = exact_mcnemar(*failures)
    found = {
        "McNemar's p": Finding(
            "Table 7",
            f"p = {p}",
            f"Edwards' correction without a clamp at zero gives {edwards:.3f}; clamped it is "
            f"{mcnemar_edwards(Discordant(*failures), clamped=True).p:g}, and the exact test's "
            f"is {exact:g}",
            agreement(f"{edwards:.3f}" == p),
        )
    }
    frame = printed.tables["edge_table08"]
    rows = frame.loc[frame["metric"] == "retention", ["model", "item"]].itertuples(index=False)
    drops = {}
    for model, precision in rows:
        clean, blurred = (
            eight(model=model, item=precision, metric=m) for m in ("clean", "blurred")
        )
        drops[f"{model} {precision}"] = clean - blurred
        kept = printed.text("edge_table08", model=model, item=precision, metric="retention")
        found[f"retention, {model} {precision}"] = Finding(
            "Table 8", kept, f"{blurred:g} / {clean:g} = {blurred / clean:.3f}",
            agreement(f"{blurred / clean:.3f}" == kept),
        )  # fmt: skip
    none = [name for name, drop in drops.items() if drop == 0]
    for item in ("precision", "scale"):
        value = printed.text("edge_table08", item=item, metric="rho")
        found[f"rho, {item}"] = Finding(
            "Table 8",
            "ρ = ∞" if value == "inf" else f"ρ = {value}",
            f"{', '.join(none)} does not drop: there is no ratio",
            UNTOLD if none else INCONSISTENT,
        )
    named = {"precision": "precision", "scale": "scale", "arch": "architecture"}
    for item, factor in named.items():
        pair = frame.loc[(frame["metric"] == "rho") & (frame["item"] == item), "model"].item()
        differ = _differ(frame, pair)
        found[f"what ρ of {factor} compares"] = Finding(
            "Table 8", f"ρ {item}: {pair}", f"different: {' and '.join(differ)}",
            agreement(differ == [factor]),
        )  # fmt: skip
    most = max(drops.values())
    found["significance of the ablation"] = Finding(
        "Table 8; section 4.4",
        "quantisation adds sensitivity, scale confers robustness",
        f"drops of 0 to {most:g} of 100 pictures: even if no picture fails both models, the "
        f"smallest exact McNemar p is {exact_mcnemar(round(most), 0):.3f}",
        UNTOLD,
    )
    severity = int(printed.quotes["blur severity"])
    sigmas = LEVELS["gaussian_blur"]
    effective = effective_sigma()
    nearest = 1 + int(np.argmin([abs(sigma - effective) for sigma in sigmas]))
    found["severity of the blur"] = Finding(
        "section 3.5",
        f"5 × 5, σ = 2: about severity {severity}",
        f"five taps leave σ = {effective:.2f}; ImageNet-C's severities 1 and 2 are σ = "
        f"{sigmas[0]} and {sigmas[1]}: nearer to severity {nearest}",
        agreement(nearest == severity),
    )
    return found


def negation_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 9 and 10 and sections 3.7 and 4.5: means, intervals, tests, judgements."""
    found = {}
    rows = int(printed.quotes["rows per data set"])
    each = rows * len(TEMPLATES)
    said = int(printed.quotes["judgements per data set"])
    found["judgements per data set"] = Finding(
        "section 3.7", f"up to {said} per model and data set",
        f"{rows} rows × {len(TEMPLATES)} templates = {each}; {said} are both data sets'",
        agreement(said == each),
    )  # fmt: skip
    right = {}
    for model, dataset in product(printed.models, DATASETS):
        look = partial(printed.number, "edge_table10", model=model, dataset=dataset)
        counts = [round(look(item=name) * rows / 100) for name in TEMPLATES]
        right[model, dataset] = sum(counts)
        average = printed.text("edge_table10", model=model, dataset=dataset, item="average")
        found[f"mean of the templates, {model}, {dataset}"] = Finding(
            "Table 10", f"{average} %", f"{sum(counts)} of {each}",
            agreement(sum(counts) in _counts(average, each)),
        )  # fmt: skip
        name = f"false_yn {dataset} {printed.models.index(model)}"
        ends = [printed.quotes[f"{name} {end}"] for end in ("low", "high")]
        found[f"interval of false_yn, {model}, {dataset}"] = _interval_finding(
            "section 4.5; Table 10", ends, round(look(item="false_yn") * rows / 100), rows
        )
    totals = {m: sum(right[m, dataset] for dataset in DATASETS) for m in printed.models}
    for model in printed.models:
        look = partial(printed.text, "edge_table09", model=model)
        share = look(metric="negation")
        found[f"Tables 9 and 10, {model}"] = Finding(
            "Table 9; Table 10", f"{share} %", f"{totals[model]} of {2 * each}",
            agreement(totals[model] in _counts(share, 2 * each)),
        )  # fmt: skip
        ends = [look(metric=f"negation {end}") for end in ("low", "high")]
        found[f"interval of {model}"] = _interval_finding("Table 9", ends, totals[model], 2 * each)
    groups = {"both": (2 * each, totals)} | {
        dataset: (each, {m: right[m, dataset] for m in printed.models}) for dataset in DATASETS
    }
    for dataset, (n, counts) in groups.items():
        found |= _gap_findings(printed, dataset, counts[printed.compact], counts[printed.large], n)
    for dataset in DATASETS:
        gap = printed.number("edge_table09", dataset=dataset, metric="gap")
        share = float(printed.quotes[f"both correct {dataset}"])
        bound = printed.quotes[f"bound {dataset}"]
        value = gap * share / 100
        found[f"selection-weighted bound, {dataset}"] = Finding(
            "section 4.5", f"about {bound} points", f"{gap:g} × {share:g} % = {value:.2f}",
            agreement(abs(value - float(bound)) <= 0.1),
        )  # fmt: skip
    return found


def rule_findings() -> dict[str, Finding]:
    """Sections 3.4 and 3.7: what the rules make of every combination of a few short texts."""
    texts = ("yes", "red cat", "red dog", "no", "how many", "a long walk " * 10)
    failures = [Failure("", *combination) for combination in product(texts, repeat=3)]
    reached = {
        tree.name: sorted({str(label.category) for label in tree.judge(failures)})
        for tree in (Tree(as_printed=True), Tree())
    }
    replies = ("I know it is", "Unknown", "Yes, I notice it", "not sure")
    passing = {
        reading: sum(succeeds("false_yn", reply, "cat", reading=reading) for reply in replies)
        for reading in ("paper", "words")
    }
    return {
        "categories of the tree": Finding(
            "section 3.4",
            "a tree for A, B, C, D and E",
            "; ".join(f"{name}: {', '.join(found)}" for name, found in reached.items())
            + f" are reached by {len(failures)} failures; C's condition is A's, which comes first",
            agreement(set(reached["tree as printed"]) == set(CATEGORIES)),
        ),
        "“no” of false_yn": Finding(
            "Table 3, footnote 1",
            "a window narrow enough to avoid false positives",
            f"{passing['paper']} of {len(replies)} replies without the word “no” pass "
            f"({', '.join(replies)}); as a word, {passing['words']}",
            agreement(not passing["paper"]),
        ),
    }


# --- what the tables hold ------------------------------------------------------------------------


def bins(printed: Printed, name: str) -> tuple[pd.DataFrame, str, str]:
    """A printed reliability table, its model and its data set.

    The lines are those of `calibration.reliability`; `accuracy_printed` is the percentage as text.
    """
    frame = printed.tables[name]
    lines = []
    for bin_range in dict.fromkeys(frame.loc[frame["item"] != "", "item"]):
        look = partial(printed.text, name, item=bin_range)
        low, high = (float(edge) for edge in bin_range.strip("[)").split(","))
        accuracy = look(metric="accuracy")
        lines.append(
            {
                "low": low,
                "high": high,
                "count": int(look(metric="count")),
                "confidence": float(look(metric="confidence")),
                "accuracy": float(accuracy) / 100,
                "accuracy_printed": accuracy,
            }
        )
    return pd.DataFrame(lines), frame["model"].iloc[0], frame["dataset"].iloc[0]


def label_counts(printed: Printed) -> dict[tuple[str, str], dict[str, int]]:
    """The whole numbers of labels behind Table 5, by model and data set; {} where none fit.

    The shares are of the labels A to C, whose number is what D and E leave of 100.
    """
    n = int(printed.quotes["labels"])
    found = {}
    for model, dataset in product(printed.models, DATASETS):
        look = partial(printed.text, "edge_table05", model=model, dataset=dataset)
        others = {c: int(look(item=c)) for c in CATEGORIES if c not in SHARED}
        total = n - sum(others.values())
        candidates = [_counts(look(item=c), total) for c in SHARED]
        fitting = [counts for counts in product(*candidates) if sum(counts) == total]
        found[model, dataset] = (
            {**dict(zip(SHARED, fitting[0], strict=True)), **others} if len(fitting) == 1 else {}
        )
    return found


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """The exact test's p-value from the two discordant counts alone."""
    first = np.arange(only_first + only_second) < only_first
    return mcnemar(first, ~first)


# --- internals -----------------------------------------------------------------------------------


def _differ(frame: pd.DataFrame, pair: str) -> list[str]:
    """What differs between the two models of a printed ratio, "one / another".

    A model without a precision in its name has the only one that Table 8 lists for it.
    """
    parts = []
    for text in pair.split(" / "):
        name, _, precision = text.partition(" ")
        listed = frame.loc[(frame["model"] == name) & (frame["metric"] == "clean"), "item"]
        architecture, _, size = name.rpartition("-")
        parts.append((architecture, size, precision or listed.item()))
    factors = ("architecture", "scale", "precision")
    return [name for name, one, two in zip(factors, *parts, strict=True) if one != two]


def _gap_findings(
    printed: Printed, dataset: str, compact: int, large: int, n: int
) -> dict[str, Finding]:
    """Table 9's gap of one data set, or of both: its interval, z and p."""
    frame = printed.tables["edge_table09"]
    mine = frame[(frame["dataset"] == dataset) & (frame["model"] == printed.pair)]
    values = dict(zip(mine["metric"], mine["value"], strict=True))
    wald = wald_difference(compact, n, large, n)
    computed = {
        "gap": 100 * wald.estimate, "gap low": 100 * wald.low, "gap high": 100 * wald.high,
        "z": wald.z, "p": wald.p,
    }  # fmt: skip
    shown = {name: values[name] for name in computed if name in values}
    place = "Table 9" if dataset == "both" else "section 4.5"
    agree = all(rounds_to(computed[name], text) for name, text in shown.items())
    found = {
        f"gap, {dataset}": Finding(
            place,
            ", ".join(f"{name} {text}" for name, text in shown.items()),
            f"{large} − {compact} of {n}: "
            + ", ".join(f"{name} {computed[name]:.4g}" for name in shown),
            agreement(agree),
        )
    }
    if "p below" in values:
        bound = float(values["p below"])
        found[f"p of the gap, {dataset}"] = Finding(
            place,
            f"p < {values['p below']}",
            f"two-sided p = {wald.p:.3g}, one-sided {norm.sf(wald.z):.3g}",
            agreement(wald.p < bound),
        )
    return found


def _interval_finding(place: str, ends: Sequence[str], count: int, n: int) -> Finding:
    """A printed 95 % interval of a share against Wilson's."""
    interval = wilson(count, n)
    values = 100 * interval.low, 100 * interval.high
    agree = all(rounds_to(value, end) for value, end in zip(values, ends, strict=True))
    return Finding(
        place, f"[{ends[0]}, {ends[1]}]",
        f"Wilson of {count} of {n}: [{values[0]:.2f}, {values[1]:.2f}]",
        agreement(agree),
    )  # fmt: skip


def _sum_finding(place: str, total: str, parts: Sequence[str], weights: Sequence[float]) -> Finding:
    """A printed sum against its printed parts, each of which is rounded."""
    value = sum(weight * float(part) for weight, part in zip(weights, parts, strict=True))
    slack = sum(abs(w) * half_unit(part) for w, part in zip(weights, parts, strict=True))
    terms = " + ".join(f"{w:g} × {part}" for w, part in zip(weights, parts, strict=True))
    agree = abs(value - float(total)) <= slack + half_unit(total) + EPSILON
    return Finding(place, total, f"{terms} = {value:.4g}", agreement(agree))


def _counts(percent: str, n: int, *, twice: bool = False) -> list[int]:
    """Every whole number of n rows that prints as this percentage (`twice`: from four digits)."""
    slack = half_unit(percent) + EPSILON
    if not twice:
        return counts_behind(float(percent), n, slack)
    wider = counts_behind(float(percent), n, slack + 0.005)
    return [count for count in wider if rounds_to(100 * round(count / n, 4), percent)]


def _range(low: Real, high: Real, digits: int = 0) -> str:
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return first if first == last else f"{first} to {last}"

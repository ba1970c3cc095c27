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

import numpy as np
import pandas as pd
from scipy.stats import norm

from sci_book.papers.edge.calibration import ece
from sci_book.papers.edge.negation import TEMPLATES, succeeds
from sci_book.papers.edge.printed import (
    BIN_TABLES,
    DATASETS,
    PRINTED,
    Printed,
    bins,
    label_counts,
)
from sci_book.papers.edge.statistics import exact_mcnemar, mcnemar_edwards, wald_difference
from sci_book.papers.edge.taxonomy import CATEGORIES, SHARED, Failure, concordance, tree
from sci_book.papers.shared.audit import (
    INCONSISTENT,
    UNTOLD,
    Finding,
    Mark,
    agreement,
    counts_printed,
    rounds_to,
    sum_finding,
    table_title,
    wilson_finding,
)
from sci_book.papers.shared.blur import effective_sigma
from sci_book.papers.shared.corruptions import LEVELS
from sci_book.papers.shared.tables import number

PER_DATASET = 2_000  # samples (Table 4)
RHO = {"precision": "precision", "scale": "scale", "arch": "architecture"}
"""What each ratio of Table 8 is said to be of, by its name there."""
OTHER_FACTOR = "The two models of this ratio differ in something else than its name says."
NOT_BELOW = "The printed counts give a two-sided p-value that is not below this bound."


def findings(printed: Printed = PRINTED) -> dict[str, Finding]:
    """Every check of this module, by what it is about."""
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
    checks = {}
    for model in printed.models:
        checks[f"combined accuracy, {model}"] = _mean_finding("Table 4", partial(look, model=model),
                                                              "Combined")  # fmt: skip
    for dataset in DATASETS:
        parts = [look(model=model, dataset=dataset) for model in (printed.large, printed.compact)]
        checks[f"difference in accuracy, {dataset}"] = sum_finding(
            "Table 4", look(model=printed.pair, dataset=dataset), parts, (1.0, -1.0)
        )
        share = printed.quote(f"both correct {dataset}")
        large, compact = (float(part) for part in parts)
        low, high = max(0.0, large + compact - 100), min(large, compact)
        checks[f"rows that both have right, {dataset}"] = Finding(
            "section 4.4; Table 4",
            f"{share} %",
            f"between {low:.1f} % and {high:.1f} %; {large * compact / 100:.1f} % if independent",
            agreement(low - 0.15 <= share <= high + 0.1),
        )
    return checks


def calibration_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 6 and 11 to 14: sizes, counts, ECE and accuracy behind the bins."""
    checks = {}
    for name in BIN_TABLES:
        checks |= _bin_findings(printed, name)
    lowest = round(10 * bins(printed, BIN_TABLES[0])[0]["low"].min())
    first = int(printed.quotes["lowest bin"])
    checks["lowest bin"] = Finding(
        "section 4.3; Appendix A", f"bins {first} to 9",
        f"bin {lowest} holds a prediction too, counted from 0 as bin 9 is",
        agreement(lowest == first),
    )  # fmt: skip
    for model in printed.models:
        look = partial(printed.text, "edge_table06", model=model)
        checks[f"mean ECE, {model}"] = _mean_finding("Table 6", look, "Average")
    return checks


def taxonomy_findings(printed: Printed) -> dict[str, Finding]:
    """Table 5: the counts behind its shares, Figure 1, and what the printed kappa tells."""
    checks = {}
    counts = label_counts(printed)
    n = int(printed.quotes["labels"])
    for (model, dataset), labels in counts.items():
        look = partial(printed.text, "edge_table05", model=model, dataset=dataset)
        listed = ", ".join(f"{c} {count}" for c, count in labels.items())
        checks[f"labels, {model}, {dataset}"] = Finding(
            "Table 5",
            " / ".join(look(item=c) for c in SHARED) + " %",
            f"{listed} of {n}" if labels else f"no counts of {n} labels print so",
            agreement(labels),
        )
    whole = [dataset for dataset in DATASETS if all(counts[m, dataset] for m in printed.models)]
    for dataset, category in product(whole, CATEGORIES):
        if percent := printed.quotes.get(f"figure 1 {dataset} {category}"):
            total = sum(counts[model, dataset][category] for model in printed.models)
            checks[f"Figure 1, {dataset}, {category}"] = Finding(
                "Figure 1; Table 5", f"{percent} %", f"{total} of {2 * n}",
                agreement(total in counts_printed(percent, 2 * n)),
            )  # fmt: skip
    for dataset in whole:
        lists = [
            [c for c, k in counts[model, dataset].items() for _ in range(k)]
            for model in printed.models
        ]
        chance = concordance(*lists)
        kappa = printed.number("edge_table05", dataset=dataset, metric="kappa")
        checks[f"kappa, {dataset}"] = Finding(
            "section 4.2; Table 5",
            f"κ = {number(kappa, 3)} between labels of different pictures",
            f"shuffled labels give {number(chance.low, 3)} to {number(chance.high, 3)}, 0 on "
            "average: it says nothing of the profiles, which differ by "
            f"{100 * chance.distance:.0f} points",
            UNTOLD if chance.low <= kappa <= chance.high else INCONSISTENT,
        )
    return checks


def blur_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 7 and 8 and section 3.5: McNemar's p, retentions, ratios, the blur's severity."""
    look = partial(printed.text, "edge_table07")
    failures = [round(float(look(model=m, metric="drop"))) for m in printed.models]
    p, edwards = look(metric="McNemar p"), mcnemar_edwards(*failures)
    checks = {
        "McNemar's p": Finding(
            "Table 7",
            f"p = {p}",
            f"Edwards' correction without a clamp at zero gives {edwards:.3f}; clamped it is "
            f"{mcnemar_edwards(*failures, clamped=True):g}, and the exact test's is "
            f"{exact_mcnemar(*failures):g}",
            agreement(f"{edwards:.3f}" == p),
        ),
        **_ablation_findings(printed.tables["edge_table08"]),
    }
    severity = int(printed.quotes["blur severity"])
    sigmas, effective = LEVELS["gaussian_blur"], effective_sigma()
    nearest = 1 + int(np.argmin([abs(sigma - effective) for sigma in sigmas]))
    checks["severity of the blur"] = Finding(
        "section 3.5",
        f"5 × 5, σ = 2: about severity {severity}",
        f"five taps leave σ = {effective:.2f}; ImageNet-C's severities 1 and 2 are σ = "
        f"{sigmas[0]} and {sigmas[1]}: nearer to severity {nearest}",
        agreement(nearest == severity),
    )
    return checks


def negation_findings(printed: Printed) -> dict[str, Finding]:
    """Tables 9 and 10 and sections 3.7 and 4.5: means, intervals, tests, judgements."""
    rows = int(printed.quotes["rows per data set"])
    judgements = rows * len(TEMPLATES)
    said = int(printed.quotes["judgements per data set"])
    checks = {
        "judgements per data set": Finding(
            "section 3.7", f"up to {said} per model and data set",
            f"{rows} rows × {len(TEMPLATES)} templates = {judgements}; {said} are both data sets'",
            agreement(said == judgements),
        )
    }  # fmt: skip
    right = {}
    for model, dataset in product(printed.models, DATASETS):
        look = partial(printed.text, "edge_table10", model=model, dataset=dataset)
        counts = {name: round(float(look(item=name)) * rows / 100) for name in TEMPLATES}
        right[model, dataset] = sum(counts.values())
        checks[f"mean of the templates, {model}, {dataset}"] = _count_finding(
            "Table 10", look(item="average"), right[model, dataset], judgements
        )
        name = f"false_yn {dataset} {printed.models.index(model)}"
        ends = [printed.quotes[f"{name} {end}"] for end in ("low", "high")]
        checks[f"interval of false_yn, {model}, {dataset}"] = wilson_finding(
            "section 4.5; Table 10", ends, counts["false_yn"], rows
        )
    for model in printed.models:
        right[model, "both"] = sum(right[model, dataset] for dataset in DATASETS)
        look = partial(printed.text, "edge_table09", model=model)
        checks[f"Tables 9 and 10, {model}"] = _count_finding(
            "Table 9; Table 10", look(metric="negation"), right[model, "both"], 2 * judgements
        )
        ends = [look(metric=f"negation {end}") for end in ("low", "high")]
        checks[f"interval of {model}"] = wilson_finding(
            "Table 9", ends, right[model, "both"], 2 * judgements
        )
    for dataset, n in {"both": 2 * judgements, **dict.fromkeys(DATASETS, judgements)}.items():
        compact, large = (right[model, dataset] for model in printed.models)
        checks |= _gap_findings(printed, dataset, compact, large, n)
    for dataset in DATASETS:
        gap = printed.number("edge_table09", dataset=dataset, metric="gap")
        share, bound = printed.quote(f"both correct {dataset}"), printed.quotes[f"bound {dataset}"]
        value = gap * share / 100
        checks[f"selection-weighted bound, {dataset}"] = Finding(
            "section 4.5", f"about {bound} points", f"{gap:g} × {share:g} % = {value:.2f}",
            agreement(abs(value - float(bound)) <= 0.1),
        )  # fmt: skip
    return checks


def rule_findings() -> dict[str, Finding]:
    """Sections 3.4 and 3.7: what the rules make of every combination of a few short texts."""
    texts = ("yes", "red cat", "red dog", "no", "how many", "a long walk " * 10)
    failures = [Failure("", *combination) for combination in product(texts, repeat=3)]
    reached = {
        name: sorted({tree(failure, as_printed=name == "tree as printed") for failure in failures})
        for name in ("tree as printed", "tree")
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
            "; ".join(f"{name}: {', '.join(categories)}" for name, categories in reached.items())
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


# --- internals -----------------------------------------------------------------------------------


def _bin_findings(printed: Printed, name: str) -> dict[str, Finding]:
    """One of Tables 11 to 14 against Tables 4 and 6."""
    diagram, model, dataset = bins(printed, name)
    about, where = f"{model}, {dataset}", table_title(name)
    error = printed.text("edge_table06", model=model, dataset=dataset)
    total = int(diagram["count"].sum())
    cells = list(zip(diagram["accuracy_printed"], diagram["count"].tolist(), strict=True))
    once = sum(bool(counts_printed(*cell)) for cell in cells)
    fit = [counts_printed(*cell, twice=True) for cell in cells]
    low, high = (sum(end(counts, default=0) for counts in fit) for end in (min, max))
    accuracy = printed.text("edge_table04", model=model, dataset=dataset, metric="accuracy")
    right = counts_printed(accuracy, PER_DATASET)
    return {
        # The confidences and accuracies of the bins are rounded to three digits themselves.
        f"ECE, {about}": Finding(
            f"{where}; Table 6", error, f"{ece(diagram):.5f} from the bins",
            agreement(abs(ece(diagram) - float(error)) <= 0.0015),
        ),
        f"bins, {about}": Finding(
            where,
            f"{len(diagram)} bins of {PER_DATASET} predictions",
            f"{total} predictions; of {len(fit)} accuracies {once} are counts, "
            f"{sum(map(bool, fit))} if rounded twice (to four digits, as the code stores them, "
            "then to three)",
            agreement(total == PER_DATASET and all(fit)),
        ),
        f"accuracy of the bins, {about}": Finding(
            f"{where}; Table 4",
            f"{accuracy} %",
            f"{_range(low, high)} right ({_range(100 * low / total, 100 * high / total, 2)} %), "
            f"where {accuracy} % is {_range(min(right), max(right))}",
            agreement(set(range(low, high + 1)) & set(right)),
        ),
    }  # fmt: skip


def _ablation_findings(frame: pd.DataFrame) -> dict[str, Finding]:
    """Table 8: retentions, ratios, what the ratios compare, and what its drops can show."""
    variants = frame[frame["metric"] != "rho"].groupby(["model", "item"], sort=False)
    checks, drops = {}, {}
    for (model, precision), rows in variants:
        mine = dict(zip(rows["metric"], rows["value"], strict=True))
        clean, blurred = float(mine["clean"]), float(mine["blurred"])
        drops[f"{model} {precision}"] = clean - blurred
        checks[f"retention, {model} {precision}"] = Finding(
            "Table 8", mine["retention"], f"{blurred:g} / {clean:g} = {blurred / clean:.3f}",
            agreement(f"{blurred / clean:.3f}" == mine["retention"]),
        )  # fmt: skip
    none = [name for name, drop in drops.items() if drop == 0]
    rho = frame[frame["metric"] == "rho"].set_index("item")
    for item in ("precision", "scale"):
        value = rho.loc[item, "value"]
        checks[f"rho, {item}"] = Finding(
            "Table 8",
            "ρ = ∞" if value == "inf" else f"ρ = {value}",
            f"{', '.join(none)} does not drop: there is no ratio",
            UNTOLD if none else INCONSISTENT,
        )
    for item, factor in RHO.items():
        pair = str(rho.loc[item, "model"])
        differ = _differ(list(drops), pair)
        checks[f"what ρ of {factor} compares"] = Finding(
            "Table 8", f"ρ {item}: {pair}", f"different: {' and '.join(differ)}",
            agreement(differ == [factor]),
            [Mark("edge_table08", {"metric": "rho", "item": item}, OTHER_FACTOR)],
        )  # fmt: skip
    most = max(drops.values())
    checks["significance of the ablation"] = Finding(
        "Table 8; section 4.4",
        "quantisation adds sensitivity, scale confers robustness",
        f"drops of 0 to {most:g} of 100 pictures: even if no picture fails both models, the "
        f"smallest exact McNemar p is {exact_mcnemar(round(most), 0):.3f}",
        UNTOLD,
    )
    return checks


def _differ(listed: Sequence[str], pair: str) -> list[str]:
    """What differs between the two models of a printed ratio, "one / another".

    A model without a precision in its name has the only one that Table 8 lists for it.
    """
    parts = []
    for name in pair.split(" / "):
        (known,) = (text for text in listed if text == name or text.startswith(f"{name} "))
        model, _, precision = known.partition(" ")
        architecture, _, size = model.rpartition("-")
        parts.append((architecture, size, precision))
    factors = ("architecture", "scale", "precision")
    return [name for name, one, two in zip(factors, *parts, strict=True) if one != two]


def _gap_findings(
    printed: Printed, dataset: str, compact: int, large: int, n: int
) -> dict[str, Finding]:
    """Table 9's gap of one data set, or of both: its interval, z and p."""
    mine = printed.rows("edge_table09", dataset=dataset, model=printed.pair)
    values = dict(zip(mine["metric"], mine["value"], strict=True))
    wald = wald_difference(compact, n, large, n)
    computed = {
        "gap": 100 * wald.estimate, "gap low": 100 * wald.low, "gap high": 100 * wald.high,
        "z": wald.z, "p": wald.p,
    }  # fmt: skip
    texts = {name: values[name] for name in computed if name in values}
    place = "Table 9" if dataset == "both" else "section 4.5"
    checks = {
        f"gap, {dataset}": Finding(
            place,
            ", ".join(f"{name} {text}" for name, text in texts.items()),
            f"{large} − {compact} of {n}: "
            + ", ".join(f"{name} {computed[name]:.4g}" for name in texts),
            agreement(all(rounds_to(computed[name], text) for name, text in texts.items())),
        )
    }
    if "p below" in values:
        checks[f"p of the gap, {dataset}"] = Finding(
            place,
            f"p < {values['p below']}",
            f"two-sided p = {wald.p:.3g}, one-sided {norm.sf(wald.z):.3g}",
            agreement(wald.p < float(values["p below"])),
            [Mark("edge_table09", {"metric": "p below", "dataset": dataset}, NOT_BELOW)],
        )
    return checks


def _count_finding(place: str, percent: str, count: int, n: int) -> Finding:
    fits = agreement(count in counts_printed(percent, n))
    return Finding(place, f"{percent} %", f"{count} of {n}", fits)


def _mean_finding(place: str, look: partial, name: str) -> Finding:
    """The mean over both data sets, printed as the data set `name`."""
    parts = [look(dataset=dataset) for dataset in DATASETS]
    return sum_finding(place, look(dataset=name), parts, (0.5, 0.5))


def _range(low: Real, high: Real, digits: int = 0) -> str:
    first, last = f"{low:.{digits}f}", f"{high:.{digits}f}"
    return first if first == last else f"{first} to {last}"

"""The paper's printed numbers against each other (Tables II to VI, sections III to V).

Every finding is computed from the transcribed tables and sentences: what is printed, what the
others imply, and whether the two agree. A printed number stands for every value that rounds to it,
so two are called inconsistent only where no such values fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from math import factorial
from numbers import Real

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

from sci_book.papers.metara.relations import RELATIONS
from sci_book.papers.shared.audit import (
    CONSISTENT,
    EPSILON,
    INCONSISTENT,
    UNTOLD,
    Finding,
    Mark,
    PrintedTables,
    agreement,
)

TASKS = ("KBVQA", "OCR-VQA")
OVERALL = {"metara_table02": "KBVQA", "metara_table03": "OCR-VQA"}
TITLES = {
    "metara_table02": "Table II", "metara_table03": "Table III", "metara_table04": "Table IV",
    "metara_table05": "Table V", "metara_table06": "Table VI",
}  # fmt: skip
SETS = {"KBVQA": ("E-VQA", "InfoSeek"), "OCR-VQA": ("DocVQA", "InfoVQA", "ChartQA", "TextVQA")}
ROW_LABELS = {**dict.fromkeys(TITLES, ("model", "base")), "metara_table06": ("split", "model")}
"""Fields that label the rows of a redrawn table; the others head its columns."""
NO_AVERAGE = "No average gives this final FR, which lies outside the range of its row."
OTHER_RATE = "Table II or III prints other rates for this model and data set."
COPIED = "Table II or III prints this value in the column of the data set."
ANOTHERS = "Table II or III prints this value there for other models alone."
NO_RANK = "The values of the two data sets give other ranks, whichever end is the best."
NO_MEAN = "The mean of these four is not the mean of the final FR that Table II or III prints."
ROUNDED = 0.05  # half a unit of the one decimal that every table prints


class Printed(PrintedTables):
    """The paper's tables and sentences."""

    paper = "metara"

    def methods(self, table: str) -> list[tuple[str, str]]:
        """Model and base (or size) of each row of a table, in its order."""
        frame = self.tables[table]
        return list(dict.fromkeys(zip(frame["model"], frame["base"], strict=True)))


def findings(printed: Printed | None = None) -> dict[str, Finding]:
    """Every check of this module, by what it is about."""
    printed = printed or Printed()
    return {
        **definition_findings(),
        **column_findings(printed),
        **single_model_findings(printed),
        **ranking_findings(printed),
        **relation_findings(printed),
        **sentence_findings(printed),
    }


def definition_findings() -> dict[str, Finding]:
    """Section III: what counts as a failure, over all outcomes of an original and one case."""
    outcomes = list(product((True, False), repeat=2))  # original right, case right
    failed = [not case for _, case in outcomes]
    violated = [original and not case for original, case in outcomes]
    differ = sum(one != other for one, other in zip(failed, violated, strict=True))
    return {
        "what a failure is": Finding(
            "equations 3 to 7",
            "FailRate quantifies how often the MR-induced consistency is violated",
            f"equation 7 counts {sum(failed)} of {len(outcomes)} outcomes, the implications of "
            f"equations 3 to 6 fail in {sum(violated)}: they differ in {differ}, an original and a "
            "case that are both wrong",
            agreement(not differ),
        )
    }


def column_findings(printed: Printed) -> dict[str, Finding]:
    """Tables II and III: the columns, said to be failure rates, against the final FR."""
    checks = {}
    for table, task in OVERALL.items():
        where, more_right = TITLES[table], 0
        means, finals, outside = [], [], []
        for model, base in printed.methods(table):
            row = printed.rows(table, model=model, base=base)
            columns = row.loc[row["metric"] == "FR", "value"].astype(float).to_numpy()
            final = float(row.loc[row["metric"] == "final FR", "value"].iloc[0])
            slack = 2 * ROUNDED + EPSILON
            if not columns.min() - slack <= final <= columns.max() + slack:
                fields = {"model": model, "base": base, "metric": "final FR"}
                outside.append(Mark(table, fields, NO_AVERAGE))
            more_right += 100 - final > columns.max() + slack
            means.append(columns.mean())
            finals.append(final)
        n = len(finals)
        rho = float(spearmanr(means, finals).statistic)
        checks[f"final FR as a mean, {task}"] = Finding(
            where,
            "the final FR is the average of the data sets' FR",
            f"{len(outside)} of {n} final FR lie outside the range of their own columns: no "
            "average, of whatever weights, gives them",
            agreement(not outside),
            outside,
        )
        checks[f"direction of the columns, {task}"] = Finding(
            where,
            "lower is more robust, in every column",
            f"a model's mean column and its final FR have Spearman's ρ = {rho:.2f}: where one is "
            "low the other is high, as accuracies and failure rates are",
            agreement(rho >= 0),
        )
        checks[f"equation 7, {task}"] = Finding(
            f"{where}; equation 7",
            "FR is the share of cases that are wrong",
            f"if the columns are accuracies, {more_right} of {n} models answer changed inputs "
            f"({100 - max(finals):.1f} to {100 - min(finals):.1f} % right) better than the "
            f"originals ({min(means):.1f} to {max(means):.1f} % on average); "
            "a rate among right originals, or of consistency, could be as low",
            UNTOLD if more_right else CONSISTENT,
        )
        said = printed.quotes[f"models {task}"]
        checks[f"number of models, {task}"] = Finding(
            f"section IV-D; {where}", f"{said} methods", f"{n} rows",
            agreement(int(said) == n),
        )  # fmt: skip
    return checks


def single_model_findings(printed: Printed) -> dict[str, Finding]:
    """Table V, of LLaVA-1.5 alone, against that model's rows of Tables II and III."""
    checks = {}
    model, _ = printed.methods("metara_table05")[0]
    look = partial(printed.number, "metara_table05", model=model)
    for table, task in OVERALL.items():
        values = [look(dataset=name) for name in SETS[task]]
        finals = set(
            printed.rows(table, model=model, metric="final FR")["value"].astype(float).tolist()
        )
        mean = float(np.mean(values))
        checks[f"mean of Table V, {task}"] = Finding(
            f"Table V; {TITLES[table]}",
            f"final FR {' and '.join(f'{final:g}' for final in sorted(finals))}",
            f"({' + '.join(f'{v:g}' for v in values)}) / {len(values)} = {mean:.4g}",
            agreement(all(abs(mean - final) <= 2 * ROUNDED + EPSILON for final in finals)),
        )
        for name in SETS[task]:
            columns = printed.rows(table, model=model, dataset=name, metric="FR")
            rates = sorted(set(columns["value"]), key=float)
            value = f"{look(dataset=name):.1f}"
            checks[f"{model} on {name}"] = Finding(
                f"Table V; {TITLES[table]}",
                f"FR {value}",
                f"{TITLES[table]} prints FR {', '.join(rates)} for {model} there",
                agreement(value in rates),
                [Mark("metara_table05", {"dataset": name}, OTHER_RATE)],
            )
    return checks


def ranking_findings(printed: Printed) -> dict[str, Finding]:
    """Table IV: where its numbers come from, and whether its ranks are of them."""
    table = "metara_table04"
    models = [model for model, _ in printed.methods(table)]
    checks = {}
    whole = [m for m in models if len(printed.rows(table, model=m, metric="FR")) == 4]
    ranked = printed.rows(table, metric="rank")["value"].astype(int)
    checks["models of Table IV"] = Finding(
        "section IV-E; Table IV",
        f"{printed.quotes['models Table IV']} models on both data sets",
        f"{len(whole)} of {len(models)} have values on both; ranks are printed for {len(whole)}, "
        f"from {ranked.min()} to {ranked.max()}",
        agreement(len(whole) == len(models)),
    )
    sources, cells = _sources(printed)
    copied = [name for name, where in sources.items() if where]
    checks["MetaRA's columns of Table IV"] = Finding(
        "Table IV; Tables II and III",
        "FR by MetaRA",
        f"{len(copied)} of {len(sources)} values are columns of Tables II and III: "
        + "; ".join(f"{name}: {', '.join(where)}" for name, where in sources.items() if where),
        agreement(not copied),
        [Mark(table, cells[name], COPIED) for name in copied],
    )
    others = [
        name for name, where in sources.items()
        if where and not any(_same_model(name, source) for source in where)
    ]  # fmt: skip
    checks["whose values Table IV prints"] = Finding(
        "Table IV; Tables II and III",
        "each model's own FR",
        f"{len(others)} values stand in Tables II and III for other models alone: "
        + ("; ".join(others) or "none"),
        agreement(not others),
        [Mark(table, cells[name], ANOTHERS) for name in others],
    )
    for method in ("MetaVQA", "MetaRA"):
        ranks = {
            m: int(printed.number(table, model=m, metric="rank", method=method)) for m in whole
        }
        fits = _directions(printed, method, ranks)
        checks[f"ranks by {method}"] = Finding(
            "Table IV",
            ", ".join(f"{m} {rank}" for m, rank in ranks.items()),
            "; ".join(f"{name}: {'fits' if fit else 'does not fit'}" for name, fit in fits.items()),
            agreement(any(all(f for n, f in fits.items() if d in n) for d in ("lower", "higher"))),
            [Mark(table, {"metric": "rank", "method": method}, NO_RANK)],
        )
    n = len(whole)
    checks["what a perfect agreement shows"] = Finding(
        "section IV-E; Table IV",
        "fully consistent rankings confirm correctness and reliability",
        f"of {n} models, two independent rankings agree or are reversed with probability "
        f"2 / {n}! = {2 / factorial(n):.3f}, the smallest two-sided p that Kendall's tau can have",
        UNTOLD,
    )
    return checks


def relation_findings(printed: Printed) -> dict[str, Finding]:
    """Table VI: its means against the other tables, and what the text says of its rows."""
    checks = {}
    values = {
        (relation, task): printed.number("metara_table06", split=relation, dataset=task)
        for relation in RELATIONS
        for task in TASKS
    }
    for table, task in OVERALL.items():
        mine = float(np.mean([values[relation, task] for relation in RELATIONS]))
        finals = printed.rows(table, metric="final FR")["value"].astype(float)
        checks[f"mean of Table VI, {task}"] = Finding(
            f"Table VI; {TITLES[table]}",
            f"the four relations' mean is {mine:.2f}",
            f"the mean of {len(finals)} final FR is {finals.mean():.2f}; rounding accounts for "
            f"{2 * ROUNDED:.1f}",
            agreement(abs(mine - finals.mean()) <= 2 * ROUNDED + EPSILON),
            [Mark("metara_table06", {"dataset": task}, NO_MEAN)],
        )
    for about, text in printed.quotes.items():
        relation, _, task = about.partition(" ")
        if (relation, task) in values:
            checks[f"{relation} of {task} in the text"] = Finding(
                "sections V-A and V-B; Table VI", f"{text} %", f"{values[relation, task]:g} %",
                agreement(float(text) == values[relation, task]),
            )  # fmt: skip
    highest = {task: max(values[relation, task] for relation in RELATIONS) for task in TASKS}
    ratio = 100 * (highest["OCR-VQA"] / highest["KBVQA"] - 1)
    checks["ratio of the highest rates"] = Finding(
        "section IV-G; Table VI", f"nearly {printed.quotes['ratio']} % higher", f"{ratio:.1f} %",
        agreement(0 <= float(printed.quotes["ratio"]) - ratio < 5),
    )  # fmt: skip
    everywhere = all(values[r, "OCR-VQA"] > values[r, "KBVQA"] for r in RELATIONS)
    checks["OCR-VQA above KBVQA"] = Finding(
        "section V-A; Table VI",
        "higher in all relations",
        ", ".join(f"{r} {values[r, 'OCR-VQA']:g} > {values[r, 'KBVQA']:g}" for r in RELATIONS)
        if everywhere
        else "not in all",
        agreement(everywhere),
    )
    for task in TASKS:
        row = [values[relation, task] for relation in RELATIONS]
        order = ", ".join(f"{r} {v:g}" for r, v in zip(RELATIONS, row, strict=True))
        apart = max(row[0], row[2]) < min(row[1], row[3])
        checks[f"MR1, MR3 below MR2, MR4, {task}"] = Finding(
            "section IV-G; Table VI", "MR1 and MR3 are low, MR2 and MR4 substantially higher",
            order, agreement(apart),
        )  # fmt: skip
        rising = all(one <= two for one, two in pairwise(row))
        checks[f"FR rises with complexity, {task}"] = Finding(
            "section V-A; Table VI", "FR generally increases from MR1 to MR4",
            f"{order}; the last is {'the lowest' if row[3] == min(row) else 'the highest'}"
            if row[3] in (min(row), max(row)) else order,
            CONSISTENT if rising else INCONSISTENT if row[3] == min(row) else UNTOLD,
        )  # fmt: skip
    return checks


def sentence_findings(printed: Printed) -> dict[str, Finding]:
    """What sections IV-D and IV-F say of Tables II and V."""
    look = partial(printed.number, "metara_table05")
    values = {name: look(dataset=name) for task in TASKS for name in SETS[task]}
    hardest = sorted(values, key=lambda name: values[name])[-2:]
    groups = {task: [values[name] for name in SETS[task]] for task in TASKS}
    spread = {task: (np.mean(group), np.var(group, ddof=1)) for task, group in groups.items()}
    wider = all(a > b for a, b in zip(spread["OCR-VQA"], spread["KBVQA"], strict=True))
    finals: dict[str, dict[str, float]] = {}
    for model, base in printed.methods("metara_table02"):
        value = printed.number(
            "metara_table02", model=model, base=base, metric="final FR", dataset="all"
        )
        finals.setdefault(base or model, {})[model] = value
    shared = {base: rates for base, rates in finals.items() if len(rates) > 1}
    apart = {
        base: rates
        for base, rates in shared.items()
        if max(rates.values()) - min(rates.values()) > 2 * ROUNDED + EPSILON
    }
    return {
        "hardest data sets": Finding(
            "section IV-F; Table V",
            "InfoVQA and ChartQA have the highest FR",
            ", ".join(f"{name} {values[name]:g}" for name in hardest),
            agreement(set(hardest) == {"InfoVQA", "ChartQA"}),
        ),
        "mean and spread of the tasks": Finding(
            "section IV-F; Table V",
            "OCR-VQA has a higher average and a greater variance",
            "; ".join(f"{t}: mean {m:.1f}, variance {v:.1f}" for t, (m, v) in spread.items())
            + ", of two and four values",
            agreement(wider),
        ),
        "one backbone, one FR": Finding(
            "section IV-D1; Table II",
            "methods built upon the same backbone exhibit consistent FR",
            f"of {len(shared)} backbones with several methods {len(apart)} have different FR: "
            + "; ".join(
                f"{base}: {', '.join(f'{m} {v:.1f}' for m, v in rates.items())}"
                for base, rates in apart.items()
            ),
            agreement(not apart),
        ),
    }


# --- internals -----------------------------------------------------------------------------------


def _sources(printed: Printed) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """Where each of MetaRA's values in Table IV stands in Tables II and III, and its own fields."""
    frames = [printed.tables[table] for table in OVERALL]
    columns = pd.concat(frames).query("metric == 'FR'")
    sources, cells = {}, {}
    mine = printed.rows("metara_table04", metric="FR", method="MetaRA")
    for model, size, dataset, value in mine[["model", "base", "dataset", "value"]].values:
        same = columns[(columns["dataset"] == dataset) & (columns["value"] == value)]
        name = f"{model} {size} on {dataset} ({value})"
        sources[name] = [
            " ".join(filter(None, parts)) for parts in same[["model", "base", "split"]].values
        ]
        cells[name] = {"model": model, "base": size, "dataset": dataset, "method": "MetaRA"}
    return sources, cells


def _same_model(name: str, source: str) -> bool:
    """Whether two rows are of one model, as far as family and size are printed."""
    family, size = name.split(" ")[:2]
    return source.startswith(family) and size in source


def _directions(printed: Printed, method: str, ranks: Mapping[str, int]) -> dict[str, bool]:
    """Whether printed ranks are those of the values, by data set and by which end is best."""
    fits = {}
    for dataset in ("E-VQA", "TextVQA"):
        rows = printed.rows("metara_table04", dataset=dataset, method=method, metric="FR")
        values = dict(zip(rows["model"], rows["value"].astype(float), strict=True))
        for name, sign in (("lower", 1), ("higher", -1)):
            order = _order([sign * values[model] for model in ranks])
            fits[f"{dataset}, {name} is better"] = order == _order(list(ranks.values()))
    return fits


def _order(values: Sequence[Real]) -> list[float]:
    return list(map(float, rankdata(values)))

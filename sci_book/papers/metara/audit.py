"""The paper's printed numbers against each other (Tables II to VI, sections III to V).

Every finding is computed from the transcribed tables and sentences: what is printed, what the
others imply, and whether the two agree. A printed number stands for every value that rounds to it,
so two are called inconsistent only where no such values fit.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product
from math import factorial

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
SLACK = 2 * ROUNDED + EPSILON  # between two numbers so printed


class Printed(PrintedTables):
    """The paper's tables and sentences."""

    paper = "metara"

    def methods(self, table: str) -> list[tuple[str, str]]:
        """Model and base (or size) of each row of a table, in its order."""
        frame = self.tables[table]
        return list(dict.fromkeys(zip(frame["model"], frame["base"], strict=True)))

    def numbers(self, table: str, **fields: str) -> np.ndarray:
        """The values of all rows of a table with these fields."""
        return self.rows(table, **fields)["value"].to_numpy(float)


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
            fields = {"model": model, "base": base, "metric": "final FR"}
            final = printed.number(table, **fields)
            columns = printed.numbers(table, model=model, base=base, metric="FR")
            if not columns.min() - SLACK <= final <= columns.max() + SLACK:
                outside.append(Mark(table, fields, NO_AVERAGE))
            more_right += 100 - final > columns.max() + SLACK
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
        finals = np.unique(printed.numbers(table, model=model, metric="final FR"))
        mean = np.mean(values)
        checks[f"mean of Table V, {task}"] = Finding(
            f"Table V; {TITLES[table]}",
            f"final FR {' and '.join(f'{final:g}' for final in finals)}",
            f"({' + '.join(f'{v:g}' for v in values)}) / {len(values)} = {mean:.4g}",
            agreement((abs(mean - finals) <= SLACK).all()),
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
    columns = pd.concat([printed.tables[name] for name in OVERALL]).query("metric == 'FR'")
    rows = printed.rows(table, metric="FR", method="MetaRA")
    copied: dict[str, Mark] = {}
    others: dict[str, Mark] = {}
    for row in rows.itertuples():
        same = columns[(columns["dataset"] == row.dataset) & (columns["value"] == row.value)]
        where = [" ".join(filter(None, parts)) for parts in same[["model", "base", "split"]].values]
        cell = f"{row.model} {row.base} on {row.dataset} ({row.value})"
        fields = {"model": row.model, "base": row.base, "dataset": row.dataset, "method": "MetaRA"}
        if where:
            copied[f"{cell}: {', '.join(where)}"] = Mark(table, fields, COPIED)
        # As far as family and size are printed.
        if where and not any(name.startswith(row.model) and row.base in name for name in where):
            others[cell] = Mark(table, fields, ANOTHERS)
    checks["MetaRA's columns of Table IV"] = Finding(
        "Table IV; Tables II and III",
        "FR by MetaRA",
        f"{len(copied)} of {len(rows)} values are columns of Tables II and III: "
        + "; ".join(copied),
        agreement(not copied),
        list(copied.values()),
    )
    checks["whose values Table IV prints"] = Finding(
        "Table IV; Tables II and III",
        "each model's own FR",
        f"{len(others)} values stand in Tables II and III for other models alone: "
        + ("; ".join(others) or "none"),
        agreement(not others),
        list(others.values()),
    )
    for method in ("MetaVQA", "MetaRA"):
        look = partial(printed.number, table, method=method)
        ranks = [look(model=m, metric="rank") for m in whole]
        fits: dict[tuple[str, str], bool] = {}
        for dataset, (end, sign) in product(("E-VQA", "TextVQA"), (("lower", 1), ("higher", -1))):
            rates = [sign * look(model=m, dataset=dataset, metric="FR") for m in whole]
            fits[dataset, end] = np.array_equal(rankdata(rates), rankdata(ranks))
        checks[f"ranks by {method}"] = Finding(
            "Table IV",
            ", ".join(f"{m} {rank:g}" for m, rank in zip(whole, ranks, strict=True)),
            "; ".join(
                f"{dataset}, {end} is better: {'fits' if fit else 'does not fit'}"
                for (dataset, end), fit in fits.items()
            ),
            agreement(any(fits["E-VQA", e] and fits["TextVQA", e] for e in ("lower", "higher"))),
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
    rates = {
        task: {r: printed.number("metara_table06", split=r, dataset=task) for r in RELATIONS}
        for task in TASKS
    }
    for table, task in OVERALL.items():
        mine = np.mean(list(rates[task].values()))
        finals = printed.numbers(table, metric="final FR")
        checks[f"mean of Table VI, {task}"] = Finding(
            f"Table VI; {TITLES[table]}",
            f"the four relations' mean is {mine:.2f}",
            f"the mean of {len(finals)} final FR is {finals.mean():.2f}; rounding accounts for "
            f"{2 * ROUNDED:.1f}",
            agreement(abs(mine - finals.mean()) <= SLACK),
            [Mark("metara_table06", {"dataset": task}, NO_MEAN)],
        )
    for about, text in printed.quotes.items():
        relation, _, task = about.partition(" ")
        if relation in rates.get(task, ()):
            value = rates[task][relation]
            checks[f"{relation} of {task} in the text"] = Finding(
                "sections V-A and V-B; Table VI", f"{text} %", f"{value:g} %",
                agreement(float(text) == value),
            )  # fmt: skip
    knowledge, reading = rates["KBVQA"], rates["OCR-VQA"]
    ratio = 100 * (max(reading.values()) / max(knowledge.values()) - 1)
    checks["ratio of the highest rates"] = Finding(
        "section IV-G; Table VI", f"nearly {printed.quotes['ratio']} % higher", f"{ratio:.1f} %",
        agreement(0 <= printed.quote("ratio") - ratio < 5),
    )  # fmt: skip
    everywhere = all(reading[r] > knowledge[r] for r in RELATIONS)
    checks["OCR-VQA above KBVQA"] = Finding(
        "section V-A; Table VI",
        "higher in all relations",
        ", ".join(f"{r} {reading[r]:g} > {knowledge[r]:g}" for r in RELATIONS)
        if everywhere
        else "not in all",
        agreement(everywhere),
    )
    for task in TASKS:
        row = list(rates[task].values())
        order = ", ".join(f"{r} {v:g}" for r, v in rates[task].items())
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
    for row in printed.rows("metara_table02", metric="final FR").itertuples():
        finals.setdefault(row.base or row.model, {})[row.model] = float(row.value)
    shared = [base for base, rates in finals.items() if len(rates) > 1]
    apart = [
        base for base in shared if max(finals[base].values()) - min(finals[base].values()) > SLACK
    ]
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
                f"{base}: {', '.join(f'{m} {v:.1f}' for m, v in finals[base].items())}"
                for base in apart
            ),
            agreement(not apart),
        ),
    }

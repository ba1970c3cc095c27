"""The paper's sentences about its tables, against the tables.

`data_manifests/paper/quotes.csv` holds the sentences and the numbers that they name. A sentence in
words is a comparison of many numbers, made below under the sentence's id for every model.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product

import pandas as pd

from sci_book.papers.sci.audit import Tables, title
from sci_book.papers.shared.audit import CONSISTENT, INCONSISTENT, UNTOLD, Finding, agreement
from sci_book.papers.shared.chapters import PAPER
from sci_book.papers.shared.tables import number
from sci_book.results.metrics import KINDS

QUOTES = PAPER / "quotes.csv"
ADDRESS = (
    "model", "method", "subset", "split", "dataset", "construction_model", "batched",
    "question_type", "metric",
)  # fmt: skip
LESS = ("less_model", "less_method", "less_subset")
SCI, BASELINES = ("SCI3", "SCI5", "SCI7"), ("base", "TIE", "VCD", "M3ID")
SUBSETS = ("B", "S", "BS")
ROUNDS = ("original", "V1", "V2", "V3", "black", "noise500", "noise400")
CHANCE = 25.0  # percent, of four options
SHOWN = 6  # exceptions that a finding spells out
EXACT = 1e-6  # printed decimals differ by more, or not at all

Comparison = tuple[str, float, float]  # what, the number said to be greater, the other
Check = Callable[[Tables], tuple[str, str]]


def read_quotes() -> pd.DataFrame:
    """The sentences, fields as text: id, place, quote, what is printed and where to look it up."""
    return pd.read_csv(QUOTES, dtype=str, keep_default_na=False)


def quote_findings(tables: Tables, quotes: pd.DataFrame) -> dict[str, Finding]:
    """Every sentence against the tables it speaks of; lines with one id are one sentence.

    Raises:
        KeyError: a sentence in words has no check, or a number stands nowhere in its table.
    """
    findings = {}
    for name, lines in quotes.groupby("id", sort=False):
        first = lines.iloc[0]
        if first["printed"]:
            judgements = [_numeric(tables, line) for line in lines.to_dict("records")]
        else:
            judgements = [CHECKS[name](tables)]
        verdicts = {verdict for _, verdict in judgements}
        findings[name] = Finding(
            f"{first['place']}; {title(first['table'])}",
            f"“{first['quote']}”",
            ", ".join(follows for follows, _ in judgements),
            INCONSISTENT if INCONSISTENT in verdicts else verdicts.pop(),
        )
    return findings


def _numeric(tables: Tables, line: dict[str, str]) -> tuple[str, str]:
    frame, printed = tables[line["table"]], line["printed"]
    address = {field: line[field] for field in ADDRESS}
    first = _look_up(frame, address)
    if not any(line[field] for field in LESS):
        return _text(first), agreement(abs(first - float(printed)) < EXACT)
    less = address | {field.removeprefix("less_"): line[field] for field in LESS}
    second = _look_up(frame, less)
    if printed in "<>":
        agrees = first < second if printed == "<" else first > second
        return f"{_text(first)} and {_text(second)}", agreement(agrees)
    follows = f"{_text(first)} − {_text(second)} = {_text(first - second)}"
    if abs(first - second - float(printed)) < EXACT:
        return follows, CONSISTENT
    instead = _differences(frame, address, less, float(printed))
    follows += "; it is the difference of " + ", ".join(instead) if instead else ""
    return follows, INCONSISTENT


def _look_up(frame: pd.DataFrame, fields: dict[str, str]) -> float:
    matches = frame[(frame[list(fields)] == list(fields.values())).all(axis=1)]
    if len(matches) != 1:
        raise KeyError(f"{len(matches)} numbers are at {fields}; a quote must name exactly one")
    return float(matches["value"].iloc[0])


def _differences(frame, address: dict, less: dict, wanted: float) -> list[str]:
    """Methods and question types for which the two models do differ by what the sentence says."""
    differing = []
    for method, kind in product(dict.fromkeys(frame["method"]), KINDS):
        values = [
            _look_up(frame, {**fields, "method": method, "question_type": kind})
            for fields in (address, less)
        ]
        if abs(values[0] - values[1] - wanted) < EXACT:
            differing.append(f"{method}, {kind}: {_text(values[0])} − {_text(values[1])}")
    return differing


def _judge(comparisons: Iterable[Comparison]) -> tuple[str, str]:
    """Consistent if every first number is greater than its second; the exceptions otherwise."""
    comparisons = list(comparisons)
    if not comparisons:
        return "the tables print no such numbers", UNTOLD
    text, exceptions = _exceptions(comparisons)
    return text, agreement(not exceptions)


def _exceptions(comparisons: list[Comparison]) -> tuple[str, int]:
    wrong = [
        f"{what}: {_text(one)} against {_text(two)}"
        for what, one, two in comparisons
        if not one > two + EXACT
    ]
    text = f"true of {len(comparisons) - len(wrong)} of {len(comparisons)} comparisons"
    if wrong:
        more = len(wrong) - SHOWN
        text += "; not of " + "; ".join(wrong[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
    return text, len(wrong)


def _every(
    table: str,
    pairs: Sequence[tuple[str, str]],
    subsets: Sequence[str] = SUBSETS,
    kinds: Sequence[str] = ("Overall",),
) -> Check:
    """The check that of each pair of methods the first is above the second, for every model."""

    def check(tables: Tables) -> tuple[str, str]:
        value, models = _values(tables[table])
        comparisons = []
        for model, subset, kind, (first, second) in product(models, subsets, kinds, pairs):
            where = [name for name in (model, subset, kind) if name not in ("all", "Overall")]
            scores = [value[model, method, subset, kind] for method in (first, second)]
            comparisons.append((f"{', '.join(where)}: {first} and {second}", *scores))
        return _judge(comparisons)

    return check


def _close(tables: Tables) -> tuple[str, str]:
    """The two models' distance on BS; the sentence names no margin."""
    value, models = _values(tables["table02"])
    gaps = []
    for method in ("base", *SCI):
        scores = [value[model, method, "BS", "Overall"] for model in models]
        gaps.append(f"{method} {_text(max(scores) - min(scores))}")
    return f"points apart on BS: {', '.join(gaps)}; no margin is named", UNTOLD


def _question_types(tables: Tables) -> tuple[str, str]:
    """SCI5 above the base in every question type; the data sets are shown ("almost all")."""
    frame = tables["table04"]
    types, verdict = _judge(_over_base(frame[frame["dataset"] == "all"], "SCI5"))
    datasets, _ = _judge(_over_base(frame[frame["dataset"] != "all"], "SCI5"))
    return f"question types: {types}; data sets: {datasets}", verdict


def _steadier(tables: Tables) -> tuple[str, str]:
    """SCI5 improves on the base in more columns of Table 4 than any other method."""
    better = {
        method: sum(one > two for _, one, two in _over_base(tables["table04"], method))
        for method in ("SCI5", *BASELINES[1:])
    }
    text = ", ".join(f"{method} {count}" for method, count in better.items())
    most = better["SCI5"] > max(better[method] for method in BASELINES[1:])
    return f"columns better than the base: {text}", agreement(most)


def _gains(tables: Tables) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Table 3: base, SCI5 and gain by model and construction model, Overall."""
    frame = tables["table03"]
    frame = frame[frame["question_type"] == "Overall"]
    by = frame.set_index(["method", "model", "construction_model"])["value"]
    return {
        pair: (before, by["SCI5"][pair], by["SCI5"][pair] - before)
        for pair, before in by["base"].items()
    }


def _transfer(tables: Tables) -> tuple[str, str]:
    """SCI5 above the base on the other model's BS."""
    return _judge(
        (f"{model} on {maker}'s BS", after, before)
        for (model, maker), (before, after, _) in _gains(tables).items()
        if model != maker
    )


def _smaller(tables: Tables) -> tuple[str, str]:
    """Every gain on a model's own BS above its gain on another's."""
    gains = _gains(tables)
    return _judge(
        (f"{model}, own and {maker}'s BS", gains[model, model][2], gain)
        for (model, maker), (*_, gain) in gains.items()
        if model != maker
    )


def _below_chance(tables: Tables) -> tuple[str, str]:
    """Some base accuracy on MCQ under 25 %."""
    value, models = _values(tables["table02"])
    below = [
        f"{m}, {subset} {_text(value[m, 'base', subset, 'MCQ'])}"
        for m, subset in product(models, SUBSETS)
        if value[m, "base", subset, "MCQ"] < CHANCE
    ]
    return f"under 25: {'; '.join(below) or 'none'}", agreement(below)


def _added(tables: Tables) -> tuple[str, str]:
    """Some combination of Table 5 is above every combination inside it; exceptions shown."""
    frame = tables["table05"]
    frame = frame[frame["question_type"] == "Overall"]
    value = {frozenset(line["rounds"].split()): line["value"] for line in frame.to_dict("records")}
    value = {rounds: percent for rounds, percent in value.items() if "original" in rounds}
    pairs = [
        (f"{_rounds_of(more)} and {_rounds_of(few)}", value[more], value[few])
        for more, few in product(value, repeat=2)
        if few < more
    ]
    text, exceptions = _exceptions(pairs)
    return f"“can” asks for one; {text}", agreement(exceptions < len(pairs))


def _constraint(tables: Tables) -> tuple[str, str]:
    """Without the constraint SCI5 falls on B, S and BS, and by more on all rows."""
    by = tables["table06"].set_index(["method", "constraint", "subset"])["value"]
    drop = {s: by["SCI5", "yes", s] - by["SCI5", "no", s] for s in (*SUBSETS, "all")}
    falls = [(f"drop on {subset}", drop[subset], 0.0) for subset in SUBSETS]
    more = [(f"drop on all and on {s}", drop["all"], drop[s]) for s in SUBSETS]
    return _judge(falls + more)


def _chosen(tables: Tables) -> tuple[str, str]:
    """The preset's temperatures are the best of Table 8, Overall."""
    frame = tables["table08"]
    frame = frame[(frame["question_type"] == "Overall") & (frame["method"] == "SCI5")]
    by = frame.set_index(["tau1", "tau2"])["value"]
    preset = ("2.0", "0.2")
    return _judge(
        (f"τ1 = {tau1}, τ2 = {tau2}", by[preset], value)
        for (tau1, tau2), value in by.items()
        if (tau1, tau2) != preset
    )


CHECKS: dict[str, Check] = {  # by the sentence's id
    "superior": _every("table02", list(product(SCI, BASELINES))),
    "both types": _every("table02", [(sci, "base") for sci in SCI], kinds=KINDS[:2]),
    "close bases": _close,
    "more rounds": _every("table02", [("SCI5", "SCI3"), ("SCI7", "SCI5")], kinds=KINDS),
    "all types": _question_types,
    "Others fall": _every(
        "table04", [("base", other) for other in BASELINES[1:]], ["all"], ["Others"]
    ),
    "standard sets": lambda tables: _judge(_over_base(tables["table04"], "SCI5")),
    "steadier": _steadier,
    "transfer": _transfer,
    "smaller gains": _smaller,
    "below chance": _below_chance,
    "added rounds": _added,
    "constraint": _constraint,
    "chosen τ": _chosen,
}


def _over_base(frame: pd.DataFrame, method: str) -> list[Comparison]:
    """A method against the base in every column of a table, for every model."""
    columns = ["model", "dataset", "question_type"]
    by = frame.set_index(["method", *columns])["value"]
    value = by[method]
    return [
        (f"{model}, {kind if dataset == 'all' else dataset}", value[model, dataset, kind], base)
        for (model, dataset, kind), base in by["base"].items()
    ]


def _values(frame: pd.DataFrame) -> tuple[dict[tuple[str, ...], float], list[str]]:
    """Values over all data sets by (model, method, subset, question type), and the models."""
    frame = frame[frame["dataset"].isin(("", "all"))]
    by = frame.set_index(["model", "method", "subset", "question_type"])["value"].to_dict()
    return by, list(dict.fromkeys(frame["model"]))


def _rounds_of(rounds: frozenset[str]) -> str:
    return "+".join(sorted(rounds, key=ROUNDS.index))


def _text(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) and value > 100 else number(value)

"""What the paper's printed numbers imply about each other, and whether they bear it.

Sizes that must add up, one quantity printed in two tables, ratios, shares, and the reading of
"for all" that the tables fit.
"""

from collections.abc import Mapping
from itertools import combinations, product
from math import floor

import numpy as np

from sci_book.papers.sci.audit import (
    ALL,
    FIELDS,
    ROUNDED,
    Tables,
    accuracy_rows,
    counts_of,
    fits,
    sizes,
    solve,
    title,
)
from sci_book.papers.sci.audit_regions import COMPLETE, regions
from sci_book.papers.shared.audit import UNTOLD, Finding, Mark, agreement
from sci_book.papers.shared.tables import number
from sci_book.results.drbench import construct
from sci_book.results.metrics import KINDS

VISUAL, TEXTUAL = ("black", "noise500"), ("V1", "V2")
LONGEST = 1_000  # a size searched for is shorter than this
NO_SIZE = "This size does not follow from the others."
TWICE = "Another table prints another number for the same quantity."
NO_RATIO = "This ratio is not the quotient of the printed milliseconds."
NO_SHARE = "The sizes in Table 1 do not allow this share."
BASE_WRONG = "By the definition of B (section 3.3), the base has no right answer there."
FOR_ALL = (
    "By the definition of B with “for all” (section 3.3), this input has no right answer there."
)
# A table that leaves a setting out means the preset's.
PRESET = {"constraint": "yes", "tau1": "2.0", "tau2": "0.2"}


def size_findings(tables: Tables) -> dict[str, Finding]:
    """Sizes that follow from other sizes: unions, question types, data sets, the split."""
    printed = {
        (line["model"], line["subset"], line["split"], line["question_type"]): int(line["value"])
        for line in tables["table01"].to_dict("records")
    }
    summed = sizes({**tables, "table01": tables["table01"].iloc[:0]})  # from the data sets alone
    unions, types, datasets = {}, {}, {}
    for name, n in printed.items():
        model, subset, split, kind = name
        if subset == "BS":
            b, s, both = (printed[model, part, split, kind] for part in ("B", "S", "overlap"))
            unions[name] = (n, b + s - both)
        if kind == "Overall" and (model, subset, split, "MCQ") in printed:
            types[name] = (n, sum(printed[model, subset, split, part] for part in KINDS[:2]))
        if subset != "overlap":
            datasets[name] = (n, summed[(model, subset, split), ("", kind)])
    floors = {
        (cell[0],): (n, floor(0.8 * summed[("", "all", "both splits"), cell]))
        for (name, cell), n in summed.items()
        if name == ("", "all", "test") and cell[0]
    }
    return {
        "|BS| = |B| + |S| − overlap": _equal("Table 1", unions),
        "MCQ + Others = Overall": _equal("Table 1", types),
        "data sets add up to Table 1": _equal("Table 1; published sizes", datasets),
        "test split = ⌊0.8 n⌋": _equal("section 4.1; published sizes", floors),
    }


def implied_sizes(tables: Tables, tolerance: float) -> dict[str, Finding]:
    """The sizes of the set behind Table 8, by search, against the published validation sizes.

    A size is one if every number of its column is a count over it; so are its multiples, so the
    smallest is taken.
    """
    rows = accuracy_rows(tables, "table08")
    implied = {}
    for kind in KINDS:
        column = [row.cells["", kind] for row in rows]
        fitting = (n for n in range(1, LONGEST) if all(fits(v, n, tolerance) for v in column))
        implied[kind] = next(fitting, None)
    published = {kind: rows[0].sizes["", kind] for kind in KINDS}
    smallest = ", ".join(f"{implied[kind] or 'none'} {kind}" for kind in KINDS)
    return {
        "sizes behind Table 8": Finding(
            "Table 8; published sizes",
            ", ".join(f"{published[kind]} {kind}" for kind in KINDS),
            f"smallest sizes that every number fits: {smallest}",
            agreement(implied == published),
        )
    }


def repeat_findings(tables: Tables) -> dict[str, Finding]:
    """Every quantity printed in two tables, compared; a line a pair of tables."""
    places: dict[tuple[str, ...], dict[str, dict]] = {}
    for name, frame in tables.items():
        for line in frame.to_dict("records"):
            places.setdefault(_quantity(line), {})[name] = line
    pairs: dict[tuple[str, str], list] = {}
    for quantity, lines in places.items():
        for one, two in combinations(sorted(lines), 2):
            pairs.setdefault((one, two), []).append((quantity, lines[one], lines[two]))
    findings = {}
    for (one, two), shared in sorted(pairs.items()):
        differing = [case for case in shared if case[1]["value"] != case[2]["value"]]
        texts = [
            f"{' '.join(filter(None, quantity))}: {number(a['value'])} and {number(b['value'])}"
            for quantity, a, b in differing
        ]
        findings[f"{title(one)} and {title(two)}"] = Finding(
            f"{title(one)}; {title(two)}",
            f"{len(shared)} numbers in both",
            "; ".join(texts) or "all the same",
            agreement(not differing),
            [_mark(line, TWICE) for _, *both in differing for line in both],
        )
    return findings


def quantifier_findings(tables: Tables, tolerance: float) -> dict[str, Finding]:
    """Which of "for all" (∀, as printed) and "for any" (∃) the subsets were built with.

    Under greedy decoding each statement is exact. So it is asked of models whose base is never
    right on B, as the definition has it; a base that samples answers anew and tells nothing.
    """
    counts = counts_of(tables, COMPLETE, tolerance)
    rows = regions(tables, COMPLETE, tolerance)
    rows = rows[(rows["region"] == "B∖S") & (rows["question_type"] == "Overall")]
    only_biased = rows.set_index(["model", "method"])["right"]
    findings = growth_findings()
    for model in dict.fromkeys(model for model, *_ in counts):
        right = {method: own for (name, method, _), own in counts.items() if name == model}
        base = right["base"]["B"]["Overall"]
        greedy = base == 0
        n = sizes(tables)[(model, "B", "test"), ALL]
        findings[f"base on B, {model}"] = Finding(
            "Table 9; section 3.3",
            f"{number(100 * base / n)} %",
            f"{base} right, where the definition leaves only wrong answers"
            + ("" if greedy else ": the base was asked again and sampled (section 4.4, Q1)"),
            agreement(greedy),
            [_on_biased(model, "base", BASE_WRONG)],
        )
        blind = {name: right[name]["B"]["Overall"] for name in VISUAL}
        printed = ", ".join(f"{name} {number(100 * k / n)} %" for name, k in blind.items())
        findings[f"∀ on B, {model}"] = Finding(
            "section 3.3; Table 9",
            f"on B, {printed}",
            f"{_listed(blind)} right; ∀ leaves none: each would answer as the base",
            _exact(not any(blind.values()), greedy),
            [_on_biased(model, name, FOR_ALL) for name, right_on in blind.items() if right_on],
        )
        same = {name: int(only_biased[model, name]) for name in ("base", *TEXTUAL)}
        findings[f"∃ on S, inside B, {model}"] = Finding(
            "section 3.3; Table 9",
            "accuracies on S and BS",
            f"{_listed(same)} right on B∖S; ∃ leaves none: V1 and V2 answer there as the base",
            _exact(not any(same.values()), greedy),
        )
        findings[f"∃ on S, all rows, {model}"] = _changes(model, right, tables, tolerance, greedy)
    return findings


def growth_findings() -> dict[str, Finding]:
    """Whether a second dummy or rewording can only add rows to a subset, under each quantifier.

    Over every pattern of agreement and error; the paper says that DRBench grows with M and N.
    """
    patterns = np.array(list(product([False, True], repeat=5))).T
    visual, textual, wrong = patterns[:2], patterns[2:4], patterns[4]
    findings = {}
    for symbol, quantifier in (("∃", "any"), ("∀", "all")):
        few = construct(visual[:1], textual[:1], wrong, quantifier)[["B", "S", "BS"]]
        many = construct(visual, textual, wrong, quantifier)[["B", "S", "BS"]]
        lost, won = int((few & ~many).sum().sum()), int((~few & many).sum().sum())
        findings[f"DRBench grows with M and N: under {symbol}"] = Finding(
            "section 4.1",
            "“the size of DRBench increases with larger number of M and N”",
            f"from M = N = 1 to 2, over all {wrong.size} patterns of answers: {won} memberships "
            f"won, {lost} lost",
            agreement(won and not lost),
        )
    return findings


def share_findings(tables: Tables) -> dict[str, Finding]:
    """Figure 1(c): which counts its two percentages can be, and whether Table 1 allows them."""
    known = sizes(tables)
    total = known[("", "all", "test"), ALL]
    findings = {}
    for line in tables["fig01c"].to_dict("records"):
        counts = fits(line["value"], total, ROUNDED)
        own, *other = (known[(name, "BS", "test"), ALL] for name in line["model"].split(" and "))
        fine, text = own in counts, f"Table 1 has {own:,}"
        if other:
            most, chance = min(own, *other), own * other[0] / total
            fine = counts[0] <= most
            text = f"at most {most:,}; {chance:,.0f} if the two were independent"
        findings[f"hard rows of {line['model']}"] = Finding(
            "Figure 1(c); section 1; Table 1",
            f"{line['printed']} %",
            f"{' or '.join(f'{k:,}' for k in counts)} of {total:,}; {text}",
            agreement(fine),
            [Mark("fig01c", {"model": line["model"]}, NO_SHARE)],
        )
    return findings


def timing_findings(tables: Tables) -> dict[str, Finding]:
    """Table 7: every ratio against the quotient of the printed milliseconds."""
    frame = tables["table07"]
    times = frame[frame["metric"] == "milliseconds"].set_index(["method", "batched"])["value"]
    findings = {}
    for line in frame[frame["metric"] == "ratio"].to_dict("records"):
        quotient = times[line["method"], line["batched"]] / times["base", line["batched"]]
        how = "batched" if line["batched"] == "yes" else "one by one"
        findings[f"time of {line['method']}, {how}"] = Finding(
            "Table 7; section 4.4, Q2; appendix D",
            f"{line['printed']} times the base",
            f"{number(quotient, 4)} from the milliseconds",
            agreement(abs(quotient - line["value"]) <= ROUNDED),
            [_mark(line, NO_RATIO)],
        )
    return findings


def _mark(line: Mapping[str, str], reason: str) -> Mark:
    return Mark(line["table"], {field: line[field] for field in FIELDS}, reason)


def _on_biased(model: str, method: str, reason: str) -> Mark:
    fields = {"model": model, "method": method, "subset": "B", "question_type": "Overall"}
    return Mark(COMPLETE, fields, reason)


def _equal(place: str, pairs: Mapping[tuple[str, ...], tuple[int, int]]) -> Finding:
    """A finding over many equalities of sizes: (printed, implied) by what they are of.

    A size of Table 1 is of a model, subset, split and question type; another is not in the paper.
    """
    unequal = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    wrong = [
        f"{' '.join(filter(None, name))}: {one:,}, not {two:,}"
        for name, (one, two) in unequal.items()
    ]
    fields = ("model", "subset", "split", "question_type")
    marks = [
        Mark("table01", dict(zip(fields, name, strict=True)), NO_SIZE)
        for name in unequal
        if len(name) == len(fields)
    ]
    return Finding(
        place,
        f"{len(pairs)} sizes",
        "; ".join(wrong) or "all follow from the others",
        agreement(not wrong),
        marks,
    )


def _quantity(line: Mapping[str, str]) -> tuple[str, ...]:
    """What a printed number is of, the same wherever it stands."""
    fields = {field: line[field] for field in FIELDS if field != "table"}
    if fields["construction_model"] == fields["model"]:
        fields["construction_model"] = ""
    if fields["dataset"] == "all":
        fields["dataset"] = ""
    if fields["method"] != "SCI":  # a method's name settles its rounds
        fields["rounds"] = ""
    for field, preset in PRESET.items():
        fields[field] = "" if fields[field] == preset else fields[field]
    return tuple(fields.values())


def _changes(model, right, tables: Tables, tolerance: float, greedy: bool) -> Finding:
    """Under ∃ nothing changes outside S, so all rows change as much as S does."""
    inside = {name: right["base"]["S"]["Overall"] - right[name]["S"]["Overall"] for name in TEXTUAL}
    everywhere = {}
    for row in accuracy_rows(tables, "table10"):
        counts = solve(row, tolerance).counts
        if row.fields["model"] == model and len(counts) == 1:
            everywhere[row.fields["method"]] = counts[0]["all", "Overall"]
    place = "section 3.3; Tables 9 and 10"
    printed = f"on S, right less than the base: {_listed(inside)}"
    if not {"base", *TEXTUAL} <= set(everywhere):
        lacking = " and ".join(name for name in TEXTUAL if name not in everywhere)
        text = f"Table 10's {lacking} fit no counts"
        return Finding(place, printed, text, UNTOLD)
    fewer = {name: everywhere["base"] - everywhere[name] for name in TEXTUAL}
    text = f"on all rows: {_listed(fewer)}; ∃ wants the same as on S"
    return Finding(place, printed, text, _exact(inside == fewer, greedy))


def _exact(agrees: bool, greedy: bool) -> str:
    return agreement(agrees) if greedy else UNTOLD


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number(count, 0)}" for name, count in counts.items())

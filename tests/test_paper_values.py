"""The transcribed tables of the paper, checked by the arithmetic they must obey.

An accuracy printed with two decimals over a known number of rows comes from a whole number of
right answers, and the answers of the two question types add up to the overall ones. A slip of one
digit in the transcription breaks one of these sums.
"""

import csv
from functools import cache
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[1] / "data_manifests" / "paper"
TYPES = ("MCQ", "Others", "Overall")
MODELS = ("LLaVA-NeXT", "Qwen2-VL")
ROUNDED = 0.005 + 1e-9  # two decimals, rounded
TRUNCATED = 0.01 + 1e-9  # two decimals, cut off in places

ROWS = {
    "table01": 28,
    "table02": 126,
    "table03": 24,
    "table04": 90,
    "table05": 42,
    "table06": 12,
    "table07": 14,
    "table08": 27,
    "table09": 234,
    "table10": 162,
    "fig01c": 2,
    "dataset_sizes": 84,
}


@cache
def table(name):
    with (PAPER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def select(name, **fields):
    return [row for row in table(name) if all(row[k] == v for k, v in fields.items())]


def value(name, **fields):
    (row,) = select(name, **fields)
    return float(row["value"])


def printed_rows(name, **fields):
    """The table's rows as printed: {what identifies the row: {question type: percentage}}."""
    rows = {}
    for row in select(name, metric="accuracy", **fields):
        key = tuple(v for k, v in row.items() if k not in ("table", "question_type", "value"))
        rows.setdefault(key, {})[row["question_type"]] = float(row["value"])
    return rows


def counts(percentage, total, tolerance=ROUNDED):
    """Every whole number of right answers that prints as this percentage."""
    near = round(percentage * total / 100)
    return [
        count
        for count in range(max(near - 2, 0), near + 3)
        if abs(100 * count / total - percentage) <= tolerance
    ]


def triples(row, sizes, tolerance=ROUNDED):
    """Every (MCQ, Others, Overall) of right answers that fits a printed row and adds up."""
    mcq, others, overall = (
        counts(row[t], size, tolerance) for t, size in zip(TYPES, sizes, strict=True)
    )
    return [(a, b, a + b) for a in mcq for b in others if a + b in overall]


def sizes(model, subset):
    return [
        int(value("table01", model=model, subset=subset, split="test", question_type=t))
        for t in TYPES
    ]


@cache
def right(model, method):
    """Right answers of Table 2, {subset: (MCQ, Others, Overall)}; each is the only fit."""
    found = {}
    for subset in ("B", "S", "BS"):
        (row,) = printed_rows("table02", model=model, method=method, subset=subset).values()
        (found[subset],) = triples(row, sizes(model, subset))
    return found


def only_sensitive(model, method):
    """(right, rows, percent) by question type on the rows in S but not in B."""
    both, bias = right(model, method)["BS"], right(model, method)["B"]
    rows = [x - y for x, y in zip(sizes(model, "BS"), sizes(model, "B"), strict=True)]
    hits = [x - y for x, y in zip(both, bias, strict=True)]
    return {t: (h, n, 100 * h / n) for t, h, n in zip(TYPES, hits, rows, strict=True)}


@pytest.mark.parametrize("name", ROWS)
def test_tables_are_whole(name):
    rows = table(name)
    assert len(rows) == ROWS[name]
    identities = [tuple(v for k, v in row.items() if k != "value") for row in rows]
    assert len(set(identities)) == len(rows)
    assert {row["table"] for row in rows} == {name}
    assert all(float(row["value"]) >= 0 for row in rows)


@pytest.mark.parametrize("model", MODELS)
def test_subset_sizes_add_up(model):
    for column in zip(*(sizes(model, s) for s in ("B", "S", "overlap", "BS")), strict=True):
        b, s, overlap, union = column
        assert union == b + s - overlap
    for subset in ("B", "S", "overlap", "BS"):
        mcq, others, overall = sizes(model, subset)
        assert mcq + others == overall


def test_dataset_sizes_sum_to_table_1():
    sums = {}
    for row in table("dataset_sizes"):
        for question_type in (row["question_type"], "Overall"):
            key = (row["model"], row["subset"], row["split"], question_type)
            sums[key] = sums.get(key, 0) + int(row["value"])
    printed = {
        (row["model"], row["subset"], row["split"], row["question_type"]): int(row["value"])
        for row in table("table01")
        if row["subset"] != "overlap"
    }
    assert {key: sums[key] for key in printed} == printed


def test_splits_are_a_fifth_and_four_fifths():
    published = {"mmbench_en": 4876, "mmbench_cn": 4876, "ccbench": 2040} | {
        "mmstar": 1500,
        "mme": 2374,
        "vilp": 900,
    }
    for dataset, rows in published.items():
        test = value("dataset_sizes", dataset=dataset, subset="all", split="test")
        validation = value("dataset_sizes", dataset=dataset, subset="all", split="validation")
        assert test == rows * 8 // 10
        assert test + validation == rows


def test_figure_1c():
    (*_, hard), (*_, rows) = sizes("LLaVA-NeXT", "BS"), sizes("", "all")
    assert (hard, rows) == (3270, 13251)
    assert hard in counts(value("fig01c", model="LLaVA-NeXT"), rows)
    assert counts(value("fig01c", model="LLaVA-NeXT and Qwen2-VL"), rows) == [972, 973]


@pytest.mark.parametrize("name", ["table02", "table09"])
def test_drbench_accuracies_are_counts(name):
    rows = printed_rows(name)
    assert len(rows) == ROWS[name] // 3
    for key, row in rows.items():
        model, _, subset, *_ = key
        assert len(triples(row, sizes(model, subset))) == 1, key


def test_table_2_is_part_of_table_9():
    complete = printed_rows("table09")
    assert all(complete[key] == row for key, row in printed_rows("table02").items())


def test_table_3_rows_are_counts_and_repeat_table_2():
    rows = printed_rows("table03")
    for (model, method, subset, split, construction, metric), row in rows.items():
        assert len(triples(row, sizes(construction, subset))) == 1
        if model == construction:
            assert printed_rows("table02")[model, method, subset, split, metric] == row


@pytest.mark.parametrize("name", ["table04", "table10"])
def test_original_accuracies_are_counts(name):
    """All but the rows of Qwen2-VL under TC-V1 and TC-V2 alone, which fit no size."""
    misfits = set()
    for row in select(name):
        if row["dataset"] != "all":
            size = int(value("dataset_sizes", dataset=row["dataset"], subset="all", split="test"))
            if not counts(float(row["value"]), size):
                misfits.add((row["model"], row["method"]))
    for (model, method, *_), row in printed_rows(name, dataset="all").items():
        if not triples(row, sizes("", "all")):
            misfits.add((model, method))
    expected = {"table04": set(), "table10": {("Qwen2-VL", "V1"), ("Qwen2-VL", "V2")}}
    assert misfits == expected[name]


def test_original_accuracies_are_sums_over_data_sets():
    for (model, method, *_), row in printed_rows("table10", dataset="all").items():
        if (model, method) in {("Qwen2-VL", "V1"), ("Qwen2-VL", "V2")}:
            continue
        sums = dict.fromkeys(TYPES, 0)
        for cell in select("table10", model=model, method=method):
            if cell["dataset"] != "all":
                size = int(
                    value("dataset_sizes", dataset=cell["dataset"], subset="all", split="test")
                )
                (count,) = counts(float(cell["value"]), size)
                sums[cell["question_type"]] += count
                sums["Overall"] += count
        assert tuple(sums.values()) in triples(row, sizes("", "all"))


def test_table_4_is_part_of_table_10():
    complete = printed_rows("table10")
    assert all(complete[key] == row for key, row in printed_rows("table04").items())


def test_table_5_rows_that_fit_no_counts():
    misfits = [
        tuple(row.values())
        for row in printed_rows("table05").values()
        if not triples(row, sizes("Qwen2-VL", "BS"))
    ]
    assert misfits == [(26.67, 30.97, 27.93), (27.37, 31.13, 28.46), (11.58, 23.21, 14.98)]


def test_table_5_repeats_tables_2_and_9():
    rows = {key[1]: row for key, row in printed_rows("table05").items() if key[1] != "SCI"}
    assert set(rows) == {"base", "black", "noise500", "V1", "V2", "SCI3", "SCI5"}
    for method, row in rows.items():
        (other,) = printed_rows("table09", model="Qwen2-VL", method=method, subset="BS").values()
        assert row == other


def validation(subset):
    found = dict.fromkeys(TYPES, 0)
    model = "" if subset == "all" else "Qwen2-VL"
    for row in select("dataset_sizes", model=model, subset=subset, split="validation"):
        found[row["question_type"]] += int(row["value"])
        found["Overall"] += int(row["value"])
    return found


def test_table_6_accuracies_are_counts():
    for row in table("table06"):
        assert len(counts(float(row["value"]), validation(row["subset"])["Overall"])) == 1


def test_table_8_truncates_in_places():
    expected = {"MCQ": 284, "Others": 143, "Overall": 427}
    assert validation("BS") == expected
    rows = printed_rows("table08")
    fits = [len(triples(row, expected.values(), TRUNCATED)) for row in rows.values()]
    assert fits == [1] * 9
    assert sum(not triples(row, expected.values()) for row in rows.values()) == 3


def test_table_8_repeats_table_6():
    unconstrained = {"constraint": "no", "subset": "BS"}
    assert value("table06", **unconstrained) == 27.63
    for method, fields in (("base", {"tau1": ""}), ("SCI5", {"tau1": "2.0", "tau2": "0.2"})):
        constraint = {"base": "", "SCI5": "yes"}[method]
        assert value("table08", method=method, question_type="Overall", **fields) == value(
            "table06", method=method, subset="BS", constraint=constraint
        )


def test_table_7_ratios():
    base = value("table07", method="base", batched="no", metric="milliseconds")
    for row in select("table07", metric="ratio"):
        time = value("table07", method=row["method"], batched=row["batched"], metric="milliseconds")
        assert abs(time / base - float(row["value"])) <= TRUNCATED


@pytest.mark.parametrize(
    ("model", "rows", "percent"),
    [
        ("LLaVA-NeXT", 1115, (55.0, 50.6, 49.9, 50.2, 51.7, 53.4, 50.0)),
        ("Qwen2-VL", 349, (48.4, 43.8, 47.3, 48.1, 46.4, 47.3, 47.6)),
    ],
)
def test_accuracy_on_sensitivity_only_rows(model, rows, percent):
    """What Table 2 implies for S without B: every method stands below the base."""
    methods = ("base", "SCI3", "SCI5", "SCI7", "TIE", "VCD", "M3ID")
    found = [only_sensitive(model, method)["Overall"] for method in methods]
    assert {n for _, n, _ in found} == {rows}
    assert tuple(round(p, 1) for *_, p in found) == percent


def test_sensitivity_only_rows_hide_opposite_signs():
    base, sci5 = (only_sensitive("LLaVA-NeXT", method) for method in ("base", "SCI5"))
    for question_type, rows, before, after in (
        ("Others", 449, 48.8, 61.0),
        ("MCQ", 666, 59.2, 42.3),
    ):
        assert base[question_type][1] == sci5[question_type][1] == rows
        assert round(base[question_type][2], 1) == before
        assert round(sci5[question_type][2], 1) == after


@pytest.mark.parametrize("model", MODELS)
def test_right_answers_on_the_overlap_are_possible(model):
    for row in select("table02", model=model, subset="B", question_type="Overall"):
        hits = right(model, row["method"])
        overlap = [b + s - u for b, s, u in zip(hits["B"], hits["S"], hits["BS"], strict=True)]
        for count, size in zip(overlap, sizes(model, "overlap"), strict=True):
            assert 0 <= count <= size

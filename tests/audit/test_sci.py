"""The counts behind the first paper's accuracies, and what they imply of the rows in S alone."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.audit.engine import printed_tables
from sci_book.audit.findings import CONSISTENT, INCONSISTENT, UNTOLD, in_question
from sci_book.papers.sci import audit, audit_counts, audit_regions
from sci_book.results.metrics import KINDS
from tests.audit.printed_tables import copied, of, plant

TOLERANCE = 0.01
LLAVA, QWEN = "LLaVA-NeXT", "Qwen2-VL"


@pytest.fixture(scope="module")
def printed():
    return audit_counts.read()


@pytest.fixture(scope="module")
def counted(printed):
    return audit_counts.count_findings(printed, TOLERANCE)


def changed(folder, name, cells):
    """The tables with other numbers, by their fields."""
    copied("sci", folder)
    for fields, value in cells:
        plant(folder, name, fields, value)
    return printed_tables("sci", folder=folder)


@given(st.integers(1, 3_000), st.integers(0, 10_000), st.sampled_from([0.005, 0.01]))
def test_fits_are_those_of_a_search_over_all_counts(n, hundredths, tolerance):
    percent = hundredths / 100
    above = max(0.005 + 1e-9, tolerance - 1e-9)
    every = [k for k in range(n + 1) if -0.005 - 1e-9 <= 100 * k / n - percent <= above]
    assert audit_counts.fits(percent, n, tolerance) == every


@given(st.lists(st.integers(1, 400), min_size=2, max_size=2), st.data())
def test_a_row_made_of_counts_is_solved(sizes, data):
    right = [data.draw(st.integers(0, n)) for n in sizes]
    cells = {("", "MCQ"): (right[0], sizes[0]), ("", "Others"): (right[1], sizes[1])}
    cells["", "Overall"] = (sum(right), sum(sizes))
    row = audit_counts.Row(
        {},
        {cell: round(100 * k / n, 2) for cell, (k, n) in cells.items()},
        {cell: n for cell, (_, n) in cells.items()},
    )
    solved = audit_counts.solve(row, TOLERANCE)
    assert solved.reading == "rounded"
    assert {cell: k for cell, (k, _) in cells.items()} in solved.counts


def test_every_row_on_a_subset_has_one_solution_where_any_fits(printed):
    """Also the nine rows of Table 8, three of which are cut off."""
    for name, count in (("table02", 42), ("table03", 8), ("table08", 9), ("table09", 78)):
        rows = audit_counts.accuracy_rows(printed, name)
        solved = [audit_counts.solve(row, TOLERANCE) for row in rows]
        assert [len(each.counts) for each in solved] == [1] * count
    for row in audit_counts.accuracy_rows(printed, "table06"):
        assert len(audit_counts.solve(row, 0.005).counts) == 1


def test_table_8_is_cut_off_in_three_rows(printed, counted):
    cut = {a: each for a, each in counted.items() if "cut off" in each.follows}
    assert [each.printed for each in cut.values()] == [
        "3.87 / 18.88 / 8.89", "23.59 / 23.77 / 23.65", "11.97 / 20.97 / 14.99",
    ]  # fmt: skip
    strict = of(audit_counts.count_findings(printed, 0.005), INCONSISTENT)
    assert strict == of(counted, INCONSISTENT) | set(cut)


def test_planted_counts_raise_no_finding(tmp_path):
    cells = []
    for about, right in {"V2 noise500": (331, 159), "black noise500": (340, 160)}.items():
        rows = zip(KINDS, (*right, sum(right)), (1243, 513, 1756), strict=True)
        cells += [
            ({"rounds": f"original {about}", "question_type": kind}, f"{100 * count / n:.2f}")
            for kind, count, n in rows
        ]
    tables = changed(tmp_path, "table05", cells)
    left = of(audit_counts.count_findings(tables, TOLERANCE), INCONSISTENT)
    assert {about for about in left if about.startswith("Table 5")} == {
        f"Table 5: {QWEN}, SCI, original V1 V2, BS"
    }


def test_a_row_of_another_set_is_recognised(printed, tmp_path):
    """The base's numbers on S, planted as numbers on B, name the set they belong to."""
    row = {"model": LLAVA, "method": "SCI3"}
    cells = [
        ({**row, "subset": "B", "question_type": cell.fields["question_type"]}, cell.text)
        for cell in printed.cells("table02", subset="S", **row)
    ]
    tables = changed(tmp_path, "table02", cells)
    found = audit_counts.count_findings(tables, TOLERANCE)
    assert f"the row fits {LLAVA} S test" in found[f"Table 2: {LLAVA}, SCI3, B"].follows


def test_numbers_of_a_set_without_a_size_cannot_be_told(tmp_path):
    copied("sci", tmp_path)
    path = tmp_path / "paper" / "dataset_sizes.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if ",validation," not in line), encoding="utf-8")
    tables = printed_tables("sci", folder=tmp_path)
    found = audit_counts.count_findings(tables, TOLERANCE)
    assert {found[f"Table 6: {QWEN}, base, {part}"].verdict for part in ("B", "S", "BS")} == {
        UNTOLD
    }


def test_numbers_printed_twice_are_found_by_search(printed, tmp_path):
    found = audit.repeat_findings(printed)
    assert {f.verdict for f in found.values()} == {CONSISTENT}
    counts = {"Table 2 and Table 9": 126, "Table 4 and Table 10": 90, "Table 6 and Table 8": 2}
    assert all(found[name].printed == f"{n} numbers in both" for name, n in counts.items())
    assert {"Table 2 and Table 3", "Table 5 and Table 9"} <= set(found)
    place = {"model": LLAVA, "method": "VCD", "subset": "S", "question_type": "MCQ"}
    tables = changed(tmp_path, "table02", [(place, "40.55")])
    marked = in_question(tables.tables, audit.repeat_findings(tables).values())
    assert {name: reasons.map(bool).sum() for name, reasons in marked.items()} == {
        "table02": 1, "table09": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "n", "percent"),
    [
        (LLAVA, 1115, (55.0, 50.6, 49.9, 50.2, 51.7, 53.4, 50.0)),
        (QWEN, 349, (48.4, 43.8, 47.3, 48.1, 46.4, 47.3, 47.6)),
    ],
)
def test_accuracy_on_sensitive_rows_alone(printed, model, n, percent):
    wide = audit_regions.sensitive_only(printed, "table09", TOLERANCE)
    methods = ["base", "SCI3", "SCI5", "SCI7", "TIE", "VCD", "M3ID"]
    assert wide.attrs["rows"][model, "Overall"] == n
    assert tuple(wide.loc[methods, (model, "Overall")].round(1)) == percent


def test_regions_agree_with_a_count_over_drawn_rows():
    rows = list(itertools.product([0, 1], repeat=3)) * 3  # in B, in S, right
    sets = {"B": lambda b, s: b, "S": lambda b, s: s, "BS": lambda b, s: b or s}
    counts = {name: sum(r for b, s, r in rows if inside(b, s)) for name, inside in sets.items()}
    assert audit_regions._regions(counts) == {
        "B∩S": sum(r for b, s, r in rows if b and s),
        "S∖B": sum(r for b, s, r in rows if s and not b),
        "B∖S": sum(r for b, s, r in rows if b and not s),
    }


def test_impossible_counts_are_found(tmp_path):
    """All right on B, but not on BS, which holds B."""
    row = {"model": LLAVA, "method": "SCI5", "subset": "B"}
    cells = [({**row, "question_type": kind}, "100.0") for kind in KINDS]
    found = audit_regions.region_findings(changed(tmp_path, "table09", cells), TOLERANCE)
    assert of(found, INCONSISTENT) == {f"B∩S, S∖B and B∖S, Table 9, {LLAVA}"}

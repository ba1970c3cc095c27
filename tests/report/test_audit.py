"""The audit finds what is wrong with the paper's tables, and what is planted; nothing else."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.sci import audit, audit_counts, audit_implied, audit_quotes, audit_regions
from sci_book.papers.shared import audit as kit
from sci_book.papers.shared.audit import CONSISTENT, INCONSISTENT, UNTOLD
from sci_book.results.metrics import KINDS

TOLERANCE = 0.01
LLAVA, QWEN = "LLaVA-NeXT", "Qwen2-VL"


@pytest.fixture(scope="module")
def printed():
    return audit.read_tables()


@pytest.fixture(scope="module")
def counted(printed):
    return audit_counts.count_findings(printed, TOLERANCE)


@pytest.fixture(scope="module")
def quantifier(printed):
    return audit_implied.quantifier_findings(printed, TOLERANCE)


@pytest.fixture(scope="module")
def quoted(printed):
    return audit_quotes.quote_findings(printed, audit_quotes.read_quotes())


def changed(tables, name, new, **fields):
    """A copy of the tables in which the one number at these fields is another."""
    frame = tables[name].copy()
    mask = (frame[list(fields)] == list(fields.values())).all(axis=1)
    assert mask.sum() == 1
    frame.loc[mask, "value"] = new
    frame.loc[mask, "printed"] = str(new)
    return {**tables, name: frame}


def wrong(findings):
    return {about for about, each in findings.items() if each.verdict == INCONSISTENT}


@given(st.integers(1, 3_000), st.integers(0, 10_000), st.sampled_from([0.005, 0.01]))
def test_fits_are_those_of_a_search_over_all_counts(n, hundredths, tolerance):
    percent = hundredths / 100
    above = max(0.005 + 1e-9, tolerance - 1e-9)
    every = [k for k in range(n + 1) if -0.005 - 1e-9 <= 100 * k / n - percent <= above]
    assert audit.fits(percent, n, tolerance) == every


@given(st.lists(st.integers(1, 400), min_size=2, max_size=2), st.data())
def test_a_row_made_of_counts_is_solved(sizes, data):
    right = [data.draw(st.integers(0, n)) for n in sizes]
    cells = {("", "MCQ"): (right[0], sizes[0]), ("", "Others"): (right[1], sizes[1])}
    cells["", "Overall"] = (sum(right), sum(sizes))
    row = audit.Row(
        {},
        {cell: round(100 * k / n, 2) for cell, (k, n) in cells.items()},
        {cell: n for cell, (_, n) in cells.items()},
    )
    solved = audit.solve(row, TOLERANCE)
    assert solved.reading == "rounded"
    assert {cell: k for cell, (k, _) in cells.items()} in solved.counts


def test_rows_that_fit_no_counts_come_out_and_no_others(counted):
    rows = {about: each.printed for about, each in counted.items() if about in wrong(counted)}
    assert sorted(rows.values())[:3] == [
        "11.58 / 23.21 / 14.98", "26.67 / 30.97 / 27.93", "27.37 / 31.13 / 28.46",
    ]  # fmt: skip
    assert set(rows) == {
        f"Table 5: {QWEN}, SCI, original V2 noise500, BS",
        f"Table 5: {QWEN}, SCI, original black noise500, BS",
        f"Table 5: {QWEN}, SCI, original V1 V2, BS",
        f"Table 10: {QWEN}, V1, all",
        f"Table 10: {QWEN}, V2, all",
    }
    for about in rows:
        assert "no other known set fits the row" in counted[about].follows
        assert "its totals are the means of its parts" in counted[about].follows
    assert kit.verdict_of(counted.values()) == "fails"


def test_every_row_on_a_subset_has_one_solution_where_any_fits(printed):
    """Also the nine rows of Table 8, three of which are cut off."""
    for name, count in (("table02", 42), ("table03", 8), ("table08", 9), ("table09", 78)):
        solved = [audit.solve(row, TOLERANCE) for row in audit.accuracy_rows(printed, name)]
        assert [len(each.counts) for each in solved] == [1] * count
    for row in audit.accuracy_rows(printed, "table06"):
        assert len(audit.solve(row, 0.005).counts) == 1


def test_table_8_is_cut_off_in_three_rows(printed, counted):
    cut = {a: each for a, each in counted.items() if "cut off" in each.follows}
    assert [each.printed for each in cut.values()] == [
        "3.87 / 18.88 / 8.89", "23.59 / 23.77 / 23.65", "11.97 / 20.97 / 14.99",
    ]  # fmt: skip
    strict = wrong(audit_counts.count_findings(printed, 0.005))
    assert strict == wrong(counted) | set(cut)


def test_the_summary_counts_every_number(printed):
    frame = audit_counts.count_summary(printed, TOLERANCE)
    assert frame.loc["Table 2", ["numbers", "silent", "fit", "rounded"]].tolist() == [
        126, 0, 126, 42,
    ]  # fmt: skip
    assert frame.loc["Table 10", ["rows", "rounded", "fit no counts"]].tolist() == [18, 16, 2]
    assert (frame["rounded"] + frame["truncated"] + frame["fit no counts"] == frame["rows"]).all()
    assert "5 fit no counts" in audit_counts.summary_of(printed, TOLERANCE)


def test_totals_are_means_of_their_parts_everywhere(printed):
    found = audit_counts.mean_findings(printed)
    assert {f"totals of Table {n}" for n in (2, 3, 4, 5, 8, 9, 10)} == set(found)
    assert not wrong(found)


@pytest.mark.parametrize(
    ("name", "model", "method", "cell", "new", "twice"),
    [
        ("table02", LLAVA, "VCD", {"subset": "S", "question_type": "MCQ"}, 40.55, True),
        ("table09", QWEN, "V3", {"subset": "B", "question_type": "Overall"}, 6.98, False),
        ("table04", LLAVA, "SCI5", {"dataset": "mmstar"}, 45.57, True),
    ],
)
def test_a_slip_of_one_digit_is_found(printed, counted, name, model, method, cell, new, twice):
    """As a row without counts; also as a number that differs where it is printed twice."""
    tables = changed(printed, name, new, model=model, method=method, **cell)
    (slip,) = wrong(audit_counts.count_findings(tables, TOLERANCE)) - wrong(counted)
    assert slip.startswith(f"{audit.title(name)}: {model}, {method}")
    assert bool(wrong(audit_implied.repeat_findings(tables))) == twice
    means = wrong(audit_counts.mean_findings(tables))
    assert means == {f"totals of {audit.title(name)}"}


def test_planted_counts_raise_no_finding(printed):
    tables = dict(printed)
    for about, right in {"V2 noise500": (331, 159), "black noise500": (340, 160)}.items():
        rows = zip(
            ("MCQ", "Others", "Overall"), (*right, sum(right)), (1243, 513, 1756), strict=True
        )
        for kind, count, n in rows:
            place = {"rounds": f"original {about}", "question_type": kind}
            tables = changed(tables, "table05", round(100 * count / n, 2), **place)
    left = wrong(audit_counts.count_findings(tables, TOLERANCE))
    assert {about for about in left if about.startswith("Table 5")} == {
        f"Table 5: {QWEN}, SCI, original V1 V2, BS"
    }


def test_a_row_of_another_set_is_recognised(printed):
    """The base's numbers on S, planted as numbers on B, name the set they belong to."""
    frame = printed["table02"]
    on_s = frame[(frame["model"] == LLAVA) & (frame["subset"] == "S") & (frame["method"] == "SCI3")]
    tables = dict(printed)
    for line in on_s.to_dict("records"):
        place = {k: line[k] for k in ("model", "method", "question_type")}
        tables = changed(tables, "table02", line["value"], subset="B", **place)
    found = audit_counts.count_findings(tables, TOLERANCE)
    assert f"the row fits {LLAVA} S test" in found[f"Table 2: {LLAVA}, SCI3, B"].follows


def test_numbers_of_a_set_without_a_size_cannot_be_told(printed):
    sizes = printed["dataset_sizes"]
    tables = {**printed, "dataset_sizes": sizes[sizes["split"] == "test"]}
    found = audit_counts.count_findings(tables, TOLERANCE)
    assert {found[f"Table 6: {QWEN}, base, {part}"].verdict for part in ("B", "S", "BS")} == {
        UNTOLD
    }


def test_sizes_follow_from_sizes(printed):
    assert not wrong(audit_implied.size_findings(printed))
    found = audit_implied.implied_sizes(printed, TOLERANCE)["sizes behind Table 8"]
    assert found.verdict == CONSISTENT
    assert found.follows.endswith("284 MCQ, 143 Others, 427 Overall")


@pytest.mark.parametrize(
    ("name", "fields", "broken"),
    [
        ("table01", {"model": LLAVA, "subset": "overlap", "question_type": "MCQ"},
         {"|BS| = |B| + |S| − overlap", "MCQ + Others = Overall"}),
        ("dataset_sizes", {"model": "", "dataset": "mme", "split": "test"},
         {"data sets add up to Table 1", "test split = ⌊0.8 n⌋"}),
    ],
)  # fmt: skip
def test_a_wrong_size_is_found(printed, name, fields, broken):
    assert wrong(audit_implied.size_findings(changed(printed, name, 340, **fields))) == broken


def test_numbers_printed_twice_agree_and_pairs_are_found_by_search(printed):
    found = audit_implied.repeat_findings(printed)
    assert not wrong(found)
    assert found["Table 2 and Table 9"].printed == "126 numbers in both"
    assert found["Table 4 and Table 10"].printed == "90 numbers in both"
    assert found["Table 6 and Table 8"].printed == "2 numbers in both"
    assert {"Table 2 and Table 3", "Table 5 and Table 9"} <= set(found)


def test_ratios_and_shares(printed):
    shares = audit_implied.share_findings(printed)
    assert "3,270 or 3,271 of 13,251" in shares[f"hard rows of {LLAVA}"].follows
    assert "972 or 973 of 13,251" in shares[f"hard rows of {LLAVA} and {QWEN}"].follows
    times = audit_implied.timing_findings(printed)
    assert len(times) == 6 and not wrong(shares) and not wrong(times)
    place = {"method": "SCI7", "batched": "yes", "metric": "ratio"}
    assert wrong(audit_implied.timing_findings(changed(printed, "table07", 2.49, **place))) == {
        "time of SCI7, batched"
    }
    place = {"model": LLAVA}
    assert wrong(audit_implied.share_findings(changed(printed, "fig01c", 24.86, **place)))


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
    finding = audit_regions.gain_findings(printed, TOLERANCE)[f"gains on S, Table 9, {model}"]
    assert finding.verdict == INCONSISTENT


def test_the_sum_hides_opposite_signs(printed):
    finding = audit_regions.gain_findings(printed, TOLERANCE)
    text = finding[f"question types on S∖B, Table 9, {LLAVA}"].follows
    assert "n = 666 MCQ and n = 449 Others" in text
    assert "SCI5 MCQ 59.2 → 42.3, Others 48.8 → 61.0" in text
    assert f"gains on S, Table 6, {QWEN}" in finding


def test_regions_agree_with_a_count_over_drawn_rows():
    rows = list(itertools.product([0, 1], repeat=3)) * 3  # in B, in S, right
    sets = {"B": lambda b, s: b, "S": lambda b, s: s, "BS": lambda b, s: b or s}
    counts = {name: sum(r for b, s, r in rows if inside(b, s)) for name, inside in sets.items()}
    assert audit_regions._regions(counts) == {
        "B∩S": sum(r for b, s, r in rows if b and s),
        "S∖B": sum(r for b, s, r in rows if s and not b),
        "B∖S": sum(r for b, s, r in rows if b and not s),
    }


def test_impossible_counts_are_found(printed):
    assert not wrong(audit_regions.region_findings(printed, TOLERANCE))
    tables = printed
    for kind in KINDS:  # all right on B, but not on BS, which holds B
        place = {"model": LLAVA, "method": "SCI5", "subset": "B", "question_type": kind}
        tables = changed(tables, "table09", 100.0, **place)
    found = audit_regions.region_findings(tables, TOLERANCE)
    assert wrong(found) == {f"B∩S, S∖B and B∖S, Table 9, {LLAVA}"}


def test_the_table_and_the_figure_hold_every_method(printed):
    wide = audit_regions.sensitive_only(printed, "table09", TOLERANCE)
    table = audit_regions.sensitive_table(wide, name="t", caption="c").frame
    assert table.loc["SCI5", (LLAVA, "Overall", "n = 1,115")] == "49.9 (−5.1)"
    figure = audit_regions.draw_sensitive_only(printed, TOLERANCE)
    assert [ax.get_title() for ax in figure.axes[::3]] == ["MCQ, S∖B: n = 666", "MCQ, S∖B: n = 163"]


def test_the_tables_rule_out_for_all(quantifier):
    assert quantifier[f"∀ on B, {LLAVA}"].printed == "on B, black 4.50 %, noise500 5.85 %"
    assert quantifier[f"∀ on B, {LLAVA}"].verdict == INCONSISTENT
    assert quantifier[f"∃ on S, inside B, {LLAVA}"].verdict == CONSISTENT
    assert quantifier[f"∃ on S, inside B, {LLAVA}"].follows.startswith("base 0, V1 0, V2 0")
    change = quantifier[f"∃ on S, all rows, {LLAVA}"]
    assert "V1 89, V2 176" in change.printed and "V1 90, V2 178" in change.follows
    assert quantifier["DRBench grows with M and N: under ∃"].verdict == CONSISTENT
    assert quantifier["DRBench grows with M and N: under ∀"].verdict == INCONSISTENT


def test_a_base_that_samples_tells_nothing_of_the_quantifier(quantifier):
    assert quantifier[f"base on B, {QWEN}"].verdict == INCONSISTENT
    assert quantifier[f"base on B, {QWEN}"].follows.startswith("86 right")
    about = [name for name in quantifier if QWEN in name and name[0] in "∀∃"]
    assert len(about) == 3 and {quantifier[name].verdict for name in about} == {UNTOLD}


def test_sentences_that_the_tables_do_not_bear(quoted):
    assert wrong(quoted) == {
        "10.19 points", "superior", "more rounds", "Others fall", "standard sets",
    }  # fmt: skip
    follows = quoted["10.19 points"].follows
    assert follows.startswith("80.58 − 70.46 = 10.12") and "SCI5, Overall: 80.98 − 70.79" in follows
    assert "SCI3 and VCD: 43.16 against 43.52" in quoted["superior"].follows
    assert "base and M3ID: 71.86 against 71.86" in quoted["Others fall"].follows
    assert quoted["close bases"].verdict == UNTOLD
    assert (
        quoted["hard rows"].follows == "24.68" and quoted["batched"].follows == "1.29, 1.81, 2.48"
    )


def test_a_sentence_follows_its_table(printed, quoted):
    place = {"model": QWEN, "method": "base", "dataset": "all", "question_type": "Overall"}
    tables = changed(printed, "table04", 80.65, **place)
    again = audit_quotes.quote_findings(tables, audit_quotes.read_quotes())
    assert wrong(again) == wrong(quoted) - {"10.19 points"}


def test_a_quote_must_name_one_number(printed):
    quotes = audit_quotes.read_quotes()
    quotes.loc[quotes["id"] == "zero on B", "method"] = "nobody"
    with pytest.raises(KeyError, match="0 numbers are at"):
        audit_quotes.quote_findings(printed, quotes)


def test_the_ledger_lists_what_is_wrong_first_and_the_tally_counts(counted):
    table = kit.ledger(counted, name="a", caption="c")
    verdicts = table.frame["verdict"].tolist()
    assert verdicts == [INCONSISTENT] * 5 + [CONSISTENT] * (len(counted) - 5)
    tally = kit.tally({"one": counted, "none": {}})
    assert tally.loc["one"].tolist() == tally.loc["all"].tolist()
    assert tally.loc["none"].sum() == 0 and tally.loc["one", INCONSISTENT] == 5


def redrawn(tables, findings):
    """The redrawn tables of the paper by name, without the repository's sizes."""
    own = {name: table for name, table in tables.items() if name != audit.REPOSITORY}
    rows = dict.fromkeys(own, audit.ROW_LABELS).__getitem__
    drawn = kit.redraw(own, findings.values(), rows=rows, title=audit.title)
    return {table.name: table for table in drawn}


def marked(table):
    """The cells of a redrawn table that bear a sign, by row and column."""
    return {
        (row, column)
        for column, texts in table.frame.items()
        for row, text in texts.items()
        if text[0] in kit.SIGNS
    }


def test_the_cells_in_question_are_those_of_the_findings(printed, counted, quantifier):
    drawn = redrawn(printed, counted | quantifier)
    assert list(drawn) == ["redrawn-table05", "redrawn-table10", "redrawn-table09"]
    five = drawn["redrawn-table05"]
    without = {
        (f"SCI, original {round_} noise500", kind) for round_ in ("V2", "black") for kind in KINDS
    }
    assert marked(five) == without | {("SCI, original V1 V2", "Others")}
    assert five.notes == [f"† {audit_counts.NO_COUNT}"] and "7 of 42 cells" in five.caption
    for table, name in ((five, "table05"), (drawn["redrawn-table09"], "table09")):
        assert sorted(text.strip("†‡ ") for text in table.frame.to_numpy().ravel()) == sorted(
            printed[name]["printed"]
        )
    misfits = sum(
        len(audit.solve(row, TOLERANCE).misfits) for row in audit.accuracy_rows(printed, "table10")
    )
    assert len(marked(drawn["redrawn-table10"])) == misfits == 10
    nine = drawn["redrawn-table09"].frame["B", "Overall"]
    assert nine[nine.str.contains("[†‡]")].to_dict() == {
        f"{LLAVA}, black": "† 4.50", f"{LLAVA}, noise500": "† 5.85", f"{QWEN}, base": "‡ 6.11",
    }  # fmt: skip


def test_a_slip_is_marked_where_each_check_meets_it(printed):
    place = {"model": LLAVA, "method": "VCD", "subset": "S", "question_type": "MCQ"}
    tables = changed(printed, "table02", 40.55, **place)
    drawn = redrawn(tables, audit_implied.repeat_findings(tables))
    assert {name: marked(table) for name, table in drawn.items()} == {
        name: {(f"{LLAVA}, VCD", ("S", "MCQ"))} for name in ("redrawn-table02", "redrawn-table09")
    }
    size = {"model": QWEN, "subset": "BS", "question_type": "MCQ"}
    tables = changed(printed, "table01", 1244, **size)
    reasons = kit.in_question(tables, audit_implied.size_findings(tables).values())["table01"]
    assert reasons.map(bool).sum() == 2  # the size itself, and Overall, which is not its sum


def test_verdicts_come_from_findings():
    def finding(verdict):
        return kit.Finding("", "", "", verdict)

    assert kit.verdict_of([finding(CONSISTENT)]) == "holds"
    assert kit.verdict_of([finding(CONSISTENT), finding(UNTOLD)]) == "inconclusive"
    assert kit.verdict_of([finding(UNTOLD), finding(INCONSISTENT)]) == "fails"
    assert kit.verdict_of([]) == "inconclusive"


def test_a_folder_without_tables_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no transcribed table"):
        audit.read_tables(tmp_path)

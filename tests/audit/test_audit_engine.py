"""A paper's audit is one file of checks: tried with a made-up paper, whose slips are found."""

import re
import textwrap

import pytest

from sci_book.audit import engine, pages
from sci_book.audit.engine import CheckError
from sci_book.audit.findings import (
    CONSISTENT,
    INCONSISTENT,
    UNTOLD,
    Finding,
    Mark,
    in_question,
    not_consistent,
    verdict_of,
)
from sci_book.audit.kinds import Outcome
from sci_book.audit.printed import Cell, PrintedTables
from tests.audit.printed_tables import of

TABLE = """\
table,model,set,metric,unit,value
made_table01,Ada,easy,right,percent,90.0
made_table01,Ada,hard,right,percent,42.5
made_table01,Ada,mean,right,percent,66.3
made_table01,Ada,easy,low,percent,82.6
made_table01,Ada,easy,high,percent,94.5
made_table01,Ben,easy,right,percent,80.0
made_table01,Ben,hard,right,percent,40.0
made_table01,Ben,mean,right,percent,60.0
made_table01,Ben,easy,low,percent,71.1
made_table01,Ben,easy,high,percent,86.7
"""
SCORES = """\
table,model,set,metric,unit,value
made_table02,Ada,easy,precision,percent,50.0
made_table02,Ada,easy,recall,percent,25.0
made_table02,Ada,easy,f1,percent,33.3
made_table02,Ada,easy,milliseconds,,250.0
made_table02,Ben,easy,milliseconds,,100.0
made_table02,Ada,easy,ratio,,2.50
made_table02,Ada,easy,right,percent,90.0
"""
QUOTES = """\
id,place,quote,printed
lead,section 4,Ada is 10.0 points ahead,10.0
models,section 1,we try two models,two
best,section 5,Ada is always better,
"""
CHECKS = """\
labels: [model]
checks:
- about: mean, {model}
  check: mean
  table: made_table01
  each: {rows: {model: "*"}}
  printed: {model: "{model}", set: mean}
  parts: {model: "{model}", set: [easy, hard], metric: right}
  reason: It is not the mean of both sets.
- about: count, {model}, {set}
  check: count
  table: made_table01
  each: {rows: {model: "*"}, set: [easy, hard]}
  printed: {model: "{model}", set: "{set}", metric: right}
  n: 200
- about: interval, {model}
  check: interval
  level: 95
  table: made_table01
  each: {model: [Ada, Ben]}
  low: {model: "{model}", metric: low}
  high: {model: "{model}", metric: high}
  parts: {model: "{model}", set: easy, metric: right}
  n: 100
- about: F1
  check: f1
  table: made_table02
  printed: {metric: f1}
  precision: {metric: precision}
  recall: {metric: recall}
- about: ratio
  check: ratio
  table: made_table02
  printed: {metric: ratio}
  of: {model: Ada, metric: milliseconds}
  to: {model: Ben, metric: milliseconds}
- about: twice
  check: repeated
  table: made_table02
  printed: {metric: right}
  again: {table: made_table01, model: Ada, set: easy, metric: right}
  reason: {printed: It is printed otherwise., again: It is printed otherwise.}
- about: lead
  check: difference
  quote: lead
  table: made_table01
  printed: lead
  of: {model: Ada, set: easy, metric: right}
  less: {model: Ben, set: easy, metric: right}
- about: models
  check: rows
  place: section 1
  printed: models
  among: {table: made_table01}
  of: [model]
- about: best
  check: compared
  quote: best
  table: made_table01
  together: {each: {set: [easy, hard]}, label: "{set}"}
  greater: {model: Ada, set: "{set}", metric: right}
  less: {model: Ben, set: "{set}", metric: right}
"""
ABOUT = {"mean, Ada", "mean, Ben", "count, Ada, easy", "count, Ada, hard", "count, Ben, easy",
         "count, Ben, hard", "interval, Ada", "interval, Ben", "F1", "ratio", "twice", "lead",
         "models", "best"}  # fmt: skip


@pytest.fixture
def made(tmp_path):
    """Makes a paper of two tables, sentences and checks, each with a text replaced; audits it."""

    def audit(*changes, own=None):
        files = {"paper/made_table01.csv": TABLE, "paper/made_table02.csv": SCORES,
                 "paper/made_quotes.csv": QUOTES, "audits/made.yaml": CHECKS}  # fmt: skip
        for name, text in files.items():
            for old, new in changes:
                text = text.replace(old, new)
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return engine.audit("made", own, folder=tmp_path)

    return audit


def test_a_made_up_paper_without_a_slip_raises_no_finding(made):
    audit = made()
    assert set(audit.findings) == ABOUT
    assert of(audit.findings, CONSISTENT) == ABOUT and not pages.redraw(audit)
    assert verdict_of(audit.findings.values()) == "holds"
    assert "0 of 17 printed numbers are in question. 0 of 14 checks fail" in pages.summary(audit)


@pytest.mark.parametrize(
    ("old", "new", "about"),
    [
        ("mean,right,percent,66.3", "mean,right,percent,66.4", {"mean, Ada"}),
        ("Ada,hard,right,percent,42.5", "Ada,hard,right,percent,42.7", {"count, Ada, hard"}),
        ("Ben,easy,high,percent,86.7", "Ben,easy,high,percent,86.6", {"interval, Ben"}),
        ("f1,percent,33.3", "f1,percent,33.5", {"F1"}),
        ("ratio,,2.50", "ratio,,2.51", {"ratio"}),
        ("milliseconds,,250.0", "milliseconds,,205.0", {"ratio"}),
        ("made_table02,Ada,easy,right,percent,90.0", "made_table02,Ada,easy,right,percent,90.1",
         {"twice"}),
        ("ahead,10.0", "ahead,10.2", {"lead"}),
        ("models,two", "models,three", {"models"}),
        ("Ben,hard,right,percent,40.0", "Ben,hard,right,percent,42.5", {"best", "mean, Ben"}),
        ("made_table01,Ada,easy,right,percent,90.0", "made_table01,Ada,easy,right,percent,90.5",
         {"mean, Ada", "lead", "twice", "interval, Ada"}),
    ],
)  # fmt: skip
def test_one_wrong_cell_is_found_by_the_checks_that_meet_it(old, new, about, made):
    assert of(made((old, new)).findings, INCONSISTENT) == about


def test_the_cells_of_a_check_that_fails_are_marked(made):
    score = "made_table02,Ada,easy,right,percent,"
    audit = made(
        ("mean,right,percent,66.3", "mean,right,percent,67.3"), (f"{score}90", f"{score}9")
    )
    reasons = audit.in_question()
    marked = {name: table[table.map(bool)].to_dict() for name, table in reasons.items()}
    assert marked == {
        "made_table01": {
            0: ("It is printed otherwise.",),
            2: ("It is not the mean of both sets.",),
        },
        "made_table02": {6: ("It is printed otherwise.",)},
    }
    first, second = pages.redraw(audit)
    assert first.caption.startswith("Table 1 as printed") and second.folded
    assert first.notes == ["† It is printed otherwise.", "‡ It is not the mean of both sets."]


def test_a_sentence_is_quoted_with_its_place_and_exceptions_are_named(made):
    lead, best = (made(("Ben,hard,right,percent,40.0", "Ben,hard,right,percent,45.0")).findings[a]
                  for a in ("lead", "best"))  # fmt: skip
    assert lead[:3] == ("section 4; Table 1", "“Ada is 10.0 points ahead”", "90.0 − 80.0 = 10.0")
    assert best.follows == "true of 1 of 2 comparisons; not of hard: 42.5 against 45.0"


def test_a_check_may_leave_a_verdict_open_and_call_a_papers_own_kind(made):
    open_ = ("  check: f1\n", "  check: f1\n  otherwise: cannot be told\n")
    slip = ("f1,percent,33.3", "f1,percent,35.5")
    assert made(open_, slip).findings["F1"].verdict == UNTOLD

    def odd(printed: Cell) -> Outcome:
        return Outcome(None, {"what": printed.value / 2})

    def listed(tables: PrintedTables) -> dict[str, Finding]:
        return {"rows": Finding("", "", str(len(tables.tables)), CONSISTENT)}

    own = {"odd": odd, "listed": listed}
    more = textwrap.dedent("""\
        checks:
        - python: listed
        - about: half of {model}
          check: odd
          each: {rows: {table: made_table01, set: mean, model: "*"}}
          printed: {table: made_table01, set: mean, model: "{model}"}
          says: "{printed} %"
          follows: half is {what:.2f}, of {printed.model}
        """)
    findings = made(("checks:\n", more), own=own).findings
    assert findings["rows"].follows == "2"
    assert findings["half of Ada"][1:4] == ("66.3 %", "half is 33.15, of Ada", UNTOLD)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("check: f1", "check: f2", "made.yaml, 'F1': 'f2' is no kind; expected one of sum"),
        ("  precision:", "  precison:", "'precison' is no key of a check of this kind; expected"),
        ("metric: precision", "metric: precisoin", "precision is 0 cells of .*; expected one"),
        ("printed: {metric: right}", "printed: {}", "printed is 7 cells of {}; expected one"),
        ("table: made_table02\n  printed: {metric: f1}", "table: made_table9\n  printed: {}",
         "'made_table9' is no table, but made_table01, made_table02"),
        ("{metric: precision}", "{metrik: precision}", "'metrik' is no key of a cell of made"),
        ("  recall: {metric: recall}\n", "", "a check of this kind needs recall"),
        ("- about: F1\n  check", "- check", "a check needs about"),
        ("labels: [model]\n", "", "made.yaml needs labels"),
        ("milliseconds,,100.0", "milliseconds,,0", "made.yaml, 'ratio': .*division by zero"),
        ("quote: best", "quote: worst", "No sentence of made is called 'worst'"),
        ("printed: lead", "printed: led", "No sentence of made is called 'led'"),
        ("about: F1", "about: F1 {f}", "{f} is none of table"),
        ("about: F1", "about: ratio", "two findings are about"),
        ('"*"}, set: [easy, hard]', '"*"}, set: []', "holds no case"),
        ("printed: {metric: f1}", "printed: {metric: yes}", "a field is text, in quotes"),
        ("labels: [model]", "labels: [model]\ntitels: {}", "'titels' is no key of made.yaml"),
        ("check: f1", "check: f1\n  otherwise: maybe", "otherwise is 'maybe'; expected one of"),
        ("- about: F1\n  check: f1", "- python: f1\n  check: f1", "is no key of a check in Python"),
        ("each: {model: [Ada, Ben]}", "each: {model: [Ada, Cy]}", "low is 0 cells"),
    ],
)  # fmt: skip
def test_a_file_that_asks_for_what_there_is_not_is_refused_by_name(old, new, said, made):
    with pytest.raises(CheckError, match=said):
        made((old, new))


@pytest.mark.parametrize(
    "word", ["printed.__class__", "printed[0]", "printed.fields", "printed!r:x", "printed.value"]
)
def test_the_words_of_a_sentence_reach_nothing_but_names_and_fields(word, made):
    with pytest.raises((CheckError, KeyError)):
        made(("  check: f1\n", f"  check: f1\n  says: '{{{word}}}'\n"))


def test_papers_without_tables_and_sentences_alike_are_refused(made, tmp_path):
    made()
    with pytest.raises(FileNotFoundError, match=r"no transcribed table \(other_table\*"):
        PrintedTables("other", tmp_path / "paper")
    with pytest.raises(ValueError, match=r"made_quotes.csv names two sentences alike"):
        made(("best,section", "lead,section"))
    printed = PrintedTables("edge")
    with pytest.raises(LookupError, match="edge_table06 holds 0 values of"):
        printed.text("edge_table06", model="no such model")
    with pytest.raises(LookupError, match="holds 2 values"):
        printed.number("edge_table06", dataset="COCO")


def test_a_mark_without_a_number_is_refused():
    tables = PrintedTables("oric").tables
    lost = Mark("oric_table01", {"model": "nobody"}, "It is not there.")
    with pytest.raises(LookupError, match="oric_table01 has no number at"):
        in_question(tables, [Finding("", "", "", INCONSISTENT, [lost])])
    assert not in_question(tables, [Finding("", "", "", CONSISTENT, [lost])])


def test_verdicts_come_from_findings():
    by_verdict = {v: Finding("", "", "", v) for v in (CONSISTENT, INCONSISTENT, UNTOLD)}
    assert list(not_consistent(by_verdict)) == [INCONSISTENT, UNTOLD]
    for verdicts, word in (
        ([CONSISTENT], "holds"), ([CONSISTENT, UNTOLD], "inconclusive"),
        ([UNTOLD, INCONSISTENT], "fails"), ([], "inconclusive"),
    ):  # fmt: skip
        assert verdict_of([by_verdict[v] for v in verdicts]) == word
    table = pages.ledger(by_verdict, name="a", caption="c")
    assert table.frame["verdict"].tolist() == [INCONSISTENT, UNTOLD, CONSISTENT]
    assert re.match(r"prose-a", table.name)

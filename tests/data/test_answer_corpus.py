"""The corpus of answers: how it is filled and scored, and what it must hold."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from sci_book.data.answers import corpus as answer_corpus
from sci_book.data.answers.corpus import CORPORA, PAGE_TABLES, cases, score, shares, tables, worst
from sci_book.data.answers.rules import parse

PHRASES, READINGS = (
    yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("answer_phrases.yaml", "answer_readings.yaml")
)
SMALL = """
option_sets:
  colours: {language: en, options: {A: red, B: blue, C: light green}}
  颜色: {language: zh, options: {A: 红色, B: 蓝色, C: 绿色}}
things: {en: [dog, car], zh: [狗]}
numbers: [{n: "3", word: three, zh: 三}, {n: "12", word: twelve, zh: 十二}]
kinds:
- name: one
  type: mcq
  language: en
  answer: "{letter}"
  templates: ['{"is": "{letter}"} {Text}', "no"]
- name: two
  type: mcq
  language: en
  answer: "{other}"
  templates: ["{lower}{wide} {third_text}"]
- name: 三
  type: yesno
  language: zh
  answer: "{no}"
  pairs: [[是, 否]]
  templates: ["{yes} {thing}"]
- name: four
  type: number
  language: en
  answer: unknown
  templates: ["{n} {word} {thing} {other_zh}"]
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "kinds.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_templates_are_filled_and_every_other_brace_stays(small):
    found = [(case.kind, case.text, case.intended) for case in cases(small)]
    assert found[:3] == [
        ("one", '{"is": "A"} Red', "A"),
        ("one", '{"is": "B"} Blue', "B"),
        ("one", '{"is": "C"} Light green', "C"),
    ]
    # "no" of one option set is one text, whichever option it was filled for.
    assert [text for kind, text, _ in found if kind == "one"].count("no") == 1
    assert ("two", "aＡ light green", "B") in found and ("two", "cＣ blue", "A") in found
    assert ("三", "是 狗", "no") in found and ("三", "否 狗", "yes") in found
    assert [case for case in found if case[0] == "four"] == [
        ("four", "3 three dog 十二", None),
        ("four", "12 twelve car 三", None),
    ]


def test_kinds_weigh_equally_and_a_wrong_unknown_is_not_wrong(small):
    def read(question_type, text, options):
        return {"mcq": "A", "yesno": None, "number": "3"}[question_type]

    scored = score(cases(small), read)
    counts = scored.set_index("kind")[["texts", "right", "unknown", "wrong"]]
    assert counts.loc["two"].tolist() == [3, 1, 0, 2]
    assert counts.loc["三"].tolist() == [2, 0, 2, 0]
    assert counts.loc["four"].tolist() == [2, 0, 0, 2]
    total = shares(scored).set_index("type").loc["all"]
    kinds = counts[["right", "unknown", "wrong"]].div(counts["texts"], axis=0)
    assert total["kinds"] == 4 and total["texts"] == counts["texts"].sum()
    assert total["wrong"] == pytest.approx(100 * kinds["wrong"].mean(), abs=0.01)
    assert worst(scored)["kind"].tolist()[0] == "four"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("name: two", "name: one"), "'one'"),
        (("type: number", "type: essay"), "'essay'.*mcq, yesno, number"),
        (('templates: ["{lower}{wide} {third_text}"]', "templates: []"), "has no text"),
    ],
)
def test_a_corpus_that_cannot_be_filled_is_refused(small, change, message):
    small.write_text(small.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        cases(small)


def test_the_corpus_is_broad_and_holds_what_was_met():
    every = cases()
    scored = score(every)
    assert len(scored) >= 137 and len(every) >= 6_476
    assert set(scored["type"]) == set(answer_corpus.TYPES)
    assert set(scored["language"]) == {"en", "zh"}
    held = {(case.text, case.intended) for case in every}
    assert {(text, meant) for text, meant in READINGS["met"]} <= held
    # None may be meant in two ways: the rules see the text and its options alone.
    meant = {}
    for case in every:
        key = case.question_type, case.text, tuple(case.options.items())
        meant.setdefault(key, set()).add(case.intended)
    two_ways = [key for key, ways in meant.items() if len(ways) > 1]
    assert not two_ways


@pytest.fixture(scope="module")
def made():
    return tables(sorted(CORPORA.glob("*.yaml")))


def test_nine_of_ten_kinds_are_read_right_and_hardly_one_wrong(made):
    own = made["counts"].query("corpus == 'kinds' and rules == \"this book's\"").set_index("type")
    assert own.loc["all", "right"] >= 90 and own.loc["all", "wrong"] <= 0.2
    assert (own["right"] >= 90).all() and (own["wrong"] <= 0.2).all()


@pytest.mark.parametrize("name", PAGE_TABLES)
def test_the_page_shows_the_tables_of_today(made, name):
    shown = pd.read_csv(PAGE_TABLES[name])
    pd.testing.assert_frame_equal(shown, made[name].reset_index(drop=True), check_dtype=False)
    page = (PAGE_TABLES[name].parent / "your_own_data.md").read_text(encoding="utf-8")
    assert PAGE_TABLES[name].name in page


def test_a_corpus_is_scored_from_its_file_without_touching_the_page(small, capsys):
    before = {name: path.read_bytes() for name, path in PAGE_TABLES.items()}
    answer_corpus.main([str(small)])
    assert "light green" not in (shown := capsys.readouterr().out) and "two" in shown
    assert {name: path.read_bytes() for name, path in PAGE_TABLES.items()} == before


@pytest.mark.parametrize("block", PHRASES, ids=lambda block: f"{block['type']} {block['answer']}")
def test_phrases_are_read_as_they_are_meant(block):
    meant = None if block["answer"] == "unknown" else block["answer"]
    options = block.get("options", {})
    read = {text: parse(block["type"], text, options) for text in block["texts"]}
    assert {text: answer for text, answer in read.items() if answer != meant} == {}
    # What stays unknown is listed, so that a rule that reads it takes it off the list.
    unread = {text: parse(block["type"], text, options) for text in block.get("unread", [])}
    assert {text: answer for text, answer in unread.items() if answer is not None} == {}

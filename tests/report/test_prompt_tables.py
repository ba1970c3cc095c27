"""Figures 3 to 5: the printed prompts, the prompts asked, and what rewrites do to answers."""

import re

import numpy as np
import pytest

from sci_book.data.datasets import Row
from sci_book.papers.sci.chapters import measures, prompt_tables, rewrite_effects, rewrite_moves
from sci_book.papers.sci.chapters.rewrite_effects import FLOWS, ROUNDS
from sci_book.papers.shared import chapters
from sci_book.papers.shared.evidence import Evidence
from sci_book.results.records import Records, build_table, write_records
from sci_book.results.statistics import difference
from sci_core.counterfactuals import REWRITES, rewrite
from tests.rows import answers, sample

NAMES = ["original", *ROUNDS, "black", "noise500"]
TRUTH = {"mcq": "ABCD", "yesno": ["yes", "no"], "short": ["red", "blue"]}
FAMILY = "qwen2_vl"


def row_of(place, question_type):
    return Row(
        dataset="made", index=place, position=place, group=f"g{place // 3}",
        question_type=question_type, answer=TRUTH[question_type][place % 2], image_hash="",
        question="Is it red? Please answer yes or no." if question_type == "yesno" else "What?",
        options=dict(zip("ABCD", "wxyz", strict=True)) if question_type == "mcq" else {},
    )  # fmt: skip


def records_of(types, model="pocket-qwen2vl", seed=0):
    """Records with drawn answers, unknown ones among them; the last row failed."""
    rng, built = np.random.default_rng(seed), []
    for place, question_type in enumerate(types):
        row = row_of(place, question_type)
        spoilt = place == len(types) - 1
        line = sample(
            place, dataset=row.dataset, group=row.group, question_type=question_type,
            truth=row.answer, options="".join(row.options),
            prompt_hash=prompt_tables.prompt_hash(row, FAMILY, ROUNDS),
            error="RowError" if spoilt else None,
        )  # fmt: skip
        said = [*TRUTH[question_type], row.answer, "what"]
        drawn = {name: str(rng.choice(said)) for name in NAMES}
        built.append(line if spoilt else line | answers(drawn, unread=["what"]))
    stamp = {
        "schema": 1, "model": model, "family": FAMILY, "revision": "r", "rounds": NAMES,
        "rows": "same", "methods": [], "datasets": {"made": "sum"}, "eos": [9],
    }  # fmt: skip
    return Records(build_table(built, NAMES), stamp, {})


def subject_of(tmp_path, types, model="pocket-qwen2vl"):
    write_records(tmp_path / f"{model}.parquet", records_of(types, model))
    return chapters.subjects([model], tmp_path)[0]


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    types = ["mcq", "yesno", "short"] * 60
    return subject_of(tmp_path_factory.mktemp("records"), types)


@pytest.fixture(scope="module")
def printed():
    return prompt_tables.read_prompts()


@pytest.fixture(scope="module")
def questions(subject):
    frame = subject.records.frame
    types = zip(frame["index"], frame["question_type"], strict=True)
    return {("made", int(place)): row_of(int(place), kind) for place, kind in types}


def test_the_library_decodes_with_the_papers_tables(printed):
    compared = prompt_tables.comparison(printed)
    assert len(compared) == 18 and (compared["result"] == "the same").all()
    text = prompt_tables.reading(compared)
    assert "*holds*, 18 of 18" in text and "does not fit their script: none" in text


def test_only_the_toolkits_own_wording_is_not_printed(printed, monkeypatch):
    word = "Answer the question using a single word or phrase."
    assert prompt_tables.unprinted(printed) == [(name, word) for name in ROUNDS]
    compared = prompt_tables.comparison(printed)
    monkeypatch.setattr(prompt_tables, "REWRITES", {"V1": REWRITES["V1"], "X": {}})
    text = prompt_tables.reading(compared)
    assert f"“{word}”" in text and "the paper's three: X." in text


def test_one_changed_character_and_one_missing_instruction_are_found(printed, monkeypatch):
    first, second = printed["original"].iloc[:2]
    table = {**REWRITES["V1"], first: REWRITES["V1"][first] + "。"}
    del table[second]
    monkeypatch.setattr(prompt_tables, "REWRITES", {**REWRITES, "V1": table})
    compared = prompt_tables.comparison(printed)
    assert compared["result"].tolist()[:2] == ["different", "not in the library"]
    assert (compared["result"].iloc[2:] == "the same").all()
    assert "*fails*, 16 of 18" in prompt_tables.reading(compared)
    shown = prompt_tables.prompt_table(compared, "V1").frame["library"].tolist()
    assert shown == [table[first], "not in the library", *["the same"] * 4]


def test_a_mark_against_the_script_is_found(printed):
    assert prompt_tables.wrong_marks(printed) == []
    marked = printed.copy()
    marked.loc[0, "rewritten_mark"] = "Chinese"
    assert prompt_tables.wrong_marks(marked) == [printed["rewritten"].iloc[0]]


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("anchor", REWRITES["V1"])
def test_the_instruction_is_what_the_rewrite_put_there(name, anchor):
    prompt = f"Question: what?\nA. Please\n{anchor}"
    assert prompt_tables.instruction(prompt, rewrite(prompt, name)) == REWRITES[name][anchor]


def test_worked_prompts_stand_on_one_line_and_absent_questions_are_dashes(subject, questions):
    table = prompt_tables.worked_prompts(subject, questions).frame
    assert table.loc["made", "prompt"].startswith("Question: What? ⏎ Options: ⏎ A. w")
    assert table.loc["made", "V2"].startswith("请仔细")
    assert prompt_tables.worked_prompts(subject, {}).frame.loc["made"].tolist() == ["—"] * 4


def test_a_prompt_that_was_not_asked_is_counted(subject, questions):
    def counts(rows):
        return prompt_tables.evaluated_prompts([subject], rows).frame.iloc[0].tolist()

    n = len(questions)
    assert counts(questions) == [str(n - 1), str(n - 1), str(n - 1)]  # the last row failed
    other = questions | {("made", 0): row_of(1, "mcq")}
    other["made", 0] = Row(**{**vars(row_of(0, "mcq")), "question": "Who?"})
    assert counts(other) == [str(n - 1), str(n - 1), str(n - 2)]
    assert counts({}) == [str(n - 1), "0", "0"]


def test_a_data_set_that_is_absent_is_named(subject):
    rows, absent = prompt_tables.rows_at_hand([subject])
    assert rows == {} and len(absent) == 1 and absent[0].startswith("made: ")


def test_families_read_their_prompts_once(subject):
    assert prompt_tables.one_a_family([subject, subject]) == [subject]


@pytest.mark.parametrize("name", ROUNDS)
def test_changes_and_flows_agree_with_a_loop_over_rows(subject, name):
    frame = subject.records.frame
    moved, flow = rewrite_effects.changed(subject, name), rewrite_effects.flow(subject, name)
    for place in range(len(frame) - 1):
        truth, before, after = (
            frame[column][place] for column in ("truth", "parsed:original", f"parsed:{name}")
        )
        if before is None:
            expected = "from unknown"
        elif after is None:
            expected = "to unknown"
        elif before == after:
            expected = ""
        elif truth in (before, after):
            expected = "right → wrong" if truth == before else "wrong → right"
        else:
            expected = "wrong → other wrong"
        assert (flow[place], moved[place]) == (expected, expected != "")


def test_changed_rows_are_those_that_make_s(subject):
    sensitive = subject.sets("any", "rows")["S"].to_numpy()
    either = rewrite_effects.changed(subject, "V1") | rewrite_effects.changed(subject, "V2")
    assert (sensitive == (either & rewrite_effects.rows_of(subject, "rows"))).all()


def test_flows_add_up_to_the_changes(subject):
    table = rewrite_effects.flows(subject, "rows").frame.astype(int)
    assert list(table.columns) == ["changed", *FLOWS]
    assert (table[list(FLOWS)].sum(axis=1) == table["changed"]).all()
    rows = rewrite_effects.rows_of(subject, "rows")
    for name in ROUNDS:
        assert table.loc[name, "changed"] == rewrite_effects.changed(subject, name)[rows].sum()


def test_shares_are_of_test_rows_by_type_and_data_set(subject):
    table = rewrite_effects.shares(subject, "rows").frame
    assert list(table.index) == ["MCQ", "Others", "Overall", "made"]
    assert table.loc["Overall"].tolist() == table.loc["made"].tolist()
    rows = rewrite_effects.rows_of(subject, "rows")
    share = 100 * rewrite_effects.changed(subject, "V2")[rows].mean()
    assert table.loc["Overall", "V2"].startswith(f"{share:.1f} [")


def test_what_a_rewrite_changes_beyond_another_is_paired(subject):
    of = Evidence(subject, [], None)
    (sample,) = measures.changed(of, ["V2"], ["all"], ["V1"])
    rows = rewrite_effects.rows_of(subject, "rows")
    gap = rewrite_effects.changed(subject, "V2")[rows].astype(float)
    gap -= rewrite_effects.changed(subject, "V1")[rows]
    expected = difference(gap, subject.groups[rows])
    assert sample.what == "V2 − V1, all" and sample.interval == expected
    kinds = measures.changed(of, ["V2"], ["all"], ["V1"], ["MCQ", "Others"])
    assert sum(len(part.values) for part in kinds) == rows.sum() == expected.n


def test_net_change_stands_beside_table_10(subject):
    frame = rewrite_effects.net_change([subject], "rows")
    assert frame["paper"].tolist()[:2] == pytest.approx([80.60 - 80.58, 80.56 - 80.58])
    assert np.isnan(frame["paper"].iloc[2])
    rows = rewrite_effects.rows_of(subject, "rows")
    right = subject.records.correct
    gap = right("V1")[rows].sum() - right("base")[rows].sum()
    assert frame["reproduced"].iloc[0] == pytest.approx(100 * gap / rows.sum())


@pytest.mark.parametrize("question_type", ["mcq", "yesno"])
def test_transitions_count_every_test_row_once(subject, question_type):
    rows = rewrite_effects.rows_of(subject, "rows")
    n = (rows & (subject.records.frame["question_type"] == question_type)).sum()
    for name in ROUNDS:
        table = rewrite_moves.transitions(subject, name, question_type, "rows")
        assert table.to_numpy().sum() == n and table.index[-1] == table.columns[-1] == "?"
    counts = rewrite_moves.transitions(subject, "V1", question_type, "rows")
    first, second = counts.index[:2]
    frame = subject.records.frame[rows]
    pair = (frame["parsed:original"] == first) & (frame["parsed:V1"] == second)
    assert counts.loc[first, second] == pair.sum()


def test_pulls_compare_with_a_uniform_choice(subject):
    found = rewrite_moves.pulls(subject, "rows")
    for _, part in found.groupby("rewrite"):
        assert part["share"].sum() == pytest.approx(100)
        known = part[part["answer"] != "?"]
        assert known["uniform"].sum() == pytest.approx(100)
        assert (part["gap"] - (part["share"] - part["uniform"])).abs().max() < 1e-9
    rows = rewrite_effects.rows_of(subject, "rows") & rewrite_effects.changed(subject, "V1")
    frame = subject.records.frame[rows & (subject.records.frame["question_type"] == "mcq")]
    before = frame["parsed:original"]
    chance = [0.25 if was is None else (was != "B") / 3 for was in before]
    line = found[(found["rewrite"] == "V1") & (found["answer"] == "B")].iloc[0]
    assert line["uniform"] == pytest.approx(100 * np.mean(chance))
    assert line["share"] == pytest.approx(100 * (frame["parsed:V1"] == "B").mean())


def test_words_on_what_draws_follow_the_interval(subject):
    found = rewrite_moves.pulls(subject, "rows")
    none = rewrite_moves.drawn_to(found.assign(low=-1.0), subject)
    assert "to no answer more often" in none
    one = found.assign(low=[1.0] + [-1.0] * (len(found) - 1))
    text = rewrite_moves.drawn_to(one, subject)
    assert re.search(r"uniform choice to A under V1 \([+−]?[\d.]+ points\)", text)


def test_examples_are_the_changed_rows_with_the_smallest_hash(subject, questions):
    table = rewrite_effects.examples(subject, questions, "rows").frame
    assert table.index.tolist() == [name for name in ROUNDS for _ in range(3)]
    rows = rewrite_effects.rows_of(subject, "rows") & rewrite_effects.changed(subject, "V1")
    places = np.flatnonzero(rows & (subject.records.frame["question_type"] == "mcq"))
    first = min(places, key=lambda place: rewrite_effects.order_of("made", int(place)))
    assert table["row"].iloc[0] == f"made {first}"
    assert table["question"].iloc[0] == "What? A. w, B. x, C. y, D. z"
    without = rewrite_effects.examples(subject, {}, "rows").frame
    assert set(without["question"]) == {"—"} and (without["row"] == table["row"]).all()


@pytest.mark.parametrize("types", [["mcq"] * 8, ["yesno"] * 8, ["short"] * 8])
def test_a_missing_question_type_leaves_empty_cells(tmp_path, types):
    """No data set, no Others, no MCQ: every table is made, with dashes and n = 0."""
    subject = subject_of(tmp_path, types)
    absent = "Others" if types[0] == "mcq" else "MCQ"
    assert rewrite_effects.shares(subject, "rows").frame.loc[absent].tolist() == ["0", *"———"]
    of = Evidence(subject, [], None)
    (part,) = measures.changed(of, ["V2"], ["all"], ["V1"], [absent])
    assert part.interval.n == 0
    destinations = rewrite_moves.destinations(rewrite_moves.pulls(subject, "rows"), subject)
    tables = [
        rewrite_effects.flows(subject, "rows"),
        rewrite_effects.examples(subject, {}, "rows"),
        destinations,
    ]
    assert not any("nan" in repr(table).lower() for table in tables)
    rewrite_moves.draw_transitions(subject, "rows")


def test_the_heat_maps_have_a_panel_a_rewrite_and_type(subject):
    figure = rewrite_moves.draw_transitions(subject, "rows")
    assert [ax.get_title() for ax in figure.axes] == [*ROUNDS, "", "", ""]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [*"ABCD", "?"]

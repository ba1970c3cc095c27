"""Which questions a page shows and how it draws them, and what it says where it has none."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

from sci_book.data.rows import Row
from sci_book.papers.sci.chapters import examples, worked
from sci_book.papers.shared import figures
from sci_book.papers.shared.svg import svg
from sci_book.papers.shared.tables import MISSING, number
from sci_book.results.drbench import split, subsets
from sci_core.methods import SCI5, SCI7, VCD, method
from sci_core.scoring import scores
from tests.report.drawn_records import drawn_records

CHOICE = ("tiny_mmbench_en", "tiny_mmstar")


@pytest.fixture(scope="module")
def records():
    return drawn_records("m", spoilt=(3,))


def places(records, *masks):
    """Names of the test rows in all masks, in order."""
    rows = np.flatnonzero(np.logical_and.reduce(masks) & (split(records) == "test"))
    return [(records.frame["dataset"][row], int(records.frame["index"][row])) for row in rows]


def is_choice(records):
    return records.frame["dataset"].isin(CHOICE).to_numpy()


def test_the_first_of_each_kind_that_the_method_corrects_and_the_first_that_it_spoils(records):
    sets, right, base = subsets(records), records.correct("SCI5"), records.correct("base")
    choice = is_choice(records)
    chosen = examples.multiple_choice(records, "SCI5")
    assert chosen.rows == {
        "biased": places(records, sets["B"], choice, right)[0],
        "sensitive": places(records, sets["S∖B"], choice, right, ~base)[0],
        "spoiled": places(records, choice, sets["all"], base, ~right)[0],
    }
    assert chosen.missing == []


def test_where_nothing_is_corrected_a_row_is_taken_that_is_right_and_else_any(records):
    sets, right, base = subsets(records), records.correct("SCI5"), records.correct("base")
    kept = records.take(~(sets["S∖B"].to_numpy() & right & ~base))
    expected = places(kept, subsets(kept)["S∖B"], is_choice(kept), kept.correct("SCI5"))[0]
    assert examples.multiple_choice(kept, "SCI5").rows["sensitive"] == expected
    wrong = records.take(~(right & sets["BS"].to_numpy()))
    sets, choice = subsets(wrong), is_choice(wrong)
    chosen = examples.multiple_choice(wrong, "SCI5")
    assert chosen.rows["biased"] == places(wrong, sets["B"], choice)[0]
    assert chosen.rows["sensitive"] == places(wrong, sets["S∖B"], choice)[0]


def test_a_kind_without_a_row_is_said_and_an_ordinary_question_stands_in(records):
    sets = subsets(records)
    without_biased = records.take(~sets["B"].to_numpy())
    chosen = examples.multiple_choice(without_biased, "SCI5")
    assert list(chosen.rows) == ["sensitive", "spoiled"]
    assert chosen.missing == [
        "No test row is both biased and multiple choice with this model: no such question is shown."
    ]
    spoiled = records.correct("base") & ~records.correct("SCI5")
    unspoiled = records.take((sets["all"] & ~sets["BS"]).to_numpy() & ~spoiled)
    chosen = examples.multiple_choice(unspoiled, "SCI5")
    assert chosen.rows == {"ordinary": places(unspoiled, is_choice(unspoiled))[0]}
    assert all(text.startswith("No test row is both ") for text in chosen.missing[:2])
    assert chosen.missing[2].startswith("SCI5 spoils no multiple-choice test row of this model")
    assert chosen.missing[3] == "The first multiple-choice test row stands in."


def test_without_multiple_choice_there_is_no_question():
    chosen = examples.multiple_choice(drawn_records("m", datasets=("tiny_mme",)), "SCI5")
    assert chosen.rows == {} and len(chosen.missing) == 3


# --- sentences ---------------------------------------------------------------------------------


def question(answer="C"):
    options = {"A": "top", "B": "left", "C": "right", "D": "top right"}
    names = {"dataset": "d", "index": 1, "position": 0, "group": "g", "image_hash": ""}
    return Row(
        question_type="mcq", question="Where\nis it?", answer=answer, options=options, **names
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D. right", True),
        ("(D) Right.", True),
        ("C. right", False),
        ("D. top right", False),
        ("D", False),
        ("right", False),
        ("", False),
    ],
)
def test_the_right_words_behind_another_letter_are_seen(text, expected):
    assert examples.right_in_word_only(text, question().options, "C") is expected


def test_an_outcome_says_what_base_and_method_answer_and_what_is_right():
    line = examples.outcome("biased", question(), examples.Replies("D. right", "C"), "SCI5")
    assert line == (
        "**Biased**, “Where is it?”: the base says “D. right” (wrong), SCI5 says “C” (right); the "
        "right answer is “C. right”. The base is right in word and wrong in letter, and the letter "
        "is what is scored."
    )
    line = examples.outcome("ordinary", question(), examples.Replies("?!", "B"), "SCI5")
    assert "“?!” (no option), SCI5 says “B” (wrong)" in line and "letter is" not in line
    line = examples.outcome("biased", question(), examples.Replies("D. right", "B: right"), "SCI5")
    assert "The base and SCI5 are right in word" in line


def test_answers_that_depart_from_the_recorded_ones_are_named(records):
    chosen = examples.multiple_choice(records, "SCI5").rows
    rows = dict.fromkeys(chosen, question())
    parsed = [(records.parsed("base"), records.parsed("SCI5"))] * len(chosen)
    replies = {
        kind: examples.Replies(*(column[records.keys.index(key)] for column in columns))
        for (kind, key), columns in zip(chosen.items(), parsed, strict=True)
    }
    assert examples.departures(records, chosen, rows, replies, "SCI5") == []
    there = replies["biased"].method
    replies["biased"] = replies["biased"]._replace(method="?!")
    (sentence,) = examples.departures(records, chosen, rows, replies, "SCI5")
    assert sentence.startswith(
        f"On the biased question SCI5 answers no option here and {there} in the records"
    )


# --- one question worked out --------------------------------------------------------------------

TOKENS = {"A": 3, "B": 5, "C": 0, "D": 7}


@pytest.mark.parametrize(
    "rule",
    [SCI5, SCI7, method("SCI(M=1, N=2, beta=0)"), method("SCI(M=2, N=0, beta=1)")],
    ids=lambda rule: rule.name,
)
def test_the_equations_by_hand_are_those_of_the_decoder(rule):
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        Z = 3 * torch.randn(len(rule.rounds), 9, generator=generator)
        step = worked.work_out(Z, rule, TOKENS)
        expected = scores(rule, Z[:, None], step=0)[0]
        assert step.token == int(expected.argmax())
        ids = list(TOKENS.values())
        worked_scores = step.terms.loc[rule.name].fillna(-np.inf)
        assert np.allclose(worked_scores, expected[ids], atol=1e-5)
        assert np.array_equal(step.logits.to_numpy(), Z[:, ids].double().numpy())
        assert list(step.logits.index) == list(rule.rounds)


def test_other_rules_and_other_rounds_are_refused():
    with pytest.raises(ValueError, match="rule 'sci'"):
        worked.work_out(torch.zeros(2, 9), VCD, TOKENS)
    with pytest.raises(ValueError, match="5 rounds, and logits of 4"):
        worked.work_out(torch.zeros(4, 9), SCI5, TOKENS)


def test_a_letter_is_the_likelier_of_its_tokens():
    ids = {"A": 1, " A": 2, "B": 3, " B": 4}
    tokenizer = SimpleNamespace(encode=lambda text, add_special_tokens: [0, ids[text]])
    logits = torch.tensor([9.0, 1.0, 2.0, 4.0, 3.0])
    assert worked.letter_tokens(tokenizer, ["A", "B"], logits) == {"A": 2, "B": 3}


@pytest.mark.parametrize("base", ["B", None])
def test_cells_are_the_numbers_given_and_frames_stand_where_the_answers_are(base):
    Z = 4 * torch.randn(5, 9, generator=torch.Generator().manual_seed(3))
    step = worked.work_out(Z, SCI5, TOKENS)
    options = {"A": "a long text of very many words " * 5, "B": "left", "C": "右", "D": ""}
    with plt.rc_context():
        figures.use_style()
        figure = worked.draw(
            Image.new("RGB", (640, 320), "red"), step, options, right="B", base=base, answer="C"
        )
        panels = {ax.get_label(): ax for ax in figure.axes}
        for name, frame in (("rounds", step.logits), ("terms", step.terms)):
            written = [text.get_text() for text in panels[name].texts]
            assert written == [number(value) for value in frame.to_numpy().ravel()]
        framed = {
            name: [patch.get_xy() for patch in panels[name].patches if not patch.get_fill()]
            for name in ("rounds", "terms")
        }
        heads = [tick.get_text() for tick in panels["rounds"].get_xticklabels()]
        html = svg(figure, "A picture and a grid.")
    columns = {"rounds": ["ABCD".index(base)] if base else [], "terms": [2]}
    assert {name: [round(x + 0.48) for x, _ in at] for name, at in framed.items()} == columns
    assert heads[0].startswith("A\n") and len(heads[0].split("\n")) <= 5 and "…" in heads[0]
    assert heads[1:] == ["✓ B\nleft", "C", "D"]
    assert len(html) < 40_000 and "data:image/png;base64" in html


def test_a_dropped_option_has_a_dash_for_a_score():
    Z = torch.zeros(5, 9)
    Z[:, TOKENS["A"]] = 20.0
    step = worked.work_out(Z, SCI5, TOKENS)
    assert [number(value) for value in step.terms.loc["SCI5"]] == ["10.00", *[MISSING] * 3]
    figure = worked.draw(
        Image.new("RGB", (8, 8)), step, dict.fromkeys("ABCD", ""), right="A", base="A", answer="A"
    )
    written = [text.get_text() for text in figure.axes[2].texts]
    assert written[-4:] == ["10.00", *[MISSING] * 3]


def test_text_stands_out_from_every_colour_of_a_cell():
    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for colours in (worked._LOGITS, worked._TERMS):
        for share in np.linspace(0, 1, 101):
            fill = colours(float(share))
            ink = plt.matplotlib.colors.to_rgb(worked._text_colour(fill))
            dark, light = sorted((luminance(fill), luminance(ink)))
            assert (light + 0.05) / (dark + 0.05) > 4.5

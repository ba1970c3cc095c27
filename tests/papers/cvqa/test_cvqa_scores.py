"""The CSVs' loader, the answer rules and the scores; known answers on the public files."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from sci_book.data.datasets import DatasetError, read_manifest
from sci_book.files import csv_bytes
from sci_book.papers.cvqa import answers, pairs, scores
from sci_book.papers.cvqa.questions import COLUMNS, SIDES, Item, load, options
from sci_book.papers.cvqa.synthetic import FILE, write
from sci_book.papers.shared import frame
from sci_book.papers.shared.chapters import PAPER
from sci_book.results.statistics import LEVEL
from sci_core.counterfactuals import rewrite


@pytest.fixture
def public(real):
    return lambda name: load(real / "cvqa" / f"C-VQA-{name}_questions.csv")


def item(kind="direct", original="1", counterfactual="3", image="a.jpg", query="How many?"):
    return Item(image, query, original, query, counterfactual, kind)


# --- the public files: known answers of the paper and of the specification ---


def test_the_real_set_has_the_published_counts(public):
    found = public("Real")
    assert not found.left_out and len(found.items) == 3144
    counts = Counter(i.kind for i in found.items)
    assert counts == {"direct": 1150, "indirect": 864, "boolean": 1130}
    assert len({i.image for i in found.items}) == 3026
    assert scores.mean_words(found.items, "original") == pytest.approx(5.88, abs=0.005)
    assert scores.mean_words(found.items, "counterfactual") == pytest.approx(13.157, abs=0.0005)
    booleans = [i for i in found.items if i.kind == "boolean"]
    assert sum(i.counterfactual_answer == "no" for i in booleans) == 623
    copied = [i.original_answer for i in found.items]
    # The printed type-token ratio of 0.1251 is twice what the file holds.
    assert scores.type_token_ratio(found.items, "counterfactual") == pytest.approx(0.0575, abs=1e-4)
    assert scores.type_token_ratio(found.items, "original") == pytest.approx(0.0845, abs=1e-4)
    copier = pairs.writer("copied", found.items, [copied, copied])
    original, counterfactual = (pairs.right(copier, "base", side)[::2] for side in SIDES)
    kinds = np.array([i.kind for i in found.items])
    assert original.all()
    assert {kind: round(100 * counterfactual[kinds == kind].mean(), 1) for kind in counts} == (
        {"direct": 0.3, "indirect": 5.7, "boolean": 2.3}
    )


def test_figure_3_in_the_committed_shares(public):
    """ "The share of 0, 1, and 2 in the indirect group are higher while the others are lower.\""""
    numerical = [item for item in public("Real").items if item.form == "number"]
    shares = scores.answer_shares(numerical, "counterfactual")
    assert shares.sum().tolist() == pytest.approx([100, 100])
    committed = pd.read_csv(PAPER / "cvqa_fig03.csv", dtype={"answer": str}).set_index("answer")
    assert committed.index.tolist() == shares.index.tolist()
    assert (committed == shares[["direct", "indirect"]].round(2)).all(axis=None)
    assert (shares["indirect"] > shares["direct"])[list("0123456")].tolist() == (
        [True] * 3 + [False] * 4
    )


def test_the_synthetic_set_has_the_published_counts(public):
    found = public("Synthetic")
    assert not found.left_out and len(found.items) == 3000
    assert scores.mean_words(found.items, "original") == 16
    assert scores.mean_words(found.items, "counterfactual") == pytest.approx(25.33, abs=0.005)
    for kind in ("abs_counting_2", "abs_counting_4"):
        rows = [i for i in found.items if i.kind == kind]
        said = [[int(options(i.query(s))[i.answer(s)]) for s in SIDES] for i in rows]
        less = [original - counterfactual for original, counterfactual in said]
        named = [int(next(w for w in i.counterfactual.split() if w.isdigit())) for i in rows]
        assert len(rows) == 500 and less == named


@pytest.mark.parametrize("name", ("Real", "Synthetic"))
def test_the_right_answers_of_the_public_files_score_full(name, public):
    items = public(name).items
    truths = [[i.answer(side) for i in items] for side in SIDES]
    oracle = pairs.writer("truth", items, truths)
    assert all((pairs.right(oracle, "base", side)[::2] == 1).all() for side in SIDES)


# --- the loader ---


def test_bad_rows_are_left_out_and_named(tmp_path):
    puzzle = "How many? Select the correct answer:A:1  B:2  C:3  D:4"
    good = ["there.jpg", "How many?", "1", "How many if?", "3", "direct"]

    def but(**changes):
        return [changes.get(c.replace(" ", "_"), v) for c, v in zip(COLUMNS, good, strict=True)]

    rows = [
        good,
        but(answer="Yes", new_answer="NO", type="boolean"),
        but(query=puzzle, new_query=puzzle, answer="d", new_answer="A", type="abs_counting_4"),
        but(answer="several"), but(new_answer="-1"), but(new_answer="1.5"), but(answer="٣"),
        but(answer="007"), but(answer="1" * 40), but(answer="maybe", type="boolean"),
        but(answer="E", query=puzzle, new_query=puzzle, new_answer="A", type="abs_counting_1"),
        but(answer="A", new_answer="A", type="abs_counting_1"), but(answer=""),
        but(type="riddle"), but(type=""), but(query=" "), but(new_query=""),
        but(img_path="../there.jpg"), but(img_path="/there.jpg"),
        but(img_path=""), but(img_path=".."), good[:4], [*good, "more"],
    ]  # fmt: skip
    (tmp_path / "x.csv").write_bytes(csv_bytes([COLUMNS, *rows]))
    found = load(tmp_path / "x.csv")
    assert [i.form for i in found.items] == ["number", "boolean", "letter"]
    assert found.items[1].original_answer == "yes" and found.items[2].original_answer == "D"
    assert found.left_out == {
        "answer of no known kind": 10, "unknown type": 2, "no question": 2,
        "picture outside its folder": 4, "wrong number of fields": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist; expected a C-VQA file"),
        (b"", "has no column img_path"),
        (b"img_path,query\n", "has no column answer"),
        (b"\xff\xfe", "no readable CSV"),
        (",".join(COLUMNS).encode() + b'\n"a', "no readable CSV"),
        (",".join(COLUMNS).encode() + b"\n" + b"x" * 200_000, "no readable CSV"),
    ],
)
def test_a_file_that_is_no_set_is_refused_in_a_sentence(tmp_path, content, message):
    if content is not None:
        (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        load(tmp_path / "x.csv")


def test_a_written_set_is_read_back(tmp_path):
    made = {"seed": 5, "per_type": 4, "size": 96, "say": lambda _: None}
    path = write(tmp_path, **made)
    found = load(path)
    assert path.name == FILE and len(found.items) == 24 and not found.left_out
    first, when = path.read_bytes(), path.stat().st_mtime_ns
    write(tmp_path, **made)  # what is there stays
    assert path.stat().st_mtime_ns == when
    for other in ({"seed": 6}, {"size": 97}, {"per_type": 5}):
        with pytest.raises(ValueError, match="holds the set"):
            write(tmp_path, **(made | other))
    assert path.read_bytes() == first
    again = write(tmp_path / "again", **made)
    assert again.read_bytes() == first
    for picture in tmp_path.glob("*.png"):
        assert picture.read_bytes() == (again.parent / picture.name).read_bytes()


def test_an_interrupted_drawing_leaves_no_csv(tmp_path, monkeypatch):
    monkeypatch.setattr("sci_book.papers.cvqa.synthetic.draw", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(tmp_path, per_type=1, say=lambda _: None)
    assert not list(tmp_path.glob("*.csv"))


# --- the answer rules ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", "3"), ("three", "3"), ("There are 3 cats and 4 dogs.", "3"), ("Ten", "10"),
        ("no", "0"), ("None.", "0"), ("zero", "0"), ("No cats", "0"), ("12", "12"), ("007", "7"),
        ("If 2 more came, there would be 5.", "5"), ("5 if 2 more came", "5"),
        ("If two more came there would be five", None), ("if", None), ("", None),
        ("There would be if two came 5", None), ("someone", None), ("noone", None),
        ("a lot", None), ("twenty-one", None), ("-1", "-1"), ("1,000 people", "1000"),
        ("2,3", "2"), ("different: 4", "4"), ("9" * 40, None), ("gift 2", "2"),
        # An ordinal counts nothing, and a number is read whole beside Chinese, too.
        ("In the 1st row there are 5 cups", "5"), ("the 22nd", None), ("有1,000只", "1000"),
        ("有2.5只", "2.5"), ("2.50", "2.5"), ("3.", "3"), ("５", "5"), ("1.", "1"),
    ],
)  # fmt: skip
def test_a_number_is_read_from_an_answer(text, expected):
    assert answers.number(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", "yes"), ("No.", "no"), ("It is", "yes"), ("It is not", "no"), ("true", "yes"),
        ("False", "no"), ("They would be", "yes"), ("Yes, they are", "yes"), ("maybe", None),
        ("", None), ("nothing", None), ("cannot say", None), ("yes and no", "no"),
        ("island", None),
    ],
)  # fmt: skip
def test_a_yes_or_no_is_read_from_an_answer(text, expected):
    assert answers.boolean(text) == expected


def test_letters_are_read_against_the_questions_own_options():
    puzzle = "How many? Select the correct answer:A:16  B:17  C:12  D:13"
    assert options(puzzle) == {"A": "16", "B": "17", "C": "12", "D": "13"}
    row = item("abs_counting_1", "C", "C", query=puzzle)
    for text in ("C", "C.", "(C)", "c", "12", "C:12", "The answer is C."):
        assert answers.read(row, "original", text) == "C", text
    for text in ("", "E", "11", "C or D", "flowers"):
        assert answers.read(row, "original", text) is None, text


@pytest.mark.parametrize("name", ("real", "yesno"))
def test_every_instruction_has_its_rewrites(name):
    asked = read_manifest(f"pocket_cvqa_{name}").prompt.format(question="Is it red?")
    assert len({rewrite(asked, name) for name in ("V1", "V2", "V3")} | {asked}) == 4


# --- the scores ---


def fall(items, *texts):
    """The lines of `pairs.fall` on all items, by what they are of."""
    lines = pairs.fall(pairs.writer("x", items, texts), lambda writer: pairs.of(writer, "real"))
    return frame.measured(lines).set_index("what")


def test_the_drop_is_paired_and_failures_are_left_out_of_both_sides():
    items = [item(image=f"{k}.jpg") for k in range(40)]
    originals = ["1"] * 30 + ["5"] * 8 + [None, "1"]
    counterfactuals = ["3"] * 12 + ["9"] * 25 + ["who knows", "3", None]
    found = fall(items, originals, counterfactuals)
    assert set(found["n"]) == {38}
    assert [round(estimate * 38 / 100) for estimate in found["estimate"]] == [30, 12, 18]
    drop = found.loc["drop"]
    assert drop["low"] < drop["estimate"] < drop["high"]


def test_no_rows_and_a_missing_text():
    found = fall([item()], [None], ["3"])
    assert set(found["n"]) == {0} and np.isnan(found.at["drop", "estimate"])
    with pytest.raises(ValueError, match=r"2 items need one text each .* got 1 and 2"):
        pairs.writer("x", [item(), item()], [["1"], ["3", "3"]])
    assert np.isnan(scores.mean_words([], "original"))
    assert np.isnan(scores.type_token_ratio([], "original"))


@pytest.mark.parametrize(("said", "drop"), [(1.0, 0), (0.0, 1)])
def test_items_that_all_come_out_alike_are_no_certainty(said, drop):
    items = [item(image=f"{k // 2}.jpg") for k in range(40)]  # twenty pictures
    found = fall(items, ["1"] * 40, ["3" if said else "9"] * 40)[["estimate", "low", "high"]]
    z2 = norm.ppf((1 + LEVEL) / 2) ** 2
    reach = z2 / (20 + z2)  # Wilson's of 20 of 20
    assert found.loc["original"].tolist() == pytest.approx((100, 100 * (1 - reach), 100), abs=0.01)
    ends = (-reach, reach) if drop == 0 else (1 - 2 * reach, 1)
    expected = pytest.approx([100 * x for x in (drop, *ends)], abs=0.1)
    assert found.loc["drop"].tolist() == expected

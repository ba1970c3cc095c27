"""The three failure rates and Robust(M): laws on any answers, and numbers known by hand."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sci_book.papers.metara.failures import ORIGINAL, RATES, Failures, from_records
from sci_book.papers.metara.relations import RELATIONS
from tests.soak import examples

ANSWERS = st.sampled_from(["a", "b", None])


def rows(key, truth, own, cases, dataset="kb", group=None):
    """An original's row and its cases': {relation: [answers]}."""
    head = {"dataset": dataset, "original": key, "group": group or key, "truth": truth}
    found = [{**head, "relation": ORIGINAL, "answer": own}]
    for relation, answers in cases.items():
        found += [{**head, "relation": relation, "answer": answer} for answer in answers]
    return found


@st.composite
def frames(draw):
    found = []
    for number in range(draw(st.integers(1, 6))):
        cases = {r: draw(st.lists(ANSWERS, max_size=3)) for r in RELATIONS}
        found += rows(
            f"o{number}", "a", draw(ANSWERS), cases, dataset=draw(st.sampled_from(["kb", "ocr"]))
        )
    return pd.DataFrame(found)


KEYS = ["dataset", "original"]


def by_original(rows, column="value"):
    return rows.set_index(KEYS)[column]


def own_answers(frame):
    return by_original(frame[frame["relation"] == ORIGINAL], "answer")


def rate(failures, name, **where):
    """The mean over originals, and their number."""
    values = failures.per_original(name, **where)["value"]
    return values.mean(), len(values)


# --- laws ----------------------------------------------------------------------------------------

LAWS = examples(20)


@LAWS
@given(frames())
def test_robust_is_1_just_where_the_original_is_right_and_the_absolute_rate_0(frame):
    failures = Failures(frame)
    absolute = by_original(failures.per_original("absolute"))
    right = own_answers(frame)[absolute.index] == "a"
    robust = by_original(failures.per_original("robust"))
    pd.testing.assert_series_equal(robust, (right & (absolute == 0)).astype(float).rename("value"))


@LAWS
@given(frames())
def test_a_constant_model_is_always_consistent(frame):
    frame["answer"] = "b"
    failures = Failures(frame)
    assert (failures.per_original("consistency")["value"] == 0).all()
    assert (failures.per_original("absolute")["value"] == 1).all()
    assert not len(failures.per_original("conditional"))  # it is never right
    frame["answer"] = "a"
    for rate in RATES:
        assert (Failures(frame).per_original(rate)["value"] == 0).all()
    assert (Failures(frame).per_original("robust")["value"] == 1).all()


@LAWS
@given(frames())
def test_identity_transforms_of_a_deterministic_model_fail_nothing_new(frame):
    own = own_answers(frame)
    frame["answer"] = own[pd.MultiIndex.from_frame(frame[KEYS])].to_numpy()
    failures = Failures(frame)
    for rate in ("conditional", "consistency"):
        assert (failures.per_original(rate)["value"] == 0).all()
    absolute = by_original(failures.per_original("absolute"))
    assert (absolute == (own[absolute.index] != "a")).all()


@LAWS
@given(frames())
def test_where_the_original_is_right_the_three_rates_are_one(frame):
    failures = Failures(frame)
    conditional = by_original(failures.per_original("conditional"))
    for rate in ("absolute", "consistency"):
        other = by_original(failures.per_original(rate))
        assert other.loc[conditional.index].equals(conditional)


@LAWS
@given(frames(), st.randoms())
def test_rates_do_not_depend_on_the_order_of_rows(frame, random):
    order = list(range(len(frame)))
    random.shuffle(order)
    first, second = Failures(frame), Failures(frame.iloc[order].reset_index(drop=True))
    for rate in RATES:
        pd.testing.assert_frame_equal(first.per_original(rate), second.per_original(rate))


# --- known numbers -------------------------------------------------------------------------------


@pytest.fixture
def known():
    return pd.DataFrame(
        rows("right", "a", "a", {"MR1": ["a"], "MR2": ["b", "a"], "MR3": [None], "MR4": []})
        + rows("wrong", "a", "b", {"MR1": ["b"], "MR2": ["a"]}, group="right")
        + rows("mute", "a", None, {"MR1": ["a"]}, dataset="ocr")
        + rows("firm", "a", "a", {"MR1": ["a"], "MR4": ["a"]}, dataset="ocr")
        + rows("bare", "a", "a", {}, dataset="ocr")
    )


def test_rates_by_hand(known):
    failures = Failures(known)
    assert rate(failures, "absolute") == (0.25, 4)  # mean of 1/2, 1/2, 0, 0
    assert rate(failures, "conditional") == (0.25, 2)  # 1/2, 0
    assert rate(failures, "consistency") == (pytest.approx((0.5 + 0.5 + 0) / 3), 3)
    # Two originals share a picture.
    assert failures.per_original("absolute")["group"].nunique() == 3
    assert rate(failures, "absolute", relation="MR2") == (0.25, 2)
    assert rate(failures, "absolute", relation=("MR1", "MR2")) == (pytest.approx(5 / 24), 4)
    assert rate(failures, "absolute", dataset="kb") == (0.5, 2)
    assert rate(failures, "robust") == (0.25, 4)  # "firm" alone
    assert rate(failures, "robust", relation="MR1") == (0.5, 4)
    assert rate(failures, "accuracy") == (0.6, 5)
    assert failures.left == {"originals": 5, "wrong or unknown": 2, "unknown": 1}


def test_rows_with_errors_are_left_out():
    frame = pd.DataFrame(
        rows("a", "a", "a", {"MR1": ["b", "a"]}) + rows("b", "a", None, {"MR1": ["a"]})
    )
    frame["error"] = [None, "OOM", None, "OOM", None]
    failures = Failures(frame)
    assert failures.left == {"originals": 2, "wrong or unknown": 0, "unknown": 0}
    assert rate(failures, "absolute") == (0, 1) and rate(failures, "accuracy") == (1, 1)


def test_nothing_is_known_of_no_case():
    failures = Failures(pd.DataFrame(rows("a", "a", "a", {})))
    assert not any(len(failures.per_original(name)) for name in (*RATES, "robust"))


def test_bad_frames_are_refused(known):
    for bad, words in (
        (known.drop(columns="truth"), "lack truth"),
        (known.drop(index=0), "1 originals have no row of their own"),
        (pd.concat([known, known.iloc[[0]]]), "two rows of its own"),
        (known.assign(relation=known["relation"].replace("MR1", "MR9")), "Unknown relations"),
    ):
        with pytest.raises(ValueError, match=words):
            Failures(bad)
    with pytest.raises(ValueError, match="no failure rate 'fr'"):
        Failures(known).per_original("fr")


def test_records_are_joined_to_cases_by_index():
    cases = pd.DataFrame(
        {"index": [0, 1], "dataset": "kb", "original": "o", "relation": [ORIGINAL, "MR1"],
         "operation": ["", "scale"], "level": "easy"}
    )  # fmt: skip
    records = pd.DataFrame(
        {"index": [1, 0], "dataset": "file", "truth": "a", "group": "file:g", "error": None,
         "parsed:original": ["b", "a"], "parsed:SCI3": ["a", "a"]}
    )  # fmt: skip
    assert rate(Failures(from_records(records, cases)), "absolute") == (1, 1)
    assert rate(Failures(from_records(records, cases, "SCI3")), "robust") == (1, 1)
    with pytest.raises(ValueError, match="no policy 'VCD'; they hold original, SCI3"):
        from_records(records, cases, "VCD")
    with pytest.raises(ValueError, match="no cases of this set"):
        from_records(records.assign(index=[7, 0]), cases)

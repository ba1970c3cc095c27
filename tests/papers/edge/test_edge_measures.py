"""The claims of the Edge Reliability Gap on made-up answers: parts, intervals, and what is open."""

import pandas as pd
import pytest

from sci_book.papers.edge.chapters import measures
from sci_book.pipeline import findings
from sci_book.results.statistics import Sample
from tests.papers.edge.edge_answers import (
    CAPTION,
    WRONG,
    answers,
    failed,
    two_models,
    whole,
    written,
)


@pytest.fixture
def folder(tmp_path):
    return two_models(tmp_path)


def evidence_of(folder, name="one"):
    """What the ledger knows of a model; None without records."""
    (evidence,) = measures.evidence(findings.named([name], folder), None)
    return evidence


def test_a_part_of_a_claim_has_one_interval(tmp_path):
    rows = whole(right=(1, 1, 1, 0) * 10, blurred=(1, 1, 0, 0) * 10)
    said = [WRONG if k % 3 else CAPTION for k in range(2, 40)]
    rows += [answers("captions", 2 + k, "free", "caption | Describe.", CAPTION, text)
             for k, text in enumerate(said)]  # fmt: skip
    known = evidence_of(written(tmp_path, one=rows))
    for (part,) in (measures.passes_but_wrong(known), measures.category(known, "questions", "B"),
                    measures.top_bin(known, "questions"), measures.empty_failures(known),
                    measures.blur_drop(known)):  # fmt: skip
        assert part.interval.low < part.interval.high
    brier, captions = measures.change_by_sci(known, "Brier score")
    assert (brier.what, captions.what) == ("Brier score, questions", "Brier score, captions")
    assert brier.interval.n == 40


def test_a_probe_without_an_answer_leaves_its_picture_out(tmp_path):
    rows = whole(no=(1, 0, 0))
    ((place, probe),) = (
        (k, row)
        for k, row in enumerate(rows)
        if (row["dataset"], row["index"], row["category"]) == ("negated questions", 4, "is_not")
    )
    rows[place] = failed(probe)
    known = evidence_of(written(tmp_path, one=rows))
    (part,) = measures.open_less_inverted(known, "questions")
    assert values(part) == [0, 1]


def test_empty_answers_are_counted_by_picture(tmp_path):
    rows = whole()
    for row in rows:
        if row["group"] == "questions 3":  # wrong clean, blurred and in all five severities
            row["text:original"] = row["parsed:original"] = ""
    (part,) = measures.empty_failures(evidence_of(written(tmp_path, one=rows)))
    assert (part.interval.n, part.interval.estimate) == (4, 0.25)


# --- ledger and audit ---------------------------------------------------------------------------


def test_a_yes_is_read_by_the_books_own_rule(folder, monkeypatch):
    texts = ["Yes.", "The answer is yes", "yes or no", "No", "是的", "yesterday", ""]
    rows = pd.DataFrame(
        {"kind": "questions", "template": measures.INVERTED, "text": texts, "group": "a"}
    )
    known = evidence_of(folder)
    monkeypatch.setattr(measures, "probes", lambda model: rows)
    (yes,) = measures.says_yes(known, "questions")
    assert values(yes) == [1, 1, 0, 0, 1, 0, 0]


def values(part):
    """The rows that a part's interval is taken of."""
    rows = part.values if isinstance(part, Sample) else part.data[0]
    return rows.tolist()


def test_evidence_is_of_the_models_own_folder(folder):
    known = evidence_of(folder)
    assert evidence_of(folder, "absent") is None
    assert known.subject.name == "one" and known.variant("small") is None
    assert measures.collapse(known) == measures.lead(known, "questions") == []
    assert measures.sensitivity(known, "small") == []
    (drop,) = measures.sensitivity(known, "nf4")
    assert sum(values(drop)) == 2
    (yes,) = measures.says_yes(known, "questions")
    assert values(yes) == [0, 1, 1] and measures.says_yes(known, "captions") == []
    (top,), (wrong,) = measures.top_bin(known, "questions"), measures.passes_but_wrong(known)
    assert (top.interval.estimate, wrong.interval.estimate) == (0.75, 0.5)
    (told,) = measures.discrimination(known, "questions")
    assert told.interval.estimate == 1  # the one wrong answer is the least confident
    assert measures.discrimination(known, "captions") == []  # none is wrong
    assert measures.empty_failures(known)[0].interval.estimate == 0

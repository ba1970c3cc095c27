"""A number is of the constants that its method has: none is read off records of others."""

from dataclasses import replace

import numpy as np
import pytest

from sci_book.methods import COMPARED, betas, with_constants
from sci_book.papers.oric.chapters import answers as oric
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared import chapters
from sci_book.pipeline import ledger, matrix
from sci_book.pipeline.claims import load_claims
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.resources import FROZEN_RECORDS
from sci_book.results.stamps import NotRecorded
from sci_core.methods import BASE, METHODS, SCI5, VCD

LOOSER = replace(VCD, beta=0.1)


@pytest.fixture
def changed(monkeypatch):
    """VCD's preset with another β, as a reader edits it."""
    return lambda: monkeypatch.setitem(METHODS, "VCD", LOOSER)


@pytest.mark.parametrize("paper", ["cvqa", "edge", "metara"])
def test_answers_in_words_are_of_a_method_as_it_was_decoded(paper, changed):
    if PAPERS[paper].data:
        draw_pocket(PAPERS[paper].data)
    subjects = chapters.subjects(["pocket-llavanext"], FROZEN_RECORDS)
    (evidence,) = PAPERS[paper].evidence(subjects, None)
    probes = [probe for probe in matrix.load_probes() if probe.paper == paper]
    assert all(probe.parts(evidence, "VCD") for probe in probes)
    changed()
    (evidence,) = PAPERS[paper].evidence(subjects, None)
    assert not any(probe.parts(evidence, "VCD") for probe in probes)
    assert all(probe.parts(evidence, "SCI5") for probe in probes)
    with pytest.raises(NotRecorded, match=r"hold no answers of VCD with these constants; they"):
        evidence.subject.decoded("VCD")


def test_answers_of_one_token_are_recomputed_with_other_constants(monkeypatch):
    (model,) = oric.subjects(["pocket-llavanext"], FROZEN_RECORDS).subjects
    decoded = oric.combine([oric.gain("f1", model, "VCD")])
    assert decoded.key == oric.combine([oric.gain("f1", model, VCD)]).key
    monkeypatch.setitem(METHODS, "VCD", replace(VCD, beta=1.0))  # which is the base
    found = oric.combine([oric.gain("f1", model, "VCD")])
    assert found.estimate == 0 != decoded.estimate


@pytest.mark.slow
def test_every_claim_stands_where_a_preset_has_other_constants(subjects, changed):
    claims = [claim for claim in load_claims(own=True) if claim.paper == "sci"]
    before = {(f.claim.id, f.model): f for f in ledger.evaluate(claims, subjects, None)}
    changed()
    after = ledger.evaluate(claims, subjects, None)
    for found in after:
        known = before[found.claim.id, found.model]
        assert bool(found.parts) == bool(known.parts), found.claim.id
        names = [what for what, *_ in found.parts]
        if not any("VCD" in name for name in names):
            assert found.parts == known.parts
    mine = next(subject for subject in subjects if subject.name == "mine")
    rows = mine.sets("any", "rows")["BS"].to_numpy() & mine.records.ok
    gap = (mine.right(SCI5) - mine.right(LOOSER))[rows]
    found = [interval.estimate for finding in after if finding.model == mine.name
             for what, interval, _ in finding.parts if what == "SCI5 − VCD, BS"]  # fmt: skip
    assert found and np.allclose(found, gap.mean())


def test_a_constant_is_of_those_methods_that_read_it():
    assert with_constants(VCD, beta=0.5, tau2=1.0) == replace(VCD, beta=0.5)
    assert with_constants(SCI5, beta=None, tau2=1.0) == replace(SCI5, tau2=1.0)
    assert with_constants(BASE, beta=0.5) == BASE
    own = [METHODS[name] for name in COMPARED]
    same = [replace(each, beta=SCI5.beta) if each.beta else each for each in own]
    assert betas(same) == f"each method’s own β: {SCI5.beta}"
    assert betas([BASE, LOOSER, SCI5]) == f"each method’s own β: 0.1 (VCD); {SCI5.beta} (SCI5)"
    assert betas(own, 0.5) == "β of every method: 0.5"

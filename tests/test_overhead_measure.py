"""How the benchmark of overhead measures a line on a GPU: agreement of the engines, and time."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sci_book.papers.sci.overhead import CountingModel, MadeUpQuestions
from sci_core import SCI3, SCI7, PrefixCache
from sci_core.families.processors import Picture

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import overhead_lines
import overhead_measure
import overhead_runs
from overhead_lines import DRY_RUN, ENGINES, SPEED, Line

QWEN = DRY_RUN.subjects[0].name
SMALL = "56x56"


def test_both_engines_agree_in_float32_on_pictures_of_their_own():
    subject = overhead_measure.Subject(replace(DRY_RUN, dtype=torch.float32), QWEN, {})
    line = Line(ENGINES, QWEN, SMALL, 2, "SCI7", "two_phase", "cold")
    (row,) = overhead_measure.measure(subject, line, 1, [])
    assert (row["same"], row["apart"], row["steps"]) == (10, 0, 10)
    assert row["largest_logit_difference"] < 1e-5
    asked = subject.questions(SMALL).batch(SCI7, 1)[0]
    own = [overhead_measure._of_its_own(subject, asked, SMALL, number) for number in (1, 2)]
    pixels = [[each.picture.inputs["pixel_values"] for each in one.dummies] for one in own]
    assert torch.equal(pixels[0][0], pixels[1][0])  # black is the same for both
    assert not torch.equal(pixels[0][1], pixels[1][1])


def test_a_difference_is_a_near_tie_only_within_the_reach_of_rounding():
    noise = 0.01
    reach = 2 * noise * (1 / SCI3.tau1 + 2 / SCI3.tau2)
    reference = torch.full((3, 4, 5), -20.0)
    # By node: the leading two tokens apart, within reach, beyond it, and one at the cutoff.
    gaps = [1.0, 0.9 * reach, 1.1 * reach, SCI3.margin + noise]
    for node, gap in enumerate(gaps):
        reference[:, node, 0], reference[:, node, 1] = gap * SCI3.tau1, 0.0
    reference[:, 3, 0] = SCI3.margin + noise
    other = reference.clone()
    other[:, 1:, 1] += 10
    found = overhead_measure.agreement(
        SCI3, reference, other, 0, torch.zeros(4, 5, dtype=torch.bool), noise
    )
    assert found.chosen.tolist() == [0, 0, 0, 0]
    assert found.same.tolist() == [True, False, False, False]
    assert found.near.tolist() == [False, True, False, True]
    assert found.close.tolist() == [False, True, False, False]
    assert found.largest == 10


def test_a_line_without_its_base_is_refused():
    subject = overhead_measure.Subject(DRY_RUN, QWEN, {})
    line = Line(SPEED, QWEN, SMALL, 1, "SCI3", "two_phase", "warm")
    with pytest.raises(ValueError, match=r"the base of .* SCI3 two_phase warm has not been"):
        overhead_measure.measure(subject, line, 2, [])


class Events:
    """Stand for `torch.cuda`: an event is recorded where the device is, a second a call."""

    def __init__(self):
        self.now, self.waited = 0.0, []

    def Event(self, enable_timing):
        assert enable_timing
        events = self

        class Event:
            def record(self):
                events.now += 1
                self.at = events.now

            def elapsed_time(self, last):
                assert events.waited and events.waited[-1] >= last.at, "read before it was there"
                return 1000 * (last.at - self.at)

        return Event()

    def synchronize(self):
        self.waited.append(self.now)


def test_on_a_gpu_time_lies_between_events_that_are_read_at_rest(monkeypatch):
    events = Events()
    monkeypatch.setattr(torch.cuda, "Event", events.Event)
    monkeypatch.setattr(torch.cuda, "synchronize", events.synchronize)
    clock = overhead_runs.Clock(torch.device("cuda"))
    assert clock.median(lambda: None, 3) == 1.0
    assert len(events.waited) == 6  # before and after each
    first, last = clock.mark(), clock.mark()
    with pytest.raises(AssertionError, match="read before it was there"):
        clock.between(first, last)
    clock.settle()
    assert clock.between(first, last) == 1.0


def test_a_run_waits_for_the_device_only_before_and_after(monkeypatch):
    """Nothing but the engine itself holds the launches up."""
    events = Events()
    monkeypatch.setattr(torch.cuda, "Event", events.Event)
    monkeypatch.setattr(torch.cuda, "synchronize", events.synchronize)
    model = CountingModel()
    picture = Picture({"image_grid_thw": torch.tensor([[1, 4, 300]])}, 300)
    questions = MadeUpQuestions(model, picture)
    line = Line(SPEED, "none", SMALL, 1, "SCI3", "two_phase", "warm")
    cuda = overhead_runs.Clock(torch.device("cuda"))
    monkeypatch.setattr(overhead_runs, "Clock", lambda device: cuda)
    found = overhead_lines.run_line(model, line, questions, PrefixCache())
    assert len(events.waited) == 2
    assert found.seconds == (2.0, 10.0)  # two marks a token
    assert found.combining == 0.5

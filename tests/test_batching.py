"""Batches: everything once, pictures whole, little padding; halved when memory runs out."""

import warnings

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sci_core.engine.batching import FittingBatches, by_length

pytestmark = pytest.mark.quick

questions = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 50)), max_size=40)


@given(questions, st.integers(1, 9))
def test_every_question_is_in_one_batch_and_no_batch_is_too_large(asked, size):
    batches = by_length([picture for picture, _ in asked], [(n,) for _, n in asked], size)
    assert sorted(place for batch in batches for place in batch) == list(range(len(asked)))
    assert all(0 < len(batch) <= size for batch in batches)


@given(questions, st.integers(1, 9))
def test_a_picture_that_fits_into_a_batch_is_not_divided(asked, size):
    batches = by_length([picture for picture, _ in asked], [(n,) for _, n in asked], size)
    for picture in {picture for picture, _ in asked}:
        holding = [batch for batch in batches if any(asked[k][0] == picture for k in batch)]
        count = sum(each == picture for each, _ in asked)
        assert count > size or len(holding) == 1


def test_like_lengths_go_together():
    assert by_length("abcd", [(9,), (1,), (8,), (2,)], 2) == [[1, 3], [2, 0]]
    assert by_length("abcd", [(1, 9), (2, 1), (1, 8), (2, 0)], 2) == [[2, 0], [3, 1]]


def out_of_memory(error):
    def work(items):
        sizes.append(len(items))
        if len(items) > 3:
            raise error
        return [10 * item for item in items]

    sizes = []
    return work, sizes


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried …"),
        MemoryError(),
    ],
)
def test_a_batch_that_does_not_fit_is_halved_and_said_once(error):
    work, sizes = out_of_memory(error)
    fitting = FittingBatches()
    with pytest.warns(RuntimeWarning, match="with 16 questions at a time; going on with 8") as said:
        assert fitting(work, range(16)) == list(range(0, 160, 10))
    assert len(said) == 1
    assert sizes == [16, 8, 4, 2, 2, 2, 2, 2, 2, 2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitting(work, range(5)) == [0, 10, 20, 30, 40]
    assert sizes[11:] == [2, 2, 1], "what did not fit is not tried again"


def test_one_question_too_large_and_other_errors_are_not_hidden():
    def work(items):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    with pytest.warns(RuntimeWarning), pytest.raises(torch.OutOfMemoryError):
        FittingBatches()(work, range(2))

    def other(items):
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match="shapes"):
        FittingBatches()(other, range(2))

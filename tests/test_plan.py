"""The plan on plain numbers: what is shared, and that every round sees exactly itself."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sci_core.engine.plan import SHARED, packed_visible, plan, step_visible
from tests.soak import examples

pytestmark = pytest.mark.quick

IMAGE = 9

texts = st.lists(st.integers(0, 2), max_size=4)


@st.composite
def rounds(draw):
    """Rounds with one picture each (a run of 9s), which often begin alike."""
    picture = [IMAGE] * draw(st.integers(1, 4))
    before, after = draw(texts), draw(texts)
    return [
        [*before, *draw(texts), *picture, *after, *draw(texts), draw(st.integers(0, 2))]
        for _ in range(draw(st.integers(1, 4)))
    ]


def test_a_question_with_two_rewrites():
    made = plan([[1, 9, 9, 2, 3], [1, 9, 9, 2, 4, 5], [1, 9, 9, 2, 6]], IMAGE)
    assert (made.prefix, made.shared) == ((1, 9, 9), (2,))
    assert made.suffixes == ((3,), (4, 5), (6,))
    assert made.packed == (2, 3, 4, 5, 6)
    assert made.owners == (SHARED, 0, 1, 1, 2)
    assert made.lasts == (1, 3, 4)


def test_a_picture_is_never_divided():
    """Without the whole picture there is no prefix; what precedes it is shared text."""
    for sequences in ([[1, 9, 9, 9], [1, 9, 9, 9]], [[1, 9, 9, 2], [1, 9, 2, 2]]):
        made = plan(sequences, IMAGE)
        assert (made.prefix, made.shared) == ((), (1,))
    assert plan([[1, 9, 2], [1, 9, 3]], IMAGE).prefix == (1, 9)


def test_nor_is_a_picture_of_several_runs():
    """Tiles with marks between them, ending the round or followed by text."""
    made = plan([[1, 9, 9, 5, 9, 9], [1, 9, 9, 5, 9, 9]], IMAGE)
    assert (made.prefix, made.shared) == ((), (1,))
    made = plan([[1, 9, 9, 5, 9, 9, 2, 3], [1, 9, 9, 5, 9, 9, 2, 4]], IMAGE)
    assert (made.prefix, made.shared) == ((1, 9, 9, 5, 9, 9), (2,))


@pytest.mark.parametrize("empty", [[], [[1], []]])
def test_rounds_without_tokens_are_refused(empty):
    with pytest.raises(ValueError, match="at least one token"):
        plan(empty, IMAGE)


@given(rounds())
def test_the_parts_make_the_round(sequences):
    made = plan(sequences, IMAGE)
    for sequence, suffix in zip(sequences, made.suffixes, strict=True):
        assert [*made.prefix, *made.shared, *suffix] == sequence
        assert suffix
        holding = [IMAGE in part for part in (made.prefix, made.shared, suffix)]
        assert sum(holding) == 1, "a picture is never divided"
    assert not made.prefix or made.prefix[-1] == IMAGE
    assert IMAGE not in made.shared


@given(rounds())
def test_as_much_is_shared_as_can_be(sequences):
    made = plan(sequences, IMAGE)
    nexts = {suffix[0] for suffix in made.suffixes}
    ended = any(len(suffix) == 1 for suffix in made.suffixes)
    assert len(nexts) > 1 or ended or nexts == {IMAGE}


@examples(60)
@given(st.lists(rounds(), min_size=1, max_size=3), st.integers(0, 3), st.data())
def test_every_round_sees_itself_and_nothing_else(questions, steps, data):
    """Write token ids into the slots; what a round's last token sees must be its own sequence."""
    count = max(map(len, questions))
    questions = [(sequences * count)[:count] for sequences in questions]
    plans = [plan(sequences, IMAGE) for sequences in questions]
    cached = max(len(each.prefix) for each in plans)
    visible = packed_visible(plans, cached)
    padding = -1
    slots = torch.full((len(plans), visible.shape[-1]), padding)
    for row, each in enumerate(plans):
        slots[row, : len(each.prefix)] = torch.tensor(each.prefix)
        slots[row, cached : cached + len(each.packed)] = torch.tensor(each.packed)
        for place, owner in enumerate(each.owners):
            before, started = len(each.prefix), 0
            if owner != SHARED:
                before += len(each.shared)
                started = each.lasts[owner] + 1 - len(each.suffixes[owner])
            seen = slots[row][visible[row, place]].tolist()
            assert seen == questions[row][max(owner, 0)][: before + place - started + 1]
    assert visible.any(dim=-1).all(), "a padded token without anything to see turns into NaN"

    rows = zip(visible, plans, strict=True)
    visible = torch.stack([seen[list(each.lasts)] for seen, each in rows])
    written = [[list(sequence) for sequence in sequences] for sequences in questions]
    for step in range(steps):
        # Lanes are forked, dropped and reordered; a row with fewer of them is padded.
        parents = torch.tensor(
            data.draw(
                st.lists(
                    st.lists(st.integers(-1, visible.shape[1] - 1), min_size=3, max_size=3),
                    min_size=len(plans),
                    max_size=len(plans),
                )
            )
        )
        visible = step_visible(visible, parents)
        tokens = 100 + 10 * step + torch.arange(3).expand(len(plans), -1)
        slots = torch.cat([slots, tokens], dim=1)
        written = [
            [
                (written[row][k] if k >= 0 else []) + [int(token)]
                for k, token in zip(*each, strict=True)
            ]
            for row, each in enumerate(zip(parents.tolist(), tokens.tolist(), strict=True))
        ]
    for row, lanes in enumerate(written):
        for lane, sequence in enumerate(lanes):
            assert slots[row][visible[row, lane]].tolist() == sequence

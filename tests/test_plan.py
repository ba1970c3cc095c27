"""The plan on plain numbers: what is shared, and that every round sees exactly itself."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sci_core.plan import last_visible, packed_visible, plan, step_visible

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
    made = plan([[1, 9, 9, 2, 3], [1, 9, 9, 2, 4, 5], [1, 9, 9, 6]], IMAGE)
    assert made.prefix == (1, 9, 9)
    assert made.suffixes == ((2, 3), (2, 4, 5), (6,))
    assert made.owners == (0, 0, 1, 1, 1, 2)
    assert made.lasts == (1, 4, 5)


def test_equal_rounds_keep_their_last_token():
    assert plan([[1, 9, 2], [1, 9, 2]], IMAGE).prefix == (1, 9)


def test_a_round_alone_is_all_suffix():
    made = plan([[1, 9, 2]], IMAGE)
    assert (made.prefix, made.suffixes) == ((), ((1, 9, 2),))


def test_a_picture_is_never_divided():
    assert plan([[1, 9, 9, 9], [1, 9, 9, 9]], IMAGE).prefix == (1,)
    assert plan([[1, 9, 9, 2], [1, 9, 2, 2]], IMAGE).prefix == (1,)
    assert plan([[1, 9, 2], [1, 9, 3]], IMAGE).prefix == (1, 9)


def test_an_instruction_before_the_picture_shares_what_precedes_it():
    assert plan([[1, 2, 9, 9, 3], [1, 4, 9, 9, 3]], IMAGE).prefix == (1,)


@pytest.mark.parametrize("empty", [[], [[1], []]])
def test_rounds_without_tokens_are_refused(empty):
    with pytest.raises(ValueError, match="at least one token"):
        plan(empty, IMAGE)


@given(rounds())
def test_prefix_and_suffix_make_the_round(sequences):
    made = plan(sequences, IMAGE)
    for sequence, suffix in zip(sequences, made.suffixes, strict=True):
        assert [*made.prefix, *suffix] == sequence
        assert suffix
        assert IMAGE not in made.prefix or IMAGE not in suffix


@given(rounds())
def test_the_prefix_is_as_long_as_can_be(sequences):
    made = plan(sequences, IMAGE)
    if len(sequences) > 1:
        nexts = {suffix[0] for suffix in made.suffixes}
        ended = any(len(suffix) == 1 for suffix in made.suffixes)
        assert len(nexts) > 1 or ended or nexts == {IMAGE}


@settings(max_examples=60)
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
        packed = sum(each.suffixes, ())
        slots[row, : len(each.prefix)] = torch.tensor(each.prefix)
        slots[row, cached : cached + len(packed)] = torch.tensor(packed)
        for place, owner in enumerate(each.owners):
            started = each.lasts[owner] + 1 - len(each.suffixes[owner])
            so_far = len(each.prefix) + place - started + 1
            seen = slots[row][visible[row, place]].tolist()
            assert seen == questions[row][owner][:so_far]
    assert visible.any(dim=-1).all(), "a padded token without anything to see turns into NaN"

    visible = last_visible(visible, torch.tensor([each.lasts for each in plans]))
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

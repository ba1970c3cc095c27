"""Pictures to describe: each is another one, and its truth is told in the words of its kinds."""

from sci_book.data.datasets import load_dataset
from sci_book.data.objects import Objects
from sci_book.pipeline.pocket_data import draw_pocket
from sci_book.pocket.world import KINDS


def test_every_picture_has_a_truth_whose_objects_are_known():
    draw_pocket("pocket_descriptions")
    dataset = load_dataset("pocket_descriptions")
    assert len(dataset) == len({row.image_hash for row in dataset}) == 750
    assert sorted(dataset.objects) == sorted([*KINDS, "sign"])
    objects = Objects(dataset.objects)
    for row in dataset:
        told = objects.named_in(row.answer)
        assert len(told) == len(set(told)) == row.answer.count(",") + row.answer.count(" and ") + 1

"""Which objects a text names: plurals, the longest name first, phrases that mean something else."""

import pytest

from sci_book.data.objects import Objects, objects_of, read_objects
from sci_book.data.rows import DatasetError
from sci_book.resources import MANIFESTS

HOUSE = {
    "person": ["man", "woman", "child"], "dog": ["puppy"], "hot dog": [], "bus": [], "fish": [],
    "toilet": [], "knife": [], "狗": ["小狗"], "nothing": ["toilet paper", "dog house"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Two men and a WOMAN.", ["person", "person"]),
        ("People, children; a child's toy", ["person", "person", "person"]),
        ("hot dogs for dogs", ["hot dog", "dog"]),
        ("a hot-dog and a hot\n dog", ["hot dog", "hot dog"]),
        ("toilet paper by the toilet, no toilet-paper", ["toilet"]),
        ("A dog house without puppies", ["dog"]),
        ("buses, a bus, busy streets, a minibus", ["bus", "bus"]),
        ("knives and fish and fishes' tails", ["knife", "fish"]),
        ("doghouse, cathedral, mankind", []),
        ("一只小狗和一只狗", ["狗", "狗"]),
        ("", []),
        ("a nothing", []),
    ],
)
def test_a_text_names_objects_in_its_order(text, named):
    assert Objects(HOUSE).named_in(text) == named


def test_a_name_of_its_own_goes_before_another_ones_plural():
    assert Objects({"glass": [], "glasses": []}).named_in("glasses, a glass") == [
        "glasses",
        "glass",
    ]


@pytest.mark.parametrize(
    "listed", ["sky, tall tree", "sky; tall tree", "sky | tall tree,", "sky\ntall tree"]
)
def test_the_truths_of_a_file_are_its_objects(listed):
    objects = objects_of([listed, "road"])
    assert objects.named_in("Tall trees under the skies, roads.") == ["tall tree", "sky", "road"]


def test_no_objects_name_nothing():
    assert Objects({}).named_in("a dog") == []


@pytest.mark.parametrize(
    "text", ["- dog\n- cat\n", "dog: puppy\n", "on: []\n", "dog: [1]\n", "dog: ['']\n", "dog\n"]
)
def test_a_file_that_is_no_list_of_objects_is_refused_in_a_sentence(tmp_path, text):
    (tmp_path / "o.yaml").write_text(text)
    with pytest.raises(DatasetError, match=r"o\.yaml"):
        read_objects(tmp_path / "o.yaml")


def test_the_kinds_of_coco_are_eighty_and_no_word_names_two():
    words = read_objects(MANIFESTS / "objects" / "coco.yaml")
    kinds = {name: others for name, others in words.items() if name != "nothing"}
    every = [word for name, others in kinds.items() for word in (name, *others)]
    assert len(kinds) == 80 and len(every) == len(set(every))
    objects = Objects(words)
    assert all(
        objects.named_in(f"one {word} here") == [name]
        for name, others in kinds.items()
        for word in (name, *others)
    )

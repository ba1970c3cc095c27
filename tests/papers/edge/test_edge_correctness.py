"""The paper's coarse rules, and CIDEr."""

import json
from collections import defaultdict

import numpy as np
import pytest

from sci_book.papers.edge import correctness
from sci_book.papers.edge.cider import cider


@pytest.mark.parametrize(
    ("prediction", "truth", "right"),
    [
        ("The BUS is red!", "red", True),
        ("red", "red and white", True),  # the reverse
        ("blue", "red", False),
        ("I do not know", "no", True),  # a substring, not a word
        ("", "red", False),
        ("...", "red", False),
        ("red", "?", False),
        ("T-shirt", "t shirt", True),
    ],
)
def test_soft_match_of_vqa(prediction, truth, right):
    assert correctness.vqa_correct(prediction, truth) is right


@pytest.mark.parametrize(
    ("prediction", "truth", "right"),
    [
        ("A dog runs.", "Two cats and a dog", True),
        ("on it", "on it", False),  # no word of three letters
        ("some other thing", "the end", True),  # "the" inside "other"
        ("a bird", "Dogs", False),
        ("", "dog", False),
    ],
)
def test_keyword_of_captions(prediction, truth, right):
    assert correctness.caption_correct(prediction, truth) is right


def test_role_marker_is_stripped_once_and_only_in_front():
    assert correctness.clean_prediction(" Assistant: a cat") == "a cat"
    assert correctness.clean_prediction("assistant:\nyes") == "yes"
    assert correctness.clean_prediction("My assistant: a cat") == "My assistant: a cat"


def test_cider_equals_the_caption_evaluations():
    # Values of pycocoevalcap 1.2's CiderScorer(n=4, sigma=6.0) on these lower-case captions.
    predictions = [
        "A man riding a wave on a surfboard.",
        "two dogs play in the snow",
        "a red bus on the street",
    ]
    references = [
        ["a man on a surfboard riding a wave", "a surfer rides a big wave"],
        ["two dogs playing in snow", "dogs run through the snow"],
        ["a bus is parked on the street", "a red double decker bus"],
    ]
    assert cider(predictions, references) == pytest.approx([2.9295571, 2.09569533, 2.46875161])


def test_cider_identities():
    references = [["a cat sleeps on the red sofa"], ["two dogs run in the deep snow"]]
    same = [each[0] for each in references]
    assert cider(same, references) == pytest.approx([10, 10])
    assert cider(same[::-1], references) == pytest.approx([0, 0])  # "the" weighs nothing
    assert cider(["", ""], references) == pytest.approx([0, 0])
    assert cider([], []).shape == (0,)
    assert cider(same[:1], references[:1]) == pytest.approx([0])  # one picture: no weight at all
    assert np.all(cider(["a cat sleeps", same[1]], references) <= 10 + 1e-9)


def test_cider_needs_references():
    with pytest.raises(ValueError, match="2 captions and 1 lists"):
        cider(["a", "b"], [["a"]])
    with pytest.raises(ValueError, match="no reference"):
        cider(["a"], [[]])


def test_what_the_two_measures_make_of_peoples_captions(real):
    """A caption of the same picture and of another one: what a rule must tell apart."""
    path = real / "coco_mini" / "captions_val.json"
    captions = defaultdict(list)
    for line in json.loads(path.read_text(encoding="utf-8"))["annotations"]:
        captions[line["image_id"]].append(line["caption"])
    pictures = [captions[key] for key in sorted(captions)]
    n = len(pictures)
    right = [correctness.caption_correct(each[1], each[0]) for each in pictures]
    wrong = [
        correctness.caption_correct(pictures[(k + shift) % n][1], pictures[k][0])
        for k in range(n)
        for shift in range(1, n)
    ]
    assert (n, round(100 * np.mean(right), 1), round(100 * np.mean(wrong), 1)) == (79, 94.9, 34.0)
    references = [each[1:] for each in pictures]
    own = cider([each[0] for each in pictures], references).mean()
    other = cider([pictures[(k + 1) % n][0] for k in range(n)], references).mean()
    assert own == pytest.approx(1.132, abs=5e-4) and other < own / 20

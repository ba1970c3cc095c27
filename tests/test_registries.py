"""A new dummy image and a new equation are each said in one place, and everything follows."""

import random
from dataclasses import replace

import pytest
from PIL import ImageFilter

from sci_book.data.rewordings import check_rounds
from sci_core import TIE, Method, counterfactual_image, generate
from sci_core.counterfactuals import DUMMIES, Dummy, is_visual
from sci_core.engine.questions import split_rounds
from tests import tiny


@pytest.fixture
def blur(monkeypatch):
    def draw(image, radius, variant):
        return image.filter(ImageFilter.GaussianBlur(radius))

    dummy = Dummy("'blur' and a radius, such as 'blur5'", draw, number=r"\d{1,2}")
    monkeypatch.setitem(DUMMIES, "blur", dummy)


def test_an_unknown_dummy_is_textual_until_it_is_registered(blur, monkeypatch):
    rounds = ("original", "V1", "blur5", "black")
    assert is_visual("blur5") and split_rounds(rounds) == (("V1",), ("blur5", "black"))
    check_rounds(rounds)
    with pytest.raises(ValueError, match="or 'blur' and a radius"):
        counterfactual_image(tiny.random_questions(random.Random(0), 1)[0][0], "blur500")
    monkeypatch.delitem(DUMMIES, "blur")
    assert not is_visual("blur5")


@pytest.mark.parametrize("noise", ["clamp", "normalized"])
def test_a_registered_dummy_is_decoded_by_both_engines_alike(blur, noise):
    model = tiny.load("qwen2_vl", "float64")
    images, prompts = tiny.random_questions(random.Random(0), 3)
    blurred = replace(TIE, name="blur", visual=("blur5",))
    fast, slow, noisy = (
        [answer.tokens for answer in generate(model, images, prompts, method, 2, **how)]
        for method, how in (
            (blurred, {"noise": noise}),
            (blurred, {"noise": noise, "engine": "sequential", "gate": False}),
            (Method("SCI", "sci", visual=("black", "blur5")), {}),
        )
    )
    assert fast == slow and len(noisy) == 3

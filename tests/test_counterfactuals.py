"""Dummy images and rewritten prompts."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sci_book.pocket.curriculum import seed_of
from sci_core.counterfactuals import (
    REWRITES,
    add_noise,
    alpha_bar,
    counterfactual_image,
    find_dummy,
    noisy_pixel_values,
    prefix_rewrite,
    reword,
    rewrite,
)
from sci_core.methods import VISUAL_ROUNDS

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
ENGLISH = [anchor for anchor in REWRITES["V1"] if anchor.isascii()]
CHINESE = "请直接回答选项字母。"


@st.composite
def images(draw):
    width, height = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    values = draw(st.binary(min_size=3 * width * height, max_size=3 * width * height))
    return Image.frombytes("RGB", (width, height), values)


def grey(size=256):
    return Image.new("RGB", (size, size), (128, 128, 128))


# Images


@pytest.mark.parametrize(
    ("step", "expected"), [(400, 0.89275955), (500, 0.74479853), (999, 0.08124919)]
)
def test_the_noise_schedule_has_its_known_values(step, expected):
    assert alpha_bar(step) == pytest.approx(expected, abs=5e-9)


def test_alpha_bar_falls_and_has_a_thousand_steps():
    values = [alpha_bar(step) for step in range(1000)]
    assert all(later < earlier for earlier, later in pairwise(values))
    for step in (-1, 1000):
        with pytest.raises(ValueError, match=f"noise step {step}; the schedule has steps 0 to 999"):
            alpha_bar(step)


@given(st.integers(0, 999))
def test_noise_keeps_unit_variance(step):
    values, noise = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert (add_noise(values, step, noise) ** 2).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("step", "values", "pixels"), [(400, 12.8, 34), (500, 32.7, 70)])
def test_noise_leaves_the_range_on_a_mid_grey_image(step, values, pixels):
    noise = np.random.Generator(np.random.Philox(0)).standard_normal((1000, 1000, 3))
    noisy = add_noise(np.full_like(noise, 0.5), step, noise)
    outside = (noisy < 0) | (noisy > 1)
    assert 100 * outside.mean() == pytest.approx(values, abs=0.1)
    assert 100 * outside.any(axis=-1).mean() == pytest.approx(pixels, abs=0.7)


@given(images())
def test_black_is_a_picture_of_the_same_size(image):
    black = counterfactual_image(image, "black")
    assert (black.mode, black.size, black.getbbox()) == ("RGB", image.size, None)


@given(images(), st.sampled_from(VISUAL_ROUNDS), st.sampled_from(["clamp", "wrap"]))
def test_a_dummy_is_a_function_of_the_pixels(image, name, variant):
    before = image.tobytes()
    dummy = counterfactual_image(image, name, variant)
    assert (dummy.mode, dummy.size) == ("RGB", image.size)
    again = counterfactual_image(Image.fromarray(np.asarray(image)), name, variant)
    with_alpha = counterfactual_image(image.convert("RGBA"), name, variant)
    assert dummy.tobytes() == again.tobytes() == with_alpha.tobytes()
    assert image.tobytes() == before


@given(images(), st.sampled_from(["clamp", "wrap"]), st.sampled_from([("small", 2), ("tiny", 4)]))
def test_small_noise_is_the_noise_of_the_picture_made_smaller(image, variant, kind):
    name, factor = kind
    dummy = counterfactual_image(image, f"{name}noise500", variant)
    if min(image.size) < 2 * factor:  # no tower reads a line of one pixel
        assert dummy.tobytes() == counterfactual_image(image, "noise500", variant).tobytes()
        return
    assert dummy.size == tuple(-(-side // factor) for side in image.size)
    of_less = counterfactual_image(image.reduce(factor), "noise500", variant)
    assert dummy.tobytes() == of_less.tobytes()


@pytest.mark.parametrize(
    ("name", "variant", "values"),
    [
        ("noise500", "clamp", [112, 0, 0, 100, 0, 43, 0, 0, 65, 46, 82, 7]),
        ("noise500", "wrap", [111, 122, 224, 99, 95, 42, 118, 229, 64, 45, 81, 7]),
        ("noise400", "clamp", [45, 86, 0, 101, 150, 78, 89, 219, 182, 164, 137, 254]),
    ],
)
def test_a_dummy_is_the_same_on_every_machine(name, variant, values):
    image = Image.fromarray(np.arange(0, 240, 20, dtype=np.uint8).reshape(2, 2, 3))
    assert list(counterfactual_image(image, name, variant).tobytes()) == values


def test_images_and_steps_have_their_own_noise():
    one, other = grey(64), grey(64)
    other.putpixel((0, 0), (128, 128, 129))
    wide = grey(64).resize((128, 32))
    eps = {}
    for key, image, name in (
        ("one", one, "noise500"),
        ("other", other, "noise500"),
        ("wide", wide, "noise500"),
        ("step", one, "noise400"),
    ):
        flat = np.asarray(counterfactual_image(image, name), dtype=float).ravel()
        eps[key] = flat - flat.mean()
    for key in ("other", "wide", "step"):
        assert abs(np.corrcoef(eps["one"], eps[key])[0, 1]) < 0.05


def test_clamped_noise_has_the_mean_and_spread_of_equation_12():
    pixels = np.asarray(counterfactual_image(grey(), "noise400", "clamp"), dtype=float) / 255
    inside = (pixels > 0) & (pixels < 1)
    assert 100 * (1 - inside.mean()) == pytest.approx(12.8, abs=0.5)
    assert np.median(pixels) == pytest.approx(np.sqrt(alpha_bar(400)) * 128 / 255, abs=0.005)


def test_wrapped_noise_differs_from_clamped_noise_outside_the_range_only():
    clamp, wrap = (
        np.asarray(counterfactual_image(grey(), "noise500", variant), dtype=int)
        for variant in ("clamp", "wrap")
    )
    assert 100 * (abs(clamp - wrap) > 1).mean() == pytest.approx(32.7, abs=1.5)
    low, high = wrap[clamp == 0], wrap[clamp == 255]
    assert low.mean() > 128 > high.mean()  # below black wraps to bright, above white to dark


def test_normalised_noise_follows_equation_12():
    image = grey(8)
    values = torch.linspace(-2, 2, 20_000).reshape(5, 4000)
    noisy = noisy_pixel_values(values, image, 500)
    assert (noisy.shape, noisy.dtype) == (values.shape, values.dtype)
    assert torch.equal(noisy, noisy_pixel_values(values, image, 500))
    eps = (noisy - alpha_bar(500) ** 0.5 * values) / (1 - alpha_bar(500)) ** 0.5
    assert eps.mean().item() == pytest.approx(0, abs=0.03)
    assert eps.std().item() == pytest.approx(1, abs=0.02)
    assert noisy.abs().max() > 2.5  # nothing is clamped


@pytest.mark.parametrize("name", ["noise1000", "noise", "noise-1", "white", "noise5.0"])
def test_unknown_dummies_are_refused(name):
    for make in (
        lambda: counterfactual_image(grey(2), name),
        lambda: find_dummy(name),
    ):
        with pytest.raises(ValueError, match=f"unknown dummy image '{name}'; use 'black' or"):
            make()


def test_unknown_variants_are_refused():
    with pytest.raises(ValueError, match=r"variant 'normalized' .* noisy_pixel_values"):
        counterfactual_image(grey(2), "noise500", "normalized")


# Prompts


def test_tables_cover_the_same_instructions():
    assert [list(table) for table in REWRITES.values()] == [list(REWRITES["V1"])] * 12
    assert len(REWRITES["V1"]) == 7


def test_v1_is_the_papers_figure_3():
    look = "Think about the question based on details in the given image. "
    assert all(REWRITES["V1"][anchor] == look + anchor for anchor in ENGLISH)
    assert REWRITES["V1"][CHINESE] == "结合问题与选项仔细观察图像中的信息，请直接回答选项字母。"


def test_v2_is_the_papers_figure_4():
    letter = (
        "请仔细观察图像中的信息，然后结合问题与选项，从上述所有选项中直接回答正确选项对应的字母。"
    )
    word = (
        "请仔细观察图像中的细节，然后结合图像上的信息回答问题，"
        "请直接用一个简短的英语单词或数字回答。"
    )
    assert REWRITES["V2"] == {
        "Please select the correct answer from the options above.": letter,
        "Please answer yes or no.": "观察给出的图片，请直接回答yes或no。",
        "Please try to answer the question with short words or phrases if possible.": word,
        "Answer the question using a single word or phrase.": word,
        "Answer the question directly using a single word or phrase.": word,
        "Answer with the option's letter from the given choices directly.": letter,
        CHINESE: "Please carefully examine the information in the image, then consider the "
        "question and options, and reply directly with the letter corresponding to the correct "
        "answer from the options above.",
    }


def test_v3_is_the_papers_figure_5():
    kinds = ["multiple-choice questions", "yes or no questions", *["questions"] * 3]
    kinds.append("multiple-choice questions")
    for anchor, kind in zip(ENGLISH, kinds, strict=True):
        student = f"You are a smart student who is good at answering {kind}. "
        assert REWRITES["V3"][anchor] == student + anchor
    assert REWRITES["V3"][CHINESE] == "你是一名擅长回答选择题的聪明学生，请直接回答选项字母。"


@pytest.mark.parametrize("anchor", list(REWRITES["V1"]))
def test_v4_to_v7_combine_the_papers_three_in_its_own_words(anchor):
    """Details, language, student: all ways to combine them, in order, and no two alike."""
    look, language, clever = (REWRITES[name][anchor] for name in ("V1", "V2", "V3"))
    details, student = look.removesuffix(anchor), clever.removesuffix(anchor)
    assert details != look and student != clever
    assert REWRITES["V4"][anchor] == student + details + anchor
    assert REWRITES["V5"][anchor] == student + language
    assert REWRITES["V6"][anchor] == details + language
    assert REWRITES["V7"][anchor] == student + details + language
    assert len({anchor, *(table[anchor] for table in REWRITES.values())}) == 13


def test_sentences_that_ask_for_nothing_were_drawn_by_lot_and_are_as_long_as_v1s():
    columns = yaml.safe_load((ROOT / "data_manifests" / "neutral.yaml").read_text("utf-8"))
    for script, anchor in (("latin", ENGLISH[0]), ("chinese", CHINESE)):
        asked = REWRITES["V1"][anchor].removesuffix(anchor)
        every = map("".join, product(*columns[script]))
        alike = [text for text in every if 0.8 <= len(text) / len(asked) <= 1.2]
        lot = np.random.default_rng(seed_of("qwen2_vl", "neutral"))
        drawn = [alike[place] for place in lot.choice(len(alike), 5, replace=False)]
        assert [REWRITES[f"N{k}"][anchor] for k in range(1, 6)] == [text + anchor for text in drawn]


@pytest.mark.parametrize(
    "prompt", ["Is it? Please answer yes or no.", "Describe it.", "它是红色吗？"]
)
def test_icds_disturbance_stands_in_front_of_the_whole_prompt(prompt):
    for reworded in (reword(prompt, "confused"), prefix_rewrite(prompt, "confused", "übersetzt")):
        assert reworded.endswith(prompt) and reworded != prompt
        assert reworded.startswith("You are a confused" if prompt.isascii() else "你是一个糊涂")


@pytest.mark.parametrize("name", ["none", "unk"])
def test_a_round_without_a_picture_has_none_to_draw(name):
    with pytest.raises(ValueError, match="no picture"):
        counterfactual_image(Image.new("RGB", (8, 8)), name)


@given(
    st.sampled_from(list(REWRITES["V1"])),
    st.sampled_from(list(REWRITES)),
    st.text(max_size=40),
    st.text(max_size=5),
)
def test_only_the_instruction_is_rewritten(anchor, name, before, after):
    assert rewrite(before + anchor + after, name) == before + REWRITES[name][anchor] + after


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("What is it?", 0),
        ("", 0),
        ("please answer yes or no.", 0),
        ("Is it red? Please answer yes or no. Please answer yes or no.", 2),
        (f"Please answer yes or no. {CHINESE}", 2),
    ],
)
def test_a_prompt_needs_exactly_one_instruction(prompt, found):
    with pytest.raises(ValueError, match=f"holds {found} known instructions") as error:
        rewrite(prompt, "V1")
    assert repr(prompt) in str(error.value)


def test_unknown_rewrites_are_refused():
    with pytest.raises(ValueError, match=r"no rewrite table 'V8'; there are V1, V2, .*, V7"):
        rewrite("Please answer yes or no.", "V8")


def test_a_prompt_of_unknown_form_is_reworded_in_front():
    prompt = "Describe the picture."
    look = "Think about the question based on details in the given image. "
    student = "You are a smart student who is good at answering questions. "
    assert prefix_rewrite(prompt, "V1") == look + prompt
    assert prefix_rewrite(prompt, "V2", translation="请描述图片。") == "请描述图片。"
    assert prefix_rewrite(prompt, "V3") == student + prompt
    other = "请仔细观察图像中的细节，然后结合图像上的信息回答问题。"
    assert prefix_rewrite(prompt, "V2") == other + prompt
    assert prefix_rewrite(prompt, "V4") == student + look + prompt
    assert prefix_rewrite(prompt, "V7") == student + look + other + prompt
    with pytest.raises(ValueError, match="no rewrite table 'V8'"):
        prefix_rewrite(prompt, "V8")


@pytest.mark.parametrize("prompt", ["请描述图片。", "What is 船?", "图里有什么"])
def test_in_front_of_a_chinese_prompt_stand_chinese_sentences_and_an_english_request(prompt):
    texts = {name: prefix_rewrite(prompt, name) for name in ("V1", "V2", "V3")}
    assert all(text.endswith(prompt) for text in texts.values())
    assert [text[:1].isascii() for text in texts.values()] == [False, True, False]


@pytest.mark.parametrize("prompt", ["What is this?", "Caption it", "Is it red? Yes or no?", "何？"])
def test_a_prompt_is_reworded_by_what_it_holds(prompt):
    for name in REWRITES:
        assert reword(prompt, name) == prefix_rewrite(prompt, name)
        known = f"{prompt} Please answer yes or no."
        assert reword(known, name) == rewrite(known, name)
    assert reword(prompt, "V2", "另一种") == "另一种"

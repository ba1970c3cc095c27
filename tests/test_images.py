"""One function prepares a picture for every way in: what is opened is seen as a person sees it."""

import ast
import io
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import ExifTags, Image

import sci_book
import sci_core
from sci_book.cli import main
from sci_book.data.pictures import PictureError, decode_picture
from sci_core import (
    BASE,
    Question,
    counterfactual_image,
    custom_generate,
    generate,
    prepare_image,
    start,
)
from tests import tiny
from tests.transformers_inputs import inputs_of, processor_of

pytestmark = pytest.mark.quick

RAMP = np.linspace(0, 255, 48 * 64).reshape(48, 64).astype(np.uint8)
COLOURS = Image.fromarray(np.stack([RAMP, RAMP[::-1], RAMP[:, ::-1]], axis=2))
PROMPT = "Is there a dog? Please answer yes or no."


def stored(image, form="PNG", **settings):
    file = io.BytesIO()
    image.save(file, form, **settings)
    return file.getvalue()


def with_alpha(mode):
    image = COLOURS.copy()
    image.putalpha(Image.fromarray(RAMP.T.copy()).resize(COLOURS.size))
    return image.convert(mode)


def of_palette():
    image = COLOURS.convert("P")
    image.info["transparency"] = 3
    return image


def turned(orientation):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return stored(COLOURS, exif=exif)


def deep(kind):
    return Image.fromarray((RAMP.astype(np.uint16) * 257).astype(kind))


CUT = stored(Image.effect_noise((90, 60), 60))[:-600]
FILES = {
    **{mode: stored(COLOURS.convert(mode)) for mode in ("1", "L", "P", "RGB")},
    **{mode: stored(with_alpha(mode)) for mode in ("LA", "RGBA")},
    "P with transparency": stored(of_palette(), transparency=3),
    "CMYK": stored(COLOURS.convert("CMYK"), "TIFF"),
    "YCbCr": stored(COLOURS.convert("YCbCr"), "TIFF"),
    "LAB": stored(COLOURS.convert("LAB"), "TIFF"),
    "I;16": stored(deep("<u2")),
    "I;16B": stored(deep(">u2"), "TIFF"),
    "I": stored(deep("i4"), "TIFF"),
    **{f"orientation {number}": turned(number) for number in range(1, 9)},
}
of_files = pytest.mark.parametrize("content", FILES.values(), ids=FILES)


def opened(content):
    return Image.open(io.BytesIO(content))


def first_logits(model, image):
    return start(model, [Question(image, PROMPT)], ("original", "noise500")).logits


@of_files
def test_every_way_in_shows_the_same_pixels(content):
    """`generate`, `start`, `custom_generate`, the dummies, and evaluation, from the same file."""
    model = tiny.load("qwen2_vl", "float64")
    evaluated = decode_picture(content)
    expected = np.asarray(evaluated)
    assert np.array_equal(np.asarray(prepare_image(opened(content))), expected)
    assert np.array_equal(np.asarray(Question(opened(content), PROMPT).prepared), expected)
    assert torch.equal(first_logits(model, opened(content)), first_logits(model, evaluated))
    dummy = counterfactual_image(opened(content), "noise500")
    assert np.array_equal(dummy, counterfactual_image(evaluated, "noise500"))
    logits = [
        generate(model, [image], [PROMPT], BASE, 2, return_logits=True)[0].logits[0]
        for image in (opened(content), evaluated)
    ]
    assert torch.equal(*logits)
    # The inputs are the upright picture's; those of one that lies would be refused.
    decode = custom_generate(processor_of(model), [opened(content)], [PROMPT], BASE)
    inputs = inputs_of(model, [evaluated], [PROMPT])
    written = model.hf.generate(**inputs, custom_generate=decode, max_new_tokens=2, do_sample=False)
    assert written.shape[1] > inputs["input_ids"].shape[1]


@of_files
def test_preparing_twice_is_preparing_once(content):
    once = prepare_image(opened(content))
    assert once.mode == "RGB" and prepare_image(once) is once


def test_an_ordinary_picture_is_the_same_object():
    assert prepare_image(COLOURS) is COLOURS
    image = opened(stored(COLOURS))
    assert prepare_image(image) is image and np.array_equal(image, COLOURS)
    assert np.array_equal(pickle.loads(pickle.dumps(image)), COLOURS)  # as it goes to workers


@pytest.mark.parametrize("kind", ["<u2", ">u2", "i4"])
def test_16_bit_grey_does_not_saturate(kind):
    image = prepare_image(deep(kind))
    assert np.array_equal(np.asarray(image), np.dstack([RAMP] * 3))


def test_transparent_pixels_are_white_whatever_they_hide():
    hidden = Image.new("RGBA", (8, 8), (200, 30, 10, 0))
    assert np.asarray(prepare_image(hidden)).min() == 255
    assert np.abs(
        np.asarray(prepare_image(Image.new("LA", (8, 8), (0, 128)))).astype(int) - 127
    ).max() <= 1  # fmt: skip


def test_orientation_survives_a_conversion_and_is_gone_once_applied():
    lying = opened(turned(6)).convert("RGB")
    upright = prepare_image(lying)
    assert upright.size == COLOURS.size[::-1] and prepare_image(upright) is upright
    assert np.array_equal(np.asarray(upright), np.rot90(np.asarray(COLOURS), -1))


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (Image.fromarray(RAMP.astype(np.float32)), "are fractions .*mode F.* convert .* to mode L"),
        (Image.fromarray(RAMP.astype(np.int32) - 5), "lie between -5 and 250 .*mode I"),
        (
            Image.fromarray(RAMP.astype(np.int32) * 9999),
            "lie between 0 and 2549745 .*expected 8 or 16 bits",
        ),
    ],
)
def test_grey_without_a_known_white_is_refused(image, says):
    with pytest.raises(ValueError, match=f"Question 1: The picture's grey values {says}"):
        generate(tiny.load("qwen2_vl"), [COLOURS, image], [PROMPT] * 2, BASE)
    with pytest.raises(PictureError, match=says):
        decode_picture(stored(image, "TIFF"))


@pytest.mark.parametrize("bits", [1, 4, 8, 10, 12, 14])
@pytest.mark.parametrize("kind", ["<u2", ">u2", "i4"])
def test_grey_of_fewer_bits_than_declared_is_refused_and_not_turned_black(bits, kind):
    """As cameras, microscopes and scanners write it: 4095 is white, 65535 is declared."""
    values = (RAMP.astype(np.int64) * (2**bits - 1) // 255).astype(kind)
    says = f"values lie between 0 and {2**bits - 1} .*, where white would be 65535"
    with pytest.raises(ValueError, match=f"Question 0: The picture's grey {says}"):
        generate(tiny.load("qwen2_vl"), [Image.fromarray(values)], [PROMPT], BASE)
    with pytest.raises(PictureError, match=says):
        decode_picture(stored(Image.fromarray(values), "TIFF"))
    half = np.where(values == values.max(), 2**15, values).astype(kind)  # a light is in it
    assert np.asarray(prepare_image(Image.fromarray(half))).max() == 128
    assert np.asarray(prepare_image(Image.fromarray(values * 0))).max() == 0


def test_every_mode_of_pillow_is_shown_or_refused_in_a_sentence():
    for mode in ("1", "L", "P", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "LAB", "HSV", "LA", "PA"):
        image = Image.new(mode, (9, 7))
        assert np.asarray(prepare_image(image)).shape == (7, 9, 3)
    for mode, multiplied in (("LA", "La"), ("RGBA", "RGBa")):
        seen, same = (
            np.asarray(prepare_image(image)).astype(int)
            for image in (with_alpha(mode), with_alpha(mode).convert(multiplied))
        )
        assert np.abs(seen - same).max() <= 2  # what multiplying rounds away
    for mode in ("I", "F", "I;16", "I;16B", "I;16L", "I;16N"):
        image = Image.new(mode, (9, 9), 3)
        with pytest.raises(ValueError, match=r"^The picture's grey values .*mode L\.$"):
            prepare_image(image)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM"])
def test_a_picture_that_was_closed_is_not_called_damaged(form, tmp_path):
    path = tmp_path / "a.file"
    path.write_bytes(stored(COLOURS, form))
    shown = {}
    with Image.open(path) as shown["with"]:
        pass
    with path.open("rb") as file:
        shown["file"] = Image.open(file)
    shown["close"] = Image.open(path)
    shown["close"].close()
    shown["in memory"] = COLOURS.copy()
    shown["in memory"].close()
    for image in shown.values():
        says = r"Question 1: The picture was closed before it was read, .* call its load\(\) inside"
        with pytest.raises(ValueError, match=says):
            generate(tiny.load("qwen2_vl"), [COLOURS, image], [PROMPT] * 2, BASE)
    with Image.open(path) as image:
        image.load()
    assert prepare_image(image).size == COLOURS.size


def test_a_cut_off_file_names_its_question():
    cut = opened(CUT)
    says = r"Question 1: The picture's file cannot be decoded \(.+\); expected a whole one"
    with pytest.raises(ValueError, match=says):
        generate(tiny.load("qwen2_vl"), [COLOURS, cut], [PROMPT] * 2, BASE)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "The file is empty; expected a picture as PNG, JPEG, .* or PPM."),
        (b"<svg/>", "The file is no picture that can be opened; expected"),
        (stored(Image.new("RGB", (2, 900))), "Crop or pad it first."),
        (CUT, "Save or fetch it again."),
    ],
    ids=["empty", "svg", "too long", "cut off"],
)
def test_sci_ask_says_what_is_wrong_with_a_file_in_one_sentence(content, says, tmp_path, capsys):
    path = tmp_path / "photo.png"
    path.write_bytes(content)
    with pytest.raises(SystemExit):
        main(["ask", str(path), PROMPT])
    said = capsys.readouterr().err
    assert said.startswith(f"sci: {path}: The ") and said.count("\n") == 1
    assert re.search(says, said) and said.endswith(".\n")
    assert "BytesIO" not in said and ".;" not in said and "give a PNG" not in said


def test_nothing_else_converts_a_picture_on_its_way_to_a_model():
    """Pixels are changed in one place: no other file of these turns, lays on white or converts."""
    kernel, book = (Path(package.__file__).parent for package in (sci_core, sci_book))
    ways = [*kernel.rglob("*.py"), *(book / "integrations").glob("*.py")]
    ways += [book / name for name in ("data/pictures.py", "data/rows.py", "run/shards.py")]
    calls = {
        (path.name, node.func.attr)
        for path in ways
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    changing = {"convert", "exif_transpose", "alpha_composite"}
    assert {name for name, call in calls if call in changing} == {"images.py"}

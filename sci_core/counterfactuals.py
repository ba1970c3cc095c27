"""Counterfactual inputs: dummy images and rewritten prompts (paper, appendix C).

A dummy image hides what the image shows; a rewritten prompt asks the same in other words.
"""

import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from sci_core.images import MIN_SIDE, prepare_image

STEPS = 1000
BLOCK = 1 << 16  # values of a picture that noise is added to at a time


@cache
def alpha_bar(step: int) -> float:
    """Return the share of the image's variance left after diffusion step ``step`` (paper, eq. 12).

    ``cumprod(1 - beta)`` at the zero-based ``step``, with VCD's schedule of 1000 steps
    ``beta = sigmoid(linspace(-6, 6)) * (0.005 - 1e-5) + 1e-5``, in float64.
    """
    if not 0 <= step < STEPS:
        raise ValueError(f"noise step {step}; the schedule has steps 0 to {STEPS - 1}")
    beta = 1 / (1 + np.exp(-np.linspace(-6, 6, STEPS))) * (0.005 - 1e-5) + 1e-5
    return float(np.cumprod(1 - beta)[step])


def add_noise(values: np.ndarray, step: int, noise: np.ndarray) -> np.ndarray:
    """Return ``sqrt(abar_t) * values + sqrt(1 - abar_t) * noise`` (paper, eq. 12), unclamped."""
    abar = alpha_bar(step)
    return np.sqrt(abar) * values + np.sqrt(1 - abar) * noise


def counterfactual_image(
    image: Image.Image,
    name: str,
    variant: str = "wrap",
    as_read: Callable[[Image.Image], Image.Image] | None = None,
) -> Image.Image:
    """Make the dummy image ``name`` of an image: RGB, of the size that ``prepare_image`` gives it.

    "smallnoise" and "tinynoise" have a half and a quarter of its width and height.

    Args:
        name: a kind of ``DUMMIES``, with its number if it has one: "black", "noise500".
        variant: what becomes of noise outside [0, 1]. "wrap" truncates it modulo 256, as the
            published code does; "clamp" cuts it and rounds to 8 bits.
        as_read: resizes a picture to what a model reads (``model.processor.as_read``), as the
            published code does for Qwen2-VL before it adds noise: noise that is added first is
            averaged away where a photograph is shrunk. None: noise on the picture as it came.

    Raises ValueError for an unknown name or variant.
    """
    if variant not in ("clamp", "wrap"):
        raise ValueError(
            f"variant {variant!r} is unknown; use 'clamp' or 'wrap', or noisy_pixel_values for "
            "noise on the normalised tensor"
        )
    dummy, number = find_dummy(name)
    shown = prepare_image(image)
    shown = shown if as_read is None else as_read(shown)
    return dummy.draw(reduced(shown, dummy.factor), number, variant)


def noisy_pixel_values(
    pixel_values: Float[Tensor, "..."], image: Image.Image, step: int
) -> Float[Tensor, "..."]:
    """Add noise to the image processor's output, as VCD does: the "normalized" variant.

    ``pixel_values`` is what the image processor made of ``image``, in any layout; nothing is
    clamped. The pixels of ``image`` and the step determine the noise.
    """
    noise = _normal(prepare_image(image), step)(tuple(pixel_values.shape))
    noisy = add_noise(pixel_values.double().cpu().numpy(), step, noise)
    return torch.from_numpy(noisy).to(pixel_values)


def _noise(image: Image.Image, step: int, variant: str) -> Image.Image:
    """Add noise to the image scaled to [0, 1]: all questions on one image share it."""
    pixels, normal = np.asarray(image), _normal(image, step)
    noisy = np.empty_like(pixels)
    rows = max(1, BLOCK // pixels[0].size)  # at a time, so that they stay in the processor's cache
    for first in range(0, len(pixels), rows):
        part = slice(first, first + rows)
        values = 255 * add_noise(pixels[part] / 255, step, normal(pixels[part].shape))
        if variant == "clamp":
            values = np.rint(values.clip(0, 255))
        noisy[part] = values.astype(np.int64).astype(np.uint8)  # the lowest 8 bits: modulo 256
    return Image.fromarray(noisy)


def reduced(image: Image.Image, factor: int) -> Image.Image:
    """Return the image at a ``factor``-th of its width and height.

    One that would have a side below two pixels stays as it is: no vision tower reads a line.
    """
    return image.reduce(factor) if min(image.size) >= factor * MIN_SIDE else image


def _normal(image: Image.Image, step: int) -> Callable[[tuple[int, ...]], np.ndarray]:
    """Return what draws the noise of an image and step, one part after another."""
    content = f"{image.width}x{image.height} noise{step} ".encode() + image.tobytes()
    key = hashlib.blake2b(content, digest_size=16).digest()
    bits = np.random.Philox(key=int.from_bytes(key, "little"))
    return np.random.Generator(bits).standard_normal


class Dummy(NamedTuple):
    """A kind of dummy image.

    Args:
        usage: how its rounds are named, for error messages.
        draw: makes the dummy of an RGB picture, from the number in the name and the noise variant.
        number: pattern of the number that follows the kind in a name; "" for none.
        constant: whether all pictures of one size have the same dummy, which is then read once.
        on_values: makes the dummy of the image processor's output, where noise is "normalized".
        factor: by how much the picture's sides are `reduced` first; if they are, the dummy has
            image tokens of its own.
        words: what stands in the picture's place in the prompt, where no picture is shown.
    """

    usage: str
    draw: Callable[[Image.Image, int, str], Image.Image]
    number: str = ""
    constant: bool = False
    on_values: Callable[[Tensor, Image.Image, int], Tensor] | None = None
    factor: int = 1
    words: str | None = None


def _no_picture(*_: object) -> Image.Image:
    raise ValueError("the rounds 'none' and 'unk' show no picture, so that there is none to draw")


_NOISE = Dummy(
    f"'noise' and a step from 0 to {STEPS - 1}, such as 'noise500'",
    _noise,
    number=r"\d{1,3}",
    on_values=noisy_pixel_values,
)
_ON_LESS = "{!r} and a step (noise on 1/{} of the width and height)"

DUMMIES = {
    "black": Dummy("'black'", lambda image, *_: Image.new("RGB", image.size), constant=True),
    "noise": _NOISE,
    "smallnoise": _NOISE._replace(usage=_ON_LESS.format("smallnoise", 2), factor=2),
    "tinynoise": _NOISE._replace(usage=_ON_LESS.format("tinynoise", 4), factor=4),
    "none": Dummy("'none' (no picture)", _no_picture, constant=True, words=""),
    "unk": Dummy("'unk' (an unknown token)", _no_picture, constant=True, words="<unk>"),
}
"""Every kind of dummy image by the name of its rounds. A new kind is registered here, and is then a
visual round for methods, engines, the prefix cache and evaluations."""


def is_visual(name: str) -> bool:
    """Tell whether a round's name begins as that of a dummy image does."""
    return any(
        name.startswith(kind) if dummy.number else name == kind for kind, dummy in DUMMIES.items()
    )


def find_dummy(name: str) -> tuple[Dummy, int]:
    """Return the kind of dummy image that a name such as "noise500" means, and its number.

    Raises ValueError for any other name.
    """
    for kind, dummy in DUMMIES.items():
        if re.fullmatch(kind + dummy.number, name):
            return dummy, int(name.removeprefix(kind) or 0)
    known = " or ".join(dummy.usage for dummy in DUMMIES.values())
    raise ValueError(f"unknown dummy image {name!r}; use {known}")


def shrinks(name: str) -> bool:
    """Tell whether a round shows a smaller picture or none, with image tokens of its own."""
    if not is_visual(name):
        return False
    dummy, _ = find_dummy(name)
    return dummy.factor > 1 or dummy.words is not None


def is_constant(name: str) -> bool:
    """Tell whether a round shows the same dummy for all pictures of one size."""
    return is_visual(name) and find_dummy(name)[0].constant


# Beside each known instruction stand the paper's ways to rewrite it: details go in front of it
# (Figure 3), the other language takes its place (Figure 4), a student goes in front of it (Figure
# 5). V4 to V7 combine these three ideas in the paper's own words, none chosen for what it scores.
_TABLE = json.loads(Path(__file__).with_name("rewrites.json").read_text(encoding="utf-8"))


def _script(text: str) -> str:
    """The key of a text's sentences: one with any character from U+4E00 to U+9FFF is Chinese."""
    return "chinese" if any("\u4e00" <= character <= "\u9fff" for character in text) else "latin"


REWRITES = {
    name: {
        row["instruction"]: form.format(**row, **_TABLE["neutral"][_script(row["instruction"])])
        for row in _TABLE["instructions"]
    }
    for name, form in _TABLE["forms"].items()
}
FRONTS: dict[str, dict[str, str]] = _TABLE["fronts"]
"""By script, rounds whose sentence stands in front of the whole prompt, as ICD's disturbance."""

# Longest first, so that an instruction inside another would count once, as the longer one.
_ANCHOR = re.compile("|".join(map(re.escape, sorted(REWRITES["V1"], key=len, reverse=True))))


def rewrite(prompt: str, name: str) -> str:
    """Replace the prompt's instruction by the paper's V1, V2 or V3 (Figures 3, 4, 5).

    V4 to V7, which are not the paper's, combine these three; N1 to N5 put a sentence that asks for
    nothing where V1 asks for details; "confused" is the disturbance of ICD, in front of the prompt.
    The rest of the prompt stays as it is.
    The paper prints "directly" in one instruction where the evaluation toolkit has none; both are
    known, and a rewrite keeps the one in the prompt.

    Raises ValueError, naming the prompt, unless it holds exactly one known instruction; and for
    an unknown name.
    """
    if name in FRONTS:
        return FRONTS[name][_script(prompt)] + prompt
    _check_round(name)
    count = len(_ANCHOR.findall(prompt))
    if count != 1:
        raise ValueError(
            f"the prompt {prompt!r} holds {count} known instructions; exactly one was "
            "expected. Pass your own rewrites, or end the prompt with one of: "
            + " | ".join(REWRITES["V1"])
        )
    return _ANCHOR.sub(lambda anchor: REWRITES[name][anchor[0]], prompt)


def prefix_rewrite(prompt: str, name: str, translation: str | None = None) -> str:
    """Apply the named ``prefix`` rule, for prompts without a known instruction (captions, probes).

    What the paper's rewrites say around an instruction stands in front of the prompt: of V1 the
    sentence on details, of V3 the one on a student, of V2 the request in the other language, in
    which the prompt then remains as it is. A ``translation``, the prompt in the other language, is
    V2 by itself. A prompt with any character from U+4E00 to U+9FFF is Chinese.

    Raises ValueError for an unknown name.
    """
    if name in FRONTS:
        return rewrite(prompt, name)
    _check_round(name)
    if name == "V2" and translation:
        return translation
    sentences = _TABLE["prefixes"][_script(prompt)] | _TABLE["neutral"][_script(prompt)]
    return _TABLE["forms"][name].format(instruction="", **sentences) + prompt


def holds_instruction(prompt: str) -> bool:
    """Tell whether a prompt holds an instruction that the paper's rewrites know."""
    return _ANCHOR.search(prompt) is not None


def reword(prompt: str, name: str, translation: str | None = None) -> str:
    """Reword a prompt by the paper's rewrites if it holds an instruction, else by ``prefix``.

    Raises ValueError as ``rewrite`` and ``prefix_rewrite`` do.
    """
    if holds_instruction(prompt):
        return rewrite(prompt, name)
    return prefix_rewrite(prompt, name, translation)


def _check_round(name: str) -> None:
    if name not in REWRITES:
        raise ValueError(
            f"no rewrite table {name!r}; there are {', '.join(REWRITES)}: pass your own rewrites"
        )

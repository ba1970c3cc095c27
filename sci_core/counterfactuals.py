"""Counterfactual inputs: dummy images and rewritten prompts (paper, appendix C).

A dummy image hides what the image shows; a rewritten prompt asks the same in other words.
"""

import hashlib
import re
from functools import cache

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from sci_core.images import prepare_image

STEPS = 1000


@cache
def alpha_bar(step: int) -> float:
    """The share of the image's variance left after diffusion step ``step`` (paper, eq. 12).

    ``cumprod(1 - beta)`` at the zero-based ``step``, with VCD's schedule of 1000 steps
    ``beta = sigmoid(linspace(-6, 6)) * (0.005 - 1e-5) + 1e-5``, in float64.
    """
    if not 0 <= step < STEPS:
        raise ValueError(f"noise step {step}; the schedule has steps 0 to {STEPS - 1}")
    beta = 1 / (1 + np.exp(-np.linspace(-6, 6, STEPS))) * (0.005 - 1e-5) + 1e-5
    return float(np.cumprod(1 - beta)[step])


def add_noise(values: np.ndarray, step: int, noise: np.ndarray) -> np.ndarray:
    """``sqrt(abar_t) * values + sqrt(1 - abar_t) * noise`` (paper, eq. 12), unclamped."""
    kept = alpha_bar(step)
    return np.sqrt(kept) * values + np.sqrt(1 - kept) * noise


def counterfactual_image(image: Image.Image, name: str, variant: str = "clamp") -> Image.Image:
    """The dummy image ``name`` of an image: RGB, of the size that ``prepare_image`` gives it.

    name: "black", or "noise" and a step from 0 to 999 ("noise500"). Noise is added to the image
    scaled to [0, 1]; its random numbers depend on the image's pixels and the step only, so all
    questions on one image share it.

    variant: what becomes of values outside [0, 1].
      "clamp"  cut to [0, 1] and rounded to 8 bits
      "wrap"   truncated and taken modulo 256: the unclamped 8-bit conversion of the published code

    For noise on the normalised tensor, as in VCD, see ``noisy_pixel_values``.

    Raises ValueError for an unknown name or variant.
    """
    if variant not in ("clamp", "wrap"):
        raise ValueError(
            f"variant {variant!r} is unknown; use 'clamp' or 'wrap', or noisy_pixel_values for "
            "noise on the normalised tensor"
        )
    image = prepare_image(image)
    if name == "black":
        return Image.new("RGB", image.size)
    step = noise_step(name)
    pixels = np.asarray(image)
    values = 255 * add_noise(pixels / 255, step, _normal(image, step, pixels.shape))
    if variant == "clamp":
        values = np.rint(values.clip(0, 255))
    return Image.fromarray((values.astype(np.int64) % 256).astype(np.uint8))


def noisy_pixel_values(
    pixel_values: Float[Tensor, "..."], image: Image.Image, name: str
) -> Float[Tensor, "..."]:
    """The "normalized" variant: noise on the image processor's output, as in VCD.

    ``pixel_values`` is what the model's image processor made of ``image``, in any layout; noise
    is added to each value and nothing is clamped. ``image`` is the picture itself: its pixels and
    the step determine the noise, as in ``counterfactual_image``.
    """
    step = noise_step(name)
    noise = _normal(prepare_image(image), step, tuple(pixel_values.shape))
    noisy = add_noise(pixel_values.double().cpu().numpy(), step, noise)
    return torch.from_numpy(noisy).to(pixel_values)


def noise_step(name: str) -> int:
    """The step in a name such as "noise500". Raises ValueError for any other name."""
    match = re.fullmatch(r"noise(\d{1,3})", name)
    if match is None:
        raise ValueError(
            f"unknown dummy image {name!r}; use 'black' or 'noise' and a step from 0 to 999, "
            "such as 'noise500'"
        )
    return int(match[1])


def _normal(image: Image.Image, step: int, shape: tuple[int, ...]) -> np.ndarray:
    content = f"{image.width}x{image.height} noise{step} ".encode() + image.tobytes()
    key = hashlib.blake2b(content, digest_size=16).digest()
    bits = np.random.Philox(key=int.from_bytes(key, "little"))
    return np.random.Generator(bits).standard_normal(shape)


_DETAILS = "Think about the question based on details in the given image. "
_STUDENT = "You are a smart student who is good at answering "

_OPTIONS = "Please select the correct answer from the options above."
_YES_NO = "Please answer yes or no."
_SHORT = "Please try to answer the question with short words or phrases if possible."
_WORD = "Answer the question using a single word or phrase."
_WORD_DIRECTLY = "Answer the question directly using a single word or phrase."
_LETTER = "Answer with the option's letter from the given choices directly."
_LETTER_CHINESE = "请直接回答选项字母。"

# Figure 3, look at the details: what stands in front of each instruction.
_LOOK = {
    **dict.fromkeys((_OPTIONS, _YES_NO, _SHORT, _WORD, _WORD_DIRECTLY, _LETTER), _DETAILS),
    _LETTER_CHINESE: "结合问题与选项仔细观察图像中的信息，",
}
_OPTIONS_IN_CHINESE = (
    "请仔细观察图像中的信息，然后结合问题与选项，从上述所有选项中直接回答正确选项对应的字母。"
)
_WORD_IN_CHINESE = (
    "请仔细观察图像中的细节，然后结合图像上的信息回答问题，请直接用一个简短的英语单词或数字回答。"
)
# Figure 4, the other language: what stands in its place.
_TRANSLATED = {
    _OPTIONS: _OPTIONS_IN_CHINESE,
    _YES_NO: "观察给出的图片，请直接回答yes或no。",
    _SHORT: _WORD_IN_CHINESE,
    _WORD: _WORD_IN_CHINESE,
    _WORD_DIRECTLY: _WORD_IN_CHINESE,
    _LETTER: _OPTIONS_IN_CHINESE,
    _LETTER_CHINESE: (
        "Please carefully examine the information in the image, then consider the question "
        "and options, and reply directly with the letter corresponding to the correct answer "
        "from the options above."
    ),
}
# Figure 5, a clever student answers: what stands in front of it.
_CLEVER = {
    _OPTIONS: _STUDENT + "multiple-choice questions. ",
    _YES_NO: _STUDENT + "yes or no questions. ",
    _SHORT: _STUDENT + "questions. ",
    _WORD: _STUDENT + "questions. ",
    _WORD_DIRECTLY: _STUDENT + "questions. ",
    _LETTER: _STUDENT + "multiple-choice questions. ",
    _LETTER_CHINESE: "你是一名擅长回答选择题的聪明学生，",
}

# V1, V2, V3 are the paper's. V4 to V7 are of our own making, to go on where the paper stops: the
# other ways to combine its three ideas, details (V1), language (V2) and student (V3), in the
# paper's own words. No sentence of theirs is new, so none could be chosen for what it scores.
REWRITES: dict[str, dict[str, str]] = {
    "V1": {each: _LOOK[each] + each for each in _LOOK},
    "V2": _TRANSLATED,
    "V3": {each: _CLEVER[each] + each for each in _CLEVER},
    "V4": {each: _CLEVER[each] + _LOOK[each] + each for each in _LOOK},
    "V5": {each: _CLEVER[each] + _TRANSLATED[each] for each in _LOOK},
    "V6": {each: _LOOK[each] + _TRANSLATED[each] for each in _LOOK},
    "V7": {each: _CLEVER[each] + _LOOK[each] + _TRANSLATED[each] for each in _LOOK},
}

# Longest first, so that an instruction inside another would count once, as the longer one.
_ANCHOR = re.compile("|".join(map(re.escape, sorted(REWRITES["V1"], key=len, reverse=True))))


def rewrite(prompt: str, name: str) -> str:
    """The prompt with its instruction replaced by the paper's V1, V2 or V3 (Figures 3, 4, 5).

    V4 to V7, which are not the paper's, combine these three: V4 is student and details, V5 student
    and language, V6 details and language, V7 all three; the sentences in front keep the language
    of the prompt. The rest of the prompt stays as it is. The paper prints "directly" in one
    instruction where the evaluation toolkit has none; both are known, and a rewrite keeps the one
    it found.

    Raises ValueError, naming the prompt, unless it holds exactly one known instruction; and for
    an unknown name.
    """
    if name not in REWRITES:
        raise ValueError(
            f"no rewrite table {name!r}; there are {', '.join(REWRITES)}: pass your own rewrites"
        )
    found = _ANCHOR.findall(prompt)
    if len(found) != 1:
        raise ValueError(
            f"the prompt {prompt!r} holds {len(found)} known instructions; exactly one was "
            "expected. Pass your own rewrites, or end the prompt with one of: "
            + " | ".join(REWRITES["V1"])
        )
    return _ANCHOR.sub(lambda anchor: REWRITES[name][anchor[0]], prompt)


def prefix_rewrite(prompt: str, name: str, translation: str | None = None) -> str:
    """The named ``prefix`` rule, for prompts without a known instruction (captions, probes).

    V1 and V3 put the paper's sentence in front of the prompt; V2 is ``translation``, the prompt
    in the other language, which must be given.

    Raises ValueError for a missing translation or an unknown name.
    """
    if name == "V1":
        return _DETAILS + prompt
    if name == "V3":
        return _STUDENT + "questions. " + prompt
    if name != "V2":
        raise ValueError(f"no prefix rule {name!r}; there are V1, V2, V3: pass your own rewrites")
    if not translation:
        raise ValueError(f"V2 of {prompt!r} is a translation of it: pass translation=…")
    return translation

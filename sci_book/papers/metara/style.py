"""MR3, style and background (section III-D3): classical by default, diffusion where given.

The paper paints with Stable Diffusion; offline, OpenCV's edge-preserving stylisation, a transfer of
colour statistics (Reinhard et al., 2001) and a new background behind a mask stand in for it.
"""

from __future__ import annotations

from numbers import Real

import cv2
import numpy as np
from PIL import Image

from sci_book.papers.metara.pictures import Pixels, Random, Refused, check_mask, check_share
from sci_book.resources import installing
from sci_core.families.files import hub_settings

SIGMA_SPACE, SIGMA_RANGE = 60.0, 0.45  # OpenCV's defaults for its stylisation
LEAST_SIDE = 384  # its edges are drawn for photographs; a smaller picture is enlarged before
STEPS = 30  # of a full denoising
PROMPT = "the same scene painted in the style of Van Gogh"


def stylisation(pixels: Pixels, amount: Real) -> Pixels:
    """Flattened regions with drawn edges, mixed with the picture; 0 is the identity."""
    check_share(amount)
    height, width = pixels.shape[:2]
    times = max(1.0, LEAST_SIDE / max(height, width))
    size = (round(width * times), round(height * times))
    painted = cv2.stylization(
        cv2.resize(np.ascontiguousarray(pixels), size, interpolation=cv2.INTER_CUBIC),
        sigma_s=SIGMA_SPACE,
        sigma_r=SIGMA_RANGE,
    )
    painted = cv2.resize(painted, (width, height), interpolation=cv2.INTER_AREA)
    return _mix(pixels, painted.astype(float), amount)


def colour_transfer(pixels: Pixels, reference: np.ndarray, amount: Real) -> Pixels:
    """Mean and deviation of each channel of CIELAB moved towards a reference's; 0 is the identity.

    The colour statistics of a whole painting, say, come over; which thing has which colour may not
    survive a large amount.

    Args:
        reference: uint8 `[height, width, 3]` of any size, with at least one pixel.
        amount: share of the way.
    """
    check_share(amount)
    if reference.ndim != 3 or reference.shape[2] != 3 or not reference.size:
        raise ValueError(f"A reference of shape {reference.shape}; expected [height, width, 3].")
    lab, aim = _lab(pixels), _lab(reference)
    spread = lab.std(axis=(0, 1))
    gain = np.where(spread > 0, aim.std(axis=(0, 1)) / np.where(spread > 0, spread, 1), 0)
    moved = (lab - lab.mean(axis=(0, 1))) * gain + aim.mean(axis=(0, 1))
    painted = cv2.cvtColor(moved.astype(np.float32), cv2.COLOR_LAB2RGB) * 255.0
    return _mix(pixels, painted, amount)


def new_background(pixels: Pixels, mask: np.ndarray, random: Random) -> Pixels:
    """All that the mask leaves out becomes a gradient between two colours by lot.

    Args:
        mask: bool, what is kept: the masked pixels stay as they are.
    """
    check_mask(pixels, mask)
    return np.where(mask[..., None], pixels, _gradient(*pixels.shape[:2], random))


class DiffusionStyle:
    """A picture repainted by a latent diffusion model through diffusers (the extra `style`).

    Args:
        path: a folder or a hub id of an image-to-image pipeline; safetensors, no remote code.
        strength: how far the picture is noised, in (0, 1]: the paper does not give its own; that
            share of `STEPS` is done.

    Raises:
        ImportError: where diffusers is not installed.
    """

    def __init__(self, path: str, strength: float = 0.4):
        if not 0 < strength <= 1 or round(strength * STEPS) < 1:
            raise ValueError(
                f"Strength {strength:g} of {STEPS} steps; expected a strength in (0, 1] that "
                "leaves at least one step."
            )
        try:
            from diffusers import AutoPipelineForImage2Image
        except ImportError as error:
            raise ImportError(
                f"Diffusion style transfer needs diffusers: {installing('style')}; the other "
                "styles need nothing."
            ) from error
        pipeline = AutoPipelineForImage2Image.from_pretrained(
            path, use_safetensors=True, **hub_settings(path)
        )
        pipeline.set_progress_bar_config(disable=True)
        self._pipeline = pipeline
        self._settings = {
            "prompt": PROMPT,
            "strength": strength,
            "num_inference_steps": STEPS,
            "guidance_scale": 7.5,
        }

    def __call__(self, pixels: Pixels, random: Random) -> Pixels:
        """The picture repainted, in its own size."""
        import torch

        height, width = pixels.shape[:2]
        multiple = self._pipeline.vae_scale_factor
        if min(height, width) < multiple:
            raise Refused("picture's size", f"{width} x {height}: a side is under {multiple}.")
        side = [size // multiple * multiple for size in (width, height)]
        generator = torch.Generator().manual_seed(int(random.integers(2**31)))
        painted = self._pipeline(
            image=Image.fromarray(pixels).resize(side),
            generator=generator,
            output_type="np",
            **self._settings,
        ).images[0]
        if not np.isfinite(painted).all():
            raise Refused("empty picture", "The diffusion model returned no finite picture.")
        whole = Image.fromarray(np.rint(painted.clip(0, 1) * 255).astype(np.uint8))
        return np.asarray(whole.resize((width, height)))


def _lab(pixels: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(pixels.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB).astype(float)


def _mix(pixels: np.ndarray, painted: np.ndarray, amount: Real) -> np.ndarray:
    mixed = pixels + (painted - pixels) * float(amount)
    return np.rint(mixed.clip(0, 255)).astype(np.uint8)


def _gradient(height: int, width: int, random: Random) -> np.ndarray:
    """Two colours of middle brightness, one at each end of a direction by lot."""
    first, second = random.uniform(60, 200, (2, 3))
    angle = random.uniform(0, 2 * np.pi)
    y, x = np.mgrid[0:height, 0:width]
    along = np.cos(angle) * x / max(width - 1, 1) + np.sin(angle) * y / max(height - 1, 1)
    along = (along - along.min()) / max(np.ptp(along), 1e-12)
    return np.rint(first + along[..., None] * (second - first)).astype(np.uint8)

"""What a picture costs in tokens, by its size and the checkpoint's limits; nothing is loaded.

Two kinds: models that follow the picture's pixels within limits, and those that cut it into tiles
beside a thumbnail.
"""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import NamedTuple

import pandas as pd
import torch
from transformers.models.auto.image_processing_auto import (
    IMAGE_PROCESSOR_MAPPING_NAMES as PROCESSORS,
)
from transformers.models.auto.image_processing_auto import get_image_processor_class_from_name

from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS
from sci_core.families.adapters import FAMILIES

LIMITS = MANIFESTS / "picture_limits.yaml"

SIZES = ((336, 336), (640, 480), (1280, 960), (1920, 1080), (4000, 3000), (8000, 6000))
"""Width and height: a thumbnail, a picture of COCO's, 1.2, 2, 12 and 48 megapixels."""


class PixelLimits(NamedTuple):
    """A model that follows pixels: a token for `unit` x `unit` of them, within limits of tokens."""

    family: str
    unit: int
    least: int
    most: int

    def tokens(self, width: int, height: int) -> int:
        """Tokens of a picture, resized as the model's own image processor does it."""
        limits = {"shortest_edge": self.least, "longest_edge": self.most}
        kind = get_image_processor_class_from_name(PROCESSORS[self.family]["pil"])
        processor = kind(
            patch_size=self.unit,
            merge_size=1,
            size={name: tokens * self.unit**2 for name, tokens in limits.items()},
        )
        size = FAMILIES[self.family].size_as_read(processor, (width, height))
        return math.prod(size) // self.unit**2


class Tiles(NamedTuple):
    """A thumbnail, and the picture in the grid of tiles that wastes least."""

    family: str
    side: int
    patch: int
    grids: Sequence[Sequence[int]]

    def tokens(self, width: int, height: int) -> int:
        """Tokens of a picture, as the model itself packs them."""
        config = SimpleNamespace(
            vision_config=SimpleNamespace(image_size=self.side, patch_size=self.patch),
            image_grid_pinpoints=[[self.side * part for part in grid] for grid in self.grids],
        )
        sizes = {"image_sizes": torch.tensor([[height, width]])}
        return FAMILIES[self.family].image_tokens(config, sizes)


def load_models() -> dict[str, PixelLimits | Tiles]:
    """The models of `picture_limits.yaml` by title, with their limits."""
    return {
        entry.pop("title"): (Tiles if "grids" in entry else PixelLimits)(**entry)
        for entry in read_yaml(LIMITS)
    }


def table() -> pd.DataFrame:
    """Tokens of a picture, a line a size, a column a model and its limits."""
    return pd.DataFrame(
        {name: [model.tokens(*size) for size in SIZES] for name, model in load_models().items()},
        index=[f"{width} × {height}" for width, height in SIZES],
    )

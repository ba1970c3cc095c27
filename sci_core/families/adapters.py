"""The model families, a short class each: this file alone knows them.

A class says where its family differs from `VisionLanguageModel`; book/new_family.md adds one.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch import Tensor

from sci_core.families.base import Inputs, VisionLanguageModel


class Qwen2VL(VisionLanguageModel):
    """Qwen2-VL: patches of any picture size in one sequence, rotary positions on three axes."""

    family = "qwen2_vl"
    resizes_once = True
    axes = 3

    def __init__(self, *parts: Any):
        super().__init__(*parts)
        pixels, vision = self.processor.image_processor, self.hf.config.vision_config
        for own, meant in (("merge_size", "spatial_merge_size"), ("patch_size", "patch_size")):
            if getattr(pixels, own, None) not in (None, getattr(vision, meant)):
                raise ValueError(
                    f"preprocessor_config.json of {self.name} has {own} {getattr(pixels, own)} and "
                    f"its config.json {meant} {getattr(vision, meant)}; expected the same."
                )

    @staticmethod
    def image_tokens(config: Any, inputs: Inputs) -> int:
        merged = config.vision_config.spatial_merge_size**2
        return int(inputs["image_grid_thw"].prod()) // merged

    @staticmethod
    def size_as_read(image_processor: Any, size: tuple[int, int]) -> tuple[int, int]:
        if not image_processor.do_resize:
            return size
        width, height = size
        # The image processor's own rule, so that the two cannot disagree.
        modules = (import_module(kind.__module__) for kind in type(image_processor).__mro__)
        rule = next(module.smart_resize for module in modules if hasattr(module, "smart_resize"))
        height, width = rule(
            height,
            width,
            factor=image_processor.patch_size * image_processor.merge_size,
            min_pixels=image_processor.size["shortest_edge"],
            max_pixels=image_processor.size["longest_edge"],
        )
        return width, height


class Qwen25VL(Qwen2VL):
    """Qwen2.5-VL: the same but for its vision tower, which attends within windows."""

    family = "qwen2_5_vl"


class Qwen3VL(Qwen2VL):
    """Qwen3-VL: features of inner vision layers are added behind the first language layers.

    They follow the language model's own in the width of features and embeddings, zero at text.
    """

    family = "qwen3_vl"

    def features(self, output: Any) -> Tensor:
        layers = [torch.cat(list(layer)) for layer in output.deepstack_features]
        return torch.cat([super().features(output), *layers], dim=-1)

    def embed(self, ids: Tensor, features: Tensor | None = None) -> Tensor:
        if features is None:
            return super().embed(ids)
        width = self.hf.config.text_config.hidden_size
        embeddings = super().embed(ids, features[:, :width])
        deep = embeddings.new_zeros(*ids.shape, features.shape[1] - width)
        deep[ids == self.image_token_id] = features[:, width:].to(deep)
        return torch.cat([embeddings, deep], dim=-1)

    def language_inputs(self, embeddings: Tensor) -> dict[str, Any]:
        first, *deep = embeddings.split(self.hf.config.text_config.hidden_size, dim=-1)
        inputs = {"inputs_embeds": first}
        if deep:
            inputs["visual_pos_masks"] = torch.ones_like(first[..., 0], dtype=torch.bool)
            inputs["deepstack_visual_embeds"] = [layer.flatten(0, 1) for layer in deep]
        return inputs


class Llava(VisionLanguageModel):
    """LLaVA-1.5: every picture cut to one square."""

    family = "llava"

    def __init__(self, name: str, hf: Any, *parts: Any):
        _features_beside_patches(name, hf.config)
        super().__init__(name, hf, *parts)

    @staticmethod
    def image_tokens(config: Any, inputs: Inputs) -> int:
        height, width = inputs["pixel_values"].shape[-2:]
        patch = config.vision_config.patch_size
        beside = _features_beside_patches("The checkpoint", config)
        return (height // patch) * (width // patch) + beside


_CLASS_TOKENS = {"clip_vision_model": 1, "mlcd_vision_model": 1, "siglip_vision_model": 0}
"""How many tokens each vision tower of the LLaVA families puts before those of the patches."""


def _features_beside_patches(name: str, config: Any) -> int:
    """Return how many features more than patches are taken: 1, 0, or -1 if a patch is dropped.

    Raises ValueError for a tower whose features, or marks between them, are not known here.
    """
    tower = config.vision_config.model_type
    if tower not in _CLASS_TOKENS:
        raise ValueError(
            f"{name} has the vision tower {tower!r}; in the family {config.model_type!r}, "
            f"{', '.join(sorted(_CLASS_TOKENS))} are supported."
        )
    return _CLASS_TOKENS[tower] - (config.vision_feature_select_strategy == "default")


class LlavaNext(VisionLanguageModel):
    """LLaVA-NeXT: a thumbnail and tiles of the picture, each row of patches closed by a newline."""

    family = "llava_next"
    image_settings: ClassVar[Mapping[str, Any]] = {"do_pad": True}

    def __init__(self, name: str, hf: Any, *parts: Any):
        if _features_beside_patches(name, hf.config):
            raise ValueError(
                f"{name} takes {hf.config.vision_feature_select_strategy!r} features of the "
                f"vision tower {hf.config.vision_config.model_type!r}, one more or fewer than "
                "patches, which cannot be laid out in rows. Set vision_feature_select_strategy in "
                "its config.json to 'default' for a tower with a class token, else to 'full'."
            )
        super().__init__(name, hf, *parts)

    @classmethod
    def image_tokens(cls, config: Any, inputs: Inputs) -> int:
        side = config.vision_config.image_size // config.vision_config.patch_size
        *_, height, width = cls.layout(config, inputs)["image_sizes"]
        return side * side + height * (width + 1)

    @staticmethod
    def layout(config: Any, inputs: Inputs) -> dict[str, tuple[int, ...]]:
        """Of the size count the grid of tiles, and the patches left of it without the padding."""
        # The model's own unpadding, on a tensor of no channels, so that the two cannot disagree.
        from transformers.models.llava_next import modeling_llava_next as llava_next

        size = inputs["image_sizes"][0].tolist()
        side = config.vision_config.image_size // config.vision_config.patch_size
        rows, columns = llava_next.get_anyres_image_grid_shape(
            size, config.image_grid_pinpoints, config.vision_config.image_size
        )
        channelless = torch.empty(0, rows * side, columns * side)
        _, height, width = llava_next.unpad_image(channelless, size).shape
        return {"image_sizes": (rows, columns, height, width)}

    def joined(self, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        tiles = [{**picture, "pixel_values": picture["pixel_values"][0]} for picture in inputs]
        return super().joined(tiles)


class LlavaOnevision(LlavaNext):
    """LLaVA-OneVision: as LLaVA-NeXT, but many tiles are shrunk to the features of a few."""

    family = "llava_onevision"
    image_settings: ClassVar[Mapping[str, Any]] = {}

    @staticmethod
    def image_tokens(config: Any, inputs: Inputs) -> int:
        # The model's own packing, on tensors without content, so that the two cannot disagree.
        from transformers.models.llava_onevision.modeling_llava_onevision import LlavaOnevisionModel

        side = config.vision_config.image_size // config.vision_config.patch_size
        tiles = inputs["pixel_values"].shape[1]
        (packed,), _ = LlavaOnevisionModel.pack_image_features(
            SimpleNamespace(config=config),
            [torch.empty(tiles, side * side, 1, device="meta")],
            inputs["image_sizes"],
            image_newline=torch.empty(1, device="meta"),
            vision_aspect_ratio=config.vision_aspect_ratio,
        )
        return len(packed)


class Idefics3(VisionLanguageModel):
    """Idefics3: tiles in rows and columns, each behind a mark of its place, then a thumbnail."""

    family = "idefics3"
    image_settings: ClassVar[Mapping[str, Any]] = {"return_row_col_info": True}

    @staticmethod
    def image_tokens(config: Any, inputs: Inputs) -> int:
        vision = config.vision_config
        side = vision.image_size // vision.patch_size // config.scale_factor
        return inputs["pixel_values"].shape[1] * side * side

    @staticmethod
    def picture_ids(tokenizer: Any, config: Any, inputs: Inputs, tokens: int) -> list[int]:
        around = getattr(tokenizer, "fake_image_token", "<fake_token_around_image>")
        thumbnail = getattr(tokenizer, "global_image_token", "<global-img>")
        (rows,), (columns,) = inputs["rows"][0], inputs["cols"][0]
        image = tokenizer.convert_ids_to_tokens(config.image_token_id)
        image *= tokens // (rows * columns + 1)
        text = ""
        for row in range(1, rows + 1):
            for column in range(1, columns + 1):
                text += f"{around}<row_{row}_col_{column}>{image}"
            text += "\n\n" if row == rows else "\n"
        text += f"{around}{thumbnail}{image}{around}"
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    def joined(self, inputs: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        """Join the tiles of all pictures, as though they were of one."""
        return {k: torch.cat([picture[k] for picture in inputs], dim=1) for k in inputs[0]}


class SmolVLM(Idefics3):
    """SmolVLM and SmolVLM2: Idefics3 made small."""

    family = "smolvlm"


class InternVL(VisionLanguageModel):
    """InternVL3: tiles of equal size and a thumbnail, in one run of tokens between two marks."""

    family = "internvl"
    image_settings: ClassVar[Mapping[str, Any]] = {"crop_to_patches": True}

    @staticmethod
    def image_tokens(config: Any, inputs: Inputs) -> int:
        vision = config.vision_config
        height, width = (
            int(size // patch * config.downsample_ratio)
            for size, patch in zip(vision.image_size, vision.patch_size, strict=True)
        )
        return len(inputs["pixel_values"]) * height * width

    @staticmethod
    def picture_ids(tokenizer: Any, config: Any, inputs: Inputs, tokens: int) -> list[int]:
        start, end = (
            getattr(tokenizer, f"{mark}_image_token_id", None) for mark in ("start", "end")
        )
        if start is None or end is None:
            raise ValueError(
                "The tokenizer does not name the marks around a picture; expected "
                "start_image_token and end_image_token among the extra_special_tokens of "
                "tokenizer_config.json, as the family's checkpoints have them."
            )
        return [start, *[config.image_token_id] * tokens, end]


_KNOWN = (Qwen2VL, Qwen25VL, Qwen3VL, Llava, LlavaNext, LlavaOnevision, Idefics3, SmolVLM, InternVL)
FAMILIES: dict[str, type[VisionLanguageModel]] = {model.family: model for model in _KNOWN}
"""The class of each `model_type`."""

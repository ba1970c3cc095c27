"""Diffusion style transfer through diffusers, on a tiny random pipeline in the real format."""

import json
import shutil
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from sci_book.papers.metara.relations import Original, make_cases, painted
from sci_book.papers.metara.style import DiffusionStyle


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """A Stable Diffusion pipeline of random weights, saved as the hub's are."""
    from diffusers import (
        AutoencoderKL,
        DDIMScheduler,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    folder = tmp_path_factory.mktemp("style")
    letters = [*"abcdefghijklmnopqrstuvwxyz", *(f"{c}</w>" for c in "abcdefghijklmnopqrstuvwxyz")]
    words = ["<|startoftext|>", "<|endoftext|>", *letters]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(0)
    text = CLIPTextConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=77, bos_token_id=0, eos_token_id=1,
        pad_token_id=1,
    )  # fmt: skip
    pipe = StableDiffusionPipeline(
        vae=AutoencoderKL(
            block_out_channels=[8, 8], norm_num_groups=4, latent_channels=4,
            down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
        ),
        text_encoder=CLIPTextModel(text),
        tokenizer=CLIPTokenizer(
            str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77
        ),
        unet=UNet2DConditionModel(
            sample_size=8, block_out_channels=(8, 16), layers_per_block=1, norm_num_groups=4,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), attention_head_dim=2,
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), cross_attention_dim=16,
        ),
        scheduler=DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip
    pipe.save_pretrained(folder / "pipeline", safe_serialization=True)
    return folder / "pipeline"


def test_a_picture_is_repainted_in_its_own_size_and_repeatably(pipeline):
    assert not list(pipeline.rglob("*.bin"))
    paint = DiffusionStyle(str(pipeline), 0.05)
    pixels = np.random.default_rng(0).integers(0, 256, (21, 34, 3), dtype=np.uint8)
    first = paint(pixels, np.random.default_rng(3))
    assert first.shape == pixels.shape and first.dtype == np.uint8
    assert np.array_equal(first, paint(pixels, np.random.default_rng(3)))
    assert not np.array_equal(first, paint(pixels, np.random.default_rng(4)))
    original = Original(
        "a", Image.fromarray(pixels), "What is it?", "noise", unsafe=("stylisation",)
    )
    found = make_cases([original], operations=painted(paint)).cases
    assert [case.operation for case in found if case.relation == "MR3"] == ["diffusion"]


def test_weights_that_are_no_safetensors_are_refused(pipeline, tmp_path):
    from safetensors.torch import load_file

    folder = tmp_path / "pickled"
    shutil.copytree(pipeline, folder)
    (path,) = (folder / "unet").glob("*.safetensors")
    torch.save(load_file(path), path.with_suffix(".bin"))
    path.unlink()
    with pytest.raises(OSError):
        DiffusionStyle(str(folder))


def test_without_diffusers_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "diffusers", None)
    with pytest.raises(ImportError, match=r"needs diffusers: pip install -e '\.\[style\]'"):
        DiffusionStyle("nowhere")


@pytest.mark.parametrize("strength", [0.0, 0.01, 1.5])
def test_a_strength_that_leaves_no_step_is_refused(strength):
    with pytest.raises(ValueError, match="at least one step"):
        DiffusionStyle("nowhere", strength)

"""Encoders: tiny random checkpoints of both classes, stored vectors, and a CLIP in training."""

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    SiglipConfig,
    SiglipModel,
)
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

from sci_book.data.rows import DatasetError
from sci_book.papers.oric.encoder import ClipEncoder, Stored, clip_score
from sci_book.pocket import clip

TEXTS = ["an image contains boat", "an image contains fish and crab", "zeppelin"]


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """A random CLIP and a random SigLIP, as the hub keeps them."""
    folder = tmp_path_factory.mktemp("encoders")
    model, tokenizer, processor = clip.build_clip(0)
    for part in (model, tokenizer, processor):
        part.save_pretrained(folder / "clip")
    size = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2,
            "num_hidden_layers": 2}  # fmt: skip
    torch.manual_seed(1)
    config = SiglipConfig(
        text_config={**size, "vocab_size": len(tokenizer), "max_position_embeddings": 12,
                     "projection_size": 32, "bos_token_id": 1, "eos_token_id": 2},
        vision_config={**size, "image_size": 32, "patch_size": 16},
    )  # fmt: skip
    SiglipModel(config).save_pretrained(folder / "siglip")
    tokenizer.save_pretrained(folder / "siglip")
    SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder / "siglip")
    return folder


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for number, size in enumerate([(96, 96), (200, 50), (33, 70), (96, 96), (5, 5)]):
        pixels = rng.integers(0, 256, (*size, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    (folder / "5.png").write_bytes(b"no picture")
    return [folder / f"{number}.png" for number in range(6)]


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_vectors_are_those_of_the_model_one_by_one(checkpoints, pictures, family):
    encoder = ClipEncoder(checkpoints / family)
    images, texts = encoder.images(pictures), encoder.texts(TEXTS)
    assert images.dtype == texts.dtype == np.float32
    assert np.isnan(images[5]).all()  # no picture, and said so
    assert np.allclose(np.linalg.norm(images[:5], axis=1), 1, atol=1e-6)
    assert np.allclose(np.linalg.norm(texts, axis=1), 1, atol=1e-6)
    assert (encoder.images(pictures)[:5] == images[:5]).all()
    for index in range(5):
        assert np.allclose(encoder.images([pictures[index]])[0], images[index], atol=1e-5)
    for index, text in enumerate(TEXTS):
        assert np.allclose(encoder.texts([text])[0], texts[index], atol=1e-5)
    with torch.no_grad():
        own = encoder._model(
            **encoder._processor([Image.open(pictures[0])], return_tensors="pt"),
            **encoder._tokenizer(
                TEXTS, return_tensors="pt", padding="max_length", max_length=12,
                return_token_type_ids=False,
            ),
        )  # fmt: skip
        scale = float(encoder._model.logit_scale.exp())
        shift = float(getattr(encoder._model, "logit_bias", torch.zeros(1)))
    raw = own.logits_per_image.numpy()[0]
    assert np.allclose(clip_score(images[0], texts), 100 * (raw - shift) / scale, atol=1e-3)


def test_a_checkpoint_that_is_no_encoder(tmp_path):
    config = LlamaConfig(
        vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="encodes no pictures beside texts"):
        ClipEncoder(tmp_path)


def test_stored_vectors_are_read_back(tmp_path, pictures):
    rng = np.random.default_rng(0)
    stored = Stored(
        {f"{n}.png": rng.normal(size=4) for n in range(3)},
        {text: rng.normal(size=4) for text in TEXTS},
    )
    stored.save(tmp_path / "vectors.safetensors")
    again = Stored.load(tmp_path / "vectors.safetensors")
    assert (again.images(pictures[:3]) == stored.images(pictures[:3])).all()
    assert (again.texts(TEXTS) == stored.texts(TEXTS)).all()
    with pytest.raises(LookupError, match=r"1 of 2 pictures have no vector here, '4\.png'"):
        stored.images([pictures[0], pictures[4]])
    with pytest.raises(DatasetError, match="holds no vectors"):
        Stored.load(pictures[5])
    with pytest.raises(ValueError, match="it points nowhere"):
        Stored({"a": np.zeros(3)}, {})
    with pytest.raises(ValueError, match="of one width"):
        Stored({"a": np.ones(3)}, {"b": np.ones(4)})


def test_a_caption_holds_of_its_own_scene():
    scenes, rng = clip.ClipTrainer(0).scenes(0, 40)
    made = [clip.caption(scene, rng) for scene in scenes]
    assert all(each.holds(scene) for each, scene in zip(made, scenes, strict=True))
    assert any(not each.holds(scenes[0]) for each in made)
    for each in made:
        assert all(kind in each.text for kind in each.kinds)
        assert each.place is None or each.place in each.text


def test_training_learns_and_resumes_to_the_same_weights(tmp_path, monkeypatch):
    """Six steps at once, and the same interrupted after three: equal weights, equal log."""
    settings = {"steps": 6, "batch": 8}
    monkeypatch.setattr(clip, "HELD_OUT", 4)
    monkeypatch.setattr(clip, "SAVE_EVERY", 3)
    said = []
    whole = clip.train(3, tmp_path / "whole", tmp_path / "a", **settings, say=said.append)
    assert len(said) == 3 and "min left" in said[0]

    loss = clip.ClipTrainer.loss
    monkeypatch.setattr(clip.ClipTrainer, "loss", _fails_at(4, loss))
    with pytest.raises(KeyboardInterrupt):
        clip.train(3, tmp_path / "parts", tmp_path / "b", **settings, say=said.append)
    monkeypatch.setattr(clip.ClipTrainer, "loss", loss)
    parts = clip.train(3, tmp_path / "parts", tmp_path / "b", **settings, say=said.append)
    for name in ("model.safetensors", "training_log.jsonl", "config.json", "tokenizer.json"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes()
    assert sum(file.stat().st_size for file in whole.iterdir()) < 10e6
    assert ClipEncoder(whole).texts(TEXTS).shape == (3, 128)


def _fails_at(number, loss):
    def failing(trainer, step):
        if step == number:
            raise KeyboardInterrupt
        return loss(trainer, step)

    return failing

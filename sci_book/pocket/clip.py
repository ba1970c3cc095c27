"""A pocket CLIP: the pocket world's image–text encoder, of CLIP's own class and in its layout.

Pictures of training scenes and short texts ("an image contains boat and fish") are trained against
each other as in CLIP, but a text that is true of another picture of the batch counts as true of it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn
from transformers import CLIPConfig, CLIPModel, PreTrainedTokenizerFast
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

from sci_book.pocket.draw import SIZE, draw
from sci_book.pocket.optimizers import load_state, save_state, update
from sci_book.pocket.world import KINDS, PLACES, Lot, Scene, sample_scene

STEPS = 1_000
BATCH = 128
RATE = 1e-3
WARMUP = 100
SAVE_EVERY = 200
LOG_EVERY = 20
STATE = "state.safetensors"
HELD_OUT = 256  # scenes that tell how far it is

_SEED = 7_000_010  # apart from those of the twins
_LOT = Lot(skew=0.75, kinds=4, dim=0.15, sign=0.1)
_WORDS = ("an", "image", "contains", "of", "and", "with", *PLACES, *KINDS)
_LONGEST = 16  # tokens


class Caption(NamedTuple):
    """A text about a scene, and what has to be there for it to be true."""

    text: str
    kinds: frozenset[str]
    place: str | None

    def holds(self, scene: Scene) -> bool:
        """Whether the text is true of a scene."""
        return self.kinds <= set(scene.kinds) and self.place in (None, scene.place)


def caption(scene: Scene, rng: np.random.Generator) -> Caption:
    """One kind of the scene, several of them, or its place with several."""
    kinds = [scene.kinds[i] for i in rng.permutation(len(scene.kinds))]
    form = rng.choice(3, p=(0.5, 0.3, 0.2))
    kinds = kinds[: 1 if form == 0 else int(rng.integers(1, len(kinds) + 1))]
    place = scene.place if form == 2 else None
    opening = f"an image of {place} with" if place else "an image contains"
    return Caption(f"{opening} {' and '.join(kinds)}", frozenset(kinds), place)


def build_clip(seed: int) -> tuple[CLIPModel, PreTrainedTokenizerFast, CLIPImageProcessorPil]:
    """An untrained pocket CLIP (1.1 million parameters), its tokenizer and image processor."""
    core = Tokenizer(
        models.WordLevel(
            {word: i for i, word in enumerate(("<pad>", "<start>", "<end>", "<unk>", *_WORDS))},
            unk_token="<unk>",
        )
    )
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", 1), ("<end>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", bos_token="<start>", eos_token="<end>",
        unk_token="<unk>", model_max_length=_LONGEST,
    )  # fmt: skip
    size = {
        "hidden_size": 128, "intermediate_size": 384, "num_attention_heads": 4,
        "projection_dim": 128,
    }  # fmt: skip
    config = CLIPConfig(
        text_config={
            **size, "num_hidden_layers": 2, "vocab_size": len(tokenizer),
            "max_position_embeddings": _LONGEST, "pad_token_id": 0, "bos_token_id": 1,
            "eos_token_id": 2,
        },
        vision_config={**size, "num_hidden_layers": 4, "image_size": SIZE, "patch_size": 16},
        projection_dim=128,
    )  # fmt: skip
    torch.manual_seed(seed)
    processor = CLIPImageProcessorPil(
        size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE}
    )
    return CLIPModel(config), tokenizer, processor


class ClipTrainer:
    """A pocket CLIP in training; every step's data depend on the seed and the step alone."""

    def __init__(self, seed: int, batch: int = BATCH):
        self.model, self.tokenizer, self.processor = build_clip(seed)
        self.model.train()
        self.seed, self.batch = seed, batch

    def scenes(self, step: int, count: int) -> tuple[list[Scene], np.random.Generator]:
        """The scenes of a step, and its chance; step -1 holds the held-out ones."""
        rng = np.random.default_rng([_SEED, self.seed, step + 1])
        return [sample_scene(rng, _LOT) for _ in range(count)], rng

    def loss(self, step: int) -> Tensor:
        """Both ways, minus the log of the probability that falls on what is true."""
        scenes, rng = self.scenes(step, self.batch)
        captions = [caption(scene, rng) for scene in scenes]
        true = torch.tensor([[claim.holds(scene) for claim in captions] for scene in scenes])
        scores = (
            self.model.logit_scale.exp()
            * self.images(scenes)
            @ self.texts([claim.text for claim in captions]).T
        )
        missed = scores.masked_fill(~true, -math.inf)
        return sum(
            (scores.logsumexp(dim) - missed.logsumexp(dim)).mean() / 2 for dim in (0, 1)
        )  # fmt: skip

    @torch.no_grad()
    def separation(self) -> float:
        """On held-out scenes, how often a kind that is there scores above one that is not."""
        self.model.eval()
        scenes, _ = self.scenes(-1, HELD_OUT)
        scores = self.images(scenes) @ self.texts([f"an image contains {kind}" for kind in KINDS]).T
        self.model.train()
        shares = []
        for row, scene in zip(scores, scenes, strict=True):
            there = torch.tensor([kind in scene.kinds for kind in KINDS])
            shares.append((row[there][:, None] > row[~there]).float().mean().item())
        return float(np.mean(shares))

    def images(self, scenes: list[Scene]) -> Tensor:
        """Unit vectors of scenes' pictures, [scenes, width]."""
        pictures = [Image.fromarray(draw(scene)) for scene in scenes]
        inputs = self.processor(pictures, return_tensors="pt")
        return _unit(self.model.get_image_features(**inputs).pooler_output)

    def texts(self, texts: list[str]) -> Tensor:
        """Unit vectors of texts, [texts, width]."""
        inputs = self.tokenizer(texts, return_tensors="pt", padding=True)
        return _unit(
            self.model.get_text_features(
                input_ids=inputs.input_ids, attention_mask=inputs.attention_mask
            ).pooler_output
        )

    def save(self, folder: Path) -> None:
        """The checkpoint in the ordinary layout."""
        for part in (self.model, self.tokenizer, self.processor):
            part.save_pretrained(folder)


def rate(step: int, steps: int) -> float:
    """A warm-up, then half a cosine down to a twentieth."""
    done = step / steps
    return RATE * min(1.0, (step + 1) / WARMUP) * (0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2)


def train(
    seed: int,
    out: Path,
    work: Path,
    *,
    steps: int = STEPS,
    batch: int = BATCH,
    say: Callable[[str], None] = print,
) -> Path:
    """Train a pocket CLIP and write its checkpoint; an interrupted training resumes.

    Args:
        seed: of the weights and every step's data.
        out: folder of the finished checkpoint, its weights rounded to bfloat16.
        work: folder of the run, with the state to resume from and `log.jsonl`.
        batch: pictures a step, each with one text.
        say: receives one line of progress at a time.
    """
    work.mkdir(parents=True, exist_ok=True)
    trainer = ClipTrainer(seed, batch)
    optimizer = torch.optim.AdamW(trainer.model.parameters(), RATE, weight_decay=0.01)
    first = load_state(work / STATE, trainer.model, [optimizer]) or 0
    log = work / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    kept = [line for line in lines if json.loads(line)["step"] < first]
    log.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    began = time.monotonic()
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, steps)
        loss = trainer.loss(step)
        update([optimizer], loss)
        with torch.no_grad():  # as in CLIP, so that the scores stay below 100
            trainer.model.logit_scale.clamp_(max=math.log(100))
        saves = (step + 1) % SAVE_EVERY == 0 or step + 1 == steps
        if step % LOG_EVERY == 0 or saves:
            point = {"step": step, "loss": loss.item()}
            if saves:
                save_state(work / STATE, step + 1, trainer.model, [optimizer])
                point["separation"] = trainer.separation()
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(point) + "\n")
            left = (time.monotonic() - began) / (step - first + 1) * (steps - step - 1)
            metrics = ", ".join(f"{k} {v:.3g}" for k, v in point.items() if k != "step")
            say(f"step {step + 1}/{steps} {metrics}, {left / 60:.0f} min left")
    trainer.model.to(torch.bfloat16)
    trainer.save(out)
    (out / "training_log.jsonl").write_text(log.read_text(encoding="utf-8"), encoding="utf-8")
    return out


def _unit(features: Tensor) -> Tensor:
    return nn.functional.normalize(features, dim=-1)

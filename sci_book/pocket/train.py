"""Training a pocket model: the vision tower first, then language, then dialogue about pictures.

A row holds one picture's prefix and as many turns about it as fit, each blind to the others (a
block mask, positions restarting), as in evaluation. The loss is on the answers. All is computed
in float32, so that a training is the same on every machine, to the rounding of sums; the finished
weights are rounded to bfloat16 once, and so saved.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

from sci_book.files import write_whole
from sci_book.pocket.architectures import build, processor_config
from sci_book.pocket.card import write_card
from sci_book.pocket.curriculum import (
    CELL_CLASSES,
    CLASSES,
    GOES_ON,
    HELD_OUT,
    PICTURES,
    VISION_STEPS,
    Batches,
    Frame,
    part_at,
    steps_of,
)
from sci_book.pocket.draw import SIZE
from sci_book.pocket.optimizers import (
    load_state,
    optimizers_of,
    rate_share,
    save_state,
    update,
)
from sci_book.pocket.tokenizer import build_tokenizer
from sci_book.pocket.words import word

VISION_RATE = 1e-3
SAVE_EVERY = 200
LOG_EVERY = 20


class PocketTrainer:
    """One model in training: the pieces that both families need told apart."""

    def __init__(self, arch: str, seed: int, size: str = "standard"):
        torch.manual_seed(seed)
        self.arch, self.seed = arch, seed
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = build_tokenizer(arch)
        self.model, self.processor = build(arch, self.tokenizer, size)
        self.model.to(self.device).train()
        self.image_token = self.model.config.image_token_id
        self.frame = self._frame()

    def _frame(self) -> Frame:
        marker = "\u0001"
        turn = [
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": marker}]},
            {"role": "assistant", "content": [{"type": "text", "text": marker}]},
        ]
        before, between, after = self.tokenizer.apply_chat_template(turn, tokenize=False).split(
            marker
        )
        blank = Image.new("RGB", (SIZE, SIZE))
        with torch.no_grad():
            count = len(self.features(dict(self.processor([blank], return_tensors="pt")))[0])
        ids = self.tokenizer(before, add_special_tokens=False).input_ids
        at = ids.index(self.image_token)
        return Frame(
            prefix=(*ids[:at], *[ids[at]] * count, *ids[at + 1 :]),
            bare=(*ids[:at], *ids[at + 1 :]),
            after_user=between,
            after_answer=after,
            pad=self.tokenizer.pad_token_id,
        )

    def batches(self, *, visual: bool = False, recipe: str = "late") -> Batches:
        """What this model is shown, by step."""
        known = self.tokenizer, self.processor, self.frame
        return Batches(self.arch, self.seed, *known, visual, recipe)

    def features(self, batch: dict) -> list[torch.Tensor]:
        """The visual tokens of each picture, [tokens, width]."""
        keys = ("pixel_values", "image_grid_thw", "image_sizes")
        inputs = {key: batch[key].to(self.device) for key in keys if key in batch}
        if "image_sizes" in inputs:
            config = self.model.config
            inputs["vision_feature_layer"] = config.vision_feature_layer
            inputs["vision_feature_select_strategy"] = config.vision_feature_select_strategy
        return list(self.model.model.get_image_features(**inputs).pooler_output)

    def prefix_positions(self, prefix: torch.Tensor) -> torch.Tensor:
        """Position ids of a prefix, [P], or [3, P] for a family that places pictures in space."""
        if not hasattr(self.model.model, "get_rope_index"):
            return torch.arange(len(prefix))
        blank = Image.new("RGB", (SIZE, SIZE))
        image = (prefix == self.image_token)[None]
        grid = self.processor([blank], return_tensors="pt")["image_grid_thw"]
        positions, _ = self.model.model.get_rope_index(
            prefix[None],
            mm_token_type_ids=image.int(),
            image_grid_thw=grid if image.any() else None,
        )
        return positions[:, 0]

    def hidden(self, batch: dict) -> torch.Tensor:
        """Last hidden state of every position of every row, [rows, tokens, width]."""
        ids, turn = batch["ids"].to(self.device), batch["turn_of"].to(self.device)
        image = ids == self.image_token
        embeddings = self.model.get_input_embeddings()(ids)
        if "pixel_values" in batch:
            with nullcontext() if batch["tower"] else torch.no_grad():
                features = torch.cat(self.features(batch)).to(embeddings.dtype)
            embeddings = embeddings.masked_scatter(image[..., None], features)
        causal = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=self.device).tril()
        same = turn[:, :, None] == turn[:, None, :]
        # A turn about no picture sees the prefix without it.
        sees = batch["sees"].to(self.device).gather(1, turn.clamp(min=0))
        prefix_seen = (turn == 0)[:, None, :] & (sees[:, :, None] | ~image[:, None, :])
        mask = (causal & (same | prefix_seen))[:, None]

        prefix = self.prefix_positions(batch["ids"][0][batch["turn_of"][0] == 0]).to(self.device)
        positions = batch["offset"].to(self.device) + prefix.max() + 1
        positions = positions.expand(*prefix.shape[:-1], *ids.shape).clone()
        positions[..., : prefix.shape[-1]] = prefix[..., None, :]
        return self.model.model.language_model(
            inputs_embeds=embeddings, attention_mask=mask, position_ids=positions, use_cache=False
        ).last_hidden_state

    def loss(self, batch: dict) -> torch.Tensor:
        """Mean cross-entropy of the answers' tokens."""
        target = batch["target"].to(self.device)[:, 1:]
        logits = self.model.lm_head(self.hidden(batch)[:, :-1][target])
        return functional.cross_entropy(logits, batch["ids"].to(self.device)[:, 1:][target])

    @torch.no_grad()
    def accuracy(self, batches: Iterable[dict]) -> dict[tuple[str, bool], tuple[int, int]]:
        """(family, usual) -> (right, asked), an answer being right when all its tokens are."""
        self.model.eval()
        tally = defaultdict(lambda: [0, 0])
        for batch in batches:
            chosen = self.model.lm_head(self.hidden(batch)).argmax(-1)
            right = chosen[:, :-1].cpu() == batch["ids"][:, 1:]
            for row, turn, start, length in batch["turns"]:
                ok = bool(right[row, start - 1 : start - 1 + length].all())
                for key in (turn.family, f"as {turn.form}"):
                    tally[key, turn.usual][0] += ok
                    tally[key, turn.usual][1] += 1
        self.model.train()
        return {key: tuple(value) for key, value in tally.items()}

    def load(self, folder: Path) -> None:
        """The weights of a finished checkpoint of the same architecture and size."""
        checkpoint = type(self.model).from_pretrained(folder, dtype=torch.float32)
        self.model.load_state_dict(checkpoint.state_dict())

    def save(self, folder: Path) -> None:
        """The checkpoint in the ordinary layout."""
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)
        self.processor.save_pretrained(folder)
        if settings := processor_config(self.model.config):
            text = json.dumps(settings, indent=2) + "\n"
            (folder / "processor_config.json").write_text(text, encoding="utf-8")


class Names:
    """The vocabulary's vectors for what the vision tower names: English, spaced, and Chinese.

    A visual token that shows a red boat so comes to resemble the words for boat and for red: what
    the language model learns about words holds for what it sees.
    """

    def __init__(self, tokenizer):
        forms = [
            [form for form in (name, f" {name}", word(name).zh) if name]
            for names in CLASSES.values()
            for name in names
        ]
        ids = [
            [tokenizer(form, add_special_tokens=False).input_ids for form in variants]
            for variants in forms
        ]
        # [classes, vocab]: the mean over forms of the mean over a form's tokens; 0 for no name.
        self.weights = torch.zeros(len(ids), len(tokenizer))
        for row, variants in zip(self.weights, ids, strict=True):
            for tokens in variants:
                for token in tokens:
                    row[token] += 1 / len(tokens) / len(variants)

    def logits(self, embeddings: Tensor, features: Tensor) -> dict[str, Tensor]:
        """Logits of the classes, by key, of features `[..., width]`."""
        scores = features @ (self.weights.to(embeddings.device) @ embeddings).T
        sizes = [len(names) for names in CLASSES.values()]
        return dict(zip(CLASSES, scores.split(sizes, dim=-1), strict=True))


def _vision_loss(trainer: PocketTrainer, names: Names, batch: dict) -> Tensor:
    """Naming what stands in every cell, and the place, from a picture's visual tokens."""
    features = torch.stack(trainer.features(batch)).float()
    # A square of patch tokens comes first (LLaVA-NeXT's thumbnail), pooled to the grid's 3 x 3.
    side = {9: 3, 78: 6}[features.shape[1]]
    # Normalised as the language model will see them, and kept from growing: a token much larger
    # than the words' embeddings is one the layers can hardly write on.
    grid = functional.rms_norm(features[:, : side * side], features.shape[-1:])
    grid = grid.transpose(1, 2).unflatten(2, (side, side))
    cells = functional.adaptive_avg_pool2d(grid, 3).flatten(2).transpose(1, 2)
    named = names.logits(trainer.model.get_input_embeddings().weight, cells)
    loss = functional.cross_entropy(named["place"].mean(1), batch["place"].to(trainer.device))
    for key in CELL_CLASSES:
        labels = batch[key].to(trainer.device)
        # Every cell has a name and a kind, if only "nothing"; the rest is asked where it is there.
        asked = labels >= 0 if key in ("cell", "kind") else labels > 0
        if asked.any():
            loss = loss + functional.cross_entropy(named[key][asked], labels[asked])
    return loss + 0.02 * features.square().mean()


def train(
    arch: str,
    seed: int,
    out: Path,
    work: Path | None = None,
    say=print,
    *,
    size: str = "standard",
    recipe: str = "late",
    start: Path | None = None,
) -> Path:
    """Train one pocket model and write its checkpoint to `out`.

    Args:
        arch: `qwen2_vl` or `llava_next`.
        seed: seeds the weights and every step's data.
        out: folder of the finished checkpoint.
        work: folder of the run, with the state to resume from and `log.jsonl`; beside `out` if
            not given.
        say: receives one line of progress at a time.
        size: of `architectures.SIZES`.
        recipe: of `curriculum.RECIPES`.
        start: a finished checkpoint of the same architecture and size to go on from; None begins
            with weights drawn from the seed and the vision tower's own lessons.

    Raises:
        ValueError: a recipe of `curriculum.GOES_ON` without `start`, or another one with it.
    """
    if (recipe in GOES_ON) != (start is not None):
        raise ValueError(
            f"The recipe {recipe!r} came with {'a' if start else 'no'} checkpoint to start from; "
            "`onward` needs one (--start) and so do the dial's, and every other recipe begins from "
            "nothing."
        )
    steps = steps_of(recipe)
    work = work or out.with_name(out.name + ".training")
    work.mkdir(parents=True, exist_ok=True)
    trainer = PocketTrainer(arch, seed, size)
    parameters = list(trainer.model.parameters())
    optimizers = optimizers_of(trainer.model)
    warm = [torch.optim.AdamW(parameters, VISION_RATE)]
    state, vision_state = work / "state.safetensors", work / "vision.safetensors"
    first = load_state(state, trainer.model, optimizers)
    vision_first = load_state(vision_state, trainer.model, warm) if first is None else VISION_STEPS
    log = work / "log.jsonl"
    _forget_after(log, first, vision_first or 0)
    clock = Clock(work / "time.json")

    def note(**values) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def batches(numbers: Iterable[int], visual: bool):
        return torch.utils.data.DataLoader(
            trainer.batches(visual=visual, recipe=recipe),
            batch_size=None,
            sampler=numbers,
            num_workers=1,
            prefetch_factor=4,
        )

    if first is None and start is not None:
        trainer.load(start)
    elif first is None:
        names = Names(trainer.tokenizer)
        left = range(vision_first or 0, VISION_STEPS)
        for step, batch in enumerate(batches(left, visual=True), left.start):
            loss = _vision_loss(trainer, names, batch)
            update(warm, loss)
            if step % LOG_EVERY == 0:
                note(stage="vision", step=step, loss=loss.item())
                say(f"vision {step}/{VISION_STEPS} loss {loss:.3f}")
            if (step + 1) % SAVE_EVERY == 0:
                save_state(vision_state, step + 1, trainer.model, warm)
                clock.save()
    if first is None:
        first = 0
        save_state(state, first, trainer.model, optimizers)
        clock.save()
    started = time.monotonic()
    for step, batch in enumerate(batches(range(first, steps), visual=False), first):
        in_part, part = part_at(step, recipe)
        if in_part == 0:
            optimizers = optimizers_of(trainer.model)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["rate"] * rate_share(in_part, part.shares)
        loss = trainer.loss(batch)
        update(optimizers, loss)
        if step % LOG_EVERY == 0:
            left = (time.monotonic() - started) / (step - first + 1) * (steps - step - 1)
            note(stage="onward" if start else "dialogue", step=step, loss=loss.item())
            say(f"step {step}/{steps} loss {loss:.3f}, {left / 60:.0f} min left")
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == steps:
            save_state(state, step + 1, trainer.model, optimizers)
            tally = trainer.accuracy(batches(range(HELD_OUT, HELD_OUT + 6), visual=False))
            table = {f"{f} {'usual' if u else 'unusual'}": v for (f, u), v in tally.items()}
            note(stage="held out", step=step + 1, right_and_asked=table)
            say("held out " + ", ".join(f"{k} {r}/{n}" for k, (r, n) in sorted(table.items())))
            clock.save()
    trainer.model.to(torch.bfloat16)
    trainer.save(out)
    logs, before = [log], f"{VISION_STEPS} steps of the vision tower alone"
    if start:
        known = start / "training_log.jsonl"
        logs = [known, log] if known.is_file() else [log]
        digest = hashlib.sha256((start / "model.safetensors").read_bytes()).hexdigest()
        before = f"those that made the weights `{digest[:16]}`"
    write_card(
        out,
        logs,
        arch=arch,
        seed=seed,
        size=size,
        recipe=recipe,
        architecture=type(trainer.model).__name__,
        parameters=sum(parameter.numel() for parameter in parameters),
        steps=steps,
        pictures=PICTURES,
        before=before,
    )
    return out


class Clock:
    """The time that a training took in all its sittings, up to its last saved state.

    `path` holds seconds: by the clock, and of processors (this process and ended loaders).
    """

    def __init__(self, path: Path):
        self.path = path
        self.before = self._read()
        self.wall, self.processors = time.monotonic(), _processor_seconds()

    def _read(self) -> dict[str, float | int]:
        if not self.path.exists():
            return {"wall_s": 0.0, "processor_s": 0.0, "sittings": 0}
        return json.loads(self.path.read_text(encoding="utf-8"))

    def save(self) -> None:
        """Add what this sitting took until now."""
        spent = {
            "wall_s": self.before["wall_s"] + time.monotonic() - self.wall,
            "processor_s": self.before["processor_s"] + _processor_seconds() - self.processors,
            "sittings": self.before["sittings"] + 1,
        }
        text = json.dumps({key: round(value, 1) for key, value in spent.items()}) + "\n"
        write_whole(self.path, text.encode())


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def _forget_after(log: Path, first: int | None, vision_first: int) -> None:
    """Drop from the log what an interrupted run noted after its last saved state.

    `first` and `vision_first` are the steps that it goes on from; None: vision is not done yet.
    """
    if not log.exists():
        return

    def stays(stage: str, step: int, **_: object) -> bool:
        if stage == "vision":
            return step < vision_first
        return first is not None and step < first + (stage == "held out")

    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    kept = [line for line in lines if stays(**line)]
    log.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")

"""Training a pocket model: the vision tower first, then the whole model on packed dialogue.

A row holds one picture's prefix and as many turns about it as fit, each turn blind to the others
(a block mask, positions restarting): every turn sees exactly what it will see in evaluation. The
loss is on every text token, the answer's tokens counting `ANSWER_WEIGHT` times: with the loss on
answers alone, letters were still at chance after 1,500 steps.

Step i draws its data from (seed, i) alone, so an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from sci_core.pocket.architectures import WIDTH, build
from sci_core.pocket.dialogue import Mix, Segment, segment
from sci_core.pocket.draw import draw
from sci_core.pocket.tokenizer import build_tokenizer
from sci_core.pocket.world import CELLS, COLOURS, KINDS, Lot, Scene, sample_scene

PICTURES = 24  # a step
TURN_TOKENS = 256  # a row is filled with turns up to this length,
MOST_TURNS = 9  # chosen in order among this many
ANSWER_WEIGHT = 3.0
LEARNING_RATE = 1e-3
WARMUP = 100
DECAY = 0.25  # the last share of the steps, over which the rate falls to a twentieth
VISION_PICTURES = 64
VISION_STEPS = 400
SAVE_EVERY = 200
LOG_EVERY = 20
HELD_OUT = 10**9  # steps from here on are never trained on


@dataclass(frozen=True)
class Stage:
    """Data up to (not including) a step of the whole-model training."""

    until: int
    lot: Lot
    mix: Mix


# Names and letters first, on a balanced world; then everything, on the skewed one.
SCHEDULE = (
    Stage(
        350,
        Lot(skew=0.4, kinds=1, dim=0.0, sign=0.5),
        Mix(binding=0.25, reword=0.05, families=("colour", "place", "sign", "existence", "count")),
    ),
    Stage(800, Lot(skew=0.6, kinds=2, dim=0.05, sign=0.4), Mix(binding=0.08)),
    Stage(2600, Lot(skew=0.8, kinds=3, dim=0.12, sign=0.35), Mix()),
)
STEPS = SCHEDULE[-1].until
EVALUATION = Stage(0, Lot(skew=0.5, kinds=3, dim=0.12, sign=0.35), Mix(blind=0.0, reword=0.0))


@dataclass
class Frame:
    """The chat template cut into what surrounds a user's text and an answer (token ids)."""

    prefix: list[int]  # everything up to and with the picture
    after_user: str
    after_answer: str


class Data(torch.utils.data.Dataset):
    """Item i is step i's batch; it depends on (seed, i) only."""

    def __init__(self, arch: str, seed: int, tokenizer, processor, frame: Frame, visual: bool):
        self.arch, self.seed, self.visual = arch, seed, visual
        self.tokenizer, self.processor, self.frame = tokenizer, processor, frame

    def __len__(self) -> int:
        return 2 * HELD_OUT

    def __getitem__(self, step: int) -> dict:
        rng = np.random.default_rng([self.seed, int(self.visual), step])
        if step >= HELD_OUT:
            stage = EVALUATION
        else:
            stage = next(stage for stage in SCHEDULE if step < stage.until)
        lot = Lot(skew=0.3, kinds=3, dim=0.1) if self.visual else stage.lot
        count = VISION_PICTURES if self.visual else PICTURES
        scenes = [sample_scene(rng, lot) for _ in range(count)]
        pictures = [Image.fromarray(draw(scene)) for scene in scenes]
        batch = dict(self.processor(pictures, return_tensors="pt"))
        if self.visual:
            batch["cells"] = torch.stack([cell_labels(scene) for scene in scenes])
            return batch
        made = [
            [segment(scene, self.arch, rng, stage.mix) for _ in range(MOST_TURNS)]
            for scene in scenes
        ]
        texts = [
            text
            for turns in made
            for turn in turns
            for text in (turn.user + self.frame.after_user, turn.answer + self.frame.after_answer)
        ]
        ids = iter(self.tokenizer(texts, add_special_tokens=False).input_ids)
        rows = [self._row([(turn, next(ids), next(ids)) for turn in turns]) for turns in made]
        batch |= {key: torch.stack([row[key] for row in rows]) for key in rows[0] if key != "turns"}
        batch["turns"] = [(at, *turn) for at, row in enumerate(rows) for turn in row["turns"]]
        return batch

    def _row(self, candidates: list[tuple[Segment, list[int], list[int]]]) -> dict:
        """As many turns as fit behind the prefix, padded to one length."""
        prefix = self.frame.prefix
        length = len(prefix) + TURN_TOKENS
        ids, turn_of, offset = list(prefix), [0] * len(prefix), list(range(len(prefix)))
        weight = [0.0] * len(prefix)
        turns, sees = [], [True]
        for made, user, answer in candidates:
            start, size = len(ids), len(user) + len(answer)
            if start + size > length:
                continue
            ids += user + answer
            turns.append((made, start + len(user), len(answer)))
            turn_of += [len(turns)] * size
            offset += range(size)
            weight += [0.0] + [1.0] * (len(user) - 1) + [ANSWER_WEIGHT] * len(answer)
            sees.append(made.sees)
        space = length - len(ids)
        return {
            "ids": torch.tensor(ids + [self.tokenizer.pad_token_id] * space),
            "turn_of": torch.tensor(turn_of + [-1] * space),
            "offset": torch.tensor(offset + [0] * space),
            "weight": torch.tensor(weight + [0.0] * space),
            "sees": torch.tensor(sees + [True] * (MOST_TURNS + 1 - len(sees))),
            "turns": turns,
        }


def cell_labels(scene: Scene) -> torch.Tensor:
    """[cells, 2]: kind (0 = nothing, last = sign) and colour index of each cell."""
    labels = torch.zeros(len(CELLS), 2, dtype=torch.long)
    kinds = [*KINDS, "sign"]
    for thing in scene.things:
        labels[thing.cell] = torch.tensor(
            (1 + kinds.index(thing.kind), COLOURS.index(thing.colour))
        )
    return labels


class PocketTrainer:
    """One model in training: the pieces that both families need told apart."""

    def __init__(self, arch: str, seed: int):
        torch.manual_seed(seed)
        self.arch, self.seed = arch, seed
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = build_tokenizer(arch)
        self.model, self.processor = build(arch, self.tokenizer)
        self.model.to(self.device).train()
        self.frame = self._frame()
        config = self.model.config
        self.image_token = config.image_token_id

    def _frame(self) -> Frame:
        marker = "\u0001"
        turn = [
            {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": marker}]},
            {"role": "assistant", "content": [{"type": "text", "text": marker}]},
        ]
        before, between, after = self.tokenizer.apply_chat_template(turn, tokenize=False).split(
            marker
        )
        blank = Image.fromarray(np.zeros((96, 96, 3), np.uint8))
        with torch.no_grad():
            count = len(self.features(dict(self.processor([blank], return_tensors="pt")))[0])
        ids = self.tokenizer(before, add_special_tokens=False).input_ids
        at = ids.index(self.model.config.image_token_id)
        return Frame(ids[:at] + [ids[at]] * count + ids[at + 1 :], between, after)

    def features(self, batch: dict) -> list[torch.Tensor]:
        """The visual tokens of each picture, [tokens, width]."""
        keys = ("pixel_values", "image_grid_thw", "image_sizes")
        inputs = {key: batch[key].to(self.device) for key in keys if key in batch}
        if "image_sizes" in inputs:
            config = self.model.config
            inputs["vision_feature_layer"] = config.vision_feature_layer
            inputs["vision_feature_select_strategy"] = config.vision_feature_select_strategy
        return list(self.model.model.get_image_features(**inputs).pooler_output)

    def prefix_positions(self) -> tuple[torch.Tensor, int]:
        """Position ids of the prefix ([3, P] or [P]) and the first one after it."""
        ids = torch.tensor([self.frame.prefix])
        if not hasattr(self.model.model, "get_rope_index"):
            return torch.arange(ids.shape[1]), ids.shape[1]
        grid = self.processor([Image.new("RGB", (96, 96))], return_tensors="pt")["image_grid_thw"]
        positions, _ = self.model.model.get_rope_index(
            ids, mm_token_type_ids=(ids == self.image_token).int(), image_grid_thw=grid
        )
        return positions[:, 0], int(positions.max()) + 1

    def logits(self, batch: dict) -> torch.Tensor:
        """Logits of every position of every row, [rows, tokens, vocab]."""
        ids = batch["ids"].to(self.device)
        features = torch.cat(self.features(batch))
        embeddings = self.model.get_input_embeddings()(ids)
        image = (ids == self.image_token).unsqueeze(-1)
        embeddings = embeddings.masked_scatter(image, features.to(embeddings.dtype))
        turn = batch["turn_of"].to(self.device)
        length = ids.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool, device=self.device).tril()
        same = turn[:, :, None] == turn[:, None, :]
        # A blind turn does not attend to the picture (nor to the marks around it, in effect).
        sees = batch["sees"].to(self.device).gather(1, turn.clamp(min=0))
        on_prefix = (turn == 0)[:, None, :] & (
            sees[:, :, None] | ~(ids == self.image_token)[:, None, :]
        )
        mask = (causal & (same | on_prefix))[:, None]
        prefix, following = self.prefix_positions()
        offset = batch["offset"].to(self.device)
        positions = torch.where(turn == 0, 0, offset + following)
        if prefix.dim() == 2:
            positions = positions.expand(3, *positions.shape).clone()
        else:
            positions = positions.clone()
        count = prefix.shape[-1]
        positions[..., :count] = prefix.to(self.device)[..., None, :] if prefix.dim() == 2 else (
            prefix.to(self.device)
        )
        hidden = self.model.model.language_model(
            inputs_embeds=embeddings, attention_mask=mask, position_ids=positions, use_cache=False
        ).last_hidden_state
        return self.model.lm_head(hidden)

    def loss(self, batch: dict) -> torch.Tensor:
        """Mean cross-entropy of the turns' tokens, answers weighted."""
        logits = self.logits(batch)[:, :-1]
        weight = batch["weight"].to(self.device)[:, 1:]
        keep = weight > 0
        losses = functional.cross_entropy(
            logits[keep], batch["ids"].to(self.device)[:, 1:][keep], reduction="none"
        )
        return (losses * weight[keep]).sum() / weight.sum()

    @torch.no_grad()
    def accuracy(self, batches: Iterator[dict]) -> dict[tuple[str, bool], tuple[int, int]]:
        """(family, usual) -> (right, asked), an answer being right when all its tokens are."""
        self.model.eval()
        tally = defaultdict(lambda: [0, 0])
        for batch in batches:
            right = self.logits(batch).argmax(-1)[:, :-1].cpu() == batch["ids"][:, 1:]
            for row, made, start, length in batch["turns"]:
                ok = bool(right[row, start - 1 : start - 1 + length].all())
                for key in (made.family, f"as {made.form}"):
                    tally[key, made.usual][0] += ok
                    tally[key, made.usual][1] += 1
        self.model.train()
        return {key: tuple(value) for key, value in tally.items()}

    def save(self, folder: Path) -> None:
        """The checkpoint in the ordinary layout."""
        self.model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)
        self.processor.save_pretrained(folder)




def _vision_loss(trainer: PocketTrainer, head: nn.Module, batch: dict) -> torch.Tensor:
    """Naming kind and colour of every cell from the picture's visual tokens."""
    classes = (len(KINDS) + 2, len(COLOURS))
    features = torch.stack(trainer.features(batch))
    # A square of patch tokens comes first (LLaVA-NeXT's thumbnail), pooled to the grid's 3 x 3.
    side = {9: 3, 78: 6}[features.shape[1]]
    grid = features[:, : side * side].transpose(1, 2).unflatten(2, (side, side))
    cells = functional.adaptive_avg_pool2d(grid, 3).flatten(2).transpose(1, 2)
    kinds, colours = head(cells).float().split(classes, dim=-1)
    labels = batch["cells"].to(trainer.device)
    filled = labels[..., 0] > 0
    loss = functional.cross_entropy(kinds.flatten(0, 1), labels[..., 0].flatten())
    return loss + functional.cross_entropy(colours[filled], labels[..., 1][filled])


def learning_rate(step: int) -> float:
    """Warm-up, constant, then a linear fall over the last `DECAY` of the steps."""
    warm = min(1.0, (step + 1) / WARMUP)
    left = min(1.0, (STEPS - step) / (DECAY * STEPS))
    return LEARNING_RATE * warm * max(0.05, left)


def _save_state(folder: Path, step: int, trainer: PocketTrainer, optimizer) -> None:
    """Weights and optimizer state in one safetensors file, replaced atomically."""
    tensors = {f"model/{k}": v for k, v in trainer.model.state_dict().items() if "lm_head" not in k}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{index}/{k}": v for k, v in state.items()}
    name = folder / "state.safetensors.tmp"
    save_file({k: v.contiguous() for k, v in tensors.items()}, name, metadata={"step": str(step)})
    os.replace(name, folder / "state.safetensors")


def _load_state(folder: Path, trainer: PocketTrainer, optimizer) -> int:
    """The step to go on from; 0 if nothing was saved."""
    name = folder / "state.safetensors"
    if not name.exists():
        return 0
    with safe_open(name, "pt") as file:
        step = int(file.metadata()["step"])
        tensors = {key: file.get_tensor(key) for key in file.keys()}
    model = {k.removeprefix("model/"): v for k, v in tensors.items() if k.startswith("model/")}
    missing = trainer.model.load_state_dict(model, strict=False).missing_keys
    if any("lm_head" not in key for key in missing):
        raise ValueError(f"{name} lacks {missing[0]}: delete the folder to train from the start")
    state = defaultdict(dict)
    for key, value in tensors.items():
        if key.startswith("optimizer/"):
            _, index, field = key.split("/")
            state[int(index)][field] = value
    whole = optimizer.state_dict()
    whole["state"] = dict(state)
    optimizer.load_state_dict(whole)
    return step


def train(arch: str, seed: int, work: Path, out: Path, say=print) -> Path:
    """Train one pocket model and write its checkpoint to `out`.

    Args:
        arch: `qwen2_vl` or `llava_next`.
        seed: seeds the weights and every step's data.
        work: folder of the run: state to resume from, and `log.jsonl`.
        out: folder of the finished checkpoint.
        say: receives one line of progress at a time.
    """
    work.mkdir(parents=True, exist_ok=True)
    trainer = PocketTrainer(arch, seed)
    cpu_bf16 = trainer.device == "cpu" and torch.cpu._is_avx512_bf16_supported()
    autocast = torch.autocast(
        trainer.device, torch.bfloat16, enabled=cpu_bf16 or trainer.device == "cuda"
    )
    parameters = [p for p in trainer.model.parameters()]
    optimizer = torch.optim.AdamW(parameters, LEARNING_RATE, betas=(0.9, 0.98), weight_decay=0.01)
    first = _load_state(work, trainer, optimizer)
    log = (work / "log.jsonl").open("a")

    def note(**values) -> None:
        log.write(json.dumps(values) + "\n")
        log.flush()

    def batches(steps, visual: bool):
        data = Data(arch, seed, trainer.tokenizer, trainer.processor, trainer.frame, visual)
        return torch.utils.data.DataLoader(
            data, batch_size=None, sampler=steps, num_workers=1, prefetch_factor=4
        )

    if first == 0:
        head = nn.Linear(WIDTH, len(KINDS) + 2 + len(COLOURS)).to(trainer.device)
        warm = torch.optim.AdamW([*parameters, *head.parameters()], LEARNING_RATE)
        for step, batch in enumerate(batches(range(VISION_STEPS), visual=True)):
            with autocast:
                loss = _vision_loss(trainer, head, batch)
            _update(warm, loss)
            if step % LOG_EVERY == 0:
                note(stage="vision", step=step, loss=loss.item())
                say(f"vision {step}/{VISION_STEPS} loss {loss:.3f}")
    started = time.monotonic()
    for step, batch in enumerate(batches(range(first, STEPS), visual=False), first):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        with autocast:
            loss = trainer.loss(batch)
        _update(optimizer, loss)
        if step % LOG_EVERY == 0:
            left = (time.monotonic() - started) / (step - first + 1) * (STEPS - step - 1)
            note(stage="dialogue", step=step, loss=loss.item())
            say(f"step {step}/{STEPS} loss {loss:.3f}, {left / 60:.0f} min left")
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == STEPS:
            _save_state(work, step + 1, trainer, optimizer)
            tally = trainer.accuracy(batches(range(HELD_OUT, HELD_OUT + 6), visual=False))
            table = {f"{f} {'usual' if u else 'unusual'}": v for (f, u), v in tally.items()}
            note(stage="held out", step=step + 1, right_and_asked=table)
            say("held out " + ", ".join(f"{k} {r}/{n}" for k, (r, n) in sorted(table.items())))
    trainer.save(out)
    return out


def _update(optimizer, loss: torch.Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    for group in optimizer.param_groups:
        nn.utils.clip_grad_norm_(group["params"], 1.0)
    optimizer.step()


if __name__ == "__main__":
    import sys

    torch.set_num_threads(1)
    name = sys.argv[1]
    train(name, 0, Path(f"runs/train/{name}-0"), Path(f"runs/train/{name}-0/checkpoint"))

"""Visual-RFT through TRL: the asked form first taught where a model lacks it, then GRPO.

`train` samples a group of answers to every question and follows the rewards (section 5, equations
5 and 6). It writes its state every few updates, and called again goes on from the last whole one:
weights, optimiser, schedule, position in the data and random numbers are restored, so on a CPU the
same run comes out as without the interruption.

What TRL does otherwise than the paper says or leaves open: a z-score's deviation divides by n - 1;
there is no setting for the longest prompt (1,024 tokens in Table 9). The answers of one update are
all sampled before it and serve it alone, so the ratio of equation (6) is 1 and its clip idle.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    PrinterCallback,
    TrainerCallback,
)

from sci_book.files import json_text, write_whole
from sci_book.papers.oric.questions import LABELS
from sci_book.papers.oric.rft.material import Sample, digest
from sci_book.papers.oric.rft.rewards import REWARDS, constant_groups, idle
from sci_book.papers.oric.rft.settings import Settings
from sci_book.resources import installing
from sci_core.families.files import first_line

TEACHING = {"learning_rate": 5e-4, "batch_size": 16}
SAVE_EVERY = 25
"""Updates between two states that an interrupted run can go on from."""

_LOGGED = {
    "reward": "reward", "accuracy": "rewards/accuracy/mean", "form": "rewards/form/mean",
    "constant": "frac_reward_zero_std", "constant_accuracy": "constant_accuracy",
    "constant_form": "constant_form", "tokens": "completions/mean_length",
    "cut": "completions/clipped_ratio", "entropy": "entropy", "gradient_norm": "grad_norm",
    "learning_rate": "learning_rate",
}  # fmt: skip


@dataclass(frozen=True)
class Trained:
    """The checkpoint, one line of means an update, and rewards that never differed (`idle`)."""

    folder: Path
    curve: tuple[dict[str, Real], ...]
    idle: Mapping[str, Real]


def train(
    checkpoint: str | Path,
    samples: Sequence[Sample],
    out: str | Path,
    settings: Settings,
    *,
    steps: int | None = None,
    say: Callable[[str], None] = print,
) -> Trained:
    """Fine-tune a checkpoint by GRPO on questions with known answers.

    Args:
        samples: with the label as answer.
        out: the run's folder; the finished checkpoint is its `final`.
        steps: updates; by default as many as `settings.epochs` need.
        say: receives one line an update.

    Warns:
        RuntimeWarning: names a reward that was the same within every group: it taught nothing.

    Raises:
        ImportError: without TRL.
        ValueError: without samples, or if the folder holds a run of other settings or samples.
    """
    if not samples:
        raise ValueError("No sample came to train on; expected questions with a label each.")
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    about = {"checkpoint": str(checkpoint), "samples": digest(samples), "steps": steps}
    claim(out, {**about, **asdict(settings)})
    final, curve_file = out / "final", out / "curve.json"
    if not final.exists():
        trl = trl_here()
        state = _last_whole(out)
        # The trainer restores weights by their names in memory, which in some families are not
        # those on disk, and says nothing: so they are read here.
        model = _model(state or checkpoint)
        trainer = trl.GRPOTrainer(
            model=model,
            reward_funcs=[_reward(name, settings.group) for name in REWARDS],
            args=trl.GRPOConfig(**_arguments(settings, out, steps)),
            train_dataset=_dataset(_in_order(samples, settings)),
            processing_class=processor_of(checkpoint, model.config),
            callbacks=[_Say(say)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train(resume_from_checkpoint=state)
        lines = [_line(logged) for logged in trainer.state.log_history if "reward" in logged]
        write_whole(curve_file, json_text(lines).encode())
        _save(trainer, final)
    curve = json.loads(curve_file.read_text(encoding="utf-8"))
    constant = idle(curve)
    for name, value in constant.items():
        warnings.warn(
            f"The reward {name!r} was constant in 100 % of the groups of all {len(curve)} updates, "
            f"{value:.2f} on average: it taught nothing. Teach the model the form first, or sample "
            "at a higher temperature.",
            RuntimeWarning,
            stacklevel=2,
        )
    return Trained(final, tuple(curve), constant)


def teach(
    checkpoint: str | Path,
    samples: Sequence[Sample],
    out: str | Path,
    *,
    steps: int,
    seed: int,
    say: Callable[[str], None],
) -> Path:
    """Teach a checkpoint the full answers of samples by supervised fine-tuning, into `out/final`.

    A short phase: an interrupted one begins anew, a finished one is kept.
    """
    out = Path(out)
    final = out / "final"
    if not final.exists():
        trl = trl_here()
        model = _model(checkpoint)
        processor = processor_of(checkpoint, model.config)
        config = trl.SFTConfig(
            output_dir=str(out),
            max_steps=steps,
            learning_rate=TEACHING["learning_rate"],
            per_device_train_batch_size=TEACHING["batch_size"],
            lr_scheduler_type="cosine",
            warmup_steps=steps // 10,  # tags never met would else sweep away what is known
            max_length=None,
            save_strategy="no",
            **_common(seed, "float32"),
        )
        trainer = _teacher(trl, processor.tokenizer)(
            model=model,
            args=config,
            train_dataset=_dataset(samples, full=True),
            processing_class=processor,
            callbacks=[_Say(say)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        _save(trainer, final)
    return final


def _teacher(trl: Any, tokenizer: Any) -> type:
    """TRL's trainer with a loss in which yes and no weigh as much as the rest of the answers.

    They are one token of some sixty, most of them tags; alike, all but that one would be learnt.
    """
    words = [tokenizer(f" {word}", add_special_tokens=False).input_ids[-1] for word in LABELS]

    class Teacher(trl.SFTTrainer):
        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            labels = inputs.pop("labels")
            outputs = model(**inputs)
            loss = stressed(outputs.logits, labels, words)
            return (loss, outputs) if return_outputs else loss

    return Teacher


def stressed(logits: torch.Tensor, labels: torch.Tensor, words: Sequence[int]) -> torch.Tensor:
    """Mean cross-entropy of the tokens `words`, and of all others, added.

    Args:
        logits: [rows, length, vocab].
        labels: [rows, length]; -100 where there is no loss. The place before predicts each.
    """
    target = labels[:, 1:].flatten()
    losses = torch.nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1).float(), target, reduction="none"
    )
    said = torch.isin(target, torch.tensor(words, device=target.device))
    rest = (target != -100) & ~said
    return losses[said].mean() + losses[rest].mean()


def processor_of(checkpoint: str | Path, config: Any) -> Any:
    """The checkpoint's processor; how many tokens a picture takes is read off the model.

    Raises:
        ImportError: if the family's processor needs a package that is missing (torchvision).
    """
    try:
        processor = AutoProcessor.from_pretrained(checkpoint)
    except ImportError as error:
        raise ImportError(
            f"The processor of {checkpoint} needs a package that is not installed "
            f"({first_line(error)}); install it, or take a checkpoint whose processor works "
            "without."
        ) from error
    if getattr(processor, "patch_size", 0) is None:
        processor.patch_size = config.vision_config.patch_size
        processor.vision_feature_select_strategy = config.vision_feature_select_strategy
        processor.num_additional_image_tokens = 1  # the tower's class token
    return processor


def _model(checkpoint: str | Path) -> Any:
    """Weights in float32, whatever is computed in: in bfloat16 small updates would round away."""
    return AutoModelForImageTextToText.from_pretrained(
        checkpoint, dtype=torch.float32, use_safetensors=True
    )


def trl_here() -> Any:
    """TRL; ImportError, with what installs it, where it is not."""
    try:
        import accelerate  # noqa: F401 - whose lack TRL would tell in a trace of many lines
        import datasets
        import trl
    except ImportError as error:
        raise ImportError(
            f"Visual-RFT needs TRL ({error}): {installing('rft')}, "
            "or the pinned versions of its requirements.lock."
        ) from error
    datasets.disable_progress_bars()
    return trl


def _common(seed: int, dtype: str) -> dict[str, Any]:
    return {
        "bf16": dtype == "bfloat16",
        "logging_steps": 1,
        "seed": seed,
        "data_seed": seed,
        "report_to": "none",
        "disable_tqdm": True,
        "activation_checkpointing": dtype == "bfloat16",  # a pocket model needs no such saving
        "dataloader_pin_memory": torch.cuda.is_available(),
    }


def _arguments(settings: Settings, out: Path, steps: int | None) -> dict[str, Any]:
    devices = int(os.environ.get("WORLD_SIZE", "1"))
    if settings.answers % (settings.per_device * devices):
        raise ValueError(
            f"{settings.answers} answers an update do not spread over {devices} devices that take "
            f"{settings.per_device} at once; use a number of devices that divides them."
        )
    return {
        "output_dir": str(out),
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.schedule,
        "weight_decay": settings.weight_decay,
        "max_grad_norm": settings.gradient_norm,
        "optim": "adamw_torch",
        "per_device_train_batch_size": settings.per_device,
        "gradient_accumulation_steps": settings.answers // (settings.per_device * devices),
        "num_train_epochs": 1,  # `_in_order` has them all
        "shuffle_dataset": False,
        "max_steps": -1 if steps is None else steps,
        "num_generations": settings.group,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "top_k": settings.top_k,
        "max_completion_length": settings.longest,
        "epsilon": settings.clip,
        "beta": settings.kl,
        "loss_type": "grpo",  # equation (6): the mean over an answer's tokens, then over answers
        "scale_rewards": "group",  # equation (5)
        "save_steps": SAVE_EVERY,
        "save_total_limit": 2,
        **_common(settings.seed, settings.dtype),
    }


def _dataset(samples: Sequence[Sample], *, full: bool = False) -> Any:
    """The samples as TRL reads them: pictures by path, one user's turn; `full`: and the answer's.

    A label is a column of its own, which TRL hands to the rewards.
    """
    import datasets

    columns: dict[str, list] = {
        "prompt": [[{"role": "user", "content": sample.prompt}] for sample in samples],
        "image": [str(sample.picture) for sample in samples],
    }
    turns = [[{"role": "assistant", "content": sample.answer}] for sample in samples]
    columns |= {"completion": turns} if full else {"label": [s.answer for s in samples]}
    return datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())


def _in_order(samples: Sequence[Sample], settings: Settings) -> list[Sample]:
    """The samples of all epochs, shuffled epoch by epoch.

    Here and not by TRL, whose later orders depend on the epochs that a process has seen: a run that
    goes on would have others.
    """
    order = []
    for epoch in range(settings.epochs):
        generator = torch.Generator().manual_seed(settings.seed + epoch)
        order += torch.randperm(len(samples), generator=generator).tolist()
    return [samples[index] for index in order]


def _reward(name: str, group: int) -> Callable[..., list[float]]:
    """A reward as TRL calls it, which logs beside it the share of groups where it is constant."""
    from accelerate.utils import gather_object

    def reward(completions, label, log_metric, **_) -> list[float]:
        values = REWARDS[name]([turns[0]["content"] for turns in completions], label)
        # A group may lie on several devices.
        log_metric(f"constant_{name}", constant_groups(gather_object(values), group))
        return values

    reward.__name__ = name  # TRL's name of it in the log
    return reward


class _Say(TrainerCallback):
    """One line of progress an update, or every twenty steps of the supervised phase."""

    def __init__(self, say: Callable[[str], None]):
        self._say = say

    def on_log(self, args, state, control, logs=None, **_):
        if not logs or not state.is_world_process_zero:
            return
        if "loss" in logs and "reward" not in logs and state.global_step % 20 == 0:
            self._say(f"step {state.global_step}/{state.max_steps} loss {logs['loss']:.3f}")
        if "reward" in logs:
            line = _line({**logs, "step": state.global_step})
            self._say(
                f"update {state.global_step}/{state.max_steps} accuracy {line['accuracy']:.2f} "
                f"form {line['form']:.2f}, constant groups {line['constant']:.2f}"
            )


def _line(logged: Mapping[str, Any]) -> dict[str, Real]:
    return {"step": logged["step"], **{ours: logged[key] for ours, key in _LOGGED.items()}}


def claim(out: Path, about: Mapping[str, Any]) -> None:
    """Write what a run is about into its folder; a `ValueError` if the run there is another."""
    file = out / "run.json"
    if file.exists():
        there = json.loads(file.read_text(encoding="utf-8"))
        other = sorted(key for key in about if there.get(key) != about[key])
        if other:
            raise ValueError(
                f"{out} holds a run with other {', '.join(other)}; name another folder, or remove "
                "that run."
            )
    write_whole(file, json_text(dict(about), indent=1).encode())


def _last_whole(out: Path) -> str | None:
    """The last state that was written to its end: what records the step is written last."""
    whole = []
    for folder in out.glob("checkpoint-*"):
        try:
            json.loads((folder / "trainer_state.json").read_text(encoding="utf-8"))
            whole.append(folder)
        except (OSError, ValueError):
            shutil.rmtree(folder, ignore_errors=True)  # or another process did
    newest = max(whole, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)
    return None if newest is None else str(newest)


def _save(trainer: Any, final: Path) -> None:
    """The checkpoint in the ordinary layout, under its name only when whole."""
    part = final.with_name("final.part")
    trainer.save_model(str(part))  # every process has its part in a model that is spread
    trainer.accelerator.wait_for_everyone()
    if trainer.is_world_process_zero():
        os.replace(part, final)
    trainer.accelerator.wait_for_everyone()

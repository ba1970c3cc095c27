"""The model card of a pocket checkpoint: what it is, how it was trained, what it reached."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

from sci_book.resources import MANIFESTS

_STAGES = {
    "vision": "vision tower alone",
    "dialogue": "language and dialogue",
    "onward": "from there onward",
}


def write_card(out: Path, logs: Sequence[Path], **facts: object) -> None:
    """Write `README.md`, the loss curve and the log itself into a finished checkpoint.

    Args:
        out: the checkpoint's folder.
        logs: the training's `log.jsonl`, behind that of the checkpoint that it went on from.
        facts: arch, size, seed, recipe, architecture, parameters, steps, pictures, and what came
            `before`.
    """
    text = "".join(log.read_text(encoding="utf-8") for log in logs)
    (out / "training_log.jsonl").write_text(text, encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]

    _draw_loss(lines).save(out / "training_loss.png", optimize=True)

    last = [line for line in lines if line["stage"] == "held out"][-1]["right_and_asked"]
    names = sorted({key.rpartition(" ")[0] for key in last})
    rows = "\n".join(
        f"| {name} | {_share(last.get(f'{name} usual'))} | {_share(last.get(f'{name} unusual'))} |"
        for name in names
    )
    card = (MANIFESTS / "pocket" / "card.md").read_text(encoding="utf-8")
    text = card.format(name=out.name, rows=rows, **facts)
    (out / "README.md").write_text(text, encoding="utf-8")


def _draw_loss(lines: Sequence[dict]) -> Image.Image:
    """A log's loss by step, a panel a stage; in a palette, which takes a third of the bytes."""
    curves = {
        stage: points
        for stage in _STAGES
        if (points := [(line["step"], line["loss"]) for line in lines if line["stage"] == stage])
    }
    figure, row = plt.subplots(
        1, len(curves), figsize=(3.6 * len(curves), 2.6), layout="constrained", squeeze=False
    )
    axes = row[0]
    for ax, (stage, points) in zip(axes, curves.items(), strict=True):
        ax.plot(*zip(*points, strict=True), color="#dd6b20", linewidth=1.4)
        ax.set_title(_STAGES[stage], fontsize=10)
        ax.set_xlabel("step")
        ax.set_yscale("log")
    axes[0].set_ylabel("loss")
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=90)
    plt.close(figure)
    return Image.open(drawn).convert("RGB").quantize(64)


def _share(right_and_asked: list[int] | None) -> str:
    if not right_and_asked:
        return "—"
    right, asked = right_and_asked
    return f"{right} of {asked}"

"""Options that several commands share, and the models that they take by default."""

from pathlib import Path
from typing import Annotated

import typer

from sci_book import resources

# A wheel holds the smallest checkpoint alone.
DEFAULT_MODEL = f"checkpoints/pocket-qwen2vl{'' if resources.IS_CHECKOUT else '-small'}"
DEFAULT_PAIR = "pocket-qwen2vl,pocket-llavanext"
DEFAULT_TUNED = "checkpoints/pocket-llavanext"
"""The model that `sci rft` fine-tunes."""


def _located(model: str) -> str:
    """A model's name as it is given, or the path of a checkpoint that is shipped under it."""
    path = resources.located(model)
    return model if path == Path(model) else str(path)


ModelOption = Annotated[
    str, typer.Option("--model", callback=_located, help="Checkpoint folder or hub id.")
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, help="Rows; question groups stay whole.")
]
ArchitectureOption = Annotated[
    str, typer.Option(help="The architecture, such as qwen2_vl; or clip.")
]
DtypeOption = Annotated[str, typer.Option(help="float32, float64, bfloat16 or float16.")]
QuantizationOption = Annotated[str | None, typer.Option(help="nf4 or int8, through bitsandbytes.")]
DeviceMapOption = Annotated[
    str | None, typer.Option(help="auto: spread the model over the devices, through accelerate.")
]
TextModelUrlOption = Annotated[
    str, typer.Option(help="Of an OpenAI-compatible endpoint that knows the text model's name.")
]

"""Options that several commands share, and the models that they take by default."""

import os
from pathlib import Path
from typing import Annotated

from typer import Option

from sci_book import resources

# A wheel holds the smallest checkpoint alone.
DEFAULT_MODEL = f"checkpoints/pocket-qwen2vl{'' if resources.IS_CHECKOUT else '-small'}"
DEFAULT_PAIR = "pocket-qwen2vl,pocket-llavanext"
DEFAULT_TUNED = "checkpoints/pocket-llavanext"
"""The model that `sci rft` fine-tunes."""

LONGEST_NAME = 255
"""Bytes of a folder's name, on the usual file systems."""


def as_folder(name: str | Path) -> Path:
    """A folder to write to, as a command line names it: the `parser` of an option.

    Raises:
        OSError: for no name, where a file stands in the way, and where nothing may be written (of
            a ValueError typer would tell no more than the name).
    """
    if not str(name).strip():
        raise NotADirectoryError("the folder has no name; expected one, such as --out runs/mine")
    path = Path(os.path.expanduser(name))  # as in --out=~/runs, which a shell leaves as it is
    if any("\0" in part or len(os.fsencode(part)) > LONGEST_NAME for part in path.parts):
        raise NotADirectoryError(f"{str(path)[:40]!r}… is no name of a folder; take a shorter one")
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file; expected the name of a folder, new or not")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"nothing may be written in {there}; name another folder")
    return path


def _located(model: str) -> str:
    """A model's name as it is given, or the path of a checkpoint that is shipped under it.

    A shipped one is known by its bare name, too, as pages and records call it.
    """
    if not model.strip():
        raise ValueError("--model is empty; expected a checkpoint's folder or a hub id")
    if Path(model).exists():
        return model
    shipped = (resources.located(model), resources.located(Path("checkpoints", model)))
    return str(next((path for path in shipped if path.exists()), model))


ModelOption = Annotated[
    str, Option("--model", callback=_located, help="Checkpoint folder or hub id.")
]
LimitOption = Annotated[
    int | None, Option("--limit", min=1, help="Rows; question groups stay whole.")
]
ArchitectureOption = Annotated[str, Option(help="The architecture, such as qwen2_vl; or clip.")]
DtypeOption = Annotated[
    str | None,
    Option(
        help="float32, float64, bfloat16, float16 or auto, the checkpoint's own. By default that "
        "of the model's manifest; without one, auto on a GPU and float32 on a processor."
    ),
]
MinPixelsOption = Annotated[
    int | None,
    Option(
        min=1,
        help="Smaller pictures are enlarged to this, in families whose tokens follow pixels "
        "(Qwen2-VL: 784 a token). By default the paper's for its models on its data sets, else "
        "the checkpoint's.",
    ),
]
MaxPixelsOption = Annotated[int | None, Option(min=1, help="Larger pictures are reduced to this.")]
QuantizationOption = Annotated[str | None, Option(help="nf4 or int8, through bitsandbytes.")]
DeviceMapOption = Annotated[
    str | None, Option(help="auto: spread the model over the devices, through accelerate.")
]
TextModelUrlOption = Annotated[
    str, Option(help="Of an OpenAI-compatible endpoint that knows the text model's name.")
]

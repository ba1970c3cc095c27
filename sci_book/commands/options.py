"""Options that several commands share, and the models that they take by default."""

from pathlib import Path
from typing import Annotated

from typer import Option

from sci_book import resources

# A wheel holds the smallest checkpoint alone.
DEFAULT_MODEL = f"checkpoints/pocket-qwen2vl{'' if resources.IS_CHECKOUT else '-small'}"
DEFAULT_PAIR = "pocket-qwen2vl,pocket-llavanext"
DEFAULT_TUNED = "checkpoints/pocket-llavanext"
"""The model that `sci rft` fine-tunes."""


def as_folder(name: str | Path) -> Path:
    """A folder to write to, as a command line names it: the `parser` of an option.

    Raises:
        NotADirectoryError: for no name, and where a file stands in the way (of a ValueError typer
            would tell no more than the name).
    """
    if not str(name).strip():
        raise NotADirectoryError("the folder has no name; expected one, such as --out runs/mine")
    path = Path(name)
    for place in (path, *path.parents):
        if place.is_file():
            raise NotADirectoryError(
                f"{place} is a file; expected the name of a folder, new or not"
            )
    return path


def check_device(device: str | None) -> None:
    """Refuse a device that is unknown or not here, before a model is loaded.

    Raises:
        ValueError: names those that are here.
    """
    if device is None:
        return
    import torch

    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": torch.backends.mps.is_available()}
    here = [kind for kind, count in counts.items() if count]
    try:
        asked = torch.device(device)
    except RuntimeError:
        raise ValueError(f"--device {device!r} is no device; here are {', '.join(here)}") from None
    if (asked.index or 0) >= int(counts.get(asked.type, 0)):
        known = f"{counts['cuda']} of cuda" if asked.type == "cuda" and counts["cuda"] else "none"
        raise ValueError(
            f"--device {device} is not here ({known}); expected {' or '.join(here)}, or leave it "
            "out for the best one"
        )


def _located(model: str) -> str:
    """A model's name as it is given, or the path of a checkpoint that is shipped under it."""
    if not model.strip():
        raise ValueError("--model is empty; expected a checkpoint's folder or a hub id")
    path = resources.located(model)
    return model if path == Path(model) else str(path)


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

"""How a checkpoint is put into memory: its attention, its quantisation, its devices."""

import logging
import multiprocessing
import re
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from inspect import signature
from typing import Any

import torch

from sci_core.families.named import check_choice

ATTENTION = ("sdpa", "eager")  # these take the 4-D masks of the two-phase engine
DTYPES = ("float32", "float64", "bfloat16", "float16")
NATIVE_BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16")  # of `torch.cpu`; the last is Arm's
QUANTIZATIONS = ("nf4", "int8")
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")  # of accelerate
DeviceMap = str | Mapping[str, int | str]  # "auto", or each part's device, as accelerate takes it


def own_dtype(config: Mapping[str, Any]) -> str:
    """Return the dtype that config.json says the weights are in; float32 if it says none.

    Older files call it torch_dtype, and some say it of the language model alone.
    """
    text = config.get("text_config") or {}
    dtypes = [part.get(name) for part in (config, text) for name in ("dtype", "torch_dtype")]
    own = str(next(filter(None, dtypes), "float32")).removeprefix("torch.")
    check_choice("dtype of the checkpoint", own, DTYPES)
    return own


def computes_bfloat16(device: str) -> bool:
    """Whether a type of device computes in bfloat16 itself; True where torch cannot tell."""
    capabilities = getattr(torch.cpu, "get_capabilities", None)  # which an older torch lacks
    if device != "cpu" or capabilities is None:
        return True
    return any(map(capabilities().get, NATIVE_BFLOAT16))


def warn_of_emulation(model: Any) -> None:
    """Warn, but not in every worker, that bfloat16 is slow on a processor without it."""
    emulated = model.dtype == torch.bfloat16 and not computes_bfloat16(model.device.type)
    if emulated and multiprocessing.parent_process() is None:
        warnings.warn(
            "This processor does not compute in bfloat16 itself, so a model in it takes about four "
            "times as long as in float32; load it with dtype='float32' if memory allows.",
            UserWarning,
            stacklevel=3,
        )


def check_masks(attention: str) -> None:
    """Raise ValueError for a language model whose attention takes no 4-D mask."""
    if attention not in ATTENTION:
        raise ValueError(
            f"Attention {attention!r} cannot take the 4-D masks of the engine; use one of "
            f"{', '.join(ATTENTION)}."
        )


def context(text: Any) -> int | None:
    """Return how many tokens a language model takes; None if its configuration does not say.

    Where rotary frequencies change with the length (dynamic, longrope) it is what they take before
    they change: beyond, a token's keys depend on what follows it, and no prefix can be shared.
    """
    longest = getattr(text, "max_position_embeddings", None)
    if not isinstance(longest, int):
        return None
    return min(_taken(longest, rope) for rope in ropes(text))


def ropes(text: Any) -> list[Mapping[str, Any]]:
    """Return the rotary settings of a language model: one, or one for each kind of its layers."""
    one = getattr(text, "rope_parameters", None) or {}
    kinds = [rope for rope in one.values() if isinstance(rope, Mapping)]
    return kinds or [one]


def _taken(longest: int, rope: Mapping[str, Any]) -> int:
    kind, factor = rope.get("rope_type"), rope.get("factor") or 1
    original = rope.get("original_max_position_embeddings") or longest
    if kind == "linear":  # llama3 states the stretched length, yarn's users now this, now that
        return int(longest * factor)
    if kind == "yarn":
        return max(longest, int(original * factor))
    return min(longest, original) if kind == "longrope" else longest


def check_attention(name: str, text: Any, decoder: Any) -> None:
    """Raise ValueError for a language model some layers of which are not plain causal attention.

    The engine shares keys and values of a prefix, and masks what is packed behind it.
    """
    width, longest = getattr(text, "sliding_window", None), context(text)
    layers = {*(getattr(text, "layer_types", None) or ["sliding_attention"])}
    if width and "sliding_attention" in layers and (longest is None or width < longest):
        raise ValueError(
            f"{name} attends through a sliding window of {width:,} tokens, shorter than its "
            "context, which the engine's masks do not describe; use a checkpoint with full "
            "attention."
        )
    parts = [part for part in decoder.modules() if getattr(part, "is_causal", True) is False]
    others = layers - {"full_attention", "sliding_attention"} | {type(p).__name__ for p in parts}
    keeps = {"cache", "past_key_values"} & {*signature(type(decoder).forward).parameters}
    if others or not keeps:
        raise ValueError(
            f"The language model of {name}, {type(decoder).__name__}, has layers that are not "
            f"plain causal attention ({', '.join(sorted(others)) or 'no keys and values'}), so "
            "that rounds cannot share what is read of a picture; use a checkpoint with full "
            "attention."
        )


def attention_settings(asked: str, dtype: str, on_gpu: bool) -> str | dict[str, str]:
    """Return what `attn_implementation` becomes.

    FlashAttention knows no mask but the causal one. So it serves the vision tower alone; where it
    cannot serve at all, sdpa takes its place, with a UserWarning that says why.
    """
    if asked != "flash_attention_2":
        check_masks(asked)
        return asked
    if find_spec("flash_attn") is None:
        reason = "the package flash-attn is not installed (the extra 'flash' of this project)"
    elif not on_gpu:
        reason = "it needs a GPU"
    elif dtype not in ("bfloat16", "float16"):
        reason = f"it computes in bfloat16 or float16 alone, and the model is in {dtype}"
    else:
        return {"": "sdpa", "vision_config": "flash_attention_2"}
    warnings.warn(
        f"sdpa takes the place of flash_attention_2: {reason}. Answers agree but for rounding.",
        UserWarning,
        stacklevel=3,
    )
    return "sdpa"


def quantization_settings(asked: str | None, dtype: str) -> dict[str, Any]:
    """Return what `from_pretrained` takes for "nf4", "int8" or None.

    int8 is LLM.int8 (arXiv 2208.07339): columns with outliers, chosen over all rows of a call, are
    multiplied in float16. So its logits depend on the batch; those of nf4 do as those of bfloat16,
    in which some processors compute them.

    Raises ValueError for another name, or a dtype that bitsandbytes does not compute in, and
    ImportError where bitsandbytes or accelerate is not installed.
    """
    if asked is None:
        return {}
    check_choice("quantization", asked, QUANTIZATIONS)
    if dtype == "float64":
        raise ValueError(
            f"{asked} is computed in float32, bfloat16 or float16, not in float64; choose another "
            "dtype, or no quantization."
        )
    _need("bitsandbytes", f"quantization={asked!r}")
    _need("accelerate", f"quantization={asked!r}")
    from transformers import BitsAndBytesConfig

    # It reports every cast to float16, and that a faster kernel could be fetched from a hub.
    for part in ("autograd._functions", "backends.cpu.ops"):
        logging.getLogger(f"bitsandbytes.{part}").setLevel(logging.ERROR)
    nf4 = {"bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": getattr(torch, dtype)}
    settings = {"load_in_8bit": True} if asked == "int8" else {"load_in_4bit": True, **nf4}
    return {"quantization_config": BitsAndBytesConfig(**settings)}


def check_blocks(name: str, hf: Any) -> None:
    """Raise ValueError for a model on the CPU whose layers nf4 cannot cut into its blocks."""
    for part, layer in hf.named_modules():
        if type(layer).__name__ != "Linear4bit" or layer.weight.device.type != "cpu":
            continue
        block = layer.weight.quant_state.blocksize
        if layer.in_features % block:
            raise ValueError(
                f"{name} cannot be computed in nf4 on the CPU: {part} is {layer.in_features} "
                f"wide, and bitsandbytes needs a multiple of {block} there. Use int8, or a GPU."
            )


def check_places(name: str, hf: Any) -> None:
    """Raise ValueError for a weight of `hf.model` itself that accelerate never brings to a device.

    It brings the weights of a part when that is called; a newline between rows of patches is not.
    """
    for part, weight in hf.model.named_parameters(recurse=False):
        if weight.device.type == "meta" and hasattr(hf.get_input_embeddings(), "_hf_hook"):
            raise ValueError(
                f"The device map of {name} leaves model.{part} without a device of its own; give "
                "it the one of the vision tower, as in device_map={'model." + part + "': 0, …}."
            )


def placement(
    device: str | torch.device | None, device_map: DeviceMap | None, quantized: bool
) -> tuple[str | torch.device | None, DeviceMap | None]:
    """Return the device to move the model to, or the map to load it by (also if quantised).

    Raises ValueError for both a device and a map and for a device that is not here, ImportError
    for a map without accelerate.
    """
    if device is not None and device_map is not None:
        raise ValueError(
            f"device={str(device)!r} and device_map={device_map!r}: give one of the two."
        )
    if device_map is not None:
        _need("accelerate", "device_map")
        places = device_map.values() if isinstance(device_map, Mapping) else [device_map]
        for place in places:
            if place not in (*DEVICE_MAPS, "disk"):
                check_device(place, "device_map")
        return None, device_map
    check_device(device)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return (None, {"": str(device)}) if quantized else (device, None)


def check_device(device: str | int | torch.device | None, what: str = "device") -> None:
    """Raise ValueError, naming those that are here, for a device that is unknown or not here."""
    if device is None:
        return
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": torch.backends.mps.is_available()}
    here = [kind for kind, count in counts.items() if count]
    try:
        asked = torch.device("cuda", device) if type(device) is int else torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(f"{what} {device!r} is no device; here are {', '.join(here)}") from None
    if (asked.index or 0) >= int(counts.get(asked.type, 0)):
        known = f"{counts['cuda']} of cuda" if asked.type == "cuda" and counts["cuda"] else "none"
        raise ValueError(
            f"{what} {device} is not here ({known}); expected {' or '.join(here)}, or leave it "
            "out for the best one"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that memory ran out, on a GPU or on the processor."""
    # The processor's allocator raises a plain RuntimeError.
    words = "not enough memory|can't allocate memory|CUDA error: out of memory|CUBLAS_STATUS_ALLOC"
    known = isinstance(error, torch.OutOfMemoryError | MemoryError)
    return known or re.search(words, str(error)) is not None


def _need(package: str, what: str) -> None:
    if find_spec(package) is None:
        raise ImportError(
            f"{what} needs the package {package}, which is not installed: pip install {package}, "
            "or pip install -e '.[gpu]' in a clone of this project."
        )

"""How checkpoints are loaded. Which families there are, `adapters` says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from sci_core.families import named, precision
from sci_core.families.adapters import FAMILIES
from sci_core.families.base import VisionLanguageModel
from sci_core.families.files import (
    AGAIN,
    download_hint,
    find_file,
    first_line,
    hub_settings,
    read_object,
)
from sci_core.families.parts import load_image_processor, load_tokenizer
from sci_core.families.releases import check_releases

_INDEX = ".safetensors.index.json"


def load_model(
    name_or_path: str | Path,
    *,
    dtype: str = "float32",
    device: str | torch.device | None = None,
    attn_implementation: str = "sdpa",
    quantization: str | None = None,
    device_map: precision.DeviceMap | None = None,
    trust_remote_code: bool = False,
    revision: str | None = None,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
) -> VisionLanguageModel:
    """Load a checkpoint of a supported family from a local folder or by its hub id.

    Args:
        name_or_path: a folder in the Hugging Face layout, or a hub id. Of a hub id, what is in the
            hub's cache is read; more is downloaded only where the environment says
            HF_HUB_OFFLINE=0.
        dtype: "float32", "float64", "bfloat16" or "float16"; or "auto", the checkpoint's own.
        device: where to put the model; a GPU if there is one, otherwise the CPU.
        attn_implementation: "sdpa" or "eager"; or "flash_attention_2", for the vision tower alone
            (see `precision.attention_settings`).
        quantization: "nf4" or "int8", of the linear layers, through bitsandbytes; `dtype` is then
            that of the rest, and answers depend on the batch (see
            `precision.quantization_settings`).
        device_map: instead of `device`, a place for each part of the model, or "auto", through
            accelerate.
        trust_remote_code: run code that ships with the checkpoint, which is refused otherwise.
        revision: branch, tag or commit of a hub id.
        min_pixels, max_pixels: between which pictures are resized, in place of the checkpoint's
            own limits, in families whose tokens follow pixels (Qwen2-VL, 2.5, 3).

    Raises:
        FileNotFoundError: no such folder or hub id, or a part of the checkpoint is missing.
        ValueError: an unknown family, dtype, attention or quantization, code of the checkpoint's
            own, weights that do not fit the configuration, or pixel limits that are none.
        ImportError: quantization or a device map without the package it needs, or a release of
            transformers or torch older than any that answers rightly.
    """
    reload = partial(load_model, **locals())  # the same call, for another process
    check_releases()
    named.check_choice("dtype", dtype, ("auto", *precision.DTYPES))
    to, mapped = precision.placement(device, device_map, quantization is not None)
    name = str(name_or_path)
    local = Path(name).is_dir()
    if local and revision is not None:
        raise ValueError(
            f"revision={revision!r} of {name}, which is a folder; it is for hub ids: leave it out."
        )
    config = check_checkpoint(name, trust_remote_code=trust_remote_code, revision=revision)
    source = {"trust_remote_code": trust_remote_code, "revision": revision} | hub_settings(name)
    limits = _pixel_limits(name, config["model_type"], min_pixels, max_pixels)
    dtype = precision.own_dtype(config) if dtype == "auto" else dtype
    settings = {
        "attn_implementation": precision.attention_settings(
            attn_implementation, dtype, torch.cuda.is_available() and str(device) != "cpu"
        ),
        **precision.quantization_settings(quantization, dtype),
        **({} if mapped is None else {"device_map": mapped}),
    }

    tokenizer = load_tokenizer(name, **source)
    image_processor = load_image_processor(name, **limits, **source)
    if limits and image_processor.size["shortest_edge"] > image_processor.size["longest_edge"]:
        (limit, value), *_ = limits.items()
        raise ValueError(
            f"{limit}={value} for {name}, whose pictures then have at least "
            f"{image_processor.size['shortest_edge']} and at most "
            f"{image_processor.size['longest_edge']} pixels; give both limits."
        )

    hf = _weights(name, local, dtype=dtype, **settings, **source)
    precision.check_blocks(name, hf)
    hf = hf if to is None else hf.to(to)
    hf = hf.eval().requires_grad_(False)
    model = adapt(hf, tokenizer, image_processor, name=name, reload=reload)
    model.pixel_limits = limits
    model.generation.check(name)
    if not any(end < model.vocab_size for end in model.eos_token_ids):
        raise ValueError(
            f"No token of {name} ends an answer, so each would run on: eos_token_id is "
            f"{hf.generation_config.eos_token_id} in generation_config.json or config.json, and "
            f"there are {model.vocab_size:,} tokens. Put the published file there."
        )
    precision.warn_of_emulation(model)
    return model


def without_weights(name: str, source: Mapping[str, Any]) -> Any:
    """Build the transformers model of a checkpoint with its generation settings and no memory.

    `source` is as transformers takes it: revision, trust_remote_code and the like.

    Raises as `check_checkpoint`.
    """
    import transformers

    revision, trusted = source.get("revision"), source.get("trust_remote_code", False)
    check_checkpoint(name, trust_remote_code=trusted, revision=revision)
    config = transformers.AutoConfig.from_pretrained(name, **source)
    with torch.device("meta"):
        hf = transformers.AutoModelForImageTextToText.from_config(config)
    if find_file(name, "generation_config.json", revision) is not None:
        hf.generation_config = transformers.GenerationConfig.from_pretrained(name, **source)
    return hf


def _pixel_limits(name: str, family: str, least: int | None, most: int | None) -> dict[str, int]:
    """Return the limits that were asked for, by the name that an image processor takes."""
    asked = {"min_pixels": least, "max_pixels": most}
    limits = {limit: value for limit, value in asked.items() if value is not None}
    said = " and ".join(f"{limit}={value!r}" for limit, value in limits.items())
    if limits and not FAMILIES[family].resizes_once:
        follow = ", ".join(key for key, each in FAMILIES.items() if each.resizes_once)
        raise ValueError(
            f"{said} for {name}, which is of the family {family}: its pictures are cut into tiles "
            f"or squares of one size. Pixel limits are for {follow}; leave them out."
        )
    wrong = [value for value in limits.values() if type(value) is not int or value < 1]
    if wrong or (len(limits) == 2 and limits["min_pixels"] > limits["max_pixels"]):
        raise ValueError(
            f"{said} for {name}; expected whole numbers of pixels from 1 up, the smaller first."
        )
    return limits


def adapt(
    hf: Any,
    tokenizer: Any,
    image_processor: Any,
    *,
    chat_template: str | Mapping[str, str] | None = None,
    name: str | None = None,
    reload: partial | None = None,
) -> VisionLanguageModel:
    """Wrap a transformers model that is in memory; it is used as it is.

    Args:
        chat_template: instead of the tokenizer's own; of several by name, the default.
        name: what to call it; by default the name it was loaded by.
        reload: makes the same model in another process.

    Raises ValueError for an unknown family, or attention that the engine's masks do not fit.
    Raises ImportError as `load_model` does for old releases.
    """
    check_releases()
    name = name or getattr(hf.config, "name_or_path", "") or type(hf).__name__
    _check_family(name, hf.config.model_type)
    precision.check_places(name, hf)
    precision.check_masks(hf.config.get_text_config()._attn_implementation)
    precision.check_attention(name, hf.config.get_text_config(), hf.get_decoder())
    family = FAMILIES[hf.config.model_type]
    return family(name, hf, tokenizer, image_processor, chat_template, reload)


def _check_family(name: str, family: Any) -> None:
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(
            f"{name} is of the family {family!r}; supported are {', '.join(sorted(FAMILIES))}."
        )


def check_checkpoint(
    name: str, *, trust_remote_code: bool, revision: str | None
) -> Mapping[str, Any]:
    """Return what config.json says; refuse what is no safe checkpoint of a known family."""
    _check_place(name, revision)
    config = read_object(name, "config.json", revision) or {}
    _check_family(name, config.get("model_type"))
    if Path(name).is_dir() and not list(Path(name).glob("*.safetensors")):
        raise FileNotFoundError(
            f"{name} holds no *.safetensors file. Weights are loaded from safetensors only, since "
            "pickled files (*.bin, *.pt, *.pth) can run code; convert them with `save_pretrained`."
        )
    _check_weight_files(name, config.get("transformers_weights"), revision)
    # transformers takes a damaged one for none, and answers then have no end.
    read_object(name, "generation_config.json", revision)
    if not trust_remote_code:
        _check_no_code(name, revision)
    return config


def _check_place(name: str, revision: str | None) -> None:
    """Refuse what has no config.json, and a LoRA and its like, which needs none.

    transformers passes over an adapter where peft is not installed.
    """
    folder = Path(name).is_dir()
    if named.is_path(name) and not folder:
        raise named.no_folder(name)
    try:
        adapter = find_file(name, "adapter_config.json", revision)
        config = find_file(name, "config.json", revision)
        reason = download_hint(name)
    except (OSError, ValueError) as error:
        adapter = config = None
        reason = download_hint(name) or f" The hub says: {first_line(error)}"
    if adapter is not None:
        raise ValueError(
            f"{name} holds an adapter (adapter_config.json), which is not applied. Merge it into "
            "its base model (peft: `merge_and_unload`, then `save_pretrained`) and load that; or, "
            "to load the base model in the same folder, take the adapter's files away."
        )
    if config is None and folder:
        raise FileNotFoundError(
            f"The folder {name} is no checkpoint: it holds no config.json. Expected a folder "
            "written by `save_pretrained`, or a hub id."
        )
    if config is None and named.may_be_path(name):
        raise named.no_folder(name)
    if config is None:
        raise FileNotFoundError(
            f"No model {name!r}: it is neither a local folder nor a hub id that can be reached. "
            f"Check the name.{reason}"
        )


def _check_weight_files(name: str, listed: Any, revision: str | None) -> None:
    """Refuse an index that leads out of the checkpoint, or to what is no safetensors file.

    transformers reads whatever an index names, pickles included. `listed` is the file that
    config.json names instead of the usual one, if it does.
    """
    if listed is not None:
        _check_weight_file(listed, f"config.json of {name} has its weights", ".safetensors", _INDEX)
    if Path(name).is_dir():
        files = [path.name for path in sorted(Path(name).glob(f"*{_INDEX}"))]
    else:
        files = [f"model{_INDEX}", *([listed] if str(listed).endswith(_INDEX) else [])]
    for file in files:
        index = read_object(name, file, revision)
        if index is None:
            continue
        weights = index.get("weight_map")
        if not isinstance(weights, dict) or not isinstance(index.get("metadata"), dict):
            raise FileNotFoundError(
                f"{file} of {name} is no index of weights; expected an object with the objects "
                f"metadata and weight_map. {AGAIN}"
            )
        for tensor, place in weights.items():
            _check_weight_file(place, f"{file} of {name} has {tensor}", ".safetensors")


def _check_weight_file(place: Any, what: str, *endings: str) -> None:
    known = isinstance(place, str) and place.endswith(endings) and not set(place) & set("/\\\0:")
    if not known:
        raise ValueError(
            f"{what} in {place!r}; expected the name of a *{' or *'.join(endings)} file beside it. "
            "Weights are loaded from safetensors only, since pickled files can run code; convert "
            "them with `save_pretrained`, or get the checkpoint from elsewhere."
        )


def _check_no_code(name: str, revision: str | None) -> None:
    """Refuse a checkpoint whose files name Python code of its own."""
    for part in ("", "tokenizer_", "preprocessor_", "processor_"):
        file = f"{part}config.json"
        settings = read_object(name, file, revision) or {}
        if "auto_map" in settings:
            code = settings["auto_map"]
            code = code if isinstance(code, dict | list) else [code]
            raise ValueError(
                f"{name} brings Python code of its own ({file} names "
                f"{', '.join(sorted(map(str, code)))} in auto_map), which is not "
                "run. Use a checkpoint without; or, if you trust its author, load it with "
                "trust_remote_code=True."
            )


@contextmanager
def without_bars() -> Iterator[None]:
    """Show no progress bar of transformers: a local checkpoint is read within a second."""
    import transformers

    bars = transformers.utils.logging
    bars_were_on = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if bars_were_on:
            bars.enable_progress_bar()


def _weights(name: str, local: bool, **settings: Any) -> Any:
    import transformers

    try:
        with without_bars() if local else nullcontext():  # a download keeps its bar
            hf, report = transformers.AutoModelForImageTextToText.from_pretrained(
                name, use_safetensors=True, output_loading_info=True, **settings
            )
    except (OSError, SafetensorError) as error:
        raise FileNotFoundError(
            f"The weights of {name} cannot be read as safetensors ({first_line(error)})."
            f"{download_hint(name) or ' ' + AGAIN}"
        ) from error
    # transformers only warns, and fills the gap with random numbers
    wrong = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if wrong:
        raise ValueError(
            f"The weights of {name} do not fit its config.json: {len(wrong)} tensors are missing "
            f"or of another shape, such as {wrong[0]}."
        )
    return hf

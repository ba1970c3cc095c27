"""The models this book names: `data_manifests/models/`, one file each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS

MODELS = MANIFESTS / "models"


def model_entry(name: str) -> dict:
    """What is known of a model, by its manifest's name, its path or its hub id.

    Keys: `name`; `load`, what `load_model` takes; `family`; `label`, the model's name in the
    paper's tables, None if it has no such model; `title`, its name on pages, the label by default;
    `pocket`, whether it is one of this project's own; `trainings`, a pattern of what its further
    trainings are called; `colour`, its place among the colours of figures; `dtype`, `licence`;
    `pixel_limits`, those that the paper's data are read at.

    Raises:
        ValueError: for a model without a manifest; the message lists those with one.
    """
    entries = {}
    for path in sorted(MODELS.glob("*.yaml")):
        entry = read_yaml(path)
        entries[path.stem] = {"title": entry["label"], **entry, "name": path.stem}
    for entry in entries.values():
        if _is_called(entry, name):
            return entry
    raise ValueError(
        f"There is no manifest for the model {name!r}; expected one of {', '.join(entries)}, or "
        "add one to data_manifests/models."
    )


def model_name(name_or_path: str) -> str:
    """A model's name in records and file names: the last part of its path or hub id.

    A snapshot in a hub's cache, whose folder is called by a commit, has its repository's name, and
    a link the name of what it leads to, if that is such a snapshot or has a manifest.
    """
    path = leads_to = name_or_path
    if os.path.isdir(name_or_path):
        path, leads_to = os.path.abspath(name_or_path), os.path.realpath(name_or_path)
    with suppress(ValueError):  # no manifest
        model_entry(leads_to)
        path = leads_to
    return Path(_hub_id(leads_to) or path).name


def is_training_of(model: str, name: str) -> bool:
    """Whether a checkpoint is the model of a name, or a further training of it by its manifest."""
    made = model_name(model)
    try:
        return made == name or fnmatch(made, model_entry(name).get("trainings", ""))
    except ValueError:  # no manifest
        return False


def _hub_id(path: str) -> str | None:
    """The hub id of a snapshot in a hub's cache; None for any other path."""
    *_, repository, folder, _ = ("", "", "", *Path(path).parts)
    _, *owner_and_name = repository.split("--", 2)
    called_so = repository.startswith("models--") and len(owner_and_name) == 2
    return "/".join(owner_and_name) if called_so and folder == "snapshots" else None


def _is_called(entry: dict, name: str) -> bool:
    """Whether a name or path means the model of a manifest; hubs and file systems mix the case.

    A hub id means it with its owner alone: others publish models under the same last name.
    """
    given = os.path.realpath(name) if os.path.isdir(name) else name
    hub_id = _hub_id(given) or (None if os.path.isdir(name) or name.count("/") != 1 else name)
    if hub_id and not entry["pocket"]:
        return hub_id.lower() == entry["load"].lower()
    lasts = {Path(path).name.lower() for path in (name, given)}
    return bool(lasts & {entry["name"].lower(), Path(entry["load"]).name.lower()})


def how_to_load(model: str, data: str, **asked: Any) -> dict[str, Any]:
    """What `load_model` takes of dtype and pixel limits, where somebody did not ask otherwise.

    A model with a manifest has that one's dtype, and on the paper's data sets the pixel limits that
    the paper's own runs had. Any other has its own limits, and no dtype here (`settled`).

    Args:
        data: a data set's name.
        asked: `dtype`, `min_pixels`, `max_pixels`; None where nobody asked.
    """
    try:
        known = model_entry(model)
    except ValueError:
        known = {"dtype": None}
    limits = known.get("pixel_limits", {}) if dataset_name(data) in papers_data() else {}
    usual = {"dtype": known["dtype"], **limits}
    return {**usual, **{name: value for name, value in asked.items() if value is not None}}


def settled(how: dict[str, Any]) -> dict[str, Any]:
    """The same with a dtype: where none is known the checkpoint's on a GPU, else float32.

    Apart from `how_to_load`, since to look for a GPU takes as long as to read a finished run.
    """
    import torch

    usual = "auto" if torch.cuda.is_available() else "float32"
    return {**how, "dtype": how["dtype"] or usual}


def dataset_name(given: str) -> str:
    """The name of a data set, which may be typed in any case and with hyphens."""
    return given.strip().lower().replace("-", "_")


def papers_data() -> tuple[str, ...]:
    """The paper's six data sets, alone and together."""
    return ("paper", *read_yaml(MANIFESTS / "datasets" / "paper.yaml")["parts"])


def said_of_loading(model: str, how: Mapping[str, Any]) -> str:
    """A model and how it is loaded and asked, in a line."""
    return f"{model}: {loading_in_words(how)}, greedy"


def loading_in_words(how: Mapping[str, Any]) -> str:
    """Precision and pixel limits, as `settled` gives them."""
    limits = [f"{how[name]:,}" for name in ("min_pixels", "max_pixels") if name in how]
    if len(limits) == 2:
        return f"{how['dtype']}, pictures of {' to '.join(limits)} pixels"
    if limits:
        bound = "most" if "max_pixels" in how else "least"
        return f"{how['dtype']}, pictures of at {bound} {limits[0]} pixels"
    return str(how["dtype"])

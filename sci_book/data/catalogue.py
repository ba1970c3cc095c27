"""The models this book names: `data_manifests/models/`, one file each."""

from __future__ import annotations

from pathlib import Path

from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS

MODELS = MANIFESTS / "models"


def model_entry(name: str) -> dict:
    """What is known of a model, by its manifest's name, its path or its hub id.

    Keys: `name`; `load`, what `load_model` takes; `family`; `label`, the model's name in the
    paper's tables, None if it has no such model; `title`, its name on pages, the label by default;
    `pocket`, whether it is one of this project's own; `colour`, its place among the colours of
    figures; `dtype`, `licence`.

    Raises:
        ValueError: for a model without a manifest; the message lists those with one.
    """
    entries = {}
    for path in sorted(MODELS.glob("*.yaml")):
        entry = read_yaml(path)
        entries[path.stem] = {"title": entry["label"], **entry, "name": path.stem}
    for entry in entries.values():
        if name in (entry["name"], entry["load"]) or Path(name).name == entry["name"]:
            return entry
    raise ValueError(
        f"There is no manifest for the model {name!r}; expected one of {', '.join(entries)}, or "
        "add one to data_manifests/models."
    )

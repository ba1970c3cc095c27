"""Whether records were made with the presets and prompts of today.

Their stamp holds every constant of every method that was decoded: a preset or a prompt that changed
afterwards would leave them standing under a name that means something else by now.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sci_book.data.datasets import Dataset
from sci_book.data.prompts import build_prompt, templates_digest
from sci_book.data.rewordings import reword
from sci_book.files import json_text
from sci_book.results.records import Records, RecordsError, read_stamp
from sci_book.run.method_sets import ALL_METHODS

REMEDY = (
    'If that is meant, make the records anew (REPRODUCING.md, "Making the frozen parts anew"); '
    "if not, take the change back"
)


def changed_presets(stamp: Mapping[str, Any]) -> list[str]:
    """The presets and prompt templates that differ between a stamp and today, each in words."""
    today = {preset.name: preset for preset in ALL_METHODS}
    changed = []
    for recorded in stamp["methods"]:
        if recorded["name"] not in today:
            continue
        current = json.loads(json_text(asdict(today[recorded["name"]])))  # tuples become lists
        differing = [key for key in recorded if recorded[key] != current.get(key)]
        if differing:
            values = (f"{key} was {recorded[key]}, is {current.get(key)}" for key in differing)
            changed.append(f"another {recorded['name']} ({', '.join(values)})")
    if stamp["prompts"] != templates_digest():
        changed.append("other prompt templates (data_manifests/prompts.yaml)")
    return changed


def preset_failures(files: Iterable[Path], root: Path) -> list[str]:
    """A sentence for each preset that differs between today and any of these files of records."""
    made_with: dict[str, list[str]] = defaultdict(list)
    for file in files:
        for change in changed_presets(read_stamp(file)):
            made_with[change].append(file.relative_to(root).as_posix())
    return [
        f"{_listed(names)} {'was' if len(names) == 1 else 'were'} made with {change}. {REMEDY}"
        for change, names in made_with.items()
    ]


def check_prompts(records: Records, dataset: Dataset) -> None:
    """Refuse records whose rows were asked in other words than today's.

    Raises:
        RecordsError: naming the first row whose prompt or rewritten prompts differ.
    """
    hashes = records.frame[["dataset", "index", "prompt_hash", "error"]].itertuples(index=False)
    recorded = {(row[0], row[1]): row[2] for row in hashes if not isinstance(row[3], str)}
    for row in dataset:
        known = recorded.get((row.dataset, row.index))
        prompt = build_prompt(row, records.stamp["family"])
        texts = reword(row, prompt, records.rounds).texts
        if known is not None and known != prompt_hash((prompt, *texts.values())):
            raise RecordsError(
                f"The frozen records of {records.stamp['model']} were made with other prompts: "
                f"{row.where} is asked {prompt!r} today, or is reworded otherwise than it was. "
                f"{REMEDY}."
            )


def prompt_hash(prompts: Sequence[str]) -> str:
    """12 hex digits of the SHA-256 over a row's prompt and its rewrites, as records hold it."""
    return hashlib.sha256("\0".join(prompts).encode()).hexdigest()[:12]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} files of records, {names[0]} the first,"

"""Whether a run is finished, told at once: by its command and by the files that it reads.

A finished run notes, beside its stamp, what was asked for and how long and how old each file was:
while none of that changes, the stamp, which takes longer to make, would come out the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sci_book.data.answers.rules import RULES
from sci_book.data.datasets import file_of, joined_file_of, manifest_path, read_manifest
from sci_book.data.manifests import Manifest
from sci_book.data.prompts import SHARED, TEMPLATES
from sci_book.files import json_text, write_whole
from sci_book.results.records import Records, read_records, shard_files, shards_of
from sci_book.results.stamps import RecordsError, covers
from sci_core.images import PICTURE_RULES

NOTE = "finished.json"


def what_is_asked(
    model: str, data: str, settings: Mapping[str, Any], revision: str | None = None
) -> dict[str, Any] | None:
    """The note of a run: settings, rules, size and time of its files; None if unknown.

    Args:
        settings: among them `methods` and `rounds`, each a list; a finished run of more answers
            these.

    Raises:
        DatasetError: for an unknown data set.
    """
    names = [data, *getattr(read_manifest(data), "parts", ())]
    manifests = {name: read_manifest(name) for name in names}
    single = {name: entry for name, entry in manifests.items() if isinstance(entry, Manifest)}
    # A twin says no more than where it differs from the set it is a twin of.
    names += [manifest.twin_of for manifest in single.values() if manifest.twin_of]
    files = [TEMPLATES, SHARED, *map(manifest_path, names)]
    for name, manifest in single.items():
        files += filter(None, (file_of(manifest, name), joined_file_of(manifest, name)))
    weights = checkpoint_files(model, revision)
    # Pictures in files of their own may be too many to look at, each.
    known = all(manifest.pictures != "files" for manifest in single.values())
    if weights is None or not known or not all(file.is_file() for file in files):
        return None
    rules = [*map(str, RULES.values()), f"pictures {PICTURE_RULES}"]
    states = _states(files) | weights
    return json.loads(
        json_text({"settings": {"data": data, **settings}, "rules": rules, "files": states})
    )


def finished_records(out: Path, asked: Mapping[str, Any] | None) -> Records | None:
    """The records in `out`, if a run that was asked for the same or more has ended there.

    None otherwise, and where a shard was lost or damaged since, or the note: the run is then gone
    through again, which evaluates what is missing.
    """
    note = out / NOTE
    if asked is None or not note.is_file():
        return None
    try:
        noted = json.loads(note.read_bytes())
        rest = [{**side, "settings": None} for side in (noted, asked)]
        enough = rest[0] == rest[1] and covers(noted["settings"], asked["settings"])
    except (ValueError, KeyError, TypeError):
        enough = False
    shards = len(shard_files(out))
    if not (enough and shards and shards == shards_of(out)):
        return None
    try:
        return read_records(out)
    except RecordsError:
        return None


def note_finished(out: Path, asked: Mapping[str, Any] | None, stamp: Mapping[str, Any]) -> None:
    """Note beside a finished run what was asked for, and the methods and rounds that it has."""
    if asked is not None:
        more = {name: stamp[name] for name in ("methods", "rounds")}
        noted = {**asked, "settings": {**asked["settings"], **more}}
        write_whole(out / NOTE, json_text(noted, indent=1).encode())


def checkpoint_files(model: str, revision: str | None = None) -> dict[str, list[int]] | None:
    """Size and time of every file of a checkpoint; None if it is neither here nor in the cache."""
    folder = _folder_of(model, revision)
    return folder and _states(sorted(file for file in folder.iterdir() if file.is_file()))


def _states(files: Iterable[Path]) -> dict[str, list[int]]:
    return {str(file): [file.stat().st_size, file.stat().st_mtime_ns] for file in files}


def _folder_of(model: str, revision: str | None) -> Path | None:
    """Where a checkpoint lies: its folder, or the hub's, whose name is the commit."""
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        cached = try_to_load_from_cache(model, "config.json", revision=revision)
    except HFValidationError:  # no name of a model; loading it will say so
        return None
    return Path(cached).parent if isinstance(cached, str) else None

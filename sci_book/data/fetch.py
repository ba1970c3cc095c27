"""Get the file of a data set: over the network once, from a mirror, or from the hub.

A transfer goes into `NAME.part` beside the final name, is verified there (size and checksum of the
manifest) and only then renamed. One that broke goes on where it stopped, also in a later call.
Files on the hub go through `huggingface_hub`, which does all of it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from sci_book.data.datasets import file_checksum, file_of, read_manifest
from sci_book.data.download import (
    BY_HAND,
    CHUNK,
    FetchError,
    check_room,
    discard,
    download,
    progress_bar,
    validator_file,
    write_chunk,
)
from sci_book.data.manifests import Collection, Manifest

_HUB = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([\w.-]+))?/(.+)")


class Fetched(NamedTuple):
    """A file that is there. `verified` is the kind of checksum it agrees with, or None."""

    path: Path
    was_here: bool
    verified: str | None


def fetch(name: str, source: str | Path | None = None) -> Fetched:
    """Put the file of a data set where `load_dataset` expects it; nothing if it is there already.

    Args:
        name: a data set, as in `load_dataset`; no collection.
        source: the file itself, or a folder that holds it, instead of the manifest's address.

    Raises:
        FetchError: with one sentence. What came so far is kept in `NAME.part` and used by the next
            call, except where it is wrong.
    """
    manifest = read_manifest(name)
    if isinstance(manifest, Collection):
        raise FetchError(f"{name} is several data sets; fetch {', '.join(manifest.parts)}.")
    if manifest.twin_of:
        raise FetchError(f"{manifest.name} is not fetched but drawn here: `sci data make`.")
    target = file_of(manifest, name)
    if target.is_file():
        _verify(target, manifest, "Move it away and fetch again, or correct the manifest.")
        return Fetched(target, True, _kind(manifest))
    origin = None if source is None else _origin(Path(source), manifest)
    part = target.with_name(target.name + ".part")
    with _locked(target):
        if origin is not None:
            _copy(origin, part)
        elif manifest.address.startswith("hf://"):
            _copy(_from_hub(manifest.address), part)
        elif manifest.address:
            download(manifest, part)
        else:
            raise FetchError(f"{manifest.name} has no address to fetch from; give --from PATH.")
        try:
            _verify(part, manifest, "It was removed; fetch again.")
        except FetchError:
            discard(part)
            raise
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(part, target)
        validator_file(part).unlink(missing_ok=True)
    return Fetched(target, False, _kind(manifest))


def _origin(source: Path, manifest: Manifest) -> Path:
    names = [source / manifest.file, source / Path(manifest.file).name]
    candidates = names if source.is_dir() else [source]
    origin = next((path for path in candidates if path.is_file()), None)
    if origin is None:
        raise FetchError(
            f"{source} is neither a file nor a folder that holds {names[-1].name}; expected the "
            f"file of {manifest.name}."
        )
    return origin


def _copy(origin: Path, part: Path) -> None:
    discard(part)
    size = origin.stat().st_size
    check_room(part, size)
    with (
        origin.open("rb") as reading,
        part.open("wb", buffering=0) as writing,
        progress_bar(part, size, 0) as bar,
    ):
        while chunk := reading.read(CHUNK):
            write_chunk(writing, chunk, part)
            bar.update(len(chunk))


def _from_hub(address: str) -> Path:
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HFValidationError

    match = _HUB.fullmatch(address)
    if not match:
        raise FetchError(f"{address} is no hub file; expected hf://datasets/OWNER/NAME/FILE.")
    repository, revision, file = match.groups()
    try:
        return Path(hf_hub_download(repository, file, repo_type="dataset", revision=revision))
    except (OSError, HFValidationError) as error:
        if constants.HF_HUB_OFFLINE:
            raise FetchError(
                f"{address} is on the hub, which is asked only if you allow it: set "
                "HF_HUB_OFFLINE=0 for this command, or give the file with --from."
            ) from error
        said = " ".join(str(error).split())
        raise FetchError(f"{address} does not come from the hub ({said}); {BY_HAND}.") from error


def _verify(path: Path, manifest: Manifest, remedy: str) -> None:
    size = path.stat().st_size
    if manifest.size not in (None, size):
        raise FetchError(
            f"{path} has {size:,} bytes; {manifest.name} has {manifest.size:,}. {remedy}"
        )
    if known := manifest.known_checksum:
        kind, expected = known
        actual = file_checksum(path, kind)
        if actual != expected:
            raise FetchError(
                f"{path} has the {kind} checksum {actual}; {manifest.name} has {expected}. {remedy}"
            )


def _kind(manifest: Manifest) -> str | None:
    return manifest.known_checksum[0] if manifest.known_checksum else None


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """The only fetch of this file at this time."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{target.name}.lock"), timeout=0):
            yield
    except Timeout as error:
        raise FetchError(f"Another fetch of {target} is at work; wait for it.") from error

"""Get the file of a data set: over the network once, from a mirror, or from the hub.

A transfer goes into `NAME.part` beside the final name, is verified there (size and checksum of the
manifest) and only then renamed, so that the final name is absent or right. A transfer that broke
goes on where it stopped (`Range` with `If-Range`), in the same call or a later one.

Redirects are followed by hand, at most five. From https to http is refused. To another host is
followed only where the manifest knows the checksum: then it does not matter who sends the bytes. No
login is ever sent (`~/.netrc` is not read), and addresses are shown without their query, which may
hold a signature.

`pooch`, which keeps such files well, verifies and renames as this does, but its HTTP downloader
always begins at the first byte; on files of hundreds of megabytes that break off, going on is the
point. So this stands on `requests` alone. Files on the hub go through `huggingface_hub`, which has
all of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from filelock import FileLock, Timeout
from tqdm import tqdm

from sci_book.data.datasets import file_checksum, file_of, read_manifest
from sci_book.data.manifests import Collection, Manifest
from sci_book.data.rows import DatasetError

CONNECT_SECONDS, SILENT_SECONDS = 10.0, 30.0
"""A server that does not accept, or sends nothing, for so long is given up for this attempt."""
SLOWEST = 1024
"""Bytes a second; a connection below it for `SILENT_SECONDS` is given up for this attempt."""
ATTEMPTS = 5
"""So many attempts in a row may bring less than `ENOUGH` new bytes."""
ENOUGH = 2**20
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
MOST_REDIRECTS = 5
MOST_BYTES = 2**36
CHUNK = 2**18

_HUB = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([\w.-]+))?/(.+)")
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)")
_BY_HAND = "download the file by other means and give it with --from"


class FetchError(DatasetError):
    """A data set's file could not be fetched, or is not the one its manifest describes."""


class Fetched(NamedTuple):
    """A file that is there. `verified` is the kind of checksum it agrees with, or None."""

    path: Path
    was_here: bool
    verified: str | None


class _Broken(Exception):
    """This attempt failed, the next may not; `pause` is what the server asked to wait."""

    def __init__(self, what: str, pause: float = 0.0):
        super().__init__(what)
        self.pause = pause


def fetch(name: str, source: str | Path | None = None) -> Fetched:
    """Put the file of a data set where `load_dataset` expects it; nothing if it is there already.

    Parameters
    ----------
    name : a data set, as in `load_dataset`; no collection.
    source : the file itself, or a folder that holds it, instead of the manifest's address.

    Raises
    ------
    FetchError : with one sentence. What came so far is kept in `NAME.part` and used by the next
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
            _download(manifest, part)
        else:
            raise FetchError(f"{manifest.name} has no address to fetch from; give --from PATH.")
        try:
            _verify(part, manifest, "It was removed; fetch again.")
        except FetchError:
            _discard(part)
            raise
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(part, target)
        _validator(part).unlink(missing_ok=True)
    return Fetched(target, False, _kind(manifest))


# --- where it comes from ------------------------------------------------------------------------


def _origin(source: Path, manifest: Manifest) -> Path:
    names = [source / manifest.file, source / Path(manifest.file).name]
    candidates = names if source.is_dir() else [source]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise FetchError(
            f"{source} is neither a file nor a folder that holds {names[-1].name}; expected the "
            f"file of {manifest.name}."
        )
    return found


def _copy(origin: Path, part: Path) -> None:
    _discard(part)
    size = origin.stat().st_size
    _check_room(part, size)
    with (
        origin.open("rb") as reading,
        part.open("wb", buffering=0) as writing,
        _bar(part, size, 0) as bar,
    ):
        while chunk := reading.read(CHUNK):
            _write(writing, chunk, part)
            bar.update(len(chunk))


def _from_hub(address: str) -> Path:
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HFValidationError

    found = _HUB.fullmatch(address)
    if not found:
        raise FetchError(f"{address} is no hub file; expected hf://datasets/OWNER/NAME/FILE.")
    repository, revision, file = found.groups()
    try:
        return Path(hf_hub_download(repository, file, repo_type="dataset", revision=revision))
    except (OSError, HFValidationError) as error:
        if constants.HF_HUB_OFFLINE:
            raise FetchError(
                f"{address} is on the hub, which is asked only if you allow it: set "
                "HF_HUB_OFFLINE=0 for this command, or give the file with --from."
            ) from error
        said = " ".join(str(error).split())
        raise FetchError(f"{address} does not come from the hub ({said}); {_BY_HAND}.") from error


# --- download -----------------------------------------------------------------------------------


def _download(manifest: Manifest, part: Path) -> None:
    """Bring `part` to its full length, over as many attempts as that takes."""
    attempts = 0
    with requests.Session() as session:
        while True:
            before = _length(part)
            try:
                _transfer(session, manifest, part)
                return
            except _Broken as error:
                gained = _length(part) - before
                attempts = 1 if gained >= ENOUGH else attempts + 1
                if attempts >= ATTEMPTS:
                    raise FetchError(
                        f"{_shown(manifest.address)} was given up after {ATTEMPTS} attempts in a "
                        f"row ({error}). {_length(part):,} bytes are kept; fetch again to go on, "
                        f"or {_BY_HAND}."
                    ) from error
                time.sleep(min(max(error.pause, FIRST_PAUSE * 2 ** (attempts - 1)), LONGEST_PAUSE))


def _transfer(session: requests.Session, manifest: Manifest, part: Path) -> None:
    """One attempt: ask for what is missing, and append it."""
    validator = _validator(part)
    # Without a validator nothing says that the rest would be of the same file.
    have = _length(part) if validator.is_file() else 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "sci-core"}
    if have:
        asked = validator.read_text(encoding="utf-8")
        headers |= {"Range": f"bytes={have}-", "If-Range": asked}
    with contextlib.closing(_open(session, manifest, headers)) as response:
        start, total = _what_comes(response, manifest, have)
        if start == 0:
            _discard(part)
        elif start != have or (total is not None and total < have):
            _discard(part)
            raise _Broken("the server sent another range than asked for")
        if manifest.size not in (None, total) and total is not None:
            _discard(part)
            raise FetchError(
                f"{_shown(manifest.address)} has {total:,} bytes; {manifest.name} has "
                f"{manifest.size:,}. The file there is of another version; {_BY_HAND}."
            )
        if start == total:
            return
        _check_room(part, (total or 0) - start)
        if start == 0 and (mark := _strong_mark(response)):
            validator.write_text(mark, encoding="utf-8")
        with part.open("ab", buffering=0) as file, _bar(part, total, start) as bar:
            for chunk in _chunks(response):
                _write(file, chunk, part)
                bar.update(len(chunk))
                if file.tell() > (total or manifest.size or MOST_BYTES):
                    _discard(part)
                    raise FetchError(
                        f"{_shown(manifest.address)} sends more bytes than it has; {_BY_HAND}."
                    )
        if total is not None and _length(part) < total:
            raise _Broken(f"the connection ended after {_length(part):,} of {total:,} bytes")


def _what_comes(
    response: requests.Response, manifest: Manifest, have: int
) -> tuple[int, int | None]:
    """The first byte the response brings, and the length of the whole file where it says so."""
    status, shown = response.status_code, _shown(response.url)
    packed = response.headers.get("Content-Encoding", "identity")
    if status in (200, 206) and packed != "identity":
        raise FetchError(f"{shown} sends the file packed ({packed}) though not asked; {_BY_HAND}.")
    if status == 200:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if length.isdecimal() else None
    if status in (206, 416):
        found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if status == 206 and found and found[1]:
            return int(found[1]), int(found[2])
        if status == 416 and found and int(found[2]) == have:
            return have, have  # it was whole already
        return -1, None
    if status in (408, 425, 429) or status >= 500:
        pause = response.headers.get("Retry-After", "")
        raise _Broken(f"the server answers {status}", float(pause) if pause.isdecimal() else 0.0)
    raise FetchError(
        f"{shown} answers {status} {response.reason}; the address of {manifest.name} may have "
        f"changed: {_BY_HAND}."
    )


def _open(
    session: requests.Session, manifest: Manifest, headers: dict[str, str]
) -> requests.Response:
    """The response at the end of the redirects."""
    known = manifest.known_checksum is not None
    address = manifest.address
    if urlsplit(address).scheme != "https" and not known:
        raise FetchError(
            f"{_shown(address)} is not encrypted and the manifest of {manifest.name} knows no "
            f"checksum, so that anyone could change the file; {_BY_HAND}."
        )
    for _ in range(MOST_REDIRECTS + 1):
        try:
            response = session.get(
                address,
                headers=headers,
                stream=True,
                timeout=(CONNECT_SECONDS, SILENT_SECONDS),
                allow_redirects=False,
                auth=_no_login,
            )
        except (requests.exceptions.SSLError, ValueError) as error:  # ValueError: no such address
            raise FetchError(f"{_shown(address)} cannot be asked ({error}); {_BY_HAND}.") from error
        except requests.RequestException as error:
            raise _Broken(_reason(error)) from error
        if not response.is_redirect:
            return response
        response.close()
        onward = urljoin(address, response.headers["Location"])
        here, there = urlsplit(address), urlsplit(onward)
        why = None
        if there.scheme not in ("http", "https") or (here.scheme, there.scheme) == (
            "https", "http"
        ):  # fmt: skip
            why = "is not encrypted"
        elif there.netloc != here.netloc and not known:
            why = f"is another host, and the manifest of {manifest.name} knows no checksum"
        if why:
            raise FetchError(
                f"{_shown(address)} redirects to {_shown(onward)}, which {why}; {_BY_HAND}."
            )
        address = onward
    raise FetchError(
        f"{_shown(manifest.address)} redirects more than {MOST_REDIRECTS} times; {_BY_HAND}."
    )


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """The body as it arrives; `_Broken` where it stops, or hardly moves."""
    began, arrived = time.monotonic(), 0
    while True:
        try:
            chunk = response.raw.read1(CHUNK)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise _Broken(_reason(error)) from error
        if not chunk:
            return
        yield chunk
        arrived += len(chunk)
        if time.monotonic() - began > SILENT_SECONDS:
            if arrived < SLOWEST * SILENT_SECONDS:
                raise _Broken(f"only {arrived:,} bytes came in {SILENT_SECONDS:g} s")
            began, arrived = time.monotonic(), 0


def _no_login(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _strong_mark(response: requests.Response) -> str | None:
    """What `If-Range` accepts: a strong ETag, else the date."""
    tag = response.headers.get("ETag", "W/")
    return response.headers.get("Last-Modified") if tag.startswith("W/") else tag


def _reason(error: Exception) -> str:
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError):
        return "the server sent nothing for too long"
    return f"the connection broke: {type(error).__name__}"


def _shown(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


# --- files --------------------------------------------------------------------------------------


def _verify(path: Path, manifest: Manifest, remedy: str) -> None:
    size = path.stat().st_size
    if manifest.size not in (None, size):
        raise FetchError(
            f"{path} has {size:,} bytes; {manifest.name} has {manifest.size:,}. {remedy}"
        )
    if known := manifest.known_checksum:
        kind, expected = known
        found = file_checksum(path, kind)
        if found != expected:
            raise FetchError(
                f"{path} has the {kind} checksum {found}; {manifest.name} has {expected}. {remedy}"
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


def _validator(part: Path) -> Path:
    return part.with_name(part.name + ".validator")


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _validator(part).unlink(missing_ok=True)


def _check_room(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < needed:
        raise FetchError(
            f"{part.parent} has room for {free:,} bytes, and {needed:,} are to come. Make room."
        )


def _write(file: FileIO, chunk: bytes, part: Path) -> None:
    left = memoryview(chunk)
    try:
        # Unbuffered: nothing is left for closing the file to fail at, over the error raised here.
        while left:
            left = left[file.write(left) :]
    except OSError as error:
        raise FetchError(
            f"{part} cannot be written ({error.strerror}). What came so far is kept; make room "
            "and fetch again."
        ) from error


def _bar(part: Path, total: int | None, start: int) -> tqdm:
    return tqdm(
        total=total,
        initial=start,
        desc=part.name.removesuffix(".part"),
        unit="B",
        unit_scale=True,
        # None: only on a terminal.
        disable=None,
    )

"""Bring a file of a data set over the network, however often the connection breaks.

Redirects are followed by hand, at most five: never from https to http, and to another host only
where the manifest knows the checksum. No login is sent (`~/.netrc` is not read), and addresses are
shown without their query, which may hold a signature. `pooch` would begin a broken transfer at its
first byte again, so this stands on `requests` alone.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from sci_book.data.manifests import Manifest
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

_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)")
BY_HAND = "download the file by other means and give it with --from"


class FetchError(DatasetError):
    """A data set's file could not be fetched, or is not the one its manifest describes."""


class _Broken(Exception):
    """This attempt failed, the next may not; `pause` is what the server asked to wait."""

    def __init__(self, reason: str, pause: float = 0.0):
        super().__init__(reason)
        self.pause = pause


def download(manifest: Manifest, part: Path) -> None:
    """Bring `part` to its full length, over as many attempts as that takes."""
    attempts = 0
    with requests.Session() as session:
        while True:
            before = length_so_far(part)
            try:
                _transfer(session, manifest, part)
                return
            except _Broken as error:
                gained = length_so_far(part) - before
                attempts = 1 if gained >= ENOUGH else attempts + 1
                if attempts >= ATTEMPTS:
                    raise FetchError(
                        f"{_public(manifest.address)} was given up after {ATTEMPTS} attempts in a "
                        f"row ({error}). {length_so_far(part):,} bytes are kept; fetch again to go "
                        f"on, or {BY_HAND}."
                    ) from error
                time.sleep(min(max(error.pause, FIRST_PAUSE * 2 ** (attempts - 1)), LONGEST_PAUSE))


def _transfer(session: requests.Session, manifest: Manifest, part: Path) -> None:
    """One attempt: ask for what is missing, and append it."""
    validator = validator_file(part)
    # Without a validator nothing says that the rest would be of the same file.
    have = length_so_far(part) if validator.is_file() else 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "sci-core"}
    if have:
        asked = validator.read_text(encoding="utf-8")
        headers |= {"Range": f"bytes={have}-", "If-Range": asked}
    with contextlib.closing(_open(session, manifest, headers)) as response:
        start, total = _what_comes(response, manifest, have)
        if start == 0:
            discard(part)
        elif start != have or (total is not None and total < have):
            discard(part)
            raise _Broken("the server sent another range than asked for")
        if manifest.size not in (None, total) and total is not None:
            discard(part)
            raise FetchError(
                f"{_public(manifest.address)} has {total:,} bytes; {manifest.name} has "
                f"{manifest.size:,}. The file there is of another version; {BY_HAND}."
            )
        if start == total:
            return
        check_room(part, (total or 0) - start)
        if start == 0 and (mark := _strong_mark(response)):
            validator.write_text(mark, encoding="utf-8")
        with part.open("ab", buffering=0) as file, progress_bar(part, total, start) as bar:
            for chunk in _chunks(response):
                write_chunk(file, chunk, part)
                bar.update(len(chunk))
                if file.tell() > (total or manifest.size or MOST_BYTES):
                    discard(part)
                    raise FetchError(
                        f"{_public(manifest.address)} sends more bytes than it has; {BY_HAND}."
                    )
        if total is not None and length_so_far(part) < total:
            raise _Broken(f"the connection ended after {length_so_far(part):,} of {total:,} bytes")


def _what_comes(
    response: requests.Response, manifest: Manifest, have: int
) -> tuple[int, int | None]:
    """The first byte the response brings, and the length of the whole file where it says so."""
    status, address = response.status_code, _public(response.url)
    packed = response.headers.get("Content-Encoding", "identity")
    if status in (200, 206) and packed != "identity":
        raise FetchError(f"{address} sends the file packed ({packed}) though not asked; {BY_HAND}.")
    if status == 200:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if length.isdecimal() else None
    if status in (206, 416):
        match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if status == 206 and match and match[1]:
            return int(match[1]), int(match[2])
        if status == 416 and match and int(match[2]) == have:
            return have, have  # it was whole already
        return -1, None
    if status in (408, 425, 429) or status >= 500:
        pause = response.headers.get("Retry-After", "")
        raise _Broken(f"the server answers {status}", float(pause) if pause.isdecimal() else 0.0)
    raise FetchError(
        f"{address} answers {status} {response.reason}; the address of {manifest.name} may have "
        f"changed: {BY_HAND}."
    )


def _open(
    session: requests.Session, manifest: Manifest, headers: dict[str, str]
) -> requests.Response:
    """The response at the end of the redirects."""
    known = manifest.known_checksum is not None
    address = manifest.address
    if urlsplit(address).scheme != "https" and not known:
        raise FetchError(
            f"{_public(address)} is not encrypted and the manifest of {manifest.name} knows no "
            f"checksum, so that anyone could change the file; {BY_HAND}."
        )
    for _ in range(MOST_REDIRECTS + 1):
        try:
            response = session.get(
                address,
                headers=headers,
                stream=True,
                timeout=(CONNECT_SECONDS, SILENT_SECONDS),
                allow_redirects=False,
                auth=lambda request: request,  # no login
            )
        except (requests.exceptions.SSLError, ValueError) as error:  # ValueError: no such address
            raise FetchError(f"{_public(address)} cannot be asked ({error}); {BY_HAND}.") from error
        except requests.RequestException as error:
            raise _Broken(_reason(error)) from error
        if not response.is_redirect:
            return response
        response.close()
        onward = urljoin(address, response.headers["Location"])
        here, there = urlsplit(address), urlsplit(onward)
        why = None
        if there.scheme != "https" and (here.scheme, there.scheme) != ("http", "http"):
            why = "is not encrypted"
        elif there.netloc != here.netloc and not known:
            why = f"is another host, and the manifest of {manifest.name} knows no checksum"
        if why:
            raise FetchError(
                f"{_public(address)} redirects to {_public(onward)}, which {why}; {BY_HAND}."
            )
        address = onward
    raise FetchError(
        f"{_public(manifest.address)} redirects more than {MOST_REDIRECTS} times; {BY_HAND}."
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


def _strong_mark(response: requests.Response) -> str | None:
    """What `If-Range` accepts: a strong ETag, else the date."""
    tag = response.headers.get("ETag", "W/")
    return response.headers.get("Last-Modified") if tag.startswith("W/") else tag


def _reason(error: Exception) -> str:
    if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError):
        return "the server sent nothing for too long"
    return f"the connection broke: {type(error).__name__}"


def _public(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


# `NAME.part` holds what has come of a file so far; a file beside it, the mark of its version.


def validator_file(part: Path) -> Path:
    return part.with_name(part.name + ".validator")


def length_so_far(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    validator_file(part).unlink(missing_ok=True)


def check_room(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < needed:
        raise FetchError(
            f"{part.parent} has room for {free:,} bytes, and {needed:,} are to come. Make room."
        )


def write_chunk(file: FileIO, chunk: bytes, part: Path) -> None:
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


def progress_bar(part: Path, total: int | None, start: int) -> tqdm:
    return tqdm(
        total=total,
        initial=start,
        desc=part.name.removesuffix(".part"),
        unit="B",
        unit_scale=True,
        # None: only on a terminal.
        disable=None,
    )

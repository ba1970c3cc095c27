"""The pictures of a data set's rows: inside the file, beside it, or in another row of it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from sci_book.data.cells import Place, cell_text, nth, row_problem
from sci_book.data.manifests import Manifest, climbs_out
from sci_book.data.rows import Problem, short_hash
from sci_book.files import in_any_form, named_from

POINTER_LENGTH = 64
"""Characters of the longest image field that is the index of another row."""
MOST_PICTURE_BYTES = 2**28
"""Bytes of a picture's file; a longer one is not read."""

_DATA_URL = re.compile(r"data:[\w/+.;=-]*;base64,", re.IGNORECASE)
_QUOTED = re.compile(r"[bu]?(['\"])(.*)\1", re.DOTALL)


class Picture(NamedTuple):
    """A row's picture: its bytes or its file, its hash, and what is wrong with it."""

    content: bytes
    file: Path | None
    hash: str
    problem: Problem | None = None


class Pictures:
    """The pictures of a file: each read once, pointers followed to their end."""

    def __init__(
        self,
        manifest: Manifest,
        base: Path,
        records: Sequence[Mapping[str, Any]],
        ids: Sequence[int],
    ):
        self.name, self.columns = manifest.name, manifest.columns.image
        self.records, self.ids = records, ids
        self.place = {index: number for number, index in enumerate(ids)}
        self.pointers = manifest.columns.index is not None and len(self.columns) == 1
        # The folder is the user's own choice, and may be anywhere; what rows name lies below it.
        self.given_folder = named_from(base, manifest.picture_folder)
        self.base, self.folder = base.resolve(), self.given_folder.resolve()
        self.stores = [
            place.parent / "blobs"
            for root in (self.folder, self.base)
            for place in (root, *root.parents)
            if place.name == "snapshots" and place.parent.name.startswith("datasets--")
        ]
        self._read = {"base64": self._base64, "files": self._file, "bytes": self._bytes}[
            manifest.pictures
        ]
        self._known: dict[Any, Picture] = {}

    def of(self, place: Place) -> Picture:
        """The picture of one row."""
        cell = self.records[place.record][nth(self.columns, place.part)]
        if isinstance(cell, list) and len(cell) > 1:
            reason = f"the image field holds a list of {len(cell)}; expected one picture"
            return self._none(place, "no picture", reason)
        return self._read(place, _only(cell))

    def _none(self, place: Place, kind: str, reason: str) -> Picture:
        # A hash of its own, and the same on every machine.
        own = short_hash(f"{self.name} {place.index}".encode())
        return Picture(b"", None, own, row_problem(place, kind, reason))

    def _base64(self, place: Place, cell: Any) -> Picture:
        column, seen = nth(self.columns, place.part), [place.record]
        field = (cell_text(cell) or "").strip()
        while self.pointers and 0 < len(field) <= POINTER_LENGTH:
            target = self.place.get(int(field)) if field.isdecimal() else None
            if target is None or target in seen:
                ends = "in a circle" if target is not None else "at no row"
                reason = (
                    f"the image field {field!r} is short enough to be the index of the row that "
                    f"holds the picture, but points {ends}"
                )
                return self._none(place, "picture's pointer", reason)
            seen.append(target)
            field = (cell_text(_only(self.records[target][column])) or "").strip()
        key = seen[-1], column
        if key not in self._known:
            self._known[key] = self._decoded(place, field)
        return self._known[key]

    def _decoded(self, place: Place, field: str) -> Picture:
        try:
            content = _from_base64(field)
        except (binascii.Error, ValueError) as error:
            reason = (
                f"the image field ({len(field):,} characters, beginning {field[:16]!r}) is not "
                f"base64 ({error})"
            )
            return self._none(place, "not base64", reason)
        return self._content(place, content)

    def _content(self, place: Place, content: bytes) -> Picture:
        if not content:
            return self._none(place, "no picture", "the image field is empty")
        return Picture(content, None, short_hash(content))

    def _bytes(self, place: Place, cell: Any) -> Picture:
        # A hub viewer stores a picture as {bytes, path}, either of them empty; or the file itself.
        content, path = (
            (cell.get("bytes"), cell.get("path")) if isinstance(cell, dict) else (cell, None)
        )
        if content in (None, b"") and isinstance(path, str):
            return self._file(place, path)
        if isinstance(cell, dict) and not {"bytes", "path"} & cell.keys():
            content = cell  # of another form
        if content not in (None, []) and not isinstance(content, bytes):
            hint = ""
            if isinstance(content, str):
                hint = " (text is read where the YAML file says pictures: files, or base64)"
            came = type(content).__name__
            reason = f"the image field holds {came}; expected a picture's bytes{hint}"
            return self._none(place, "no picture", reason)
        return self._content(place, content or b"")

    def _file(self, place: Place, cell: Any) -> Picture:
        name = (cell_text(cell) or "").strip()
        if not name:
            return self._none(place, "no picture", "the image field is empty")
        if name in self._known:
            return self._known[name]
        outside = f"{name[:80]!r} lies outside {self.folder}; expected a file's name below it"
        if climbs_out(name):
            return self._none(place, "picture outside the folder", outside)
        try:
            # Links are followed before the check, so that none leads out but to a hub's own store.
            path = in_any_form(self.folder / name).resolve(strict=True)
            size = path.stat().st_size if path.is_file() else None
        except (OSError, RuntimeError):  # RuntimeError: links in a circle
            reason = f"there is no picture {name[:80]!r} in {self.given_folder}"
            if "://" in name:
                reason = f"{name[:80]!r} is an address; save the picture and name its file"
            elif not self.folder.is_dir():
                reason = f"picture_folder {self.given_folder} is no folder"
            return self._none(place, "picture is missing", reason)
        if not any(map(path.is_relative_to, (self.folder, self.base, *self.stores))):
            return self._none(place, "picture outside the folder", outside)
        if size is None or size > MOST_PICTURE_BYTES:
            reason = f"{path} is no file of at most {MOST_PICTURE_BYTES:,} bytes"
            return self._none(place, "no picture", reason)
        try:
            content = path.read_bytes()
        except OSError as error:
            reason = f"{path} cannot be read ({error.strerror})"
            return self._none(place, "picture is missing", reason)
        if not content:
            return self._none(place, "no picture", f"{path} is empty")
        self._known[name] = Picture(b"", path, short_hash(content))
        return self._known[name]


def _only(cell: Any) -> Any:
    """What is in a list of one, or the cell itself."""
    return cell[0] if isinstance(cell, list) and len(cell) == 1 else cell


def _from_base64(field: str) -> bytes:
    """Bytes written in base64: in lines or one, in either alphabet, with or without their padding,
    as a `data:` URL, in quotes as Python prints bytes (`b'…'`), escaped as in JSON or in addresses.

    Raises:
        ValueError: for anything else.
    """
    if quoted := _QUOTED.fullmatch(field):
        field = quoted[2]
    for escaped, meant in (("\\r", ""), ("\\n", ""), ("\\/", "/")):
        field = field.replace(escaped, meant)
    field = unquote(field)
    if address := _DATA_URL.match(field):
        field = field[address.end() :]
    field = "".join(field.split()).rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(field + "=" * (-len(field) % 4), validate=True)

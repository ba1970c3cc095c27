"""Where a chapter's numbers come from, in two parts: what settles them, and what does not.

`provenance` is the part that must not change unless a number may: model revisions, data and
record checksums, pinned versions. `circumstances` is the part that changes with every honest run:
date, device, duration, checksum of all files that the book is computed from. A chapter shows both,
the second in a cell tagged `nbval-ignore-output`.
"""

import datetime
import hashlib
import os
import platform
import re
import time
from collections.abc import Iterable, Mapping
from numbers import Real
from pathlib import Path

import pandas as pd
import torch

from sci_book.papers.shared.tables import Table
from sci_book.resources import LOCKS, ROOT
from sci_book.resources import located as located

# What chapters are computed from, as globs below ROOT.
PARTS = (
    "sci_core",
    "sci_book",
    "data_manifests",
    "checkpoints",
    "notebooks/*.py",
    "requirements*.lock",
)
SHOWN_PACKAGES = ("torch", "transformers", "numpy", "pandas", "scipy", "pillow")


def checksum(paths: Iterable[Path]) -> str:
    """SHA-256 (first 16 hex digits) of files' names and contents, folders walked, in name order.

    Compiled Python files do not count.

    Raises:
        FileNotFoundError: a path that is neither a file nor a folder.
    """
    digest = hashlib.sha256()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"cannot checksum {path}: no such file or folder")
        files = [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*")))
        for file in files:
            if file.suffix == ".pyc":
                continue
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            digest.update(f"{name}\0{file.stat().st_size}\0".encode())
            with file.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:16]


def locked_versions() -> dict[str, str]:
    """Package versions by lower-case name, as pinned in the locks."""
    text = "".join(lock.read_text(encoding="utf-8") for lock in LOCKS)
    pins = re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE)
    return {name.lower(): version for name, version in pins}


def provenance(
    models: Mapping[str, str],
    data: Mapping[str, str],
    records: Mapping[str, str] | None = None,
    rows: str = "",
) -> Table:
    """What settles a chapter's numbers, one line each; the same on every machine.

    Args:
        models: revision (a content hash, for a local checkpoint) by model name.
        data: checksum by data set name.
        records: stamp of the evaluation records read, by model name.
        rows: how many rows of which data set were read, where that is not all of them.
    """
    versions = locked_versions()
    lines = {
        "model revision": _pairs(models),
        "data checksum": _pairs(data),
        "records": _pairs(records or {}),
        "rows": rows,
        "versions": ", ".join(f"{name} {versions[name]}" for name in SHOWN_PACKAGES),
    }
    frame = pd.DataFrame({"": {name: text for name, text in lines.items() if text}})
    return Table("provenance", frame, "What settles these numbers", folded=True)


def begin() -> float:
    """Give a chapter's figures the book's style and start its clock, for `circumstances`."""
    from sci_book.papers.shared import figures  # slow to import, and commands use this module

    figures.use_style()
    return time.perf_counter()


def circumstances(began: Real) -> Table:
    """What varies between honest runs since `begin`: date, device, duration, state of the files.

    Names no host.
    """
    lines = {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        "device": device_name(),
        "duration": f"{time.perf_counter() - began:.0f} s",
        "computed from": checksum([path for part in PARTS for path in sorted(ROOT.glob(part))]),
    }
    return Table("circumstances", pd.DataFrame({"": lines}), "How this run went", folded=True)


def device_name() -> str:
    """The accelerator's name, or the processor's architecture and cores."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()} processor, {os.cpu_count()} cores"


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items())

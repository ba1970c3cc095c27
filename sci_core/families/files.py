"""The files of a checkpoint, in a folder or in the hub's cache: found, read, and named when bad."""

import json
import os
from pathlib import Path
from typing import Any

AGAIN = "Fetch or copy the checkpoint again."
_NO = ("0", "false", "no", "off")


def hub_settings() -> dict[str, bool]:
    """Return what keeps transformers off the network, unless the user allows it.

    HF_HUB_OFFLINE=0 allows it. Without that variable, a hub id is looked for in the cache alone.
    """
    allowed = os.environ.get("HF_HUB_OFFLINE", "").strip().lower() in _NO
    return {"local_files_only": not allowed}


def download_hint(name: str) -> str:
    """Return what to do where a hub id, or a file of it, is not in the cache; nothing otherwise."""
    if Path(name).is_dir() or not hub_settings()["local_files_only"]:
        return ""
    return (
        " Only the hub's cache was read, since nothing is downloaded unless you allow it: set "
        "HF_HUB_OFFLINE=0 (in Python, os.environ['HF_HUB_OFFLINE'] = '0' before the first import)."
    )


def find_file(name: str, file: str, revision: str | None) -> Path | None:
    """Find a file of a checkpoint, if it has it."""
    from transformers.utils import cached_file

    causes = ("missing_entries", "connection_errors")
    quiet = {f"_raise_exceptions_for_{cause}": False for cause in causes}
    path = cached_file(name, file, revision=revision, **hub_settings(), **quiet)
    return None if path is None else Path(path)


def read_object(name: str, file: str, revision: str | None) -> dict[str, Any] | None:
    """Read the object in a JSON file of a checkpoint; None if it has no such file.

    Raises FileNotFoundError, in a sentence, if the file is cut, damaged or holds something else.
    """
    path = find_file(name, file, revision)
    if path is None:
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileNotFoundError(
            f"{file} of {name} is no JSON ({first_line(error)}). {AGAIN}"
        ) from error
    if not isinstance(value, dict):
        raise no_object(name, file, type(value).__name__)
    return value


def no_object(name: str, file: str, came: str) -> FileNotFoundError:
    """Make the error for a JSON file that holds another value than an object."""
    return FileNotFoundError(f"{file} of {name} holds {came}; expected a JSON object. {AGAIN}")


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind if it has none."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__

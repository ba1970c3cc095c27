"""The files of a checkpoint, in a folder or in the hub's cache: found, read, and named when bad."""

import json
import os
import ssl
import time
import warnings
from functools import lru_cache
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

AGAIN = "Fetch or copy the checkpoint again."
_NO = ("0", "false", "no", "off")


def hub_settings(name: str) -> dict[str, bool]:
    """Return what keeps transformers off the network, unless the user allows it.

    HF_HUB_OFFLINE=0 allows it. Without that variable, and where the hub does not answer, a hub id
    is looked for in the cache alone.
    """
    online = _is_allowed() and (Path(name).is_dir() or _hub_answers(int(time.monotonic() // 60)))
    return {"local_files_only": not online}


def _is_allowed() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").strip().lower() in _NO


@lru_cache(maxsize=1)
def _hub_answers(minute: int) -> bool:
    """Ask once a minute: transformers would try half a minute for each file of a checkpoint."""
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    try:
        urlopen(Request(hub, method="HEAD"), timeout=10).close()
    except (HTTPError, ValueError):  # it answers; or is an address for transformers to refuse
        return True
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLError):  # transformers may know other certificates
            return True
        warnings.warn(
            f"{hub} does not answer ({reason}), so the hub's cache alone is read. HF_HUB_OFFLINE=1 "
            "asks nobody.",
            UserWarning,
            stacklevel=2,
        )
        return False
    return True


def download_hint(name: str) -> str:
    """Return what to do where a hub id, or a file of it, is not in the cache; nothing otherwise."""
    if Path(name).is_dir() or not hub_settings(name)["local_files_only"]:
        return ""
    if _is_allowed():
        return " Only the hub's cache was read, since the hub does not answer."
    return (
        " Only the hub's cache was read, since nothing is downloaded unless you allow it: set "
        "HF_HUB_OFFLINE=0 (in Python, os.environ['HF_HUB_OFFLINE'] = '0' before the first import)."
    )


def find_file(name: str, file: str, revision: str | None) -> Path | None:
    """Find a file of a checkpoint, if it has it."""
    from transformers.utils import cached_file

    causes = ("missing_entries", "connection_errors")
    quiet = {f"_raise_exceptions_for_{cause}": False for cause in causes}
    path = cached_file(name, file, revision=revision, **hub_settings(name), **quiet)
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
        raise FileNotFoundError(
            f"{file} of {name} holds {type(value).__name__}; expected a JSON object. {AGAIN}"
        )
    return value


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind if it has none."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__

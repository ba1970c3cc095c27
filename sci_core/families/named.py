"""What a caller names, checked: one word of some known ones, or the folder of a model."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path


def check_choice(what: str, chosen: str, known: Sequence[str]) -> None:
    """Raise ValueError, listing what is known, for anything else."""
    if chosen not in known:
        raise ValueError(f"Unknown {what} {chosen!r}; use one of {', '.join(known)}.")


def is_path(name: str) -> bool:
    """Tell whether a name can only be a path: a hub id is a word, or two with a slash between."""
    return name.startswith((".", "~", "/")) or name.count("/") > 1 or "\\" in name


def may_be_path(name: str) -> bool:
    """Tell whether a name may be a path as well as a hub id: its parent folder is here."""
    return is_path(name) or ("/" in name and Path(name).parent.is_dir())


def no_folder(name: str) -> FileNotFoundError:
    """Make the error for a path to no folder, which names the folders that are named like it."""
    path = Path(name).expanduser()
    if "://" in name:
        hub_id = "/".join(name.partition("://")[2].split("/")[1:3])
        reason = f"it is an address; expected a folder, or a hub id such as {hub_id!r}"
    elif path.is_dir():
        reason = f"~ is not expanded here; write {str(path)!r}"
    elif path.is_file():
        reason = f"it is a file; expected the folder that holds it, {str(path.parent)!r}"
    else:
        near = [str(folder) for folder in near_folders(path)]
        hint = f"did you mean {' or '.join(map(repr, near))}" if near else "check the path"
        reason = f"there is no such folder from {str(Path.cwd())!r}; {hint}"
        if not is_path(name):
            reason += "? If it is a hub id, it is not in the cache or cannot be reached"
    return FileNotFoundError(f"No model {name!r}: {reason}.")


def near_folders(path: Path) -> list[Path]:
    """Find folders whose path is this one's but for a slip in some parts, the nearest first."""
    folders = [Path(path.anchor)]
    for part in path.relative_to(path.anchor).parts:
        folders = [
            parent / name
            for parent in folders
            for name in ([part] if (parent / part).is_dir() else _like(part, parent))
        ]
    return folders[:3]


def _like(name: str, parent: Path) -> list[str]:
    try:
        names = [entry.name for entry in parent.iterdir() if entry.is_dir()]
    except OSError:  # a folder that may not be listed has nothing to offer
        return []
    return get_close_matches(name, names)

"""When the ledger was fixed, and what of it was changed after: its registration and amendments.

A verdict says more if the claim was written down before its result. `registration.yaml`, the first,
holds the day, the commit and the SHA-256 of the files in which the ledger's claims and the
conditions stand, and what was planned then of the test world and of the subjects; `amendments.yaml`
every change since, of a file or of the code that reads it; `subjects.yaml` how each of its subjects
came about. What was written down later, before other results, has a registration of its own
(`registration_dial.yaml`, `registration_rules.yaml`; `registration_second.yaml`: for trainings
whose seeds nobody chose).
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from sci_book.files import json_text, read_yaml
from sci_book.resources import PAPER

REGISTRATION, AMENDMENTS, MENDED = "registration.yaml", "amendments.yaml", "mended.yaml"
SUBJECTS = "subjects.yaml"
SECOND = "registration_second.yaml"
"""Of the papers' claims as they stand then, over trainings; `benchmarks/second_registration.py`."""
BESIDE = {"registration_rules.yaml": "own_rules", "registration_dial.yaml": "dial"}
"""Registrations of the book's own claims and of later papers', by the page that judges them."""


def of_claims(folder: Path = PAPER) -> list[str]:
    """The registrations of the papers' claims: the first, and the second once it is written."""
    return [REGISTRATION, *(name for name in (SECOND,) if (folder / name).is_file())]


def load_registration(folder: Path = PAPER, registered: str = REGISTRATION) -> dict[str, Any]:
    """`registered` (a day), `commit`, `files` (name: SHA-256), and what had not been seen.

    `amendments` is how many there were already: none, where it is not said.
    """
    return read_yaml(folder / registered)


def load_amendments(folder: Path = PAPER) -> list[dict[str, Any]]:
    """Changes of registered files, or of the code that reads them, in order.

    `date`, `commit`, `file`, `reason`, and the file's SHA-256 `before` and `after`: the same where
    the code was changed.
    """
    return read_yaml(folder / AMENDMENTS)


def amendments_of(folder: Path = PAPER, registered: str = REGISTRATION) -> list[dict[str, Any]]:
    """The amendments of a registration's files that were entered after it, in order."""
    known = load_registration(folder, registered)
    later = load_amendments(folder)[known.get("amendments", 0) :]
    return [entry for entry in later if entry["file"] in known["files"]]


def departures(folder: Path = PAPER, registered: str = REGISTRATION) -> list[str]:
    """Where the registered files are not what the registration and its amendments say; [] if none.

    Each amendment of a file must start from what the one before it left, and the last must end at
    the file as it is.
    """
    faults = []
    states = dict(load_registration(folder, registered)["files"])
    for entry in amendments_of(folder, registered):
        name = entry["file"]
        if states[name] != entry["before"]:
            faults.append(f"The amendment of {name} of {entry['date']} starts from another file.")
        states[name] = entry["after"]
    for name, digest in states.items():
        now = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if now != digest:
            faults.append(
                f"{name} has the SHA-256 {now}, where {digest} is registered. If the change is "
                f"meant, enter it with its reason in {AMENDMENTS}."
            )
    return faults


def all_departures(folder: Path = PAPER) -> list[str]:
    """`departures` from each registration of the papers' claims."""
    return [fault for name in of_claims(folder) for fault in departures(folder, name)]


UNTOUCHED = "The checksum of each file is the one registered, or the one of its last amendment."


def sentence(folder: Path = PAPER, registered: str = REGISTRATION) -> str:
    """What is registered, and whether the files are still that, in Markdown.

    The reasons of amendments are told of the registrations beside the ledger's; those of the
    ledger's own stand on the page that shows all.
    """
    known, wrong = load_registration(folder, registered), departures(folder, registered)
    changes = amendments_of(folder, registered)
    amended = "once" if len(changes) == 1 else f"{len(changes)} times"
    told = changes if registered in BESIDE else []
    reasons = "".join(f"“{' '.join(entry['reason'].split())}” " for entry in told)
    count = len(known["files"])
    files = "1 file that decides" if count == 1 else f"{count} files that decide"
    return (
        f"Registered on {known['registered']}, commit `{known['commit'][:12]}`: {files} a verdict. "
        f"Amended since: {amended}. {reasons}{' '.join(wrong) or UNTOUCHED}"
    )


def as_values(folder: Path = PAPER) -> dict[str, Any]:
    """The registrations of the papers' claims, amendments and departures, as values for JSON.

    The `second registration` is None until it is written.
    """
    second = load_registration(folder, SECOND) if SECOND in of_claims(folder) else None
    known = {
        "registration": load_registration(folder),
        "second registration": second,
        "amendments": load_amendments(folder),
        "departures": all_departures(folder),
    }
    return json.loads(json_text(known, default=str))

"""When the ledger was fixed, and what of it was changed after: its registration and amendments.

A verdict says more if the claim was written down before its result. `registration.yaml` holds the
day, the commit and the SHA-256 of the files in which the ledger's claims and the conditions stand,
and what was planned then of the test world and of the subjects; `amendments.yaml` every change
since, of a file or of the code that reads it; `subjects.yaml` how each subject came about. What was
written down later, before other results, has a registration of its own (`registration_dial.yaml`,
`registration_rules.yaml`).
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from sci_book.data.catalogue import model_entry
from sci_book.files import json_text, read_yaml
from sci_book.papers.shared.pages import link, places
from sci_book.papers.shared.stamp import located
from sci_book.papers.shared.tables import MISSING, Table, recorded
from sci_book.pipeline import printed
from sci_book.pipeline.claims import load_claims
from sci_book.resources import PAPER

REGISTRATION, AMENDMENTS, MENDED = "registration.yaml", "amendments.yaml", "mended.yaml"
SUBJECTS = "subjects.yaml"
BESIDE = {"registration_rules.yaml": "own_rules", "registration_dial.yaml": "dial"}
"""Registrations of the book's own claims, by the page that judges them."""


def load_registration(folder: Path = PAPER, registered: str = REGISTRATION) -> dict[str, Any]:
    """`registered` (a day), `commit`, `files` (name: SHA-256), and what had not been seen."""
    return read_yaml(folder / registered)


def load_amendments(folder: Path = PAPER) -> list[dict[str, Any]]:
    """Changes of registered files, or of the code that reads them, in order.

    `date`, `commit`, `file`, `reason`, and the file's SHA-256 `before` and `after`: the same where
    the code was changed.
    """
    return read_yaml(folder / AMENDMENTS)


def departures(folder: Path = PAPER, registered: str = REGISTRATION) -> list[str]:
    """Where the registered files are not what the registration and its amendments say; [] if none.

    Each amendment of a file must start from what the one before it left, and the last must end at
    the file as it is.
    """
    faults = []
    states = dict(load_registration(folder, registered)["files"])
    for entry in (entry for entry in load_amendments(folder) if entry["file"] in states):
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


UNTOUCHED = "The checksum of each file is the one registered, or the one of its last amendment."


def sentence(folder: Path = PAPER, registered: str = REGISTRATION) -> str:
    """What is registered, and whether the files are still that, in Markdown.

    The reasons of amendments are said of the registrations beside the ledger's, whose own stand in
    a table (`amendments_table`).
    """
    known, wrong = load_registration(folder, registered), departures(folder, registered)
    changes = [entry for entry in load_amendments(folder) if entry["file"] in known["files"]]
    amended = "once" if len(changes) == 1 else f"{len(changes)} times"
    told = changes if registered in BESIDE else []
    reasons = "".join(f"“{' '.join(entry['reason'].split())}” " for entry in told)
    count = len(known["files"])
    files = "1 file that decides" if count == 1 else f"{count} files that decide"
    return (
        f"Registered on {known['registered']}, commit `{known['commit'][:12]}`: {files} a verdict. "
        f"Amended since: {amended}. {reasons}{' '.join(wrong) or UNTOUCHED}"
    )


def verdict(folder: Path = PAPER) -> str:
    """Of the claim that the files are what was registered, or amended with a reason."""
    return "fails" if departures(folder) else "holds"


def planned(folder: Path = PAPER) -> str:
    """What the registration said of the subjects and the world to come, quoted, in Markdown."""
    known = load_registration(folder)
    return "\n>\n".join(
        f"> **{key.capitalize()}.** “{known[key].strip()}”" for key in ("subjects", "world")
    )


def subjects_table(results: str | Path, folder: Path = PAPER) -> Table:
    """Each training of the two families by the registered recipe: where it began, what it meets.

    Args:
        results: the folder of committed results, with `pilots/<training>.json`.
    """
    lines = {}
    for subject in read_yaml(folder / SUBJECTS):
        judged = json.loads(_pilot(results, subject).read_text(encoding="utf-8"))
        (level,) = (line for line in judged["conditions"] if line["id"] == "as-the-paper")
        lines[subject["title"]] = {
            "began from": subject["began"],
            "commit": subject["commit"][:7],
            "conditions": judged["fit"],
            "base − paper’s, points": recorded(
                *(level[end] for end in ("estimate", "low", "high")), 1,
                at=f"pilots/{subject['training']}, as-the-paper",
            ),
        }  # fmt: skip
    return Table("prose-subjects", _text(lines), "Trainings by the registered recipe")


def unregistered() -> str:
    """What claims something that stands in no registered file for it, as links, in Markdown."""
    leading = {claim.page for claim in load_claims(own=True) if claim.leads}
    known = {*leading, *BESIDE.values(), "registration"}
    claiming = (name for name, place in places().items() if "**Claim.**" in place.text)
    return ", ".join(map(link, sorted(set(claiming) - known)))


def beside(folder: Path = PAPER) -> str:
    """What else is registered, page by page, in Markdown."""
    return "\n".join(
        f"- {link(page)}. {sentence(folder, name)} "
        f"{load_registration(folder, name)['subjects'].strip()}"
        for name, page in BESIDE.items()
    )


def as_values(folder: Path = PAPER) -> dict[str, Any]:
    """The `registration`, its `amendments` and the `departures` from both, as values for JSON."""
    known = {
        "registration": load_registration(folder),
        "amendments": load_amendments(folder),
        "departures": departures(folder),
    }
    return json.loads(json_text(known, default=str))


def files_table(folder: Path = PAPER) -> Table:
    """Each registered file with its SHA-256 and how often it was amended."""
    changes = [entry["file"] for entry in load_amendments(folder)]
    lines = {
        name: {"SHA-256 when registered": f"{digest[:32]}…", "amendments": str(changes.count(name))}
        for name, digest in load_registration(folder)["files"].items()
    }
    return Table("registered", pd.DataFrame.from_dict(lines, orient="index"), "Registered files")


def amendments(folder: Path = PAPER) -> str:
    """Every amendment: its file, day, commit and reason, as it was entered, in Markdown."""
    return "\n".join(
        f"- **{entry['file']}**, {entry['date']}, `{entry['commit'][:7]}`: "
        f"{' '.join(entry['reason'].split())}"
        for entry in load_amendments(folder)
    )


def mended_table(results: str | Path) -> Table:
    """Each predicate that was changed before the registration, with its verdicts on old models.

    Args:
        results: the folder of committed results, with `ledger/mended.json`.
    """
    reasons = {entry["id"]: entry["reason"] for entry in read_yaml(PAPER / MENDED)}
    known = json.loads((located(results) / "ledger" / "mended.json").read_text(encoding="utf-8"))
    lines = {
        f"{row['id']}, {model_entry(row['model'])['title']}": {
            **{side: _verdict(row, side) for side in ("before", "after")},
            "reason": " ".join(reasons[row["id"]].split()),
        }
        for row in known["rows"]
    }
    return Table("prose-mended", _text(lines), "Changed predicates, before and after")


def own_numbers_table() -> Table:
    """The claims whose predicate the paper's own numbers do not meet throughout."""
    lines = {}
    for claim in load_claims():
        word = printed.in_words(claim)
        if word not in ("holds", MISSING):
            lines[claim.id] = {"place": claim.place, "on the paper’s numbers": word,
                               "tested": claim.means.replace("`", "")}  # fmt: skip
    frame = pd.DataFrame.from_dict(lines, orient="index")
    return Table("prose-own-numbers", frame, "Predicates that the paper's own numbers do not meet")


def files(results: str | Path) -> list[Path]:
    """What a page that shows the registration reads, for its stamp."""
    names = (*load_registration()["files"], REGISTRATION, AMENDMENTS, MENDED, SUBJECTS, *BESIDE)
    judged = [_pilot(results, subject) for subject in read_yaml(PAPER / SUBJECTS)]
    trainings = sorted((located(results) / "trainings").glob("*.json"))
    mended = located(results) / "ledger" / "mended.json"
    return [*(PAPER / name for name in names), mended, *judged, *trainings]


def _pilot(results: str | Path, subject: Mapping[str, Any]) -> Path:
    return located(results) / "pilots" / f"{subject['training']}.json"


def _text(lines: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(list(lines.values()), list(lines), dtype=object)  # str drops the keys


def _verdict(row: Mapping[str, Any], when: str) -> str:
    side = row[when]
    if side is None:
        return "new"
    word = side["verdict"] + (", not counted" if side.get("by_construction") else "")
    if side["found"] is None:
        return word
    at = f"ledger/mended, {row['id']}, {row['model']}, {when}"
    return recorded(*side["found"][:3], 3, at=at, head=f"{word}: ")

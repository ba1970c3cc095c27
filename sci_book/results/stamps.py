"""Whether records are those of a run: their stamp, compared with the one expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sci_book.files import json_text

# What is named first where runs differ.
_ORDER = {name: place for place, name in enumerate(("datasets", "rows", "methods"))}


class RecordsError(ValueError):
    """Records are missing, unfinished, of another schema, or of another run."""


class NotRecorded(RecordsError):
    """The records are whole, and do not hold what is asked of them: a method, a round, logits."""


def check_stamp(recorded: Mapping[str, Any], expected: Mapping[str, Any], where: str) -> None:
    """Refuse records that another run would not have made.

    Raises:
        RecordsError: naming every field that differs, the data first, with its values.
    """
    differing = [key for key in expected if recorded.get(key) != expected[key]]
    if differing:
        key, *others = sorted(differing, key=lambda key: _ORDER.get(key, len(_ORDER)))
        values = recorded.get(key), expected[key]
        came, wanted = _methods_said(*values) if key == "methods" else map(_brief, values)
        hint = " (which rows: --limit, --share, --validation)" if key == "rows" else ""
        more = f"; {', '.join(others)} differ too" if others else ""
        raise RecordsError(
            f"{where} holds records of another run: {key} is {came}, expected {wanted}{hint}{more}."
            " Use another folder, or delete this one to evaluate anew."
        )


def covers(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether a run of the stamp `recorded` has all answers of one of the stamp `asked`."""
    more = ("methods", "rounds")
    rest = ({key: stamp[key] for key in stamp if key not in more} for stamp in (recorded, asked))
    same = next(rest) == next(rest)
    return same and all(entry in recorded[key] for key in more for entry in asked[key])


def _methods_said(recorded: Sequence[Mapping], expected: Sequence[Mapping]) -> tuple[str, str]:
    """The first two of one name and other constants; otherwise the names of all."""
    by_name = {method["name"]: method for method in recorded}
    for new in expected:
        old = by_name.get(new["name"], new)
        differing = [key for key in new if old.get(key) != new[key]]
        if differing:
            said = (", ".join(f"{key}={one.get(key)}" for key in differing) for one in (old, new))
            return f"{new['name']} with {next(said)}", next(said)
    return _brief([*by_name]), _brief([method["name"] for method in expected])


def _brief(value: Any) -> str:
    text = json_text(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:117] + "..."

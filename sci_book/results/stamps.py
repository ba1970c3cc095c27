"""Whether records are those of a run: their stamp, compared with the one expected."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

# What is named first where runs differ.
_ORDER = {name: place for place, name in enumerate(("datasets", "rows", "methods"))}


class RecordsError(ValueError):
    """Records are missing, unfinished, of another schema, or of another run."""


def check_stamp(found: Mapping[str, Any], expected: Mapping[str, Any], where: str) -> None:
    """Refuse records that another run would not have made.

    Raises:
        RecordsError: naming every field that differs, the data first, with its values.
    """
    differing = [key for key in expected if found.get(key) != expected[key]]
    if differing:
        key, *others = sorted(differing, key=lambda key: _ORDER.get(key, len(_ORDER)))
        values = found.get(key), expected[key]
        came, wanted = _methods_said(*values) if key == "methods" else map(_brief, values)
        hint = " (which rows: --limit, --share, --validation)" if key == "rows" else ""
        more = f"; {', '.join(others)} differ too" if others else ""
        raise RecordsError(
            f"{where} holds records of another run: {key} is {came}, expected {wanted}{hint}{more}."
            " Use another folder, or delete this one to evaluate anew."
        )


def covers(found: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Whether a run of the stamp `found` has all answers of one of the stamp `asked`."""
    more = ("methods", "rounds")
    rest = ({key: stamp[key] for key in stamp if key not in more} for stamp in (found, asked))
    same = next(rest) == next(rest)
    return same and all(each in found[key] for key in more for each in asked[key])


def _methods_said(found: Sequence[Mapping], expected: Sequence[Mapping]) -> tuple[str, str]:
    """The first two of one name and other constants; otherwise the names of all."""
    there = {each["name"]: each for each in found}
    for each in expected:
        old = there.get(each["name"], each)
        differing = [key for key in each if old.get(key) != each[key]]
        if differing:
            said = (", ".join(f"{key}={one.get(key)}" for key in differing) for one in (old, each))
            return f"{each['name']} with {next(said)}", next(said)
    return _brief([*there]), _brief([each["name"] for each in expected])


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:117] + "..."

"""From a paper's file of checks to its findings.

`data_manifests/audits/README.md` says how such a file is written. Nothing in it is evaluated: a
check names a kind, the cells that it asks about by their fields, and its sentences, in which a word
in braces stands for a field, a cell or a number of the kind's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any, get_args, get_origin

from sci_book.audit.findings import (
    CONSISTENT,
    INCONSISTENT,
    UNTOLD,
    VERDICTS,
    Audit,
    Finding,
    Findings,
    Mark,
    Verdict,
)
from sci_book.audit.kinds import KINDS, Kind, Outcome
from sci_book.audit.printed import Cell, PrintedTables, table_title
from sci_book.files import read_yaml
from sci_book.resources import MANIFESTS

SHOWN = 6  # exceptions that a finding spells out
ANY = "*"
HEAD = ("tables", "titles", "labels", "left_out", "checks")
OF_A_CHECK = ("check", "about", "place", "quote", "table", "each", "together", "says", "follows",
              "reason", "otherwise")  # fmt: skip
OF_TOGETHER = ("each", "label", "right", "wrong", "any")
TRUE_OF = "true of {right} of {n} comparisons"

Own = Callable[..., Outcome | Findings]
"""A kind that is a paper's own, or, where an entry says `python`, findings from its tables."""
Variables = Mapping[str, Any]


class CheckError(ValueError):
    """A file of checks asks for what there is not; the message names the file and the check."""


def audit(paper: str, own: Mapping[str, Own] | None = None, *, folder: Path = MANIFESTS) -> Audit:
    """Reads a paper's tables and checks, and makes every check.

    Args:
        paper: how the names of its files begin; its checks are `<paper>.yaml`.
        own: kinds of check that are this paper's alone, by the names that its file calls.
        folder: of the transcribed tables, in `paper`, and of the files of checks, in `audits`.

    Raises:
        CheckError: a check names a kind, key, cell or function that there is not.
        FileNotFoundError: there is no such file, or no table.
    """
    spec, printed = _file(paper, folder), printed_tables(paper, folder=folder)
    titles, labels = spec.get("titles", {}), spec["labels"]
    titles = {name: titles.get(name) or table_title(name) for name in printed.tables}
    listed = spec["checks"] if isinstance(spec["checks"], Mapping) else {"": spec["checks"]}
    sections: dict[str, Findings] = {}
    for section, entries in listed.items():
        found = sections[section] = {}
        for entry in entries:
            name = f"{paper}.yaml, {entry.get('about') or entry.get('python')!r}"
            try:
                new = _made(entry, printed, titles, own or {})
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise CheckError(f"{name}: {error}") from error
            if twice := found.keys() & new.keys():
                raise CheckError(f"{name}: two findings are about {sorted(twice)}.")
            found |= new
    names = [name for name in printed.tables if name not in spec.get("left_out", ())]
    return Audit(
        {name: printed.tables[name] for name in names},
        sections,
        titles,
        {name: labels[name] if isinstance(labels, Mapping) else labels for name in names},
    )


def printed_tables(paper: str, *, folder: Path = MANIFESTS) -> PrintedTables:
    """A paper's printed numbers, read as its file of checks says; arguments as of `audit`."""
    return PrintedTables(paper, folder / "paper", **_file(paper, folder).get("tables", {}))


def _file(paper: str, folder: Path) -> dict[str, Any]:
    spec = read_yaml(folder / "audits" / f"{paper}.yaml")
    _known(spec, HEAD, f"{paper}.yaml", ("labels", "checks"))
    return spec


def _made(
    entry: Mapping[str, Any], printed: PrintedTables, titles: Mapping[str, str], own: Mapping
) -> Findings:
    """The findings of one entry of a file of checks."""
    if "python" in entry:
        _known(entry, ("python",), "a check in Python")
        if entry["python"] not in own:
            raise CheckError(f"no function is given by this name, but {sorted(own)}.")
        return own[entry["python"]](printed)
    _known(entry, entry, "a check", ("about", "check"))
    return {
        _fill(entry["about"], variables): _Check(entry, variables, printed, titles, own).finding()
        for variables in _each(entry.get("each", {}), {"table": entry.get("table", "")}, printed)
    }


class _Check:
    """One check of a file, with its variables filled in."""

    def __init__(self, entry, variables: Variables, printed: PrintedTables, titles, own):
        kinds = {**KINDS, **{name: Kind(check, "{printed}", "") for name, check in own.items()}}
        if entry["check"] not in kinds:
            raise CheckError(f"{entry['check']!r} is no kind; expected one of {', '.join(kinds)}.")
        self.kind = kinds[entry["check"]]
        self.parameters = inspect.signature(self.kind.check).parameters
        needed = [name for name, p in self.parameters.items() if p.default is p.empty]
        _known(entry, (*OF_A_CHECK, *self.parameters), "a check of this kind", needed)
        if (otherwise := entry.get("otherwise", INCONSISTENT)) not in VERDICTS:
            raise CheckError(f"otherwise is {otherwise!r}; expected one of {', '.join(VERDICTS)}.")
        self.entry, self.printed, self.otherwise = entry, printed, otherwise
        self.variables = {**variables, "title": titles.get(variables["table"], "")}

    def finding(self) -> Finding:
        together = self.entry.get("together")
        place, says = self.sentence("place", "{title}"), None
        if quote := self.entry.get("quote"):
            name = _fill(quote, self.variables)
            self.printed.quoted(name)  # or raises
            line = self.printed.quotes.loc[name]
            place, says = f"{line['place']}; {place}", f"“{line['quote']}”"
        if together is not None:
            return self.of_many(together, place, says)
        outcome, cells = self.outcome(self.variables)
        values = {**self.variables, **cells, **outcome.values}
        says = says or self.sentence("says", self.kind.printed, values)
        follows = self.sentence("follows", self.kind.follows, values)
        verdict = UNTOLD if outcome.fits is None else self.verdict(outcome.fits)
        return Finding(place, says, follows, verdict, self.marks(values))

    def of_many(self, together: Mapping[str, Any], place: str, says: str | None) -> Finding:
        """One finding of many comparisons, which names those that are not so."""
        _known(together, OF_TOGETHER, "together")
        every, held, exceptions, marks, printed, untold = [], [], [], [], [], True
        for variables in _each(together["each"], self.variables, self.printed):
            outcome, cells = self.outcome(variables)
            label = _fill(together.get("label", ""), variables)
            values = {**variables, **cells, **outcome.values}
            text = self.sentence("follows", self.kind.follows, values)
            every.append(f"{label}: {text}" if label else text)
            printed += _listed(cells.get("printed", []))
            (held if outcome.fits else exceptions).append(every[-1])
            marks += [] if outcome.fits else self.marks(values)
            untold &= outcome.fits is not False
        more = len(exceptions) - SHOWN
        shown = exceptions[:SHOWN] + ([f"and {more} more"] if more > 0 else [])
        values = {
            **self.variables, "printed": printed,
            "n": len(every), "right": len(held), "wrong": len(exceptions),
            "every": "; ".join(every), "held": "; ".join(held), "exceptions": "; ".join(shown),
        }  # fmt: skip
        right = together.get("right", TRUE_OF)
        wrong = together.get("wrong", f"{TRUE_OF}; not of {{exceptions}}")
        fits = bool(held) if together.get("any") else not exceptions
        return Finding(
            place,
            says or self.sentence("says", "{n} numbers", values),
            _fill(wrong if exceptions else right, values),
            UNTOLD if untold and not fits else self.verdict(fits),
            marks,
        )

    def verdict(self, fits: bool) -> Verdict:
        return CONSISTENT if fits else self.otherwise

    def outcome(self, variables: Variables) -> tuple[Outcome, dict[str, Any]]:
        """What the kind says of the cells that the entry names, and these cells."""
        arguments: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            if name not in self.entry:
                continue
            value, kind = self.entry[name], parameter.annotation
            if kind is not Cell and Cell not in get_args(kind):
                arguments[name] = _fill(value, variables)
                continue
            cells = list(_cells(value, variables, self.printed))
            several = get_origin(kind) is Sequence
            if not cells or (len(cells) > 1 and not several):
                said = _fill(value, variables)
                wanted = "some" if several else "one"
                raise CheckError(f"{name} is {len(cells)} cells of {said}; expected {wanted}.")
            arguments[name] = cells if several else cells[0]
        return self.kind.check(**arguments), arguments

    def sentence(self, key: str, usual: str, values: Variables | None = None) -> str:
        return _fill(self.entry.get(key, usual), self.variables if values is None else values)

    def marks(self, values: Variables) -> list[Mark]:
        """The cells in question: those of `printed`, or those that reasons are given for by name.

        A name is a parameter's, or a value's of the kind that has singled cells out.
        """
        reasons = self.entry.get("reason", {})
        reasons = reasons if isinstance(reasons, Mapping) else {"printed": reasons}
        return [
            Mark(cell.table, cell.fields, reason)
            for name, reason in reasons.items()
            for cell in _listed(values[name])
            if cell.table
        ]


def _each(
    spec: Mapping[str, Any], variables: Variables, printed: PrintedTables
) -> list[dict[str, Any]]:
    """The variables of every case: all combinations of what an `each` lists, in its order."""
    cases = [dict(variables)]
    for name, value in spec.items():
        cases = [case | one for case in cases for one in _options(name, value, case, printed)]
    if not cases:
        raise CheckError(f"each {dict(spec)} holds no case.")
    return cases


def _options(
    name: str, value: Any, variables: Variables, printed: PrintedTables
) -> list[dict[str, Any]]:
    """What one line of an `each` gives: `cases`, the starred fields of some rows, or a variable."""
    value = _fill(value, variables)
    if name == "cases":
        return value
    if name != "rows":
        return [{name: one} for one in _listed(value)]
    names = [field for field, text in value.items() if text == ANY]
    rows = (cell.fields for cell in _cells(value, variables, printed))
    different = dict.fromkeys(tuple(fields[field] for field in names) for fields in rows)
    return [dict(zip(names, texts, strict=True)) for texts in different]


def _cells(spec: Any, variables: Variables, printed: PrintedTables) -> Iterator[Cell]:
    """The cells that an entry names.

    A number is itself, a text the name of what the paper's text prints, a mapping all rows of a
    table with these fields ("*": any), a list what its parts are; lists of values are gone through
    in their order.
    """
    spec = _fill(spec, variables)
    if isinstance(spec, int | float):
        yield Cell(f"{spec:g}")
    elif isinstance(spec, str):
        text = printed.quoted(spec)
        yield Cell(text, fields={"id": spec}, count="." not in text)
    elif isinstance(spec, Mapping):
        table = spec.get("table") or variables["table"]
        fields = {name: value for name, value in spec.items() if name != "table" and value != ANY}
        if table not in printed.tables:
            raise CheckError(f"{table!r} is no table, but {', '.join(printed.tables)}.")
        _known(spec, ("table", *printed.tables[table]), f"a cell of {table}")
        for name, value in fields.items():
            if not all(isinstance(text, str) for text in _listed(value)):
                raise CheckError(f"{name} is {value!r}; a field is text, in quotes if need be.")
        for texts in product(*map(_listed, fields.values())):
            yield from printed.cells(table, **dict(zip(fields, texts, strict=True)))
    else:
        for part in spec:
            yield from _cells(part, variables, printed)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


class _Sentences(Formatter):
    """`str.format` with names alone; of a cell its fields too, as in {most.model}."""

    def get_field(self, field_name: str, args, kwargs) -> tuple[Any, str]:
        name, _, field = field_name.partition(".")
        if name not in kwargs:
            raise CheckError(f"{{{field_name}}} is none of {', '.join(sorted(kwargs))}.")
        value = kwargs[name]
        return (value.fields[field] if field else value), name

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, list) and all(isinstance(part, Cell) for part in value):
            return " / ".join(self.format_field(one, format_spec) for one in value)
        text = format(value, format_spec)
        return f"−{text[1:]}" if text.startswith("-") and not isinstance(value, str) else text


def _fill(value: Any, variables: Variables) -> Any:
    """A text, or all texts of a list or mapping, with the words in braces filled in.

    A text that is one such word alone becomes its value, which may be a list.
    """
    if isinstance(value, str):
        name = value[1:-1]
        known = variables.get(name) if value == f"{{{name}}}" else None
        if isinstance(known, Mapping) or (known and _is_texts(known)):
            return known
        return _Sentences().vformat(value, (), variables) if "{" in value else value
    if isinstance(value, Mapping):
        return {name: _fill(part, variables) for name, part in value.items()}
    return [_fill(part, variables) for part in value] if isinstance(value, list) else value


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(one, Cell) for one in value)


def _known(
    entry: Iterable[str], keys: Iterable[str], what: str, needed: Sequence[str] = ()
) -> None:
    if unknown := [key for key in entry if key not in keys]:
        raise CheckError(f"{unknown[0]!r} is no key of {what}; expected one of {', '.join(keys)}.")
    if missing := [key for key in needed if key not in entry]:
        raise CheckError(f"{what} needs {' and '.join(missing)}.")

"""From the records of a data set's file to rows, by what its manifest says of the columns."""

from __future__ import annotations

import ast
import json
import re
import string
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sci_book.data.answers import numerals
from sci_book.data.answers.rules import FREE, canonical_truth
from sci_book.data.cells import Place, cell_text, nth, nth_cell, row_problem
from sci_book.data.manifests import Manifest
from sci_book.data.row_pictures import Pictures
from sci_book.data.rows import DatasetError, Problem, Row
from sci_book.data.tables import Unread, read_table

GROUP_MODULUS = 1_000_000
MOST_TEXT = 100_000
"""Characters of all texts of a row; longer ones are a damaged field."""

MOST_DIGITS = 32
MOST_REWRITES = 7
"""Rounds that are reworded: V1 to V7."""
MOST_OPTIONS = len(string.ascii_uppercase)

_NUMBER_WORD = re.compile("and|hundred|thousand")
_CHINESE_NUMERALS = "〇零一二两三四五六七八九十百千万"
_UNSURE = re.compile("[~≈?]")
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")  # spreadsheets write 1 as 1.0
_BETWEEN_QUOTED = re.compile(r"(?<=['\"])\s+(?=['\"])")  # an array of NumPy has no commas
_LETTERED = re.compile(r"(?<!\S)[(\[（]?([A-Z])[.:)\]．：）、]{1,2}\s*")
_NUMBERED = re.compile(r"[(\[]?([0-9]{1,2})[.)\]]{1,2}\s+")  # 1.5 is no option 5
_BULLET = re.compile(r"([-*•])\s+")
_OPTION_INSIDE = re.compile(r"(?<![A-Za-z])([A-Z])\s{0,3}[:：]")
# NaturalBench has this line before its options, and a semicolon behind each.
_OPTIONS_HEADING = re.compile(r"\n\s{0,3}Options?[:：]\s{0,3}$")


def read_rows(path: Path, base: Path, manifest: Manifest, joined: Path | None = None) -> list[Row]:
    """The rows of a file, some of whose columns may stand in a second one, `joined`."""
    if joined is None:
        records = read_table(path, manifest.format, manifest.needed)
    else:
        records = _joined(path, joined, manifest)
    ids = _ids(path, manifest, records)
    pictures = Pictures(manifest, base, records, ids)
    columns = manifest.columns
    # A cell may hold several questions, but not beside several columns of them.
    folded = columns.rows_a_record == 1
    counts = [
        len(cell) if folded and isinstance(cell := record[columns.question[0]], list) and cell
        else columns.rows_a_record
        for record in records
    ]  # fmt: skip
    most = max(counts, default=1)
    rows: list[Row] = []
    for number, (record, count) in enumerate(zip(records, counts, strict=True)):
        for part in range(count):
            index = ids[number] * most + part
            where = f"{path}, row {number + 1} (index {index})"
            place = Place(number, part, index, len(rows), where)
            rows.append(_row(manifest, record, place, pictures))
    return rows


def _joined(path: Path, other: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """The records of a file, each with the columns that a second one of its format has of it."""
    if not other.is_file():
        raise DatasetError(f"{other} does not exist; join expects it.")
    key, more = manifest.join.by, manifest.join.columns
    found: dict[str | None, Mapping[str, Any]] = {}
    for record in read_table(other, manifest.format, list(dict.fromkeys([key, *more]))):
        if isinstance(record, Unread):
            continue
        if found.setdefault(value := cell_text(record[key]), record) is not record:
            raise DatasetError(f"{other} has {key} {value!r} twice; join needs one row for each.")
    own = [column for column in manifest.needed if column not in more]
    records = read_table(path, manifest.format, list(dict.fromkeys([key, *own])))
    for place, record in enumerate(records):
        match = found.get(cell_text(record[key]))
        if match is None and not isinstance(record, Unread):
            reason = f"no row of {other} has its {key}, {str(record[key])[:40]!r}"
            records[place] = record = Unread(record, reason, "join")
        record.update((column, match[column] if match else None) for column in more)
    return records


def _ids(path: Path, manifest: Manifest, records: Sequence[Mapping[str, Any]]) -> list[int]:
    column = manifest.columns.index
    if column is None:
        return list(range(len(records)))
    ids = []
    for number, record in enumerate(records, start=1):
        if isinstance(record, Unread):  # its cells may be those of other columns
            ids.append(-number)
            continue
        text = cell_text(record[column]) or ""
        whole = _WHOLE_NUMBER.fullmatch(text.strip()[:MOST_DIGITS])
        ids.append(int(whole[1]) if whole else 2**63)
        if abs(ids[-1]) >= 2**48:  # leaves room for several rows a record
            raise DatasetError(
                f"{path}, row {number}: the index is {text[:40]!r}; expected a whole number. "
                "Without columns.index a row is named by its place in the file."
            )
    if len(set(ids)) != len(ids):
        seen: set[int] = set()
        twice = next(x for x in ids if x in seen or seen.add(x))
        raise DatasetError(f"{path} has index {twice} twice; every row needs its own.")
    return ids


def _row(manifest: Manifest, record: Mapping[str, Any], place: Place, pictures: Pictures) -> Row:
    columns = manifest.columns
    problems: list[Problem] = []

    def refuse(kind: str, reason: str) -> None:
        problems.append(row_problem(place, kind, reason))

    def words(cell: Any, field: str) -> str:
        text = cell_text(cell)
        if text is None:
            refuse("text", f"the {field} is no text, {type(cell).__name__} came")
        return (text or "").strip()

    if isinstance(record, Unread):
        refuse(record.kind, record.reason)
    picture = pictures.of(place)
    if picture.problem:
        problems.append(picture.problem)
    question = words(nth_cell(columns, columns.question, record, place), "question")
    if not question:
        refuse("question", "the question is empty")
    kind, value = manifest.question_type, ""
    if manifest.question_types:
        column, values = manifest.question_types.column, manifest.question_types.values
        value = cell_text(record[column]) or ""
        kind = values.get(value, "short")
        if value not in values:
            expected = ", ".join(values)
            refuse("question type", f"{column} is {value[:40]!r}; expected one of {expected}")
    options: dict[str, str] = {}
    if kind == "mcq":
        question, texts = _options(manifest, record, question)
        options = dict(zip(string.ascii_uppercase, texts, strict=False))
        options = {letter: text for letter, text in options.items() if text}
        if len(options) < 2 or len(texts) > MOST_OPTIONS:
            count = len(options) if len(texts) <= MOST_OPTIONS else len(texts)
            cell = record[manifest.columns.options[0]] if manifest.columns.options else None
            if not texts and isinstance(cell, str) and cell.strip():
                how = '["red", "blue"], red | blue, or A. red; B. blue'
                refuse("options", f"{cell[:80]!r} is no list of options; expected one as {how}")
            refuse("options", f"{count} options came; expected 2 to {MOST_OPTIONS}, A to Z")
    cell = record[nth(columns.answer, place.part)]
    if isinstance(cell, list) and kind in FREE and all(isinstance(each, str) for each in cell):
        cell = ", ".join(cell)  # the things in a picture, say
    said = words(cell, "answer")
    if manifest.answers is not None:
        said = manifest.answers.get(said, said)
    answer = canonical_truth(kind, said)
    if kind == "mcq" and answer not in options:
        answer = next((x for x, text in options.items() if text.strip() == said), answer)
    if expected := _expected(kind, said, answer, options):
        refuse("answer", f"the answer is {said[:80]!r}; expected {expected}")
    texts = {"question": question, "answer": answer, "translation": ""}
    for field in ("hint", "category"):
        column = getattr(columns, field)
        texts[field] = words(record[column], field) if column else ""
    texts["group"] = "/".join(words(record[column], "group") for column in columns.group or ())
    if columns.translation and kind in FREE:
        cell = nth_cell(columns, columns.translation, record, place)
        texts["translation"] = words(cell, "translation")
    rewrites: tuple[str, ...] = ()
    if columns.rewrites:
        rewrites = tuple(words(each, "rewrites") for each in _listed(record[columns.rewrites], "|"))
        if (wrong := _wrong_rewrites(rewrites, record[columns.rewrites])) and not problems:
            refuse("rewrites", wrong)
    if sum(map(len, (*rewrites, *options.values(), *texts.values()))) > MOST_TEXT:
        refuse("text", f"over {MOST_TEXT:,} characters came")
        # Nobody shall tokenise or store it.
        texts = {field: text[:80] for field, text in texts.items()}
        options = {letter: text[:80] for letter, text in options.items()}
        rewrites = tuple(text[:80] for text in rewrites)
    circular = str(place.index % GROUP_MODULUS)
    groups = {"record": str(place.record), "circular": circular, "picture": picture.hash}
    group = texts.pop("group") or groups["picture" if columns.group else manifest.group]
    prompt = manifest.prompt_of(value, kind)
    question = prompt.replace("{question}", texts.pop("question"))
    return Row(
        dataset=manifest.name,
        index=place.index,
        position=place.position,
        group=f"{manifest.group_prefix or manifest.name}:{group}",
        question_type=kind,
        question=question,
        options=options,
        **texts,
        rewrites=rewrites,
        image_hash=picture.hash,
        problem=problems[0] if problems else None,
        image_bytes=picture.content,
        image_file=picture.file,
        where=place.where,
    )


def _options(manifest: Manifest, record: Mapping[str, Any], question: str) -> tuple[str, list[str]]:
    """The question without its options, and their texts in order; "" where a letter has none."""
    names = manifest.columns.options
    if names is None:
        question, options = _options_inside(question)
        return question, list(options.values())
    cells = [record[name] for name in names] if len(names) > 1 else _listed(record[names[0]])
    texts = [cell_text(cell) or "" for cell in cells]
    texts = ["" if text.isspace() else text for text in texts]
    while texts and not texts[-1]:
        texts.pop()
    return question, texts


def _wrong_rewrites(texts: Sequence[str], cell: Any) -> str:
    """What is wrong with the rewordings of a row, or ""."""
    if not texts:
        empty = not cell or (isinstance(cell, str) and not cell.strip())
        return "" if empty else 'the rewrites are no texts; expected a JSON list, or "V1 | V2 | V3"'
    if len(texts) > MOST_REWRITES:
        return f"{len(texts)} rewrites came; expected up to {MOST_REWRITES}, V1 to V{MOST_REWRITES}"
    if "" in texts:
        return f"rewrite {texts.index('') + 1} is empty; leave it out, or the whole cell"
    twice = next((text for text in texts if texts.count(text) > 1), None)
    return f"the rewrite {twice[:80]!r} came twice; each round needs its own" if twice else ""


def _listed(cell: Any, separators: Sequence[str] = ("\n", "|", ";")) -> list[Any]:
    """The texts in one cell: a list, a mapping from letters, or a text that writes either.

    A text may be JSON, a list of Python or NumPy ("['red', 'blue']", as pandas writes one), texts
    between separators, all with a letter, a number or a bullet or all without ("A. red | B. blue"),
    or texts behind their letters ("A) red B) blue"). A mapping may have lists `label` and `text`.
    """
    if isinstance(cell, str):
        cell = _from_text(cell.strip()[:MOST_TEXT], separators)
    if isinstance(cell, dict) and isinstance(texts := cell.get("text"), list):
        cell = dict(zip(cell.get("label", ()), texts, strict=False))
    if isinstance(cell, dict):
        return list(cell.values()) if _in_order(list(cell)) else []
    return list(cell) if isinstance(cell, list | tuple) else []


def _in_order(labels: Sequence[Any]) -> bool:
    """Whether these are the first letters, in either case, or the first numbers from 0 or 1."""
    said = [str(label).upper() for label in labels]
    count = len(said)
    orders = (string.ascii_uppercase[:count], range(count), range(1, count + 1))
    return any(said == list(map(str, order)) for order in orders)


def _from_text(text: str, separators: Sequence[str]) -> Any:
    if text.startswith(("[", "{", "(")):
        for read, written in (
            (json.loads, text),
            (ast.literal_eval, _BETWEEN_QUOTED.sub(", ", text)),
        ):
            try:
                with warnings.catch_warnings(action="ignore"):  # of a backslash in a text
                    value = read(written)
            except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
                continue
            if isinstance(value, list | tuple | dict):
                return value
    separator = next((mark for mark in separators if mark in text), None)
    if separator is None:
        before, *between = _LETTERED.split(text)  # letters and texts in turn
        known = not before and len(between) > 2 and _in_order(between[::2])
        return [part.strip() for part in between[1::2]] if known else []
    parts = [part.strip() for part in text.split(separator)]
    while parts and not parts[-1]:
        parts.pop()
    for pattern in (_LETTERED, _NUMBERED, _BULLET):
        labels = [match and match[1] for match in map(pattern.match, parts)]
        if None not in labels and (pattern is _BULLET or _in_order(labels)):
            return [pattern.sub("", part, count=1) for part in parts]
    return parts


def _options_inside(question: str) -> tuple[str, dict[str, str]]:
    """ "How many? A:16  B:17" as the question and its options: the last run of A:, B:, …"""
    matches = list(_OPTION_INSIDE.finditer(question))
    first = max((i for i, match in enumerate(matches) if match[1] == "A"), default=None)
    if first is None:
        return question, {}
    run = [matches[first]]
    for match in matches[first + 1 :]:
        if len(run) < 26 and match[1] == string.ascii_uppercase[len(run)]:
            run.append(match)
    ends = [match.start() for match in run[1:]] + [len(question)]
    options = {
        match[1]: question[match.end() : end].strip().removesuffix(";")
        for match, end in zip(run, ends, strict=True)
    }
    return _OPTIONS_HEADING.sub("", question[: run[0].start()]).strip(), options


def _expected(kind: str, said: str, answer: str, options: Mapping[str, str]) -> str:
    """What an answer should be, where it is not; else ""."""
    if kind == "number":
        good, expected = answer != "" and _is_bare_number(said), "a number and nothing else"
    elif kind in ("short", *FREE):
        good, expected = bool(answer), "a word or a few"
    else:
        allowed = list(options) if kind == "mcq" else ["yes", "no"]
        good = answer in allowed
        expected = f"one of {', '.join(allowed)}"
        if kind == "yesno":
            expected += " (or say in the YAML file's `answers` what it stands for)"
    return "" if good else expected


def _is_bare_number(text: str) -> bool:
    """Whether a truth is a number without any other word: "about one" would be read as 1."""
    text = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[^\W\d_]+", text)
    if not all(
        _NUMBER_WORD.fullmatch(word) or numerals.number(word) for word in words if word.isascii()
    ):
        return False
    others = set("".join(word for word in words if not word.isascii()))
    return others <= set(_CHINESE_NUMERALS) and not _UNSURE.search(text)

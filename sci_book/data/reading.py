"""From the records of a data set's file to rows, by what its manifest says of the columns."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sci_book.data.answers import numerals
from sci_book.data.answers.rules import canonical_truth
from sci_book.data.cells import Place, cell_text, nth, nth_cell, row_problem
from sci_book.data.manifests import Manifest
from sci_book.data.row_pictures import Pictures
from sci_book.data.rows import DatasetError, Problem, Row
from sci_book.data.tables import Uneven, read_table

GROUP_MODULUS = 1_000_000
MOST_TEXT = 100_000
"""Characters of all texts of a row; longer ones are a damaged field."""

_NUMBER_WORD = re.compile("and|hundred|thousand")
_CHINESE_NUMERALS = "〇零一二两三四五六七八九十百千万"
_UNSURE = re.compile("[~≈?]")
_OPTION_INSIDE = re.compile(r"(?<![A-Za-z])([A-Z])\s{0,3}[:：]")


def read_rows(path: Path, base: Path, manifest: Manifest) -> list[Row]:
    records = read_table(path, manifest.format, manifest.needed)
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


def _ids(path: Path, manifest: Manifest, records: Sequence[Mapping[str, Any]]) -> list[int]:
    column = manifest.columns.index
    if column is None:
        return list(range(len(records)))
    ids = []
    for number, record in enumerate(records, start=1):
        if isinstance(record, Uneven):  # its cells may be those of other columns
            ids.append(-number)
            continue
        text = cell_text(record[column]) or ""
        try:
            ids.append(int(text))
        except ValueError:
            ids.append(2**63)
        if abs(ids[-1]) >= 2**48:  # leaves room for several rows a record
            raise DatasetError(
                f"{path}, row {number}: the index is {text[:40]!r}; expected a whole number."
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

    if isinstance(record, Uneven):
        refuse("fields", record.reason)
    picture = pictures.of(place)
    if picture.problem:
        problems.append(picture.problem)
    question = words(nth_cell(columns, columns.question, record, place), "question")
    if not question:
        refuse("question", "the question is empty")
    kind = manifest.question_type
    if manifest.question_types:
        column, values = manifest.question_types.column, manifest.question_types.values
        value = cell_text(record[column])
        kind = values.get(value, "short")
        if value not in values:
            expected = ", ".join(values)
            refuse("question type", f"{column} is {str(value)[:40]!r}; expected one of {expected}")
    options: dict[str, str] = {}
    if kind == "mcq":
        question, options = _options(manifest, record, question)
        if len(options) < 2:
            refuse("options", f"{len(options)} options came; expected 2 or more")
    said = words(record[nth(columns.answer, place.part)], "answer")
    answer = canonical_truth(kind, said)
    if kind == "mcq" and answer not in options:
        answer = next((x for x, text in options.items() if text.strip() == said), answer)
    if expected := _expected(kind, said, answer, options):
        refuse("answer", f"the answer is {said[:80]!r}; expected {expected}")
    texts = {"question": question, "answer": answer, "translation": ""}
    for field in ("hint", "category", "group"):
        column = getattr(columns, field)
        texts[field] = words(record[column], field) if column else ""
    if columns.translation and kind == "free":
        cell = nth_cell(columns, columns.translation, record, place)
        texts["translation"] = words(cell, "translation")
    if sum(map(len, (*options.values(), *texts.values()))) > MOST_TEXT:
        refuse("text", f"over {MOST_TEXT:,} characters came")
        # Nobody shall tokenise or store it.
        texts = {field: text[:80] for field, text in texts.items()}
        options = {letter: text[:80] for letter, text in options.items()}
    circular = str(place.index % GROUP_MODULUS)
    groups = {"record": str(place.record), "circular": circular, "picture": picture.hash}
    group = texts.pop("group") or groups["picture" if columns.group else manifest.group]
    question = manifest.prompt.replace("{question}", texts.pop("question"))
    return Row(
        dataset=manifest.name,
        index=place.index,
        position=place.position,
        group=f"{manifest.group_prefix or manifest.name}:{group}",
        question_type=kind,
        question=question,
        options=options,
        **texts,
        image_hash=picture.hash,
        problem=problems[0] if problems else None,
        image_bytes=picture.content,
        image_file=picture.file,
        where=place.where,
    )


def _options(
    manifest: Manifest, record: Mapping[str, Any], question: str
) -> tuple[str, dict[str, str]]:
    """The question without its options, and the options by letter."""
    names = manifest.columns.options
    if names is None:
        return _options_inside(question)
    if len(names) > 1:
        texts = [record[name] for name in names]
    else:
        texts = record[names[0]]
        if isinstance(texts, str):  # a list in a text cell is written as JSON
            try:
                texts = json.loads(texts)
            except (ValueError, RecursionError):
                texts = []
        texts = texts if isinstance(texts, list) else []
    lettered = zip(string.ascii_uppercase, [cell_text(text) for text in texts], strict=False)
    return question, {letter: text for letter, text in lettered if text and not text.isspace()}


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
        match[1]: question[match.end() : end].strip() for match, end in zip(run, ends, strict=True)
    }
    return question[: run[0].start()].strip(), options


def _expected(kind: str, said: str, answer: str, options: Mapping[str, str]) -> str:
    """What an answer should be, where it is not; else ""."""
    if kind == "number":
        good, expected = answer != "" and _is_bare_number(said), "a number and nothing else"
    elif kind in ("short", "free"):
        good, expected = bool(answer), "a word or a few"
    else:
        allowed = list(options) if kind == "mcq" else ["yes", "no"]
        good, expected = answer in allowed, f"one of {', '.join(allowed)}"
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

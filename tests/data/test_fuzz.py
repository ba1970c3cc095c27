"""Hundreds of damaged files: each loads with its problems counted, or is one clear sentence.

Every file is made from a small good one and a seed, so that a failure shows again. By default a
file of each kind of damage and format; `make soak` makes many times as many.
"""

import base64
import json
import random
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sci_book.data.check import check
from sci_book.data.datasets import DatasetError, load_dataset
from sci_book.data.rows import RowError
from tests.data import formats
from tests.soak import TIMES

FORMATS = ("tsv", "csv", "json", "jsonl", "parquet")
SEEDS = range(6 * TIMES)
PICTURES = [formats.png(seed, (12, 10)) for seed in range(3)]
LONG = "x" * 10_000_000


def good_rows():
    """Six yes/no questions on three pictures; two rows point at another row's picture."""
    rows = []
    for number in range(6):
        picture = formats.encoded(PICTURES[number % 3]) if number < 4 else str(number - 3)
        rows.append(
            {
                "index": str(number), "image": picture, "image_path": f"p{number % 3}",
                "question": f"Is ball {number} red, or “rouge”? Please answer yes or no.",
                "answer": ("Yes", "No")[number % 2], "category": "colour",
            }
        )  # fmt: skip
    return rows


def write(path, rows):
    form = path.suffix[1:]
    if form == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif form == "jsonl":
        formats.write_json_lines(path, rows)
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        values = [[row.get(column, "") for column in columns] for row in rows]
        formats.write_tsv(path, columns, values, {"tsv": "\t", "csv": ","}[form])


# --- damage to the bytes of a file --------------------------------------------------------------


def flip_bytes(content, dice):
    content = bytearray(content)
    for _ in range(dice.choice((1, 3, 20))):
        content[dice.randrange(len(content))] ^= dice.randrange(1, 256)
    return bytes(content)


def cut_end(content, dice):
    return content[: dice.randrange(len(content))]


def cut_middle(content, dice):
    first = dice.randrange(len(content))
    return content[:first] + content[first + dice.randrange(1, 200) :]


def insert(piece):
    def at_random(content, dice):
        place = dice.randrange(len(content))
        return content[:place] + piece + content[place:]

    return at_random


def repeat_part(content, dice):
    first = dice.randrange(len(content))
    return content[:first] + content[first - dice.randrange(500) : first] * 3 + content[first:]


BYTES = {
    "bytes flipped": flip_bytes,
    "end cut": cut_end,
    "middle cut": cut_middle,
    "NUL inside": insert(b"\0" * 3),
    "quote inside": insert(b'"'),
    "broken UTF-8 inside": insert(b"\xff\xc3\x28"),
    "line break inside": insert(b"\r\n\r"),
    "separators inside": insert(b"\t,;\t"),
    "part repeated": repeat_part,
    "BOM": lambda content, dice: b"\xef\xbb\xbf" * dice.choice((1, 2)) + content,
    "CRLF": lambda content, dice: content.replace(b"\n", b"\r\n"),
    "CR": lambda content, dice: content.replace(b"\n", b"\r"),
    "UTF-16": lambda content, dice: content.decode("latin-1").encode(
        dice.choice(("utf-16", "utf-16-be", "utf-32"))
    ),
    "Latin-1": lambda content, dice: content.decode("utf-8", "ignore").encode("latin-1", "ignore"),
    "empty": lambda content, dice: b"",
    "first line alone": lambda content, dice: content.split(b"\n")[0] + b"\n",
    "no first line": lambda content, dice: content.partition(b"\n")[2],
    "twice": lambda content, dice: content + content,
    "random bytes": lambda content, dice: dice.randbytes(len(content)),
    "brackets": lambda content, dice: b"[" * dice.choice((10, 100_000)),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("damage", BYTES)
def test_damaged_bytes_are_refused_in_a_sentence_or_counted(form, damage, tmp_path):
    good = tmp_path / f"good.{form}"
    write(good, good_rows())
    for seed in SEEDS if damage in ("bytes flipped", "end cut", "middle cut") else range(2 * TIMES):
        dice = random.Random(f"{form} {damage} {seed}")
        bad = tmp_path / f"bad.{form}"
        bad.write_bytes(BYTES[damage](good.read_bytes(), dice))
        outcome(formats.write_own(tmp_path / "mine.yaml", bad.name))


# --- damage to what the rows say ----------------------------------------------------------------


def one_cell(column, *values):
    def damage(rows, dice):
        rows[dice.randrange(len(rows))][column] = dice.choice(values)

    return damage


def without(column):
    def damage(rows, dice):
        for row in rows:
            del row[column]

    return damage


def cycle(rows, dice):
    for row, target in zip(
        rows, dice.choice(("120345", "000000", "543210", "123450")), strict=True
    ):
        row["image"] = target


def cut_base64(rows, dice):
    row = rows[dice.randrange(4)]
    row["image"] = row["image"][: dice.randrange(65, len(row["image"]))]


def damaged_picture(rows, dice):
    content = dice.choice((flip_bytes, cut_end, cut_middle))(PICTURES[0], dice)
    rows[0]["image"] = base64.b64encode(content + b" " * 60).decode()


ROWS = {
    **{f"no {column}": without(column) for column in good_rows()[0]},
    "index twice": one_cell("index", "3", "0"),
    "no index": one_cell("index", "", "x", "1.5", "١", "9" * 30, "9" * 5000, "-1", "1_0", "\0"),
    "pointers in a cycle": cycle,
    "pointer": one_cell("image", "99", "-1", "5", "٣", "3.0", "0 0", "null", "A" * 64),
    "no base64": one_cell("image", "", "!" * 80, "é" * 80, "=" * 80, "A" * 81, "data:," + "A" * 80),
    "base64 cut": cut_base64,
    "picture damaged": damaged_picture,
    "question": one_cell("question", "", " \n", "\0", "\u202e\ud7ff", "{question}", "\v\f\x1c"),
    "answer": one_cell("answer", "", "maybe", "yes no", "YES ", "\0", "1", "y", "True"),
    "10 MB cell": one_cell("question", LONG),
    "10 MB picture": one_cell("image", LONG[:10_000_000]),
    "10 MB answer": one_cell("answer", LONG),
}  # fmt: skip
OBJECTS = {
    "other types": [None, 1, 1.5, float("nan"), True, [], ["a"], [[]], {}, {"bytes": 1}, 10**400],
    "half a surrogate": ["\ud800", "a\udfff"],
}


# A cell of 10 MB in CSV and JSON is read by the same code as in TSV and JSON lines.
@pytest.mark.parametrize(
    ("form", "damage"),
    [(f, d) for d in ROWS for f in FORMATS if "10 MB" not in d or f not in ("csv", "json")],
)
def test_damaged_rows_are_refused_in_a_sentence_or_counted(form, damage, tmp_path):
    for seed in range((1 if "10 MB" in damage else 3) * TIMES):
        dice = random.Random(f"{form} {damage} {seed}")
        rows = good_rows()
        ROWS[damage](rows, dice)
        write(tmp_path / f"bad.{form}", rows)
        outcome(formats.write_own(tmp_path / "mine.yaml", f"bad.{form}"))


@pytest.mark.parametrize("column", list(good_rows()[0]))
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_values_of_other_types(form, column, tmp_path):
    for value in [each for values in OBJECTS.values() for each in values]:
        rows = good_rows()
        rows[2][column] = value
        path = tmp_path / f"bad.{form}"
        text = json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows))
        path.write_text(text, encoding="utf-8")
        dataset = outcome(formats.write_own(tmp_path / "mine.yaml", path.name))
        # One bad cell spoils its own row, and those that point at its picture.
        assert dataset is None or sum(row.problem is not None for row in dataset) <= 2


@pytest.mark.parametrize("column", list(good_rows()[0]))
@pytest.mark.parametrize("kind", [pa.int64(), pa.binary(), pa.bool_(), pa.float64(), pa.null()])
def test_parquet_columns_of_other_types(column, kind, tmp_path):
    table = pa.Table.from_pylist(good_rows())
    values = {pa.binary(): b"\xff\x00", pa.bool_(): True, pa.null(): None}.get(kind, 7)
    place = table.column_names.index(column)
    table = table.set_column(place, column, pa.array([values] * 6, kind))
    pq.write_table(table, tmp_path / "bad.parquet")
    outcome(formats.write_own(tmp_path / "mine.yaml", "bad.parquet"))


# --- damage to the manifest ---------------------------------------------------------------------

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MANIFESTS = {
    "YAML bomb": lambda text, dice: BOMB + text,
    "alias": lambda text, dice: text + "title: &t x\nnote: *t\n",
    "tag": lambda text, dice: text + "title: !!python/object/apply:os.system [true]\n",
    "impossible date": lambda text, dice: text + "title: 2001-99-99\n",
    "too deep": lambda text, dice: text + "title: " + "[" * 30_000,
    "too long": lambda text, dice: text + "#" * 70_000,
    "list": lambda text, dice: "- a\n- b\n",
    "number": lambda text, dice: "7\n",
    "empty": lambda text, dice: "",
    "tab": lambda text, dice: "\t" + text,
    "random bytes": lambda text, dice: dice.randbytes(300).decode("latin-1"),
    "flipped": lambda text, dice: flip_bytes(text.encode(), dice).decode("utf-8", "replace"),
    "line missing": lambda text, dice: "".join(
        line for place, line in enumerate(text.splitlines(True))
        if place != dice.randrange(text.count("\n"))
    ),
    "key unknown": lambda text, dice: text + "colour: red\n",
}  # fmt: skip


@pytest.mark.parametrize("damage", MANIFESTS)
def test_a_damaged_manifest_is_refused_in_a_sentence_or_counted(damage, tmp_path):
    write(tmp_path / "good.tsv", good_rows())
    for seed in range(4 * TIMES):
        dice = random.Random(f"{damage} {seed}")
        path = tmp_path / "mine.yaml"
        path.write_text(MANIFESTS[damage](own_text(tmp_path), dice), encoding="utf-8")
        outcome(str(path))


def own_text(folder):
    formats.write_own(folder / "mine.yaml", "good.tsv")
    return (folder / "mine.yaml").read_text()


@pytest.mark.parametrize("value", [None, 1, -1, True, "", "x", "../x", "/x", [], [1], {}, {"a": 1}])
def test_every_key_of_a_manifest_with_every_kind_of_value(value, tmp_path):
    write(tmp_path / "good.tsv", good_rows())
    plain = yaml.safe_load(own_text(tmp_path))
    keys = [
        "title", "address", "file", "size", "checksum", "rows", "format", "columns",
        "question_type", "question_types", "pictures", "picture_folder", "options_inside", "group",
        "group_prefix", "prompt", "name", "folder", "twin_of", "parts",
    ]  # fmt: skip
    for key in keys:
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**plain, key: value}))
        outcome(str(tmp_path / "mine.yaml"))
    for key in ("index", "question", "answer", "image", "options", "hint", "group", "category"):
        columns = {**plain["columns"], key: value}
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump({**plain, "columns": columns}))
        outcome(str(tmp_path / "mine.yaml"))


# --- what must be so ----------------------------------------------------------------------------


def outcome(name):
    """Load and check a data set: it is refused in one sentence, or its bad rows are counted."""
    try:
        dataset = load_dataset(name)
    except DatasetError as error:
        said = str(error)
        assert len(said) < 3000 and said.rstrip().endswith("."), said
        assert not re.search(r"Traceback|<class|object at 0x", said), said
        return None
    found = check(dataset)
    assert found.rows == len(dataset) == dataset.sizes[dataset.name]
    spoilt = 0
    for row in dataset:
        try:
            assert row.image().mode == "RGB"
            assert row.answer and row.question
        except RowError as error:
            assert error.kind and len(str(error)) < 3000
            spoilt += 1
    assert spoilt <= found.spoilt <= len(dataset)
    assert f"unusable rows: {found.spoilt:,}" in str(found)
    return dataset


def test_the_good_file_is_good(tmp_path):
    for form in FORMATS:
        write(tmp_path / f"good.{form}", good_rows())
        dataset = outcome(formats.write_own(tmp_path / "mine.yaml", f"good.{form}"))
        assert len(dataset) == 6 and not check(dataset).problems

"""Tables as people and other tools write them: what is read, what costs a row, and what is said."""

import base64
import gzip
import io
import json
import re
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from sci_book.data.check import check
from sci_book.data.datasets import DatasetError, load_dataset
from sci_book.data.reading import MOST_REWRITES
from sci_book.run.runner import evaluate, make_plan
from sci_book.run.shards import pose
from sci_core.counterfactuals import REWRITES
from tests import tiny
from tests.conftest import sci
from tests.data import formats

ASKED = "Is it red? Please answer yes or no."
PICTURE = formats.png()
TEXT = formats.encoded(PICTURE)
COLUMNS = {"question": "q", "answer": "a", "image": "i"}


def yaml_of(folder, data, **keys):
    return formats.write_own(
        folder / "mine.yaml", data, **{"columns": COLUMNS, "question_type": "yesno", **keys}
    )


def rows_of(folder, data, content=None, **keys):
    """The rows of a file; a text is written as it stands, a list as a Parquet table."""
    if isinstance(content, str):
        (folder / data).write_text(content, encoding="utf-8")
    elif isinstance(content, bytes):
        (folder / data).write_bytes(content)
    elif content is not None:
        pq.write_table(pa.Table.from_pylist(content), folder / data)
    return load_dataset(yaml_of(folder, data, **keys)).rows


def usable(rows):
    return [row.problem is None for row in rows]


# --- lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "blank"),
    [("tsv", ""), ("tsv", "  "), ("tsv", "\t\t"), ("tsv", " \t"), ("csv", ""), ("csv", "   "),
     ("csv", ",,"), ("csv", '"",,'), ("csv", " , , ")],
)  # fmt: skip
def test_a_blank_line_is_no_row(form, blank, tmp_path):
    mark = {"tsv": "\t", "csv": ","}[form]
    line = mark.join([ASKED, "yes", TEXT])
    lines = [mark.join("qai"), blank, line, blank, blank, line, blank, ""]
    for end in ("\n", "\r\n"):
        rows = rows_of(tmp_path, f"q.{form}", end.join(lines), rows=2)
        assert usable(rows) == [True, True] and [row.index for row in rows] == [0, 1]


@pytest.mark.parametrize(
    "question",
    ['"Stop" is written. Is it red?', '"What?', '"" is it?', '"a" or "b"?'],
)
@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_a_lone_quotation_mark_costs_its_line_and_is_named(form, question, tmp_path):
    mark = {"tsv": "\t", "csv": ","}[form]
    good = mark.join([ASKED, "yes", TEXT])
    bad = mark.join([question, "yes", TEXT])
    lines = [mark.join("qai"), good, bad, good, bad, good, f'"{ASKED}"{mark}no{mark}{TEXT}']
    rows = rows_of(tmp_path, f"q.{form}", "\n".join(lines))
    assert usable(rows) == [True, False, True, False, True, True]
    assert "line 3 cannot be read" in rows[1].problem.sentence
    assert "a field that begins with a quotation mark must end with one" in rows[1].problem.sentence
    assert "line 5" in rows[3].problem.sentence and rows[5].answer == "no"


def test_a_quoted_field_may_hold_several_lines(tmp_path):
    rows = rows_of(tmp_path, "q.csv", f'q,a,i\n"Is it\n\nred, or\n""rouge""?",yes,{TEXT}\nx,no\n')
    assert rows[0].question == 'Is it\n\nred, or\n"rouge"?' and rows[0].problem is None
    assert "2 fields came, 3 were expected (line 6)" in rows[1].problem.sentence


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
def test_bytes_that_are_no_utf8_cost_their_line_and_are_named(form, tmp_path):
    mark = {"tsv": "\t", "csv": ","}.get(form)
    for place, bad in enumerate((b"caf\xe9", b"\xfcber", b"\xa3 5", b"\xff\xc3\x28"), start=1):
        lines = [[ASKED, "yes", TEXT]] * 5
        if mark:
            text = "\n".join(mark.join(line) for line in [["q", "a", "i"], *lines])
        else:
            text = "\n".join(json.dumps(dict(zip("qai", line, strict=True))) for line in lines)
        content = text.encode().split(b"\n")
        line = place + bool(mark)
        content[line - 1] = content[line - 1].replace(b"Is it", bad)
        rows = rows_of(tmp_path, f"q.{form}", b"\n".join(content))
        assert usable(rows) == [number != place - 1 for number in range(5)]
        said = rows[place - 1].problem.sentence
        value = next(byte for byte in bad if byte > 127)
        assert f"line {line} holds the byte 0x{value:02x} ({chr(value)!r} in Latin-1)" in said
        assert "save the file as UTF-8" in said
    content = json.dumps([{"q": "é\n", "a": "yes", "i": TEXT}], ensure_ascii=False, indent=1)
    with pytest.raises(DatasetError, match=r"q\.json: line 3 holds the byte 0xe9"):
        rows_of(tmp_path, "q.json", content.encode("latin-1"))


def test_a_line_of_json_that_cannot_be_read_costs_itself(tmp_path):
    good = json.dumps({"q": ASKED, "a": "yes", "i": TEXT})
    bad = ['{"q": "x"', "{'q': 'x'}", '{"q": "x",}', "nothing", "5", "null", '["a"]', '"text"']
    rows = rows_of(tmp_path, "q.jsonl", "\n".join(x for each in bad for x in (good, each, "")))
    assert usable(rows) == [True, False] * 8
    assert "line 2 is no readable JSON" in rows[1].problem.sentence
    assert "line 5 is no readable JSON" in rows[3].problem.sentence
    listed = rows_of(tmp_path, "q.json", f"[{good}, {', '.join(bad[4:])}]")
    assert usable(listed) == [True] + [False] * 4
    for row in (rows[9], listed[1]):
        assert "int 5 came; expected an object with i, q, a" in row.problem.sentence
    with pytest.raises(DatasetError, match=r"row 1 and every other: list \[1\] came; expected an"):
        rows_of(tmp_path, "q.json", "[[1], [2]]")


def compressed(content):
    return gzip.compress(content)


def as_utf16(content):
    return content.decode().encode("utf-16")


def as_page(content):
    return b"<!DOCTYPE html><html>404</html>"


def as_pointer(content):
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:12\n"


def as_archive(content):
    return b"PK\x03\x04" + content


def as_parquet(content):
    file = io.BytesIO()
    pq.write_table(pa.table({"q": ["x"]}), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("change", "said"),
    [(compressed, "compressed by gzip; unpack it first"), (as_utf16, "UTF-16; save it as UTF-8"),
     (as_page, "a web page"), (as_pointer, "a pointer of Git LFS"), (as_archive, "an Excel"),
     (as_parquet, "Parquet; write format: parquet")],
)  # fmt: skip
@pytest.mark.parametrize("form", ["tsv", "csv", "json", "jsonl"])
def test_a_file_of_another_kind_is_called_by_its_name(form, change, said, tmp_path):
    with pytest.raises(DatasetError, match=rf"q\.{form} is no .*: it is .*{said}"):
        rows_of(tmp_path, f"q.{form}", change(b"q\ta\ti\n"))


@pytest.mark.parametrize(
    ("begins", "said"),
    [(b"7z\xbc\xaf\x27\x1c", "7-Zip"), (b"\x04\x22\x4d\x18", "lz4"), (b"Rar!\x1a", "RAR"),
     (b"SQLite format 3\0", "SQLite"), (b"\x80\x04\x95\0", "pickle"), (b"\x89HDF\r\n", "HDF5"),
     (b"<?xml version", "XML"), ("q,a,i\n".encode("utf-16-le"), "UTF-16 without a mark"),
     ("q,a,i\n".encode("utf-32-be"), "NUL bytes")],
)  # fmt: skip
def test_what_no_text_begins_with_is_not_called_a_missing_header(begins, said, tmp_path):
    with pytest.raises(DatasetError, match=rf"q\.csv is no CSV: .*{said}"):
        rows_of(tmp_path, "q.csv", begins + b"\n1,2,3\n")


@pytest.mark.parametrize(
    ("form", "mark", "said"),
    [("csv", ";", "Semicolons stand between its fields"), ("csv", "\t", "write format: tsv"),
     ("tsv", ",", "write format: csv"), ("tsv", "|", "Bars stand"), ("tsv", ";", "Semicolons")],
)  # fmt: skip
def test_another_separator_is_not_called_a_missing_header(form, mark, said, tmp_path):
    content = f"q{mark}a{mark}i\nIs it?{mark}yes{mark}{TEXT}\n"
    with pytest.raises(DatasetError, match=f"has no column .*{said}"):
        rows_of(tmp_path, f"q.{form}", content)
    with pytest.raises(DatasetError, match=r"has no column .*Give the file its header"):
        rows_of(tmp_path, f"q.{form}", f"Is it?{mark}yes{mark}{TEXT}\n")


def test_each_form_of_json_is_told_from_the_other(tmp_path):
    record = {"q": ASKED, "a": "yes", "i": TEXT}
    line, listed = json.dumps(record), json.dumps([record] * 2)
    for content in (f"{line}\n{line}\n", line, f"{line}\n\n{line}"):
        with pytest.raises(DatasetError, match="format: jsonl"):
            rows_of(tmp_path, "q.json", content)
    for content in (listed, json.dumps([record] * 2, indent=1), f" {listed}\n"):
        with pytest.raises(DatasetError, match="write format: json"):
            rows_of(tmp_path, "q.jsonl", content)
    for form, content in (("csv", listed), ("tsv", line)):
        with pytest.raises(DatasetError, match=r"It looks like JSON.*: write format: json"):
            rows_of(tmp_path, f"q.{form}", content)
    with pytest.raises(DatasetError, match=r"line 1 column \d+.*truncated: it ends too early"):
        rows_of(tmp_path, "q.json", listed[:-9])
    with pytest.raises(DatasetError, match=r"line 2 column \d+.*Mend it, or"):
        rows_of(tmp_path, "q.json", '[{"q": 1},\n{"q" 2}]')


# --- cells ----------------------------------------------------------------------------------------

URL_SAFE = base64.urlsafe_b64encode(PICTURE).decode()


@pytest.mark.parametrize(
    "written",
    [base64.encodebytes(PICTURE).decode(), URL_SAFE, URL_SAFE.rstrip("="), f"b'{TEXT}'",
     f'b"{TEXT}"', f"data:image/png;base64,{TEXT}", f"data:;base64,{URL_SAFE}",
     repr(base64.encodebytes(PICTURE)), TEXT[:99] + " \r\n" + TEXT[99:],
     f"DATA:image/PNG;BASE64,{TEXT}", json.dumps(TEXT), f"u'{TEXT}'", TEXT.replace("/", "\\/"),
     base64.encodebytes(PICTURE).decode().replace("\n", "\\n"), quote(TEXT, safe=""),
     f"data:image/png;base64,{quote(TEXT, safe='')}",
     f"data:image/png;charset=utf-8;base64,{base64.encodebytes(PICTURE).decode()}"],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_base64_is_read_as_others_write_it(written, tmp_path):
    (row,) = rows_of(tmp_path, "q.json", json.dumps([{"q": ASKED, "a": "yes", "i": written}]))
    assert row.problem is None and row.image_bytes == PICTURE


@pytest.mark.parametrize("spoilt", ["data:image/png,%89PNG" * 9, "b'" + TEXT, TEXT[:-9] + "$" * 9])
def test_what_is_no_base64_is_named(spoilt, tmp_path):
    (row,) = rows_of(tmp_path, "q.json", json.dumps([{"q": ASKED, "a": "yes", "i": spoilt}]))
    assert row.problem.kind == "not base64"


CHOICE = {"columns": {**COLUMNS, "options": "o"}, "question_type": "mcq"}


@pytest.mark.parametrize(
    "cell",
    ["['red', 'blue']", '["red", "blue"]', "red|blue", "red | blue", "('red', 'blue')", "red\nblue",
     "['red' 'blue']", "['red'\n 'blue']", "A. red | B. blue", "(A) red\n(B) blue", "red; blue",
     '{"A": "red", "B": "blue"}', "{'A': 'red', 'B': 'blue'}", "{'a': 'red', 'b': 'blue'}",
     '{"0": "red", "1": "blue"}', "{1: 'red', 2: 'blue'}", "1. red\n2. blue", "(1) red | (2) blue",
     "- red\n- blue", "A) red B) blue", "（A）red （B）blue", "A．red B．blue", "A、red\nB、blue",
     "red|blue|", "{'text': ['red', 'blue'], 'label': ['A', 'B']}"],
)  # fmt: skip
def test_options_in_one_column_are_read_as_others_write_them(cell, tmp_path):
    file = formats.write_tsv(
        tmp_path / "q.csv", ["q", "a", "i", "o"], [["Colour?", "blue", TEXT, cell]], ","
    )
    (row,) = rows_of(tmp_path, file.name, **CHOICE)
    assert dict(row.options) == {"A": "red", "B": "blue"}
    assert row.answer == "B" and row.problem is None
    for own in (["red", "blue"], {"A": "red", "B": "blue"},
                {"text": ["red", "blue"], "label": ["A", "B"]}):  # fmt: skip
        record = {"q": "Colour?", "a": "B", "i": TEXT, "o": own}
        (row,) = rows_of(tmp_path, "q.json", json.dumps([record]), **CHOICE)
        assert dict(row.options) == {"A": "red", "B": "blue"}


@pytest.mark.parametrize(
    "cell",
    [
        "no list",
        "[" * 50_000,
        "['red', ",
        "{'x': 'red'}",
        "",
        "[1]",
        "red, green and blue",
        "red / blue",
        "A) red",
        "B) red A) blue",
        "{'A': 'red', 'C': 'blue'}",
    ],
)
def test_what_is_no_list_of_options_is_refused(cell, tmp_path):
    record = {"q": "Colour?", "a": "A", "i": TEXT, "o": cell}
    (row,) = rows_of(tmp_path, "q.json", json.dumps([record]), **CHOICE)
    assert row.problem.kind == "options"
    if cell and cell != "[1]":
        assert "is no list of options; expected one as [" in row.problem.sentence


@pytest.mark.parametrize(
    ("cell", "texts"),
    [("1.5 | 2.5", ["1.5", "2.5"]), ("3. red | 4. blue", ["3. red", "4. blue"]),
     ("-1 | -2", ["-1", "-2"]), ("A. B. Smith | B. C. Jones", ["B. Smith", "C. Jones"]),
     ("A | B", ["A", "B"]), ("1 | 2", ["1", "2"])],
)  # fmt: skip
def test_what_only_looks_like_the_label_of_an_option_stays(cell, texts, tmp_path):
    record = {"q": "Which?", "a": "A", "i": TEXT, "o": cell}
    (row,) = rows_of(tmp_path, "q.json", json.dumps([record]), **CHOICE)
    assert list(row.options.values()) == texts and row.problem is None


def test_options_that_letters_run_out_for_are_refused_and_none_is_cut(tmp_path):
    texts = [f"thing {number}" for number in range(30)]
    columns = {**CHOICE["columns"], "options": [f"o{number}" for number in range(30)]}
    record = {"q": "Which?", "a": "A", "i": TEXT}
    for count, fits in ((26, True), (27, False), (30, False)):
        some = texts[:count]
        cells = {f"o{n}": some[n] if n < count else None for n in range(30)}
        for keys, cell in ((CHOICE, {"o": some}), (CHOICE, {"o": "|".join(some)}),
                           ({**CHOICE, "columns": columns}, cells)):  # fmt: skip
            (row,) = rows_of(tmp_path, "q.json", json.dumps([record | cell]), **keys)
            assert (row.problem is None) == fits
            if not fits:
                assert f"{count} options came; expected 2 to 26, A to Z" in row.problem.sentence


@pytest.mark.parametrize(
    ("index", "number"), [("1.0", 1), (" 7 ", 7), ("12.", 12), ("-3.00", -3), ("+4", 4)]
)
def test_a_whole_number_is_an_index_however_a_spreadsheet_writes_it(index, number, tmp_path):
    columns = {**COLUMNS, "index": "id"}
    (row,) = rows_of(tmp_path, "q.csv", f"id,q,a,i\n{index},{ASKED},yes,{TEXT}", columns=columns)
    assert row.index == number
    for other in ("1.5", "one", "1e3", "1,0", "9" * 400):
        with pytest.raises(DatasetError, match="expected a whole number"):
            rows_of(tmp_path, "q.tsv", f"id\tq\ta\ti\n{other}\tx\tyes\t{TEXT}", columns=columns)


def test_a_picture_of_parquet_is_its_bytes_or_its_path_alone_or_in_a_list(tmp_path):
    (tmp_path / "one.png").write_bytes(PICTURE)
    cells = [
        {"bytes": None, "path": "one.png"},
        {"bytes": PICTURE, "path": None},
        {"bytes": PICTURE, "path": "not/there.png"},
    ]
    spoilt = [
        {"bytes": None, "path": "two.png"},
        {"bytes": None, "path": "/etc/hostname"},
        {"bytes": None, "path": "../mine.yaml"},
        {"bytes": None, "path": None},
    ]
    keys = {"pictures": "bytes"}
    for wrap in (lambda cell: cell, lambda cell: [cell]):
        table = [{"q": ASKED, "a": "yes", "i": wrap(cell)} for cell in [*cells, *spoilt]]
        rows = rows_of(tmp_path, "q.parquet", table, **keys)
        assert usable(rows) == [True] * 3 + [False] * 4
        assert all(row.picture_bytes() == PICTURE for row in rows[:3])
        assert [row.problem.kind for row in rows[3:]] == [
            "picture is missing", "picture outside the folder", "picture outside the folder",
            "no picture",
        ]  # fmt: skip
    (row,) = rows_of(tmp_path, "q.parquet", [{"q": ASKED, "a": "yes", "i": [PICTURE]}], **keys)
    assert row.picture_bytes() == PICTURE
    (row,) = rows_of(tmp_path, "q.parquet", [{"q": ASKED, "a": "yes", "i": [PICTURE] * 2}], **keys)
    assert "holds a list of 2; expected one picture" in row.problem.sentence
    record = {"q": ASKED, "a": "yes"}
    for cell in ({"bytes": b"", "path": "one.png"}, {"path": "one.png"}, [{"path": "one.png"}]):
        (row,) = rows_of(tmp_path, "q.parquet", [record | {"i": cell}], **keys)
        assert row.problem is None and row.picture_bytes() == PICTURE
    for cell, said in (
        ("one.png", r"holds str; expected a picture's bytes .*pictures: files, or base64"),
        ({"data": PICTURE}, "holds dict; expected"), ({"bytes": TEXT}, "holds str; expected"),
        ([], "is empty"), (None, "is empty"),
    ):  # fmt: skip
        (row,) = rows_of(tmp_path, "q.parquet", [record | {"i": cell}], **keys)
        assert row.problem.kind == "no picture" and re.search(said, row.problem.sentence)
    for cell, pictures in ((["one.png"], "files"), ([TEXT], "base64")):
        content = json.dumps([{"q": ASKED, "a": "yes", "i": cell}])
        (row,) = rows_of(tmp_path, "q.json", content, pictures=pictures)
        assert row.picture_bytes() == PICTURE


# --- where things lie -----------------------------------------------------------------------------


def test_what_the_yaml_file_names_may_lie_anywhere_and_what_rows_name_may_not(
    tmp_path, monkeypatch
):
    far, mine = tmp_path / "far" / "coco", tmp_path / "mine"
    for folder in (far, mine, mine / "inside"):
        folder.mkdir(parents=True)
    (far / "one.png").write_bytes(PICTURE)
    (far.parent / "two.png").write_bytes(PICTURE)
    (far / "out.png").symlink_to(far.parent / "two.png")
    (mine / "link").symlink_to(far)
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ["one.png", "../two.png", str(far.parent / "two.png"), "out.png", "~/far/two.png"]
    table = "q,a,i\n" + "".join(f"{ASKED},yes,{name}\n" for name in names)
    (far / "q.csv").write_text(table)
    for file in ("q.csv", str(far / "q.csv"), "~/far/coco/q.csv", "../far/coco/q.csv"):
        for folder in (str(far), "~/far/coco", "link", "../far/coco"):
            (mine / "q.csv").write_text(table)
            keys = {"pictures": "files", "picture_folder": folder, "format": "csv"}
            rows = load_dataset(yaml_of(mine, file, **keys)).rows
            assert usable(rows) == [True, False, False, False, False], (file, folder)
            kinds = [row.problem.kind for row in rows[1:]]
            assert kinds == ["picture outside the folder"] * 3 + ["picture is missing"]
            assert rows[0].picture_bytes() == PICTURE
    (mine / "q.csv").write_text(f"q,a,i\n{ASKED},yes,https://x.org/one.png\n{ASKED},yes,one.png\n")
    (first, second) = load_dataset(yaml_of(mine, "q.csv", pictures="files", format="csv",
                                           picture_folder="nowhere")).rows  # fmt: skip
    assert "'https://x.org/one.png' is an address; save the picture" in first.problem.sentence
    assert f"picture_folder {mine / 'nowhere'} is no folder" in second.problem.sentence
    path = yaml_of(mine, "../q.csv", address="https://x.y/q.csv")
    with pytest.raises(DatasetError, match="what is fetched from an address is put below"):
        load_dataset(path)


@pytest.mark.parametrize("folder", ["", "images", "images/val"])
def test_pictures_of_a_hubs_snapshot_lead_to_its_own_store_and_no_further(folder, tmp_path):
    """A hub's cache holds links alone, to the files beside its snapshots."""
    cached = tmp_path / "hub" / "datasets--me--mine"
    snapshot = cached / "snapshots" / "0123abcd"
    for place in (cached / "blobs", snapshot / "images" / "val"):
        place.mkdir(parents=True)
    (cached / "blobs" / "aa").write_bytes(PICTURE)
    (tmp_path / "out.png").write_bytes(PICTURE)
    up = "../" * (2 + len(Path(folder).parts))
    (snapshot / folder / "one.png").symlink_to(f"{up}blobs/aa")
    (snapshot / folder / "two.png").symlink_to(tmp_path / "out.png")
    mine = tmp_path / "mine"
    mine.mkdir()
    table = f"q,a,i\n{ASKED},yes,one.png\n{ASKED},yes,two.png\n"
    keys = {"pictures": "files", "picture_folder": str(snapshot / folder)}
    rows = rows_of(mine, "q.csv", table, **keys)
    assert usable(rows) == [True, False] and rows[0].picture_bytes() == PICTURE
    assert rows[1].problem.kind == "picture outside the folder"


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_a_file_is_found_however_its_accents_are_composed(stored, tmp_path, capsys):
    asked = {"NFC": "NFD", "NFD": "NFC"}[stored]
    folder = tmp_path / unicodedata.normalize(stored, "Bücher é")
    folder.mkdir()
    (folder / unicodedata.normalize(stored, "Café.png")).write_bytes(PICTURE)
    data = unicodedata.normalize(stored, "données.csv")
    name = unicodedata.normalize(asked, "Café.png")
    (folder / data).write_text(f"q,a,i\n{ASKED},yes,{name}\n", encoding="utf-8")
    yaml = yaml_of(folder, unicodedata.normalize(asked, data), pictures="files", format="csv")
    (row,) = load_dataset(unicodedata.normalize(asked, yaml)).rows
    assert row.problem is None and row.picture_bytes() == PICTURE
    (row,) = load_dataset(yaml).rows
    assert row.problem is None
    picture = unicodedata.normalize(asked, str(folder / "Café.png"))
    assert not Path(picture).exists()
    small = Path(__file__).parents[2] / "checkpoints" / "pocket-qwen2vl-small"
    assert sci("ask", picture, ASKED, "--model", small, "--method", "base") == 0


# --- what is asked --------------------------------------------------------------------------------


def test_mixed_kinds_have_an_instruction_each(tmp_path):
    kinds = {"look": "yesno", "count": "number", "count again": "number", "tell": "free"}
    table = "q,a,i,kind\n" + "".join(
        f"{question}?,{answer},{TEXT},{kind}\n"
        for question, answer, kind in (
            ("Red", "yes", "look"), ("How many", "3", "count"), ("And now", "4", "count again"),
            ("What", "A ball", "tell"),
        )
    )  # fmt: skip
    prompt = {
        "yesno": "{question} Please answer yes or no.",
        "number": "{question} Answer the question using a single word or phrase.",
        "count again": "{question} Give a number.",
    }
    types = {"column": "kind", "values": kinds}
    keys = {"question_type": None, "question_types": types, "prompt": prompt}
    rows = rows_of(tmp_path, "q.csv", table, **keys)
    assert [row.question for row in rows] == [
        "Red? Please answer yes or no.",
        "How many? Answer the question using a single word or phrase.",
        "And now? Give a number.",
        "What?",
    ]
    assert usable(rows) == [True] * 4
    for wrong, said in (
        ({"looks": "{question}"}, "prompt names looks; expected values of question_types"),
        ({"yesno": "Say yes."}, "expected a text that holds"),
        ({"mcq": "{question}"}, "prompt names mcq"),
    ):
        with pytest.raises(DatasetError, match=said):
            load_dataset(yaml_of(tmp_path, "q.csv", **{**keys, "prompt": wrong}))


OWN = {"columns": {**COLUMNS, "rewrites": "w"}}
WORDS = ["Tell me: red?", "它是红色的吗？", "You are a pupil. Red?"]


@pytest.mark.parametrize("written", [json.dumps(WORDS), " | ".join(WORDS), repr(WORDS)])
def test_rewordings_of_ones_own_are_asked_word_for_word(written, tmp_path):
    table = [["q", "a", "i", "w"], ["Is it red?", "yes", TEXT, written], [ASKED, "no", TEXT, ""]]
    formats.write_tsv(tmp_path / "q.tsv", table[0], table[1:])
    dataset = load_dataset(yaml_of(tmp_path, "q.tsv", **OWN))
    first, second = dataset.rows
    assert first.rewrites == tuple(WORDS) and second.rewrites == ()
    plan = make_plan(tiny.load("qwen2_vl"), dataset, ["SCI7"])
    posed = pose(first, plan)
    assert list(posed.question.rewrites) == WORDS and not posed.refused
    assert pose(second, plan).question.rewrites[0].endswith("Please answer yes or no.")
    other = tmp_path / "other"
    other.mkdir()
    formats.write_tsv(other / "q.tsv", table[0], [[*table[1][:3], "x | y | z"], table[2]])
    changed = load_dataset(yaml_of(other, "q.tsv", **OWN))
    assert changed.checksums != dataset.checksums


def test_rewordings_make_an_evaluation_of_any_prompt(tmp_path):
    table = [[f"Is {number} red?", "yes", TEXT, " | ".join(WORDS)] for number in range(2)]
    formats.write_tsv(tmp_path / "q.tsv", ["q", "a", "i", "w"], table)
    dataset = load_dataset(yaml_of(tmp_path, "q.tsv", **OWN))
    assert not check(dataset).left_out
    records = evaluate(
        tiny.load("qwen2_vl"), dataset, ["SCI5"], tmp_path / "run", max_new_tokens=2, workers=1,
        progress=False,
    )  # fmt: skip
    assert records.ok.all() and not any(records.left_out("SCI5"))


@pytest.mark.parametrize(
    ("cell", "said"),
    [("one | one", "came twice"), ("one | | two", "rewrite 2 is empty"),
     ('{"V1": "x"}', "no texts"), ("alone", "no texts"),
     (" | ".join("abcdefgh"), "8 rewrites came; expected up to 7"),
     ('["x", 1.5, null]', "rewrite 3 is empty")],
)  # fmt: skip
def test_rewordings_that_cannot_be_asked_are_named(cell, said, tmp_path):
    assert sum(name.startswith("V") for name in REWRITES) == MOST_REWRITES
    formats.write_tsv(tmp_path / "q.tsv", ["q", "a", "i", "w"], [[ASKED, "yes", TEXT, cell]])
    (row,) = load_dataset(yaml_of(tmp_path, "q.tsv", **OWN)).rows
    assert row.problem.kind == "rewrites" and said in row.problem.sentence


def test_a_round_without_a_rewording_is_refused_by_its_number(tmp_path):
    cells = ["a | b", f"a | {ASKED}"]
    formats.write_tsv(
        tmp_path / "q.tsv", ["q", "a", "i", "w"], [[ASKED, "yes", TEXT, cell] for cell in cells]
    )
    dataset = load_dataset(yaml_of(tmp_path, "q.tsv", **OWN))
    plan = make_plan(tiny.load("qwen2_vl"), dataset, ["SCI7"])
    short, same = (pose(row, plan).refused for row in dataset.rows)
    assert list(short) == ["V3"] and "2 rewrites came and V3 is number 3" in short["V3"]
    assert "V2 is the prompt itself" in same["V2"]


def test_answers_may_stand_in_a_second_file_and_in_other_words(tmp_path):
    asked = [{"id": n, "q": ASKED, "i": TEXT} for n in range(4)]
    truths = [{"id": 1, "a": 0}, {"id": 0, "a": 1}, {"id": 3, "a": 7}]
    (tmp_path / "truth.json").write_text(json.dumps(truths))
    keys = {
        "join": {"file": "truth.json", "by": "id", "columns": "a"},
        "answers": {0: False, "1": "yes"},  # as YAML reads {0: no, "1": yes}
    }
    rows = rows_of(tmp_path, "q.json", json.dumps(asked), **keys)
    assert [row.answer for row in rows[:2]] == ["yes", "no"] and usable(rows) == [True] * 2 + [
        False
    ] * 2
    assert "no row of" in rows[2].problem.sentence and "has its id, '2'" in rows[2].problem.sentence
    assert "the answer is '7'; expected one of yes, no" in rows[3].problem.sentence
    (tmp_path / "truth.json").write_text(json.dumps(truths + truths[:1]))
    with pytest.raises(DatasetError, match=r"truth\.json has id '1' twice"):
        rows_of(tmp_path, "q.json", **keys)
    keys["join"]["columns"] = ["a", "b"]
    with pytest.raises(DatasetError, match=r"join\.columns names b, of which no other key"):
        rows_of(tmp_path, "q.json", **keys)


def test_a_finished_run_is_read_again_where_the_second_file_changed(tmp_path, monkeypatch, capsys):
    asked = [{"id": n, "q": ASKED, "i": TEXT} for n in range(2)]
    (tmp_path / "q.json").write_text(json.dumps(asked))
    (tmp_path / "truth.json").write_text(json.dumps([{"id": n, "a": "yes"} for n in range(2)]))
    join = {"file": "truth.json", "by": "id", "columns": "a"}
    path = yaml_of(tmp_path, "q.json", join=join)
    model = tiny.write_checkpoint(tmp_path / "m", "qwen2_vl")
    command = ["evaluate", "--model", model, "--data", path, "--out", tmp_path / "run",
               "--methods", "base", "--executor", "inline"]  # fmt: skip
    assert sci(*command) == 0
    with monkeypatch.context() as patch:
        patch.setattr("sci_book.data.datasets.load_dataset", None)
        assert sci(*command) == 0
    (tmp_path / "truth.json").write_text(json.dumps([{"id": n, "a": "no"} for n in range(2)]))
    capsys.readouterr()
    assert sci(*command) == 2
    assert "datasets" in capsys.readouterr().err


# --- sci data check -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_check_finds_the_placeholder_that_an_evaluation_refuses(kind, tmp_path, capsys):
    model = tiny.load(kind)
    held = model.processor.tokenizer.convert_ids_to_tokens(model.image_token_id)
    cells = [f"{held}\n{ASKED}", f"Is {held} red? Please answer yes or no.", ASKED]
    rows = [[cell, "yes", TEXT] for cell in cells]
    formats.write_tsv(tmp_path / "q.tsv", "qai", rows)
    path = yaml_of(tmp_path, "q.tsv")
    assert sci("data", "check", path) == 1
    said = capsys.readouterr().out
    assert "2 picture's placeholder: rows with index 0, 1" in said and f"holds {held}" in said
    records = evaluate(
        model, load_dataset(path), ["base"], tmp_path / "run", max_new_tokens=1, workers=1,
        progress=False,
    )  # fmt: skip
    assert records.ok.tolist() == [False, False, True]


def test_a_check_looks_for_a_placeholder_in_every_part_of_a_prompt(tmp_path, capsys):
    columns = {**COLUMNS, "options": ["x", "y"], "hint": "h"}
    rows = [["Which?", "A", TEXT, "one", "two", ""]] * 4
    for number, (place, held) in enumerate(((3, "<image>"), (5, "<|image_pad|>"), (0, "<image>"))):
        rows[number] = [*rows[number]]
        rows[number][place] += held
    formats.write_tsv(tmp_path / "q.tsv", "qaixyh", rows)
    found = check(load_dataset(yaml_of(tmp_path, "q.tsv", columns=columns, question_type="mcq")))
    assert [row.index for row, _ in found.problems["picture's placeholder"]] == [0, 1, 2]


def test_options_that_are_letters_are_no_fault(tmp_path):
    columns = {**COLUMNS, "options": ["x", "y", "z"]}
    rows = [["Which?", letter, TEXT, "B", "A", "C"] for letter in "ABC"]
    formats.write_tsv(tmp_path / "q.tsv", "qaixyz", rows)
    found = check(load_dataset(yaml_of(tmp_path, "q.tsv", columns=columns, question_type="mcq")))
    assert not found.problems


def test_a_caption_without_a_translation_is_no_fault(tmp_path, capsys):
    rows = [["Describe it.", "A ball.", TEXT]]
    formats.write_tsv(tmp_path / "q.tsv", "qai", rows)
    assert sci("data", "check", yaml_of(tmp_path, "q.tsv", question_type="free")) == 0
    assert "unusable rows: 0" in capsys.readouterr().out
    Image.new("RGB", (8, 8)).save(tmp_path / "p.png")
    rows[0][2] = "no picture"
    formats.write_tsv(tmp_path / "q.tsv", "qai", rows)
    assert sci("data", "check", yaml_of(tmp_path, "q.tsv", question_type="free")) == 1

"""The page on one's own data, followed to the letter; and what a manifest's mistakes are called."""

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from sci_book.data.datasets import DatasetError, file_checksum, load_dataset, read_manifest
from sci_book.data.manifests import Columns, Join, Manifest
from sci_book.run.runner import make_plan
from sci_book.run.shards import pose
from sci_core.counterfactuals import prefix_rewrite
from tests import tiny
from tests.conftest import sci
from tests.data import formats

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "your_own_data.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```\{code-block\} (\w+)\n(?::caption: (\S+)\n)?\n?(.*?)```", re.DOTALL)


def test_the_page_is_followed_to_the_letter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    said, blocks = "", BLOCK.findall(PAGE)
    assert [language for language, _, _ in blocks] == [
        "python", "text", "yaml", "bash", "text", "bash",
    ]  # fmt: skip
    (tmp_path / "mine").rmdir()  # draw.py makes it
    waiting = {}
    for language, caption, text in blocks:
        if caption == "output":
            assert text == said
        elif language != "bash":
            waiting[caption] = text
        else:
            lines = text.replace("\\\n", "").splitlines()
            said = "".join(run(line, waiting) for line in lines)
    assert "5 rows in runs/balls, 1 with an error (recorded, never scored): 1 RowError" in said
    assert (tmp_path / "runs" / "balls" / "stamp.json").is_file()


def run(command, waiting):
    """Run one line of the page; what it prints. Files shown before it are written first."""
    words = shlex.split(command)
    if words[0] == "python":
        Path(words[1]).write_text(waiting.pop(words[1]), encoding="utf-8")
        subprocess.run([sys.executable, *words[1:]], check=True)
        for path, text in waiting.items():
            Path(path).write_text(text, encoding="utf-8")
        return ""
    assert words[0] == "sci"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert sci(*words[1:]) in (0, int(words[1:3] == ["data", "check"]))
    return printed.getvalue()


def test_the_page_names_every_key():
    own = set(Manifest.model_fields) - {"name", "folder", "twin_of", "group_prefix", "packed"}
    for key in own | set(Columns.model_fields) | set(Join.model_fields):
        assert f"`{key}`" in PAGE


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"file": None}, "file is None; input should be a valid string."),
        ({"format": "xlsx"}, "format is 'xlsx'; input should be 'tsv', 'csv', 'json', 'jsonl' or"),
        ({"colour": 1}, "colour is no key; expected one of name, title, source"),
        ({"file": "a\0.tsv"}, "file is .*; expected the path of a file or folder"),
        ({"prompt": "Yes?"}, r"prompt is 'Yes\?'; expected a text that holds \{question\} once"),
        ({"checksum": {"md5": "12"}}, r"checksum: expected \{md5: 32 digits\}"),
        ({"rows": 0}, "rows is 0; input should be greater than 0"),
        ({"question_type": None}, "expected question_type for the whole file, or question_types"),
        ({"question_type": "mcq"}, "columns.options .* goes with the question type mcq"),
        ({"pictures": "bytes"}, "pictures: bytes needs format: parquet, and this is tsv"),
        ({"address": "ftp://x/y"}, "address is 'ftp://x/y'; expected https://"),
        ({"folder": "data"}, "folder is for the manifests of this project"),
        ({"columns": {"question": "q", "answer": "a"}}, "columns.image is missing."),
        ({"columns": {**formats.MME_COLUMNS, "imagr": "i"}},
         "columns.imagr is no key; expected one of index, question"),
        ({"columns": {**formats.MME_COLUMNS, "answer": ["a", "b"], "image": ["a", "b", "c"]}},
         "columns: question, answer and image name different numbers of columns"),
        ({"columns": {**formats.MME_COLUMNS, "translation": "question"}},
         "columns.translation goes with the question types free and description"),
        ({"columns": {**formats.MME_COLUMNS, "translation": ["a", "b"]}, "question_type": "free"},
         "columns: translation needs as many columns as question"),
        ({"columns": {**formats.MME_COLUMNS, "index": False}}, "columns.index is False; input"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_manifest_is_one_sentence(keys, sentence, tmp_path):
    path = formats.write_own(tmp_path / "mine.yaml", "a.tsv", **keys)
    with pytest.raises(DatasetError, match=sentence) as caught:
        read_manifest(path)
    assert "\n" not in str(caught.value)


def test_every_mistake_has_its_sentence(tmp_path):
    path = formats.write_own(tmp_path / "mine.yaml", "a.tsv", rows=-1, pictures="jpeg", colour=2)
    with pytest.raises(DatasetError, match=r"rows is -1; .*\. pictures is .*\. colour is no key"):
        read_manifest(path)


def test_a_name_of_this_project_is_not_taken(tmp_path):
    for name in ("mme.yaml", "pocket-mme.yaml", "a b.yaml"):
        path = formats.write_own(tmp_path / name, "a.tsv")
        with pytest.raises(DatasetError, match="Rename the file"):
            read_manifest(path)


def test_options_as_columns_as_a_list_and_inside_the_question(tmp_path):
    picture = formats.encoded(formats.png())
    rows = [["How many?", picture, "2", "3", "", "B", '["2", "3", "red one"]']]
    rows += [["A: how many? A:16  B: a:b  C:17", picture, "x", "y", "z", "red one", "no list"]]
    formats.write_tsv(tmp_path / "q.csv", ["q", "i", "o1", "o2", "o3", "a", "all"], rows, ",")

    def load(options, **keys):
        columns = {"question": "q", "answer": "a", "image": "i", **options}
        keys |= {"columns": columns, "question_type": "mcq"}
        return load_dataset(formats.write_own(tmp_path / "mine.yaml", "q.csv", **keys)).rows

    first, second = load({"options": ["o1", "o2", "o3"]})
    assert first.options == {"A": "2", "B": "3"} and first.answer == "B" and not first.problem
    assert second.problem.kind == "answer"
    first, second = load({"options": "all"})
    assert first.options == {"A": "2", "B": "3", "C": "red one"}
    assert second.problem.kind == "options"
    first, second = load({}, options_inside=True)
    assert first.problem.kind == "options"
    assert second.question == "A: how many?"
    assert second.options == {"A": "16", "B": "a:b", "C": "17"}


def test_a_free_question_is_asked_with_the_translation_of_its_column(tmp_path):
    picture = formats.encoded(formats.png())
    rows = [
        ["Describe it.", "A ball.", picture, "描述它。"],
        ["Say more.", "It rolls.", picture, ""],
    ]
    formats.write_tsv(tmp_path / "q.tsv", ["q", "a", "i", "t"], rows)
    columns = {"question": "q", "answer": "a", "image": "i", "translation": "t"}
    path = formats.write_own(tmp_path / "m.yaml", "q.tsv", columns=columns, question_type="free")
    asked, bare = load_dataset(path).rows
    with pytest.warns(UserWarning, match="1 of 2 rows .* no translation of a free question"):
        plan = make_plan(tiny.load("qwen2_vl"), load_dataset(path), ["SCI3"], rounds=["V1", "V2"])
    first, second = pose(asked, plan).question.rewrites
    assert first.endswith("Describe it.") and second == "描述它。"
    posed = pose(bare, plan)
    assert posed.rounds == ("original", "V1", "V2", "black") and not posed.refused
    texts = [prefix_rewrite("Say more.", name) for name in ("V1", "V2")]
    assert posed.question.rewrites == tuple(texts)
    (tmp_path / "q.json").write_text(
        json.dumps([{"q": ["One?", "Two?"], "a": "x", "i": picture, "t": ["一?", "二?"]}])
    )
    path = formats.write_own(tmp_path / "m.yaml", "q.json", columns=columns, question_type="free")
    assert [row.translation for row in load_dataset(path)] == ["一?", "二?"]


def test_an_answer_may_be_an_option_s_text(tmp_path):
    rows = formats.mmbench_rows(1)
    rows[0][8] = rows[0][5]
    formats.write_tsv(tmp_path / "q.tsv", formats.MMBENCH, rows)
    path = formats.write_own(
        tmp_path / "mine.yaml", "q.tsv", columns=formats.MMBENCH_COLUMNS, question_type="mcq"
    )
    assert load_dataset(path).rows[0].answer == "B"


@pytest.mark.parametrize("known", [True, False])
def test_whatever_changes_in_a_manifest_changes_the_name_of_the_data(known, tmp_path):
    file = formats.write_tsv(tmp_path / "q.tsv", formats.MME, formats.mme_rows(2))
    kept = {"checksum": {"md5": file_checksum(file, "md5")}} if known else {}
    columns = formats.MME_COLUMNS

    def name_of(**keys):
        path = formats.write_own(tmp_path / "mine.yaml", "q.tsv", **kept, **keys)
        return load_dataset(path).checksums["mine"]

    names = [
        name_of(),
        name_of(prompt="{question} Look."),
        name_of(question_type="short"),
        name_of(columns={**columns, "answer": "category"}),
        name_of(columns={**columns, "group": "question"}),
    ]
    assert len(set(names)) == len(names)
    assert names[0] == name_of() and names[0].startswith("md5:" if known else "rows:")


def own(tmp_path, rows, form="tsv", header=("q", "a", "i"), **keys):
    """The YAML file of questions `q` with answers `a` on pictures `i`."""
    columns = {"question": "q", "answer": "a", "image": "i"}
    keys = {"columns": columns, "question_type": "yesno", **keys}
    if form in ("tsv", "csv"):
        formats.write_tsv(tmp_path / f"q.{form}", header, rows, "," if form == "csv" else "\t")
    return formats.write_own(tmp_path / "mine.yaml", f"q.{form}", **keys)


ASKED = "Is it red? Please answer yes or no."
PICTURE = formats.encoded(formats.png())


@pytest.mark.parametrize(
    ("kind", "question", "answer", "refused"),  # "prefix": reworded by that rule
    [
        ("yesno", "Is it red?", "yes", "prefix"),
        ("yesno", f"{ASKED} Please answer yes or no.", "yes", "holds 2 known instructions"),
        ("yesno", ASKED, "yes", ""),
        ("number", "How many are red?", "3", "prefix"),
        ("number", "How many? Answer the question using a single word or phrase.", "3", ""),
        ("short", "What is it?", "ball", ""),
        ("short", "What? Answer the question using a single word or phrase.", "ball", "holds 2"),
        ("free", "Describe it.", "A ball.", "prefix"),
    ],
)  # fmt: skip
def test_a_check_says_what_an_evaluation_would_leave_out(
    kind, question, answer, refused, tmp_path, capsys
):
    path = own(tmp_path, [[question, answer, PICTURE]], question_type=kind)
    assert sci("data", "check", path) == 0  # every row is usable
    said = capsys.readouterr().out
    assert said.startswith("mine: 1 rows, 1 pictures; unusable rows: 0")
    left_out = "1 left out of SCI, since it cannot be reworded: rows with index 0" in said
    assert left_out == refused.startswith("holds") and refused in said
    prefixed = "1 of 1 rows hold no instruction that the paper's rewordings know" in said
    assert prefixed == (refused == "prefix")
    warned = (
        pytest.warns(UserWarning, match="1 of 1 rows .*`prefix`") if prefixed else nullcontext()
    )
    with warned:
        plan = make_plan(tiny.load("qwen2_vl"), load_dataset(path), ["SCI5"])
    assert plan.stamp.get("reworded by prefix") == (1 if prefixed else None)
    assert bool(pose(load_dataset(path).rows[0], plan).refused) == left_out
    bare = make_plan(tiny.load("qwen2_vl"), load_dataset(path), ["VCD"])  # nothing to reword
    assert "reworded by prefix" not in bare.stamp


@pytest.mark.parametrize("white", [255, 1023, 4095])
def test_a_check_notes_grey_whose_white_is_not_known(white, tmp_path, capsys):
    file = io.BytesIO()
    Image.fromarray(np.full((8, 8), white, np.uint16)).save(file, "PNG")
    rows = [[ASKED, "yes", PICTURE], [ASKED, "yes", formats.encoded(file.getvalue())]]
    assert sci("data", "check", own(tmp_path, rows)) == 1
    said = capsys.readouterr().out
    assert (
        f"grey values lie between {white} and {white} (Pillow's mode I;16), where white would"
        in said
    )


@pytest.mark.parametrize("form", ["tsv", "csv", "json", "parquet"])
def test_an_empty_table_is_refused(form, tmp_path):
    path = own(tmp_path, [], form)
    if form == "json":
        (tmp_path / "q.json").write_text("[]")
    if form == "parquet":
        pq.write_table(pa.table({name: pa.array([], pa.string()) for name in "qai"}),
                       tmp_path / "q.parquet")  # fmt: skip
    with pytest.raises(
        DatasetError, match=rf"q\.{form} is empty.*Mend it, or correct the manifest"
    ):
        load_dataset(path)


@pytest.mark.parametrize("form", ["tsv", "csv"])
def test_one_short_row_and_one_long_row_cost_themselves_alone(form, tmp_path):
    rows = [
        [ASKED, "yes", PICTURE],
        [ASKED, "no"],
        [ASKED, "no", PICTURE, "x"],
        [ASKED, "no", PICTURE],
    ]
    first, short, long, last = load_dataset(own(tmp_path, rows, form)).rows
    assert first.problem is None and last.problem is None and last.index == 3
    for row, number in ((short, 2), (long, 4)):
        assert row.problem.kind == "fields"
        assert f"row {row.position + 1} (index {row.index}): {number} fields came, 3 were" in (
            row.problem.sentence
        )
    with pytest.raises(DatasetError, match="row 1 and every other: 2 fields came"):
        load_dataset(own(tmp_path, [[ASKED, "no"]] * 3, form))


def test_a_short_row_needs_no_index(tmp_path):
    columns = {"index": "id", "question": "q", "answer": "a", "image": "i"}
    rows = [[7, ASKED, "yes", PICTURE], ["seven"], [8, ASKED, "no", PICTURE]]
    path = own(tmp_path, rows, header=("id", "q", "a", "i"), columns=columns)
    assert [(row.index, row.problem and row.problem.kind) for row in load_dataset(path)] == [
        (7, None), (-2, "fields"), (8, None),
    ]  # fmt: skip


def test_a_truth_is_a_number_alone_or_is_not_read_without_a_word(tmp_path):
    numbers = ["1", "one", "One.", "twenty-one", "1,000", "二十一", "-2", "none"]
    others = ["about one", "~5", "5?", "3 or so", "3 dogs", "大约三", "some"]
    rows = [["How many?", answer, PICTURE] for answer in (*numbers, *others)]
    found = load_dataset(own(tmp_path, rows, question_type="number")).rows
    assert not any(row.problem for row in found[: len(numbers)])
    for answer, row in zip(others, found[len(numbers) :], strict=True):
        assert row.problem.kind == "answer"
        assert f"is {answer!r}; expected a number and nothing else" in row.problem.sentence


def test_nobody_is_told_to_get_a_file_of_ones_own_again(tmp_path):
    columns = {"index": "id", "question": "q", "answer": "a", "image": "i"}
    header = ("id", "q", "a", "i")
    spoilt = {
        "twice": (header, [[7, ASKED, "yes", PICTURE]] * 2),
        "whole number": (header, [["x", ASKED, "yes", PICTURE]]),
        "no column": (("id", "q", "a", "j"), [[7, ASKED, "yes", PICTURE]]),
        "no row": (header, []),
    }
    for what, (names, rows) in spoilt.items():
        path = own(tmp_path, rows, header=names, columns=columns)
        with pytest.raises(DatasetError, match=what) as caught:
            load_dataset(path)
        assert str(caught.value).endswith(" Mend it, or correct the manifest.")
        assert "again" not in str(caught.value)
    path = own(tmp_path, [[7, ASKED]], header=header, columns=columns, address="https://x.y/q.tsv")
    with pytest.raises(DatasetError, match=f"Get it with `sci data fetch {path}`"):
        load_dataset(path)

"""DRBench for other tools: the rows that are written, and that they read back as they were."""

import base64
import csv
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from sci_book.data import datasets
from sci_book.data.datasets import DatasetError, load_dataset
from sci_book.data.row_pictures import POINTER_LENGTH
from sci_book.results.drbench import split, subsets
from sci_book.results.export import export_drbench
from sci_book.results.records import Records, RecordsError, build_table, read_records, write_records
from sci_book.run.presets import prompt_hash
from tests.data import formats
from tests.rows import answers, sample

ROUNDS = ["original", "V1", "V2", "black", "noise500"]
FIELDS = ("index", "group", "question_type", "question", "hint", "options", "answer", "category",
          "image_hash", "image_bytes", "problem")  # fmt: skip


@pytest.fixture
def world(tmp_path, monkeypatch):
    formats.write_world(tmp_path / "manifests", tmp_path / "data")
    monkeypatch.setattr(datasets, "MANIFESTS", tmp_path / "manifests")
    monkeypatch.setattr(datasets, "HOME", tmp_path)
    return load_dataset("world", tmp_path / "data")


def records_of(dataset, seed=0):
    """Records of a model whose answers are drawn from few."""
    draw = random.Random(seed)
    built = []
    for row in dataset:
        options = {"mcq": list(row.options), "yesno": ["yes", "no"]}.get(row.question_type)
        copied = ("dataset", "position", "group", "image_hash", "question_type", "category")
        row_of = sample(row.index, **{name: getattr(row, name) for name in copied})
        row_of |= {"truth": row.answer, "options": "".join(row.options)}
        row_of["prompt_hash"] = prompt_hash([row.question])
        row_of["error"] = "RowError" if row.problem else None
        said = (options or [row.answer]) + [row.answer, "x"]
        words = {"original": draw.choice(said)}
        for name in ROUNDS[1:]:
            words[name] = words["original"] if draw.random() < 0.6 else draw.choice(said)
        built.append(row_of | answers(words, unread=("x",)))
    stamp = {"schema": 1, "model": "owner/model", "rounds": ROUNDS, "methods": [],
             "max_new_tokens": 8, "datasets": dict(dataset.checksums)}  # fmt: skip
    return Records(build_table(built, ROUNDS), stamp, {})


def read_back(path, original, folder):
    """The rows of an exported file, by the project's own reader."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t")
    manifest = {"twin_of": original, "folder": "data", "file": path.name, "rows": len(rows),
                "group_prefix": "mme" if original == "mme" else "mmbench"}  # fmt: skip
    (folder / "manifests" / "back.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    return load_dataset("back", path.parent).rows


def as_records(path):
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("quantifier", ["any", "all"])
def test_the_rows_of_bs_are_written_and_no_others(world, tmp_path, quantifier):
    records = records_of(world)
    exported = export_drbench(records, world, tmp_path / "out", quantifier)
    sets, splits = subsets(records, quantifier), split(records)
    expected = {
        key: (str(int(sets["B"][i])), str(int(sets["S"][i])), splits[i])
        for i, key in enumerate(records.keys)
        if sets["BS"][i]
    }
    found = {}
    for each in exported:
        name = each.path.stem.removeprefix("DRBench_owner--model_").removesuffix("_openended")
        rows = as_records(each.path)
        assert each.rows == len(rows) > 0
        assert each.biased == sum(row["biased"] == "1" for row in rows)
        assert each.sensitive == sum(row["sensitive"] == "1" for row in rows)
        found |= {
            (name, int(row["index"])): (row["biased"], row["sensitive"], row["split"])
            for row in rows
        }
    assert found == expected and 0 < len(found) < len(world)
    assert len({flags[:2] for flags in found.values()}) == 3  # B alone, S alone, both


@pytest.mark.parametrize("name", ["en", "cn", "mme"])
def test_the_projects_own_reader_reads_the_same_rows(world, tmp_path, name):
    records = records_of(world)
    (path,) = (
        each.path for each in export_drbench(records, world, tmp_path / "out")
        if each.path.stem.removesuffix("_openended").endswith(f"_{name}")
    )  # fmt: skip
    chosen = dict(zip(records.keys, subsets(records)["BS"], strict=True))
    expected = [row for row in world if row.dataset == name and chosen[name, row.index]]
    back = read_back(path, name, tmp_path)
    for one, other in zip(back, expected, strict=True):
        assert {each: getattr(one, each) for each in FIELDS} == {
            each: getattr(other, each) for each in FIELDS
        }
        assert np.array_equal(np.asarray(one.image()), np.asarray(other.image()))


def test_short_answers_are_written_as_open_questions(world, tmp_path):
    records = records_of(world)
    (path,) = (x.path for x in export_drbench(records, world, tmp_path) if "vilp" in x.path.name)
    assert path.stem.endswith("_openended")
    rows = {row.index: row for row in world if row.dataset == "vilp"}
    for found in as_records(path):
        row = rows[int(found["index"])]
        assert list(found) == ["index", "image", "question", "answer", "category", "split",
                               "group", "biased", "sensitive"]  # fmt: skip
        assert (found["question"], found["answer"]) == (row.question, row.answer)
        assert base64.b64decode(found["image"]) == row.image_bytes
        assert f"vilp:{found['group']}" == row.group


def test_short_answers_read_back_as_a_data_set_of_ones_own(world, tmp_path):
    records = records_of(world)
    (path,) = (x.path for x in export_drbench(records, world, tmp_path) if "vilp" in x.path.name)
    columns = {name: name for name in ("index", "image", "question", "answer", "category", "group")}
    own = formats.write_own(
        tmp_path / "back.yaml", path.name, columns=columns, question_type="short"
    )
    rows = {row.index: row for row in world if row.dataset == "vilp"}
    for one in load_dataset(own):
        other = rows[one.index]
        for each in ("question", "answer", "image_hash", "image_bytes", "problem"):
            assert getattr(one, each) == getattr(other, each)
        assert one.group.partition(":")[2] == other.group.partition(":")[2]


def test_a_shared_picture_stands_once_and_in_a_row_that_is_there(world, tmp_path):
    pointers = 0
    for each in export_drbench(records_of(world), world, tmp_path):
        pictures = {row["index"]: row["image"] for row in as_records(each.path)}
        assert len(set(pictures.values())) == len(pictures) or any(map(str.isdecimal, pictures))
        for image in pictures.values():
            if len(image) <= POINTER_LENGTH:
                assert len(pictures[image]) > POINTER_LENGTH
                pointers += 1
    assert pointers > 4


def test_no_added_column_can_be_taken_for_an_option(world, tmp_path):
    for each in export_drbench(records_of(world), world, tmp_path):
        single = [name for name in as_records(each.path)[0] if len(name) == 1]
        assert single == (list("ABCD") if "openended" not in each.path.name else [])


def test_rows_with_an_error_are_in_no_file(world, tmp_path):
    broken = tmp_path / "data" / "mme.tsv"
    lines = broken.read_text(encoding="utf-8").splitlines(keepends=True)
    broken.write_text("".join(line.replace("\tYes", "\tPerhaps") for line in lines))
    spoilt = load_dataset("world", tmp_path / "data")
    assert sum(row.problem is not None for row in spoilt) == 3
    exported = export_drbench(records_of(spoilt), spoilt, tmp_path / "out")
    (path,) = (each.path for each in exported if "mme" in each.path.name)
    assert {row["answer"] for row in as_records(path)} == {"No"}


def test_records_of_other_data_are_refused(world, tmp_path):
    records = records_of(world)
    with pytest.raises(RecordsError, match=r"records were made of cn .* en, .* missing\. Give"):
        export_drbench(records, load_dataset("en", tmp_path / "data"), tmp_path / "out")
    part = load_dataset("world", tmp_path / "data", limit=8)
    with pytest.raises(RecordsError, match=r"\d+ rows of the records are not in world"):
        export_drbench(records, part, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../../notes.png", "/etc/notes.png"])
def test_a_picture_whose_name_climbs_out_is_refused(world, tmp_path, name):
    rows = formats.mme_rows(3)
    for row in rows[:2]:
        row[2] = name
    formats.write_tsv(tmp_path / "data" / "mme.tsv", formats.MME, rows)
    spoilt = load_dataset("mme", tmp_path / "data")
    records = records_of(spoilt, seed=3)
    assert subsets(records)["BS"][:2].any()
    with pytest.raises(DatasetError, match=r"leads out of the folder.*Rename it"):
        export_drbench(records, spoilt, tmp_path / "out")


def test_the_command_says_what_it_wrote(world, tmp_path, capsys):
    from sci_book import cli

    write_records(tmp_path / "records.parquet", records_of(world))
    arguments = ["export", "drbench", "--records", str(tmp_path / "records.parquet"), "--data",
                 "world", "--out", str(tmp_path / "out")]  # fmt: skip
    cli.app(args=arguments, standalone_mode=False)
    printed = capsys.readouterr().out
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(written) == 4 and all(name in printed for name in written)
    assert f"rows of BS in {len(written)} files" in printed


def test_the_book_page_counts_what_is_exported():
    """Its listing of the pocket model's files, against the committed records."""
    root = Path(__file__).resolve().parents[2]
    records = read_records(root / "data_manifests" / "records" / "pocket-qwen2vl.parquet")
    sets, names = subsets(records), records.frame["dataset"].to_numpy()
    page = (root / "book" / "other_tools.md").read_text(encoding="utf-8")
    for name in records.stamp["datasets"]:
        rows = sets[names == name]
        line = f"{rows['BS'].sum():,} rows, {rows['B'].sum():,} in B, {rows['S'].sum():,} in S"
        assert re.search(rf"pocket-qwen2vl_{name}(_openended)?\.tsv: {line}\n", page), name
    assert f"{sets['BS'].sum():,} rows of BS in {len(records.stamp['datasets'])} files" in page

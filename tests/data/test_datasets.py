"""The loader on small files in the public formats: what it reads, and what it says of bad ones."""

import base64
import csv
import io
from collections import Counter

import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from sci_book.data import datasets
from sci_book.data.datasets import DatasetError, RowError, load_dataset, read_manifest
from sci_book.pipeline.pocket_data import draw_pocket
from tests.data import formats


@pytest.fixture
def world(tmp_path, monkeypatch):
    formats.write_world(tmp_path / "manifests", tmp_path / "data")
    monkeypatch.setattr(datasets, "MANIFESTS", tmp_path / "manifests")
    return tmp_path / "data"


def rewrite_rows(path, change):
    """Apply `change` to the list of rows (header first) of a TSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    change(rows)
    formats.write_tsv(path, rows[0], rows[1:])


def test_rotations_share_group_and_picture(world):
    rows = load_dataset("en", world).rows
    assert len(rows) == 16
    first = [row for row in rows if row.group == "mmbench:1"]
    assert [row.index for row in first] == [1, 1_000_001, 2_000_001, 3_000_001]
    assert len({row.image_hash for row in first}) == 1
    assert [row.options[row.answer] for row in first] == ["blue"] * 4
    assert first[3].image().size == (64, 48) and first[3].image().mode == "RGB"
    assert (first[0].hint, first[0].kind, first[0].category) == (
        "Look at the table.", "MCQ", "colour")  # fmt: skip


def test_mme_pairs_and_vilp_triplets(world):
    mme = load_dataset("mme", world).rows
    assert [row.answer for row in mme[:2]] == ["yes", "no"]
    assert mme[0].group == mme[1].group != mme[2].group
    vilp = load_dataset("vilp", world).rows
    assert [row.index for row in vilp] == list(range(9))
    assert [row.group for row in vilp[:4]] == ["vilp:0"] * 3 + ["vilp:1"]
    assert [row.answer for row in vilp[:3]] == ["thing1", "thing2", "thing3"]
    assert len({row.image_hash for row in vilp}) == 9
    assert mme[0].kind == vilp[0].kind == "Others"


def test_a_collection_concatenates_its_parts(world):
    rows = load_dataset("world", world)
    assert len(rows) == 39
    assert rows.sizes == {"en": 16, "cn": 8, "mme": 6, "vilp": 9}
    assert load_dataset("world", world).digest == rows.digest
    assert load_dataset("world", world, limit=20).digest != rows.digest


@pytest.mark.parametrize(("limit", "expected"), [(1, 4), (4, 4), (7, 4), (8, 8), (100, 16)])
def test_limit_takes_whole_groups(world, limit, expected):
    assert len(load_dataset("en", world, limit=limit)) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(1, {"mme": 2}), (4, {"mme": 2}), (7, {"mme": 2, "vilp": 3}),
     (9, {"en": 4, "mme": 2, "vilp": 3}), (10, {"en": 4, "mme": 2, "vilp": 3}),
     (20, {"en": 8, "cn": 4, "mme": 2, "vilp": 3}),
     (39, {"en": 16, "cn": 8, "mme": 6, "vilp": 9})],
)  # fmt: skip
def test_a_limit_bounds_a_collection_and_reaches_as_many_parts_as_it_can(world, limit, expected):
    rows = load_dataset("world", world, limit=limit)
    assert Counter(row.dataset for row in rows) == expected
    assert len(rows) <= limit or len(expected) == 1  # one whole group, if no limit can hold it
    whole = Counter((row.dataset, row.group) for row in load_dataset("world", world))
    assert all(whole[key] == n for key, n in Counter((r.dataset, r.group) for r in rows).items())
    assert list(rows.checksums) == ["en", "cn", "mme", "vilp"]


def test_limit_keeps_raw_positions_and_scattered_rotations(world):
    def scatter(rows):
        rows[1:] = sorted(rows[1:], key=lambda row: int(row[0]))

    rewrite_rows(world / "en.tsv", scatter)
    rows = load_dataset("en", world, limit=4).rows
    assert [row.position for row in rows] == [0, 4, 8, 12]
    assert {row.group for row in rows} == {"mmbench:1"}


def test_option_text_none_stays_and_blank_options_go(world):
    def change(rows):
        rows[1][4:8] = ["None", "NA", "", ""]
        rows[1][8] = "A"

    rewrite_rows(world / "en.tsv", change)
    assert load_dataset("en", world).rows[0].options == {"A": "None", "B": "NA"}


def test_a_file_with_another_checksum_is_refused_and_content_has_one_of_its_own(world, tmp_path):
    manifest = tmp_path / "manifests" / "en.yaml"
    content = yaml.safe_load(manifest.read_text())
    content["checksum"] = {"md5": "0" * 32}
    manifest.write_text(yaml.safe_dump(content))
    with pytest.raises(DatasetError, match=r"md5 checksum \w{32}; data set en has 0{32}"):
        load_dataset("en", world)
    rows = load_dataset("mme", world).rows
    content["checksum"] = {"content": datasets.content_checksum(list(load_dataset("cn", world)))}
    content |= {"file": "cn.tsv", "rows": 8}
    manifest.write_text(yaml.safe_dump(content))
    assert load_dataset("en", world).checksums["en"].startswith("content:")
    assert datasets.content_checksum(list(rows)) == datasets.content_checksum(list(rows))


def test_a_file_packed_as_the_manifest_says_shows_what_it_says(world, tmp_path, monkeypatch):
    """And one that is packed otherwise is looked at, and refused if it shows something else."""
    path = tmp_path / "manifests" / "en.yaml"
    content = yaml.safe_load(path.read_text())
    shown = datasets.content_checksum(load_dataset("en", world).rows)
    packed = datasets.file_checksum(world / "en.tsv", "sha256")
    path.write_text(yaml.safe_dump(content | {"checksum": {"content": shown}, "packed": packed}))
    with monkeypatch.context() as patch:
        patch.setattr(datasets, "content_checksum", lambda rows: pytest.fail("looked at"))
        assert load_dataset("en", world).checksums == {"en": f"content:{shown}"}
    path.write_text(yaml.safe_dump(content | {"checksum": {"content": shown}, "packed": "0" * 64}))
    assert load_dataset("en", world).checksums == {"en": f"content:{shown}"}
    rewrite_rows(world / "en.tsv", lambda rows: rows[1].__setitem__(8, "AB"[rows[1][8] == "A"]))
    with pytest.raises(DatasetError, match="content checksum"):
        load_dataset("en", world)


@pytest.mark.parametrize("name", read_manifest("pocket").parts)
def test_the_twins_are_packed_and_read_as_their_manifests_say(name):
    """Who loads one looks at its bytes alone: what they are read as is held here."""
    draw_pocket(name)
    manifest = read_manifest(name)
    assert datasets.file_checksum(datasets.file_of(manifest, name), "sha256") == manifest.packed
    shown = datasets.content_checksum(load_dataset(name).rows)
    assert shown == manifest.checksum["content"]


def test_content_checksum_sees_pixels_not_packing(world):
    before = datasets.content_checksum(list(load_dataset("mme", world)))

    def repack(rows):
        image = Image.open(io.BytesIO(base64.b64decode(rows[1][1])))
        file = io.BytesIO()
        image.save(file, "PNG", compress_level=0)
        rows[1][1] = formats.encoded(file.getvalue())

    rewrite_rows(world / "mme.tsv", repack)
    assert datasets.content_checksum(list(load_dataset("mme", world))) == before
    rewrite_rows(world / "mme.tsv", lambda rows: rows[1].__setitem__(1, rows[3][1]))
    assert datasets.content_checksum(list(load_dataset("mme", world))) != before


def test_unknown_names_are_listed(world):
    with pytest.raises(DatasetError, match="no data set 'mmbench'; expected one of cn, en, mme"):
        load_dataset("mmbench", world)


def test_missing_file_and_empty_limit(world, tmp_path):
    with pytest.raises(DatasetError, match=r"en\.tsv does not exist.*Put it there"):
        load_dataset("en", tmp_path)
    with pytest.raises(DatasetError, match="limit=0 leaves no row"):
        load_dataset("en", world, limit=0)


def test_files_cut_in_the_middle(world):
    rewrite_rows(world / "en.tsv", lambda rows: rows.pop())
    with pytest.raises(DatasetError, match=r"has 15 rows; data set en has 16. The file is trunca"):
        load_dataset("en", world)
    content = (world / "en.tsv").read_bytes()
    (world / "en.tsv").write_bytes(content[: len(content) // 2])
    with pytest.raises(DatasetError, match="truncated"):
        load_dataset("en", world)
    (world / "en.tsv").write_bytes(b"")
    with pytest.raises(DatasetError, match="is empty; expected a header"):
        load_dataset("en", world)
    content = (world / "vilp.parquet").read_bytes()
    (world / "vilp.parquet").write_bytes(content[:-9])
    with pytest.raises(DatasetError, match="no readable Parquet"):
        load_dataset("vilp", world)


def test_vilp_without_a_column(world):
    table = pq.read_table(world / "vilp.parquet").drop_columns(["image2"])
    pq.write_table(table, world / "vilp.parquet")
    with pytest.raises(DatasetError, match="no column image2"):
        load_dataset("vilp", world)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (1, "!" * 80, r"row 1 \(index 1\): the image field .* is not base64"),
        (1, formats.encoded(b"no picture " * 9), r"row 1 .*is no picture that can be used"),
        (1, formats.encoded(formats.png()[:60]), r"row 1 .*is no picture that can be used"),
        (1, formats.encoded(formats.png(size=(1, 1))), r"1 x 1 pixels; each side must have"),
        (1, "999", "points at no row"),
        (1, "1000001", "points in a circle"),
        (1, "", "image field is empty"),
        (8, "E", "the answer is 'E'; expected one of A, B, C, D"),
    ],
)
def test_a_bad_row_is_named_and_the_rest_is_unharmed(world, field, value, message):
    rewrite_rows(world / "en.tsv", lambda rows: rows[1].__setitem__(field, value))
    rows = load_dataset("en", world).rows
    with pytest.raises(RowError, match=message):
        rows[0].image()
    assert rows[4].image().size == (64, 48)


def test_the_committed_manifests_are_whole():
    names = datasets.dataset_names()
    assert {"mmbench_en", "mmbench_cn", "ccbench", "mmstar", "mme", "vilp", "pocket"} <= set(names)
    total = 0
    for name in datasets.read_manifest("pocket").parts:
        twin = datasets.read_manifest(name)
        real = datasets.read_manifest(twin.twin_of)
        assert (twin.rows, twin.file, twin.columns) == (real.rows, real.file, real.columns)
        assert twin.known_checksum and real.title and real.source and real.licence
        assert (real.known_checksum is not None) == real.address.startswith("https://")
        total += twin.rows
    assert total == 16_566
    assert datasets.read_manifest("pocket-mmbench-en").name == "pocket_mmbench_en"
    assert {datasets.read_manifest(name).name for name in names} == set(names)

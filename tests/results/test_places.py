"""Where records lie: a file, a run's folder, a folder of files; the commands take each alike."""

import re
import shutil

import pytest

from sci_book import resources
from sci_book.papers.shared import chapters
from sci_book.pipeline import pocket_data
from sci_book.results import places
from sci_book.results.records import RecordsError, read_records, write_records
from sci_book.run import runner
from sci_core.methods import SCI3, TIE, VCD
from sci_core.methods import sci as sci_method
from tests.conftest import sci
from tests.world import SETTINGS

ROUNDS = ("V1", "V2", "black", "noise500")


@pytest.fixture
def there(run, tmp_path):
    """The same records as a file, a run's folder, a folder of files, and a book's folder."""
    name = run[1].stamp["model"]
    for folder in ("files", "book/records"):
        write_records(tmp_path / folder / f"{name}.parquet", run[1])
    return {
        "file": tmp_path / "files" / f"{name}.parquet",
        "run": run[0],
        "files": tmp_path / "files",
        "book": tmp_path / "book",
    }


def test_records_are_found_wherever_they_lie(run, there):
    name = run[1].stamp["model"]
    for place in there.values():
        assert places.models_at(place) == [name]
        for path in (places.path_of(name, place), places.only_one(place)):
            assert read_records(path).table.equals(run[1].table)
        (subject,) = chapters.subjects(name, place)
        assert subject.records.table.equals(run[1].table)


def test_what_a_place_holds_instead_is_said(there, tmp_path):
    (tmp_path / "empty").mkdir()
    shutil.copy(there["file"], there["files"] / "other.parquet")
    for place, sentence in (
        ("nowhere", "there is no .*nowhere; expected is a file of records, the folder of a finis"),
        ("empty", "holds no records: expected is .*; make one with `sci evaluate`"),
    ):
        for find in (places.models_at, places.only_one, lambda place: places.path_of("m", place)):
            with pytest.raises(RecordsError, match=sentence):
                find(tmp_path / place)
    with pytest.raises(RecordsError, match=r"absent.parquet holds no records: .* those of .*other"):
        places.path_of("absent", there["files"])
    with pytest.raises(RecordsError, match=r"holds records of .*other; name the file of one"):
        places.only_one(there["files"])
    with pytest.raises(RecordsError, match="is one run, of one model, and a, b are named"):
        chapters.subjects("a, b", there["run"])
    assert places.models_at(there["files"], ["other"]) == ["other"]
    assert len(places.models_at(there["files"], ["other", "absent"])) == 2


@pytest.mark.parametrize("command", ["matrix", "claims"])
@pytest.mark.parametrize("place", ["nowhere", "empty", "unfinished", "other"])
def test_records_are_looked_for_before_anything_is_drawn(
    command, place, there, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(pocket_data, "draw_companions", lambda **_: pytest.fail("sets are drawn"))
    (tmp_path / "empty").mkdir()
    shutil.copytree(there["run"], tmp_path / "unfinished")
    next((tmp_path / "unfinished").glob("shard-*")).unlink()
    records = there["files"] if place == "other" else tmp_path / place
    models = ["--models", "absent"] if place == "other" else []
    assert sci(command, "--records", records, *models) == 2
    said = capsys.readouterr().err
    assert "Run the same" in said if place == "unfinished" else "holds no records: " in said


@pytest.mark.parametrize("place", ["file", "run", "files", "book"])
def test_the_matrix_is_of_any_place(place, there, monkeypatch, capsys):
    monkeypatch.setattr(pocket_data, "draw_companions", lambda **_: None)
    monkeypatch.chdir(resources.ROOT)
    assert sci("matrix", "--records", there[place]) == 0
    assert "Self-Critical Inference: all rows" in capsys.readouterr().out


NO_CELL = {  # methods and further rounds of a run, and what is said of its records
    "no method": ([], ROUNDS, "in the rounds .* no method .* `sci evaluate --methods st"),
    "one that is not compared": (
        [sci_method(1, 0)],
        ROUNDS,
        "SCI.* no method that the matrix compares .* `sci evaluate --methods standard`",
    ),
    "no rewordings": ([TIE], (), "TIE, .* and not V1, V2, black, by which .* `--rounds V1,V2,bla"),
    "no noise": ([SCI3], (), "SCI3, .* and not V2, noise500, by .* `--rounds V2,noise500`"),
    "black alone": ([SCI3, VCD], (), "SCI3, VCD, .* and not V2, by which .* with `--rounds V2`"),
}


@pytest.mark.parametrize("case", NO_CELL)
def test_records_that_fill_no_cell_of_the_matrix_are_an_error(
    case, model, world, tmp_path, monkeypatch, capsys
):
    methods, rounds, said = NO_CELL[case]
    monkeypatch.setattr(pocket_data, "draw_companions", lambda **_: None)
    how = {"rounds": rounds, "record": "answers"}
    runner.evaluate(model, world, methods, tmp_path / "run", **how, **SETTINGS)
    assert sci("matrix", "--records", tmp_path / "run") == 2
    out, err = capsys.readouterr()
    assert not out and re.search(f"the records hold the base, {said}", err)

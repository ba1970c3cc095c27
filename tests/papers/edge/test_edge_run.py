"""The whole run on a tiny model: three runs, resumed, joined; and the command."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from sci_book import cli
from sci_book.papers.edge import conditions, run
from sci_book.papers.edge.calibration import recorded_confidence
from sci_book.papers.edge.correctness import right
from sci_book.results.records import read_records
from tests import tiny
from tests.papers.edge.edge_rows import row


@pytest.fixture(scope="module")
def rows():
    return [row(0), row(1), row(2, "free", question="Describe it.")]


@pytest.fixture(scope="module")
def model():
    return tiny.load("qwen2_vl")


@contextmanager
def one_corruption():
    """One question under one corruption, and probes of every answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditions, "CORRUPTED_ROWS", 1)
        patch.setattr(conditions, "NAMES", ("fog",))
        patch.setattr(run, "right", lambda records, policy: np.ones(len(records.table)))
        yield patch


@pytest.fixture(scope="module")
def joined(model, rows, tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    with one_corruption() as patch:
        patch.setattr(run, "LONGEST", 3)
        found = run.run(model, rows, out, workers=1)
        shards = sorted(out.glob("*/shard-*.parquet"))
        before = [file.stat().st_mtime_ns for file in shards]
        again = run.run(model, rows, out, workers=1)
        assert [file.stat().st_mtime_ns for file in shards] == before  # nothing was done twice
    assert again.table.equals(found.table)
    return found, out


def test_every_experiment_is_there(joined):
    records, out = joined
    assert records.frame["dataset"].value_counts().to_dict() == {
        "questions": 2, "captions": 1, "blurred questions": 2, "blurred captions": 1,
        "corrupted questions": 5, "negated questions": 8, "negated captions": 4,
    }  # fmt: skip
    assert records.ok.all()
    assert read_records(out / run.FILE).table.equals(records.table)
    assert list(records.stamp["datasets"]) == list(dict.fromkeys(records.frame["dataset"]))


def test_confidence_is_known_where_logits_were_kept(joined):
    records, _ = joined
    pictures = ~records.frame["dataset"].str.contains("negated|corrupted").to_numpy()
    said = records.frame["tokens:original"].map(len).to_numpy() > 0
    known = np.isfinite(recorded_confidence(records, "base"))
    assert (known == (pictures & said)).all()
    # A method may choose a token that no round had among its best; that answer has none.
    assert not np.isfinite(recorded_confidence(records, "SCI5"))[~pictures].any()


def test_only_what_was_passed_through_is_kept(joined):
    records, out = joined
    whole = read_records(out / "pictures")
    for place, nodes in enumerate(whole.table["nodes"].to_pylist()):
        assert len(records.table["nodes"][place].as_py()) <= len(nodes)
    assert [key for key in records.keys if key in set(whole.keys)] == whole.keys


def test_without_a_right_answer_there_is_no_probe(model, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "LONGEST", 2)
    wrong = [replace(row, answer="zzz") for row in rows]
    found = run.run(model, wrong, tmp_path, parts=("negation",), workers=1)
    assert not found.frame["dataset"].str.startswith("negated").any()
    assert not np.nansum(right(found, "base"))


def test_without_a_method_one_round_is_read(joined, model, rows, tmp_path, monkeypatch):
    settings = {"parts": ("pictures",), "workers": 1}
    monkeypatch.setattr(run, "LONGEST", 3)
    found = run.run(model, rows, tmp_path, methods=(), **settings)
    assert found.rounds == found.policies == ["original"]
    whole, alone = (
        records.frame.set_index(["dataset", "index"])["tokens:original"].map(list)
        for records in (joined[0], found)
    )
    assert alone.to_dict() == whole[alone.index].to_dict()
    assert np.isfinite(recorded_confidence(found, "base"))[alone.map(len).to_numpy() > 0].all()


def test_of_what_was_not_asked_nothing_is_drawn(model, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "LONGEST", 2)
    found = run.run(model, rows, tmp_path, parts=("pictures",), workers=1)
    monkeypatch.setattr(
        conditions, "corrupted_rows", lambda *_, **__: pytest.fail("corruptions were drawn")
    )
    monkeypatch.setattr(run, "negation_of", lambda *asked: pytest.fail("probes were made"))
    ((part, dataset),) = run.datasets(rows, found)
    assert part == "pictures"
    assert dataset.checksums == found.stamp["datasets"]


def test_every_part_that_was_asked_is_asked_again(joined, rows):
    # Otherwise a check of records would pass for want of rows.
    records, _ = joined
    with one_corruption():
        found = dict(run.datasets(rows, records))
    assert list(found) == list(run.PARTS)
    checksums = {name: each for part in found.values() for name, each in part.checksums.items()}
    assert checksums == records.stamp["datasets"]


def test_the_command_refuses_an_unknown_part(capsys, tmp_path):
    with pytest.raises(SystemExit):
        cli.main(["probe", "edge", "--out", str(tmp_path), "--parts", "pictures,blur"])
    assert "blur" in capsys.readouterr().err

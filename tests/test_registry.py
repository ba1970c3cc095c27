"""A paper is what its description says; code takes the list of papers from the registry."""

import ast
import re
from dataclasses import replace

import pytest
import yaml

from sci_book.papers.registry import COMPANIONS, PAPERS
from sci_book.papers.shared.paper import asked_of
from sci_book.pipeline import frozen
from sci_book.pipeline.own_book import chosen_papers
from sci_book.pipeline.pocket_data import paper_set
from sci_book.pipeline.reproduce import data_steps
from sci_book.resources import ROOT


@pytest.fixture
def sixth(monkeypatch, tmp_path):
    described = replace(
        PAPERS["cvqa"], name="sixth", title="A Sixth", folder=tmp_path, asked=asked_of("sixth")
    )
    monkeypatch.setitem(PAPERS, "sixth", described)
    return described


def test_a_sixth_paper_is_chosen_drawn_asked_and_verified(sixth, tmp_path):
    assert chosen_papers("sixth") == ("sixth",) and chosen_papers(None)[-1] == "sixth"
    (step,) = (step for step in data_steps() if step.name == "sixth data")
    assert step.makes == [tmp_path]
    asked = paper_set("sixth", "pocket", 20)
    assert 0 < asked.rows <= 20
    assert asked.file(tmp_path, "model") == tmp_path / "sixth" / "model.parquet"
    records = tmp_path / "sixth" / "model.parquet"
    records.parent.mkdir()
    records.touch()
    assert frozen.frozen_files("model", tmp_path, full=True) == [records]


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_a_paper_has_its_claims_and_its_index(paper):
    for name in (paper.claims, paper.index):
        assert (ROOT / "data_manifests" / "paper" / name).is_file()
    assert (paper.draw is None) == (paper.folder is None) == (paper.data is None)


@pytest.mark.parametrize("paper", COMPANIONS)
def test_a_companion_is_named_where_no_code_can_list_it(paper):
    scorer = (ROOT / "book" / "_assets" / "search_order.js").read_text(encoding="utf-8")
    assert re.search(rf"[(|]{paper}[|)]", scorer), f"search_order.js: pages of {paper}"
    for page in ("verdicts", "audit_companions"):
        source = (ROOT / "notebooks" / f"{page}.py").read_text(encoding="utf-8")
        (given,) = re.findall(r"^papers: list = (.*)", source, re.MULTILINE)
        assert PAPERS[paper].title in ast.literal_eval(given), f"{page}.py: its `papers`"


@pytest.mark.parametrize("paper", COMPANIONS)
def test_a_companion_has_quotes_a_probe_and_a_registration(paper):
    folder = ROOT / "data_manifests" / "paper"
    assert (folder / f"{paper}_quotes.csv").is_file()
    probes = yaml.safe_load((folder / "matrix.yaml").read_text(encoding="utf-8"))
    assert any(probe["paper"] == paper for probe in probes), "matrix.yaml: a probe of it"
    registered = [path.read_text(encoding="utf-8") for path in folder.glob("registration*.yaml")]
    assert any(PAPERS[paper].claims in text for text in registered), "its claims, registered"

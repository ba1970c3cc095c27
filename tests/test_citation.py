"""What readers are told to cite is what the project's own files say."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "book" / "bibliography.md").read_text(encoding="utf-8")
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def entry(kind, text):
    """A BibTeX entry's fields."""
    body = text.split(f"@{kind}{{", 1)[1].split("\n}", 1)[0]
    return dict(re.findall(r"^  (\w+) = \{(.*)\},?$", body, re.MULTILINE))


def test_the_papers_entry_is_that_of_the_bibliography():
    references = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    own = references[references.index("@misc{tang2026sci") :]
    found = entry("misc", PAGE)
    assert found == entry("misc", own) and found["eprint"]
    (paper,) = CITED["references"]
    assert found["title"] == paper["title"]
    assert paper["identifiers"][0]["value"] == f"arXiv:{found['eprint']}"
    families = [author["family-names"] for author in paper["authors"]]
    assert [name.split(",")[0] for name in found["author"].split(" and ")] == families


def test_the_books_entry_names_its_title_and_its_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = entry("software", PAGE)
    assert found["version"] == CITED["version"] == project["version"]
    assert found["title"] == CITED["title"]
    assert found["author"].strip("{}") == CITED["authors"][0]["name"]

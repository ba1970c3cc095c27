"""A release: the same bytes of the same book, checksums that hold, nothing that nobody knows."""

import hashlib
import io
import subprocess
import zipfile

import pytest
import yaml

from sci_book.pipeline import release
from sci_book.resources import PAPER, ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.quick
def test_the_changelog_begins_with_the_version_that_is_set():
    assert CHANGELOG.split("\n## ")[1].splitlines()[0] == release.version()


def test_notes_are_one_versions_section():
    said = "# Changelog\n\n## 0.2.0\n\n- new\n\n## 0.1.0\n\n- old\n"
    assert release.notes(said, "0.2.0") == "- new\n" and release.notes(said, "0.1.0") == "- old\n"
    with pytest.raises(ValueError, match=r"nothing of 0\.3\.0.* its versions are 0\.2\.0, 0\.1\.0"):
        release.notes(said, "0.3.0")


def test_an_archive_is_the_same_for_the_same_files_and_unpacks_to_one_folder(tmp_path):
    (tmp_path / "pages").mkdir()
    for name in ("index.html", "pages/one.html"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    made = release.archive(files, tmp_path, "book-1", 1_700_000_000)
    assert made == release.archive(files[::-1], tmp_path, "book-1", 1_700_000_000)
    with zipfile.ZipFile(io.BytesIO(made)) as held:
        assert held.namelist() == ["book-1/index.html", "book-1/pages/one.html"]
        assert held.read("book-1/pages/one.html") == b"pages/one.html"


def test_every_registered_file_has_its_checksum():
    names = {path.name for path in release.registered()}
    assert {path.name for path in PAPER.glob("registration*.yaml")} | {"amendments.yaml"} < names
    assert {path.name for path in PAPER.glob("claims_*.yaml")} < names
    (line,) = release.sums({"a": b"held"}).splitlines()
    assert line == f"{hashlib.sha256(b'held').hexdigest()}  a"


def test_a_citation_names_only_what_is_known():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = yaml.safe_load(release.citation(text, "0" * 40, "2000-01-02", ""))
    assert cited.items() > yaml.safe_load(text).items()
    assert cited["date-released"] == "2000-01-02" and "repository-code" not in cited
    cited = yaml.safe_load(release.citation(text, "0" * 40, "2000-01-02", "https://host/book"))
    assert cited["repository-code"] == "https://host/book"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A committed book of one page, in a repository of its own."""
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "BOOK", tmp_path / "_build")
    monkeypatch.setattr(release, "TARGET", tmp_path / "dist")
    monkeypatch.setattr(release, "registered", lambda: [tmp_path / "CHANGELOG.md"])
    for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / ".gitignore").write_text("_build/\ndist/\n", encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "a book"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def test_a_release_is_of_a_commit_and_of_a_rendered_book(checkout):
    with pytest.raises(SystemExit, match="holds no rendered book"):
        release.main()
    (checkout / "_build").mkdir()
    (checkout / "_build" / "index.html").write_text("a page", encoding="utf-8")
    release.main()
    done = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"],
        cwd=checkout / "dist", capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.count(": OK") == 4, done
    subprocess.run(["git", "tag", "v0.0.0"], cwd=checkout, check=True)
    with pytest.raises(SystemExit, match=r"tagged v0\.0\.0; pyproject\.toml says"):
        release.main()
    (checkout / "CITATION.cff").write_text("changed", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"commit these changes first:\nM CITATION\.cff"):
        release.main()

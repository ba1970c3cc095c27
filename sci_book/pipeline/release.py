"""A release: the rendered book as an archive, its checksum, the registrations', notes, a citation.

`make release` renders the book of the commit that is checked out, and writes all of it into `dist`.
The version stands in pyproject.toml; CITATION.cff and the page on citing repeat it, which a
test holds.
"""

import hashlib
import io
import re
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from sci_book.files import write_whole
from sci_book.pipeline.registration import AMENDMENTS, BESIDE, load_registration, of_claims
from sci_book.resources import PAPER, ROOT

BOOK, TARGET = ROOT / "_build" / "html", ROOT / "dist"


def version() -> str:
    """The version of this release, from the one place where it is set."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["version"]


def notes(changelog: str, of: str) -> str:
    """What the changelog says of a version. Raises ValueError if it says nothing."""
    found = re.search(
        rf"^## {re.escape(of)}\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if not found or not found[1].strip():
        known = ", ".join(re.findall(r"^## (.+)$", changelog, re.MULTILINE)) or "none"
        raise ValueError(
            f"CHANGELOG.md says nothing of {of}, the version in pyproject.toml; its versions are "
            f"{known}. Write a section `## {of}`."
        )
    return found[1].strip() + "\n"


def sums(files: Mapping[str, bytes]) -> str:
    """Lines that `sha256sum --check` reads: a checksum and a name each."""
    return "".join(f"{hashlib.sha256(held).hexdigest()}  {name}\n" for name, held in files.items())


def registered() -> list[Path]:
    """The registrations, their amendments, and every file that they fix."""
    names = [*of_claims(), *BESIDE]
    fixed = [name for one in names for name in load_registration(registered=one)["files"]]
    return sorted({(PAPER / name).resolve() for name in (*names, AMENDMENTS, *fixed)})


def citation(text: str, commit: str, day: str, repository: str) -> str:
    """CITATION.cff of a release: with the day of its commit, and the repository if it has one."""
    known = {"commit": commit, "date-released": day, "repository-code": repository}
    return text + "".join(f'{key}: "{value}"\n' for key, value in known.items() if value)


def archive(files: Iterable[Path], folder: Path, inside: str, seconds: int) -> bytes:
    """A ZIP file of files below a folder, the same bytes for the same files.

    Args:
        inside: the folder that the archive unpacks to.
        seconds: since 1970, the time that every file in it bears.
    """
    held, when = io.BytesIO(), time.gmtime(seconds)[:6]
    with zipfile.ZipFile(held, "w") as made:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{inside}/{path.relative_to(folder).as_posix()}", when)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            made.writestr(entry, path.read_bytes(), compresslevel=9)
    return held.getvalue()


def git(*words: str) -> str:
    """What git says of this checkout, in one line; nothing if it knows nothing."""
    asked = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    return asked.stdout.strip()


def main() -> None:
    """Write the release of the commit that is checked out. Exits in a sentence if it cannot be."""
    if changed := git("status", "--porcelain"):
        sys.exit(f"A release is one of a commit; commit these changes first:\n{changed}")
    if not (BOOK / "index.html").is_file():
        sys.exit(f"{BOOK} holds no rendered book; `make release` renders it first.")
    own, commit = version(), git("rev-parse", "HEAD")
    tags = git("tag", "--points-at", "HEAD", "v*").split()
    if tags and f"v{own}" not in tags:
        sys.exit(f"This commit is tagged {' and '.join(tags)}; pyproject.toml says {own}.")
    day, seconds = git("show", "-s", "--format=%cs %ct", "HEAD").split()
    remote = git("remote", "get-url", "origin")
    repository = remote.removesuffix(".git") if remote.startswith("https://") else ""
    said = notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), own)
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    inside = f"self-critical-inference-{own}"
    pages = [path for path in BOOK.rglob("*") if path.is_file()]
    made = {
        f"{inside}-book.zip": archive(pages, BOOK, inside, int(seconds)),
        "CITATION.cff": citation(cited, commit, day, repository).encode(),
        "NOTES.md": said.encode(),
    }
    fixed = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in registered()}
    made["REGISTERED"] = sums(fixed).encode()
    made["SHA256SUMS"] = sums(made).encode()
    for name, content in made.items():
        write_whole(TARGET / name, content)
        print(f"{len(content):>12,}  {TARGET / name}")
    if not tags:
        print(f"Tag this release: git tag v{own} {commit[:12]}")


if __name__ == "__main__":
    main()

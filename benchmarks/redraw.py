"""Draw the pocket data anew, once their seeds are others, and write down what was drawn.

    python benchmarks/redraw.py

Deletes the drawn data, chooses ORIC's questions (`data_manifests/pocket_oric.csv`), draws all, and
writes rows and checksums into the manifests below `data_manifests/datasets`. With the same seeds it
changes nothing. Some ten minutes of a core.
"""

import argparse
import re
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sci_book.data.datasets import (
    content_checksum,
    dataset_names,
    file_checksum,
    file_of,
    joined_file_of,
    manifest_path,
    read_manifest,
)
from sci_book.data.manifests import Manifest
from sci_book.data.reading import read_rows
from sci_book.data.rows import DatasetError
from sci_book.files import write_whole
from sci_book.papers.oric.encoder import ClipEncoder
from sci_book.papers.oric.pocket_questions import QUESTIONS, choose_questions
from sci_book.papers.registry import PAPERS
from sci_book.resources import CHECKPOINTS, HOME


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    with TemporaryDirectory() as folder:
        chosen = choose_questions(ClipEncoder(CHECKPOINTS / "pocket-clip"), Path(folder))
    write_whole(QUESTIONS, chosen.to_csv(index=False).encode())
    drawing = [paper for paper in PAPERS.values() if paper.draw and paper.folder]
    for paper in drawing:
        shutil.rmtree(paper.folder, ignore_errors=True)
        with suppress(DatasetError):  # drawn, but not yet as its manifests say
            paper.draw(print)
    for name in drawn():
        path = manifest_path(name)
        text = path.read_text(encoding="utf-8")
        if (now := as_drawn(name, text)) != text:
            write_whole(path, now.encode())
            print(f"{path}: written anew")
    for paper in drawing:
        paper.draw(print)


def drawn() -> list[str]:
    """The data sets that are drawn here and have a checksum of what is in them."""
    folders = {paper.folder for paper in PAPERS.values() if paper.draw and paper.folder}
    manifests = [read_manifest(name) for name in dataset_names()]
    return [
        manifest.name
        for manifest in manifests
        if isinstance(manifest, Manifest)
        and HOME / manifest.folder in folders
        and "content" in (manifest.checksum or {})
    ]


def as_drawn(name: str, text: str) -> str:
    """The text of a manifest, with the rows and the checksum of the file that lies there now."""
    manifest = read_manifest(name)
    base = HOME / manifest.folder
    rows = read_rows(file_of(manifest, name), base, manifest, joined_file_of(manifest, name))
    text = re.sub(r"content: [0-9a-f]{64}", f"content: {content_checksum(rows)}", text)
    packed = f"packed: {file_checksum(file_of(manifest, name), 'sha256')}"
    text = re.sub(r"packed: [0-9a-f]{64}", packed, text)
    return re.sub(r"^rows: \d+", f"rows: {len(rows)}", text, flags=re.MULTILINE)


if __name__ == "__main__":
    main()

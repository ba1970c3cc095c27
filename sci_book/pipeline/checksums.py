"""The one manifest of weights and records: of every file its name, its bytes and its SHA-256.

`python -m sci_book.pipeline.checksums` writes it for the files that git knows; a test compares.
"""

import hashlib

from sci_book.files import write_whole
from sci_book.pipeline.release import git
from sci_book.resources import MANIFESTS, ROOT

FILE = MANIFESTS / "checksums.csv"
LISTED = ("checkpoints", "data_manifests/records")


def manifest() -> str:
    """The manifest of what is there now, as CSV in the order of names."""
    lines = ["file,bytes,sha256"]
    for name in git("ls-files", *LISTED).splitlines():
        held = (ROOT / name).read_bytes()
        lines.append(f"{name},{len(held)},{hashlib.sha256(held).hexdigest()}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_whole(FILE, manifest().encode())

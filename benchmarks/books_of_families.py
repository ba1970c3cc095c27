"""A book for a tiny random checkpoint of every family: does the whole command come to its end?

    python benchmarks/books_of_families.py --json benchmarks/results/books/families.json
    python benchmarks/books_of_families.py --families smolvlm,llava --only sci

The checkpoints are those of the tests, two layers of random weights; they answer rubbish, which is
the point: every chapter must stand with a model that is right on nothing. Each is given to
`sci reproduce --model … --limit 20`, whose books go to `runs/`. A line a family says the exit
status, the minutes, the rows read, and the parts that could not be made; `--json` keeps the lines.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from sci_book.files import json_text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for the tests' checkpoints

from sci_core.families.adapters import FAMILIES  # noqa: E402
from tests import tiny  # noqa: E402

INCOMPLETE = 1


def book_of(checkpoint: Path, limit: int, more: list[str]) -> dict:
    """What became of the book of a checkpoint."""
    command = [sys.executable, "-m", "sci_book", "reproduce", "--model", str(checkpoint)]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, "--limit", str(limit), *more],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    folder = ROOT / "runs" / f"{checkpoint.name}-pocket-{limit}rows"
    records = sorted((folder / "records").rglob("*.parquet"))
    named = done.stderr.split("could not be made:")[-1] if done.returncode else ""
    return {
        "family": checkpoint.name.removeprefix("tiny-"),
        "status": done.returncode,
        "book": (folder / "_build" / "html" / "index.html").is_file(),
        "minutes": round((time.perf_counter() - began) / 60, 1),
        "rows": {each.parent.name: pq.read_metadata(each).num_rows for each in records},
        "not made": [line.strip() for line in named.splitlines() if line.strip()],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", default=",".join(FAMILIES), help="names, by commas")
    parser.add_argument("--limit", type=int, default=20, help="rows of each set")
    parser.add_argument("--only", help="papers, by commas; all by default")
    parser.add_argument("--json", type=Path, help="where to keep what is printed")
    given = parser.parse_args()
    more = ["--only", given.only] if given.only else []
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for family in given.families.split(","):
            checkpoint = tiny.write_checkpoint(Path(scratch) / f"tiny-{family}", family)
            found.append(book_of(checkpoint, given.limit, more))
            print(json_text(found[-1]), flush=True)
            if given.json:
                given.json.parent.mkdir(parents=True, exist_ok=True)
                lines = ",\n".join(json_text(each) for each in found)
                given.json.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    sys.exit(0 if all(each["book"] and not each["status"] for each in found) else INCOMPLETE)


if __name__ == "__main__":
    main()

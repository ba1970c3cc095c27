"""A companion's chapters from nothing but the checkpoints: draw, decode every record, execute.

    python benchmarks/companions.py cvqa edge --json benchmarks/results/companions/cvqa-edge.json

Run it in a fresh clone, so that the data are drawn. The work is that of `sci reproduce --full` for
these papers: every frozen answer is decoded anew and compared, in each precision, then every
chapter is executed. Seconds by the clock, so leave the machine alone meanwhile.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from joblib import cpu_count

from sci_book import resources
from sci_book.files import json_text
from sci_book.papers.shared.stamp import device_name
from sci_book.pipeline import reproduce


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="+", help="as cvqa and edge")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    papers = arguments.papers
    found = {"device": device_name(), "cores": cpu_count(), "papers": papers}
    with tempfile.TemporaryDirectory() as folder:
        resources.RUNS = Path(folder)  # nothing was done before
        seconds = {
            "data": timed(each for each in reproduce.data_steps() if paper_of(each) in papers),
            "records": timed(
                each for each in reproduce.record_steps(full=True) if paper_of(each) in papers
            ),
            "chapters": timed(
                reproduce.chapter_step(source)
                for source in reproduce.chapter_sources()
                if source.stem.split("_")[0] in papers
            ),
        }
    found |= {"seconds": seconds, "total_seconds": round(sum(seconds.values()), 1)}
    print(json_text(found, indent=1))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json_text(found, indent=1) + "\n", encoding="utf-8")


def paper_of(step: reproduce.Step) -> str:
    """`cvqa` of "C-VQA data" and of "cvqa records of …"."""
    return step.name.split()[0].lower().replace("-", "")


def timed(steps: Iterable[reproduce.Step]) -> float:
    """Seconds that the steps took together."""
    began = time.perf_counter()
    reproduce.run_steps(steps)
    return round(time.perf_counter() - began, 1)


if __name__ == "__main__":
    main()

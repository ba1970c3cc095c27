"""Nothing committed lies unread, and weights and records are those of their manifest."""

import re
from collections import defaultdict
from fnmatch import fnmatch
from functools import cache
from pathlib import PurePosixPath

import pytest

from sci_book.pipeline import checksums
from sci_book.pipeline.release import git
from sci_book.resources import ROOT

pytestmark = pytest.mark.quick

FOLDERS = {
    "data_manifests/records": {
        "": "sci_book/results/places.py",
        "conditions": "sci_book/papers/shared/gate.py",
        "cvqa": "sci_book/papers/cvqa/pairs.py",
        "descriptions": "sci_book/papers/sci/described.py",
        "dial": "sci_book/commands/papers.py",
        "draws": "sci_book/papers/shared/chapters.py",
        "edge": "sci_book/papers/edge/chapters/models.py",
        "extended": "sci_book/commands/papers.py",
        "further": "sci_book/papers/shared/chapters.py",
        "metara": "sci_book/papers/metara/chapters/answers.py",
        "oric": "sci_book/papers/oric/chapters/answers.py",
        "validation": "sci_book/papers/shared/chapters.py",
    },
    "benchmarks/results": {
        "": "sci_book/papers/shared/timing.py",
        "cvqa": "tests/papers/cvqa/test_cvqa.py",
        "dial": "tests/papers/sci/test_dial.py",
        "hub": "sci_book/integrations/hub.py",
        "ledger": "notebooks/trust.py",
        "pilots": "notebooks/trust.py",
        "rft": "sci_book/papers/oric/chapters/measures.py",
        "trainings": "notebooks/trust.py",
        "versions": "tests/test_releases.py",
        "vllm": "sci_book/papers/sci/plan_million.py",
    },
}
"""Folders whose files are read one like another, and a text that names the folder to read them."""

PATTERNS = {
    "benchmarks/results/books/*": ("notebooks/checking.py", "books/"),
    "benchmarks/results/companions/*": ("notebooks/checking.py", "companions/"),
    "book/_assets/mathjax/*": ("_config.yml", "mathjax/tex-svg.js"),
    "data_manifests/paper/golden/records/*": ("tests/pipeline/test_golden.py", "golden"),
    "data_manifests/paper/index_*.yaml": ("sci_book/pipeline/verdicts.py", "index_"),
    "tests/published/*.json": ("tests/layouts.py", 'glob("*.json")'),
}
"""Files that a text finds by a pattern: the text, and its words."""

KEPT = {
    "benchmarks/results/runner/*": "what a change of the runner is compared with: costs, kills",
}
"""What nothing reads, and why it is kept."""

PARTS = ("benchmarks", "book", "checkpoints", "data_manifests", "reference", "tests")
READING = {".py", ".js", ".css", ".md", ".yaml", ".yml", ".toml", ".in", ".cfg", ""}


def committed(*parts):
    return git("ls-files", *parts).splitlines()


@cache
def texts():
    """Every text that may read a file, by its name: code, pages, styles, manifests, settings."""
    names = [name for name in committed() if PurePosixPath(name).suffix in READING]
    told = ("CHANGELOG.md", "tests/test_tree.py")  # what was read, and what is not
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in names if name not in told}


@cache
def speakers():
    """By word, the texts in which it stands: names with their ending, and without."""
    spoken = defaultdict(set)
    for name, text in texts().items():
        for word in set(re.findall(r"[\w.-]+", text)):
            for part in (word.strip("."), *word.split(".")):
                spoken[part].add(name)
    return spoken


def reader(name):
    """What reads a committed file, or why it is kept; None if nobody knows."""
    path = PurePosixPath(name)
    for pattern, why in KEPT.items():
        if fnmatch(name, pattern):
            return why
    for pattern, (found, words) in PATTERNS.items():
        if fnmatch(name, pattern):
            return found if words in texts()[found] else None
    for root, folders in FOLDERS.items():
        if path.is_relative_to(root):
            inner = [part for part in path.relative_to(root).parent.parts if part[:8] != "training"]
            found = folders.get("/".join(inner))
            named = not inner or (found and f'"{inner[-1]}"' in texts()[found])
            return found if named else None
    if path.suffix == ".py" and path.name.startswith("test_"):
        return "pytest"
    spoken = speakers().get(path.name, set()) | speakers().get(path.stem, set())
    return min(spoken - {name}, default=None)


def test_every_committed_file_is_read_or_kept_for_a_reason():
    unread = [name for name in committed(*PARTS) if reader(name) is None]
    assert not unread, f"Nothing reads these; delete them, or say here what does: {unread}"


def test_what_nothing_reads_is_found_and_no_reason_is_left_over():
    for name in ("benchmarks/results/lost/cpu.json", "data_manifests/lost_table.csv"):
        assert reader(name) is None
    for pattern in (*KEPT, *PATTERNS):
        assert any(fnmatch(name, pattern) for name in committed(*PARTS)), pattern


def test_weights_and_records_are_those_of_their_manifest():
    assert checksums.FILE.read_text(encoding="utf-8") == checksums.manifest(), (
        "Weights or records changed: `python -m sci_book.pipeline.checksums` writes their manifest."
    )


def test_every_test_that_is_said_to_protect_something_is_there():
    """Of the tables in `tests/README.md`, whose last column is what is left."""
    said = (ROOT / "tests" / "README.md").read_text(encoding="utf-8").splitlines()
    named = {name for line in said for name in re.findall(r"`(test_\w+)`", line.split("|")[-2:][0])}
    there = {
        name for text in texts().values() for name in re.findall(r"^def (test_\w+)", text, re.M)
    }
    assert len(named) > 30 and not named - there, named - there
    of_slow = re.compile(r"^@pytest.mark.slow\n(?:@.*\n(?:[ )\]].*\n)*)*def (test_\w+)", re.M)
    slow = {name for text in texts().values() for name in of_slow.findall(text)}
    first = "\n".join("".join(line.split("|")[1:2]) for line in said)
    told = {*re.findall(r"`(test_\w+)`", first)}
    assert slow and not slow - told, f"what protects it before a merge? {slow - told}"

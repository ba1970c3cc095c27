"""The mended predicates, with their verdicts before and after on the models of that day.

    git worktree add ../before 0490510
    python benchmarks/mended.py ../before

Evaluates the ledger of an earlier checkout, with that checkout's own code, and this one's, on the
frozen records that both hold; writes `results/ledger/mended.json`. The predicate after is judged
without the conditions, so that the two differ by the predicate alone.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from sci_book.files import json_text
from sci_book.papers.registry import PAPERS

ROOT = Path(__file__).resolve().parents[1]
CLAIMS = Path("data_manifests", "paper")
MODELS = ["pocket-qwen2vl", "pocket-llavanext"]
# What else a claim's entry says is words, or where it stands.
PREDICATE = ("measure", "claim", "margin", "about", "needed", "by_construction")
WORDS = ("id", "place", "quote", "page", "means", "leads", "own", "scale", "questions", "rests_on",
         "beside", "printed")  # fmt: skip
EVALUATE = """
import json, sys
from dataclasses import replace
from sci_book.papers.shared import chapters
from sci_book.pipeline import ledger
try:
    from sci_book.pipeline.claims import load_claims
except ImportError:
    from sci_book.pipeline.ledger import load_claims
wanted, models = json.loads(sys.argv[1]), json.loads(sys.argv[2])
claims = [claim for claim in load_claims(own=True) if claim.id in wanted]
if hasattr(claims[0], "rests_on"):
    claims = [replace(claim, rests_on=()) for claim in claims]
subjects = chapters.subjects(models, "data_manifests/records")
print(json.dumps([
    {"id": f.claim.id, "model": f.model, "verdict": f.verdict,
     "found": list(measured[:4]) if measured.n else None}
    for f in ledger.evaluate(claims, subjects, "benchmarks/results")
    for measured in [f.interval if hasattr(f, "interval") else f.found]  # its name before
]))
"""


def entries(checkout: Path) -> dict[str, dict]:
    """The claims of a checkout, as written, by id."""
    return {
        entry["id"]: entry
        for paper in PAPERS.values()
        for entry in yaml.safe_load((checkout / CLAIMS / paper.claims).read_text("utf-8"))
    }


def predicate(entry: dict) -> dict:
    """What of an entry decides its verdict."""
    arguments = {key: value for key, value in entry.items() if key not in (*PREDICATE, *WORDS)}
    return {key: entry[key] for key in PREDICATE if key in entry} | arguments


def verdicts(checkout: Path, wanted: list[str]) -> dict[tuple[str, str], dict]:
    """By claim and model, what a checkout's own code finds."""
    command = [sys.executable, "-c", EVALUATE, json_text(wanted), json_text(MODELS)]
    paths = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(command, cwd=checkout, env=paths, stdout=subprocess.PIPE, check=True)
    rows = json.loads(done.stdout.decode().splitlines()[-1])
    return {(row["id"], row["model"]): row for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="a checkout of the ledger as it was")
    before = parser.parse_args().before.resolve()
    old, new = entries(before), entries(ROOT)
    changed = [name for name in new if predicate(new[name]) != predicate(old.get(name, {}))]
    was = verdicts(before, [name for name in changed if name in old])
    now = verdicts(ROOT, changed)
    rows = [
        {
            "id": name,
            "model": model,
            "before": was.get((name, model)) and {**was[name, model], **predicate(old[name])},
            "after": {**now[name, model], **predicate(new[name])},
        }
        for name in changed
        for model in MODELS
    ]
    for row in rows:
        for side in filter(None, (row["before"], row["after"])):
            side.pop("id", None), side.pop("model", None)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=before, stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    out = ROOT / "benchmarks" / "results" / "ledger" / "mended.json"
    result = {"before": commit.strip(), "rows": rows}
    out.write_text(json_text(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(changed)} predicates, {len(rows)} lines: {out}")


if __name__ == "__main__":
    main()

"""Which releases of transformers and torch answer rightly? Each is tried in its own environment.

    make versions                                          # the oldest and the newest that passed
    python benchmarks/versions.py --transformers 5.25.0    # one that has just come out
    python benchmarks/versions.py --torch 2.6.0            # the two, with another torch

Run it in the environment of requirements.lock, for that makes the questions and the right answers:
tiny random checkpoints of every family, read by the sequential engine (a plain pass of the
unmodified model a round and step), and questions of the pocket data with their frozen answers. For
each release of torch it makes a virtual environment with the kernel's other packages as the lock
pins them, puts one release of transformers after another into it, and lets `versions_check.py`
decode the questions there. benchmarks/results/versions/cpu.json keeps an entry a pair; what
pyproject.toml declares is the range that passed, which a test compares.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # for the tests' checkpoints

from sci_book.data.datasets import load_dataset  # noqa: E402
from sci_book.data.prompts import build_prompt  # noqa: E402
from sci_book.papers.shared.stamp import locked_versions  # noqa: E402
from sci_book.resources import CHECKPOINTS, FROZEN_RECORDS, RESULTS  # noqa: E402
from sci_book.results.records import read_records  # noqa: E402
from sci_core import generate, load_model, method  # noqa: E402
from sci_core.families.models import VisionLanguageModel  # noqa: E402
from tests import tiny  # noqa: E402

POCKET = ("pocket-qwen2vl", "pocket-llavanext")
METHODS = ("base", "SCI5")
COLUMNS = {"base": "tokens:original", "SCI5": "tokens:SCI5"}  # of the frozen records
KERNEL = ("jaxtyping", "jinja2", "lazy-loader", "numpy", "pillow", "safetensors")
QUESTIONS, TOKENS = 8, 8  # of a kind; of an answer, as in the frozen records

Asked = tuple[list, list[str]]  # pictures and prompts


def clear_questions(model: VisionLanguageModel, asked: Asked) -> tuple[list[int], dict]:
    """The questions that no near-tie decides, by place, and their right tokens by method."""
    answers = {
        name: generate(
            model, *asked, name, TOKENS, engine="sequential", return_logits=True, batch_size=4
        )
        for name in METHODS
    }
    clear = [
        place
        for place, prompt in enumerate(asked[1])
        if all(
            tiny.deciding_gap(model, method(name), prompt, answers[name][place]) > tiny.NEAR_TIE
            for name in METHODS
        )
    ][: 2 * QUESTIONS]
    return clear, {name: [list(answers[name][place].tokens) for place in clear] for name in METHODS}


def case(name: str, checkpoint: Path, asked: Asked, right: dict, folder: Path) -> dict:
    """A checkpoint's questions as `versions_check.py` reads them; pictures go to `folder`."""
    folder.mkdir(parents=True)
    places = [folder / f"{name}-{number}.png" for number in range(len(asked[0]))]
    for place, picture in zip(places, asked[0], strict=True):
        picture.save(place)
    return {
        "name": name,
        "checkpoint": str(checkpoint),
        "pictures": [str(place) for place in places],
        "prompts": asked[1],
        "tokens": TOKENS,
        "right": right,
    }


def cases(folder: Path) -> Iterator[dict]:
    """What is asked of every release: each family's tiny checkpoint, and the pocket models."""
    for family in tiny.KINDS:
        asked = tiny.random_questions(random.Random(family), 4 * QUESTIONS)
        clear, right = clear_questions(tiny.load(family), asked)
        asked = tuple([of[place] for place in clear] for of in asked)
        yield case(family, tiny.checkpoint(family), asked, right, folder / family)
    dataset = load_dataset("pocket")
    for name in POCKET:
        model = load_model(CHECKPOINTS / name, device="cpu")
        table = read_records(FROZEN_RECORDS / f"{name}.parquet").table
        keys = list(zip(*(table[key].to_pylist() for key in ("dataset", "index")), strict=True))
        longer = [key for key, answer in zip(keys, table[COLUMNS["SCI5"]], strict=True)
                  if 1 < len(answer) <= TOKENS]  # fmt: skip
        chosen = random.Random(name).sample(keys, QUESTIONS)
        chosen += random.Random(name).sample(longer, QUESTIONS)
        rows = {(row.dataset, row.index): row for row in dataset}
        asked = (
            [rows[key].image() for key in chosen],
            [build_prompt(rows[key], model.family) for key in chosen],
        )
        clear, _ = clear_questions(model, asked)
        places = [keys.index(chosen[place]) for place in clear]
        right = {key: table[of].take(places).to_pylist() for key, of in COLUMNS.items()}
        asked = tuple([of[place] for place in clear] for of in asked)
        yield case(name, CHECKPOINTS / name, asked, right, folder / name)


def install(python: Path, *packages: str) -> None:
    """Put packages into the environment of an interpreter."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", *packages], check=True)


def environment(torch: str, folder: Path) -> Path:
    """The interpreter of an environment with a release of torch; one that is there is kept."""
    place = folder / f"torch-{torch}"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, symlinks=True)
        pins = locked_versions()
        install(python, f"torch=={torch}", *(f"{name}=={pins[name]}" for name in KERNEL))
    return python


def tried(python: Path, transformers: str, asked: Path) -> dict:
    """What one release of transformers answers in an environment."""
    install(python, f"transformers=={transformers}")
    command = [str(python), str(ROOT / "benchmarks" / "versions_check.py"), str(asked)]
    alone = {"PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=alone, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"transformers {transformers} could not be tried:\n{done.stderr}")
    entry = json.loads(done.stdout.splitlines()[-1])
    return {"passed": set(entry["outcomes"].values()) == {"equal"}, **entry}


def pair(entry: dict) -> tuple[Version, Version]:
    """The releases that an entry is of, in an order of theirs."""
    return Version(entry["torch"]), Version(entry["transformers"])


def kept_in(file: Path) -> list[dict]:
    """The entries of a file of results; none where there is no such file."""
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []


def ends(entries: Sequence[dict]) -> list[str]:
    """The oldest and the newest release of transformers that passed."""
    passed = sorted({entry["transformers"] for entry in entries if entry["passed"]}, key=Version)
    return [passed[0], passed[-1]] if passed else []


def keep(entry: dict, file: Path) -> None:
    """Write an entry in the place of an earlier one of the same pair; the file stays sorted."""
    kept = [one for one in kept_in(file) if pair(one) != pair(entry)]
    kept = sorted([*kept, entry], key=pair)
    file.write_text(
        json.dumps(kept, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transformers", help="by commas; by default the ends of what passed")
    parser.add_argument("--torch", default=locked_versions()["torch"], help="by commas")
    parser.add_argument("--folder", type=Path, help="keep the environments here")
    parser.add_argument("--json", type=Path, default=RESULTS / "versions" / "cpu.json")
    given = parser.parse_args(arguments)
    releases = given.transformers.split(",") if given.transformers else ends(kept_in(given.json))
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        asked = Path(scratch, "cases.json")
        asked.write_text(
            json.dumps(list(cases(Path(scratch, "pictures"))), allow_nan=False), encoding="utf-8"
        )
        for torch in given.torch.split(","):
            python = environment(torch, given.folder or Path(scratch))
            for transformers in releases:
                entry = tried(python, transformers, asked)
                keep(entry, given.json)
                print(json.dumps(entry, allow_nan=False), flush=True)
                failed += [] if entry["passed"] else [f"{transformers} with torch {torch}"]
    sys.exit(f"wrong answers: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()

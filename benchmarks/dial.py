"""Make what is missing of the dial: short trainings from one checkpoint, each evaluated and frozen.

    python benchmarks/dial.py --plan
    python benchmarks/dial.py

One training after another, by the commands that are printed: train, evaluate, freeze the answers on
the fixed rows (`data_manifests/records/dial`), note settings and log (`benchmarks/results/dial`),
then delete the training's folders. What is there is left as it is; a part that was cut off goes on
where it stopped. `--plan` says what is missing and about how long it takes, and makes nothing.
When all are there it ends with the predictions (`predictions_dial.yaml`) and what became of them.
"""

import argparse
import hashlib
import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from sci_book import resources
from sci_book.files import json_text, write_whole
from sci_book.papers.sci import dial, dial_predictions
from sci_book.papers.sci.dial import Training
from sci_book.papers.shared.stamp import device_name
from sci_book.pipeline import registration
from sci_book.pocket.curriculum import DIAL, SETTINGS
from sci_book.results.drbench import split
from sci_book.results.records import read_records, write_records

ROOT = Path(__file__).resolve().parents[1]
RECORDS = resources.FROZEN_RECORDS / "dial"
RESULTS = resources.RESULTS / "dial"


def recipe(training: Training) -> str:
    """The recipe of a training's setting."""
    return f"dial-{training.setting}"


def folders(training: Training) -> dict[str, Path]:
    """Where a training's `checkpoint`, its state (`work`) and its `run` of answers lie."""
    name = f"{DIAL['arch']}-standard-seed{training.seed}-{recipe(training)}"
    places = {"checkpoint": "checkpoints", "work": "training", "run": "dial"}
    return {key: resources.RUNS / place / name for key, place in places.items()}


def commands(training: Training) -> list[list[str]]:
    """The commands that train, and that evaluate what was trained."""
    at = folders(training)
    train = ["train-pocket", "--arch", DIAL["arch"], "--seed", str(training.seed)]
    train += ["--recipe", recipe(training), "--start", DIAL["start"]]
    train += ["--out", str(at["checkpoint"])]
    read = ["evaluate", "--model", str(at["checkpoint"]), "--data", DIAL["data"]]
    read += ["--share", str(DIAL["share"]), "--methods", ",".join(dial.methods())]
    read += ["--record", "answers", "--out", str(at["run"])]
    # A checkpoint's card is written last.
    return [read] if (at["checkpoint"] / "README.md").is_file() else [train, read]


def note(training: Training, minutes: float) -> None:
    """Write what made a training: its stage, start and log; time and device of the last sitting."""
    at = folders(training)
    log = (at["work"] / "log.jsonl").read_text(encoding="utf-8").splitlines()
    content = {
        **training._asdict(),
        "start": start_digest(),
        "stage": asdict(SETTINGS[training.setting]),
        "revision": read_records(at["run"]).stamp["revision"],
        "device": device_name(),
        "minutes": round(minutes, 1),
        "log": [json.loads(line) for line in log],
    }
    text = json_text(content, ensure_ascii=False) + "\n"
    write_whole(RESULTS / f"{training.name}.json", text.encode())


def freeze(training: Training) -> None:
    """Write the answers to the fixed rows: the test part, whole question groups, of those read."""
    records = read_records(folders(training)["run"])
    records = records.take(split(records, "groups") == "test").answers_alone()
    write_records(RECORDS / f"{training.name}.parquet", records)


def start_digest() -> str:
    """The first 16 hex digits of the SHA-256 of the weights that every training goes on from."""
    weights = (ROOT / DIAL["start"] / "model.safetensors").read_bytes()
    return hashlib.sha256(weights).hexdigest()[:16]


def notes() -> list[dict]:
    """What is noted of the trainings that are here."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]


def check() -> None:
    """Stop where predictions or dial are not the registered ones, or trainings began elsewhere."""
    faults = registration.departures(registered=dial_predictions.REGISTRATION)
    began = {each["start"] for each in notes()} | {start_digest()}
    if len(began) > 1:
        faults.append(
            f"The trainings that are here and {DIAL['start']} have different weights, "
            f"{', '.join(sorted(began))}; delete the old ones' files to make all anew."
        )
    if faults:
        sys.exit("\n".join(faults))


def make(training: Training) -> None:
    """Train, evaluate, note and freeze one training, then delete its folders."""
    began = time.monotonic()
    for words in commands(training):
        subprocess.run([sys.executable, "-m", "sci_book", *words], cwd=ROOT, check=True)
    note(training, (time.monotonic() - began) / 60)
    freeze(training)
    for folder in folders(training).values():
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plan", action="store_true", help="say what is missing, and stop")
    plan = parser.parse_args().plan
    check()
    missing = dial.missing(RECORDS)
    each = max((noted["minutes"] for noted in notes()), default=DIAL["minutes"])
    hours = each * len(missing) / 60
    print(f"{len(missing)} of {len(dial.trainings())} are missing: about {hours:.1f} hours")
    for training in missing:
        print(f"{training.name}: missing", flush=True)
        for words in commands(training):
            print(f"  sci {shlex.join(words)}", flush=True)
        if not plan:
            make(training)
    if not dial.missing(RECORDS):
        print(dial_predictions.outcomes(dial.samples_of(dial.read_dial(RECORDS))).to_string())


if __name__ == "__main__":
    main()

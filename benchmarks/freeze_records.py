"""Make every file of frozen records that is missing: of each training of the book's models.

    python benchmarks/freeze_records.py --plan
    python benchmarks/freeze_records.py --conditions
    python benchmarks/freeze_records.py --models pocket-qwen2vl --trainings 0,2

One file after another, by the commands that REPRODUCING.md names; a file that is there is left as
it is, so a changed model's old files are deleted first. A run that was cut off goes on where it
stopped. `--plan` says what is missing and by which commands it would be made, and makes nothing.
Without `--trainings` it is those that the second registration names, and before there is one the
shipped training alone. `--conditions` makes what the conditions are judged on, and nothing else: it
is read on the world before that of the test rows.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sci_book.data.catalogue import model_entry
from sci_book.papers.registry import COMPANIONS, PAPERS
from sci_book.papers.sci.paper import SET_BEFORE
from sci_book.pipeline import registration
from sci_book.run import conditions

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "data_manifests" / "records"
RUNS = ROOT / "runs" / "frozen"
PAIR = ("pocket-qwen2vl", "pocket-llavanext")
SISTER = "pocket-qwen2vl-small"
EDITED = "TIE,VCD,M3ID,SCI3,SCI5,SCI7"
ALONE, ROUNDED = "--answers-alone", "--rounded"
DESCRIBERS = "base,VCD,M3ID,SCI3,SCI5,ICD,VDD,SCI3 first token,SCI5 first token"
PROGRAMS = {"sci": ["-m", "sci_book"], "python": []}

Commands = list[list[str]]
Files = Iterator[tuple[Path, Commands]]
"""Files, each with the commands that make it."""


def evaluated(checkpoint: str, data: str, file: Path, more: str = "", freeze: str = "") -> Commands:
    """The commands that make one file from a run of `sci evaluate`."""
    run = str(RUNS / file.relative_to(RECORDS).with_suffix(""))
    asked = ["evaluate", "--model", checkpoint, "--data", data, "--out", run, *shlex.split(more)]
    return [["sci", *asked], ["sci", "freeze", run, str(file), *freeze.split()]]


def probed(checkpoint: str, file: Path, more: str = "", freeze: str = "") -> Commands:
    """The commands that make a file of the Edge Reliability Gap."""
    run = RUNS / file.relative_to(RECORDS).with_suffix("")
    asked = ["probe", "edge", "--model", checkpoint, "--out", str(run), *more.split()]
    records = str(run / "records.parquet")
    return [["sci", *asked], ["sci", "freeze", records, str(file), *freeze.split()]]


def drawn(checkpoint: str, file: Path) -> Commands:
    """The command that draws a model's short answers many times."""
    return [["python", "benchmarks/draws.py", checkpoint, str(file)]]


def described(checkpoint: str, file: Path) -> Commands:
    """The commands that make a file of descriptions, of a dozen tokens each."""
    more = f"--methods '{DESCRIBERS}' --record answers --max-new-tokens 48"
    return evaluated(checkpoint, "pocket_descriptions", file, more)


def further(checkpoint: str, file: Path) -> Commands:
    """The commands that make a file of what neighbours and other wordings answer to all rows."""
    return evaluated(checkpoint, "pocket", file, "--methods ICD,VDD,nothing --record answers")


def weights(name: str, training: int) -> str:
    """The folder of a training's checkpoint: the shipped one of training 0."""
    if not training:
        return f"checkpoints/{name}"
    return f"checkpoints/trainings/{model_entry(name)['family']}-{training}"


def place(training: int) -> Path:
    """The folder of all records of a training."""
    return RECORDS / f"training{training}" if training else RECORDS


def of_conditions(name: str, training: int) -> Files:
    """What a training answers under each input alone, on the world before that of the test rows."""
    file = place(training) / "conditions" / f"{name}.parquet"
    rounds = ",".join(conditions.inputs(conditions.load_conditions()))
    more = f"--methods base --rounds {rounds} --record answers"
    drawn = ["sci", "data", "make", SET_BEFORE]
    yield file, [drawn, *evaluated(weights(name, training), SET_BEFORE, file, more)]


def of_training(name: str, training: int) -> Files:
    """The files of one training; of the shipped one, those that it alone has follow.

    Logits are kept of DRBench and, of the shipped training, of the companions' sets.
    """
    checkpoint, folder, file = weights(name, training), place(training), f"{name}.parquet"
    main, edge = folder / file, folder / "edge" / file
    kept = ALONE if training else ROUNDED
    if name == SISTER:  # no page replays her
        yield main, evaluated(checkpoint, "pocket", main, freeze=ALONE)
        yield edge, probed(checkpoint, edge, freeze=ROUNDED)
        # bitsandbytes' NF4 needs widths that are multiples of 64, which hers is not
        yield reduced(name, checkpoint, "int8")
        return
    yield main, evaluated(checkpoint, "pocket", main, freeze=ROUNDED)
    yield edge, probed(checkpoint, edge, freeze=kept)
    for paper in (PAPERS[companion] for companion in COMPANIONS):
        if paper.data:
            out = folder / paper.name / file
            freeze = ALONE if paper.name == "metara" else kept  # whose pages replay nothing
            yield out, evaluated(checkpoint, paper.data, out, freeze=freeze)
    beside, descriptions = folder / "further" / file, folder / "descriptions" / file
    yield beside, further(checkpoint, beside)
    yield descriptions, described(checkpoint, descriptions)
    draws = folder / "draws" / f"{name}.csv"
    yield draws, drawn(checkpoint, draws)
    if not training:
        yield from of_shipped(name, checkpoint)


def of_shipped(name: str, checkpoint: str) -> Files:
    """What the shipped training alone has: reduced precision, validation rows, more methods."""
    file = f"{name}.parquet"
    for precision in ("int8", "nf4"):
        yield reduced(name, checkpoint, precision)
    validation = RECORDS / "validation" / file
    more = "--methods ablations --validation"
    yield validation, evaluated(checkpoint, "pocket", validation, more, ROUNDED)
    extended = RECORDS / "extended" / file
    more = "--methods extended --share 5"
    yield extended, evaluated(checkpoint, "pocket", extended, more, ROUNDED)
    for noise in ("clamp", "normalized"):  # beside the default, which wraps
        variant = RECORDS / "extended" / f"{name}-{noise}.parquet"
        more = f"--methods {EDITED} --noise {noise} --share 5"
        yield variant, evaluated(checkpoint, "pocket", variant, more, ALONE)
    cheaper = RECORDS / "extended" / f"{name}-cheaper.parquet"
    yield cheaper, evaluated(checkpoint, "pocket", cheaper, "--methods cheaper --record answers")


def reduced(name: str, checkpoint: str, precision: str) -> tuple[Path, Commands]:
    """The file of the Edge Reliability Gap in reduced precision, with its commands."""
    file = RECORDS / "edge" / f"{name}-{precision}.parquet"
    return file, probed(checkpoint, file, f"--quantization {precision}")


def registered(name: str) -> list[int]:
    """The trainings of a model that the second registration names; the shipped one without it."""
    if registration.SECOND not in registration.of_claims():
        return [0]
    known = registration.load_registration(registered=registration.SECOND)["trainings"]
    parts = [training.rpartition("-") for training in known]
    family = model_entry(name)["family"]
    return [int(number) for of, _, number in parts if of == family]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join((*PAIR, SISTER)), help="names, by commas")
    parser.add_argument("--trainings", help="numbers, by commas; 0 is the shipped one")
    parser.add_argument("--conditions", action="store_true", help="what these are judged on alone")
    parser.add_argument("--plan", action="store_true", help="say what is missing, and stop")
    given = parser.parse_args()
    files = of_conditions if given.conditions else of_training
    numbers = [int(number) for number in given.trainings.split(",")] if given.trainings else None
    for name in given.models.split(","):
        for training in [0] if name == SISTER else numbers or registered(name):
            for file, commands in files(name, training):
                make(file, commands, plan=given.plan)


def make(file: Path, commands: Commands, *, plan: bool) -> None:
    """Make one file unless it is there; with `plan`, only say how."""
    if file.is_file():
        print(f"{file.relative_to(ROOT)}: is there", flush=True)
        return
    print(f"{file.relative_to(ROOT)}: missing", flush=True)
    for program, *words in commands:
        print(f"  {shlex.join([program, *words])}", flush=True)
        if not plan:
            file.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, *PROGRAMS[program], *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()

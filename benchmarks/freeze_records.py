"""Make every file of frozen records that is missing: those of the book's models, and of more seeds.

    python benchmarks/freeze_records.py --plan
    python benchmarks/freeze_records.py --models pocket-qwen2vl
    python benchmarks/freeze_records.py --seed 1 --models pocket-llavanext --checkpoint FOLDER

One file after another, by the commands that REPRODUCING.md names; a file that is there is left as
it is, so a changed model's old files are deleted first. A run that was cut off goes on where it
stopped. `--plan` says what is missing and by which commands it would be made, and makes nothing.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sci_book.papers.registry import COMPANIONS, PAPERS

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "data_manifests" / "records"
RUNS = ROOT / "runs" / "frozen"
PAIR = ("pocket-qwen2vl", "pocket-llavanext")
SISTER = "pocket-qwen2vl-small"
EDITED = "TIE,VCD,M3ID,SCI3,SCI5,SCI7"
ALONE = "--answers-alone"
DESCRIBERS = "base,VCD,M3ID,SCI3,SCI5,ICD,VDD,SCI3 first token,SCI5 first token"

Commands = list[list[str]]


def evaluated(checkpoint: str, data: str, file: Path, more: str = "", freeze: str = "") -> Commands:
    """The commands that make one file from a run of `sci evaluate`."""
    run = str(RUNS / file.relative_to(RECORDS).with_suffix(""))
    asked = ["evaluate", "--model", checkpoint, "--data", data, "--out", run, *shlex.split(more)]
    return [asked, ["freeze", run, str(file), *freeze.split()]]


def probed(checkpoint: str, file: Path, more: str = "") -> Commands:
    """The commands that make a file of the Edge Reliability Gap."""
    run = RUNS / file.relative_to(RECORDS).with_suffix("")
    asked = ["probe", "edge", "--model", checkpoint, "--out", str(run), *more.split()]
    return [asked, ["freeze", str(run / "records.parquet"), str(file)]]


def described(checkpoint: str, file: Path) -> Commands:
    """The commands that make a file of descriptions, of a dozen tokens each."""
    more = f"--methods '{DESCRIBERS}' --record answers --max-new-tokens 48"
    return evaluated(checkpoint, "pocket_descriptions", file, more)


def further(checkpoint: str, file: Path) -> Commands:
    """The commands that make a file of what neighbours and other wordings answer to all rows."""
    return evaluated(checkpoint, "pocket", file, "--methods ICD,VDD,nothing --record answers")


def of_model(name: str, checkpoint: str) -> Iterator[tuple[Path, Commands]]:
    """Every file of a model of the book with the commands that make it."""
    file = f"{name}.parquet"
    alone = ALONE if name == SISTER else ""  # no page replays the sister
    yield RECORDS / file, evaluated(checkpoint, "pocket", RECORDS / file, freeze=alone)
    yield RECORDS / "edge" / file, probed(checkpoint, RECORDS / "edge" / file)
    # bitsandbytes' NF4 needs widths that are multiples of 64, which the sister's is not
    for precision in ("int8",) if name == SISTER else ("int8", "nf4"):
        reduced = RECORDS / "edge" / f"{name}-{precision}.parquet"
        yield reduced, probed(checkpoint, reduced, f"--quantization {precision}")
    if name == SISTER:
        return
    for paper in (PAPERS[companion] for companion in COMPANIONS):
        if paper.data:
            out = RECORDS / paper.name / file
            freeze = ALONE if paper.name == "metara" else ""  # whose pages replay nothing
            yield out, evaluated(checkpoint, paper.data, out, freeze=freeze)
    validation = RECORDS / "validation" / file
    yield (
        validation,
        evaluated(checkpoint, "pocket", validation, "--methods ablations --validation"),
    )
    extended = RECORDS / "extended" / file
    yield extended, evaluated(checkpoint, "pocket", extended, "--methods extended --share 5")
    for noise in ("clamp", "normalized"):  # beside the default, which wraps
        variant = RECORDS / "extended" / f"{name}-{noise}.parquet"
        more = f"--methods {EDITED} --noise {noise} --share 5"
        yield variant, evaluated(checkpoint, "pocket", variant, more, ALONE)
    cheaper = RECORDS / "extended" / f"{name}-cheaper.parquet"
    yield cheaper, evaluated(checkpoint, "pocket", cheaper, "--methods cheaper --record answers")
    yield RECORDS / "further" / file, further(checkpoint, RECORDS / "further" / file)
    descriptions = RECORDS / "descriptions" / file
    yield descriptions, described(checkpoint, descriptions)


def of_seed(name: str, checkpoint: str, seed: int) -> Iterator[tuple[Path, Commands]]:
    """The files of a further training seed."""
    folder, file = f"seed{seed}", f"{name}.parquet"
    yield (
        RECORDS / folder / file,
        evaluated(checkpoint, "pocket", RECORDS / folder / file, freeze=ALONE),
    )
    beside = RECORDS / folder / "further" / file
    yield beside, further(checkpoint, beside)
    descriptions = RECORDS / folder / "descriptions" / file
    yield descriptions, described(checkpoint, descriptions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join((*PAIR, SISTER)), help="names, by commas")
    parser.add_argument("--checkpoint", help="of the one model named; checkpoints/NAME otherwise")
    parser.add_argument("--seed", type=int, default=0, help="a further training; 0: the book's")
    parser.add_argument("--plan", action="store_true", help="say what is missing, and stop")
    given = parser.parse_args()
    names = given.models.split(",")
    if given.checkpoint and len(names) > 1:
        parser.error(f"--checkpoint is of one model; --models named {len(names)}")
    if given.seed and not given.checkpoint:
        parser.error("the checkpoint of a further seed is not in the book; name it: --checkpoint")
    for name in names:
        checkpoint = given.checkpoint or f"checkpoints/{name}"
        files = of_seed(name, checkpoint, given.seed) if given.seed else of_model(name, checkpoint)
        for file, commands in files:
            if file.is_file():
                print(f"{file.relative_to(ROOT)}: is there", flush=True)
                continue
            print(f"{file.relative_to(ROOT)}: missing", flush=True)
            for words in commands:
                print(f"  sci {shlex.join(words)}", flush=True)
                if not given.plan:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    subprocess.run([sys.executable, "-m", "sci_book", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()

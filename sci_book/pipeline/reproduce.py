"""The whole path, step by step: data, records, notebooks, book; no step twice for the same inputs.

A step leaves a stamp under `runs/stamps`, the checksum of all it read and all it made, and is not
done again while that fits. The steps of a run of one's own leave theirs in that run's folder.
"""

import json
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed, parallel_config

from sci_book import resources
from sci_book.data.catalogue import MODELS
from sci_book.files import write_whole
from sci_book.papers.oric.rft import settings as rft
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.paper import OWN
from sci_book.papers.shared.stamp import checksum
from sci_book.pipeline import frozen
from sci_book.pipeline.notebooks import execute, parameter_names, read_source
from sci_book.run import presets

CODE = (resources.ROOT / "sci_core", resources.ROOT / "sci_book")

TENTH = 10
MOST_STEPS = 4  # at a time: a notebook takes up to 1 GiB


class ReproductionError(ValueError):
    """What was computed is not what was recorded, or a part that is needed is missing."""


class Incomplete(ReproductionError):
    """All that could be done is done; the message names what could not, and why."""

    exit_status = 1


class Stopped(RuntimeError):
    """Somebody pressed Ctrl-C; the same command goes on with the rest."""

    exit_status = 3


@dataclass(frozen=True)
class Book:
    """A book that was made: its first page, and a sentence on each part that could not be."""

    page: Path | None
    failures: Sequence[str]

    def check(self) -> None:
        """Raise Incomplete if anything is missing."""
        if self.failures:
            count = len(self.failures)
            parts = "one part" if count == 1 else f"{count} parts"
            named = "".join(f"\n  {failure}" for failure in self.failures)
            raise Incomplete(f"the rest is done, but {parts} could not be made:{named}")


@dataclass(frozen=True)
class Step:
    """A piece of work that need not be done twice.

    name    of its stamp
    reads   the files and folders it rests on, and `makes` those it leaves
    work    done in a process of its own where several steps wait
    told    what else it rests on, such as a chapter's parameters
    """

    name: str
    reads: Sequence[Path]
    makes: Sequence[Path]
    work: Callable[[], object]
    told: str = ""

    def stamp(self, folder: Path) -> Path:
        """Where its stamp lies, of a run in this folder."""
        return folder / "stamps" / self.name

    def state(self) -> str:
        """The checksum of all it read and made, and what it was told."""
        files = checksum(path for path in (*self.reads, *self.makes) if path.exists())
        return f"{files} {self.told}".rstrip()

    def is_done(self, folder: Path) -> bool:
        """Whether it was done with just these files, which are as it left them."""
        stamp, made = self.stamp(folder), all(path.exists() for path in self.makes)
        return made and stamp.is_file() and stamp.read_text(encoding="utf-8") == self.state()

    def note(self, folder: Path) -> None:
        """Leave its stamp, once it is done."""
        write_whole(self.stamp(folder), self.state().encode())

    def do(self) -> tuple["Step", "Failure | None"]:
        """Do it; with it, what failed in words, for an error may not cross processes."""
        print(f"{self.name} …", flush=True)
        try:
            self.work()
        except Exception as error:
            return self, Failure.of(error)
        return self, None


class Failure(NamedTuple):
    """Why something failed: in a sentence, and where in the code."""

    reason: str
    traceback: str

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        said = getattr(error, "reason", None) or " ".join(str(error).split())
        foreseen = type(error).__module__.startswith(("sci_core.", "sci_book."))
        reason = said if foreseen and said else f"{type(error).__name__}: {said}".rstrip(": ")
        return cls(reason, "".join(traceback.format_exception(error)))

    def noted(self, folder: Path, name: str) -> str:
        """The sentence; the traceback is left in `failures/<name>.txt` of a folder."""
        write_whole(folder / "failures" / f"{name}.txt", self.traceback.encode())
        return self.reason


def run_steps(steps: Iterable[Step], folder: Path | None = None) -> list[str]:
    """Do the steps whose stamp does not say that they were done with just these files.

    They must not rest on each other: several are done at a time, a core each. One that fails stops
    no other; the sentences that come back, in the order of the steps, name those.

    Args:
        folder: of the run, for its stamps and failures; `runs` if None.
    """
    folder = folder or resources.RUNS
    failed: dict[str, str] = {}
    waiting = []
    steps = list(steps)
    for step in steps:
        if step.is_done(folder):
            print(f"{step.name}: done before", flush=True)
        else:
            step.stamp(folder).unlink(missing_ok=True)
            waiting.append(step)
    for step, failure in on_every_core([delayed(step.do)() for step in waiting]):
        if failure:
            failed[step.name] = f"{step.name}: {failure.noted(folder, step.name)}"
        else:
            step.note(folder)
        print(failed.get(step.name, f"{step.name}: done"), flush=True)
    return [failed[step.name] for step in steps if step.name in failed]


def at_a_time(count: int) -> int:
    """How many of so many tasks are done at once: a core each, within the memory of a laptop."""
    return max(1, min(count, cpu_count(), MOST_STEPS))


def on_every_core(tasks: Sequence[tuple]) -> Iterator[Any]:
    """What joblib's delayed `tasks` return, as they end."""
    workers = at_a_time(len(tasks))
    # One that has filled its memory is meant to end; another takes its place. It stays ignored, for
    # the warning comes from a thread of the pool, perhaps when this is over.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
    with parallel_config("loky", inner_max_num_threads=1) if workers > 1 else nullcontext():
        yield from Parallel(workers, return_as="generator_unordered")(tasks)


def reproduce_book(full: bool = False) -> Book:
    """Everything the committed book stands on, then the book.

    What fails is among the result's failures, records that differ from the frozen ones above all;
    the rest is done. A chapter that fails leaves its committed page as it was.

    Args:
        full: recompute every record, not a hash-fixed tenth.

    Raises:
        ReproductionError: no checkpoint.
    """
    failures = preset_failures()
    failures += run_steps(data_steps())
    failures += run_steps(record_steps(full))
    sources = chapter_sources()
    failures += run_steps(chapter_step(source) for source in sources if not reads_pages(source))
    for source in filter(reads_pages, sources):
        failures += run_steps([chapter_step(source)])
    return with_book(resources.ROOT, failures)


def preset_failures() -> list[str]:
    """A sentence for each preset or prompt that has changed since a frozen file was made."""
    frozen_files = sorted(resources.FROZEN_RECORDS.rglob("*.parquet"))
    failures = presets.preset_failures(frozen_files, resources.ROOT)
    trained = asdict(rft.PRESETS["pocket"])
    for file in sorted((resources.RESULTS / "rft").glob("*.json")):
        settings = json.loads(file.read_text(encoding="utf-8"))["settings"]
        if settings != trained:
            name = file.relative_to(resources.ROOT).as_posix()
            failures.append(f"{name} was made with another Visual-RFT preset. {presets.REMEDY}")
    for failure in failures:
        print(failure, flush=True)
    return failures


def with_book(folder: Path, failures: Sequence[str]) -> Book:
    """The book of a folder, built; that it does not build is one more failure."""
    try:
        return Book(build_book(folder), failures)
    except ReproductionError as error:
        return Book(None, [*failures, str(error)])


def data_steps() -> list[Step]:
    """Every pocket set, drawn where it is missing."""
    drawn = [resources.ROOT / "sci_book" / part for part in ("pocket", "papers")]
    return [
        Step(
            f"{name} data", [*drawn, *paper.drawn_from], [paper.folder], partial(paper.draw, print)
        )
        for name, paper in PAPERS.items()
        if paper.draw and paper.folder
    ]


def record_steps(full: bool) -> list[Step]:
    """Every frozen file compared with the same rows decoded anew; the longest first.

    Those of further trainings, too, if all records are.
    """
    share = "all records" if full else "a tenth of the records"
    folder = resources.FROZEN_RECORDS
    models = [(checkpoint, checkpoint.name, folder) for checkpoint in pocket_checkpoints()]
    if full:
        models += frozen.of_trainings(folder)
    checks = [
        (checkpoint.name, checkpoint, within / f"{name}.parquet", [PAPERS[OWN].folder])
        for checkpoint, name, within in models
    ]
    data = [paper.folder for paper in PAPERS.values() if paper.folder]
    checks += [
        (f"{file.relative_to(folder).parent} records of {file.stem}", checkpoint, file, data)
        for checkpoint, name, within in models
        for file in frozen.frozen_files(name, within, full)
    ]
    steps = []
    for title, checkpoint, file, drawn in checks:
        name = f"{title.replace('/', ', ')}, {share}"  # of a file
        report = resources.RUNS / "pocket" / f"{name}.txt"
        work = partial(check_records, checkpoint, file, report, full=full)
        steps.append(Step(name, [*sources(), checkpoint, *drawn], [report], work))
    return steps


def chapter_step(source: Path) -> Step:
    """One chapter, executed into its notebook."""
    target = source.with_suffix(".ipynb")
    pages = [chapter.with_suffix(".ipynb") for chapter in chapter_sources() if chapter != source]
    work = partial(execute, source, target, cwd=resources.NOTEBOOKS)
    reads = [*sources(), resources.CHECKPOINTS, source, *(pages if reads_pages(source) else [])]
    return Step(source.stem, reads, [target], work)


def sources() -> list[Path]:
    """The files and folders that every chapter rests on: code, manifests, results, versions."""
    return [*CODE, resources.MANIFESTS, resources.RESULTS, *resources.LOCKS]


def build_book(source: Path) -> Path:
    """Render the book of `source`, a warning being an error; the path of its first page."""
    # The console script's own line: it need not be on the path, and the package has no __main__.
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build"]
    command += [str(source), "-W", "--keep-going", "--quiet"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if done.returncode:
        raise ReproductionError(f"the book does not build:\n{done.stdout}{done.stderr}")
    return source / "_build" / "html" / "index.html"


def chapter_sources() -> list[Path]:
    """The percent sources of all chapters, those that read other chapters' pages last."""
    sources = resources.NOTEBOOKS.glob("*.py")
    return sorted(sources, key=lambda source: (reads_pages(source), source.name))


def reads_pages(source: Path) -> bool:
    return "pages" in parameter_names(read_source(source))


def pocket_checkpoints() -> list[Path]:
    """The folders of the pocket models, those of `data_manifests/models`; no encoder is one.

    Raises:
        ReproductionError: there are none.
    """
    folders = sorted(path.parent for path in resources.CHECKPOINTS.glob("pocket-*/config.json"))
    models = [folder for folder in folders if (MODELS / f"{folder.name}.yaml").is_file()]
    if not models:
        raise ReproductionError(
            f"{resources.CHECKPOINTS} holds no pocket model; check out the repository's "
            "checkpoints, or train one with `sci train-pocket`"
        )
    return models


def check_records(checkpoint: Path, file: Path, report: Path, *, full: bool) -> None:
    """Evaluate a pocket model anew, compare with a frozen file, and write what was found.

    Raises:
        ReproductionError: there are no frozen records, or an answer differs that is no near-tie.
    """
    if not file.is_file():
        raise ReproductionError(
            f"{file} does not exist; freeze the records of a full run there first "
            f"(`sci evaluate --model checkpoints/{checkpoint.name} --data pocket`)"
        )
    lines = []
    for check in frozen.verify(checkpoint, file, 1 if full else TENTH):
        lines.append(check.summary())
        print(f"{report.stem}: {lines[-1]}", flush=True)
        if not check.passed:
            turned = [difference for difference in check.differences if not difference.tolerated]
            wrong = [*turned, *check.errors, *check.readings]
            raise ReproductionError(
                f"{checkpoint.name} no longer gives its frozen records, first at {wrong[0]}: the "
                "model, the data, the code or an answer rule changed. If that was meant, freeze "
                "new records"
            )
    write_whole(report, "".join(f"{line}\n" for line in lines).encode())

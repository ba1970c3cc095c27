"""The book of a model, or data, of one's own: everything goes to a folder under `runs/`.

What fails stops nothing else. A companion whose records cannot be made has pages that say so; a
chapter that fails is a page that says where it stopped; all are named at the end, and the same
command does those again, and no other.

======================  ==========================================================================
in the run's folder     what
======================  ==========================================================================
records, shards         the model's answers
executed                the chapters as they ran; chapters that read others read these
stamps, failures        what is done, and why something is not
notebooks, book, …      what the book is rendered from
======================  ==========================================================================
"""

import gc
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from sci_book import resources
from sci_book.data.catalogue import (
    how_to_load,
    loading_in_words,
    model_name,
    said_of_loading,
    settled,
)
from sci_book.files import json_text, named_from
from sci_book.papers.registry import PAPERS
from sci_book.papers.shared.paper import OWN, USUAL, PaperSet, Reading
from sci_book.pipeline import reproduce
from sci_book.pipeline.notebooks import (
    ChapterError,
    execute,
    parameter_names,
    read_source,
    write_notebook,
)
from sci_book.pipeline.own_book import READ_ALL, add_note, is_chosen, lay_out, papers_of
from sci_book.pipeline.pocket_data import paper_set
from sci_book.pipeline.reproduce import Book, Failure, Step
from sci_book.results.records import read_records
from sci_book.run.conditions import unreadable
from sci_book.run.finished import checkpoint_files
from sci_book.run.preflight import (
    Memory,
    PreflightError,
    cache_bytes,
    check_fits,
    free_memory,
    gib,
    measure,
    samples,
    warm_up,
)
from sci_book.run.progress import duration
from sci_core.families.models import VisionLanguageModel, load_model

IMPORTS = "import sci_book.pipeline.pocket_data, sci_book.papers.shared.figures"
"""What most chapters import: how long that takes tells how fast the machine is."""
PIXELS = ("min_pixels", "max_pixels")
NOTHING_ASKED: Mapping[str, Any] = {}
EXECUTED = "executed"
"""The folder of the chapters as they ran."""
A_CHAPTER, A_BOOK = 2.5, 12.0
"""Times as long as the imports: a chapter, which also computes and draws, and building the book."""


def reproduce_elsewhere(
    model: str | None,
    data: str | None,
    limit: int | None,
    loading: Mapping[str, Any] = NOTHING_ASKED,
    papers: Collection[str] = tuple(PAPERS),
    reading: Reading = USUAL,
) -> Book:
    """The book of another model or data set, under `runs/<name>/`.

    Args:
        model: a checkpoint folder or hub id; both pocket models if None.
        data: a data set's name, or the YAML file of one's own; the pocket twins if None.
        limit: rows of each set, whole question groups; all if None.
        loading: `dtype`, `min_pixels` and `max_pixels` as somebody asks for them; where they are
            not asked for, `catalogue.how_to_load` says what is taken.
        papers: those whose records and chapters are made.
        reading: new tokens, questions at a time and processes; by default each paper's own.

    Raises:
        PreflightError: the model does not fit into the memory that is free.
        DatasetError: as `load_dataset`, for `data`.
        Unfinished: as `runner.evaluate`, for the records on `data`.
    """
    models = [model] if model else [str(path) for path in reproduce.pocket_checkpoints()]
    how = {source: settled(how_to_load(source, data or "pocket", **loading)) for source in models}
    memory = free_memory()
    weights = {source: check_fits(source, how[source]["dtype"], memory) for source in models}
    own = named_from(Path(), data) if data else None
    data = str(own.resolve()) if own and own.is_file() else data or "pocket"
    names = [model_name(source) for source in models]
    parts = [*names, Path(data).stem, f"{limit}rows" if limit else "all"]
    parts += [f"{reading.max_new_tokens}tokens"] if reading.max_new_tokens else []
    parts += [f"batch{reading.batch_size}"] if reading.batch_size else []
    parts += [f"{loading[name]}{name}" for name in PIXELS if loading.get(name)]
    usual = {settled(how_to_load(source, data))["dtype"] for source in models}
    parts += sorted({how[source]["dtype"] for source in models} - usual)
    folder = resources.RUNS / re.sub(r"[^\w.-]+", "-", "-".join(parts))
    records = folder / "records"
    chapters = [path for path in reproduce.chapter_sources() if is_chosen(path.stem, papers)]

    wanting: dict[str, str] = {}  # by paper, why its records cannot be made
    sets = list(_sets(papers, data, limit, folder, wanting))
    for source, name in zip(models, names, strict=True):
        step = partial(_records_step, source, how=how[source], folder=folder, reading=reading)
        waiting = [questions for questions in sets if not step(questions).is_done(folder)]
        if not waiting:
            print(f"records of {name}: done before", flush=True)
            continue
        print(said_of_loading(source, how[source]), flush=True)
        loaded = load_model(source, **how[source])
        unread = [asked for asked in waiting if not asked.file(records, name).is_file()]
        if source == models[0] and unread:
            room = weights[source], memory
            _say_what_it_takes(loaded, unread, reading, len(models), len(chapters), *room)
        for questions in waiting:
            try:
                questions.make(loaded, name, folder / "shards", records, reading)
                step(questions).note(folder)
            except Exception as error:
                if questions.paper == OWN:
                    raise
                failure = Failure.of(error).noted(folder, questions.paper)
                wanting[questions.paper] = f"{name}: {failure}"
        del loaded
        gc.collect()  # a chapter loads the model again
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    said = _what_was_run(models, how, data, limit, papers)
    for name in names if OWN in papers else ():
        if unread := unreadable(read_records(records / f"{name}.parquet")):
            said += f" {name} is {unread}"
            print(f"{name} is {unread}", flush=True)

    offered = offer(models, data, folder, papers, loading)
    failures = [f"records of {PAPERS[paper].title}: {reason}" for paper, reason in wanting.items()]
    failures += _execute_all(chapters, folder, offered)
    for made in ("notebooks", "_build"):  # with pages of papers now left out
        shutil.rmtree(folder / made, ignore_errors=True)
    for chapter in chapters:
        page = folder / "notebooks" / f"{chapter.stem}.ipynb"
        page.parent.mkdir(exist_ok=True)
        shutil.copyfile(_executed(chapter, folder), page)
        for paper in sorted(papers_of(chapter.stem) & wanting.keys()):
            note = f"The records of {PAPERS[paper].title} could not be made: {wanting[paper]}"
            add_note(page, note)
    explorer = {"models": names, "records": str(records), "data": data}
    lay_out(folder, resources.ROOT, [chapter.stem for chapter in chapters], said, explorer)
    return reproduce.with_book(folder, failures)


def offer(
    models: Sequence[str],
    data: str,
    folder: Path,
    papers: Collection[str],
    loading: Mapping[str, Any] = NOTHING_ASKED,
) -> dict[str, Any]:
    """What every chapter of a run is offered; each takes the parameters that it declares.

    Args:
        models: checkpoint folders or hub ids.
        folder: of the run.
        papers: names of those that the run makes.
        loading: as in `reproduce_elsewhere`.
    """
    names, records = list(map(model_name, models)), folder / "records"
    mine = [records / f"{name}.parquet" for name in names]
    others = sorted(set(resources.RUNS.glob("*/records/*.parquet")) - set(mine))
    return {
        "models": names,
        "model": _path(models[0]),
        "checkpoints": [_path(source) for source in models],
        "data": data,
        "loading": {name: value for name, value in loading.items() if value is not None},
        "records": str(records),
        "runs": [str(path) for path in (*mine, *others)],
        "pages": str(folder / EXECUTED),
        "papers": [PAPERS[paper].title for paper in papers],
    }


def _path(model: str) -> str:
    return os.path.abspath(model) if Path(model).is_dir() else model


def _sets(
    papers: Collection[str], data: str, limit: int | None, folder: Path, wanting: dict[str, str]
) -> Iterable[PaperSet]:
    """What is asked for each paper; why a companion's data cannot be had goes to `wanting`."""
    for paper in papers:
        try:
            yield paper_set(paper, data, limit)
        except Exception as error:
            if paper == OWN:
                raise
            wanting[paper] = Failure.of(error).noted(folder, paper)


def _records_step(
    source: str, questions: PaperSet, *, how: Mapping[str, Any], folder: Path, reading: Reading
) -> Step:
    """A model's records of a paper, which rest on the code, the checkpoint and the questions.

    Whether they are done is seen without loading the model, which does the work.
    """
    name = model_name(source)
    file = questions.file(folder / "records", name)
    told = {
        "model": checkpoint_files(source),
        **how,
        **reading.of_plan(),
        "rows": [questions.dataset.digest, questions.dataset.checksums, questions.limit],
    }
    work = partial(questions.make, name=name, shards=folder / "shards", records=folder / "records")
    stamp = f"records of {name}, {questions.paper}"
    return Step(stamp, reproduce.sources(), [file], work, json_text(told, ensure_ascii=False))


def _say_what_it_takes(
    model: VisionLanguageModel,
    sets: Sequence[PaperSet],
    reading: Reading,
    models: int,
    chapters: int,
    weights: int,
    memory: Memory,
) -> None:
    """Print rows, time and memory of everything that follows, from a few samples of each set.

    Raises:
        PreflightError: there is no room for one question.
    """
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    imports = time.perf_counter() - began
    total, most, workers = 0.0, 0, 1
    print(f"{'to be read':26} {'rows':>8}   about", flush=True)
    for number, questions in enumerate(sets):
        plan, rows = questions.plan(model, reading), samples(questions.dataset)
        if number == 0:
            warm_up(plan, rows)
        pace = measure(plan, rows)
        if reading.workers:
            pace = pace._replace(workers=min(reading.workers, len(plan.shards)))
        startup = questions.runs * imports if pace.workers > 1 else 0.0  # of processes
        seconds = models * (startup + pace.expected(questions.rows))
        total += seconds
        workers = max(workers, pace.workers)
        most = max(most, cache_bytes(plan, rows))
        batch = plan.stamp["batch_size"]
        parts = ", ".join(f"{name} {count:,}" for name, count in questions.parts.items())
        title, count = PAPERS[questions.paper].title, models * questions.rows
        print(f"  {title:24} {count:8,}   {duration(seconds):9} {parts}")
    seconds = imports * (A_CHAPTER * chapters / reproduce.at_a_time(chapters) + A_BOOK)
    print(f"  {f'{chapters} chapters, the book':24} {'':8}   {duration(seconds)}")
    print(f"  {'all together':24} {'':8}   {duration(total + seconds)}")
    needed = workers * (weights + batch * most)
    each_process = f", in each of {workers} processes" if workers > 1 else ""
    print(
        f"  memory: weights {gib(weights)}, keys and values of {batch} questions up to "
        f"{gib(batch * most)}{each_process}; {gib(memory.free)} of {memory.where} free",
        flush=True,
    )
    if weights + most > memory.free:
        raise PreflightError(
            f"The weights take {gib(weights)} and one question {gib(most)}, and "
            f"{gib(memory.free)} of {memory.where} are free. Take a smaller model, smaller "
            "pictures, or a larger machine."
        )
    if needed > memory.free:
        print("  Batches will be halved until they fit.", flush=True)


def _execute_all(
    chapters: Sequence[Path], folder: Path, offered: Mapping[str, object]
) -> list[str]:
    """Execute the chapters that are not done yet, a core each; which failed, and why.

    What loads the model stays alone, for there may be no room for two, and so does a chapter that
    reads other pages.
    """
    together, alone = [], []
    for chapter in chapters:
        known = set(parameter_names(read_source(chapter)))
        (alone if known & {"model", "checkpoints", "pages"} else together).append(chapter)
    failures = reproduce.run_steps(
        [_chapter_step(chapter, folder, offered) for chapter in together], folder
    )
    for chapter in alone:
        failures += reproduce.run_steps([_chapter_step(chapter, folder, offered)], folder)
    return failures


def _chapter_step(source: Path, folder: Path, offered: Mapping[str, object]) -> Step:
    """One chapter of a run, executed into the run's folder.

    It is done anew where its parameters, the code or the records of its own papers have changed.
    """
    known = parameter_names(read_source(source))
    parameters = {key: value for key, value in offered.items() if key in known}
    records, page = Path(str(offered["records"])), _executed(source, folder)
    reads = [*reproduce.sources(), source]
    papers = PAPERS if source.stem in READ_ALL else {OWN, *papers_of(source.stem)}
    reads += [
        file
        for paper in papers
        for file in sorted((records if paper == OWN else records / paper).glob("*.parquet"))
    ]
    reads += map(Path, parameters.get("runs", ()))
    if "pages" in parameters:
        reads += sorted(path for path in page.parent.glob("*.ipynb") if path != page)
    work = partial(_execute, source, page, parameters)
    return Step(source.stem, reads, [page], work, json_text(parameters, ensure_ascii=False))


def _executed(source: Path, folder: Path) -> Path:
    """Where a chapter lies as it ran."""
    return folder / EXECUTED / f"{source.stem}.ipynb"


def _execute(source: Path, page: Path, parameters: Mapping[str, object]) -> None:
    """Execute a chapter. The page of one that fails gives the reason, too.

    Raises:
        ChapterError: a cell raised.
    """
    try:
        execute(source, page, cwd=resources.NOTEBOOKS, parameters=parameters)
    except ChapterError as error:
        write_notebook(error.page, page)
        raise


def _what_was_run(
    models: Iterable[str],
    how: Mapping[str, Mapping[str, Any]],
    data: str,
    limit: int | None,
    papers: Collection[str],
) -> str:
    """What every page of the book says on top."""
    named = " and ".join(
        f"{model_name(model)} ({loading_in_words(how[model])})" for model in models
    )
    rows = "all rows" if limit is None else f"LIMIT={limit} rows of each set"
    left_out = [paper.title for name, paper in PAPERS.items() if name not in papers]
    without = f"; left out: {', '.join(left_out)}" if left_out else ""
    return f"A run of one's own: {named} on {Path(data).stem}, {rows}{without}."

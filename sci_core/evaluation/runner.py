"""Evaluate a model on a data set: deterministic shards, resumable, one record a sample.

Samples are grouped by picture, pictures ordered by hash and packed into blocks of whole batches;
inside a block, pictures with prompts of like length share a batch. A batch is therefore the same
whatever the number or order of shards and workers, and so are its records, to the byte, at a fixed
batch size and one torch thread. A shard is a run of blocks, written under a temporary name and
renamed, so a run that is cut off loses at most the shards in hand, and resuming is listing the
folder. What differs from run to run (timings, error messages) lies beside, in `log.jsonl`.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import torch
from tqdm import tqdm

from sci_core.batching import FittingBatches, by_length
from sci_core.counterfactuals import rewrite
from sci_core.evaluation.answers import parse
from sci_core.evaluation.datasets import Dataset, DatasetError, Row, RowError, load_dataset
from sci_core.evaluation.drbench import VALIDATION_EVERY, in_hashed_share
from sci_core.evaluation.prompts import build_prompt, templates_digest
from sci_core.evaluation.records import (
    SCHEMA_VERSION,
    SHARD,
    Records,
    RecordsError,
    build_table,
    check_stamp,
    read_records,
    sort_records,
    write_records,
)
from sci_core.evaluation.trajectories import Answers, decode
from sci_core.methods import BASE, M3ID, SCI3, SCI5, SCI7, TIE, VCD, Method, sci
from sci_core.methods import method as named_method
from sci_core.models import VisionLanguageModel
from sci_core.prefix_cache import PrefixCache
from sci_core.questions import Noise, Question, check_choice, is_visual

BATCHES_A_BLOCK = 8
# A record keeps each round's best four tokens, as many as a question has options. For a pocket
# model in training, eight proved hardly more winners (97.8 against 97.2 % for SCI5) and took 1.7
# times the bytes.
TOP = 4
# Parameters. A model below it gains nothing from several threads; a larger one fills the processor.
SMALL_MODEL = 100_000_000
MOST_WORKERS = 8
# What spoils one sample and leaves the others alone; anything else is a fault of the program.
SAMPLE_ERRORS = (RowError, ValueError, FloatingPointError)

_EDITED = (TIE, VCD, M3ID, SCI3, SCI5, SCI7)
# The presets; again at the constraint the paper uses on the original data sets (appendix B); and
# M3ID as its own paper counts, by generated tokens.
STANDARD_METHODS = (
    BASE,
    *_EDITED,
    *(replace(each, name=f"{each.name} beta=0.8", beta=0.8) for each in _EDITED),
    replace(M3ID, name="M3ID generated clock", clock="generated"),
)
# On from the paper's three sizes to fifteen rounds; and the published code's way of editing one
# token only, which leads to prefixes that no other policy passes through.
EXTENDED_METHODS = (
    *(TIE, VCD, M3ID),
    *(sci(pairs, pairs) for pairs in range(1, 8)),
    *(replace(each, name=f"{each.name} first token", edit="first_token") for each in _EDITED),
)
# Tables 6 and 8: SCI5 without its constraint and at the other temperatures. Loose as they are, most
# go on where no other policy does, so that nothing short of decoding tells their answers.
ABLATIONS = (
    replace(SCI5, name="SCI5 beta=0", beta=0.0),
    *(
        replace(SCI5, name=f"SCI5 tau1={tau1:g} tau2={tau2:g}", tau1=tau1, tau2=tau2)
        for tau1, tau2 in (
            (2.0, 2.0), (2.0, 1.0), (2.0, 0.5), (20.0, 0.2), (10.0, 0.2), (1.0, 0.2), (0.2, 0.2),
        )
    ),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Plan:
    """A run before it runs: `shards` of batches of rows, and the stamp its records will carry."""

    model: VisionLanguageModel
    methods: tuple[Method, ...]
    shards: tuple[tuple[tuple[Row, ...], ...], ...]
    stamp: dict[str, Any]
    # Of this process. Black alone is kept from batch to batch: what a batch gives then does not
    # depend on the order of the batches, to the byte (unless memory runs out, which is said).
    prefixes: PrefixCache = field(default_factory=partial(PrefixCache, constants_only=True))
    fitting: FittingBatches = field(default_factory=FittingBatches)

    @property
    def policies(self) -> list[str]:
        return [*self.stamp["rounds"], *(each["name"] for each in self.stamp["methods"])]

    @property
    def noise(self) -> Noise:
        return self.stamp.get("noise", "clamp")

    def path(self, out: Path, shard: int) -> Path:
        return out / f"shard-{shard:05d}-of-{len(self.shards):05d}.parquet"


def evaluate(
    model: VisionLanguageModel,
    dataset: Dataset | str,
    methods: Sequence[Method | str],
    out: str | Path,
    *,
    limit: int | None = None,
    batch_size: int = 64,
    max_new_tokens: int = 8,
    top: int = TOP,
    noise: Noise = "clamp",
    shards: int | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Records:
    """Answer every row under every round and every method, into Parquet records in `out`.

    The rounds are those of the methods and of DRBench's construction (M = N = 2). A run that was
    cut off goes on where it stopped; a finished one is only read.

    Parameters
    ----------
    dataset : a loaded data set (or `hashed_part` of one), or a name for `load_dataset` (with
        `limit`).
    methods : presets by name, or any `Method`; "base" is always there, as the original round.
    batch_size : questions at a time; part of the stamp, for it may turn a near-tie.
    top : how many tokens of each round, and of VC, a record keeps.
    noise : where a dummy picture's noise is added (`engine.start`).
    shards : how many files; by default one a block of 8 batches, or what the folder has.
    workers : processes, each with the model on one torch thread; by default one a core for a small
        model on the processor, otherwise 1: this process. A script that asks for more needs the
        usual `if __name__ == "__main__":`.
    progress : show a bar with the remaining time on a terminal, plain lines elsewhere.

    Raises
    ------
    RecordsError : if `out` holds records of another run.
    ValueError : for an unknown method, data set or noise, two methods of one name, or no worker.
    """
    out = Path(out)
    workers = _default_workers(model) if workers is None else workers
    if workers < 1:
        raise ValueError(f"workers={workers}; expected 1 or more, or None for the default.")
    if isinstance(dataset, str):
        dataset = load_dataset(dataset, limit=limit)
    elif limit is not None:
        raise ValueError("limit goes with a data set's name; use load_dataset(name, limit=…).")
    plan = make_plan(
        model,
        dataset,
        methods,
        batch_size=batch_size,
        max_new_tokens=max_new_tokens,
        top=top,
        noise=noise,
        shards=_shards_of(out) or shards,
    )
    _claim(out, plan.stamp)
    missing = [k for k in range(len(plan.shards)) if not plan.path(out, k).is_file()]
    total = sum(len(batch) for shard in plan.shards for batch in shard)
    done = total - sum(len(batch) for k in missing for batch in plan.shards[k])
    with _Progress(total, done, f"{plan.stamp['model']} on {dataset.name}", progress) as bar:
        if min(workers, len(missing)) > 1:
            _run_in_processes(plan, missing, out, min(workers, len(missing)), bar)
        else:
            with _threads(model):
                for shard in missing:
                    run_shard(plan, shard, out, bar)
    return read_records(out)


def make_plan(
    model: VisionLanguageModel,
    dataset: Dataset,
    methods: Sequence[Method | str],
    *,
    batch_size: int = 64,
    max_new_tokens: int = 8,
    top: int = TOP,
    noise: Noise = "clamp",
    shards: int | None = None,
) -> Plan:
    """Lay out the shards and the stamp of a run; nothing is decoded or written."""
    check_choice("noise", noise, get_args(Noise))
    chosen = [named_method(each) if isinstance(each, str) else each for each in methods]
    # The base method is the original round under another name.
    chosen = [each for each in chosen if each.rule != "base"]
    names = [each.name for each in chosen]
    if len(set(names)) != len(names):
        raise ValueError(
            f"Methods must have distinct names, got {', '.join(names)}; rename a variant with "
            "dataclasses.replace(method, name=…)."
        )
    rounds = _all_rounds(chosen)
    stamp = {
        "schema": SCHEMA_VERSION,
        "model": os.path.basename(os.path.normpath(model.name))
        if os.path.isdir(model.name)
        else model.name,
        "revision": model.revision,
        "family": model.family,
        "dtype": str(model.dtype).removeprefix("torch."),
        "eos": sorted(model.eos_token_ids),
        "rounds": rounds,
        "methods": [_as_json(each) for each in chosen],
        "prompts": templates_digest(),
        "datasets": dict(dataset.checksums),
        "rows": dataset.digest,
        "max_new_tokens": max_new_tokens,
        "temperature": 0,
        "top": top,
        "batch_size": batch_size,
        # The default goes unsaid, as it did before there was a choice.
        **({} if noise == "clamp" else {"noise": noise}),
    }
    blocks = _blocks(dataset, model, batch_size)
    count = min(shards or len(blocks), len(blocks))
    ends = [k * len(blocks) // count for k in range(count + 1)]
    dealt = [blocks[first:end] for first, end in pairwise(ends)]
    return Plan(
        model,
        tuple(chosen),
        tuple(tuple(batch for block in part for batch in block) for part in dealt),
        stamp,
    )


def hashed_part(dataset: Dataset, share: int, salt: str = "evaluate ") -> Dataset:
    """About 1 / `share` of the question groups, whole and always the same; all for a share of 1.

    Another `salt` selects other groups. Raises DatasetError for a share below 1 or one that leaves
    no row.
    """
    if share < 1:
        raise DatasetError(f"share={share}; expected 1 for all question groups, 4 for a quarter.")
    chosen = tuple(row for row in dataset if in_hashed_share(row.group, share, salt))
    if not chosen:
        raise DatasetError(
            f"1 / {share} of the question groups of {dataset.name} is none; give a smaller number."
        )
    return replace(dataset, rows=chosen)


def validation_part(dataset: Dataset) -> Dataset:
    """The validation rows of the paper's split. Raises DatasetError where there are none."""
    chosen = tuple(row for row in dataset if row.position % VALIDATION_EVERY == 0)
    if not chosen:
        raise DatasetError(f"{dataset.name} holds no validation row; take more rows of it.")
    return replace(dataset, rows=chosen)


def run_shard(plan: Plan, shard: int, out: Path, bar: _Progress | None = None) -> None:
    """Evaluate one shard and write its file; the shards may run in any order."""
    say = bar.advance if bar is not None else lambda rows: None
    _log(out, shard, _write_shard(plan, plan.shards[shard], plan.path(out, shard), say))


def _write_shard(
    plan: Plan, batches: Sequence[Sequence[Row]], path: Path, say: Callable[[int], None]
) -> dict[str, Any]:
    """Evaluate batches into one file; what the log shall tell of it."""
    began = time.perf_counter()
    rows, problems = [], []
    for batch in batches:
        found, wrong = evaluate_rows(plan, batch)
        rows += found
        problems += wrong
        say(len(batch))
    records = Records(build_table(rows, plan.policies), plan.stamp, _pieces(plan.model, rows))
    write_records(path, sort_records(records))
    store = plan.prefixes
    return {
        "seconds": round(time.perf_counter() - began, 3),
        "prefixes of this process so far": {
            "hits": store.hits,
            "misses": store.misses,
            "bytes": store.bytes,
        },
        "errors": problems,
    }


def _log(out: Path, shard: int, entry: dict[str, Any]) -> None:
    with (out / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"shard": shard, **entry}, ensure_ascii=False) + "\n")


def _default_workers(model: VisionLanguageModel) -> int:
    if model.device.type != "cpu" or model.parameters > SMALL_MODEL:
        return 1
    # A container or a batch system may give this process fewer cores than the machine has.
    affinity = getattr(os, "sched_getaffinity", None)
    return min(MOST_WORKERS, len(affinity(0)) if affinity else os.cpu_count() or 1)


@contextmanager
def _threads(model: VisionLanguageModel) -> Iterator[None]:
    """One torch thread for a small model, so that its records are the bytes that workers write."""
    before = torch.get_num_threads()
    if model.parameters <= SMALL_MODEL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _run_in_processes(
    plan: Plan, shards: Sequence[int], out: Path, workers: int, bar: _Progress
) -> None:
    """Evaluate shards in new processes; each loads the model once and is sent rows."""
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), _begin_worker, (replace(plan, shards=()),)
    )
    try:
        running = {
            pool.submit(_work, plan.shards[shard], plan.path(out, shard)): shard for shard in shards
        }
        for done in as_completed(running):
            shard = running.pop(done)
            _log(out, shard, done.result())
            bar.advance(sum(map(len, plan.shards[shard])))
    finally:
        pool.shutdown(cancel_futures=True)


_worker_plan: Plan
"""In a worker process: the run it works for, with the model it has loaded."""


def _begin_worker(plan: Plan) -> None:
    global _worker_plan
    torch.set_num_threads(1)
    _worker_plan = plan


def _work(batches: Sequence[Sequence[Row]], path: Path) -> dict[str, Any]:
    return _write_shard(_worker_plan, batches, path, lambda rows: None)


def evaluate_rows(plan: Plan, rows: Sequence[Row]) -> tuple[list[dict], list[str]]:
    """Decode one batch: a record for every row, and the messages of those that failed.

    A row that cannot be read is left out of the batch. If the engine refuses a batch, its rows are
    decoded one by one, so that the row at fault alone is marked.
    """
    questions: dict[int, Question] = {}
    failures: dict[int, Exception] = {}
    for place, row in enumerate(rows):
        try:
            questions[place] = question_of(row, plan)
        except SAMPLE_ERRORS as error:
            failures[place] = error
    answered: dict[int, Answers] = {}
    decode_some = partial(_decode, plan, rows, questions)
    try:
        found = plan.fitting(decode_some, list(questions))
        answered = dict(zip(questions, found, strict=True))
    except SAMPLE_ERRORS:
        for place in questions:
            try:
                answered[place] = decode_some([place])[0]
            except SAMPLE_ERRORS as error:
                failures[place] = error
    records = [
        _record(row, plan, questions.get(place), answered.get(place), failures.get(place))
        for place, row in enumerate(rows)
    ]
    return records, [
        f"{rows[place].dataset} {rows[place].index}: {type(error).__name__}: {error}"
        for place, error in sorted(failures.items())
    ]


def _decode(
    plan: Plan, rows: Sequence[Row], questions: dict[int, Question], places: Sequence[int]
) -> list[Answers]:
    return decode(
        plan.model,
        [questions[place] for place in places],
        plan.stamp["rounds"],
        plan.methods,
        max_new_tokens=plan.stamp["max_new_tokens"],
        top=plan.stamp["top"],
        # The first token settles a letter or a yes; a short answer needs every step.
        record_all=[rows[place].question_type == "short" for place in places],
        noise=plan.noise,
        prefixes=plan.prefixes,
    )


def question_of(row: Row, plan: Plan) -> Question:
    """The picture, the prompt and its rewrites, as every round of the plan needs them."""
    prompt = build_prompt(row, plan.model.family)
    textual = [name for name in plan.stamp["rounds"][1:] if not is_visual(name)]
    return Question(row.image(), prompt, tuple(rewrite(prompt, name) for name in textual))


def _record(
    row: Row,
    plan: Plan,
    question: Question | None,
    answers: Answers | None,
    failure: Exception | None,
) -> dict:
    prompts = "\0".join((question.prompt, *question.rewrites)) if question else ""
    record = {
        "dataset": row.dataset,
        "index": row.index,
        "position": row.position,
        "group": row.group,
        "image_hash": row.image_hash,
        "question_type": row.question_type,
        "category": row.category,
        "truth": row.answer,
        "options": "".join(row.options),
        "prompt_hash": hashlib.sha256(prompts.encode()).hexdigest()[:12],
        "prompt_tokens": answers.prompt_tokens if answers else 0,
        "error": type(failure).__name__ if failure else None,
        "nodes": [_node(node) for node in answers.nodes] if answers else [],
    }
    if not answers:
        return record
    read = {}  # most policies give the same answer
    for tokens in set(answers.tokens.values()):
        text = plan.model.tokenizer.decode(tokens, skip_special_tokens=True)
        read[tokens] = text, parse(row.question_type, text, row.options)
    for policy in plan.policies:
        tokens = answers.tokens[policy]
        record[f"tokens:{policy}"] = tokens
        record[f"text:{policy}"], record[f"parsed:{policy}"] = read[tokens]
    return record


def _node(node: Any) -> dict:
    return {
        "prefix": node.prefix,
        "tokens": node.tokens,
        "logits": node.logits.ravel(),
        "log_norm": node.log_norm,
        "outside": node.outside,
    }


def _pieces(model: VisionLanguageModel, rows: Sequence[dict]) -> dict[int, str]:
    """The text of every token kept in a node."""
    tokens = {int(token) for row in rows for node in row["nodes"] for token in node["tokens"]}
    return {
        token: model.tokenizer.decode([token], skip_special_tokens=True) for token in sorted(tokens)
    }


def _all_rounds(methods: Sequence[Method]) -> list[str]:
    """The union of all rounds, textual before visual, each kind in the order it is first named."""
    named = [name for method in (SCI5, *methods) for name in method.rounds[1:]]
    unique = list(dict.fromkeys(named))
    return ["original", *sorted(unique, key=is_visual)]


def _blocks(
    dataset: Dataset, model: VisionLanguageModel, batch_size: int
) -> list[list[tuple[Row, ...]]]:
    prompts = [build_prompt(row, model.family) for row in dataset]
    ids = model.tokenizer(prompts, add_special_tokens=False)["input_ids"]
    lengths = {(row.dataset, row.index): len(each) for row, each in zip(dataset, ids, strict=True)}
    by_image: dict[str, list[Row]] = {}
    for row in dataset:
        by_image.setdefault(row.image_hash, []).append(row)
    blocks: list[list[Row]] = []
    for name in sorted(by_image):
        rows = sorted(by_image[name], key=lambda row: (row.dataset, row.position))
        if not blocks or len(blocks[-1]) + len(rows) > batch_size * BATCHES_A_BLOCK:
            blocks.append([])
        blocks[-1] += rows
    return [
        [
            tuple(rows[place] for place in places)
            for places in by_length(
                [row.image_hash for row in rows],
                [(lengths[row.dataset, row.index],) for row in rows],
                batch_size,
            )
        ]
        for rows in blocks
    ]


def _claim(out: Path, stamp: dict[str, Any]) -> None:
    """Make the folder this run's own, or refuse it if it is another's."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "stamp.json"
    if file.is_file():
        found = json.loads(file.read_text(encoding="utf-8"))
        check_stamp({"noise": "clamp", **found}, {"noise": "clamp", **stamp}, str(out))
    elif any(out.glob("shard-*.parquet")):
        raise RecordsError(f"{out} holds shards without a stamp.json. Use another folder.")
    for leftover in out.glob("*.tmp"):
        leftover.unlink()
    temporary = out / "stamp.json.tmp"
    temporary.write_text(json.dumps(stamp, indent=1, ensure_ascii=False), encoding="utf-8")
    os.replace(temporary, file)


def _shards_of(out: Path) -> int | None:
    """How many shards the run in this folder was begun with."""
    counts = {int(SHARD.fullmatch(file.name)[2]) for file in out.glob("shard-*.parquet")}
    return counts.pop() if len(counts) == 1 else None


def _as_json(method: Method) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(method)))


class _Progress:
    """A bar with the remaining time on a terminal; elsewhere a plain line now and then."""

    def __init__(self, total: int, done: int, what: str, shown: bool):
        self.terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=total, initial=done, desc=what, unit="row", disable=not (shown and self.terminal)
        )
        self.shown, self.what, self.total, self.done = shown, what, total, done
        self.first, self.began, self.told = done, time.monotonic(), time.monotonic()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def advance(self, rows: int) -> None:
        self.bar.update(rows)
        self.done += rows
        now = time.monotonic()
        if self.shown and not self.terminal and (now - self.told > 20 or self.done == self.total):
            rate = (self.done - self.first) / max(now - self.began, 1e-9)
            left = (self.total - self.done) / rate
            print(
                f"{self.what}: {self.done:,} of {self.total:,} rows, {rate:.0f} rows/s, "
                f"{left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
            self.told = now

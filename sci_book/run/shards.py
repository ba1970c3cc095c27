"""One shard: its batches decoded, a record for every row, the file's bytes."""

from __future__ import annotations

import os
import socket
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from sci_book.data.answers.rules import FREE, parse
from sci_book.data.datasets import Row, RowError
from sci_book.data.prompts import build_prompt
from sci_book.data.rewordings import reword
from sci_book.files import write_whole
from sci_book.results.records import Records, build_table, sort_records, to_bytes
from sci_book.run.layout import SMALL_MODEL, Plan
from sci_book.run.presets import prompt_hash
from sci_book.run.trajectories import Answers
from sci_core.engine.questions import Question
from sci_core.families.models import VisionLanguageModel
from sci_core.families.precision import is_out_of_memory

_COPIED = ("dataset", "index", "position", "group", "image_hash", "question_type", "category")
# What spoils one sample and leaves the others alone; anything else is a fault of the program.
SAMPLE_ERRORS = (RowError, ValueError, FloatingPointError)


class Batch(NamedTuple):
    """So many rows of a shard have been decoded, in so many seconds, by a worker."""

    shard: int
    rows: int
    seconds: float
    worker: str


class Done(NamedTuple):
    """A shard is evaluated: the bytes of its file, and what the log shall tell of it."""

    shard: int
    content: bytes
    report: dict[str, Any]


class Failed(NamedTuple):
    """A shard could not be evaluated: a sentence, and the details for the log."""

    shard: int
    error: str
    details: str = ""


Event = Batch | Done | Failed


class Posed(NamedTuple):
    """A row as it is asked: in which rounds of the plan, and by round why not in the others."""

    question: Question
    rounds: tuple[str, ...]
    refused: dict[str, str]


class Evaluated(NamedTuple):
    """The records of a batch; the messages of its errors, and of what some rounds leave out."""

    records: list[dict]
    errors: list[str]
    left_out: list[str]


def run_shard(plan: Plan, shard: int, out: Path) -> None:
    """Evaluate one shard here and write its file; the shards may run in any order."""
    rows = [record for batch in plan.shards[shard] for record in evaluate_rows(plan, batch).records]
    write_whole(plan.path(out, shard), shard_bytes(plan, rows))


def attempt(plan: Plan, shard: int, batches: Sequence[Sequence[Row]]) -> Iterator[Event]:
    """Evaluate one shard: a `Batch` after every batch, then `Done`, or `Failed` at the first fault.

    A bad sample is no fault: it is recorded with its error.
    """
    try:
        began = time.perf_counter()
        before = replace(plan.readings)
        rows, errors, left_out = [], [], []
        worker = f"process {os.getpid()} on {socket.gethostname()}"
        for batch in batches:
            started = time.perf_counter()
            evaluated = evaluate_rows(plan, batch)
            rows += evaluated.records
            errors += evaluated.errors
            left_out += evaluated.left_out
            yield Batch(shard, len(batch), time.perf_counter() - started, worker)
        content = shard_bytes(plan, rows)
        store = plan.prefixes
        report = {
            "seconds": round(time.perf_counter() - began, 3),
            "worker": worker,
            "readings": plan.readings.done - before.done,
            "spared": plan.readings.spared - before.spared,
            "prefixes of this process so far": {
                name: getattr(store, name) for name in ("hits", "misses", "bytes")
            },
            "errors": errors,
            **({"left out": left_out} if left_out else {}),
        }
        yield Done(shard, content, report)
    except Exception as error:  # whatever it is, it must cost the run no other shard
        sentence = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        yield Failed(shard, sentence, traceback.format_exc())


def shard_bytes(plan: Plan, rows: Sequence[dict]) -> bytes:
    """The file that holds these records."""
    records = Records(build_table(rows, plan.policies), plan.stamp, _pieces(plan.model, rows))
    return to_bytes(sort_records(records))


@contextmanager
def one_thread(model: VisionLanguageModel) -> Iterator[None]:
    """One torch thread for a small model, so that its records are the bytes that workers write."""
    before = torch.get_num_threads()
    if model.parameters <= SMALL_MODEL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def evaluate_rows(plan: Plan, rows: Sequence[Row]) -> Evaluated:
    """Decode one batch: a record for every row, and the messages of those that failed.

    A row that some round cannot ask is decoded in the others, and under the methods that need no
    more. A row that cannot be read is left out of the batch. If the engine refuses rows, or has no
    memory for one by itself, they are decoded one by one, so that the row at fault alone is marked.
    """
    posed: dict[int, Posed] = {}
    failures: dict[int, Exception] = {}
    for place, row in enumerate(rows):
        try:
            posed[place] = pose(row, plan)
        except SAMPLE_ERRORS as error:
            failures[place] = error
    together: dict[tuple, list[int]] = {}
    for place, asked in posed.items():
        together.setdefault((asked.rounds, plan.new_tokens(rows[place])), []).append(place)
    answered: dict[int, Answers] = {}
    decode_some = partial(_decode, plan, rows, posed)
    for places in together.values():
        if _fault(plan, decode_some, places, answered):
            faults = {place: _fault(plan, decode_some, [place], answered) for place in places}
            failures |= {place: fault for place, fault in faults.items() if fault}
    records = [
        _record(row, plan, posed.get(place), answered.get(place), failures.get(place))
        for place, row in enumerate(rows)
    ]
    names = [f"{row.dataset} {row.index}" for row in rows]
    return Evaluated(
        records,
        [
            f"{names[place]}: {type(error).__name__}: {error}"
            for place, error in sorted(failures.items())
        ],
        [
            f"{names[place]}: {', '.join(asked.refused)}: {next(iter(asked.refused.values()))}"
            for place, asked in posed.items()
            if asked.refused and place not in failures
        ],
    )


def _fault(
    plan: Plan,
    decode_some: Callable[[Sequence[int]], list[Answers]],
    places: Sequence[int],
    answered: dict[int, Answers],
) -> Exception | None:
    """Answer some questions into `answered`; or the error that spoils them, without its tensors."""
    try:
        answered |= dict(zip(places, plan.fitting(decode_some, places), strict=True))
    except SAMPLE_ERRORS as error:
        return error.with_traceback(None)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        said = " ".join(str(error).split())
        return MemoryError(f"there is no room for this question by itself ({said[:200]})")
    return None


def _decode(
    plan: Plan, rows: Sequence[Row], posed: dict[int, Posed], places: Sequence[int]
) -> list[Answers]:
    """Answer rows that are asked in the same rounds and may take as many tokens."""
    rounds = posed[places[0]].rounds
    complete = len(rounds) == len(plan.stamp["rounds"])
    return plan.engine.decode(
        plan.model,
        [posed[place].question for place in places],
        rounds,
        [method for method in plan.methods if set(method.rounds) <= set(rounds)],
        max_new_tokens=plan.new_tokens(rows[places[0]]),
        top=plan.stamp["top"],
        # The first token settles a letter or a yes; words need every step. Answers alone
        # need no more than their own rounds, wherever they part.
        record_all=[
            complete and rows[place].question_type in ("short", *FREE) and plan.record == "logits"
            for place in places
        ],
        noise=plan.noise,
        prefixes=plan.prefixes,
        readings=plan.readings,
    )


def pose(row: Row, plan: Plan) -> Posed:
    """The picture, the prompt and its rewrites, in every round of the plan that the row allows.

    Raises:
        RowError: if the row cannot be asked at all.
    """
    prompt = build_prompt(row, plan.model.family)
    texts, refused = reword(row, prompt, plan.stamp["rounds"])
    rounds = tuple(name for name in plan.stamp["rounds"] if name not in refused)
    return Posed(Question(row.image(), prompt, tuple(texts.values())), rounds, refused)


def _record(
    row: Row,
    plan: Plan,
    posed: Posed | None,
    answers: Answers | None,
    failure: Exception | None,
) -> dict:
    question = posed.question if posed else None
    prompts = (question.prompt, *question.rewrites) if question else ()
    # Logits of some rounds alone are no node of these records, which hold all rounds.
    kept = answers and plan.record == "logits" and not posed.refused
    record = {
        **{name: getattr(row, name) for name in _COPIED},
        "truth": row.answer,
        "options": "".join(row.options),
        "prompt_hash": prompt_hash(prompts),
        "prompt_tokens": answers.prompt_tokens if answers else 0,
        "error": type(failure).__name__ if failure else None,
        "nodes": [vars(n) | {"logits": n.logits.ravel()} for n in answers.nodes] if kept else [],
    }
    if not answers:
        return record
    read = {}  # most policies give the same answer
    for tokens in set(answers.tokens.values()):
        text = plan.model.tokenizer.decode(tokens, skip_special_tokens=True)
        read[tokens] = text, parse(row.question_type, text, row.options)
    for policy, tokens in answers.tokens.items():
        record[f"tokens:{policy}"] = tokens
        record[f"text:{policy}"], record[f"parsed:{policy}"] = read[tokens]
    return record


def _pieces(model: VisionLanguageModel, rows: Sequence[dict]) -> dict[int, str]:
    """The text of every token kept in a node."""
    tokens = {int(token) for row in rows for node in row["nodes"] for token in node["tokens"]}
    return {
        token: model.tokenizer.decode([token], skip_special_tokens=True) for token in sorted(tokens)
    }

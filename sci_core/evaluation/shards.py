"""One shard: its batches decoded, a record for every row, the file's bytes."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from sci_core.batching import is_out_of_memory
from sci_core.counterfactuals import prefix_rewrite, rewrite
from sci_core.evaluation.answers import parse
from sci_core.evaluation.datasets import Row, RowError
from sci_core.evaluation.layout import SMALL_MODEL, Plan
from sci_core.evaluation.prompts import build_prompt
from sci_core.evaluation.records import Records, build_table, sort_records, to_bytes
from sci_core.evaluation.trajectories import Answers, decode
from sci_core.files import write_whole
from sci_core.models import VisionLanguageModel
from sci_core.questions import Question, is_visual

# What spoils one sample and leaves the others alone; anything else is a fault of the program.
SAMPLE_ERRORS = (RowError, ValueError, FloatingPointError)


class Batch(NamedTuple):
    """So many rows of a shard have been decoded."""

    shard: int
    rows: int


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


def run_shard(plan: Plan, shard: int, out: Path) -> None:
    """Evaluate one shard here and write its file; the shards may run in any order."""
    rows = [record for batch in plan.shards[shard] for record in evaluate_rows(plan, batch)[0]]
    write_whole(plan.path(out, shard), shard_bytes(plan, rows))


def attempt(plan: Plan, shard: int, batches: Sequence[Sequence[Row]]) -> Iterator[Event]:
    """Evaluate one shard: a `Batch` after every batch, then `Done`, or `Failed` at the first fault.

    A bad sample is no fault: it is recorded with its error.
    """
    try:
        began = time.perf_counter()
        before = replace(plan.readings)
        rows, problems = [], []
        for batch in batches:
            found, wrong = evaluate_rows(plan, batch)
            rows += found
            problems += wrong
            yield Batch(shard, len(batch))
        content = shard_bytes(plan, rows)
        store = plan.prefixes
        report = {
            "seconds": round(time.perf_counter() - began, 3),
            "readings": plan.readings.done - before.done,
            "spared": plan.readings.spared - before.spared,
            "prefixes of this process so far": {
                "hits": store.hits,
                "misses": store.misses,
                "bytes": store.bytes,
            },
            "errors": problems,
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


def evaluate_rows(plan: Plan, rows: Sequence[Row]) -> tuple[list[dict], list[str]]:
    """Decode one batch: a record for every row, and the messages of those that failed.

    A row that cannot be read is left out of the batch. If the engine refuses a batch, or has no
    memory for some row by itself, its rows are decoded one by one, so that the row at fault alone
    is marked.
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
    if _fault(plan, decode_some, list(questions), answered):
        faults = {place: _fault(plan, decode_some, [place], answered) for place in questions}
        failures |= {place: fault for place, fault in faults.items() if fault}
    records = [
        _record(row, plan, questions.get(place), answered.get(place), failures.get(place))
        for place, row in enumerate(rows)
    ]
    return records, [
        f"{rows[place].dataset} {rows[place].index}: {type(error).__name__}: {error}"
        for place, error in sorted(failures.items())
    ]


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
    plan: Plan, rows: Sequence[Row], questions: dict[int, Question], places: Sequence[int]
) -> list[Answers]:
    return decode(
        plan.model,
        [questions[place] for place in places],
        plan.stamp["rounds"],
        plan.methods,
        max_new_tokens=plan.stamp["max_new_tokens"],
        top=plan.stamp["top"],
        # The first token settles a letter or a yes; words need every step. Answers alone
        # need no more than their own rounds, wherever they part.
        record_all=[
            rows[place].question_type in ("short", "free") and plan.record == "logits"
            for place in places
        ],
        noise=plan.noise,
        prefixes=plan.prefixes,
        readings=plan.readings,
    )


def question_of(row: Row, plan: Plan) -> Question:
    """The picture, the prompt and its rewrites, as every round of the plan needs them."""
    prompt = build_prompt(row, plan.model.family)
    textual = [name for name in plan.stamp["rounds"][1:] if not is_visual(name)]
    if row.question_type == "free":  # there is no instruction to replace
        if not row.translation and "V2" in textual:
            raise RowError(
                f"{row.where}: V2 of a free question is its translation, and there is none. Name "
                "the column that holds it as columns.translation of the data set's YAML file.",
                "translation",
            )
        texts = [prefix_rewrite(prompt, name, row.translation) for name in textual]
    else:
        texts = [rewrite(prompt, name) for name in textual]
    return Question(row.image(), prompt, tuple(texts))


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
        "nodes": [_node(node) for node in answers.nodes]
        if answers and plan.record == "logits"
        else [],
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

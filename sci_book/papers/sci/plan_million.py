"""A large evaluation on paper: tokens, hours and bytes from stated inputs, and what breaks first.

    python -m sci_book.papers.sci.plan_million > book/million_questions.md

Nothing here is measured at that size. Tokens are the engine's own count (`cost.work`), bytes those
of frozen records; hours follow from an assumed use of the hardware. `page` fills all numbers into
the template `data_manifests/million_questions.md`; a test compares the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from sci_book.papers.sci.chapters import cost
from sci_book.papers.sci.overhead import LAYOUT
from sci_book.resources import FROZEN_RECORDS, MANIFESTS
from sci_book.results.records import read_records, to_bytes
from sci_book.run.layout import BATCHES_A_BLOCK
from sci_core.methods import BASE, SCI7, Method

TEMPLATE = MANIFESTS / "million_questions.md"
FROZEN = sorted(FROZEN_RECORDS.glob("pocket-*.parquet"))[-1]
ROW_BYTES = 1500
"""Of a row in the memory of the process that holds the folder, its picture aside."""


@dataclass(frozen=True)
class Assumptions:
    """What is not computed. Every default is a choice, to be replaced by one's own.

    parameters            of the language model; `vision_parameters` of its tower
    vision_width, vision_layers   of the tower, whose patches all look at each other
    image_tokens          of a picture; the tower reads `patches_a_token` patches for each
    new_tokens            of an answer, beyond the first, in each round
    peak_flops            of a GPU in the model's precision, arithmetic a second
    prefill_use           which part of the peak reading a prompt reaches
    memory_bandwidth      of a GPU in bytes a second, by which decoding is bound
    questions_a_picture   which share its reading
    """

    questions: int = 1_000_000
    gpus: int = 64
    parameters: float = 7.6e9
    vision_parameters: float = 0.68e9
    vision_width: int = 1280
    vision_layers: int = 32
    image_tokens: int = 1280
    patches_a_token: int = 4
    new_tokens: int = 2
    peak_flops: float = 989e12
    prefill_use: float = 0.4
    memory_bandwidth: float = 3.35e12
    bytes_a_parameter: int = 2  # in bfloat16
    batch_size: int = 64  # questions at a time
    picture_bytes: int = 100_000  # of its file
    questions_a_picture: float = 1.0


def work_table(method: Method, given: Assumptions) -> pd.DataFrame:
    """Of the base and a method, a line each: what a question takes, and all of them.

    Arithmetic is two operations a parameter and token or patch, and the vision tower's attention;
    that of the language model, some two percent at these lengths, is left out. Decoding reads all
    weights once a step and batch.
    """
    lines = {}
    for candidate in (BASE, method):
        counts = cost.work(candidate, given.image_tokens, "two_phase", "warm")
        patches = given.image_tokens * given.patches_a_token
        attention = 4 * patches**2 * given.vision_width * given.vision_layers
        picture = 2 * patches * given.vision_parameters + attention
        arithmetic = 2 * counts["token_rows"] * given.parameters + counts["pictures"] * picture
        prefill = arithmetic / (given.peak_flops * given.prefill_use)
        step = given.parameters * given.bytes_a_parameter / given.memory_bandwidth
        decode = given.new_tokens * step / given.batch_size
        seconds = given.questions * (prefill + decode) / given.gpus
        lines[candidate.name] = {
            "tokens a question": counts["token_rows"],
            "pictures a question": counts["pictures"],
            "tokens, billions": counts["token_rows"] * given.questions / 1e9,
            "teraflop a question": arithmetic / 1e12,
            "GPU hours": seconds * given.gpus / 3600,
            "hours": seconds / 3600,
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def record_bytes(frozen: Path) -> dict[str, float]:
    """Bytes a row of frozen records on disk and in memory, with logits and as answers alone."""
    whole = read_records(frozen)
    rows = len(whole.table)
    return {
        "with logits": frozen.stat().st_size / rows,
        "answers alone": len(to_bytes(whole.answers_alone())) / rows,
        "in memory": whole.table.nbytes / rows,
    }


def limits_table(
    given: Assumptions, bytes_a_row: Mapping[str, float], hours: float
) -> pd.DataFrame:
    """What a run of this size asks of each part, the part that breaks first on top."""
    shard_rows = BATCHES_A_BLOCK * given.batch_size
    shards = given.questions / shard_rows
    pictures = given.questions / given.questions_a_picture * given.picture_bytes
    shard = shard_rows / given.questions_a_picture * given.picture_bytes
    rate = given.questions / (hours * 3600)
    lines = {
        "memory of the process that holds the rows": (
            (pictures + given.questions * ROW_BYTES) / 1e9, "GB",
        ),
        "memory of the merge": (2 * given.questions * bytes_a_row["in memory"] / 1e9, "GB"),
        "pictures sent to the actors": (rate * given.picture_bytes / 1e6, "MB a second"),
        "shards in the object store": (given.gpus * shard / 1e9, "GB"),
        "pictures prepared": (rate, "a second"),
        "files in one folder": (shards, "shards"),
        "files written": (shards / (hours * 3600), "a second"),
        "records with logits": (given.questions * bytes_a_row["with logits"] / 1e9, "GB"),
        "records as answers alone": (given.questions * bytes_a_row["answers alone"] / 1e9, "GB"),
    }  # fmt: skip
    return pd.DataFrame.from_dict(lines, orient="index", columns=["asked", "unit"])


def page(given: Assumptions) -> str:
    """The page of the book: inputs, arithmetic, and where such a run breaks first."""
    work, bytes_a_row = work_table(SCI7, given), record_bytes(FROZEN)
    base, method = work.loc["base"], work.loc["SCI7"]
    limits = limits_table(given, bytes_a_row, method["hours"])
    asked = limits["asked"].map(_short)
    rate = limits["asked"]["pictures prepared"] / given.gpus  # of one worker
    return TEMPLATE.read_text(encoding="utf-8").format(
        given=given,
        asked=asked,
        rows="\n".join(
            f"| {name} | {asked[name]} {unit} |" for name, unit in limits["unit"].items()
        ),
        lines="\n".join(
            f"| {name} | {_short(base[name])} | {_short(method[name])} |" for name in work
        ),
        text=sum(LAYOUT[part] for part in ("before", "question", "instruction")),
        billions=given.parameters / 1e9,
        vision_billions=given.vision_parameters / 1e9,
        picture_kilobytes=given.picture_bytes / 1e3,
        teraflops=given.peak_flops / 1e12,
        terabytes=given.memory_bandwidth / 1e12,
        prefill_percent=100 * given.prefill_use,
        factor=_short(method["hours"] / base["hours"]),
        hours=_short(method["hours"]),
        gpu_hours=_short(method["GPU hours"]),
        worker_rate=_short(rate),
        version_ms=_short(1000 / rate / 3),
        bytes_a_row={name: _short(size) for name, size in bytes_a_row.items()},
        policies=len(read_records(FROZEN).policies),
    )


def _short(value: float) -> str:
    """Two digits, or all digits before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


if __name__ == "__main__":
    print(page(Assumptions()), end="")

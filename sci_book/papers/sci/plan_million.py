"""Large evaluations on paper: tokens, hours and bytes from stated inputs, and what breaks first.

    python -m sci_book.papers.sci.plan_million > book/million_questions.md

Nothing here is measured at that size. Tokens are the engine's own count (`overhead.work`), bytes
those of frozen records; hours follow from an assumed use of the hardware. `page` fills all numbers
into the template `data_manifests/million_questions.md`; a test compares the two.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from sci_book.data.datasets import read_manifest
from sci_book.papers.sci import picture_costs
from sci_book.papers.sci.overhead import LAYOUT, work
from sci_book.resources import FROZEN_RECORDS, MANIFESTS, RESULTS
from sci_book.results.drbench import VALIDATION_EVERY
from sci_book.results.records import read_records, to_bytes
from sci_book.run.layout import BATCHES_A_BLOCK, FEWEST_SHARDS
from sci_core.methods import BASE, SCI7, Method

TEMPLATE = MANIFESTS / "million_questions.md"
FROZEN = sorted(FROZEN_RECORDS.glob("pocket-*.parquet"))[-1]
SERVED = RESULTS / "vllm" / "parity.json"
"""What vLLM and `generate` read for the same answers (benchmarks/vllm_parity.py)."""
ROW_BYTES = 1500
"""Of a row in the memory of the process that holds the folder, its picture aside."""


@dataclass(frozen=True)
class Assumptions:
    """What is not computed. Every default is a choice, to be replaced by one's own.

    parameters            of the language model; `vision_parameters` of its tower
    layers, kv_heads, head_width  of the language model, whose keys and values are kept
    vision_width, vision_layers   of the tower, whose patches all look at each other
    image_tokens          of a picture; the tower reads `patches_a_token` patches for each
    new_tokens            of an answer, beyond the first, in each round
    peak_flops            of a GPU in the model's precision, arithmetic a second
    prefill_use           which part of the peak reading a prompt reaches
    memory_bandwidth      of a GPU in bytes a second, by which decoding is bound
    load_bandwidth        of the disk in bytes a second, from which each process reads the weights
    questions_a_picture   which share its reading
    """

    questions: int = 1_000_000
    gpus: int = 64
    parameters: float = 7.6e9
    vision_parameters: float = 0.68e9
    vision_width: int = 1280
    vision_layers: int = 32
    layers: int = 28
    kv_heads: int = 4
    head_width: int = 128
    vocabulary: int = 152_064
    image_tokens: int = 1280
    patches_a_token: int = 4
    new_tokens: int = 2
    peak_flops: float = 989e12
    prefill_use: float = 0.4
    memory_bandwidth: float = 3.35e12
    load_bandwidth: float = 1e9
    bytes_a_parameter: int = 2  # in bfloat16
    batch_size: int = 64  # questions at a time
    picture_bytes: int = 100_000  # of its file
    questions_a_picture: float = 1.0

    @property
    def weights(self) -> float:
        """Bytes of all parameters."""
        return (self.parameters + self.vision_parameters) * self.bytes_a_parameter

    @property
    def token_bytes(self) -> int:
        """Of the keys and values of one token."""
        return 2 * self.layers * self.kv_heads * self.head_width * self.bytes_a_parameter


MACHINES = {"one GPU": (1, 1), "eight GPUs": (8, 1), "two nodes of eight": (16, 2)}
"""GPUs and nodes of the paper's own job."""


def work_table(method: Method, given: Assumptions) -> pd.DataFrame:
    """Of the base and a method, a line each: what a question takes, and all of them.

    Arithmetic is two operations a parameter and token or patch, and the vision tower's attention;
    that of the language model, some two percent at these lengths, is left out. Decoding reads all
    weights once a step and batch.
    """
    lines = {}
    for candidate in (BASE, method):
        counts = work(candidate, given.image_tokens)
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
    shards = -(-given.questions // shard_rows)
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


def question_bytes(given: Assumptions) -> int:
    """Of the keys, values and logits of one question under SCI7, as `preflight.cache_bytes`."""
    tokens = work(SCI7, given.image_tokens)["token_rows"]
    steps = (1 + given.new_tokens) * given.token_bytes + 4 * given.vocabulary
    return int(tokens * given.token_bytes + len(SCI7.rounds) * steps)


def rows_of(name: str) -> tuple[int, int]:
    """All rows of a data set or collection, and those of them that DRBench tests on."""
    manifest = read_manifest(name)
    parts = [read_manifest(part).rows for part in getattr(manifest, "parts", [name])]
    return sum(parts), sum(rows - -(-rows // VALIDATION_EVERY) for rows in parts)


def job_table(given: Assumptions, rows: int) -> pd.DataFrame:
    """The paper's own job under SCI7, a column a set of machines: hours, and memory of each part.

    A GPU works on a whole shard at a time, so the last round of shards leaves some idle.
    """
    shard_rows = BATCHES_A_BLOCK * given.batch_size
    shards = max(-(-rows // shard_rows), FEWEST_SHARDS)
    one = replace(given, questions=rows, gpus=1)
    hours = work_table(SCI7, one).loc["SCI7", "hours"]
    columns = {}
    for name, (gpus, nodes) in MACHINES.items():
        turns = -(-shards // gpus)
        columns[name] = {
            "shards that each GPU answers, at most": f"{turns} of {shards}",
            "hours": _short(hours * turns / shards),
            "minutes before, to load the weights": _short(
                given.weights * gpus / nodes / given.load_bandwidth / 60
            ),
            "memory of each GPU, GB": _short(
                (given.weights + given.batch_size * question_bytes(given)) / 1e9
            ),
            "memory of each machine while it loads, GB": _short(given.weights * gpus / nodes / 1e9),
            "rows and pictures in the first process, GB": _short(
                rows * (given.picture_bytes / given.questions_a_picture + ROW_BYTES) / 1e9
            ),
        }
    return pd.DataFrame(columns)


def big_table(given: Assumptions) -> pd.DataFrame:
    """What a question with a picture of each size asks under SCI7, at the checkpoint's limits."""
    lines = {}
    for size, tokens in picture_costs.table().iloc[:, 0].items():
        asked = replace(given, image_tokens=int(tokens))
        whole = work_table(SCI7, replace(asked, questions=3600, gpus=1)).loc["SCI7"]
        lines[size] = {
            "tokens under SCI₇": f"{whole['tokens a question']:,.0f}",
            "keys and values, GB": _short(question_bytes(asked) / 1e9),
            "seconds of a GPU": _short(whole["hours"]),
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def served_table(found: Mapping) -> pd.DataFrame:
    """Tokens a question that `generate` and vLLM read, a line a method, of what was compared."""
    lines = {}
    for name in next(iter(found["models"].values()))["methods"]:
        outcomes = [model["methods"][name] for model in found["models"].values()]
        lines[name] = {
            head: _short(sum(each[key] for each in outcomes) / sum(e["answers"] for e in outcomes))
            for head, key in (("generate", "tokens_read_by_generate"), ("vLLM", "tokens_read"))
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def _markdown(frame: pd.DataFrame, head: str) -> str:
    """A table in Markdown, numbers to the right."""
    lines = [f"| {head} | {' | '.join(frame)} |", "|---|" + "---:|" * len(frame.columns)]
    lines += [f"| {name} | {' | '.join(map(str, cells))} |" for name, *cells in frame.itertuples()]
    return "\n".join(lines)


def page(given: Assumptions) -> str:
    """The page of the book: inputs, arithmetic, and where such a run breaks first."""
    table, bytes_a_row = work_table(SCI7, given), record_bytes(FROZEN)
    base, method = table.loc["base"], table.loc["SCI7"]
    limits = limits_table(given, bytes_a_row, method["hours"])
    asked = limits["asked"].map(_short)
    rate = limits["asked"]["pictures prepared"] / given.gpus  # of one worker
    rows, test_rows = rows_of("paper")
    job = job_table(given, rows)
    served = json.loads(SERVED.read_text(encoding="utf-8"))
    return TEMPLATE.read_text(encoding="utf-8").format(
        given=given,
        asked=asked,
        rows="\n".join(
            f"| {name} | {asked[name]} {unit} |" for name, unit in limits["unit"].items()
        ),
        lines="\n".join(
            f"| {name} | {_short(base[name])} | {_short(method[name])} |" for name in table
        ),
        served=_markdown(served_table(served), "tokens a question"),
        served_rows=f"{served['answers']:,}",
        job=_markdown(job, "the paper’s rows under SCI₇"),
        job_hours=job["one GPU"]["hours"],
        job_rows=rows,
        test_rows=test_rows,
        weights=_short(given.weights / 1e9),
        token_kilobytes=given.token_bytes / 1e3,
        loading=given.load_bandwidth / 1e9,
        sizes=_markdown(picture_costs.table().map("{:,}".format), "picture"),
        big=_markdown(big_table(given), "picture"),
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

"""Does vLLM give the tokens of `generate`? And what do the rounds cost its steps?

    make integrations    # makes the environment in which vLLM runs, and calls this there

For each pocket model, questions of the six data sets under each method, greedy and sampled, in
float32. The engine has seats for 13 requests, which no method's rounds divide, so that groups of
different steps meet in it. Each engine has a process of its own. An answer that differs is a
near-tie if `generate` itself came as near to another choice. What the logits processor takes of a
step is measured with few and with more questions in a step, in processor time, which no other
process of the machine changes.
"""

import argparse
import json
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # also for the tests' measure of near-ties

import torch  # noqa: E402
import transformers  # noqa: E402
import vllm  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from sci_book.data.datasets import load_dataset  # noqa: E402
from sci_book.data.prompts import build_prompt  # noqa: E402
from sci_book.files import json_text  # noqa: E402
from sci_book.integrations import vllm as served  # noqa: E402
from sci_book.papers.sci.overhead import counted  # noqa: E402
from sci_book.resources import CHECKPOINTS, RESULTS  # noqa: E402
from sci_core import generate, load_model, sci  # noqa: E402
from sci_core.generate import find_method  # noqa: E402
from tests import tiny  # noqa: E402

MODELS = ("pocket-qwen2vl", "pocket-llavanext")
METHODS = ("base", "TIE", "VCD", "M3ID", "SCI3", "SCI5", "SCI7")
SAMPLED = {"temperature": 1.0, "top_k": 20, "top_p": 0.95, "seed": 7}
NEW_TOKENS, SEATS, BUDGET = 8, 13, 2048
RUNS = 20  # each against its own steps
SHARED_SEATS, SHARED_BUDGET = (13, 256), 32_768  # few, and as many as vLLM's own setting has


def as_published(checkpoint: Path, folder: Path) -> Path:
    """A copy whose vision tower is named as in published LLaVA-NeXT, which vLLM 0.32 expects.

    Newer releases of transformers, which saved the pocket one, leave out "vision_model".
    """
    copy = Path(shutil.copytree(checkpoint, folder / checkpoint.name))
    weights = load_file(copy / "model.safetensors")
    if "vision_tower.pre_layrnorm.weight" in weights:
        plain, published = "vision_tower.", "vision_tower.vision_model."
        weights = {name.replace(plain, published): each for name, each in weights.items()}
        save_file(weights, copy / "model.safetensors", {"format": "pt"})
    return copy


def engine(checkpoint: Path, seats: int = SEATS, budget: int = BUDGET) -> Any:
    return served.load_llm(
        str(checkpoint),
        dtype="float32",
        enforce_eager=True,  # nothing is compiled
        max_model_len=1024,
        max_num_seqs=seats,
        max_num_batched_tokens=budget,
        block_size=32,  # a pocket prompt is shorter than the usual block of 128 tokens
        kv_cache_memory_bytes=1 << 28,
    )


def compared(model: Any, llm: Any, asked: tuple, method: str, **sampling: Any) -> dict[str, Any]:
    """How many answers are those of `generate`, and the tokens that each engine read for them.

    Of what vLLM read, prompts that its cache gave are left out; ours counts the padding.
    """
    counts = served.Counts()
    llm.reset_prefix_cache()
    found = served.generate(llm, *asked, method, NEW_TOKENS, counts=counts, **sampling)
    with counted(model) as read:
        ours = generate(model, *asked, method, NEW_TOKENS, return_logits=True, **sampling)
    later = sum(len(answer.rounds) * (len(answer.looked) - 1) for answer in found)
    tokens = {
        "tokens_read": counts.prompt_tokens - counts.cached_tokens + later,
        "tokens_read_by_generate": read["token_rows"],
    }
    equal = [
        (one.tokens, one.end) == (other.tokens, other.end)
        for one, other in zip(found, ours, strict=True)
    ]
    ties = [
        tiny.deciding_gap(model, find_method(method), prompt, answer) <= tiny.NEAR_TIE
        for same, prompt, answer in zip(equal, asked[1], ours, strict=True)
        if not same
    ]
    outcome = {"answers": len(equal), "equal": sum(equal), "near_ties": sum(ties)}
    return {**outcome, **vars(counts), **tokens}


def refused(ask: Callable[[], Any]) -> str:
    """The sentence with which a question is refused, or what was answered instead."""
    try:
        return f"answered: {ask()}"
    except ValueError as error:
        return str(error)


def shares(llm: Any, asked: tuple) -> list[float]:
    """What part of the time of all steps the processor took, for each of some runs under SCI5.

    Of processor time, on one thread.
    """
    spent = {"processor": 0.0, "steps": 0.0}

    def timed(owner: Any, name: str, part: str) -> None:
        plain = getattr(owner, name)

        def clocked(*given: Any) -> Any:
            begin = time.process_time()
            result = plain(*given)
            spent[part] += time.process_time() - begin
            return result

        setattr(owner, name, clocked)

    timed(served.RoundsProcessor, "apply", "processor")
    timed(served.RoundsProcessor, "update_state", "processor")
    timed(llm.llm_engine, "step", "steps")
    parts = []
    for _ in range(RUNS):
        spent.update(processor=0.0, steps=0.0)
        served.generate(llm, *asked, "SCI5", NEW_TOKENS)
        parts.append(spent["processor"] / spent["steps"])
    return parts


def questions(model: Any, count: int) -> tuple[list, list]:
    """Pictures and prompts of so many questions, spread over the pocket data."""
    rows = load_dataset("pocket").rows
    rows = rows[:: len(rows) // count][:count]
    return [row.image() for row in rows], [build_prompt(row, model.family) for row in rows]


def one_model(name: str, count: int) -> dict[str, Any]:
    """What comes out of some questions to one model, method by method, and what is refused."""
    model = load_model(CHECKPOINTS / name, device="cpu")
    with tempfile.TemporaryDirectory() as scratch:
        llm = engine(as_published(CHECKPOINTS / name, Path(scratch)))
        return measured(name, model, llm, questions(model, count))


def one_share(name: str, seats: int) -> dict[str, Any]:
    """What part of a step the processor takes where so many requests have a seat."""
    with tempfile.TemporaryDirectory() as scratch:
        llm = engine(as_published(CHECKPOINTS / name, Path(scratch)), seats, SHARED_BUDGET)
        together = seats // len(find_method("SCI5").rounds)
        asked = questions(served.asker(llm), together)
        served.generate(llm, *asked, "SCI5", NEW_TOKENS)  # the first calls load libraries
        parts = shares(llm, asked)
    ends = [min(parts), max(parts)]
    return {"questions": together, "median": statistics.median(parts), "ends": ends}


def measured(name: str, model: Any, llm: Any, asked: tuple[list, list]) -> dict[str, Any]:
    outcomes = {}
    for method in METHODS:
        outcomes[method] = compared(model, llm, asked, method)
        print(name, method, outcomes[method], flush=True)
    outcomes["SCI5, sampled"] = compared(model, llm, asked, "SCI5", **SAMPLED)
    print(name, "sampled", outcomes["SCI5, sampled"], flush=True)
    (image, *_), (prompt, *_) = asked
    long = "Look at every part of it. " * 50 + prompt
    refusals = [
        refused(lambda: served.generate(llm, [image], [prompt], sci(8, 7), NEW_TOKENS)),
        refused(lambda: served.generate(llm, [image], [long], "SCI5", NEW_TOKENS)),
    ]
    return {"methods": outcomes, "refused": refusals}


def summary(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What was found of each model, its sums, and the versions that answered."""
    every = [outcome for each in found.values() for outcome in each["methods"].values()]
    return {
        **{key: sum(outcome[key] for outcome in every) for key in every[0]},
        "dtype": "float32",
        "max_num_seqs": SEATS,
        "max_num_batched_tokens": BUDGET,
        "models": found,
        "versions": {
            "vllm": vllm.__version__,
            "torch": torch.__version__.partition("+")[0],
            "transformers": transformers.__version__,
            "python": platform.python_version(),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=80, help="questions, spread over all")
    parser.add_argument("--json", type=Path, default=RESULTS / "vllm" / "parity.json")
    parser.add_argument("--model", choices=MODELS, help="this one alone, in this process")
    parser.add_argument("--share-of", type=int, help="and of it the processor's share, by seats")
    given = parser.parse_args()
    if given.model:
        seats = given.share_of
        own = one_share(given.model, seats) if seats else one_model(given.model, given.rows)
        given.json.write_text(json_text(own), encoding="utf-8")
        return
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "found")

        def apart(name: str, *more: str) -> dict[str, Any]:
            own = ["--model", name, "--json", str(file), *more]
            subprocess.run([sys.executable, "-W", "ignore", __file__, *own], check=True)
            return json.loads(file.read_text(encoding="utf-8"))

        for name in MODELS:
            found[name] = apart(name, "--rows", str(given.rows))
            found[name]["processor_shares"] = [
                apart(name, "--share-of", str(seats)) for seats in SHARED_SEATS
            ]
            print(name, "processor", found[name]["processor_shares"], flush=True)
    result = summary(found)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json_text(result, indent=1) + "\n", encoding="utf-8")
    print({key: value for key, value in result.items() if key != "models"})
    if result["equal"] + result["near_ties"] < result["answers"] or result["incomplete"]:
        sys.exit("some answers are not those of sci_core.generate")


if __name__ == "__main__":
    main()

"""The whole path, step by step: data, records, notebooks, book; no step twice for the same inputs.

A step leaves a stamp under `runs/stamps`: the checksum of all it read and all it made. A step whose
stamp still fits is not done again; a changed source, checkpoint or output makes it fit no more.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from sci_core.evaluation.datasets import Dataset, load_dataset
from sci_core.evaluation.records import Records, read_records, write_records
from sci_core.evaluation.runner import STANDARD_METHODS, evaluate
from sci_core.logits import tc_logits
from sci_core.methods import BASE, Method, scores
from sci_core.models import load_model
from sci_core.report.notebooks import execute, parameter_names, read_source
from sci_core.report.stamp import ROOT, checksum

RUNS = ROOT / "runs"
STAMPS = RUNS / "stamps"
NOTEBOOKS = ROOT / "notebooks"
POCKET_DATA = ROOT / "data" / "pocket"
FROZEN_RECORDS = ROOT / "data_manifests" / "records"
CHECKPOINTS = ROOT / "checkpoints"
PACKAGE = ROOT / "sci_core"

TENTH = 10
NEAR_TIE = 1e-3


class ReproductionError(ValueError):
    """What was computed is not what was recorded, or a part that is needed is missing."""


# --- steps ------------------------------------------------------------------------------------


def step(name: str, reads: Sequence[Path], makes: Sequence[Path], work: Callable[[], None]) -> None:
    """Do `work` unless its stamp says that it was done with just these inputs and outputs."""
    stamp = STAMPS / name

    def state() -> str:
        return checksum(path for path in (*reads, *makes) if path.exists())

    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state():
        print(f"{name}: done before", flush=True)
        return
    print(f"{name} …", flush=True)
    work()
    STAMPS.mkdir(parents=True, exist_ok=True)
    partial = stamp.with_name(f".{name}.partial")
    partial.write_text(state(), encoding="utf-8")
    os.replace(partial, stamp)


def reproduce_book(full: bool = False) -> Path:
    """Everything the committed book stands on, then the book; the path of its first page.

    Args:
        full: recompute every record, not a hash-fixed tenth.

    Raises:
        ReproductionError: no checkpoint, no frozen records, or records that differ from them.
    """
    sources = [PACKAGE, ROOT / "data_manifests", ROOT / "requirements.lock"]
    step("pocket data", [PACKAGE / "pocket"], [POCKET_DATA], make_pocket_data)
    share = "all records" if full else "a tenth of the records"
    for checkpoint in pocket_checkpoints():
        out = RUNS / "pocket" / checkpoint.name / ("full" if full else "tenth")
        step(
            f"{checkpoint.name}, {share}",
            [*sources, checkpoint, POCKET_DATA],
            [out],
            lambda checkpoint=checkpoint, out=out: check_records(checkpoint, out, full),
        )
    for source in sorted(NOTEBOOKS.glob("*.py")):
        target = source.with_suffix(".ipynb")
        step(
            source.stem,
            [*sources, CHECKPOINTS, source],
            [target],
            lambda source=source, target=target: _run(source, target),
        )
    return build_book(ROOT)


def reproduce_elsewhere(model: str | None, data: str | None, limit: int | None) -> Path:
    """The same for another model or data set, under `runs/<name>/`; its book's first page.

    Args:
        model: a checkpoint folder or hub id; both pocket models if None.
        data: a data set's name; the pocket twins if None.
        limit: rows, whole question groups; all if None.
    """
    models = [model] if model else [str(path) for path in pocket_checkpoints()]
    data = data or "pocket"
    if data.startswith("pocket"):
        step("pocket data", [PACKAGE / "pocket"], [POCKET_DATA], make_pocket_data)
    names = [model_name(each) for each in models]
    parts = [*names, data, f"{limit}rows" if limit else "all"]
    folder = RUNS / re.sub(r"[^\w.-]+", "-", "-".join(parts))
    dataset = load_dataset(data, limit=limit)
    records = folder / "records"
    for each, name in zip(models, names, strict=True):
        made = evaluate(load_model(each), dataset, STANDARD_METHODS, folder / "shards" / name)
        write_records(records / f"{name}.parquet", made)
    offered = {
        "models": names,
        "model": str(Path(models[0]).resolve()) if Path(models[0]).is_dir() else models[0],
        "data": data,
        "records": str(records),
    }
    for source in sorted(NOTEBOOKS.glob("*.py")):
        known = parameter_names(read_source(source))
        parameters = {key: value for key, value in offered.items() if key in known}
        print(f"{source.stem} …", flush=True)
        execute(
            source,
            folder / "notebooks" / f"{source.stem}.ipynb",
            cwd=NOTEBOOKS,
            parameters=parameters,
        )
    for shared in ("book", "sci_core", "_config.yml", "_toc.yml"):
        link = folder / shared
        if not link.is_symlink():
            link.symlink_to(ROOT / shared)
    return build_book(folder)


def build_book(source: Path) -> Path:
    """Render the book of `source`, a warning being an error; the path of its first page."""
    command = [sys.executable, "-m", "jupyter_book.cli.main", "build", str(source)]
    command += ["-W", "--keep-going", "--quiet"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if done.returncode:
        raise ReproductionError(f"the book does not build:\n{done.stdout}{done.stderr}")
    return source / "_build" / "html" / "index.html"


def _run(source: Path, target: Path) -> None:
    execute(source, target, cwd=NOTEBOOKS)


# --- pocket data and models -------------------------------------------------------------------


def make_pocket_data() -> None:
    """Draw those of the six twins that are missing, and check all by their manifests."""
    from sci_core.pocket import twins

    twins.make(POCKET_DATA)
    load_dataset("pocket")


def pocket_checkpoints() -> list[Path]:
    """The folders of the pocket models.

    Raises:
        ReproductionError: there are none.
    """
    found = sorted(path.parent for path in CHECKPOINTS.glob("pocket-*/config.json"))
    if not found:
        raise ReproductionError(
            f"{CHECKPOINTS} holds no pocket model; check out the repository's checkpoints, or "
            "train one with `sci train-pocket`"
        )
    return found


def model_name(name_or_path: str) -> str:
    """A model's name in records and file names: the last part of its path or hub id."""
    return Path(name_or_path).name


# --- records ----------------------------------------------------------------------------------


def tenth(dataset: Dataset) -> Dataset:
    """The rows whose picture's hash is divisible by ten: the same ones everywhere."""
    rows = tuple(row for row in dataset if int(row.image_hash, 16) % TENTH == 0)
    return replace(dataset, rows=rows)


def check_records(checkpoint: Path, out: Path, full: bool) -> None:
    """Evaluate a pocket model anew and compare with its frozen records.

    Raises:
        ReproductionError: there are no frozen records, or an answer differs that is no near-tie.
    """
    frozen_file = FROZEN_RECORDS / f"{checkpoint.name}.parquet"
    if not frozen_file.is_file():
        raise ReproductionError(
            f"{frozen_file} does not exist; freeze the records of a full run there first "
            f"(`sci evaluate --model checkpoints/{checkpoint.name} --data pocket`)"
        )
    dataset = load_dataset("pocket")
    shutil.rmtree(out, ignore_errors=True)  # records of other sources, or an unfinished run
    made = evaluate(
        load_model(checkpoint), dataset if full else tenth(dataset), STANDARD_METHODS, out
    )
    found = compare_records(read_records(frozen_file), made)
    print(f"  {found}", flush=True)
    if found.unexplained:
        raise ReproductionError(
            f"{checkpoint.name}: {len(found.unexplained)} answers differ from the frozen records "
            f"beyond near-ties, first {found.unexplained[0]}; the model, the data or the code "
            "changed. If that was meant, freeze new records"
        )


@dataclass(frozen=True)
class Comparison:
    """How fresh records stand to frozen ones.

    answers      answers compared: rows times policies
    near_ties    answers that differ where the deciding gap is under `NEAR_TIE`
    unexplained  the other answers that differ, as (data set, index, policy)
    """

    answers: int
    near_ties: int
    unexplained: tuple[tuple[str, int, str], ...]

    def __str__(self) -> str:
        return (
            f"{self.answers:,} answers compared: {self.near_ties} differ by a near-tie (deciding "
            f"gap under {NEAR_TIE:g}), {len(self.unexplained)} otherwise"
        )


def compare_records(frozen: Records, fresh: Records) -> Comparison:
    """Compare every answer of `fresh` with the frozen one of the same row and policy.

    Another processor may turn a near-tie. A difference is explained if, at the first token that
    differs, the recorded logits decide by less than `NEAR_TIE`; any other is reported.

    Raises:
        ReproductionError: a row or a policy of `fresh` is not among the frozen ones.
    """
    missing = [policy for policy in fresh.policies if policy not in frozen.policies]
    if missing:
        raise ReproductionError(f"the frozen records hold no answers of {', '.join(missing)}")
    places = {key: place for place, key in enumerate(_keys(frozen))}
    unknown = [key for key in _keys(fresh) if key not in places]
    if unknown:
        raise ReproductionError(f"the frozen records hold no row {unknown[0]}")
    frozen = frozen.take([places[key] for key in _keys(fresh)])
    nodes = _NodeFinder(frozen)
    near_ties, unexplained = 0, []
    for policy in fresh.policies:
        before = frozen.table[f"tokens:{policy}"].to_pylist()
        after = fresh.table[f"tokens:{policy}"].to_pylist()
        for row, (old, new) in enumerate(zip(before, after, strict=True)):
            if old == new:
                continue
            gap = nodes.deciding_gap(row, policy, old or [], new or [])
            if gap is not None and gap < NEAR_TIE:
                near_ties += 1
            else:
                dataset, index = _keys(fresh)[row]
                unexplained.append((dataset, index, policy))
    return Comparison(len(fresh.table) * len(fresh.policies), near_ties, tuple(unexplained))


def _keys(records: Records) -> list[tuple[str, int]]:
    table = records.table
    return list(zip(table["dataset"].to_pylist(), table["index"].to_pylist(), strict=True))


class _NodeFinder:
    """The logits that decided between two answers, found in the recorded nodes."""

    def __init__(self, records: Records):
        self.records = records
        self.methods = {each["name"]: each for each in records.stamp["methods"]}
        self.eos = min(records.stamp["eos"])

    def deciding_gap(self, row: int, policy: str, old: list[int], new: list[int]) -> float | None:
        """How narrowly the first differing token won; None if that step was not recorded."""
        at = next(
            (k for k, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]),
            min(len(old), len(new)),
        )
        rivals = [tokens[at] if at < len(tokens) else self.eos for tokens in (old, new)]
        nodes = self.records.nodes
        found = [
            node
            for node in (nodes.row == row).nonzero()[0]
            if list(nodes.prefix[node]) == old[:at] and set(rivals) <= set(nodes.tokens[node])
        ]
        if not found:
            return None
        kept = nodes.tokens[found[0]]
        places = [int((kept == rival).argmax()) for rival in rivals]
        method = self._method(policy)
        rounds = (policy,) if method is BASE else method.rounds
        rows = [self.records.rounds.index(name) for name in rounds]
        Z = torch.from_numpy(nodes.logits[rows][:, found[0]]).double()[:, None]
        tokens = self.records.table["prompt_tokens"][row].as_py()
        return narrowness(method, Z, torch.tensor([tokens]), at, places)

    def _method(self, policy: str) -> Method:
        if policy not in self.methods:
            return BASE
        fields = self.methods[policy]
        return Method(
            **{key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()}
        )


def narrowness(
    method: Method,
    Z: torch.Tensor,
    prompt_tokens: torch.Tensor,
    at: int,
    rivals: Sequence[int],
) -> float:
    """How far the logits `Z` are from a tie between two rival columns under `method`.

    The difference of their scores; or, where the constraint drops one of them, its distance to
    the cutoff.
    """
    score = scores(method, Z, step=at, prompt_tokens=prompt_tokens)[0, list(rivals)]
    if torch.isfinite(score).all():
        return float((score[0] - score[1]).abs())
    plausibility = tc_logits(Z, len(method.textual))[0] / method.tau1
    cutoff = plausibility.max() + torch.tensor(method.beta).log()
    return float((plausibility[list(rivals)] - cutoff).abs()[~torch.isfinite(score)].max())

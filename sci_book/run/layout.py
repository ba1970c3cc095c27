"""A run before it runs: which rows share a batch and a shard, and the stamp of its records.

Samples are grouped by picture; pictures are ordered by hash (for a larger model by size, so that
black is read about once a size) and packed into blocks of whole batches, and prompts of like length
share a batch. So a batch, and its records to the byte, is the same whatever the number or order of
shards and workers.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from sci_book.data.answers.rules import FREE, rules_stamp
from sci_book.data.catalogue import model_name
from sci_book.data.datasets import Dataset, DatasetError, Row, RowError
from sci_book.data.pictures import size_in_header
from sci_book.data.prompts import build_prompt, templates_digest
from sci_book.data.rewordings import by_prefix, check_rounds, prefix_sentence
from sci_book.files import json_text
from sci_book.results.drbench import VALIDATION_EVERY, in_hashed_share
from sci_book.results.records import SCHEMA_VERSION, new_tokens
from sci_book.run.engines import RunEngine
from sci_book.run.provenance import precision, revision
from sci_book.run.trajectories import TRANSFORMERS, Readings
from sci_core.counterfactuals import FRONTS, REWRITES, is_visual
from sci_core.engine.batching import FittingBatches, by_length, by_size
from sci_core.engine.questions import Noise
from sci_core.families.models import VisionLanguageModel
from sci_core.families.named import check_choice
from sci_core.families.prefix_cache import PrefixCache
from sci_core.images import PICTURE_RULES
from sci_core.methods import VISUAL_ROUNDS, Method
from sci_core.methods import method as named_method

BATCHES_A_BLOCK = 8
# A run of a few blocks would leave workers idle at its end, so it has as many shards as this, or as
# it has batches.
FEWEST_SHARDS = 16
# Parameters. A model below it gains nothing from several threads, and the store holds its black
# pictures of all sizes in any order; a larger one fills the processor, and the store with the black
# pictures of a few sizes.
SMALL_MODEL = 100_000_000
# A record keeps each round's best four tokens, as many as a question has options. On an early
# pocket model eight proved hardly more winners (97.8 against 97.2 % for SCI5) and took 1.7 times
# the bytes.
TOP = 4
# New tokens at most: a letter, a word or a few; and a caption, which is a free answer.
NEW_TOKENS = 8
NEW_TOKENS_FREE = 64

Kept = Literal["logits", "answers"]
"""What a record holds: the logits that sweeps need, beside the answers; or the answers alone."""


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
    engine: RunEngine = TRANSFORMERS
    fitting: FittingBatches = field(default_factory=FittingBatches)
    readings: Readings = field(default_factory=Readings)

    @property
    def policies(self) -> list[str]:
        return [*self.stamp["rounds"], *(method["name"] for method in self.stamp["methods"])]

    @property
    def noise(self) -> Noise:
        return noise_of(self.stamp)

    @property
    def record(self) -> Kept:
        return self.stamp.get("record", "logits")

    def new_tokens(self, row: Row) -> int:
        """The most tokens that an answer to this row may take."""
        return new_tokens(self.stamp, row.question_type)

    def path(self, out: Path, shard: int) -> Path:
        return out / f"shard-{shard:05d}-of-{len(self.shards):05d}.parquet"


def noise_of(stamp: Mapping[str, Any]) -> Noise:
    """How noise was added in a run of this stamp.

    A run that says nothing of its dummies was of pictures that no family resized, or of a time
    before dummies were made of resized pictures.
    """
    noise = stamp.get("noise", "clamp")
    return "unresized" if noise == "wrap" and "dummies" not in stamp else noise


def make_plan(
    model: VisionLanguageModel,
    dataset: Dataset,
    methods: Sequence[Method | str],
    *,
    batch_size: int = 64,
    max_new_tokens: int | None = None,
    top: int = TOP,
    noise: Noise = "wrap",
    record: Kept = "logits",
    rounds: Sequence[str] = (),
    shards: int | None = None,
    parts: int = 1,
    engine: RunEngine = TRANSFORMERS,
) -> Plan:
    """Lay out the shards and the stamp of a run, as `runner.evaluate`; nothing is decoded.

    Args:
        parts: how many commands share the run, each of which is given a shard if there are enough.
        engine: what decodes; named in the stamp where it is not transformers.
    """
    check_choice("noise", noise, get_args(Noise))
    check_choice("record", record, get_args(Kept))
    if max_new_tokens is not None and max_new_tokens < 1:
        raise ValueError(f"max_new_tokens={max_new_tokens}; expected 1 or more.")
    chosen = [named_method(method) if isinstance(method, str) else method for method in methods]
    # The base method is the original round under another name.
    chosen = [method for method in chosen if method.rule != "base"]
    names = [method.name for method in chosen]
    if len(set(names)) != len(names):
        raise ValueError(
            f"Methods must have distinct names, got {', '.join(names)}; rename a variant with "
            "dataclasses.replace(method, name=…)."
        )
    model.generation.warn_of_others(model.name)
    types = {row.question_type for row in dataset}
    free = not max_new_tokens and bool(types & {*FREE})
    sizes = _sizes(dataset) if model.parameters > SMALL_MODEL else {}
    all_rounds = _all_rounds(rounds, chosen)
    resized = noise in ("wrap", "clamp") and _resizes(model, dataset)
    prefixed = _reworded_by_prefix(dataset, model.family, all_rounds)
    stamp = {
        "schema": SCHEMA_VERSION,
        "model": model_name(model.name) if os.path.isdir(model.name) else model.name,
        "revision": revision(model),
        "family": model.family,
        "dtype": str(model.dtype).removeprefix("torch."),
        **precision(model),
        "eos": sorted(model.eos_token_ids),
        "rounds": all_rounds,
        "methods": json.loads(json_text([asdict(method) for method in chosen])),  # no tuples
        "prompts": templates_digest(),
        "datasets": dict(dataset.checksums),
        "rows": dataset.digest,
        "max_new_tokens": max_new_tokens or NEW_TOKENS,
        **({"max_new_tokens_free": NEW_TOKENS_FREE} if free else {}),
        "temperature": 0,
        "top": top,
        "batch_size": batch_size,
        # What was the only way before there was a choice goes unsaid; so does a noise that is cut.
        **({} if noise == "clamp" else {"noise": "wrap" if noise == "unresized" else noise}),
        **({} if record == "logits" else {"record": record}),
        **({"engine": dict(engine.said)} if engine.said else {}),
        **({} if PICTURE_RULES == 1 else {"pictures": PICTURE_RULES}),
        **({"settings": settings} if (settings := model.generation.applied) else {}),
        **({} if len(set(sizes.values())) < 2 else {"order": "size"}),
        **({"reworded by prefix": prefixed} if prefixed else {}),
        **({"dummies": "of resized pictures"} if resized else {}),
        **({"objects": dict(dataset.objects)} if dataset.objects else {}),
        **rules_stamp(types),
    }
    blocks = _blocks(dataset, model, batch_size, sizes)
    single = [[batch] for block in blocks for batch in block]
    count = min(shards or max(len(blocks), FEWEST_SHARDS, parts), len(single))
    units = blocks if count <= len(blocks) else single
    ends = [k * len(units) // count for k in range(count + 1)]
    dealt = [units[first:end] for first, end in pairwise(ends)]
    return Plan(
        model,
        tuple(chosen),
        tuple(tuple(batch for block in part for batch in block) for part in dealt),
        stamp,
        engine=engine,
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


def _all_rounds(rounds: Sequence[str], methods: Sequence[Method]) -> list[str]:
    """The union of all rounds, textual before visual.

    Those asked for keep their order; those of the methods follow in the order of the paper's, so
    that the order of the methods does not matter.
    """
    usual = {name: place for place, name in enumerate((*REWRITES, *FRONTS, *VISUAL_ROUNDS))}
    needed = {name for method in methods for name in method.rounds}
    ordered = sorted(needed, key=lambda name: (usual.get(name, len(usual)), name))
    unique = [name for name in dict.fromkeys((*rounds, *ordered)) if name != "original"]
    check_rounds(unique)
    return ["original", *sorted(unique, key=is_visual)]


def _resizes(model: VisionLanguageModel, dataset: Dataset) -> bool:
    """Whether the model reads some picture of a data set at another size, after one resize."""
    if not model.resizes_once:
        return False
    for row in {row.image_hash: row for row in dataset}.values():
        with suppress(ValueError):  # of a row that cannot be read, which is said when it is
            size = size_in_header(row.picture_bytes())
            if all(size) and size != model.size_as_read(model.processor.image_processor, size):
                return True
    return False


def _reworded_by_prefix(dataset: Dataset, family: str, rounds: Sequence[str]) -> int:
    """Count the rows that the rule `prefix` rewords, with a UserWarning if there are any."""
    if all(name == "original" or is_visual(name) for name in rounds):
        return 0
    count = sum(by_prefix(row, build_prompt(row, family)) for row in dataset)
    if count:
        warnings.warn(prefix_sentence(count, len(dataset)), UserWarning, stacklevel=4)
    return count


def _sizes(dataset: Dataset) -> dict[str, tuple[int, int]]:
    """By picture, what to order it by."""
    sizes: dict[str, tuple[int, int]] = {}
    for row in dataset:
        if row.image_hash not in sizes:
            try:
                content = row.picture_bytes()
            except RowError:  # said when the row is read
                content = b""
            sizes[row.image_hash] = by_size(*size_in_header(content))
    return sizes


def _blocks(
    dataset: Dataset,
    model: VisionLanguageModel,
    batch_size: int,
    sizes: Mapping[str, tuple[int, int]],
) -> list[list[tuple[Row, ...]]]:
    lengths = {}
    for first in range(0, len(dataset), 1000):  # what a tokenizer returns is large
        rows = dataset.rows[first : first + 1000]
        prompts = [build_prompt(row, model.family) for row in rows]
        ids = model.tokenizer(prompts, add_special_tokens=False)["input_ids"]
        lengths |= {
            (row.dataset, row.index): len(tokens) for row, tokens in zip(rows, ids, strict=True)
        }
    by_image: dict[str, list[Row]] = {}
    for row in dataset:
        by_image.setdefault(row.image_hash, []).append(row)
    blocks: list[list[Row]] = []
    for name in sorted(by_image, key=lambda name: (sizes.get(name, ()), name)):
        rows = sorted(by_image[name], key=lambda row: (row.dataset, row.position))
        if not blocks or len(blocks[-1]) + len(rows) > batch_size * BATCHES_A_BLOCK:
            blocks.append([])
        blocks[-1] += rows
    return [
        [
            tuple(rows[place] for place in places)
            for places in by_length(
                [row.image_hash for row in rows],
                [(*sizes.get(row.image_hash, ()), lengths[row.dataset, row.index]) for row in rows],
                batch_size,
            )
        ]
        for rows in blocks
    ]

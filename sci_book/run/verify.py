"""Re-evaluate a fixed part of frozen records and compare: do they still come out of this code?

Another processor may turn a near-tie. A differing answer is tolerated only where the two tokens it
turned on lie within `NEAR_TIE` of each other, or one of them that near the constraint's cutoff; it
is counted, and returned to be shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import torch

from sci_book.data.answers.rules import parse
from sci_book.data.datasets import Dataset, Row
from sci_book.results.records import Records
from sci_book.results.replay import as_method
from sci_book.results.stamps import check_stamp
from sci_book.run.layout import Plan, hashed_part, make_plan, noise_of
from sci_book.run.presets import check_prompts
from sci_book.run.shards import evaluate_rows, pose
from sci_book.run.trajectories import rules_of
from sci_core.engine.engine import start
from sci_core.families.models import VisionLanguageModel
from sci_core.families.settings import adjusted, forbidden
from sci_core.methods import Method
from sci_core.scoring import deciding_logits, scores

NEAR_TIE = 1e-3


@dataclass(frozen=True)
class Difference:
    """One answer that came out otherwise, and the gap in logits it turned on."""

    dataset: str
    index: int
    policy: str
    frozen: tuple[int, ...]
    fresh: tuple[int, ...]
    gap: float

    @property
    def tolerated(self) -> bool:
        return self.gap < NEAR_TIE


@dataclass(frozen=True)
class Verification:
    """What a re-evaluation found.

    rows, answers          how many were compared
    differences            answers that differ, tolerated or not
    errors                 samples whose error class differs, or what they are left out of
    readings               frozen texts that the answer rules of today read otherwise
    largest_logit_change   over the tokens that both first steps kept, in logits; 0 for records
                           of answers alone
    """

    rows: int
    answers: int
    differences: tuple[Difference, ...]
    errors: tuple[str, ...]
    readings: tuple[str, ...]
    largest_logit_change: float

    @property
    def passed(self) -> bool:
        same = not self.errors and not self.readings
        return same and all(difference.tolerated for difference in self.differences)

    def summary(self) -> str:
        """One sentence for people."""
        near = sum(difference.tolerated for difference in self.differences)
        return (
            f"{self.rows:,} rows re-evaluated, {self.answers:,} answers compared: {near} differ at "
            f"a near-tie (gap under {NEAR_TIE:g}), {len(self.differences) - near} otherwise, "
            f"{len(self.errors)} errors and {len(self.readings)} readings differ; largest change "
            f"of a logit {self.largest_logit_change:.1e}."
        )


def verify_subset(
    model: VisionLanguageModel, frozen: Records, dataset: Dataset, *, share: int = 10
) -> Verification:
    """Decode a 1 / `share` of the question groups anew, always the same, and compare.

    Args:
        frozen: the records to check; their methods, batch size and decoding are used.
        dataset: all the rows they were made from: the full data set, or its `hashed_part`.

    Raises:
        RecordsError: if the records are of another model, data set, prompts or decoding.
    """
    methods = [as_method(fields) for fields in frozen.stamp["methods"]]
    plan = make_plan(
        model,
        dataset,
        methods,
        batch_size=frozen.stamp["batch_size"],
        max_new_tokens=None
        if "max_new_tokens_free" in frozen.stamp
        else frozen.stamp["max_new_tokens"],
        top=frozen.stamp["top"],
        noise=noise_of(frozen.stamp),
        record=frozen.stamp.get("record", "logits"),
        rounds=frozen.stamp["rounds"],
    )
    # Frozen records keep the version of the rules that they were read with. A later version is
    # right for them while it reads their texts the same, and that is compared.
    expected = {key: value for key, value in plan.stamp.items() if key != "rules"}
    check_stamp(frozen.stamp, expected, "The frozen file")
    part = hashed_part(dataset, share, salt="verify ")
    check_prompts(frozen, part)
    shards = make_plan(model, part, methods, batch_size=frozen.stamp["batch_size"]).shards
    batches = list(chain.from_iterable(shards))
    fresh = [record for batch in batches for record in evaluate_rows(plan, batch).records]
    return _compare(plan, frozen, list(chain.from_iterable(batches)), fresh)


def _compare(
    plan: Plan, frozen: Records, rows: Sequence[Row], fresh: Sequence[dict]
) -> Verification:
    keys = zip(frozen.table["dataset"].to_pylist(), frozen.table["index"].to_pylist(), strict=True)
    places = {key: place for place, key in enumerate(keys)}
    order = [places[row.dataset, row.index] for row in rows]
    old_records = frozen.table.take(order).to_pylist()
    differences, errors, readings, compared, change = [], [], [], 0, 0.0
    for row, new, old in zip(rows, fresh, old_records, strict=True):
        if new["error"] != old["error"]:
            errors.append(f"{row.dataset} {row.index}: {old['error']} became {new['error']}")
        if new["error"] or old["error"]:
            continue
        if old["nodes"] and new["nodes"]:
            logits = old["nodes"][0], new["nodes"][0]
            change = max(change, _logit_change(*logits, len(frozen.rounds)))
        for policy in plan.policies:
            answered = [record.get(f"tokens:{policy}") is not None for record in (old, new)]
            if answered != [True, True]:
                if any(answered):
                    changed = "is left out" if answered[0] else "is no longer left out"
                    errors.append(f"{row.dataset} {row.index} {changed} of {policy}")
                continue
            compared += 1
            text, was = old[f"text:{policy}"], old[f"parsed:{policy}"]
            now = parse(row.question_type, text, row.options)
            if now != was:
                names = f"{now or 'unknown'}, was {was or 'unknown'}"
                readings.append(f"{row.dataset} {row.index}: {text!r} is read as {names}")
            before = tuple(old[f"tokens:{policy}"])
            after = tuple(int(token) for token in new[f"tokens:{policy}"])
            if before != after:
                gap = deciding_gap(plan, row, policy, before, after)
                differences.append(Difference(row.dataset, row.index, policy, before, after, gap))
    lists = tuple(differences), tuple(errors), tuple(readings)
    return Verification(len(rows), compared, *lists, change)


def deciding_gap(
    plan: Plan, row: Row, policy: str, first: Sequence[int], second: Sequence[int]
) -> float:
    """How near, in logits, a policy is to choosing `second` where it chose `first`.

    At the first step where the two differ: the distance of their scores, or, if smaller, the
    distance of either from the constraint's cutoff.
    """
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    posed = pose(row, plan)
    state = start(plan.model, [posed.question], posed.rounds, noise=plan.noise)
    for token in first[:shared]:
        state.advance(torch.tensor([token]))
    rounds = posed.rounds
    methods = {method.name: method for method in plan.methods}
    to_cutoff = torch.full((1, 1), math.inf)
    place = 0 if policy in methods else rounds.index(policy)
    own = rules_of(plan.model, state, plan.new_tokens(row))[0][place : place + 1]
    written = [first[:shared]]
    barred = forbidden(own, written, state.logits[0])
    if policy not in methods:
        final = state.logits[place]
    else:
        method = methods[policy]
        Z = state.logits[[rounds.index(name) for name in method.rounds]]
        free = replace(method, beta=0.0, raw_margin=None)
        clock = state.prompt_tokens
        final = scores(free, Z, step=shared, prompt_tokens=clock, forbidden=barred)
        if method.edits(shared):
            to_cutoff = _distance_to_cutoff(method, Z)
    final = adjusted(final, own, written)
    ends = sorted(plan.model.eos_token_ids)
    best_end = ends[int(final[0, ends].argmax())]
    a, b = (tokens[shared] if shared < len(tokens) else best_end for tokens in (first, second))
    apart = abs(float(final[0, a] - final[0, b]))
    to_cutoff = to_cutoff.expand_as(final)
    return min(apart, float(to_cutoff[0, a]), float(to_cutoff[0, b]))


def _distance_to_cutoff(method: Method, Z: torch.Tensor) -> torch.Tensor:
    Z = Z.log_softmax(dim=-1) if method.log_probs else Z
    deciding = deciding_logits(method, Z)
    return (deciding - (deciding.amax(dim=-1, keepdim=True) - method.margin)).abs()


def _logit_change(old: dict, new: dict, rounds: int) -> float:
    """The largest change of a logit on the tokens that both nodes keep."""
    before, after = (
        np.asarray(node["logits"]).reshape(rounds, len(node["tokens"])) for node in (old, new)
    )
    _, old_slots, new_slots = np.intersect1d(old["tokens"], new["tokens"], return_indices=True)
    return float(np.abs(before[:, old_slots] - after[:, new_slots]).max())

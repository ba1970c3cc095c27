"""Evaluate once, analyse many times: any method over recorded rounds, without a forward pass.

The same `methods.scores` that decodes is applied to the recorded logits. A recorded node keeps only
some tokens, so one more column stands for all the others: it has, in every round, a logit at least
as favourable as any of them. If that column loses, the winner is provably among the kept tokens.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import torch

from sci_core.evaluation import answers
from sci_core.evaluation.records import Records, RecordsError
from sci_core.methods import Method, scores
from sci_core.questions import is_visual

ROUNDING = 1e-4  # a bound this close to the winner proves nothing


def recompute(records: Records, method: Method) -> pd.DataFrame:
    """What `method` would have answered to every sample, aligned with `records.frame`.

    Returns a frame with the columns

    token    first token chosen; -1 for a sample with an error
    answer   parsed answer, None where unknown
    proven   whether every token chosen is provably the method's winner
    known    whether the answer follows from the recorded tokens. Multiple-choice and yes/no
             samples record the first step: their answer is that of the recorded trajectories that
             open with the token. Where none does, the answer is read off the token alone and
             `known` is False. Short answers are followed node by node; where the path is not one
             that was recorded to its end, the answer is None and `known` is False.

    Raises
    ------
    RecordsError : if the method needs a round that was not recorded.
    """
    tokens, proven = choose_recorded(records, method)
    nodes = records.nodes
    first = np.full(len(records.table), -1, dtype=np.int64)
    first_proven = np.zeros(len(first), dtype=bool)
    root = np.array([not prefix for prefix in nodes.prefix], dtype=bool)
    first[nodes.row[root]] = tokens[root]
    first_proven[nodes.row[root]] = proven[root]

    answer, known = _answers_by_first_token(records, first)
    _follow_short_answers(records, tokens, proven, answer, known, first_proven)
    return pd.DataFrame(
        {
            "token": first,
            "answer": pd.Series(answer, dtype=object),  # text columns turn None into NaN
            "proven": first_proven,
            "known": known,
        }
    )


def choose_recorded(records: Records, method: Method) -> tuple[np.ndarray, np.ndarray]:
    """The token `method` chooses at every recorded node, and whether that is proven."""
    missing = [name for name in method.rounds if name not in records.rounds]
    if missing:
        raise RecordsError(
            f"{method.name} needs the round(s) {', '.join(missing)}; these records hold "
            f"{', '.join(records.rounds)}. Evaluate again with a method that uses them."
        )
    nodes = records.nodes
    places = [records.rounds.index(name) for name in method.rounds]
    others = nodes.outside[places].copy()
    visual = [is_visual(name) for name in method.rounds]
    # For a visual round `outside` bounds original minus visual; with the original at its own bound
    # this logit gives exactly that difference.
    others[visual] = nodes.outside[0] - others[visual]
    Z = np.concatenate([nodes.logits[places], others[:, :, None]], axis=2)
    if method.log_probs:
        Z = Z - nodes.log_norm[places][:, :, None]
        method = replace(method, log_probs=False)

    depths = np.array([len(prefix) for prefix in nodes.prefix], dtype=np.int64)
    clocks = records.frame["prompt_tokens"].to_numpy()
    tokens = np.empty(len(depths), dtype=np.int64)
    proven = np.empty(len(depths), dtype=bool)
    for depth in np.unique(depths):
        here = depths == depth
        final = scores(
            method,
            torch.from_numpy(np.ascontiguousarray(Z[:, here])),
            step=int(depth),
            prompt_tokens=torch.from_numpy(clocks[nodes.row[here]].astype(np.int64)),
        ).numpy()
        winner = final[:, :-1].argmax(axis=1)  # the first maximum: the lowest id, as in decoding
        best = final[np.arange(len(final)), winner]
        tokens[here] = nodes.tokens[here, winner]
        proven[here] = final[:, -1] < best - ROUNDING
    return tokens, proven


def _answers_by_first_token(records: Records, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    answer = np.full(len(first), None, dtype=object)
    known = np.zeros(len(first), dtype=bool)
    agreed = np.ones(len(first), dtype=bool)
    for policy in records.policies:
        opening = _first_tokens(records, policy)
        parsed = records.parsed(policy)
        matches = (opening == first) & (first >= 0)
        agreed &= ~(matches & known & (parsed != answer))
        answer = np.where(matches & ~known, parsed, answer)
        known |= matches
    known &= agreed
    ended = np.isin(first, records.stamp["eos"])
    answer, known = np.where(ended, None, answer), known | ended
    frame = records.frame
    for place in np.flatnonzero(~known & (first >= 0)):
        options = dict.fromkeys(frame["options"].iat[place], "")
        piece = records.pieces[int(first[place])]
        answer[place] = answers.parse(frame["question_type"].iat[place], piece, options)
    return answer, known


def _first_tokens(records: Records, policy: str) -> np.ndarray:
    """First token of each recorded answer; -2 where the answer is empty or missing."""
    column = records.table[f"tokens:{policy}"].combine_chunks()
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy()
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    first = np.full(len(lengths), -2, dtype=np.int64)
    some = lengths > 0
    first[some] = flat[starts[some]]
    return first


def _follow_short_answers(
    records: Records,
    tokens: np.ndarray,
    proven: np.ndarray,
    answer: np.ndarray,
    known: np.ndarray,
    first_proven: np.ndarray,
) -> None:
    """Replace the answers of short-answer samples by those read along the recorded nodes."""
    nodes, frame = records.nodes, records.frame
    short = (frame["question_type"] == "short").to_numpy() & records.ok
    places: dict[int, dict[tuple[int, ...], int]] = {row: {} for row in np.flatnonzero(short)}
    for node, row in enumerate(nodes.row):
        if short[row]:
            places[row][nodes.prefix[node]] = node
    ends, longest = set(records.stamp["eos"]), records.stamp["max_new_tokens"]
    recorded = records.take(short).table.to_pylist()
    for (row, tree), record in zip(places.items(), recorded, strict=True):
        prefix, all_proven, ended = (), True, False
        while prefix in tree and not ended:
            node = tree[prefix]
            token, all_proven = int(tokens[node]), all_proven and bool(proven[node])
            ended = token in ends or len(prefix) + 1 == longest
            prefix = prefix if token in ends else (*prefix, token)
        texts = {tuple(record[f"tokens:{p}"]): record[f"text:{p}"] for p in records.policies}
        known[row], first_proven[row] = ended and prefix in texts, all_proven
        answer[row] = answers.short(texts[prefix]) if known[row] else None

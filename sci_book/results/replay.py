"""Evaluate once, analyse many times: any method over recorded rounds, without a forward pass.

The same `scoring.scores` that decodes is applied to the recorded logits. A node keeps some tokens;
one more column stands for all others, with a logit at least as favourable as any of theirs in every
round. If that column loses, the winner is provably among the kept tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import torch

from sci_book.data.answers import rules as answers
from sci_book.results.records import Records
from sci_book.results.stamps import NotRecorded
from sci_core.counterfactuals import is_visual
from sci_core.methods import RULES, Method
from sci_core.scoring import deciding_logits, scores, unconstrained

_BITS = 32
_TOKEN = (1 << _BITS) - 1
ROUNDING = 1e-4  # a bound this close to the winner proves nothing
LOOSE = 6.0
"""Logits: a decoded method whose constraint spares more than that below the best (SCI15: 5.4) goes
astray after the first token, and how its answers end tells nothing of other methods."""


def recompute(records: Records, method: Method) -> pd.DataFrame:
    """What `method` would have answered to every sample: `Replay(records).answers(method)`."""
    return replay_of(records).answers(method)


@lru_cache(maxsize=32)
def replay_of(records: Records) -> Replay:
    """The replay of some records: one for all that read these, as long as few others come between.

    It takes a second to make, and remembers what the methods chose whose answers were asked for; a
    sweep's many settings, which ask for `right`, are not kept.
    """
    return Replay(records)


class Replay:
    """Records made ready for any number of methods.

    Attributes:
        logits: [rounds, nodes, kept + 1] float32; the last column stands for all other tokens.
        depths: [nodes] tokens generated before a node; `clocks` the text tokens of its prompt.
        root: [rows] a row's first node; -1 for a sample with an error.
        child: [nodes, kept] the node that a kept token leads to, or -1.
        answer: [nodes, kept] the place, among all answers, of the one that a token ends in; `known`
            whether that answer is known; `truth` [rows] the place of the right answer, or -1.

    Raises NotRecorded for records that hold answers alone.
    """

    def __init__(self, records: Records):
        if records.ok.any() and not len(records.nodes.row):
            raise NotRecorded(
                f"The records of {records.stamp['model']} hold answers alone, and no logits to "
                "recompute a method from. Make records with logits by `sci evaluate`."
            )
        self._records, nodes = records, records.nodes
        others = nodes.outside.copy()
        # Of prompts' ids, which a checkpoint's own penalties read, records hold nothing.
        self._provable = "settings" not in records.stamp
        self._error = records.stamp.get("logit_step", 0.0) / 2
        visual = [is_visual(name) for name in records.rounds]
        # For a visual round `outside` bounds original minus visual; with the original at its own
        # bound this logit gives exactly that difference.
        others[visual] = nodes.outside[0] - others[visual]
        self.logits = torch.from_numpy(np.concatenate([nodes.logits, others[:, :, None]], axis=2))
        self._log_norm = torch.from_numpy(nodes.log_norm.copy())
        self.depths = np.array([len(prefix) for prefix in nodes.prefix], dtype=np.int64)
        clocks = records.frame["prompt_tokens"].to_numpy()[nodes.row]
        self.clocks = torch.from_numpy(clocks.astype(np.int64))
        roots = np.flatnonzero(self.depths == 0)
        self.root = np.full(len(records.table), -1)
        self.root[nodes.row[roots]] = roots
        # Of node and kept token: the node it leads to, or -1; the place of its answer; whether that
        # answer is known.
        self.child = np.full(nodes.tokens.shape, -1)
        self.answer = np.zeros(nodes.tokens.shape, dtype=np.int64)
        self.known = np.zeros(nodes.tokens.shape, dtype=bool)
        self._places: dict[str | None, int] = {None: 0}
        self._lead_by_first_token(roots)
        self._lead_along_nodes()
        self._distinct = np.array(list(self._places), dtype=object)
        # A sweep asks at every setting for the logits of the same rounds.
        self._last: tuple[list[int], torch.Tensor] = [], self.logits[[]]
        self._chosen: dict[tuple[Method, bool], tuple[np.ndarray, np.ndarray]] = {}
        truth = records.frame["truth"]
        self.truth = np.array([self._places.get(answer, -1) for answer in truth])

    def answers(self, method: Method, *, prove: bool = True) -> pd.DataFrame:
        """What `method` would have answered to every sample, aligned with the records' frame.

        Of rounded records a proof takes as long as the answers several times over: without `prove`
        nothing is proven.

        Returns a frame with the columns

        token    first token chosen; -1 for a sample with an error
        answer   parsed answer, None where unknown
        proven   whether every token chosen is provably the method's winner; never where the
                 checkpoint's own generation settings took part, which records cannot replay
        known    whether the answer follows from the recorded tokens. Multiple-choice and yes/no
                 samples record the first step: their answer is that of the recorded trajectories
                 that open with the token, and a method so loose that it leaves them later (SCI5
                 without its constraint) would say something else. Where none opens so, the answer
                 is read off the token alone and `known` is False. Short answers are followed node
                 by node; where the path is not one that was recorded to its end, the answer is None
                 and `known` is False.

        Raises:
            NotRecorded: if the method needs a round that was not recorded.
        """
        if (method, prove) not in self._chosen:
            self._chosen[method, prove] = self.choose(method, prove=prove)
        slots, proven = self._chosen[method, prove]
        answered = self.root >= 0
        answer, known, sure = self._follow(slots, proven)
        first = np.full(len(answered), -1, dtype=np.int64)
        roots = self.root[answered]
        first[answered] = self._records.nodes.tokens[roots, slots[roots]]
        return pd.DataFrame(
            {
                "token": first,
                # Text columns turn None into NaN.
                "answer": pd.Series(self._distinct[answer], dtype=object),
                "proven": sure,
                "known": known,
            }
        )

    def right(self, method: Method) -> np.ndarray:
        """1 or 0 for a right or wrong answer of every sample, NaN for a sample with an error."""
        return self.right_of(self.choose(method, prove=False)[0])

    def right_of(self, slots: np.ndarray) -> np.ndarray:
        """As `right`, of the place of the kept token chosen at each node, `[nodes]`."""
        answer, _, _ = self._follow(slots, np.zeros(len(slots), dtype=bool))
        return np.where(self.root >= 0, (answer == self.truth).astype(float), np.nan)

    def says(self, answer: str) -> np.ndarray:
        """Whether a kept token ends in this answer, `[nodes, kept]`."""
        return self.answer == self._places.get(answer, -1)

    def choose(self, method: Method, *, prove: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The place of the kept token `method` chooses at each node, and whether it is proven."""
        method, Z, error = self._rounds(method)
        slots = np.empty(len(self.depths), dtype=np.int64)
        proven = np.zeros(len(self.depths), dtype=bool)
        for step, alike in self._scored_alike(method):
            given = {"step": step, "prompt_tokens": self.clocks[alike]}
            final = scores(method, Z[:, alike], **given).numpy()
            # The first maximum: the lowest id, as in decoding.
            slots[alike] = winner = final[:, :-1].argmax(axis=1)
            if not (prove and self._provable):
                continue
            apart = final[:, -1] < final[np.arange(len(final)), winner] - ROUNDING
            if method.edits(step) and method.deciding < method.N:
                # A round that does not decide may speak against a token, and its logits are known
                # from one side alone: only a token that is not plausible is surely no winner.
                apart = np.isneginf(final[:, -1])
            if error:
                tokens = self._records.nodes.tokens[alike]
                others = np.concatenate([tokens, np.full((len(tokens), 1), -1)], axis=1)
                others = torch.from_numpy(others != np.take_along_axis(tokens, winner[:, None], 1))
                apart &= _stands(method, Z[:, alike], winner, others, error, **given)
            proven[alike] = apart
        return slots, proven

    @cached_property
    def _distinct_depths(self) -> tuple[np.ndarray, np.ndarray]:
        return np.unique(self.depths, return_inverse=True)

    def _scored_alike(self, method: Method) -> Iterator[tuple[int, np.ndarray | slice]]:
        """The nodes that a method scores at once, each time with a step that stands for theirs.

        A method that counts tokens scores every depth apart, another those that it edits.
        """
        depths, of_node = self._distinct_depths
        if "position" in RULES[method.rule].takes:
            kinds = depths
        else:
            kinds = np.array([method.edits(int(depth)) for depth in depths])
        for kind in np.unique(kinds):
            nodes = slice(None) if (kinds == kind).all() else kinds[of_node] == kind
            yield int(depths[kinds == kind][0]), nodes

    def first_scores(self, method: Method, roots: np.ndarray) -> np.ndarray:
        """What `method` gives each kept token at some first nodes, `[nodes, kept]`.

        Raises:
            NotRecorded: if the method needs a round that was not recorded.
        """
        method, Z, _ = self._rounds(method)
        final = scores(method, Z[:, roots], step=0, prompt_tokens=self.clocks[roots])
        return final[:, :-1].numpy()

    def _rounds(self, method: Method) -> tuple[Method, torch.Tensor, float]:
        """A method, the logits of its rounds as it takes them, and by how much these may err."""
        names = self._records.rounds
        missing = [name for name in method.rounds if name not in names]
        if missing:
            raise NotRecorded(
                f"{method.name} needs the round(s) {', '.join(missing)}; these records hold "
                f"{', '.join(names)}. Evaluate again with a method that uses them."
            )
        places = [names.index(name) for name in method.rounds]
        if self._last[0] != places:
            self._last = places, self.logits[places]
        Z, error = self._last[1], self._error
        if method.log_probs:
            Z, error = Z - self._log_norm[places][:, :, None], 2 * error
            method = replace(method, log_probs=False)
        return method, Z, error

    def _follow(
        self, slots: np.ndarray, proven: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By sample: the place of its answer, whether that is known, whether all is proven."""
        answer = np.zeros(len(self.root), dtype=np.int64)
        known = np.zeros(len(self.root), dtype=bool)
        sure = self.root >= 0
        rows, nodes = np.flatnonzero(sure), self.root[sure]
        while len(rows):
            chosen = slots[nodes]
            sure[rows] &= proven[nodes]
            answer[rows] = self.answer[nodes, chosen]
            known[rows] = self.known[nodes, chosen]
            nodes = self.child[nodes, chosen]
            rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        return answer, known, sure

    def _lead_by_first_token(self, roots: np.ndarray) -> None:
        """Multiple choice and yes/no: the answer of recorded trajectories that open so."""
        records, nodes = self._records, self._records.nodes
        types, options = (records.frame[name].to_numpy() for name in ("question_type", "options"))
        roots = roots[types[nodes.row[roots]] != "short"]
        rows, tokens = np.broadcast_arrays(nodes.row[roots][:, None], nodes.tokens[roots])
        told = self._told_by_first_token().reindex(_pairs(rows, tokens).ravel())
        ends = np.isin(tokens, records.stamp["eos"])
        place = np.where(ends, self._place(None), told.to_numpy().reshape(tokens.shape))
        self.known[roots] = known = ~np.isnan(place)
        # With the others no trajectory opens, or several that differ: each is read alone.
        asked = list(zip(types, options, strict=True))
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(asked))}
        kind = np.array([kinds[each] for each in asked], dtype=np.int64)[rows[~known]]
        alone, which = np.unique(_pairs(kind, tokens[~known]), return_inverse=True)
        split = zip((alone >> _BITS).tolist(), (alone & _TOKEN).tolist(), strict=True)
        kinds_of = list(kinds)
        read = [self._place(_alone(*kinds_of[of], records.pieces[token])) for of, token in split]
        place[~known] = np.array(read, dtype=np.int64)[which]
        self.answer[roots] = place

    def _told_by_first_token(self) -> pd.Series:
        """By row and token (`_pairs`) the place of the answer that every trajectory has which opens
        with the token; where two differ there is none."""
        told = []
        for policy in _telling(self._records):
            written = self._records.table[f"tokens:{policy}"]
            lengths = pc.list_value_length(written).fill_null(0).to_numpy()
            rows = np.flatnonzero(lengths)
            firsts = pc.list_flatten(written).to_numpy()[(np.cumsum(lengths) - lengths)[rows]]
            codes, distinct = pd.factorize(self._records.parsed(policy))  # -1, the last: None
            places = np.array([*map(self._place, distinct), self._place(None)])
            told.append(pd.Series(places[codes[rows]], _pairs(rows, firsts)))
        by_pair = pd.concat(told).groupby(level=0)
        least, most = by_pair.min(), by_pair.max()
        return least[least == most]

    def _lead_along_nodes(self) -> None:
        """Short answers: to the next node, or to the end of a recorded trajectory."""
        records, nodes = self._records, self._records.nodes
        ends, longest = set(records.stamp["eos"]), records.stamp["max_new_tokens"]
        short = (records.frame["question_type"] == "short").to_numpy() & records.ok
        columns = [f"{kind}:{policy}" for policy in records.policies for kind in ("tokens", "text")]
        written = records.take(short).table.select(columns).to_pylist()
        texts = {
            row: {tuple(record[f"tokens:{p}"]): record[f"text:{p}"] for p in records.policies}
            for row, record in zip(np.flatnonzero(short).tolist(), written, strict=True)
        }
        node_of = {
            (row, prefix): node
            for node, (row, prefix) in enumerate(zip(nodes.row.tolist(), nodes.prefix, strict=True))
            if row in texts
        }
        for (row, prefix), node in node_of.items():
            for slot, token in enumerate(nodes.tokens[node].tolist()):
                extended = prefix if token in ends else (*prefix, token)
                ended = token in ends or len(extended) == longest
                if ended and extended in texts[row]:
                    self._ends_in(node, slot, answers.short(texts[row][extended]))
                elif not ended:
                    self.child[node, slot] = node_of.get((row, extended), -1)

    def _ends_in(self, node: int, slot: int, answer: str | None) -> None:
        self.answer[node, slot], self.known[node, slot] = self._place(answer), True

    def _place(self, answer: str | None) -> int:
        return self._places.setdefault(answer, len(self._places))


def _pairs(first: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Two whole numbers as one, the second of `_BITS` bits at most."""
    return (first.astype(np.int64) << _BITS) | tokens


@lru_cache(maxsize=4096)
def _alone(question_type: str, letters: str, piece: str) -> str | None:
    """What a token alone answers to a question with these option letters."""
    return answers.parse(question_type, piece, dict.fromkeys(letters, ""))


def _stands(
    method: Method,
    Z: torch.Tensor,
    winner: np.ndarray,
    others: torch.Tensor,
    error: float,
    **given: Any,
) -> np.ndarray:
    """Whether each node's winner would win with any logits that differ by `error` at most.

    Args:
        Z: [rounds, nodes, tokens] logits; `others` [nodes, tokens] whether a token is no winner.
        winner: [nodes] the winner's place.
        given: the step and the prompt's clock, for `unconstrained`; what overflows proves nothing.
    """
    margin = method.margin if method.edits(given["step"]) else np.inf
    tc, place = deciding_logits(method, Z), torch.from_numpy(winner)[:, None]
    final, moved, one = unconstrained(method, Z, **given), torch.zeros_like(Z[0]), Z.clone()
    for number in range(len(Z)):  # no equation falls by more, or rises, than its rounds one by one
        one[number] += error
        moved += (unconstrained(method, one, **given) - final).abs()
        one[number] = Z[number]
    plausible = tc >= tc.amax(dim=1, keepdim=True) - margin - 2 * error
    rival = (final + moved).masked_fill(~(others & plausible), -np.inf).amax(dim=1)
    beside = tc.masked_fill(~others, -np.inf).amax(dim=1)
    kept = tc.gather(1, place)[:, 0] >= beside - margin + 2 * error
    return (kept & (rival < (final - moved).gather(1, place)[:, 0])).numpy()


def _telling(records: Records) -> list[str]:
    """The rounds, and the methods whose constraint is not `LOOSE`."""
    # A stamp that names a method and nothing else says nothing against it.
    loose = {
        fields["name"]
        for fields in records.stamp["methods"]
        if "rule" in fields and as_method(fields).margin > LOOSE
    }
    return [name for name in records.policies if name not in loose]


def as_method(fields: Mapping[str, Any]) -> Method:
    """A method as a stamp holds it: read back from disk, its tuples are lists."""
    return Method(**{key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()})

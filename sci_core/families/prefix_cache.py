"""A byte-bounded store of prefixes: what a picture and the text before it leave in a model's cache.

A black picture is read once a data set, a noisy one once for all questions on its picture. The key
holds all that a prefix depends on. When the store is full, what was used longest ago leaves it:
first of what belongs to one picture, then of what belongs to all of its size.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Prefix:
    """Keys and values of one prefix: for each layer two tensors `[heads, slots, width]`."""

    layers: tuple[tuple[Tensor, Tensor], ...]

    @property
    def bytes(self) -> int:
        return sum(each.numel() * each.element_size() for layer in self.layers for each in layer)


class PrefixCache:
    """Prefixes by key, for models whose weights do not change. One store may serve several models.

    Args:
        limit: bytes the store may hold. At 0, and for a prefix larger than the limit, nothing is
            kept and all is computed anew: slower, and the same.
        constants_only: keep black pictures only. What a batch computes then does not depend, to the
            last bit, on the batches before it.

    Attributes:
        bytes, hits, misses: what it holds, and how often it was asked with and without success.

    Raises ValueError for a negative limit.
    """

    def __init__(self, limit: int = 2**30, *, constants_only: bool = False):
        if limit < 0:
            raise ValueError(f"limit is a number of bytes, 0 or more; got {limit}.")
        self.limit, self.constants_only = limit, constants_only
        self.hits = self.misses = 0
        self._pictures: OrderedDict[Hashable, Prefix] = OrderedDict()
        self._constants: OrderedDict[Hashable, Prefix] = OrderedDict()
        self.bytes = 0

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}: {len(self)} prefixes, {self.bytes:,} of {self.limit:,} bytes, "
            f"{self.hits} hits, {self.misses} misses"
        )

    def __len__(self) -> int:
        return len(self._pictures) + len(self._constants)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._pictures or key in self._constants

    def keeps(self, constant: bool) -> bool:
        """Whether prefixes of this kind are kept at all."""
        return self.limit > 0 and (constant or not self.constants_only)

    def get(self, key: Hashable) -> Prefix | None:
        """The prefix of this key, if it is kept."""
        for kept in (self._pictures, self._constants):
            if key in kept:
                self.hits += 1
                kept.move_to_end(key)
                return kept[key]
        self.misses += 1
        return None

    def put(self, key: Hashable, prefix: Prefix, constant: bool) -> None:
        """Keep a prefix; others leave until it fits."""
        if not self.keeps(constant) or prefix.bytes > self.limit or key in self:
            return
        (self._constants if constant else self._pictures)[key] = prefix
        self.bytes += prefix.bytes
        while self.bytes > self.limit:
            oldest = self._pictures or self._constants
            self.bytes -= oldest.popitem(last=False)[1].bytes

"""A byte-bounded store of prefixes: what a picture and the text before it leave in a model's cache.

When it is full, what was used longest ago leaves it: first of what belongs to one picture, then of
what belongs to all of a size.
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
        return sum(part.nbytes for layer in self.layers for part in layer)


class PrefixCache:
    """Prefixes by key, for models whose weights and configuration do not change.

    One store may serve several models. Their image processors may be changed, also in place.

    Args:
        limit: bytes the store may hold; a prefix that is larger is computed anew.
        constants_only: keep black pictures only. What a batch computes then does not depend, to the
            last bit, on the batches before it.

    `bytes` is what it holds, `hits` and `misses` count calls of `get`. Raises ValueError for a
    negative limit.
    """

    def __init__(self, limit: int = 2**30, *, constants_only: bool = False):
        if limit < 0:
            raise ValueError(f"limit is a number of bytes, 0 or more; got {limit}.")
        self.limit, self.constants_only = limit, constants_only
        self.bytes = self.hits = self.misses = 0
        self._kept: OrderedDict[Hashable, tuple[Prefix, bool]] = OrderedDict()  # oldest first

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}: {len(self)} prefixes, {self.bytes:,} of {self.limit:,} bytes, "
            f"{self.hits} hits, {self.misses} misses"
        )

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def keeps(self, constant: bool) -> bool:
        """Tell whether prefixes of this kind are kept at all."""
        return self.limit > 0 and (constant or not self.constants_only)

    def get(self, key: Hashable) -> Prefix | None:
        """Return the prefix of this key, if it is kept."""
        if key not in self._kept:
            self.misses += 1
            return None
        self.hits += 1
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: Hashable, prefix: Prefix, constant: bool) -> None:
        """Keep a prefix; others leave until it fits."""
        if not self.keeps(constant) or prefix.bytes > self.limit or key in self:
            return
        self._kept[key] = (prefix, constant)
        self.bytes += prefix.bytes
        while self.bytes > self.limit:
            pictures = (key for key, (_, constant) in self._kept.items() if not constant)
            oldest = next(pictures, next(iter(self._kept)))
            self.bytes -= self._kept.pop(oldest)[0].bytes

"""A key-value cache with room to spare: a step writes its own slots and copies nothing.

The dynamic cache of transformers concatenates, which copies every slot at every step. Imported
only where a model is decoded, for it needs transformers.
"""

from typing import Any

from torch import Tensor
from transformers import Cache
from transformers.cache_utils import DynamicLayer

SPARE = 32
"""Slots a buffer has beyond those in use when it is made, or made anew because it was full."""


class RoomyLayer(DynamicLayer):
    """One layer's keys and values `[rows, heads, slots, width]`: views of larger buffers."""

    _buffers: tuple[Tensor, ...] = ()

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Append slots; the result holds all of them."""
        used = self.get_seq_length()
        total = used + keys.shape[-2]
        if not self._buffers or total > self._buffers[0].shape[-2]:
            old = self._buffers
            shape = (*keys.shape[:-2], total + SPARE)
            self._buffers = tuple(new.new_empty(*shape, new.shape[-1]) for new in (keys, values))
            for buffer, before in zip(self._buffers, old, strict=False):
                buffer[..., :used, :] = before[..., :used, :]
        for buffer, new in zip(self._buffers, (keys, values), strict=True):
            buffer[..., used:total, :] = new
        self._show(total)
        return self.keys, self.values

    def rows(self, indices: Tensor) -> "RoomyLayer":
        """A copy of some rows."""
        part = RoomyLayer()
        part._buffers = tuple(buffer.index_select(0, indices) for buffer in self._buffers)
        part._show(self.get_seq_length())
        return part

    def _show(self, slots: int) -> None:
        self.keys, self.values = (buffer[..., :slots, :] for buffer in self._buffers)
        self.is_initialized = True


class RoomyCache(Cache):
    """The layers of a model."""

    def rows(self, indices: Tensor) -> "RoomyCache":
        """A copy of some rows."""
        return RoomyCache(layers=[layer.rows(indices) for layer in self.layers])

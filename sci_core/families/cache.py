"""A key-value cache with room to spare: a step writes its own slots and copies nothing.

The dynamic cache of transformers copies every slot at every step. Imported only where a model is
decoded, for it needs transformers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from sci_core.families.prefix_cache import Prefix

SPARE = 32  # slots that a new buffer has beyond those in use


class RoomyLayer(DynamicLayer):
    """One layer's keys and values `[rows, heads, slots, width]`: views of larger buffers."""

    _buffers: tuple[Tensor, ...] = ()
    _only: Tensor | None = None

    @classmethod
    def of(cls, blocks: Sequence[tuple[Tensor, Tensor]], room: int) -> "RoomyLayer":
        """Make a layer of blocks of rows, padded on the right with zeros, and `room` more slots."""
        layer = cls()
        slots = max(keys.shape[-2] for keys, _ in blocks)
        layer._buffers = tuple(
            _stacked(part, slots, slots + room) for part in zip(*blocks, strict=True)
        )
        layer._show(slots)
        return layer

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Append slots; return all of them (of the rows of `only`)."""
        used = self.get_seq_length() if self._buffers else 0
        total = used + keys.shape[-2]
        if not self._buffers or total > self._buffers[0].shape[-2]:
            begun = (self.keys, self.values) if used else (keys[:, :, :0], values[:, :, :0])
            self._buffers = tuple(_stacked([part], used, total + SPARE) for part in begun)
        rows = slice(None) if self._only is None else self._only
        for buffer, new in zip(self._buffers, (keys, values), strict=True):
            if self._only is not None:
                buffer[..., used:total, :] = 0  # finite where the other rows have nothing
            buffer[rows, :, used:total] = new
        self._show(total)
        return self.keys[rows], self.values[rows]

    def rows(self, indices: Tensor) -> "RoomyLayer":
        """Copy some rows."""
        part = RoomyLayer()
        chosen = indices.to(self.keys.device)
        part._buffers = tuple(buffer.index_select(0, chosen) for buffer in self._buffers)
        part._show(self.get_seq_length())
        return part

    def _show(self, slots: int) -> None:
        self.keys, self.values = (buffer[..., :slots, :] for buffer in self._buffers)
        self.is_initialized = True


class RoomyCache(Cache):
    """The layers of a model."""

    @classmethod
    def of(cls, prefixes: Sequence[Prefix], room: int) -> "RoomyCache":
        """Make a cache whose rows begin with these prefixes, with `room` for more slots."""
        rows = [[(k[None], v[None]) for k, v in prefix.layers] for prefix in prefixes]
        return cls(layers=[RoomyLayer.of(b, room + SPARE) for b in zip(*rows, strict=True)])

    @classmethod
    def joined(cls, caches: Sequence["RoomyCache"]) -> "RoomyCache":
        """Join all rows of some caches; shorter rows are padded on the right."""
        blocks = [[(layer.keys, layer.values) for layer in cache.layers] for cache in caches]
        return cls(layers=[RoomyLayer.of(layer, SPARE) for layer in zip(*blocks, strict=True)])

    def prefix(self, row: int, slots: int) -> Prefix:
        """Copy the first slots of a row."""
        return Prefix(
            tuple(
                (layer.keys[row, :, :slots].clone(), layer.values[row, :, :slots].clone())
                for layer in self.layers
            )
        )

    @contextmanager
    def only(self, rows: Tensor | None) -> Iterator[None]:
        """Let the model read and write these rows (None: all), as a batch of their own."""
        for layer in self.layers:  # which may lie on several devices
            layer._only = None if rows is None else rows.to(layer.keys.device)
        try:
            yield
        finally:
            for layer in self.layers:
                layer._only = None

    def rows(self, indices: Tensor) -> "RoomyCache":
        """Copy some rows."""
        return RoomyCache(layers=[layer.rows(indices) for layer in self.layers])


def _stacked(blocks: Sequence[Tensor], slots: int, size: int) -> Tensor:
    """Stack blocks in a buffer of `size` slots: zeros up to `slots`, beyond them anything."""
    first = blocks[0]
    lengths = [len(block) for block in blocks]
    buffer = first.new_empty(sum(lengths), first.shape[1], size, first.shape[-1])
    for part, block in zip(torch.split(buffer, lengths), blocks, strict=True):
        part[:, :, : block.shape[-2]] = block
        part[:, :, block.shape[-2] : slots] = 0
    return buffer

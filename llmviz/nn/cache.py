"""Keys and values of the tokens that a model has already read, so that none is computed twice.

B batch, H heads of keys and values, S context length, D head size, T new tokens.
"""

from copy import copy

import torch
from torch import Tensor


class KVCache:
    """Room for the keys and values of every layer, allocated once and not filled with anything.

    The model writes at `length` and moves it on after the last layer. `truncate` goes back, for
    instance to try another continuation; `reset` empties it for another text. No gradient flows
    through it.
    """

    def __init__(
        self,
        n_layer: int,
        batch: int,
        n_head: int,
        context_length: int,
        head_size: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if batch < 1:
            raise ValueError(f"batch must be at least 1; got {batch}")
        shape = (batch, n_head, context_length, head_size)
        self.keys = [torch.empty(shape, device=device, dtype=dtype) for _ in range(n_layer)]
        self.values = [torch.empty_like(keys) for keys in self.keys]  # (B, H, S, D) a layer
        self.context_length = context_length
        self.batch = batch
        self.length = 0

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write k, v (B, H, T, D) behind what is there; return all keys and values so far."""
        end = self.length + k.shape[2]
        keys, values = self.keys[layer], self.values[layer]
        keys[:, :, self.length : end] = k.detach()
        values[:, :, self.length : end] = v.detach()
        return keys[:, :, :end], values[:, :, :end]  # (B, H, length + T, D)

    def truncate(self, length: int) -> None:
        """Forget everything from token `length` on. Raises ValueError if there is less."""
        if not 0 <= length <= self.length:
            raise ValueError(f"the cache holds {self.length} tokens; cannot cut it to {length}")
        self.length = length

    def copy(self) -> "KVCache":
        """Another cache with room of its own that holds the same tokens."""
        other = copy(self)
        other.keys, other.values = (
            [torch.empty_like(tensor) for tensor in tensors] for tensors in (self.keys, self.values)
        )
        for own, new in zip(self.keys + self.values, other.keys + other.values, strict=True):
            new[:, :, : self.length] = own[:, :, : self.length]
        return other

    def reset(self) -> None:
        """Forget everything."""
        self.length = 0

    def select(self, rows: Tensor) -> None:
        """Let row i of the batch be a copy of row rows[i]; as many rows as `rows` (N,) names."""
        if len(rows) == self.batch:
            for tensor in (*self.keys, *self.values):
                tensor[:, :, : self.length] = tensor[rows, :, : self.length]
            return
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]
        self.batch = len(rows)

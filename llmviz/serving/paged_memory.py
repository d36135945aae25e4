"""Keys and values of all sequences in blocks, and attention that reads them where they lie.

L layers, G heads of keys and values, H heads, D head size, R rows that decode, P blocks that they
read, b tokens in a block, N tokens in a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from llmviz.nn.attention import share_heads

LOWEST = -1e30  # instead of minus infinity where a difference is taken
# From this share of the blocks in use on, all are read where they lie instead of being gathered.
IN_PLACE_FROM = 0.3


class PagedMemory:
    """Blocks for the keys and values of each layer: `keys[layer]` is (blocks, G, b, D)."""

    def __init__(
        self,
        n_layer: int,
        n_blocks: int,
        n_kv_head: int,
        block_size: int,
        head_size: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        shape = (2, n_blocks, n_kv_head, block_size, head_size)
        # Zeros: what no token was written to is read, too, with the weight 0.
        self._stored = [torch.zeros(shape, device=device, dtype=dtype) for _ in range(n_layer)]
        self._rows = [stored.view(-1, head_size) for stored in self._stored]
        self.keys = [stored[0] for stored in self._stored]
        self.values = [stored[1] for stored in self._stored]

    def slots(self, blocks: Tensor, offsets: Tensor) -> Tensor:
        """Where tokens are stored, each in its block (N,) at its offset (N,): for `write`."""
        _, n_blocks, g, size, _ = self._stored[0].shape
        kinds = torch.arange(2, device=blocks.device)[:, None] * n_blocks
        heads = torch.arange(g, device=blocks.device)
        places = (kinds + blocks[:, None, None]) * g + heads  # (N, 2, G)
        return (places * size + offsets[:, None, None]).flatten()

    def write(self, layer: int, slots: Tensor, kv: Tensor) -> None:
        """Store the keys and values of N tokens, kv (N, 2·G, D), in their `slots`."""
        self._rows[layer].index_copy_(0, slots, kv.reshape(len(slots), -1))

    def clear(self, blocks: Iterable[int], offset: int = 0) -> None:
        """Fill blocks with zeros, from the slot at `offset` on."""
        for block in blocks:
            for stored in self._stored:
                stored[:, block, :, offset:] = 0

    def move(self, pairs: Iterable[tuple[int, int]], target: PagedMemory | None = None) -> None:
        """Copy blocks (from, to) within this memory or to another; one after the other."""
        target = self if target is None else target
        for source, place in pairs:
            for own, other in zip(self._stored, target._stored, strict=True):
                other[:, place] = own[:, source]


@dataclass(frozen=True)
class Reading:
    """Which blocks R rows read, one token each; made once a step, used by every layer.

    blocks: (P,) which to gather, or None: the first P of the memory, where they lie. owner: (P,)
    the row of each. hidden: (P·G, 1, b), minus infinity for slots that the row must not see.
    table: (R·most), for each row the numbers of its blocks among the P; P itself stands for none.
    """

    count: int
    blocks: Tensor | None
    owner: Tensor
    hidden: Tensor
    table: Tensor

    @classmethod
    def of(
        cls, tables: list[list[int]], lengths: list[int], block_size: int, like: Tensor
    ) -> Reading:
        """tables: the blocks of each row, exactly those it reads; lengths: tokens in them.

        like: the blocks of a layer, (blocks, G, b, D). One row alone never reads in place, and so
        nothing but its own blocks.
        """
        counts = np.array([len(table) for table in tables])
        pairs = np.array([block for table in tables for block in table])
        rows = np.repeat(np.arange(len(tables)), counts)
        ends = counts.cumsum()
        filled = np.full(len(pairs), block_size)
        filled[ends - 1] = np.array(lengths) - (counts - 1) * block_size
        top = int(pairs.max()) + 1
        in_place = (
            len(tables) > 1
            and len(pairs) >= IN_PLACE_FROM * top
            and len(np.unique(pairs)) == len(pairs)
        )
        if in_place:  # blocks of the others have no visible slot, and so the weight 0
            count, places = top, pairs
            owner, visible = np.zeros(top, dtype=np.int64), np.zeros(top, dtype=np.int64)
            owner[pairs], visible[pairs] = rows, filled
        else:
            count, places = len(pairs), np.arange(len(pairs))
            owner, visible = rows, filled
        table = np.full((len(tables), int(counts.max())), count)
        table[np.arange(table.shape[1]) < counts[:, None]] = places
        hidden = np.where(np.arange(block_size) >= visible[:, None, None], -np.inf, 0.0)
        hidden = hidden.repeat(like.shape[1], axis=0)  # for each head of keys and values
        device = like.device
        return cls(
            count,
            None if in_place else torch.from_numpy(pairs).to(device),
            torch.from_numpy(owner).to(device),
            torch.from_numpy(hidden).to(device=device, dtype=like.dtype),
            torch.from_numpy(table.ravel()).to(device),
        )


def attend_blocks(
    q: Tensor, keys: Tensor, values: Tensor, reading: Reading, scale: float
) -> Tensor:
    """What the heads give one token of each row: q (R, H, D) to (R, H·D).

    keys, values: a layer's blocks (blocks, G, b, D). Each block's scores are computed by
    themselves; the largest score and the sum of a row are put together from its blocks'.

    Reference: Dao et al. 2023, "Flash-Decoding for long-context inference"; Kwon et al. 2023,
    section 4.1.
    """
    r, h, d = q.shape
    g, size, p, owner = keys.shape[1], keys.shape[2], reading.count, reading.owner
    if reading.blocks is None:
        keys, values = keys[:p], values[:p]
    else:
        keys, values = (x.index_select(0, reading.blocks) for x in (keys, values))
    keys, values = keys.view(p * g, size, d), values.view(p * g, size, d)
    queries = q.index_select(0, owner).view(p * g, h // g, d)
    scores = torch.baddbmm(reading.hidden, queries, keys.transpose(1, 2), alpha=scale)
    scores = scores.view(p, h, size)
    highest = scores.new_full((p + 1, h), LOWEST)
    torch.amax(scores, -1, out=highest[:p])
    of_row = highest.index_select(0, reading.table).view(r, -1, h).amax(1)  # (R, H)
    scores -= of_row.index_select(0, owner)[:, :, None]
    weights = scores.exp_()  # (P, H, b)
    parts = torch.bmm(weights.view(p * g, h // g, size), values).view(p, h, d)
    output = q.new_zeros(r, h, d).index_add_(0, owner, parts)
    total = q.new_zeros(r, h).index_add_(0, owner, weights.sum(-1))
    return output.div_(total[:, :, None]).view(r, h * d)


@dataclass(frozen=True)
class Prompts:
    """Parts of some prompts that are read together, by one call per layer.

    tokens: where they lie among the tokens of the step. blocks, kept: which blocks to gather, and
    which of their slots hold tokens that are seen; None where every prompt is read from its start:
    then the step's own keys are all there are. mask: (T, S), True where a token may look; None
    for a single prompt from its start.
    """

    tokens: slice
    blocks: Tensor | None
    kept: Tensor | None
    mask: Tensor | None

    @classmethod
    def of(
        cls,
        first: int,
        parts: list[tuple[list[int], int, int]],
        block_size: int,
        device: torch.device,
    ) -> Prompts:
        """first: place of the first token; parts: (block table, start, count) of each prompt."""
        count = sum(part[2] for part in parts)
        tokens = slice(first, first + count)
        from_start = not any(start for _, start, _ in parts)
        if from_start and len(parts) == 1:
            return cls(tokens, None, None, None)
        mask = np.zeros((count, sum(start + new for _, start, new in parts)), dtype=bool)
        blocks: list[int] = []
        kept: list[np.ndarray] = []
        row = column = 0
        for table, start, new in parts:
            end = start + new
            mask[row : row + new, column : column + end] = np.tri(new, end, start, dtype=bool)
            row, column = row + new, column + end
            kept.append(np.arange(end) + len(blocks) * block_size)
            blocks += table[: -(-end // block_size)]
        seen = torch.from_numpy(mask).to(device)
        if from_start:
            return cls(tokens, None, None, seen)
        places = torch.from_numpy(np.concatenate(kept)).to(device)
        return cls(tokens, torch.tensor(blocks, device=device), places, seen)


def attend_prompts(
    qkv: Tensor, n_head: int, keys: Tensor, values: Tensor, prompts: Prompts, scale: float
) -> Tensor:
    """What the heads give the tokens of some prompts, (T, H·D).

    qkv: of the whole step, (N, H + 2·G, D), H = n_head; keys, values: a layer's blocks, in which
    the step's own are already.
    """
    own = qkv[prompts.tokens].transpose(0, 1)  # (H + 2·G, T, D)
    queries = own[:n_head]
    if prompts.blocks is None or prompts.kept is None:
        k, v = own[n_head:].chunk(2)  # (G, S, D)
    else:
        k, v = (
            x.index_select(0, prompts.blocks).transpose(0, 1).flatten(1, 2) for x in (keys, values)
        )
        k, v = k.index_select(1, prompts.kept), v.index_select(1, prompts.kept)
    k, v = share_heads(k, n_head), share_heads(v, n_head)
    output = F.scaled_dot_product_attention(
        queries[None],
        k[None],
        v[None],
        prompts.mask,
        is_causal=prompts.mask is None,
        scale=scale,
    )
    return output[0].transpose(0, 1).flatten(1)

"""The memory of keys and values in blocks: which sequence holds which, which are free. No torch.

A sequence's block table lists its blocks in the order of its tokens. Several sequences may hold a
block; a sequence that writes into such a block gets a copy first. A block that nobody holds keeps
its content until it is given away, so that an equal beginning of a later prompt finds it there.

Reference: Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with
PagedAttention", section 4.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Sequence

Key = tuple[int, tuple[int, ...]]  # number of the block before (−1: none), the block's own tokens
FIRST = -1


def common_length(tokens: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts have in common from their beginnings on.

    >>> common_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    pairs = enumerate(zip(tokens, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(tokens), len(other)))


class BlockManager:
    """Which sequence holds which of `n_blocks` blocks of `block_size` tokens.

    share_prefixes: whether full blocks are remembered by their content.
    """

    def __init__(self, n_blocks: int, block_size: int, *, share_prefixes: bool = True):
        for name, value in (("n_blocks", n_blocks), ("block_size", block_size)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1; got {value}")
        self.n_blocks, self.block_size = n_blocks, block_size
        self.share_prefixes = share_prefixes
        self.owners = [0] * n_blocks  # how many tables name each block
        # The lowest number first: what is in use stays together.
        self._empty = list(range(n_blocks))
        # Free with known content, the longest unused first.
        self._cached: OrderedDict[int, None] = OrderedDict()
        # Blocks by content. A content has a number that is never used again, so that what follows
        # a block that was given away is not found any more.
        self._block_of: dict[Key, int] = {}
        self._key_of: list[Key | None] = [None] * n_blocks
        self._number_of = [FIRST] * n_blocks  # of a block's content, if it is known
        self._numbers = 0

    @property
    def free(self) -> int:
        """How many blocks can be given away."""
        return len(self._empty) + len(self._cached)

    @property
    def cached(self) -> tuple[int, ...]:
        """The free blocks whose content is remembered, the next one to be given away first."""
        return tuple(self._cached)

    def allocate(self) -> int:
        """Give away a free block: an empty one, else the one that was unused for longest.

        Raises ValueError where none is free.
        """
        if self._empty:
            block = heapq.heappop(self._empty)
        elif self._cached:
            block, _ = self._cached.popitem(last=False)
            self._forget(block)
        else:
            raise ValueError(f"none of the {self.n_blocks} blocks is free")
        self.owners[block] = 1
        return block

    def hold(self, block: int) -> None:
        """Let one more table name a block."""
        if self.owners[block] == 0:
            del self._cached[block]
        self.owners[block] += 1

    def release(self, table: list[int]) -> None:
        """Empty a table; what nobody holds any more is free. The last blocks are forgotten first.

        Raises ValueError for a block that nobody holds.
        """
        owners = self.owners
        for block in reversed(table):
            left = owners[block] - 1
            if left < 0:
                raise ValueError(f"block {block} is held by nobody and cannot be given back")
            owners[block] = left
            if left:
                continue
            if self._key_of[block] is not None:
                self._cached[block] = None
            else:
                heapq.heappush(self._empty, block)
        table.clear()

    def fork(self, table: Sequence[int]) -> list[int]:
        """Another table with the same blocks."""
        for block in table:
            self.owners[block] += 1
        return list(table)

    def writable(self, block: int) -> bool:
        """Whether only one table names it."""
        return self.owners[block] == 1

    def own_copy(self, table: list[int], place: int) -> tuple[int, int]:
        """Put a free block in the place of a shared one; return (from, to), which to copy.

        Raises ValueError where none is free.
        """
        source, block = table[place], self.allocate()
        self.owners[source] -= 1
        table[place] = block
        return source, block

    def find(self, tokens: Sequence[int]) -> list[int]:
        """The blocks whose content is how `tokens` begin; at least one token stays without.

        They are not held yet: `hold` each before anything is allocated.
        """
        blocks: list[int] = []
        if not self.share_prefixes:
            return blocks
        size, number = self.block_size, FIRST
        for end in range(size, len(tokens), size):
            block = self._block_of.get((number, tuple(tokens[end - size : end])))
            if block is None:
                break
            blocks.append(block)
            number = self._number_of[block]
        return blocks

    def remember(self, table: Sequence[int], tokens: Sequence[int], place: int) -> None:
        """Note what block `place` of a table holds, now that all its tokens are computed."""
        block, size = table[place], self.block_size
        if not self.share_prefixes or self._key_of[block] is not None:
            return
        number = FIRST
        if place:
            number = self._number_of[table[place - 1]]
            if number == FIRST:  # the content before has another block, by which it is found
                return
        key = number, tuple(tokens[place * size : (place + 1) * size])
        if self._block_of.setdefault(key, block) != block:
            return
        self._key_of[block] = key
        self._number_of[block] = self._numbers
        self._numbers += 1

    def forget(self, table: Sequence[int]) -> None:
        """Let no later prompt find the content of the blocks of a table, which are held."""
        for block in table:
            self._forget(block)

    def _forget(self, block: int) -> None:
        if (key := self._key_of[block]) is None:
            return
        del self._block_of[key]
        self._key_of[block], self._number_of[block] = None, FIRST

    def check(self, tables: Sequence[Sequence[int]]) -> None:
        """Raise ValueError unless these tables hold just what is not free, each block rightly."""
        held = [0] * self.n_blocks
        for table in tables:
            for block in table:
                held[block] += 1
        free = [*self._empty, *self._cached]
        for block in range(self.n_blocks):
            if held[block] != self.owners[block]:
                raise ValueError(
                    f"block {block} is in {held[block]} tables and counted {self.owners[block]}"
                )
            if free.count(block) != (held[block] == 0):
                raise ValueError(f"block {block} is {free.count(block)} times among the free")
        for key, block in self._block_of.items():
            if self._key_of[block] != key or self._number_of[block] == FIRST:
                raise ValueError(f"block {block} is remembered by a content that it does not have")

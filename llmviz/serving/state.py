"""Which sequences wait and which run, who has which blocks: all that a scheduler changes. No torch.

Only the methods here change these fields, and the methods of the scheduler.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable

from llmviz.serving.blocks import BlockManager
from llmviz.serving.policies import POLICIES
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import ServingConfig


class State:
    """The queue, the running sequences, their rows and their memory."""

    def __init__(self, config: ServingConfig):
        self.config, self.policy = config, POLICIES[config.policy]
        share = config.share_prefixes and not self.policy.whole_batches
        self.blocks = BlockManager(config.n_blocks, config.block_size, share_prefixes=share)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []  # the oldest first, here and in the other two
        self.swapped: deque[Sequence] = deque()
        self.rows = 0  # of the running ones
        self.host_free = list(range(config.host_blocks))  # blocks of the second memory
        self.left: int | None = None  # of the token budget, in the tick that is planned
        self.copies: list[tuple[int, int]] = []  # blocks to copy for a batch that runs as a whole

    def has_rows(self, unit: list[Sequence]) -> bool:
        """Whether the batch has rows for what joins together."""
        return self.rows + sum([member.rows for member in unit]) <= self.config.max_batch

    def has_blocks(self, count: int) -> bool:
        """Whether so many blocks are free, with one to spare where others run already."""
        return count + bool(self.running) <= self.blocks.free

    def spend(self, tokens: int) -> None:
        """Take tokens from the budget of the tick that is planned, if there is one."""
        if self.left is not None:
            self.left -= tokens

    def next_waiting(self) -> Sequence:
        """Take the first sequence out of the queue."""
        return self.waiting.popleft()

    def next_swapped(self) -> Sequence:
        """Take the first sequence out of those in the second memory."""
        return self.swapped.popleft()

    def place(self, sequence: Sequence) -> None:
        """Let a sequence run; its table is set."""
        self.rows += sequence.rows
        if self.running and sequence.order < self.running[-1].order:
            insort(self.running, sequence, key=_age)
        else:
            self.running.append(sequence)

    def join(self, sequence: Sequence, parent: Sequence) -> None:
        """Let a further text of a request run, on the blocks of another of its texts."""
        sequence.table = self.blocks.fork(parent.table)
        sequence.computed = parent.computed
        sequence.own_room = parent.own_room = 0
        sequence.remembered = parent.remembered
        insort(self.running, sequence, key=_age)  # its row is counted already

    def release(self, sequence: Sequence) -> None:
        """Take the memory and the rows of a sequence that has left `running`."""
        self.rows -= sequence.rows
        self.blocks.release(sequence.table)
        sequence.computed = sequence.remembered = 0
        sequence.decodes = False

    def end(self, sequence: Sequence) -> None:
        """Let a sequence leave `running`, with what it has of memory and rows."""
        self.running.remove(sequence)
        self.release(sequence)

    def drop(self, sequence: Sequence) -> None:
        """Let a hypothesis leave `running` for another one of its search, which takes its row."""
        self.running.remove(sequence)
        self.blocks.release(sequence.table)

    def put_back(self, unit: list[Sequence]) -> None:
        """Let running sequences wait again, as the first ones; all is computed anew."""
        for sequence in unit:
            self.end(sequence)
        self.waiting.extendleft(reversed(unit))

    def swap_out(self, unit: list[Sequence], stored: Iterable[int]) -> dict[int, int]:
        """Let running sequences wait in the second memory; return where each block lies there.

        stored: the blocks of their tables, each once.
        """
        host_of = {block: self.host_free.pop() for block in stored}
        for sequence in unit:
            sequence.host = [host_of[block] for block in sequence.table]
            self.rows -= sequence.rows
            self.drop(sequence)
        self.swapped.extendleft(reversed(unit))
        return host_of

    def free_host_blocks(self, unit: list[Sequence]) -> None:
        """Give back what some sequences hold of the second memory, each block once."""
        self.host_free.extend(dict.fromkeys(host for member in unit for host in member.host))
        for sequence in unit:
            sequence.host = []

    def copy_later(self, blocks: list[int], into: list[int]) -> None:
        """Copy some blocks in the next tick of a batch that runs as a whole."""
        self.copies += zip(blocks, into, strict=True)

    def check_blocks(self) -> None:
        """Raise ValueError if a block is lost, or held by a sequence that should not have it."""
        self.blocks.check([sequence.table for sequence in self.running])
        for sequence in (*self.waiting, *self.swapped):
            if sequence.table:
                raise ValueError(f"sequence {sequence.name!r} waits and holds blocks")
        units = {id(sequence.unit[0]): sequence.unit for sequence in self.swapped}.values()
        host = [block for unit in units for block in {b for member in unit for b in member.host}]
        if sorted(host + self.host_free) != list(range(self.config.host_blocks)):
            raise ValueError("a block of the second memory is lost or given twice")
        if self.rows != sum(sequence.rows for sequence in self.running):
            raise ValueError(f"the rows are counted wrongly: {self.rows}")


def _age(sequence: Sequence) -> tuple[int, int]:
    return sequence.order

"""Who joins the batch from the queue, and which blocks it gets. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llmviz.serving.blocks import BlockManager, common_length
from llmviz.serving.plan import Plan
from llmviz.serving.sequences import Sequence

if TYPE_CHECKING:
    from llmviz.serving.scheduler import Scheduler


class Beginning(NamedTuple):
    """How the table of a sequence begins that is going to join.

    known: blocks that are there. sibling, shared: another one that joins with it, and how many of
    its first blocks will have the same content; or None, 0.
    """

    known: list[int]
    sibling: Sequence | None
    shared: int

    @property
    def blocks(self) -> int:
        """How many blocks need not be given."""
        return max(len(self.known), self.shared)


def admit(scheduler: Scheduler, plan: Plan) -> None:
    """Let the first in the queue join as long as there are rows, blocks and budget."""
    while scheduler.waiting and scheduler.left != 0:
        unit = list(scheduler.waiting[0].unit)
        begin = _beginnings(scheduler.blocks, unit)
        if not scheduler.fits(unit, _blocks_needed(scheduler, unit, begin)):
            return
        _give_blocks(scheduler.blocks, unit, begin)
        for sequence, beginning in zip(unit, begin, strict=True):
            scheduler.waiting.popleft()
            length, computed = len(sequence.tokens), beginning.blocks * scheduler.blocks.block_size
            sequence.room, sequence.computed = length, computed
            sequence.remembered = beginning.blocks
            plan.shared += computed
            plan.admitted.append(sequence.name)
            scheduler.place(sequence)
            count = length - computed
            if scheduler.left is not None:
                count = min(count, scheduler.left)
                scheduler.left -= count
            if count:
                plan.prefill.append((sequence, computed, count))


def _beginnings(blocks: BlockManager, unit: list[Sequence]) -> list[Beginning]:
    """For each sequence the blocks that it finds, and those that it shares with one before it.

    Beams that were pushed out begin alike. The first of them computes what they share, in the same
    tick at the latest: it comes first in every plan.
    """
    begin = []
    for number, sequence in enumerate(unit):
        known = blocks.find(sequence.tokens)
        sibling, shared = None, 0
        for other in unit[:number]:
            equal = common_length(other.tokens, sequence.tokens) // blocks.block_size
            if equal > max(shared, len(known)):
                sibling, shared = other, equal
        begin.append(Beginning(known, sibling, shared))
    return begin


def _blocks_needed(scheduler: Scheduler, unit: list[Sequence], begin: list[Beginning]) -> int:
    """How many free blocks it takes to let a unit join; those that are known may be free, too."""
    owners = scheduler.blocks.owners
    unused = {block for one in begin for block in one.known if not owners[block]}
    return len(unused) + sum(
        scheduler.config.blocks_for(len(sequence.tokens)) - one.blocks
        for sequence, one in zip(unit, begin, strict=True)
    )


def _give_blocks(blocks: BlockManager, unit: list[Sequence], begin: list[Beginning]) -> None:
    """Make the tables. What is known is held before anything is given away."""
    for sequence, one in zip(unit, begin, strict=True):
        if one.sibling is None:
            for block in one.known:
                blocks.hold(block)
            sequence.table = list(one.known)
    for sequence, one in zip(unit, begin, strict=True):
        if one.sibling is not None:
            sequence.table = blocks.fork(one.sibling.table[: one.shared])
        while len(sequence.table) * blocks.block_size < len(sequence.tokens):
            sequence.table.append(blocks.allocate())

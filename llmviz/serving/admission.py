"""Which requests join the batch from the queue, and which blocks they get. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llmviz.serving.blocks import BlockManager, common_length
from llmviz.serving.plan import Plan
from llmviz.serving.sequences import Sequence

if TYPE_CHECKING:
    from llmviz.serving.scheduler import Scheduler


class Beginning(NamedTuple):
    """How the table of a sequence begins that is going to join: with so many `blocks` of others.

    known: those that are there already; or sibling: one that joins with it and begins alike.
    """

    known: list[int]
    sibling: Sequence | None
    blocks: int


def admit(scheduler: Scheduler, plan: Plan) -> None:
    """Let the first in the queue join as long as there are rows, blocks and budget."""
    blocks = scheduler.blocks
    while scheduler.waiting and scheduler.left != 0:
        unit = list(scheduler.waiting[0].unit)
        if not scheduler.has_rows(unit):
            return
        begin = _beginnings(blocks, unit)
        if not scheduler.has_blocks(_blocks_needed(blocks, unit, begin)):
            return
        for beginning in begin:  # what is known is held before anything is given away
            for block in beginning.known:
                blocks.hold(block)
        for sequence, beginning in zip(unit, begin, strict=True):
            scheduler.next_waiting()
            _join(scheduler, sequence, beginning, plan)


def _join(scheduler: Scheduler, sequence: Sequence, beginning: Beginning, plan: Plan) -> None:
    """Make the table of a sequence, let it run, and plan what the budget allows of its prompt."""
    blocks, length, table = scheduler.blocks, len(sequence.tokens), beginning.known
    if beginning.sibling is not None:
        table = blocks.fork(beginning.sibling.table[: beginning.blocks])
    size = blocks.block_size
    while len(table) * size < length:
        table.append(blocks.allocate())
    computed = beginning.blocks * size
    sequence.table, sequence.own_room = table, len(table) * size
    sequence.computed, sequence.remembered = computed, beginning.blocks
    scheduler.place(sequence)
    plan.shared += computed
    plan.admitted.append(sequence.name)
    count = length - computed
    if scheduler.left is not None:
        count = min(count, scheduler.left)
        scheduler.spend(count)
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
        beginning = Beginning(known, None, len(known))
        for other in unit[:number]:
            equal = common_length(other.tokens, sequence.tokens) // blocks.block_size
            if equal > beginning.blocks:
                beginning = Beginning([], other, equal)
        begin.append(beginning)
    return begin


def _blocks_needed(blocks: BlockManager, unit: list[Sequence], begin: list[Beginning]) -> int:
    """How many free blocks it takes to let a unit join; those that are known may be free, too."""
    needed, unused = 0, set()
    for sequence, beginning in zip(unit, begin, strict=True):
        needed += -(-len(sequence.tokens) // blocks.block_size) - beginning.blocks
        for block in beginning.known:
            if not blocks.owners[block]:
                unused.add(block)
    return needed + len(unused)

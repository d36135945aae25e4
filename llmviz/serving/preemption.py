"""Who has to wait where blocks run out, and how it comes back. No torch.

The newest sequence that runs is pushed out. Its keys and values are computed again later, or are
moved to a second memory until there is room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.serving.plan import Plan
from llmviz.serving.sequences import Sequence

if TYPE_CHECKING:
    from llmviz.serving.scheduler import Scheduler


def make_room(scheduler: Scheduler, sequence: Sequence, plan: Plan) -> bool:
    """A place for the last token of a running sequence; False where it had to leave itself."""
    blocks, table, length = scheduler.blocks, sequence.table, len(sequence.tokens)
    grows = length > len(table) * blocks.block_size
    if grows or not blocks.writable(table[-1]):
        while not blocks.free:
            victim = scheduler.running[-1]
            _preempt(scheduler, victim, plan)
            if victim is sequence:
                return False
            if not grows and blocks.writable(table[-1]):
                break  # who shared the block has left it
        if grows:
            table.append(blocks.allocate())
        elif not blocks.writable(table[-1]):
            plan.copies.append(blocks.own_copy(table, len(table) - 1))
    sequence.room = length
    return True


def swap_in(scheduler: Scheduler, plan: Plan) -> None:
    """Let those in the second memory go on, the oldest first, as long as there is room."""
    while scheduler.swapped and scheduler.left != 0:
        sequence = scheduler.swapped[0]
        needs = scheduler.config.blocks_for(len(sequence.tokens))
        if not scheduler.fits(sequence, needs):
            return
        scheduler.swapped.popleft()
        sequence.table = [scheduler.blocks.allocate() for _ in range(needs)]
        stored = sequence.table[: len(sequence.host)]
        plan.swap_in.extend(zip(sequence.host, stored, strict=True))
        plan.swapped_in.append(sequence.name)
        scheduler.host_free.extend(sequence.host)
        sequence.host = []
        sequence.room = len(sequence.tokens)
        sequence.remembered = 0
        scheduler.place(sequence)
        plan.decode.append(sequence)
        if scheduler.left is not None:
            scheduler.left -= 1


def _preempt(scheduler: Scheduler, sequence: Sequence, plan: Plan) -> None:
    """Take the blocks of a running sequence, which none has planned for in this tick."""
    scheduler.running.remove(sequence)
    swaps = scheduler.config.preemption == "swap" and sequence.decodes
    if swaps and len(sequence.table) <= len(scheduler.host_free):
        sequence.host = [scheduler.host_free.pop() for _ in sequence.table]
        plan.swap_out.extend(zip(sequence.table, sequence.host, strict=True))
        plan.swapped_out.append(sequence.name)
        scheduler.rows -= sequence.rows
        scheduler.blocks.release(sequence.table)
        scheduler.swapped.appendleft(sequence)
    else:
        plan.preempted.append(sequence.name)
        scheduler.release(sequence)
        scheduler.waiting.appendleft(sequence)

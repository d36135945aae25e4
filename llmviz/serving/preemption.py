"""Which sequence has to wait where blocks run out, and how it comes back. No torch.

The newest sequence that runs is pushed out, the hypotheses of a beam search all together. Their
keys and values are computed again later, or are moved to a second memory until there is room.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from llmviz.serving.blocks import BlockManager
from llmviz.serving.plan import Plan
from llmviz.serving.sequences import Sequence

if TYPE_CHECKING:
    from llmviz.serving.scheduler import Scheduler


def make_room(scheduler: Scheduler, unit: list[Sequence], plan: Plan) -> bool:
    """A place for the last token of running sequences; False where they had to leave themselves.

    A shared block that one of them is going to write into is copied for it.
    """
    blocks = scheduler.blocks
    while blocks.free < len(unit) and blocks.free < _new_blocks(blocks, unit):  # one each at most
        victim = scheduler.running[-1]
        _preempt(scheduler, victim, plan)
        if victim in unit:
            return False
    for sequence in unit:
        table, length = sequence.table, len(sequence.tokens)
        if length > len(table) * blocks.block_size:
            table.append(blocks.allocate())
        elif not blocks.writable(table[-1]):
            plan.copies.append(blocks.own_copy(table, len(table) - 1))
        sequence.own_room = len(table) * blocks.block_size
    return True


def _new_blocks(blocks: BlockManager, unit: list[Sequence]) -> int:
    """How many blocks these need for their last tokens; the last owner of one need not copy it."""
    size = blocks.block_size
    roomy = [member for member in unit if len(member.tokens) <= len(member.table) * size]
    written = Counter(member.table[-1] for member in roomy)
    grow = len(unit) - len(roomy)
    return grow + sum(count - (blocks.owners[block] == count) for block, count in written.items())


def swap_in(scheduler: Scheduler, plan: Plan) -> None:
    """Let those in the second memory go on, the oldest first, as long as there is room.

    Full blocks that several of them share come back once, the last, partly filled one for each.
    """
    blocks = scheduler.blocks
    while scheduler.swapped:
        unit = list(scheduler.swapped[0].unit)
        if scheduler.left is not None and scheduler.left < len(unit):
            return
        full = unit[0].computed // blocks.block_size  # as many in each of them
        together = dict.fromkeys(host for member in unit for host in member.host[:full])
        if not (scheduler.has_rows(unit) and scheduler.has_blocks(len(together) + len(unit))):
            return
        place_of = {host: blocks.allocate() for host in together}
        plan.swap_in.extend(place_of.items())
        given = set()
        for sequence in unit:
            scheduler.next_swapped()
            sequence.table = [place_of[host] for host in sequence.host[:full]]
            for block in sequence.table:
                if block in given:
                    blocks.hold(block)
            given.update(sequence.table)
            sequence.table.append(blocks.allocate())
            plan.swap_in.extend((host, sequence.table[-1]) for host in sequence.host[full:])
            plan.swapped_in.append(sequence.name)
            sequence.own_room = len(sequence.table) * blocks.block_size
            sequence.remembered = 0
            scheduler.place(sequence)
            plan.decode.append(sequence)
        scheduler.free_host_blocks(unit)
        scheduler.spend(len(unit))


def _preempt(scheduler: Scheduler, sequence: Sequence, plan: Plan) -> None:
    """Take the blocks of a running sequence and its unit, for which nothing is planned yet."""
    unit = list(sequence.unit)
    stored = dict.fromkeys(block for member in unit for block in member.table)
    swaps = scheduler.config.preemption == "swap" and all(member.decodes for member in unit)
    if swaps and len(stored) <= len(scheduler.host_free):
        plan.swap_out.extend(scheduler.swap_out(unit, stored).items())
        plan.swapped_out += [member.name for member in unit]
    else:
        plan.preempted += [member.name for member in unit]
        scheduler.put_back(unit)
        if sequence.beams is not None:
            sequence.beams.drawn.clear()  # all are computed again

"""Which sequences are computed in the next step, and where they lie in memory. No torch, no clock.

Clients take turns, and of each the oldest request goes first; of a request for several texts the
first one is begun, then those of others, then its second one. Where blocks run out, the newest
sequence that runs is pushed out, the hypotheses of a beam search all together: their keys and
values are computed again later, or are moved to a second memory until there is room.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable
from operator import itemgetter

from llmviz.serving.blocks import BlockManager, common_length
from llmviz.serving.plan import Draw, Plan
from llmviz.serving.requests import LENGTH, Request
from llmviz.serving.sequences import (
    Beams,
    Beginning,
    Sequence,
    beginnings,
    blocks_needed,
    new_blocks,
)
from llmviz.serving.settings import POLICIES, ServingConfig, check_fits
from llmviz.serving.static_batching import begin, go_on, next_batch, ready_at

OVERTAKING = 100  # calls that come later and whose first text is begun before a call's second one
AGAIN = -1  # the turn of what was pushed out: before all that has not begun


class Scheduler:
    """The queue, the running sequences, their rows and their blocks.

    `schedule` makes the plan of a step, `advance` notes the tokens that were drawn. Not safe for
    several threads at once.
    """

    def __init__(self, config: ServingConfig):
        self.config, self.policy = config, POLICIES[config.policy]
        share = config.share_prefixes and not self.policy.static_batching
        self.blocks = BlockManager(config.n_blocks, config.block_size, share_prefixes=share)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []  # the oldest first, here and in the other two
        self.swapped: deque[Sequence] = deque()
        self.rows = 0  # of the running ones
        self._requests = self._calls = 0
        self.host_free = list(range(config.host_blocks))  # blocks of the second memory
        self.left: int | None = None  # of the token budget, in the step that is planned
        self.copies: list[tuple[int, int]] = []  # blocks to copy for a batch that runs as a whole

    def check(self, request: Request) -> None:
        """Raise ValueError for a request that would never fit."""
        check_fits(request, self.config)

    def add(self, request: Request) -> list[Sequence]:
        """Let a request wait for its turn; return its sequences so far.

        Clients take turns: before the second one of others comes the first one of this client.
        Raises ValueError as `check` does.
        """
        self.check(request)
        number = self._requests
        self._requests += 1
        self._calls += request.turn == 0
        if request.beams is not None:
            added = Beams(request, number, whole_batch=self.policy.static_batching).sequences
        elif self.policy.static_batching:  # every row is by itself
            added = [Sequence(request, sample, number) for sample in range(request.n)]
        else:  # the next one waits once this one is begun
            added = [Sequence(request, 0, number)]
        for sequence in added:
            sample = 0 if request.beams is not None else sequence.sample
            sequence.turn = self._calls + OVERTAKING * (request.turn + sample)
        self._line_up(added)
        return added

    def _line_up(self, added: list[Sequence]) -> None:
        """Let more sequences wait: clients take turns, and of each the lowest turn goes first."""
        waiting = [*self.waiting, *added]
        clients = {sequence.request.client: 0 for sequence in waiting if sequence.turn != AGAIN}
        place = {client: number for number, client in enumerate(clients)}  # who is next comes first
        order = []
        for sequence in sorted(waiting, key=_turn):
            client = sequence.request.client
            if sequence.turn != AGAIN and sequence is sequence.unit[0]:
                clients[client] += 1
            order.append(
                (sequence, (0, 0) if sequence.turn == AGAIN else (clients[client], place[client]))
            )
        self.waiting = deque(sequence for sequence, _ in sorted(order, key=itemgetter(1)))

    def schedule(self, now: float, waited_since: float | None = None) -> Plan:
        """The plan of the next step; blocks are given and taken at once.

        now, waited_since: seconds; when it is, and since when the first in the queue waits, which
        only the policy "dynamic" looks at.
        """
        plan = Plan()
        if self.policy.static_batching:
            if all(sequence.reason is not None for sequence in self.running):
                while self.running:
                    self.release(self.running.pop())
                self.copies = []
            if not self.running and now < ready_at(self.config, len(self.waiting), waited_since):
                return plan
            self._plan_whole_batch(plan)
        else:
            self._plan_running(plan)
            # Else those who come would take the blocks for which others were just pushed out.
            if not (plan.preempted or plan.swapped_out):
                self._swap_in(plan)
                if not self.swapped:
                    self._admit(plan)
        self._plan_draws(plan)
        return plan

    def ready_at(self, waited_since: float | None) -> float:
        """From when on (seconds) a batch may begin: minus infinity where nothing is waited for."""
        if not self.policy.waits or any(sequence.reason is None for sequence in self.running):
            return float("-inf")
        return ready_at(self.config, len(self.waiting), waited_since)

    def advance(self, plan: Plan, drawn: list[Draw]) -> list[Sequence]:
        """Note that a plan was computed and which token each of its draws gave, if any.

        A sequence without a token fails, and no later prompt shares its blocks. Returns the
        sequences that have ended; their blocks are free, but for those of a batch that goes on as
        a whole. A beam search makes its step when all its hypotheses have been computed.
        """
        for sequence, start, count in plan.prefill:
            sequence.computed = start + count
            self._remember(sequence)
        for parent, start, count in plan.prefill:
            if parent.forks and start + count == parent.prompt_length:
                for sequence in parent.forks:
                    self.join(sequence, parent)
                parent.forks = []
        ended: list[Sequence] = []
        searches: dict[Beams, None] = {}
        size = self.config.block_size
        for (_, sequence), draw in zip(plan.draws, drawn, strict=True):
            sequence.computed = computed = len(sequence.tokens)
            if isinstance(draw, int):
                if computed % size == 0:
                    self._remember(sequence)
                if sequence.append(draw):
                    ended.append(sequence)
            elif sequence.beams is not None:
                self._remember(sequence)
                sequence.beams.note(sequence, draw)
                searches[sequence.beams] = None
            else:
                self.blocks.forget(sequence.table)
                sequence.fail(str(draw))
                ended.append(sequence)
        for sequence in ended:
            if not self.policy.static_batching:
                self.end(sequence)
        for beams in searches:
            ended += self._advance_search(beams, plan)
        return ended

    def cancel(self, request_id: str, reason: str) -> list[Sequence]:
        """End all sequences of a request that go on; return them."""
        ended = []
        for place in (self.waiting, self.running, self.swapped):
            for sequence in [sequence for sequence in place if sequence.request.id == request_id]:
                if sequence.reason is not None:
                    continue  # it pads a batch
                sequence.reason = reason
                ended.append(sequence)
                if place is self.running and self.policy.static_batching:
                    continue  # its row stays as padding
                if place is self.running:
                    self.end(sequence)
                else:
                    place.remove(sequence)
        self.free_host_blocks(ended)
        return ended

    def _plan_whole_batch(self, plan: Plan) -> None:
        if self.running:
            go_on(self.running, plan)
            plan.copies, self.copies = self.copies, []
            return
        count, blocks = next_batch(self.config, self.waiting)
        batch = [self.waiting.popleft() for _ in range(count)]
        for sequence in batch:
            sequence.table = [self.blocks.allocate() for _ in range(blocks)]
            self._activate(sequence)
        begin(batch, plan)

    def _plan_running(self, plan: Plan) -> None:
        """A token for each that decodes, a part of the prompt for each that does not yet."""
        prompts = []
        for sequence in self.running:  # those pushed out meanwhile stand at its end
            if not sequence.decodes:
                prompts.append(sequence)
            elif sequence.beams is not None:
                unit = list(sequence.unit)
                if sequence is unit[0] and self._allocate_slots(unit, plan):
                    plan.decode += unit
            elif sequence.computed < sequence.allocated_slots or self._allocate_slots(
                [sequence], plan
            ):
                plan.decode.append(sequence)
        left = self.config.token_budget - len(plan.decode) if self.policy.chunked else None
        for sequence in prompts:
            count = len(sequence.tokens) - sequence.computed
            if left is not None:
                count = min(count, left)
                left -= count
            if count:
                plan.prefill.append((sequence, sequence.computed, count))
        self.left = left

    def _plan_draws(self, plan: Plan) -> None:
        plan.draws = list(enumerate(plan.decode))
        row = len(plan.decode)
        for sequence, start, count in plan.prefill:
            if start + count == len(sequence.tokens) and not sequence.idle:
                plan.draws.append((row, sequence))
                plan.draws += [(row, fork) for fork in sequence.forks]
            row += 1

    def _remember(self, sequence: Sequence) -> None:
        full = sequence.computed // self.config.block_size
        for place in range(sequence.remembered, full):
            self.blocks.remember(sequence.table, sequence.tokens, place)
        sequence.remembered = max(sequence.remembered, full)

    def _admit(self, plan: Plan) -> None:
        """Let the first in the queue join as long as there are rows, blocks and budget."""
        blocks = self.blocks
        while self.waiting:
            unit = list(self.waiting[0].unit)
            if not self.has_rows(unit):
                return
            if parent := self._reading_for(unit[0]):
                parent.forks.append(self._take(plan))
                self.rows += 1
                continue
            begin = beginnings(blocks, unit)
            if self.left == 0 or not self.has_blocks(blocks_needed(blocks, unit, begin)):
                return
            for beginning in begin:  # what is known is held before anything is given away
                for block in beginning.known:
                    blocks.hold(block)
            for beginning in begin:
                self._begin(self._take(plan), beginning, plan)

    def _reading_for(self, sequence: Sequence) -> Sequence | None:
        """Who is reading the same prompt for another sample, so that this one need not."""
        if sequence.request.n == 1 or sequence.written:
            return None
        same = (other for other in self.running if other.request is sequence.request)
        return next((other for other in same if not (other.decodes or other.written)), None)

    def _take(self, plan: Plan) -> Sequence:
        """Take the first out of the queue; the next sample of its request waits from now on."""
        sequence = self.waiting.popleft()
        plan.admitted.append(sequence.name)
        request, sample = sequence.request, sequence.sample + 1
        if sequence.beams is None and sequence.turn != AGAIN and sample < request.n:
            after = Sequence(request, sample, sequence.order[0])
            after.turn = sequence.turn + OVERTAKING
            self._line_up([after])
        return sequence

    def _begin(self, sequence: Sequence, beginning: Beginning, plan: Plan) -> None:
        """Make a sequence's table, let it run, and plan what the budget allows of its prompt."""
        blocks, length, table = self.blocks, len(sequence.tokens), beginning.known
        if beginning.sibling is not None:
            table = blocks.fork(beginning.sibling.table[: beginning.blocks])
        size = blocks.block_size
        while len(table) * size < length:
            table.append(blocks.allocate())
        computed = beginning.blocks * size
        sequence.table, sequence.allocated_slots = table, len(table) * size
        sequence.computed, sequence.remembered = computed, beginning.blocks
        self._activate(sequence)
        plan.shared += computed
        count = length - computed
        if self.left is not None:
            count = min(count, self.left)
            self.left -= count
        if count:
            plan.prefill.append((sequence, computed, count))

    def _allocate_slots(self, unit: list[Sequence], plan: Plan) -> bool:
        """Give the next token of running sequences its slots; False where they were preempted.

        Where no block is free, the youngest sequence is preempted for them. A shared block that one
        of them is going to write into is copied for it.
        """
        blocks = self.blocks
        # one each at most
        while blocks.free < len(unit) and blocks.free < new_blocks(blocks, unit):
            victim = self.running[-1]
            self._preempt(victim, plan)
            if victim in unit:
                return False
        for sequence in unit:
            table, length = sequence.table, len(sequence.tokens)
            if length > len(table) * blocks.block_size:
                table.append(blocks.allocate())
            elif not blocks.writable(table[-1]):
                plan.copies.append(blocks.own_copy(table, len(table) - 1))
            sequence.allocated_slots = len(table) * blocks.block_size
        return True

    def _swap_in(self, plan: Plan) -> None:
        """Let those in the second memory go on, the oldest first, as long as there is room.

        Full blocks that several of them share come back once, the last, partly filled one for each.
        """
        blocks = self.blocks
        while self.swapped:
            unit = list(self.swapped[0].unit)
            # Nobody younger passes one that does not fit: it could wait for ever else.
            if self.left is not None and self.left < len(unit):
                return
            full = unit[0].computed // blocks.block_size  # as many in each of them
            together = dict.fromkeys(host for member in unit for host in member.host[:full])
            # One block more for each: its last one is partly filled, and it writes there alone.
            if not (self.has_rows(unit) and self.has_blocks(len(together) + len(unit))):
                return
            place_of = {host: blocks.allocate() for host in together}
            plan.swap_in.extend(place_of.items())
            given = set()
            for sequence in unit:
                self.swapped.popleft()
                sequence.table = [place_of[host] for host in sequence.host[:full]]
                for block in sequence.table:
                    if block in given:
                        blocks.hold(block)
                given.update(sequence.table)
                sequence.table.append(blocks.allocate())
                plan.swap_in.extend((host, sequence.table[-1]) for host in sequence.host[full:])
                plan.swapped_in.append(sequence.name)
                sequence.allocated_slots = len(sequence.table) * blocks.block_size
                sequence.remembered = 0  # its new blocks are known to no later prompt yet
                self._activate(sequence)
                plan.decode.append(sequence)
            self.free_host_blocks(unit)
            if self.left is not None:
                self.left -= len(unit)

    def _preempt(self, sequence: Sequence, plan: Plan) -> None:
        """Take the blocks of a running sequence and its unit, for which nothing is planned yet."""
        unit = list(sequence.unit)
        stored = dict.fromkeys(block for member in unit for block in member.table)
        # Who comes back from there decodes at once, so no prompt may be half read.
        swaps = self.config.preemption == "swap" and all(member.decodes for member in unit)
        if swaps and len(stored) <= len(self.host_free):
            plan.swap_out.extend(self.swap_out(unit, stored).items())
            plan.swapped_out += [member.name for member in unit]
        else:
            plan.preempted += [member.name for member in unit]
            self.put_back(unit)
            if sequence.beams is not None:
                sequence.beams.drawn.clear()  # all are computed again

    def _advance_search(self, beams: Beams, plan: Plan) -> list[Sequence]:
        """Make a step of the search, if all that live are computed; return its texts at the end."""
        if beams.problem:
            for sequence in beams.sequences:
                self.blocks.forget(sequence.table)
        else:
            if len(beams.drawn) < len(beams.living):
                return []
            wanted = beams.step()
            if not beams.search.over:
                self._go_on_with(beams, wanted, plan)
                return []
        for sequence in beams.sequences:
            if self.policy.static_batching:  # its row stays as padding
                sequence.reason = LENGTH
            else:
                self.end(sequence)
        return beams.texts()

    def _go_on_with(self, beams: Beams, wanted: list[tuple[Sequence, int]], plan: Plan) -> None:
        """Give each hypothesis a sequence: its parent's own, or, where that is taken, another."""
        parents = {parent for parent, _ in wanted}
        dropped = [sequence for sequence in beams.sequences if sequence not in parents]
        if not self.policy.static_batching:
            for sequence in dropped:
                self.drop(sequence)
            kept = {parent.sample for parent in parents}
            places = iter([sample for sample in range(beams.request.texts) if sample not in kept])
        beams.living = []
        for parent, _ in wanted:
            sequence = parent
            if parent not in parents:  # taken by a better hypothesis
                if self.policy.static_batching:
                    sequence = dropped.pop(0)
                    self._copy(parent, sequence)
                else:
                    sequence = self._fork(parent, next(places))
            parents.discard(parent)
            beams.living.append(sequence)
        for sequence, (parent, token) in zip(beams.living, wanted, strict=True):
            sequence.write(token)
            plan.hypotheses.append((sequence.name, parent.name, token))
        if self.policy.static_batching:
            for sequence in beams.sequences:
                sequence.idle = sequence not in beams.living
        else:
            beams.sequences = sorted(beams.living, key=lambda sequence: sequence.sample)

    def _fork(self, parent: Sequence, sample: int) -> Sequence:
        """A further sequence that goes on from a hypothesis, on the same blocks."""
        sequence = Sequence(parent.request, sample, parent.order[0])
        sequence.beams, sequence.tokens = parent.beams, list(parent.tokens)
        self.join(sequence, parent)
        return sequence

    def _copy(self, parent: Sequence, sequence: Sequence) -> None:
        """Let a row that no hypothesis has go on from one: its blocks become like those."""
        size, end = self.config.block_size, parent.computed
        equal = common_length(parent.tokens[:end], sequence.tokens[: sequence.computed])
        differ = slice(equal // size, -(-end // size)) if equal < end else slice(0)
        self.copies += zip(parent.table[differ], sequence.table[differ], strict=True)
        sequence.tokens = list(parent.tokens)
        sequence.computed = parent.computed

    def has_rows(self, unit: list[Sequence]) -> bool:
        """Whether the batch has rows for what joins together."""
        return self.rows + sum([member.rows for member in unit]) <= self.config.max_batch

    def has_blocks(self, count: int) -> bool:
        """Whether so many blocks are free, with one to spare where others run already."""
        return count + bool(self.running) <= self.blocks.free

    def _activate(self, sequence: Sequence) -> None:
        """Let a sequence run, in the order of arrival; its block table is set."""
        self.rows += sequence.rows
        if self.running and sequence.order < self.running[-1].order:
            insort(self.running, sequence, key=_age)
        else:
            self.running.append(sequence)

    def join(self, sequence: Sequence, parent: Sequence) -> None:
        """Let a further text of a request run, on the blocks of another of its texts."""
        sequence.table = self.blocks.fork(parent.table)
        sequence.computed = parent.computed
        sequence.allocated_slots = parent.allocated_slots = 0  # both ask: each may need a copy
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
        again = [member for sequence in unit for member in (sequence, *sequence.forks)]
        for sequence in again:
            sequence.forks, sequence.turn = [], AGAIN
        self.waiting.extendleft(reversed(again))

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


def _turn(sequence: Sequence) -> int:
    return sequence.turn


def _age(sequence: Sequence) -> tuple[int, int]:
    return sequence.order

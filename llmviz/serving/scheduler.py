"""Which sequences are computed in the next tick, and where they lie in memory. No torch, no clock.

Clients take turns, and of each the oldest request goes first. Where blocks run out, the newest has
to wait (`preemption`).
"""

from __future__ import annotations

from collections import Counter

from llmviz.serving.admission import admit
from llmviz.serving.beams import Beams, advance_search, most_blocks
from llmviz.serving.plan import Draw, Plan
from llmviz.serving.preemption import make_room, swap_in
from llmviz.serving.requests import Request
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import ServingConfig
from llmviz.serving.state import State
from llmviz.serving.whole_batches import begin, go_on, next_batch, ready_at


class Scheduler(State):
    """The queue, the running sequences and their blocks.

    `schedule` makes the plan of a tick, `advance` notes the tokens that were drawn. Not safe for
    several threads at once.
    """

    def __init__(self, config: ServingConfig):
        super().__init__(config)
        self._requests = 0

    def check(self, request: Request) -> None:
        """Raise ValueError for a request that would never fit."""
        config, whole_batch = self.config, self.policy.whole_batches
        if request.texts > config.max_batch:
            name, kind = ("n", "samples") if request.beams is None else ("beams", "beams")
            raise ValueError(
                f"{name} must be at most max_batch, {config.max_batch}; request {request.id!r} "
                f"asks for {request.texts} {kind}"
            )
        memory = (
            f"there are {config.n_blocks:,} blocks of {config.block_size}, "
            f"{config.memory_tokens:,} tokens in all"
        )
        if config.blocks_for(request.most_tokens) > config.n_blocks:
            raise ValueError(
                f"request {request.id!r} may need {request.most_tokens:,} tokens of memory (prompt "
                f"and new tokens less one); {memory}"
            )
        if request.beams is not None:
            blocks = most_blocks(request, config.block_size, whole_batch=whole_batch)
            if blocks > config.n_blocks:
                raise ValueError(
                    f"request {request.id!r} may need {blocks:,} blocks for its {request.beams} "
                    f"beams, which run together; {memory}"
                )

    def add(self, request: Request) -> list[Sequence]:
        """Let a request wait, behind all others of its client; return its sequences so far.

        Clients take turns: before the second one of others comes the first one of this client.
        Raises ValueError as `check` does.
        """
        self.check(request)
        number = self._requests
        self._requests += 1
        if request.beams is not None:
            added = Beams(request, number, whole_batch=self.policy.whole_batches).sequences
        elif self.policy.whole_batches:  # every row is by itself
            added = [Sequence(request, sample, number) for sample in range(request.n)]
        else:
            added = [Sequence(request, 0, number)]
            added[0].will_fork = request.n > 1
        place = self._place(request.client)
        for sequence in reversed(added):
            self.waiting.insert(place, sequence)
        return added

    def _place(self, client: str) -> int:
        """Where in the queue the next request of a client waits."""
        turns: Counter[str] = Counter()
        own = len({s.request.id for s in self.waiting if s.request.client == client})
        place, before = len(self.waiting), ""
        for at, sequence in enumerate(self.waiting):
            other = sequence.request.client
            turns[other] += sequence.request.id != before
            before = sequence.request.id
            if other == client:  # what was put back stands before its turn
                place = len(self.waiting)
            elif turns[other] > own + 1:
                place = min(place, at)
        return place

    def schedule(self, now: float, waited_since: float | None = None) -> Plan:
        """The plan of the next tick; blocks are given and taken at once.

        now, waited_since: seconds; when it is, and since when the first in the queue waits, which
        only the policy "dynamic" looks at.
        """
        plan = Plan()
        if self.policy.whole_batches:
            if all(sequence.reason is not None for sequence in self.running):
                while self.running:
                    self.release(self.running.pop())
                self.copies = []
            if not self.running and now < ready_at(self.config, len(self.waiting), waited_since):
                return plan
            self._plan_whole_batch(plan)
        else:
            self._plan_running(plan)
            if not (plan.preempted or plan.swapped_out):
                swap_in(self, plan)
                if not self.swapped:
                    admit(self, plan)
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
        parents = {
            sequence.request.id: sequence
            for sequence, start, count in plan.prefill
            if sequence.will_fork and start + count == sequence.prompt_length
        }
        if parents:
            for _, sequence in plan.draws:
                parent = parents.get(sequence.request.id, sequence)
                if sequence is not parent:
                    self.join(sequence, parent)
            for parent in parents.values():
                parent.will_fork = False
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
            if not self.policy.whole_batches:
                self.end(sequence)
        for beams in searches:
            ended += advance_search(self, beams, plan)
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
                if place is self.running and self.policy.whole_batches:
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
            self.place(sequence)
        begin(batch, plan)

    def _plan_running(self, plan: Plan) -> None:
        """A token for each that decodes, a part of the prompt for each that does not yet."""
        prompts = []
        for sequence in self.running:  # those pushed out meanwhile stand at its end
            if not sequence.decodes:
                prompts.append(sequence)
            elif sequence.beams is not None:
                unit = list(sequence.unit)
                if sequence is unit[0] and make_room(self, unit, plan):
                    plan.decode += unit
            elif sequence.computed < sequence.own_room or make_room(self, [sequence], plan):
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
                if sequence.will_fork:
                    request, number = sequence.request, sequence.order[0]
                    plan.draws += [
                        (row, Sequence(request, sample, number)) for sample in range(1, request.n)
                    ]
            row += 1

    def _remember(self, sequence: Sequence) -> None:
        full = sequence.computed // self.config.block_size
        for place in range(sequence.remembered, full):
            self.blocks.remember(sequence.table, sequence.tokens, place)
        sequence.remembered = max(sequence.remembered, full)

"""An engine that continues the prompts of many requests at once.

    engine = Engine(model, ServingConfig(max_batch=16))
    engine.add(Request("a", prompt=(5, 3, 8), max_new_tokens=20))
    while engine.busy:
        step = engine.step()
        ... step.emitted, step.finished

One thread drives an engine: `add`, `step`, `cancel` and `close` must not run at the same time. A
server keeps one thread for it, which takes what the others want from a queue.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llmviz.serving import requests
from llmviz.serving.plan import Draw, Plan, Runner
from llmviz.serving.recording import DECODE, PADDING, PREFILL, EngineStep, Row
from llmviz.serving.scheduler import Scheduler
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import ServingConfig

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


class Engine:
    """A model, its memory of keys and values, and the queue of requests.

    model: a GPT whose options `PagedModel` reads, or a `Runner` such as the simulated one.
    clock: seconds; steps are told from the engine's first one on.

    Raises ValueError for a model that `PagedModel` refuses.
    """

    def __init__(
        self,
        model: LanguageModel | Runner,
        config: ServingConfig | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.config = ServingConfig() if config is None else config
        self.scheduler = Scheduler(self.config)
        self.runner: Runner
        if isinstance(model, Runner):
            self.runner = model
        else:
            from llmviz.serving.model_runner import ModelRunner

            self.runner = ModelRunner(model, self.config)
        self._clock = clock
        self._begun = clock()
        self._living: dict[str, set[str]] = {}  # the names of a request's sequences
        self._since: dict[str, float] = {}  # when each waiting request came
        self._ended: list[requests.Outcome] = []  # not told yet
        self._ticks = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a request goes on or waits, or an end is still to be told."""
        return bool(self._living or self._ended)

    @property
    def now(self) -> float:
        """Seconds since the engine was made."""
        return self._clock() - self._begun

    @property
    def wakes_at(self) -> float | None:
        """When `step` has something to do: seconds, at once if below `now`; None: when one comes.

        Only the policy "dynamic" lets requests wait though nothing runs.
        """
        if not self.busy:
            return None
        if self._ended:
            return float("-inf")
        return self.scheduler.ready_at(self._waited_since())

    def add(self, request: requests.Request) -> None:
        """Let a request wait for its turn.

        Raises ValueError for an id that is taken, an unknown token, and a request that would not
        fit the context or the memory; TooManyWaiting; EngineClosed.
        """
        self._check_open()
        if request.id in self._living:
            raise ValueError(f"there is a request {request.id!r} already; take another id")
        self._check_room(request.client)
        self.runner.check(request)
        self.scheduler.add(request)
        self._living[request.id] = {request.name(sample) for sample in range(request.texts)}
        self._since[request.id] = self.now

    def cancel(self, request_id: str) -> bool:
        """End a request; its tokens so far are told by the next step. False if there is none."""
        self._check_open()
        if request_id not in self._living:
            return False
        self._end(request_id, requests.CANCELLED)
        return True

    def step(self) -> EngineStep | None:
        """Compute one step: a token for each running sequence, and prompts, as the policy says.

        None where there is nothing to compute; `wakes_at` says when to come again. A sequence for
        which no token can be drawn ends as FAILED, and the others go on. Raises EngineClosed.
        """
        self._check_open()
        begin = self._clock()
        plan = self.scheduler.schedule(begin - self._begun, self._waited_since())
        scheduled = self._clock()
        ended_before, self._ended = tuple(self._ended), []
        if plan.empty and not ended_before:
            return None
        picture = _Picture(self.scheduler, plan)
        pictured = self._clock()
        drawn: list[Draw] = []
        computed = None if plan.empty else self.runner.compute(plan)
        modelled = self._clock()
        if not plan.empty:
            drawn = self.runner.draw(plan, computed)
        sampled = self._clock()
        self._clear_failed(plan, drawn)
        ended = self.scheduler.advance(plan, drawn)
        end = self._clock()
        for sequence in ended:
            self._forget(sequence)
        step = EngineStep(
            number=self._ticks,
            begin=begin - self._begun,
            end=end - self._begun,
            scheduling=scheduled - begin + end - sampled,
            model=modelled - pictured,
            sampling=sampled - modelled,
            emitted=_emitted(plan, drawn, ended),
            hypotheses=tuple(plan.hypotheses),
            finished=ended_before + tuple(sequence.outcome() for sequence in ended),
            **picture.fields,
        )
        self._ticks += 1
        return step

    def close(self) -> tuple[requests.Outcome, ...]:
        """End all requests and take no more; return the ends that no step has told."""
        if not self._closed:
            for request_id in list(self._living):
                self._end(request_id, requests.CLOSED)
            self._closed = True
        ended, self._ended = tuple(self._ended), []
        return ended

    def _check_open(self) -> None:
        if self._closed:
            raise requests.EngineClosed("the engine is closed")

    def _clear_failed(self, plan: Plan, drawn: list[Draw]) -> None:
        """Empty the blocks of those that fail: a value that is no number would spread from them."""
        if {*map(type, drawn)} == {int}:
            return
        blocks = self.scheduler.blocks
        for place, draw in enumerate(drawn):
            if isinstance(draw, ValueError):
                table = plan.draws[place][1].table
                self.runner.clear(block for block in table if blocks.writable(block))

    def _check_room(self, client: str) -> None:
        """Raise TooManyWaiting where the queue is full and this client has its share of it.

        So nobody keeps others out. In all, twice as many wait at most.
        """
        waiting, most = self.scheduler.waiting, self.config.max_waiting
        if len(waiting) < most:
            return
        held = Counter(sequence.request.client for sequence in waiting)
        share = most // len(held.keys() | {client})
        if held[client] >= share or len(waiting) >= 2 * most:
            raise requests.TooManyWaiting(
                f"{len(waiting)} requests wait already, and more are not allowed"
            )

    def _waited_since(self) -> float | None:
        known = (self._since.get(sequence.request.id) for sequence in self.scheduler.waiting)
        return min((since for since in known if since is not None), default=None)

    def _end(self, request_id: str, reason: str) -> None:
        ended = self.scheduler.cancel(request_id, reason)
        for sequence in ended:
            self._ended.append(sequence.outcome())
            self._forget(sequence)
        request = ended[0].request
        for sample in range(request.texts):  # samples that never began, places of a beam search
            if request.name(sample) in self._living.get(request_id, ()):
                self._ended.append(requests.Outcome(request_id, sample, (), reason))
                self._name_ended(request, request.name(sample))

    def _forget(self, sequence: Sequence) -> None:
        self.runner.forget(sequence)
        self._name_ended(sequence.request, sequence.name)

    def _name_ended(self, request: requests.Request, name: str) -> None:
        names = self._living[request.id]
        names.remove(name)
        if not names:
            del self._living[request.id]
            del self._since[request.id]


def _emitted(plan: Plan, drawn: list[Draw], ended: list[Sequence]) -> tuple[tuple[str, int], ...]:
    """Each token that was written, and its request; a beam search writes its texts at its end."""
    single = [
        (sequence.name, token)
        for (_, sequence), token in zip(plan.draws, drawn, strict=True)
        if sequence.beams is None and isinstance(token, int)
    ]
    beams = [sequence for sequence in ended if sequence.score is not None]
    return (
        *single,
        *((beam.name, token) for beam in beams for token in beam.tokens[beam.prompt_length :]),
    )


def _row(sequence: Sequence, phase: str, start: int, tokens: int) -> Row:
    return Row(sequence.name, sequence.request.id, phase, start, tokens)


class _Picture:
    """What a step shows of the memory, copied before the step is computed."""

    def __init__(self, scheduler: Scheduler, plan: Plan):
        size = scheduler.config.block_size
        running = scheduler.running
        rows = [_row(sequence, DECODE, len(sequence.tokens) - 1, 1) for sequence in plan.decode]
        rows += [_row(sequence, PREFILL, start, count) for sequence, start, count in plan.prefill]
        rows += [_row(sequence, PADDING, sequence.computed - 1, 1) for sequence in plan.padding]
        room = {sequence.name: sequence.room for sequence in running}
        held = sum(len(sequence.table) for sequence in running) * size
        self.fields: dict[str, Any] = {
            "rows": tuple(rows),
            "padding": plan.padding_tokens + len(plan.padding),
            "blocks": {sequence.name: tuple(sequence.table) for sequence in running},
            "room": room,
            "cached": scheduler.blocks.cached,
            "free": scheduler.blocks.free,
            "waste": held - sum(room.values()),
            "queue": tuple(sequence.name for sequence in scheduler.waiting),
            "admitted": tuple(plan.admitted),
            "preempted": tuple(plan.preempted),
            "swapped_out": tuple(plan.swapped_out),
            "swapped_in": tuple(plan.swapped_in),
            "copies": tuple(plan.copies),
            "shared": plan.shared,
        }

"""An engine for many callers at once: it works in a thread of its own, and each caller has a queue.

    service = Service(engine)
    service.start()
    answer = await service.submit([request])
    async for event in answer: ...    # Written tokens, and one Ended for each sample
    service.close()                   # every answer gets its end

Only that thread touches the engine, so that the engine needs no lock. What callers want (a request,
a cancellation) waits in a list until the step under way has ended.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from llmviz.serving.engine import Engine
from llmviz.serving.recording import EngineStep
from llmviz.serving.requests import CANCELLED, CLOSED, FAILED, Request

_log = logging.getLogger(__name__)


class Closed(RuntimeError):
    """The service takes no requests: it was closed, or its engine failed."""


@dataclass(frozen=True)
class Written:
    """A token that one sample has got. choice: its number among the samples of all requests."""

    choice: int
    token: int


@dataclass(frozen=True)
class Ended:
    """A sample gets no more tokens, and why: a reason of `requests.REASONS`.

    problem: where it failed by itself, what was wrong; empty where the whole engine failed.
    """

    choice: int
    reason: str
    problem: str = ""


class Answer:
    """What one caller gets, in order, until each sample of each of its requests has ended."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = tuple(requests)
        self.choices = sum(request.texts for request in requests)
        self._loop = asyncio.get_running_loop()
        self._taken: asyncio.Future[None] = self._loop.create_future()
        self._queue: asyncio.Queue[Written | Ended] = asyncio.Queue()
        self._going_on = set(range(self.choices))
        self._lock = threading.Lock()  # of what was just named: two threads may end an answer

    @property
    def over(self) -> bool:
        """Whether every sample was told its end."""
        return not self._going_on

    def put(self, event: Written | Ended) -> None:
        """Send an event, from any thread; a sample that has ended gets none."""
        with self._lock:
            if event.choice not in self._going_on:
                return
            if isinstance(event, Ended):
                self._going_on.discard(event.choice)
        self._call(self._queue.put_nowait, event)

    def end(self, reason: str) -> None:
        """End all samples that go on."""
        for choice in range(self.choices):
            self.put(Ended(choice, reason))

    def take(self, refusal: Exception | None = None) -> None:
        """Say from the engine's thread that the requests were taken, or why not."""
        self._call(self._settle, refusal)

    async def taken(self) -> None:
        """Return when the engine has taken the requests; raises what it refused them with."""
        await self._taken

    async def __aiter__(self) -> AsyncIterator[Written | Ended]:
        left = self.choices
        while left:
            event = await self._queue.get()
            left -= isinstance(event, Ended)
            yield event

    def _settle(self, refusal: Exception | None) -> None:
        if self._taken.done():
            return
        if refusal is None:
            self._taken.set_result(None)
        else:
            self._taken.set_exception(refusal)

    def _call(self, function: Callable, *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the caller's loop is closed: nobody waits any more
            if not self._loop.is_closed():
                raise


class Service:
    """Serves an engine to coroutines of any loop; how many may wait the engine's settings say."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._wake = threading.Condition()
        # Under the lock:
        self._orders: list[Callable[[], None]] = []
        self._answers: set[Answer] = set()
        self._end = ""  # the reason why nothing more is taken
        # Of the engine's thread:
        self._requests: dict[str, Request] = {}
        self._places: dict[str, tuple[Answer, int]] = {}  # by the name of a sequence
        self._thread = threading.Thread(target=self._work, name="serving", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """Take nothing more, and end all answers after the step under way; returns at once."""
        with self._wake:
            self._end = self._end or CLOSED
            self._wake.notify()

    def close(self) -> None:
        """Stop, and wait until every answer has its end; again: nothing happens."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join()
        else:
            self._end_all()  # it never began

    @property
    def busy(self) -> int:
        """How many samples wait or run; those of an answer that was cancelled do not count."""
        with self._wake:
            return sum(answer.choices for answer in self._answers)

    @property
    def ended(self) -> str:
        """Why it takes no requests any more, CLOSED or FAILED; empty while it does."""
        return self._end

    async def submit(self, requests: Sequence[Request]) -> Answer:
        """Hand requests to the engine and return what comes of them.

        Raises ValueError: the engine refuses one of them (TooManyWaiting: for now), and then none
        is taken; Closed: nothing is taken any more.
        """
        answer = Answer(requests)
        with self._wake:
            if self._end:
                raise Closed("the server is being closed" if self._end == CLOSED else _FAILURE)
            self._answers.add(answer)
            self._order(partial(self._add, answer))
        try:
            await answer.taken()
        except asyncio.CancelledError:
            self.cancel(answer)
            raise
        return answer

    def cancel(self, answer: Answer) -> None:
        """End an answer, and let its requests go; one that is over stays as it is."""
        with self._wake:
            if answer not in self._answers:
                return
            self._answers.discard(answer)
            self._order(partial(self._drop, answer))
        answer.end(CANCELLED)

    def _order(self, order: Callable[[], None]) -> None:
        self._orders.append(order)
        self._wake.notify()

    # What follows runs in the engine's thread.

    def _work(self) -> None:
        try:
            while self._wait():
                with self._wake:
                    orders, self._orders = self._orders, []
                for order in orders:
                    order()
                step = self._engine.step()
                if step is not None:
                    self._hand_out(step)
            self._engine.close()
        except Exception:  # a mistake of the engine: it is logged, and each caller gets an end
            _log.exception(_FAILURE)
            with self._wake:
                self._end = FAILED
        finally:
            self._end_all()

    def _wait(self) -> bool:
        """Wait until the engine or a caller wants something; returns whether to go on."""
        wakes_at = self._engine.wakes_at
        seconds = None if wakes_at is None else max(0.0, wakes_at - self._engine.now)
        with self._wake:
            self._wake.wait_for(lambda: self._end or self._orders, seconds)
            return not self._end

    def _add(self, answer: Answer) -> None:
        added: list[Request] = []
        try:
            for request in answer.requests:
                self._engine.add(request)
                added.append(request)
        except ValueError as refusal:
            for request in added:
                self._engine.cancel(request.id)
            self._forget(answer)
            answer.take(refusal)
            return
        choice = 0
        for request in answer.requests:
            self._requests[request.id] = request
            for sample in range(request.texts):
                self._places[request.name(sample)] = answer, choice
                choice += 1
        answer.take()

    def _drop(self, answer: Answer) -> None:
        for request in answer.requests:
            if self._requests.pop(request.id, None) is not None:
                self._engine.cancel(request.id)
                for sample in range(request.texts):
                    self._places.pop(request.name(sample), None)

    def _forget(self, answer: Answer) -> None:
        with self._wake:
            self._answers.discard(answer)

    def _hand_out(self, step: EngineStep) -> None:
        for name, token in step.emitted:
            if name in self._places:
                answer, choice = self._places[name]
                answer.put(Written(choice, token))
        for outcome in step.finished:
            request = self._requests.get(outcome.request)
            if request is None:
                continue
            answer, choice = self._places.pop(request.name(outcome.sample))
            if outcome.problem:
                _log.warning("request %s failed: %s", outcome.request, outcome.problem)
            answer.put(Ended(choice, outcome.reason, outcome.problem))
            if not any(request.name(sample) in self._places for sample in range(request.texts)):
                del self._requests[request.id]
            if answer.over:
                self._forget(answer)

    def _end_all(self) -> None:
        with self._wake:
            answers, self._answers = self._answers, set()
            self._orders.clear()
        for answer in answers:
            answer.take(Closed("the server was closed" if self._end == CLOSED else _FAILURE))
            answer.end(self._end)


_FAILURE = "the engine failed; the server's log says how"

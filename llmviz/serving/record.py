"""A run of an engine from the first request to the last token, recorded."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from llmviz.serving.engine import Engine
from llmviz.serving.plan import Runner
from llmviz.serving.recording import EngineStep, Recording
from llmviz.serving.requests import FAILED, Request
from llmviz.serving.settings import ServingConfig

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel

LOT = 0.25  # seconds of a run that are handed over together


class RunClock:
    """Seconds of a run: it can be stopped, and it can skip the time in which nothing happens."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter):
        self._clock, self._offset = clock, -clock()
        self._stopped: float | None = None

    def __call__(self) -> float:
        """Seconds since it was made, less those while it was stopped, with those skipped."""
        return (self._clock() if self._stopped is None else self._stopped) + self._offset

    def stop(self) -> None:
        """Stand still."""
        if self._stopped is None:
            self._stopped = self._clock()

    def go_on(self) -> None:
        """Run again."""
        if self._stopped is not None:
            self._offset += self._stopped - self._clock()
            self._stopped = None

    def skip_to(self, seconds: float) -> None:
        """Be at a later second at once; an earlier one changes nothing."""
        self._offset += max(0.0, seconds - self())


def record(
    model: LanguageModel | Runner,
    requests: Iterable[Request],
    config: ServingConfig,
    clock: RunClock,
) -> Iterator[EngineStep]:
    """Let an engine serve requests that come at their `arrival`, and yield its steps.

    Seconds in which nothing runs are skipped, not waited for. The clock stands still while
    the caller has a step. All requests are checked before the first step.

    Raises ValueError for a request that would not fit, or whose id another one has, and at the
    step in which no token can be drawn for one.
    """
    coming = deque(sorted(requests, key=lambda request: request.arrival))
    ids = [request.id for request in coming]
    if len(set(ids)) < len(ids):
        double = next(name for name in ids if ids.count(name) > 1)
        raise ValueError(f"two requests have the id {double!r}")
    clock.stop()
    engine = Engine(model, config, clock)
    for request in coming:
        engine.runner.check(request)
        engine.scheduler.check(request)
    clock.go_on()
    return _ticks(engine, coming, clock)


def _ticks(engine: Engine, coming: deque[Request], clock: RunClock) -> Iterator[EngineStep]:
    try:
        while coming or engine.busy:
            while coming and coming[0].arrival <= engine.now:
                engine.add(coming.popleft())
            step = engine.step()
            if step is not None:
                clock.stop()
                for outcome in step.finished:
                    if outcome.reason == FAILED:
                        raise ValueError(f"request {outcome.request!r}: {outcome.problem}")
                yield step
                clock.go_on()
                continue
            wakes = [coming[0].arrival] if coming else []
            if engine.wakes_at is not None:
                wakes.append(engine.wakes_at)
            if wakes:
                clock.skip_to(min(wakes))
    finally:
        engine.close()


def record_all(
    model: LanguageModel | Runner, requests: Iterable[Request], config: ServingConfig
) -> Recording:
    """The whole run of `record`."""
    requests = tuple(requests)
    return Recording(config, requests, tuple(record(model, requests, config, RunClock())))


def record_bundled(
    name: str, requests: Iterable[Request], config: ServingConfig, lot: float = LOT
) -> Iterator[tuple[EngineStep, ...]]:
    """`record` on a bundled model; for work in the background: a function named by its path.

    Yields the steps of about `lot` seconds at a time, since handing over one costs about as
    long as a small step. A few tokens are computed before, so that no first call is measured.
    """
    from llmviz.pretrained import load_bundled

    model, _, _ = load_bundled(name)
    warm = Request("warm", (0, 1), max_new_tokens=4)
    for _ in record(model, [warm], config, RunClock()):
        pass
    steps: list[EngineStep] = []
    since = time.perf_counter()
    clock = RunClock()
    for step in record(model, requests, config, clock):
        steps.append(step)
        if time.perf_counter() - since >= lot:
            yield tuple(steps)
            steps, since = [], time.perf_counter()
    if steps:
        yield tuple(steps)

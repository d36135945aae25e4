"""Long work in a process of its own, so that the caller can go on meanwhile.

    job = JobPool(limit=1).start("llmviz.similarity.projection:project_steps", matrix=rows)
    job.results    # what the function has yielded so far
    job.pause(), job.go_on(), job.stop()

The function is a generator, named by module and name. Its process stays for a while for the next
job, since what takes long is often its first import. Values travel as pickles between a parent
and its own child, over pipes that nobody else can write to.

Visitors may share a job: each who looks at it watches it. Who stops it stops watching, and it ends
with the last who watches, by hand or because the window was closed.
"""

from __future__ import annotations

import itertools
import pickle
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from llmviz.processes.background_child import send
from llmviz.processes.child import python_module, start_child
from llmviz.processes.fair_queue import FairQueue
from llmviz.processes.watchers import Owner, Visitors, Watchers, refusal

IDLE = 600.0  # seconds that a process without work is kept
HELD = 900.0  # seconds after which a paused job is stopped: it holds a process
LOOKS = 1.0  # seconds between two looks whether anybody watches
KILL_AFTER = 5.0  # seconds that a stopped job has for its next value

WAITING, RUNNING, PAUSED = "waiting", "running", "paused"
DONE, STOPPED, FAILED = "done", "stopped", "failed"
OVER = (DONE, STOPPED, FAILED)


class _Work:
    """One call of a generator in another process; `Job` is the handle on it."""

    def __init__(self, target: str, arguments: dict[str, Any], watchers: Watchers) -> None:
        self.target, self.arguments = target, arguments
        self.watchers = watchers
        self.process: _Process | None = None
        self.results: list[Any] = []
        self.state = WAITING
        self.problem = ""
        self.expected = True  # the problem is one clear line for the caller
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.stopped_at: float | None = None  # on the monotonic clock

    def run(self, process: _Process, held: Callable[[bool], None]) -> None:
        """Let a process do the work; it waits for a word after each value.

        held: told True when the work is paused, and False when it goes on.
        """
        self.state = RUNNING if self.may_go_on.is_set() else PAUSED
        self.process = process
        try:
            process.say((self.target, self.arguments))
            while True:
                kind, value = process.hear()
                if kind != "value":
                    break
                self.results.append(value)
                if not self.may_go_on.is_set():
                    held(True)
                    if not self.may_go_on.wait(HELD):
                        self.stop()
                    held(False)
                process.say("stop" if self.stopping else "next")
        except (OSError, EOFError, pickle.UnpicklingError):
            self._fail("its process ended unexpectedly", expected=False)
            return
        finally:
            self.process = None
        if kind == "end":
            self.state = STOPPED if self.stopping else DONE
        else:
            self._fail(value, expected=kind == "refused")

    @property
    def stopping(self) -> bool:
        """Whether it is to end at its next value."""
        return self.stopped_at is not None

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in OVER

    def refuse(self, problem: str) -> None:
        """Fail before it has begun, by a rule."""
        self.problem, self.state = problem, FAILED

    def tend(self, visitors: Visitors, now: float) -> None:
        """Stop it where nobody watches any more; end its process where it does not stop."""
        self.watchers.forget_gone(visitors, now)
        if not self.watchers:
            self.stop()
        if self.process and self.stopped_at is not None and now - self.stopped_at > KILL_AFTER:
            self.process.kill()

    def _fail(self, problem: str, expected: bool) -> None:
        self.problem, self.expected = problem, expected
        self.state = STOPPED if self.stopping else FAILED

    def stop(self) -> None:
        """End it at its next value; what it yielded stays."""
        if self.stopped_at is None:
            self.stopped_at = time.monotonic()
        if self.state == WAITING:
            self.state = STOPPED
        self.may_go_on.set()


class Job:
    """A handle on background work. The work ends when nobody holds its handle any more.

    What it says is for the visitor who asks: somebody who stopped watching sees it as it was then,
    while it goes on for others.
    """

    def __init__(self, work: _Work, pool: JobPool) -> None:
        self._work, self._pool = work, pool
        self._end = weakref.finalize(self, work.stop)

    def _left_at(self) -> int | None:
        """At how many results the visitor stopped watching; who did not watches from now on."""
        visitor, watchers = self._pool.visitors.here(), self._work.watchers
        left = watchers.left_at(visitor)
        if visitor and left is None and visitor not in watchers and not self._work.over:
            watchers.join(visitor, self._pool.visitors.owner(visitor))
        return left

    @property
    def results(self) -> list[Any]:
        """What the function has yielded so far, in order; the list grows."""
        return (
            self._work.results if (left := self._left_at()) is None else self._work.results[:left]
        )

    @property
    def state(self) -> str:
        """waiting, running, paused, done, stopped or failed."""
        return self._work.state if self._left_at() is None else STOPPED

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in OVER

    @property
    def ended(self) -> bool:
        """Whether nothing more will come for anybody; who asks does not watch it."""
        return self._work.over

    @property
    def alone(self) -> bool:
        """Whether at most one visitor watches it."""
        return len(self._work.watchers) <= 1

    @property
    def problem(self) -> str:
        """Why it failed, in one line; empty if it did not."""
        return self._work.problem

    @property
    def expected(self) -> bool:
        """Whether the problem is a rule that was broken (ValueError), and not a bug."""
        return self._work.expected

    @property
    def before(self) -> int:
        """How many jobs wait in front of this one."""
        return self._pool.before(self._work)

    def pause(self) -> None:
        """Hold it after the value that it is working on; it is stopped after `HELD` seconds."""
        if not self.over:
            self._work.may_go_on.clear()
            if self._work.state == RUNNING:
                self._work.state = PAUSED

    def go_on(self) -> None:
        """Let it go on."""
        if self._work.state == PAUSED:
            self._work.state = RUNNING
        self._work.may_go_on.set()

    def stop(self) -> None:
        """Watch it no longer, and end it if nobody else watches; what it yielded stays."""
        visitor, work = self._pool.visitors.here(), self._work
        if visitor and not work.over:
            work.watchers.leave(visitor, len(work.results))
        if not (visitor and work.watchers):
            work.stop()

    def again(self) -> bool:
        """Watch it again where others went on with it; return whether they did."""
        visitor, work = self._pool.visitors.here(), self._work
        ended = work.stopping or work.state in (STOPPED, FAILED)
        if ended or work.watchers.left_at(visitor) is None:
            return False
        work.watchers.join(visitor, self._pool.visitors.owner(visitor))
        return True


class JobPool:
    """Does jobs, `limit` of them at once: first those of who was served least, then who came.

    threads: of arithmetic in each process. visitors: who may ask for work, and watch it.
    """

    def __init__(
        self,
        limit: int = 1,
        threads: int = 1,
        idle: float = IDLE,
        visitors: Visitors | None = None,
    ) -> None:
        self.limit, self.threads, self.idle_seconds = limit, threads, idle
        self.visitors = visitors or Visitors()
        self._queue = FairQueue()
        self._works: dict[str, _Work] = {}  # what waits and what goes on
        self._numbers = itertools.count()
        self._idle: list[_Process] = []
        self._working = 0
        self._tended = False  # a thread looks whether anybody watches
        self._lock = threading.Lock()

    def start(self, target: str, **arguments: Any) -> Job:
        """Queue a call of `module:function` with these arguments, and return its handle.

        Where the visitor has as much work as is allowed, the job has failed by that rule.
        """
        visitor = self.visitors.here()
        watchers = Watchers(visitor, self.visitors.owner(visitor))
        return Job(self._queued(_Work(target, arguments, watchers)), self)

    def start_for_all(self, target: str, **arguments: Any) -> Job:
        """Queue a call that is nobody's own, so that it ends with its last handle alone."""
        return Job(self._queued(_Work(target, arguments, Watchers("", Owner()))), self)

    def _queued(self, work: _Work) -> _Work:
        owner = work.watchers.begun_by
        with self._lock:
            going = [known.watchers for known in self._works.values() if not known.stopping]
            if owner.browser and (problem := refusal(owner, going)):
                work.refuse(problem)
                return work
            name = str(next(self._numbers))
            self._works[name] = work
            self._queue.add(name, owner.browser, first=owner.own)
            self._begin()
            if not self._tended:
                self._tended = True
                threading.Thread(target=self._tend, name="watchers", daemon=True).start()
        return work

    def _tend(self) -> None:
        """Look after the work as long as there is any."""
        while True:
            time.sleep(LOOKS)
            with self._lock:
                works = list(self._works.values())
                self._tended = bool(works)
            if not works:
                return
            for work in works:
                work.tend(self.visitors, time.monotonic())

    def _begin(self) -> None:
        """Have somebody do what waits, if there is room; called under the lock."""
        if self._queue and self._working < self.limit:
            self._working += 1
            threading.Thread(target=self._serve, name="background", daemon=True).start()

    def _held(self, paused: bool) -> None:
        """A paused job makes room for another; when it goes on, both work for a while."""
        with self._lock:
            self._working += -1 if paused else 1
            self._begin()

    def warm_up(self, module: str) -> None:
        """Start a process that imports a module, unless one is at hand; returns at once."""
        with self._lock:
            if self._idle or self._working:
                return
        arguments = {"module": module}
        work = _Work("llmviz.processes.background_child:imported", arguments, Watchers("", Owner()))
        self._queued(work)

    def before(self, work: _Work) -> int:
        """How many jobs wait in front of this one."""
        with self._lock:
            queued = [self._works[name] for name in self._queue.order()]
        waiting = [job for job in queued if job.state == WAITING]
        return waiting.index(work) if work in waiting else 0

    def close(self) -> None:
        """End the processes that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    def _serve(self) -> None:
        process = None
        while True:
            with self._lock:
                self._drop_stopped()
                if not self._queue:
                    self._working -= 1
                    if process is not None and process.alive:
                        self._idle.append(process)
                        process.retire_after(self.idle_seconds, self._retire)
                    return
                name = self._queue.take()
                work = self._works[name]
                process = process or self._at_hand()
            if process is None or not process.alive:
                process = _Process(self.threads)
            work.run(process, self._held)
            with self._lock:
                del self._works[name]
            if not process.alive or (work.state == FAILED and not work.expected):
                process.close()  # nobody knows what it is in the middle of
                process = None

    def _drop_stopped(self) -> None:
        """Take out of the queue what was stopped before it began."""
        for name in [name for name in self._queue.order() if self._works[name].over]:
            self._queue.remove(name)
            del self._works[name]

    def _at_hand(self) -> _Process | None:
        while self._idle:
            process = self._idle.pop()
            process.stay()
            if process.alive:
                return process
        return None

    def _retire(self, process: _Process) -> None:
        with self._lock:
            if process not in self._idle:  # it got work while its timer rang
                return
            self._idle.remove(process)
        process.close()


class _Process:
    """A child that runs `llmviz.processes.background_child`, and the pipes to it."""

    def __init__(self, threads: int) -> None:
        command = python_module("llmviz.processes.background_child")
        self._popen = start_child(command, threads, stderr=subprocess.DEVNULL)
        self._timer: threading.Timer | None = None
        self._killed = False

    @property
    def alive(self) -> bool:
        return not self._killed and self._popen.poll() is None

    def kill(self) -> None:
        """End it in the middle of its work, whose reader then finds the end of the pipe."""
        self._killed = True
        self._popen.kill()

    def say(self, message: Any) -> None:
        assert self._popen.stdin is not None
        send(self._popen.stdin, message)

    def hear(self) -> Any:
        assert self._popen.stdout is not None
        return pickle.load(self._popen.stdout)

    def retire_after(self, seconds: float, retire: Any) -> None:
        self._timer = threading.Timer(seconds, retire, args=(self,))
        self._timer.daemon = True
        self._timer.start()

    def stay(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            assert pipe is not None
            pipe.close()

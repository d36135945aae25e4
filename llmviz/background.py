"""Long work in a process of its own, so that the caller can go on meanwhile.

    job = JobPool(limit=1).start("llmviz.similarity.projection:project_steps", matrix=rows)
    job.results    # what the function has yielded so far
    job.pause(), job.go_on(), job.stop()

The function is a generator, named by module and name. Its process stays for a while for the next
job, since what takes long is often its first import. Values travel as pickles between a parent
and its own child, over pipes that nobody else can write to.
"""

from __future__ import annotations

import pickle
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from llmviz.background_child import send
from llmviz.child import python_module, start_child

IDLE = 600.0  # seconds that a process without work is kept
HELD = 900.0  # seconds after which a paused job is stopped: it holds a process

WAITING, RUNNING, PAUSED = "waiting", "running", "paused"
DONE, STOPPED, FAILED = "done", "stopped", "failed"
OVER = (DONE, STOPPED, FAILED)


class _Work:
    """One call of a generator in another process; `Job` is the handle on it."""

    def __init__(self, target: str, arguments: dict[str, Any]) -> None:
        self.target, self.arguments = target, arguments
        self.results: list[Any] = []
        self.state = WAITING
        self.problem = ""
        self.expected = True  # the problem is one clear line for the caller
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.stopping = False

    def run(self, process: _Process, held: Callable[[bool], None]) -> None:
        """Let a process do the work; it waits for a word after each value.

        held: told True when the work is paused, and False when it goes on.
        """
        self.state = RUNNING if self.may_go_on.is_set() else PAUSED
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
        if kind == "end":
            self.state = STOPPED if self.stopping else DONE
        else:
            self._fail(value, expected=kind == "refused")

    def _fail(self, problem: str, expected: bool) -> None:
        self.problem, self.expected = problem, expected
        self.state = STOPPED if self.stopping else FAILED

    def stop(self) -> None:
        """End it at its next value; what it yielded stays."""
        self.stopping = True
        if self.state == WAITING:
            self.state = STOPPED
        self.may_go_on.set()


class Job:
    """A handle on background work. The work ends when nobody holds its handle any more."""

    def __init__(self, work: _Work, pool: JobPool) -> None:
        self._work, self._pool = work, pool
        self._end = weakref.finalize(self, work.stop)

    @property
    def results(self) -> list[Any]:
        """What the function has yielded so far, in order; the list grows."""
        return self._work.results

    @property
    def state(self) -> str:
        """waiting, running, paused, done, stopped or failed."""
        return self._work.state

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self._work.state in OVER

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
        """End it; what it yielded stays."""
        self._work.stop()


class JobPool:
    """Does jobs in the order in which they came, `limit` of them at once.

    threads: of arithmetic in each process.
    """

    def __init__(self, limit: int = 1, threads: int = 1, idle: float = IDLE) -> None:
        self.limit, self.threads, self.idle_seconds = limit, threads, idle
        self._queue: deque[_Work] = deque()
        self._idle: list[_Process] = []
        self._working = 0
        self._lock = threading.Lock()

    def start(self, target: str, **arguments: Any) -> Job:
        """Queue a call of `module:function` with these arguments, and return its handle."""
        return Job(self._queued(_Work(target, arguments)), self)

    def _queued(self, work: _Work) -> _Work:
        with self._lock:
            self._queue.append(work)
            self._begin()
        return work

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
        self._queued(_Work("llmviz.background_child:imported", {"module": module}))

    def before(self, work: _Work) -> int:
        """How many jobs wait in front of this one."""
        with self._lock:
            waiting = [job for job in self._queue if job.state == WAITING]
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
                while self._queue and self._queue[0].state == STOPPED:
                    self._queue.popleft()
                if not self._queue:
                    self._working -= 1
                    if process is not None and process.alive:
                        self._idle.append(process)
                        process.retire_after(self.idle_seconds, self._retire)
                    return
                work = self._queue.popleft()
                process = process or self._at_hand()
            if process is None or not process.alive:
                process = _Process(self.threads)
            work.run(process, self._held)
            if work.state == FAILED and not work.expected:
                process.close()  # nobody knows what it is in the middle of
                process = None

    def _at_hand(self) -> _Process | None:
        while self._idle:
            process = self._idle.pop()
            process.stay()
            if process.alive:
                return process
        return None

    def _retire(self, process: _Process) -> None:
        with self._lock:
            if process not in self._idle:
                return
            self._idle.remove(process)
        process.close()


class _Process:
    """A child that runs `llmviz.background_child`, and the pipes to it."""

    def __init__(self, threads: int) -> None:
        command = python_module("llmviz.background_child")
        self._popen = start_child(command, threads, stderr=subprocess.DEVNULL)
        self._timer: threading.Timer | None = None

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

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

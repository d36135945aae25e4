"""The processes that train, a few for many runs: one is warm before it is needed.

None is more than the limit. They are spoken to in lines of JSON, and heard in a thread each.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from llmviz.processes.child import python_module, start_child

COMMAND = python_module("llmviz.runs.worker")

Hear = Callable[["WorkerProcess", dict[str, Any]], None]
Gone = Callable[["WorkerProcess", str], None]


class WorkerProcess:
    """One process of `llmviz.runs.worker`.

    hear: called from a thread of its own with every line that the process tells.
    gone: called once when it has ended, with one line on how.
    """

    def __init__(self, hear: Hear, gone: Gone, command: tuple[str, ...] = COMMAND) -> None:
        self.ready = False  # it has nothing to do
        self.timing = False  # it is measuring a step, which a run may interrupt
        self.job = 0  # how many jobs it was given
        self._hear, self._gone = hear, gone
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process is gone
        # At the end of its input the worker saves before it goes.
        self.popen = start_child(command, 1, stderr=self._errors, text=True, encoding="utf-8")
        threading.Thread(target=self._listen, name="worker", daemon=True).start()

    def give(self, **job: Any) -> None:
        """Give it a job, to be done after those it has."""
        self.job += 1
        self._send({**job, "job": self.job})

    def stop(self) -> None:
        """Ask it to end its jobs, all that it was given so far."""
        self._send({"do": "stop", "job": self.job})

    def _send(self, line: dict[str, Any]) -> None:
        """Write a line; a process that has just died is noticed by its listener."""
        assert self.popen.stdin is not None
        try:
            self.popen.stdin.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.popen.stdin.flush()
        except (OSError, ValueError):  # the pipe is broken or closed
            return

    def close(self) -> None:
        """Let it save and go; returns at once."""
        assert self.popen.stdin is not None
        try:
            self.popen.stdin.close()
        except OSError:  # what was still to be sent has nobody to read it
            return

    def kill(self) -> None:
        """End it now, saving nothing."""
        self.popen.kill()

    def wait(self, seconds: float) -> bool:
        """Wait until it is gone; return whether it is."""
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _listen(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self._hear(self, json.loads(line))
        self._gone(self, self._ending(self.popen.wait()))

    def _ending(self, code: int) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        self._errors.close()
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with code {code}" + (f": {lines[-1][:200]}" if lines else "")


class WorkerPool:
    """The processes that train, and which run each of them has.

    limit: most of them. lock: of the pool's user, held during every call.
    heard: told what the process of a run says; idle: told when a process is free again;
    gone: told that the process of a run has ended, and how.
    """

    def __init__(
        self,
        limit: int,
        lock: threading.Condition,
        heard: Callable[[str, dict[str, Any]], None],
        idle: Callable[[], None],
        gone: Callable[[str, str], None],
        process: Callable[..., WorkerProcess] = WorkerProcess,
    ) -> None:
        self.limit, self._lock, self._process = limit, lock, process
        self._heard, self._idle, self._gone = heard, idle, gone
        self._jobs: dict[WorkerProcess, str | None] = {}
        self._times: dict[str, tuple[float | None, str]] = {}
        self.closed = False

    @property
    def busy(self) -> int:
        """How many processes have a run."""
        return sum(name is not None for name in self._jobs.values())

    @property
    def has_room(self) -> bool:
        """Whether one more run may have a process."""
        return self.busy < self.limit and not self.closed

    def give(self, name: str, **job: Any) -> None:
        """Hand a job to a free process, to a new one where none is; `has_room` was asked before."""
        free = [worker for worker, run in self._jobs.items() if run is None]
        free.sort(key=lambda worker: (not worker.ready, not worker.timing))
        worker = free[0] if free else self._spawn()
        self._jobs[worker] = name
        if worker.timing:  # a run goes before a measurement
            worker.stop()
        worker.ready = worker.timing = False
        worker.give(**job)

    def stop(self, name: str) -> None:
        """Ask the process of a run to save it and be free."""
        for worker, run in list(self._jobs.items()):
            if run == name:
                worker.stop()

    def kill(self, name: str) -> None:
        """End the process of a run that has nothing to save."""
        for worker, run in list(self._jobs.items()):
            if run == name:
                worker.kill()

    def warm(self) -> None:
        """Have one process that waits, if there may be one more."""
        if self.has_room and all(run is not None for run in self._jobs.values()):
            self._spawn()

    def cool(self) -> None:
        """Let the processes go that wait."""
        for worker, run in list(self._jobs.items()):
            if run is None:
                worker.close()

    def step_time(self, key: str, **job: Any) -> tuple[float | None, str] | None:
        """Seconds of a step, measured by a process that waits, and why not if they are None.

        Returns None until it is known. Raises nothing: a plan that cannot work says so in the line.
        """
        if key in self._times:
            return self._times[key]
        for worker in self._jobs:
            if worker.ready:
                worker.ready, worker.timing = False, True
                worker.give(do="time", key=key, **job)
                break
        return None

    def close(self, seconds: float) -> None:
        """Let every process save its run and go; wait for them. Called without the lock."""
        with self._lock:
            self.closed = True
            workers = list(self._jobs)
            for worker, run in list(self._jobs.items()):
                if run is None:  # it has nothing to save
                    worker.kill()
                else:
                    worker.close()
        end = time.monotonic() + seconds
        for worker in workers:
            if not worker.wait(max(0.1, end - time.monotonic())):
                worker.kill()

    def _spawn(self) -> WorkerProcess:
        worker = self._process(self._on_line, self._on_end)
        self._jobs[worker] = None
        return worker

    def _on_line(self, worker: WorkerProcess, message: dict[str, Any]) -> None:
        with self._lock:
            name = self._jobs.get(worker)
            match message["is"]:
                case "ready":
                    worker.ready, worker.timing = name is None, False
                    self._idle()
                case "timed" if worker.timing and message["key"]:
                    if message["seconds"] is not None or message.get("line"):
                        self._times[message["key"]] = message["seconds"], message.get("line", "")
                case _ if name is not None:
                    if message["is"] == "ended":
                        self._jobs[worker] = None
                    self._heard(name, message)
            self._lock.notify_all()

    def _on_end(self, worker: WorkerProcess, how: str) -> None:
        with self._lock:
            name = self._jobs.pop(worker, None)
            if name is not None and not self.closed:
                self._gone(name, how)
            self._lock.notify_all()

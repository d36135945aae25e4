"""The processes that train: started ahead, spoken to in lines of JSON, heard in a thread each."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from llmviz.child import python_module, start_child

COMMAND = python_module("llmviz.training.worker")

Hear = Callable[["WorkerProcess", dict[str, Any]], None]
Gone = Callable[["WorkerProcess", str], None]


class WorkerProcess:
    """One process of `llmviz.training.worker`.

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

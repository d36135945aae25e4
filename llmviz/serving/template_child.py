"""A chat template in a process of its own, which may take so much time and memory and no more.

The process lives as long as its template. One that takes too long is ended, and begins again with
the next conversation.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from llmviz.processes.child import python_module, serve_parent, start_child
from llmviz.serving.template import ChatTemplate

SECONDS = 5.0  # for one conversation
START_SECONDS = 60.0  # for a process to begin, on a busy machine
MEMORY = 2**30  # bytes of addresses, where the system bounds them
LONGEST_PROBLEM = 300  # characters


class GuardedTemplate:
    """As `ChatTemplate`, for a template that is somebody else's program."""

    def __init__(self, source: str, tokens: Mapping[str, str] | None = None) -> None:
        self._given = {"source": source, "tokens": dict(tokens or {})}
        self._turn = threading.Lock()
        self._child: subprocess.Popen | None = None
        with self._turn:
            self._start()

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the text of a conversation, up to where the model answers.

        Raises ValueError: the template refuses it, does what the sandbox does not allow, or takes
        too much time or memory.
        """
        asked = {"messages": [dict(message) for message in messages]}
        with self._turn:
            if self._child is None or self._child.poll() is not None:
                self._start()
            return str(self._ask(asked, SECONDS)["text"])

    def _start(self) -> None:
        child = start_child(python_module(__name__), 1, encoding="utf-8", stderr=subprocess.DEVNULL)
        weakref.finalize(self, _end, child)
        self._child = child
        self._ask({}, START_SECONDS)  # so that the template's seconds do not count the beginning
        self._ask(self._given, SECONDS)

    def _ask(self, asked: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        child = self._child
        assert child is not None and child.stdin is not None and child.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            line = ""
            with suppress(OSError):  # it has ended
                child.stdin.write(json.dumps(asked) + "\n")
                child.stdin.flush()
                line = child.stdout.readline()
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            _end(child)
            why = f"takes longer than {seconds:g} seconds" if late.is_set() else "ended its process"
            raise ValueError(f"the chat template {why}")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise ValueError(answer["problem"])
        return answer


def _end(child: subprocess.Popen) -> None:
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    child.wait()


def _bound(seconds: float) -> None:
    """Let this process have so many more seconds of the processor, and so much memory.

    Its parent ends it, too; but a parent may end first.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    for kind, most in (
        (resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + 2 * seconds) + 1),
        (resource.RLIMIT_AS, MEMORY),
    ):
        hard = resource.getrlimit(kind)[1]
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))


def main() -> None:
    """Answer each line of standard input: a template to take, or messages for it."""
    answers, template = serve_parent(0, encoding="utf-8"), None
    for line in sys.stdin:
        asked, answer = json.loads(line), {}
        _bound(SECONDS)
        try:
            if "source" in asked:
                template = ChatTemplate(asked["source"], asked["tokens"])
            elif template is not None:
                answer["text"] = template.render(asked["messages"])
        except (ValueError, MemoryError) as error:
            problem = str(error) or "the chat template needs too much memory"
            answer["problem"] = problem[:LONGEST_PROBLEM]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

"""When a process computes, sends and waits: noted in each process, put together afterwards.

On one machine all processes read the same clock, so their notes fit together. No torch.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from llmviz.parallel.outcome import COMPUTE, SEND, WAIT, Span

TO_ALL = "all"  # the kind of a note on a collective operation
RECEIVE = "receive"


@dataclass(frozen=True)
class Note:
    """What one process noted: computing, sending, receiving, or taking part in a collective.

    key: the same in all processes that take part in one operation; empty for computing.
    start, end: seconds of the machine's clock. core: seconds in which a core worked on it.
    """

    kind: str
    label: str
    start: float
    end: float
    key: str = ""
    core: float = 0.0


class Clock:
    """Notes of one step; computing goes on until something else is noted."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self._label, self._since, self._worked = "", 0.0, 0.0

    def begin(self) -> None:
        """A step begins: forget the last one."""
        self.notes, self._label = [], ""

    def phase(self, label: str) -> None:
        """From now on the process computes this; "" for nothing."""
        now, worked = time.perf_counter(), time.thread_time()
        if self._label:
            core = worked - self._worked
            self.notes.append(Note(COMPUTE, self._label, self._since, now, core=core))
        self._label, self._since, self._worked = label, now, worked

    @contextmanager
    def away(self, kind: str, label: str, key: str) -> Iterator[None]:
        """The process is in an operation with others; then it computes what it did before."""
        before = self._label
        self.phase("")
        start = time.perf_counter()
        try:
            yield
        finally:
            self.notes.append(Note(kind, label, start, time.perf_counter(), key))
            self.phase(before)


def spans_of(notes: Sequence[Sequence[Note]], sent_at: Sequence[dict[str, float]]) -> list:
    """Return the spans of each process: in an operation it waits until all it needs are there.

    notes: of each process. sent_at: of each process, when it handed over what has this key.
    A collective begins when the last process has come; what is received is on its way from when it
    was sent. Before that, the processes that are there wait.
    """
    begun: dict[str, float] = {}
    for own in notes:
        for note in own:
            if note.kind == TO_ALL:
                begun[note.key] = max(begun.get(note.key, note.start), note.start)
    for sent in sent_at:
        begun |= sent
    first = min((note.start for own in notes for note in own), default=0.0)
    return [tuple(_split(own, begun, first)) for own in notes]


def _split(notes: Sequence[Note], begun: dict[str, float], first: float) -> Iterator[Span]:
    for note in notes:
        start, end = note.start - first, note.end - first
        if note.kind not in (TO_ALL, RECEIVE):
            kind = COMPUTE if note.kind == COMPUTE else SEND
            yield Span(kind, note.label, start, end, note.core)
            continue
        there = min(max(begun.get(note.key, note.start) - first, start), end)
        if there > start:
            yield Span(WAIT, note.label, start, there)
        if end > there:
            yield Span(SEND, note.label, there, end)

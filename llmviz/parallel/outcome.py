"""What a parallel run leaves behind: losses, bytes, memory, spans of time. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llmviz.parallel.plan import BYTES_EACH, ParallelPlan

KINDS = ("weights", "gradients", "state")
COMPUTE, SEND, WAIT = "compute", "send", "wait"
_TIMES = ("start", "end", "core")


@dataclass(frozen=True)
class Progress:
    """A step of a run: its number from 1, and the loss of the whole batch, nats per token."""

    step: int
    loss: float


@dataclass(frozen=True)
class Piece:
    """Numbers of one part of the model that a process holds.

    part: see `part_of`. start: where in the part they begin, from 0 to 1; of a tensor that is split
    by columns, in which process's share they are.
    """

    part: str
    start: float
    numbers: int


@dataclass(frozen=True)
class Span:
    """What a process did from `start` to `end`, seconds since the step began.

    kind: compute, send (data are on their way), or wait (for another process). core: seconds in
    which a core really worked on it, for computing alone.
    """

    kind: str
    label: str
    start: float
    end: float
    core: float = 0.0


@dataclass(frozen=True)
class ProcessRecord:
    """One process: what it held, sent in a step, and did when.

    held: by kind: weights, gradients when the backward pass has ended, optimizer state (two numbers
    for each weight). sent: operation -> (times a step, bytes a step). kernel: bytes that its
    sockets sent in a step, as the operating system counts them; None where it does not say.
    elsewhere: rows a step that went to experts of other processes, and that came from there. spans:
    of the fastest step.
    """

    held: dict[str, tuple[Piece, ...]]
    sent: dict[str, tuple[float, float]]
    kernel: float | None
    elsewhere: float
    spans: tuple[Span, ...]

    def bytes_held(self, kind: str) -> int:
        """Bytes of weights, gradients or optimizer state."""
        return BYTES_EACH * sum(piece.numbers for piece in self.held[kind])

    @property
    def bytes_sent(self) -> float:
        """Bytes a step that it handed to operations, as a ring sends them."""
        return sum(number for _, number in self.sent.values())

    def seconds(self, kind: str) -> float:
        """Seconds of the step that it spent computing, sending or waiting."""
        return sum(span.end - span.start for span in self.spans if span.kind == kind)


@dataclass(frozen=True)
class Outcome:
    """A run on N processes beside the same run on one.

    losses, alone: nats per token at each step, on N processes and on one. difference: the largest
    between two weights after the last step. logits_difference: between logits before the first one;
    None for a pipeline, where no process has a whole forward pass. seconds, alone_seconds: of each
    step, the mean over the processes. cores: of the machine.
    """

    plan: ParallelPlan
    losses: tuple[float, ...]
    alone: tuple[float, ...]
    difference: float
    logits_difference: float | None
    seconds: tuple[float, ...]
    alone_seconds: tuple[float, ...]
    cores: int
    processes: tuple[ProcessRecord, ...]

    @property
    def loss_difference(self) -> float:
        """The largest difference between two losses of one step, nats per token."""
        return max(abs(a - b) for a, b in zip(self.losses, self.alone, strict=True))

    @property
    def duration(self) -> float:
        """Seconds from the beginning to the end of the step whose spans are kept."""
        return max(span.end for process in self.processes for span in process.spans)

    def idle_share(self) -> float:
        """The share of that step, over all processes, in which they did not compute."""
        busy = sum(process.seconds(COMPUTE) for process in self.processes)
        return 1 - busy / (len(self.processes) * self.duration)

    def as_json(self) -> dict[str, Any]:
        """Plain data; spans as [kind, label, start, end, core] in whole microseconds."""
        plain = asdict(self)
        for process in plain["processes"]:
            process["held"] = {
                kind: [
                    [piece["part"], round(piece["start"], 6), piece["numbers"]] for piece in pieces
                ]
                for kind, pieces in process["held"].items()
            }
            process["spans"] = [
                [span["kind"], span["label"], *(round(1e6 * span[name]) for name in _TIMES)]
                for span in process["spans"]
            ]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Outcome:
        """Read what `as_json` gave. Raises ValueError for anything else."""
        try:
            records = tuple(_record(process) for process in plain["processes"])
            numbers = ("losses", "alone", "seconds", "alone_seconds")
            rest = {name: tuple(map(float, plain[name])) for name in numbers}
            logits = plain["logits_difference"]
            return cls(
                plan=ParallelPlan.from_dict(plain["plan"]),
                difference=float(plain["difference"]),
                logits_difference=None if logits is None else float(logits),
                cores=int(plain["cores"]),
                processes=records,
                **rest,
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"the record of a parallel run is damaged: {error!r}") from error


def _record(plain: Mapping[str, Any]) -> ProcessRecord:
    return ProcessRecord(
        held={
            kind: tuple(
                Piece(str(part), float(start), int(numbers))
                for part, start, numbers in plain["held"][kind]
            )
            for kind in KINDS
        },
        sent={name: (float(t), float(b)) for name, (t, b) in plain["sent"].items()},
        kernel=None if plain["kernel"] is None else float(plain["kernel"]),
        elsewhere=float(plain["elsewhere"]),
        spans=tuple(
            Span(str(kind), str(label), start / 1e6, end / 1e6, core / 1e6)
            for kind, label, start, end, core in plain["spans"]
        ),
    )

"""What a parallel run leaves behind: losses, bytes, memory, spans of time. No torch.

Also the bundled record of runs of each method on two and on four processes, and a pipeline's step
replayed: a core for each process, and messages that take no time. `python -m experiments make
many-machines` makes the record again, about a minute on two cores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from llmviz.files.paths import EXPERIMENT_FOLDER
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


FILE = EXPERIMENT_FOLDER / "many-machines.json"
COMMAND = "python -m experiments make many-machines"


def read(file: Path = FILE) -> tuple[Outcome, ...]:
    """Return the recorded runs. Raises ValueError where the file is missing or damaged."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        runs = plain["runs"]
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"the record {file.name} cannot be read: {error}") from error
    return tuple(Outcome.from_json(run) for run in runs)


@cache
def recorded() -> dict[ParallelPlan, Outcome]:
    """Return the bundled runs by their plans; read once."""
    return {outcome.plan: outcome for outcome in read()}


UPDATE = "update"  # each process does it by itself, when the pipeline is empty


def replayed(outcome: Outcome) -> tuple[tuple[Span, ...], ...]:
    """Return the spans that each process of a pipeline would have; see `replay`."""
    return replay([process.spans for process in outcome.processes])


def replay(processes: Sequence[Sequence[Span]]) -> tuple[tuple[Span, ...], ...]:
    """Return when each process would compute what, and wait, from its own order of work.

    Each piece of computing takes the seconds in which a core worked on it. "forward 3" begins when
    the process before has ended its own, "backward 3" when the process after has. Raises ValueError
    for orders that wait for each other.
    """
    left = [
        [span for span in own if span.kind == COMPUTE and span.label != UPDATE] for own in processes
    ]
    done: list[list[Span]] = [[] for _ in processes]
    ended: dict[tuple[int, str], float] = {}
    while any(left):
        before = sum(map(len, left))
        for rank, own in enumerate(left):
            while own and (start := _start(rank, own[0].label, ended, len(processes))) is not None:
                _add(done[rank], own.pop(0), start)
                ended[rank, done[rank][-1].label] = done[rank][-1].end
        if sum(map(len, left)) == before:
            raise ValueError("the processes of a pipeline wait for each other")
    return tuple(map(tuple, done))


def _start(
    rank: int, label: str, ended: dict[tuple[int, str], float], processes: int
) -> float | None:
    """When the input of a piece is there; None while that is not known."""
    source = {"forward": rank - 1, "backward": rank + 1}.get(label.split(" ")[0], -1)
    return ended.get((source, label)) if 0 <= source < processes else 0.0


def _add(spans: list[Span], piece: Span, start: float) -> None:
    free = spans[-1].end if spans else 0.0
    if start > free:
        spans.append(Span(WAIT, piece.label, free, start))
    begin = max(free, start)
    spans.append(Span(COMPUTE, piece.label, begin, begin + piece.core, piece.core))


def idle_share(processes: Sequence[Sequence[Span]]) -> float:
    """The share of all processes' time, until the last one ends, in which they do not compute.

    Raises ValueError where nothing was computed.
    """
    end = max((spans[-1].end for spans in processes if spans), default=0.0)
    if not end:
        raise ValueError("a share of the time needs a time above 0")
    busy = sum(span.end - span.start for own in processes for span in own if span.kind == COMPUTE)
    return 1 - busy / (len(processes) * end)

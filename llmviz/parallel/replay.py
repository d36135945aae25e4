"""A pipeline's step replayed: a core for each process, and messages that take no time. No torch."""

from __future__ import annotations

from collections.abc import Sequence

from llmviz.parallel.outcome import COMPUTE, WAIT, Outcome, Span

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

"""A recorded run as the film that the page draws."""

from collections.abc import Iterable, Mapping
from typing import Any

from llmviz.course.components.serving_film.view import PHASES, Film, FilmSequence, FilmTick
from llmviz.course.lessons.efficiency.serving.model import Run
from llmviz.serving.recording import Recording, Tick

Changes = list[tuple[int, Any]]


def film_of(run: Run, until: float = 0.0) -> Film:
    """Return the film of a run: a sequence for each sample of each request, in their order.

    until: seconds up to which its clock goes, if that is longer than the run.
    """
    recording = run.recording
    ticks = recording.ticks
    tables = changes(ticks, "blocks")
    lengths = changes(ticks, "room")
    sequences = [
        FilmSequence(
            name=request.name(sample),
            prompt=run.prompts[request.id],
            prompt_tokens=len(request.prompt),
            wanted=request.max_new_tokens,
            arrives=request.arrival,
            pieces=run.pieces.get(request.name(sample), ()),
            tables=tables.get(request.name(sample), ()),
            lengths=lengths.get(request.name(sample), ()),
            texts=run.texts.get(request.name(sample), ()),
        )
        for request in recording.requests
        for sample in range(request.texts)
    ]
    numbers = {sequence.name: number for number, sequence in enumerate(sequences)}
    return Film(
        block_size=recording.config.block_size,
        blocks=recording.config.n_blocks,
        sequences=sequences,
        ticks=film_ticks(recording, numbers),
        kept=kept_changes(ticks),
        until=until,
    )


def opening(recording: Recording) -> tuple[int, int]:
    """Return the tick that a film opens at, and the number of the sequence chosen in it.

    The first of the ticks that compute most rows and, of these, use most blocks. In it, the first
    of the sequences computed whose block table is the longest.
    """
    ticks = recording.ticks
    if not ticks:
        return 0, 0
    rows = [[row.sequence for row in tick.rows if row.phase != "padding"] for tick in ticks]
    used = [len({block for table in tick.blocks.values() for block in table}) for tick in ticks]
    at = max(range(len(ticks)), key=lambda number: (len(rows[number]), used[number], -number))
    names = [request.name(n) for request in recording.requests for n in range(request.texts)]
    tables = {name: len(ticks[at].blocks.get(name, ())) for name in rows[at]}
    longest = max(tables, key=tables.__getitem__, default=names[0])
    return at, names.index(longest)


def sharing_opening(recording: Recording) -> tuple[int, int]:
    """Return the tick that the film of several texts to one prompt opens at, and its first text.

    The first of the ticks in which most blocks are held by more than one text.
    """
    shared = [sum(len(owners) > 1 for owners in tick.owners.values()) for tick in recording.ticks]
    return shared.index(max(shared)) if shared else 0, 0


def film_ticks(recording: Recording, numbers: Mapping[str, int]) -> list[FilmTick]:
    """Return the ticks, with sequences by their numbers."""
    by_id = {request.id: request for request in recording.requests}
    swapped: dict[str, None] = {}
    ticks = []
    for tick in recording.ticks:
        ended = [by_id[outcome.request].name(outcome.sample) for outcome in tick.finished]
        for name in tick.swapped_out:
            swapped[name] = None
        for name in (*tick.swapped_in, *ended):
            swapped.pop(name, None)
        ticks.append(
            FilmTick(
                begin=tick.begin,
                end=tick.end,
                rows=[
                    (numbers[row.sequence], PHASES.index(row.phase), row.tokens)
                    for row in tick.rows
                ],
                padding=tick.padding,
                waiting=_numbered(tick.queue, numbers),
                swapped=_numbered(swapped, numbers),
                preempted=_numbered((*tick.preempted, *tick.swapped_out), numbers),
                finished=_numbered(ended, numbers),
                free=tick.free,
                waste=tick.waste,
            )
        )
    return ticks


def _numbered(names: Iterable[str], numbers: Mapping[str, int]) -> list[int]:
    return [numbers[name] for name in names if name in numbers]


def changes(ticks: Iterable[Tick], field: str) -> dict[str, Changes]:
    """Return for each sequence at which ticks its entry of a field changed, and to what.

    field: "blocks" or "room". A sequence that left it has () or 0 from then on.
    """
    listed: dict[str, Changes] = {}
    before: dict[str, Any] = {}
    gone: Any = () if field == "blocks" else 0
    for number, tick in enumerate(ticks):
        now = getattr(tick, field)
        for name in {**before, **now}:
            value = now.get(name, gone)
            if before.get(name, gone) != value:
                listed.setdefault(name, []).append((number, value))
        before = now
    return listed


def kept_changes(ticks: Iterable[Tick]) -> Changes:
    """Return at which ticks the free blocks whose content is kept changed, and to what."""
    listed: Changes = []
    for number, tick in enumerate(ticks):
        now = tuple(sorted(tick.cached))
        if now != (listed[-1][1] if listed else ()):
            listed.append((number, now))
    return listed

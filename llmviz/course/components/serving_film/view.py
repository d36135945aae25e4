"""A run of a serving engine as a film: the batch, the blocks of each request, its text.

All of a run travels once; stepping, playing and choosing a request need no server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmviz.course.components._shared.transport import Stored, mount_states

PHASES = ("prefill", "decode", "padding")
STATES = ("away", "waiting", *PHASES, "idle", "preempted", "swapped", "over")
TEXTS = (
    *("player", "since", "took", "prefill", "decode", "padding", "waiting", "free", "waste"),
    *("batch", "nobody", "prefills", "decodes", "pads", "queue", "pushedOut", "swappedOut"),
    *("finished", "none", "memory", "memoryNote", "block", "freeBlock", "keptBlock", "times"),
    *("timesNote", "time", "own", "near", "tableNote", "noTable"),
)
Changes = Sequence[tuple[int, Any]]  # (step, what holds from this step on), steps rising


@dataclass(frozen=True)
class FilmSequence:
    """One request of the run, or one of its samples.

    name: how it is called; prompt: its text, of `prompt_tokens` tokens; wanted: new tokens at most;
    arrives: seconds from the beginning. pieces: at which step it wrote which text. tables: its
    block tables as they change; lengths: for how many tokens they have a place, likewise. texts:
    of a hypothesis of a beam search its whole text as it changes, until there are pieces.
    """

    name: str
    prompt: str
    prompt_tokens: int
    wanted: int
    arrives: float
    pieces: Sequence[tuple[int, str]]
    tables: Changes
    lengths: Changes
    texts: Changes = ()


@dataclass(frozen=True)
class FilmStep:
    """One step of the engine; sequences are named by their numbers.

    begin, end: seconds from the beginning. rows: (sequence, number of its phase among PHASES,
    tokens). padding: tokens computed for nothing. waiting, swapped: requests without memory now.
    preempted, finished: requests to which that happened now. free: blocks; waste: token slots.
    """

    begin: float
    end: float
    rows: Sequence[tuple[int, int, int]]
    padding: int
    waiting: Sequence[int]
    swapped: Sequence[int]
    preempted: Sequence[int]
    finished: Sequence[int]
    free: int
    waste: int


@dataclass(frozen=True)
class Film:
    """A whole run. kept: the free blocks whose content is remembered, as they change.

    until: seconds up to which the clock of the lanes goes, where that is longer than the run.
    """

    block_size: int
    blocks: int
    sequences: Sequence[FilmSequence]
    steps: Sequence[FilmStep]
    kept: Changes = ()
    until: float = 0.0


@dataclass(frozen=True, eq=False)
class FilmPicture:
    """A film ready to be drawn; keep it, since making it takes milliseconds."""

    part: Stored
    steps: int
    sequences: int


def film_picture(film: Film, words: Mapping[str, str], states: Mapping[str, str]) -> FilmPicture:
    """Check a film and make what is sent of it.

    words: an entry for each of TEXTS; states: how each of STATES is called. Raises ValueError for
    data that do not fit.
    """
    part = Stored(film_payload(film, words, states))
    return FilmPicture(part, len(film.steps), len(film.sequences))


def serving_film(
    picture: FilmPicture,
    *,
    key: str,
    step: int = 0,
    chosen: int = 0,
    near: bool = False,
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw a run step by step; near: the batch and the memory of a step stand open at first.

    The step and the sequence that the hand left stand in ``st.session_state[key]`` as "step" and
    "chosen".
    """
    starts = {
        "step": max(0, min(step, picture.steps - 1)),
        "chosen": max(0, min(chosen, picture.sequences - 1)),
    }
    mount_states(
        "serving_film", {"near": near}, picture.part, key=key, starts=starts, on_change=on_change
    )


def film_payload(film: Film, words: Mapping[str, str], states: Mapping[str, str]) -> dict[str, Any]:
    """Return what the film is sent, checked."""
    if not film.sequences or not film.steps:
        raise ValueError("a film needs a sequence and a step at least")
    for what, given, wanted in (("words", words, TEXTS), ("states", states, STATES)):
        if missing := set(wanted) - set(given):
            raise ValueError(f"{what} lack {', '.join(sorted(missing))}")
    count = len(film.sequences)
    for step in film.steps:
        named = (*step.waiting, *step.swapped, *step.preempted, *step.finished)
        if not all(0 <= place < count for place in (*named, *(row[0] for row in step.rows))):
            raise ValueError(f"a step names a sequence that is not among the {count}")
    for seq in film.sequences:
        for _, table in seq.tables:
            if not all(0 <= block < film.blocks for block in table):
                raise ValueError(f"{seq.name!r} holds a block that is not among the {film.blocks}")
    return {
        "blockSize": film.block_size,
        "blocks": film.blocks,
        "until": round(film.until, 6),
        "kept": [[step, list(blocks)] for step, blocks in film.kept],
        "sequences": [
            {
                "name": seq.name,
                "prompt": seq.prompt,
                "promptTokens": seq.prompt_tokens,
                "wanted": seq.wanted,
                "arrives": seq.arrives,
                "pieces": [list(piece) for piece in seq.pieces],
                "tables": [[step, list(table)] for step, table in seq.tables],
                "lengths": [list(change) for change in seq.lengths],
                "texts": [list(change) for change in seq.texts],
            }
            for seq in film.sequences
        ],
        "ticks": [
            {
                "begin": round(step.begin, 6),
                "end": round(step.end, 6),
                "rows": [list(row) for row in step.rows],
                "padding": step.padding,
                "waiting": list(step.waiting),
                "swapped": list(step.swapped),
                "preempted": list(step.preempted),
                "finished": list(step.finished),
                "free": step.free,
                "waste": step.waste,
            }
            for step in film.steps
        ],
        "stateNames": list(STATES),
        "states": dict(states),
        "words": dict(words),
    }

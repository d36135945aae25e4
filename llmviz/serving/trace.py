"""What an engine did, tick by tick: what it computed, which blocks were held, how long it took.

No torch: a page, a test and the simulation read the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from llmviz.serving.requests import Outcome

PREFILL, DECODE, PADDING = "prefill", "decode", "padding"


@dataclass(frozen=True)
class Row:
    """One sequence in the batch of a tick.

    sequence: its name; the request's id, or id/sample where there are several samples. phase:
    prefill reads the prompt (and, after a preemption, what had been written already), decode
    computes the last token written, padding computes for nobody. start: the place of its first
    token of this tick; tokens: how many.
    """

    sequence: str
    request: str
    phase: str
    start: int
    tokens: int


@dataclass(frozen=True)
class Tick:
    """One step of an engine.

    number: from 0. begin, end: seconds from the beginning of the run. scheduling, model, sampling:
    seconds of each; the model's includes moving blocks. rows: the batch. padding: tokens computed
    for nobody, rows of padding included. blocks: the block table of each sequence that holds
    memory, after the tick's plan was made. room: for each of these how many tokens have a place.
    cached: blocks that nobody holds but whose content a later prompt may share. free: blocks that
    can be given away, the cached ones included. waste: token slots that are held and
    have no token. queue: the sequences that wait, in order. running: those that have memory.
    admitted, preempted, swapped_out, swapped_in: sequences. copies: (from, to), blocks copied
    since one of their owners was going to write. shared: prompt tokens that were not computed
    since their blocks were there. emitted: (sequence, token id) drawn at the end of the tick.
    finished: what ended in it, or was cancelled since the tick before. hypotheses: of each beam
    search that made a step (sequence, the one whose text it goes on with, token id), for each
    hypothesis that lives after it; the others are dropped.
    """

    number: int
    begin: float
    end: float
    scheduling: float
    model: float
    sampling: float
    rows: tuple[Row, ...]
    padding: int
    blocks: dict[str, tuple[int, ...]]
    room: dict[str, int]
    cached: tuple[int, ...]
    free: int
    waste: int
    queue: tuple[str, ...]
    admitted: tuple[str, ...] = ()
    preempted: tuple[str, ...] = ()
    swapped_out: tuple[str, ...] = ()
    swapped_in: tuple[str, ...] = ()
    copies: tuple[tuple[int, int], ...] = ()
    shared: int = 0
    emitted: tuple[tuple[str, int], ...] = ()
    finished: tuple[Outcome, ...] = ()
    hypotheses: tuple[tuple[str, str, int], ...] = ()

    @property
    def tokens(self) -> int:
        """How many tokens were computed, padding included."""
        return self.padding + sum(row.tokens for row in self.rows if row.phase != PADDING)

    @property
    def owners(self) -> dict[int, list[str]]:
        """The sequences that hold each block; one that is shared has several."""
        owners: dict[int, list[str]] = {}
        for name, table in self.blocks.items():
            for block in table:
                owners.setdefault(block, []).append(name)
        return owners

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["rows"] = [
            [row.sequence, row.request, row.phase, row.start, row.tokens] for row in self.rows
        ]
        values["finished"] = [
            [end.request, end.sample, list(end.tokens), end.reason, end.problem, end.score]
            for end in self.finished
        ]
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Tick:
        """The tick of `to_dict`, after JSON too."""
        return cls(
            **{
                **values,
                "rows": tuple(Row(*row) for row in values["rows"]),
                "blocks": {name: tuple(table) for name, table in values["blocks"].items()},
                "copies": tuple(tuple(pair) for pair in values["copies"]),
                "emitted": tuple(tuple(pair) for pair in values["emitted"]),
                "finished": tuple(
                    Outcome(request, sample, tuple(tokens), reason, *more)
                    for request, sample, tokens, reason, *more in values["finished"]
                ),
                "hypotheses": tuple(tuple(triple) for triple in values.get("hypotheses", ())),
                **{
                    name: tuple(values[name])
                    for name in (
                        *("cached", "queue", "admitted", "preempted"),
                        *("swapped_out", "swapped_in"),
                    )
                },
            }
        )

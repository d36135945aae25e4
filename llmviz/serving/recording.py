"""A whole run of an engine: its settings, requests and steps, and what follows from them.

A step says what was computed, which blocks were held, how long it took. No torch: a page, a test
and the simulation read the same values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from llmviz.serving.requests import Outcome, Request
from llmviz.serving.settings import ServingConfig

PREFILL, DECODE, PADDING = "prefill", "decode", "padding"


@dataclass(frozen=True)
class Row:
    """One sequence in the batch of a step.

    sequence: its name; the request's id, or id/sample where there are several samples. phase:
    prefill reads the prompt (and, after a preemption, what had been written already), decode
    computes the last token written, padding computes for nobody. start: the place of its first
    token of this step; tokens: how many.
    """

    sequence: str
    request: str
    phase: str
    start: int
    tokens: int


@dataclass(frozen=True)
class EngineStep:
    """One step of an engine.

    number: from 0. begin, end: seconds from the beginning of the run. scheduling, model, sampling:
    seconds of each; the model's includes moving blocks. rows: the batch. padding: tokens computed
    for nobody, rows of padding included. blocks: the block table of each sequence that holds
    memory, after the step's plan was made. room: for each of these how many tokens have a place.
    cached: blocks that nobody holds but whose content a later prompt may share. free: blocks that
    can be given away, the cached ones included. waste: token slots that are held and
    have no token. queue: the sequences that wait, in order. running: those that have memory.
    admitted, preempted, swapped_out, swapped_in: sequences. copies: (from, to), blocks copied
    since one of their owners was going to write. shared: prompt tokens that were not computed
    since their blocks were there. emitted: (sequence, token id) drawn at the end of the step.
    finished: what ended in it, or was cancelled since the step before. hypotheses: of each beam
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
    def from_dict(cls, values: dict[str, Any]) -> EngineStep:
        """The step of `to_dict`, after JSON too."""
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


FORMAT = "llmviz-serving-1"
PERCENTILES = (50, 90, 99)


@dataclass(frozen=True)
class Timing:
    """When a sequence came and got its tokens, in seconds from the beginning of the run.

    first, last: the ends of the steps that gave its first and its last token so far.
    """

    sequence: str
    request: str
    arrival: float
    first: float
    last: float
    tokens: int

    @property
    def to_first(self) -> float:
        """Seconds from the arrival to the first token."""
        return self.first - self.arrival

    @property
    def per_token(self) -> float | None:
        """Seconds between two tokens after the first, on average; None where there is only one."""
        return (self.last - self.first) / (self.tokens - 1) if self.tokens > 1 else None

    @property
    def whole(self) -> float:
        """Seconds from the arrival to the last token."""
        return self.last - self.arrival


@dataclass(frozen=True)
class Recording:
    """What a run did. Ticks may still be coming: everything is of those that are there.

    >>> Recording(ServingConfig(), (), ()).tokens_per_second
    0.0
    """

    config: ServingConfig
    requests: tuple[Request, ...]
    steps: tuple[EngineStep, ...]

    @cached_property
    def timings(self) -> tuple[Timing, ...]:
        """One for each sequence that has a token, in the order of the first tokens."""
        by_name = {
            request.name(sample): request
            for request in self.requests
            for sample in range(request.texts)
        }
        times: dict[str, list[float]] = {}
        for step in self.steps:
            for name, _ in step.emitted:
                times.setdefault(name, []).append(step.end)
        return tuple(
            Timing(name, by_name[name].id, by_name[name].arrival, ends[0], ends[-1], len(ends))
            for name, ends in times.items()
        )

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """How each sequence ended, by its name."""
        by_id = {request.id: request for request in self.requests}
        return {
            by_id[end.request].name(end.sample): end for step in self.steps for end in step.finished
        }

    @property
    def seconds(self) -> float:
        """How long the run took so far."""
        return self.steps[-1].end if self.steps else 0.0

    @property
    def tokens(self) -> int:
        """How many tokens were written."""
        return sum(len(step.emitted) for step in self.steps)

    @property
    def tokens_per_second(self) -> float:
        """Tokens written in a second, over the whole run; 0 before the first step."""
        return self.tokens / self.seconds if self.seconds else 0.0

    @property
    def computed(self) -> int:
        """How many tokens went through the model: prompts, written ones, padding."""
        return sum(step.tokens for step in self.steps)

    @property
    def padding(self) -> int:
        """How many of those were for nobody."""
        return sum(step.padding for step in self.steps)

    @property
    def scheduling_share(self) -> float:
        """Which part of the time of all steps was scheduling."""
        return _share(
            sum(step.scheduling for step in self.steps),
            sum(step.scheduling + step.model + step.sampling for step in self.steps),
        )

    @property
    def waste_share(self) -> float:
        """Which part of the token slots that were held had no token, over all steps."""
        held = sum(
            self.config.block_size * sum(map(len, step.blocks.values())) for step in self.steps
        )
        return _share(sum(step.waste for step in self.steps), held)

    @property
    def to_first(self) -> dict[int, float]:
        """Percentiles of the seconds to the first token; empty before there is one."""
        return percentiles([timing.to_first for timing in self.timings])

    @property
    def per_token(self) -> dict[int, float]:
        """Percentiles of the seconds per token after the first; empty before there is one."""
        times = (timing.per_token for timing in self.timings)
        return percentiles([seconds for seconds in times if seconds is not None])

    def to_json(self) -> str:
        """Everything as one line of JSON; a block table is written only where it changed."""
        steps: list[dict[str, Any]] = []
        before: dict[str, Any] = {}
        for step in self.steps:
            values = step.to_dict()
            changed = {
                name: table for name, table in step.blocks.items() if before.get(name) != table
            }
            values["blocks"] = changed | {name: None for name in before if name not in step.blocks}
            before = step.blocks
            steps.append(values)
        return json.dumps(
            {
                "format": FORMAT,
                "config": self.config.to_dict(),
                "requests": [request.to_dict() for request in self.requests],
                "ticks": steps,
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> Recording:
        """The recording of `to_json`. Raises ValueError for other text."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"a recording is JSON; {error}") from error
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise ValueError(f'a recording has "format": "{FORMAT}"')
        steps: list[EngineStep] = []
        blocks: dict[str, Any] = {}
        for step in values["ticks"]:
            blocks = {
                name: table
                for name, table in (blocks | step["blocks"]).items()
                if table is not None
            }
            steps.append(EngineStep.from_dict({**step, "blocks": blocks}))
        return cls(
            ServingConfig.from_dict(values["config"]),
            tuple(Request.from_dict(request) for request in values["requests"]),
            tuple(steps),
        )


def percentiles(values: Iterable[float], which: Sequence[int] = PERCENTILES) -> dict[int, float]:
    """For each p the smallest value that at least p percent of the values do not exceed.

    >>> percentiles([3.0, 1.0, 2.0, 4.0])
    {50: 2.0, 90: 4.0, 99: 4.0}
    """
    ordered = sorted(values)
    if not ordered:
        return {}
    return {p: ordered[max(0, math.ceil(p / 100 * len(ordered)) - 1)] for p in which}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0

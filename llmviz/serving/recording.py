"""A whole run of an engine: its settings, requests and ticks, and what follows from them.

No torch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llmviz.serving.requests import Outcome, Request
from llmviz.serving.settings import ServingConfig
from llmviz.serving.trace import Tick

FORMAT = "llmviz-serving-1"
PERCENTILES = (50, 90, 99)


@dataclass(frozen=True)
class Timing:
    """When a sequence came and got its tokens, in seconds from the beginning of the run.

    first, last: the ends of the ticks that gave its first and its last token so far.
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
    ticks: tuple[Tick, ...]

    @cached_property
    def timings(self) -> tuple[Timing, ...]:
        """One for each sequence that has a token, in the order of the first tokens."""
        by_name = {
            request.name(sample): request
            for request in self.requests
            for sample in range(request.texts)
        }
        times: dict[str, list[float]] = {}
        for tick in self.ticks:
            for name, _ in tick.emitted:
                times.setdefault(name, []).append(tick.end)
        return tuple(
            Timing(name, by_name[name].id, by_name[name].arrival, ends[0], ends[-1], len(ends))
            for name, ends in times.items()
        )

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """How each sequence ended, by its name."""
        by_id = {request.id: request for request in self.requests}
        return {
            by_id[end.request].name(end.sample): end for tick in self.ticks for end in tick.finished
        }

    @property
    def seconds(self) -> float:
        """How long the run took so far."""
        return self.ticks[-1].end if self.ticks else 0.0

    @property
    def tokens(self) -> int:
        """How many tokens were written."""
        return sum(len(tick.emitted) for tick in self.ticks)

    @property
    def tokens_per_second(self) -> float:
        """Tokens written in a second, over the whole run; 0 before the first tick."""
        return self.tokens / self.seconds if self.seconds else 0.0

    @property
    def computed(self) -> int:
        """How many tokens went through the model: prompts, written ones, padding."""
        return sum(tick.tokens for tick in self.ticks)

    @property
    def padding(self) -> int:
        """How many of those were for nobody."""
        return sum(tick.padding for tick in self.ticks)

    @property
    def scheduling_share(self) -> float:
        """Which part of the time of all ticks was scheduling."""
        return _share(
            sum(tick.scheduling for tick in self.ticks),
            sum(tick.scheduling + tick.model + tick.sampling for tick in self.ticks),
        )

    @property
    def waste_share(self) -> float:
        """Which part of the token slots that were held had no token, over all ticks."""
        held = sum(
            self.config.block_size * sum(map(len, tick.blocks.values())) for tick in self.ticks
        )
        return _share(sum(tick.waste for tick in self.ticks), held)

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
        ticks: list[dict[str, Any]] = []
        before: dict[str, Any] = {}
        for tick in self.ticks:
            values = tick.to_dict()
            changed = {
                name: table for name, table in tick.blocks.items() if before.get(name) != table
            }
            values["blocks"] = changed | {name: None for name in before if name not in tick.blocks}
            before = tick.blocks
            ticks.append(values)
        return json.dumps(
            {
                "format": FORMAT,
                "config": self.config.to_dict(),
                "requests": [request.to_dict() for request in self.requests],
                "ticks": ticks,
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
        ticks: list[Tick] = []
        blocks: dict[str, Any] = {}
        for tick in values["ticks"]:
            blocks = {
                name: table
                for name, table in (blocks | tick["blocks"]).items()
                if table is not None
            }
            ticks.append(Tick.from_dict({**tick, "blocks": blocks}))
        return cls(
            ServingConfig.from_dict(values["config"]),
            tuple(Request.from_dict(request) for request in values["requests"]),
            tuple(ticks),
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

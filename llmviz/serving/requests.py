"""What somebody asks an engine for, and what comes of it. No torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from llmviz.sampling import SamplingSettings

GREEDY = SamplingSettings(temperature=0.0)
MOST_SAMPLES = 64

# Why a sequence ended. A beam that has no stop id ends by LENGTH.
STOP, LENGTH, CANCELLED, CLOSED = "stop", "length", "cancelled", "closed"
FAILED = "failed"  # no token could be drawn from what the model gave it
REASONS = (STOP, LENGTH, CANCELLED, CLOSED, FAILED)


class TooManyWaiting(ValueError):
    """As many requests wait as may wait; this one can be sent again later."""


class EngineClosed(RuntimeError):
    """The engine was closed: it takes no request and makes no step any more."""


@dataclass(frozen=True)
class Request:
    """A prompt to be continued.

    id: a name that no other request has at the same time. prompt: token ids. max_new_tokens: after
    so many a sequence ends in any case. sampling: the steps from logits to a token; the most
    probable one by default. stop_ids: a sequence ends behind any of these. seed: of the random
    numbers; sample number i takes those of seed + i. n: how many samples of the same prompt.
    beams: the width of a beam search, which gives that many texts, the best score first, as
    `sampling.beam_search` does with this length_penalty; None: no search. arrival: seconds from
    the beginning of a run, for `record` and `simulate`. client: who asks; those that wait take
    turns. turn: how many texts the same call asks for before it; each waits until those of other
    calls that asked for fewer have begun.

    Raises ValueError for an empty prompt, for values out of range, and for a beam search together
    with several samples or with sampling that changes more than which tokens are banned.
    """

    id: str
    prompt: tuple[int, ...]
    max_new_tokens: int = 32
    sampling: SamplingSettings = GREEDY
    stop_ids: tuple[int, ...] = ()
    seed: int = 0
    n: int = 1
    beams: int | None = None
    length_penalty: float = 0.0
    arrival: float = 0.0
    client: str = field(default="", compare=False)  # of no record, as is the next
    turn: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt", tuple(int(token) for token in self.prompt))
        object.__setattr__(self, "stop_ids", tuple(int(token) for token in self.stop_ids))
        if not self.prompt:
            raise ValueError(f"the prompt of request {self.id!r} is empty; it needs a token")
        if min(self.prompt) < 0:
            raise ValueError(f"token ids must not be negative; got {min(self.prompt)}")
        for name, low, high in (
            ("max_new_tokens", 1, 2**31),
            ("n", 1, MOST_SAMPLES),
            ("seed", 0, 2**63 - MOST_SAMPLES),
            ("beams", 1, MOST_SAMPLES),
        ):
            value = getattr(self, name)
            if name == "beams" and value is None:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not low <= value <= high:
                raise ValueError(f"{name} must be a whole number from {low} to {high}; got {value}")
        if not 0 <= self.arrival < float("inf"):
            raise ValueError(f"arrival must be a number of seconds, 0 or more; got {self.arrival}")
        self._check_search()

    def _check_search(self) -> None:
        if not (math.isfinite(self.length_penalty) and self.length_penalty >= 0):
            raise ValueError(f"length_penalty must be 0 or more; got {self.length_penalty}")
        if self.beams is None:
            if self.length_penalty:
                raise ValueError("length_penalty is for beam search alone: give beams as well")
            return
        if self.n != 1:
            raise ValueError(
                f"several samples and beam search do not go together: n must be 1 with beams; "
                f"got n={self.n}, beams={self.beams}"
            )
        if self.sampling.temperature != 0:
            raise ValueError(
                "beam search draws nothing at random: temperature must be 0 with beams; got "
                f"{self.sampling.temperature:g}"
            )
        others = [name for name in self.sampling.order if self.sampling.active(name)]
        others = [name for name in others if name not in ("temperature", "banned")]
        if others:
            raise ValueError(
                "beam search takes the model's probabilities as they are, but for banned tokens: "
                f"leave out {', '.join(others)}"
            )

    @property
    def texts(self) -> int:
        """How many texts it asks for: samples, or beams."""
        return self.n if self.beams is None else self.beams

    @property
    def most_tokens(self) -> int:
        """How many tokens of one sample are stored at most: the last one drawn need not be."""
        return len(self.prompt) + self.max_new_tokens - 1

    def name(self, sample: int) -> str:
        """The name of one of its sequences: the id itself where there is only one."""
        return self.id if self.texts == 1 else f"{self.id}/{sample}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        settings = self.sampling
        return {
            "id": self.id,
            "prompt": list(self.prompt),
            "max_new_tokens": self.max_new_tokens,
            "sampling": {
                "temperature": settings.temperature,
                "top_k": settings.top_k,
                "top_p": settings.top_p,
                "min_p": settings.min_p,
                "repetition_penalty": settings.repetition_penalty,
                "banned": list(settings.banned),
                "order": list(settings.order),
                "strip": settings.strip,
                "more": dict(settings.more),
            },
            "stop_ids": list(self.stop_ids),
            "seed": self.seed,
            "n": self.n,
            "beams": self.beams,
            "length_penalty": self.length_penalty,
            "arrival": self.arrival,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Request:
        """The request of `to_dict`."""
        sampling = values["sampling"]
        listed = {name: tuple(sampling[name]) for name in ("banned", "order")}
        return cls(**{**values, "sampling": SamplingSettings(**{**sampling, **listed})})


@dataclass(frozen=True)
class Outcome:
    """A sequence that ended: its new tokens, and why (`REASONS`).

    A stop id is the last of the tokens. problem: where it failed, what was wrong. score: of a beam,
    its summed log-probability (nats) / length^length_penalty. A beam search that does not come to
    its end has no tokens, since none is certain before.
    """

    request: str
    sample: int
    tokens: tuple[int, ...] = field(repr=False)
    reason: str
    problem: str = ""
    score: float | None = None


def check_request(request: Request, vocab_size: int, context_length: int | None) -> None:
    """Raise ValueError for what a model with this vocabulary and context cannot do.

    That is: a token outside the vocabulary, more beams than tokens that are not banned, a request
    longer than the context.
    """
    highest = max(request.prompt)
    if highest >= vocab_size:
        raise ValueError(
            f"token ids must be from 0 to {vocab_size - 1}; request {request.id!r} has {highest}"
        )
    allowed = vocab_size - len(set(request.sampling.banned))
    if request.beams is not None and request.beams > allowed:
        raise ValueError(
            f"beams must be at most the number of tokens that may be written, {allowed}; request "
            f"{request.id!r} asks for {request.beams}"
        )
    if context_length is not None and request.most_tokens > context_length:
        raise ValueError(
            f"prompt and new tokens less one must fit the model's context of {context_length} "
            f"tokens; request {request.id!r} has {len(request.prompt)} and asks for "
            f"{request.max_new_tokens}"
        )

"""Requests to try an engine with: when they come, how long they are. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llmviz.config import Config, setting
from llmviz.sampling import SamplingSettings
from llmviz.serving.requests import GREEDY, Request


@dataclass(frozen=True)
class Workload(Config):
    """How many requests come, how fast, and how long they are.

    The gaps between arrivals and the numbers of new tokens are exponentially distributed: most are
    short, a few are long. `arrival_rate` 0 lets all come at once.
    """

    requests: int = setting(24, "requests in all", "requests", 1, 1000)
    arrival_rate: float = setting(20.0, "requests per second; 0: all at once", "1/s", 0, 1000)
    prompt_tokens: int = setting(16, "mean length of a prompt", "tokens", 1, 512)
    new_tokens: int = setting(32, "mean number of new tokens", "tokens", 1, 512)
    samples: int = setting(1, "texts to each prompt", "texts", 1, 16)
    beams: bool = setting(False, "they are the beams of a search, and not samples")
    same_beginning: int = setting(0, "tokens with which all prompts begin", "tokens", 0, 512)
    seed: int = setting(0, "of the random numbers", "", 0)

    def __post_init__(self) -> None:
        self.require_positive("requests", "prompt_tokens", "new_tokens", "samples")
        self.require_at_least(0, "same_beginning", "seed")
        self.require_not_negative("arrival_rate")
        self.require_bool("beams")


def make_requests(
    workload: Workload,
    text: Sequence[int],
    context_length: int,
    sampling: SamplingSettings = GREEDY,
    stop_ids: Sequence[int] = (),
    own: Sequence[Sequence[int]] = (),
) -> list[Request]:
    """The requests of a workload, in the order in which they come.

    text: token ids of which the prompts are parts. context_length: of the model; what is longer is
    cut to it. own: prompts of the learner's, which come evenly spread among the others, in place
    of random ones (there may be more of them than `workload.requests`).

    Raises ValueError for a text that is too short, or a prompt that leaves no room for a token.
    """
    if not text:
        raise ValueError("the text that prompts are taken from is empty")
    if workload.same_beginning + 2 > context_length:
        raise ValueError(
            f"same_beginning must leave room in the context of {context_length} tokens; "
            f"got {workload.same_beginning}"
        )
    random = np.random.default_rng(workload.seed)
    count = max(workload.requests, len(own))
    arrivals = np.zeros(count)
    if workload.arrival_rate:
        arrivals[1:] = np.cumsum(random.exponential(1 / workload.arrival_rate, count - 1))
    lengths = 1 + random.exponential(max(0, workload.prompt_tokens - 1), count).astype(int)
    new = 1 + random.exponential(max(0, workload.new_tokens - 1), count).astype(int)
    begins = random.integers(0, len(text), count)
    places = {round(i * count / len(own)): prompt for i, prompt in enumerate(own)} if own else {}
    beginning = _part(text, 0, workload.same_beginning)
    requests = []
    for i in range(count):
        if i in places:
            prompt, name = tuple(places[i]), f"own-{len([p for p in places if p <= i])}"
        else:
            length = min(int(lengths[i]), context_length - 1 - len(beginning))
            prompt, name = beginning + _part(text, int(begins[i]), length), f"r{i + 1}"
        room = context_length - len(prompt) + 1
        if room < 1:
            raise ValueError(
                f"a prompt must fit the context of {context_length} tokens; got {len(prompt)}"
            )
        requests.append(
            Request(
                id=name,
                prompt=prompt,
                max_new_tokens=min(int(new[i]), room),
                sampling=sampling,
                stop_ids=tuple(stop_ids),
                seed=workload.seed + i,
                n=1 if workload.beams else workload.samples,
                beams=workload.samples if workload.beams else None,
                arrival=float(arrivals[i]),
            )
        )
    return requests


def _part(text: Sequence[int], begin: int, length: int) -> tuple[int, ...]:
    """So many tokens from `begin` on; behind the end of the text comes its beginning."""
    return tuple(int(text[(begin + i) % len(text)]) for i in range(length))

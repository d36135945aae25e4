"""Texts that can be made longer, and other ways that branch off them.

All ways of one text take their random numbers from one seed, by position: token n of every way has
the same number.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.nn.cache import KVCache
    from llmviz.sampling import GeneratedToken

ALTERNATIVES = 9


class Fork(NamedTuple):
    """A way that leaves way `parent` after `at` tokens with `token`; `length` tokens are shown."""

    parent: int
    at: int
    token: int
    length: int


class Start(NamedTuple):
    """What a text begins from: a model, the prompt's ids, the settings of the steps, a seed.

    `most` is the largest number of tokens that it may get; it ends at the token `stop_id`. `cache`
    is what the model has read of the prompt, as `generate` takes it.
    """

    model: LanguageModel
    ids: Sequence[int]
    settings: dict[str, Any]
    seed: int
    most: int
    stop_id: int | None = None
    cache: KVCache | None = None


@dataclass
class Text:
    """A text that can be made longer; `tokens` are those known so far.

    `forced` are the positions, from 0, of tokens that were put there and not drawn; `slides_at` is
    the first position whose token was drawn without a look at the prompt's beginning. `refused`
    says why no further token can be drawn, where that is so. Several threads may let it grow.
    """

    tokens: list[GeneratedToken]
    more: Iterator[GeneratedToken]
    ended: bool = False
    slides_at: int | None = None
    forced: list[int] = field(default_factory=list)
    refused: str = ""
    _growing: Lock = field(default_factory=Lock, repr=False, compare=False)

    def grow(self, n: int, stop_id: int | None, seconds: float = math.inf) -> bool:
        """Make n tokens known, unless the text ends before; return whether that is done.

        seconds: of this thread's work, after which it is enough for now; at least one token.
        Raises ValueError: the settings leave no token to draw before there are n, each time anew.
        """
        with self._growing:
            until, first = time.thread_time() + seconds, len(self.tokens)
            while len(self.tokens) < n and not self.ended:
                if len(self.tokens) > first and time.thread_time() >= until:
                    return False
                if self.refused:
                    raise ValueError(self.refused)
                self._one_more(stop_id)
            if self.ended:
                self.more = iter(())  # lets go of the model's cache
        return True

    def _one_more(self, stop_id: int | None) -> None:
        try:
            token = next(self.more, None)
        except ValueError as reason:
            self.refused = str(reason)
            raise
        if token is None:
            self.ended = True
            return
        if token.window_slid and self.slides_at is None:
            self.slides_at = len(self.tokens)
        self.tokens.append(replace(token, steps=None))
        self.ended = token.id == stop_id


def begin(start: Start, before: Sequence[GeneratedToken] = ()) -> Text:
    """Return a text that goes on behind the prompt and the tokens `before`.

    Raises ValueError: a setting is out of its range.
    """
    import torch

    from llmviz.sampling import generate

    generator = torch.Generator().manual_seed(start.seed)
    for _ in before:  # each position of a text has its own random number
        torch.rand((), generator=generator, dtype=torch.float64)
    more = generate(
        start.model,
        [*start.ids, *(token.id for token in before)],
        start.most - len(before),
        generator=generator,
        stop_id=start.stop_id,
        alternatives=ALTERNATIVES,
        cache=start.cache,
        **start.settings,
    )
    return Text(list(before), more)


def branch(start: Start, parent: Text, at: int, other: int) -> Text:
    """Return the way that leaves a text after `at` tokens with the token `other`.

    Raises ValueError: the text has no such token, or it is not among the alternatives there.
    """
    if at >= len(parent.tokens):
        raise ValueError(f"the text has no token number {at + 1} to put another one for")
    old = parent.tokens[at]
    offered = dict(old.alternatives)
    if other not in offered:
        raise ValueError(f"token {other} is not among the alternatives of {at + 1}")
    rank = 1 + [token for token, _ in old.alternatives].index(other)
    chosen = replace(old, id=other, probability=offered[other], rank=rank, chance=0.0)
    text = begin(start, [*parent.tokens[:at], chosen])
    text.forced = [*(place for place in parent.forced if place < at), at]
    text.ended = other == start.stop_id
    if parent.slides_at is not None and parent.slides_at <= at:
        text.slides_at = parent.slides_at
    return text


def ancestry(forks: Sequence[Fork], way: int) -> list[Fork]:
    """Return the forks on the way from the trunk to a way, the first one first."""
    line = []
    while way:
        line.append(forks[way - 1])
        way = forks[way - 1].parent
    return line[::-1]

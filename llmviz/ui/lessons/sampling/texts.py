"""Texts that grow: kept in the session with the model's cache, so that one more token is one step.

A text is a trunk and ways that branch off it. All take their random numbers from one seed, by
position, so that a link holds a whole tree in a few numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import streamlit as st

from llmviz.sampling import GeneratedToken, generate
from llmviz.tokenizers import ENDOFTEXT
from llmviz.ui import codec
from llmviz.ui.lessons.sampling import params
from llmviz.ui.lessons.sampling.source import Prompted

ALTERNATIVES = 9
MOST_WAYS = 16
KEPT = 24  # texts that a session keeps, each with its cache
_SLOT = "sampling.texts"


class Fork(NamedTuple):
    """A way that leaves way `parent` after `at` tokens with `token`; `length` tokens are shown."""

    parent: int
    at: int
    token: int
    length: int


@dataclass
class Text:
    """A text that can be made longer; `tokens` are those known so far."""

    tokens: list[GeneratedToken]
    more: Iterator[GeneratedToken]
    ended: bool = False
    slides_at: int | None = None
    forced: list[int] = field(default_factory=list)  # positions that the learner chose

    def grow(self, n: int, stop_id: int | None) -> None:
        """Make n tokens known, unless the text ends before."""
        while len(self.tokens) < n and not self.ended:
            token = next(self.more, None)
            if token is None:
                self.ended = True
                return
            if token.window_slid and self.slides_at is None:
                self.slides_at = len(self.tokens)
            self.tokens.append(replace(token, steps=None))
            self.ended = token.id == stop_id


def text(
    said: Prompted,
    settings: dict[str, Any],
    seed: int,
    n: int,
    forks: Sequence[Fork] = (),
    way: int = 0,
) -> Text:
    """Return way `way` of a text with at least n tokens known, or as many as it has.

    Raises ValueError: a setting is out of its range, or a fork does not fit the text.
    """
    kept: dict[Any, Text] = st.session_state.setdefault(_SLOT, {})
    branch = forks[way - 1] if way else None
    line = ancestry(forks, way)
    name = (
        said.bundled.name,
        said.bundled.version,
        said.ids,
        tuple(sorted((key, str(value)) for key, value in settings.items())),
        seed,
        tuple((fork.at, fork.token) for fork in line),
    )
    found = kept.pop(name, None)
    if found is None:
        if branch is None:
            found = _begin(said, settings, seed, [])
        else:
            parent = text(said, settings, seed, branch.at + 1, forks, branch.parent)
            found = _branch(said, settings, seed, parent, branch)
    kept[name] = found  # the latest stands last
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
    found.grow(min(n, params.MOST_TOKENS), said.stop_id)
    return found


def ancestry(forks: Sequence[Fork], way: int) -> list[Fork]:
    """Return the forks on the way from the trunk to a way, the first one first."""
    line = []
    while way:
        line.append(forks[way - 1])
        way = forks[way - 1].parent
    return line[::-1]


def _begin(
    said: Prompted, settings: dict[str, Any], seed: int, before: list[GeneratedToken]
) -> Text:
    import torch

    generator = torch.Generator().manual_seed(seed)
    for _ in before:  # each position of a text has its own random number
        torch.rand((), generator=generator, dtype=torch.float64)
    more = generate(
        said.bundled.model,
        [*said.ids, *(token.id for token in before)],
        params.MOST_TOKENS - len(before),
        generator=generator,
        stop_id=said.bundled.tokenizer.special_tokens.get(ENDOFTEXT),
        alternatives=ALTERNATIVES,
        **settings,
    )
    return Text(list(before), more)


def _branch(said: Prompted, settings: dict[str, Any], seed: int, parent: Text, fork: Fork) -> Text:
    if fork.at >= len(parent.tokens):
        raise ValueError(f"the text has no token number {fork.at + 1} to put another one for")
    old = parent.tokens[fork.at]
    offered = dict(old.alternatives)
    if fork.token not in offered:
        raise ValueError(f"token {fork.token} is not among the alternatives of {fork.at + 1}")
    rank = 1 + [token for token, _ in old.alternatives].index(fork.token)
    chosen = replace(old, id=fork.token, probability=offered[fork.token], rank=rank, chance=0.0)
    begun = _begin(said, settings, seed, [*parent.tokens[: fork.at], chosen])
    begun.forced = [*(at for at in parent.forced if at < fork.at), fork.at]
    begun.ended = fork.token == said.stop_id
    if parent.slides_at is not None and parent.slides_at <= fork.at:
        begun.slides_at = parent.slides_at
    return begun


def forks_param(key: str) -> codec.Param:
    """Return the control that holds the ways of a text, written parent.at.token.length each."""
    number = codec.integer(key, 0, 0, 1_000_000)

    def read(written: str) -> list[Fork]:
        forks = []
        for part in written.split(",") if written else []:
            values = [number.read(value) for value in part.split(".")]
            if len(values) != 4 or values[0] > len(forks) or values[1] >= params.MOST_TOKENS:
                raise ValueError("ways written as parent.position.token.length are needed")
            forks.append(Fork(*values))
        if len(forks) > MOST_WAYS:
            raise ValueError(f"at most {MOST_WAYS} ways are needed")
        return forks

    def write(forks: list[Fork]) -> str:
        return ",".join(".".join(map(str, fork)) for fork in forks)

    return codec.Param(key, [], read, write)

"""Texts that grow, kept in the session with the model's cache: one more token is one step.

A text is a trunk and ways that branch off it, so that a link holds a whole tree in a few numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from llmviz.lessons.sampling import params
from llmviz.lessons.sampling.source import Prompted
from llmviz.study.growing_text import Fork, Start, Text, ancestry, begin, branch
from llmviz.ui import codec

MOST_WAYS = 16
KEPT = 24  # texts that a session keeps, each with its cache
_SLOT = "sampling.texts"


def text(
    prompt: Prompted,
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
    fork = forks[way - 1] if way else None
    name = (
        prompt.bundled.name,
        prompt.bundled.version,
        prompt.ids,
        tuple(sorted((key, str(value)) for key, value in settings.items())),
        seed,
        tuple((fork.at, fork.token) for fork in ancestry(forks, way)),
    )
    known = kept.pop(name, None)
    if known is None:
        start = Start(
            prompt.bundled.model, prompt.ids, settings, seed, params.MOST_TOKENS, prompt.stop_id
        )
        if fork is None:
            known = begin(start)
        else:
            parent = text(prompt, settings, seed, fork.at + 1, forks, fork.parent)
            known = branch(start, parent, fork)
    kept[name] = known  # the latest stands last
    while len(kept) > KEPT:
        del kept[next(iter(kept))]
    known.grow(min(n, params.MOST_TOKENS), prompt.stop_id)
    return known


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

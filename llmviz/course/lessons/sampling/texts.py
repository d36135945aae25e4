"""Texts that grow, kept for all visitors with the model's cache: one more token is one step.

A text is a trunk and ways that branch off it, so that a link holds a whole tree in a few numbers.
"""

import math
from collections.abc import Sequence
from typing import Any

from llmviz.course.lessons.sampling import params
from llmviz.course.lessons.sampling.growing_text import Fork, Start, Text, ancestry, begin, branch
from llmviz.course.lessons.sampling.source import Prompted, cache_after
from llmviz.course.ui import codec, engine, kit

MOST_WAYS = 16
KEPT = 128  # texts of all visitors, each with the model's cache: up to 2 MB
# Beyond the context each token takes the model a whole window. So much of that is about a second:
# tokens that it reads, times its parameters. A few tokens are written whatever they take.
READ_AGAIN, AT_LEAST = 30_000_000_000, 5


def most(prompt: Prompted, beside: int = 1) -> int:
    """Return how many tokens each of so many texts beside each other may get."""
    model = prompt.bundled.model
    window = model.context_length * sum(tensor.numel() for tensor in model.parameters())
    within = max(0, model.context_length - len(prompt.ids))
    beyond = max(AT_LEAST, READ_AGAIN // (window * beside))
    return min(params.MOST_TOKENS, within + beyond)


def text(
    prompt: Prompted,
    settings: dict[str, Any],
    seed: int,
    n: int,
    forks: Sequence[Fork] = (),
    way: int = 0,
) -> Text:
    """Return way `way` of a text with at least n tokens known, or as many as it may get.

    Raises ValueError: a setting is out of its range or leaves no token to draw, or a fork does not
    fit the text.
    """
    return grown(prompt, settings, seed, n, forks, way)[0]


def grown(
    prompt: Prompted,
    settings: dict[str, Any],
    seed: int,
    n: int,
    forks: Sequence[Fork] = (),
    way: int = 0,
    seconds: float = math.inf,
) -> tuple[Text, bool]:
    """Return `text` as far as it is known after some seconds of work, and whether that is all.

    Where a way's beginning is not known yet, it is the text that the way will leave.
    """
    line = tuple((fork.at, fork.token) for fork in ancestry(forks, way))
    known = prompt.bundled, prompt.ids, prompt.stop_id, tuple(sorted(settings.items())), seed
    for place, (at, _) in enumerate(line):
        if at >= most(prompt):
            raise ValueError(f"a text may have {most(prompt)} tokens here, and none at {at + 1}")
        parent = _text(*known, line[:place])
        if not parent.grow(at + 1, prompt.stop_id, seconds):
            return parent, False
    text = _text(*known, line)
    return text, text.grow(min(n, most(prompt)), prompt.stop_id, seconds)


@kit.cached(KEPT)
def _text(
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    stop_id: int | None,
    settings: tuple[tuple[str, Any], ...],
    seed: int,
    line: tuple[tuple[int, int], ...],
) -> Text:
    """The text of a prompt; `line` says where it left its trunk, and with which tokens."""
    model, cache = bundled.model, cache_after(bundled, ids)
    start = Start(model, ids, dict(settings), seed, params.MOST_TOKENS, stop_id, cache)
    if not line:
        return begin(start)
    parent = _text(bundled, ids, stop_id, settings, seed, line[:-1])
    at, token = line[-1]
    parent.grow(at + 1, stop_id)
    return branch(start, parent, at, token)


def forks_param(key: str) -> codec.Param:
    """Return the control that holds the ways of a text, written parent.at.token.length each."""
    number = codec.integer(key, 0, 0, 1_000_000)

    def read(written: str) -> list[Fork]:
        forks: list[Any] = []
        for part in written.split(",") if written else []:
            values = [number.read(value) for value in part.split(".")]
            if len(values) != 4 or values[0] > len(forks) or values[1] >= params.MOST_TOKENS:
                raise ValueError("each version is written as parent.position.token.length")
            forks.append(Fork(*values))
        if len(forks) > MOST_WAYS:
            raise ValueError(f"at most {MOST_WAYS} versions are possible")
        return forks

    def write(forks: list[Fork]) -> str:
        return ",".join(".".join(map(str, fork)) for fork in forks)

    return codec.Param(key, [], read, write)

"""Samples of many prompts at once, by the serving engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmviz.sampling import SamplingSettings

MOST_ROWS = 256  # texts that run at once
BLOCK = 8  # tokens of a block of the engine's memory


def sample_groups(
    model: Any,
    prompts: Sequence[Sequence[int]],
    group: int,
    longest: int,
    end: int | tuple[int, ...],
    seed: int,
    temperature: float = 1.0,
) -> list[list[list[int]]]:
    """Return `group` samples of each prompt: the new tokens, the end included.

    end: the token that ends a sample, or several, each of which does. longest: tokens that are
    written at most. The same samples for the same seed and weights.
    Raises ValueError for what the engine refuses: no prompt, unknown tokens, too long a text.
    """
    from llmviz.serving import Engine, Request, ServingConfig

    longest_prompt = max(map(len, prompts))
    blocks = -(-(longest_prompt + longest) // BLOCK)
    rows = min(MOST_ROWS, len(prompts) * group)
    config = ServingConfig(
        max_batch=rows, block_size=BLOCK, n_blocks=rows * blocks, max_waiting=len(prompts)
    )
    engine = Engine(model, config)
    for number, prompt in enumerate(prompts):
        engine.add(
            Request(
                str(number),
                tuple(prompt),
                longest,
                SamplingSettings(temperature=temperature),
                end if isinstance(end, tuple) else (end,),
                seed + number * group,
                group,
            )
        )
    written: list[list[list[int]]] = [[[]] * group for _ in prompts]
    while engine.busy:
        step = engine.step()
        for outcome in step.finished if step else ():
            if outcome.problem:
                raise ValueError(outcome.problem)
            written[int(outcome.request)][outcome.sample] = list(outcome.tokens)
    return written

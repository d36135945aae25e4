"""The learning rate as a function of the step."""

from __future__ import annotations

import math

from llmviz.training.config import TrainConfig


def learning_rate_at(step: int, config: TrainConfig) -> float:
    """The learning rate of update `step` (1 … config.steps).

    Rises linearly over `warmup_steps` to `learning_rate`, then falls to `min_lr`, which the last
    step has exactly, along half a cosine or a line, or stays where it is. Steps are counted from
    `schedule_start`; up to there, which a fork never trains, it is 0.

    Reference: Loshchilov and Hutter 2017 (SGDR), eq. 5, without restarts.
    """
    top, low, warm = config.learning_rate, config.min_lr, config.warmup_steps
    step, steps = step - config.schedule_start, config.steps - config.schedule_start
    if step <= 0:
        return 0.0
    if step <= warm:
        return top * step / warm
    if config.schedule == "constant":
        return top
    past = (step - warm) / max(1, steps - warm)
    past = min(1.0, past)
    if config.schedule == "linear":
        return top + (low - top) * past
    return low + (top - low) * 0.5 * (1 + math.cos(math.pi * past))


def warmup_note(config: TrainConfig) -> str:
    """One sentence where the warm-up is longer than the run; otherwise nothing.

    >>> warmup_note(TrainConfig(steps=100, warmup_steps=400, learning_rate=0.004))
    'The warm-up (400 steps) is longer than the run (100): the rate ends at 0.001, below 0.004.'
    """
    steps = config.steps - config.schedule_start
    warm, rate = config.warmup_steps, config.learning_rate
    if warm <= steps:
        return ""
    return (
        f"The warm-up ({warm:,} steps) is longer than the run ({steps:,}): the rate ends at "
        f"{learning_rate_at(config.steps, config):.3g}, below {rate:.3g}."
    )

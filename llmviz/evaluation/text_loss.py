"""The loss of a text under a model: its steps, torch's own value, and the loss with a mistake.

T positions, V vocabulary. Losses are in nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.nn.loss import LossSteps

SMOOTH = 0.1  # label smoothing of the loss whose perplexity is a mistake
LARGEST_SUM = 40  # nats: e to the power of a larger sum is written as a power


@dataclass(frozen=True)
class LossSettings:
    """The arguments of the loss besides logits and targets."""

    reduction: str = "mean"
    skipped: tuple[int, ...] = ()  # positions without a loss
    token: int | None = None  # which has a weight of its own
    weight: float = 1.0
    smoothing: float = 0.0


def target_logits(model: LanguageModel, ids: Sequence[int]) -> np.ndarray:
    """Return the logits (T, V) before each target, in float64; ids: (T + 1,), the start first."""
    import torch

    with torch.inference_mode():
        return model(torch.tensor([list(ids[:-1])]))[0][0].double().numpy()


def loss_steps(
    logits: np.ndarray, targets: Sequence[int], settings: LossSettings | None = None
) -> LossSteps:
    """Return every step of the cross-entropy of logits (T, V), by default of the plain mean.

    Raises ValueError: a mean over nothing.
    """
    import torch

    from llmviz.nn.loss import cross_entropy_steps

    settings = settings or LossSettings()
    return cross_entropy_steps(
        torch.tensor(logits),
        _without_skipped(targets, settings),
        **_arguments(settings, logits.shape[1]),
    )


def torch_loss(logits: np.ndarray, targets: Sequence[int], settings: LossSettings) -> np.ndarray:
    """Return what torch's own function gives for the same arguments."""
    import torch

    from llmviz.nn.loss import IGNORED

    arguments = _arguments(settings, logits.shape[1])
    return torch.nn.functional.cross_entropy(
        torch.tensor(logits),
        _without_skipped(targets, settings),
        weight=arguments["class_weights"],
        ignore_index=IGNORED,
        reduction=settings.reduction,
        label_smoothing=settings.smoothing,
    ).numpy()


def _arguments(settings: LossSettings, vocabulary: int) -> dict[str, Any]:
    import torch

    weights = None
    if settings.token is not None:
        weights = torch.ones(vocabulary, dtype=torch.float64)
        weights[settings.token] = settings.weight
    return {
        "reduction": settings.reduction,
        "class_weights": weights,
        "label_smoothing": settings.smoothing,
    }


def _without_skipped(targets: Sequence[int], settings: LossSettings) -> Tensor:
    import torch

    from llmviz.nn.loss import IGNORED

    masked = torch.tensor(targets)
    masked[list(settings.skipped)] = IGNORED
    return masked


def mistaken_losses(
    logits: np.ndarray, targets: Sequence[int], inputs: Sequence[int]
) -> dict[str, float]:
    """Return the loss with each mistake of `llmviz.nn.loss_mistakes`, by its name."""
    import torch

    from llmviz.nn.loss_mistakes import LOSS_MISTAKES

    tensors = torch.tensor(logits), torch.tensor(targets), torch.tensor(inputs)
    return {name: float(loss(*tensors)) for name, loss in LOSS_MISTAKES.items()}


def mistake_numbers(logits: np.ndarray, targets: Sequence[int]) -> dict[str, Any]:
    """Return the numbers that explain the mistakes, by the names that the sentences use.

    Among them the right loss, ln V, the range of a loss whose softmax is taken twice, the sums of
    rows of sigmoids, and perplexities taken of another loss. A sum above LARGEST_SUM nats stands as
    a power of e in a text.
    """
    import torch

    from llmviz.nn.loss_mistakes import lowest_twice_softmaxed

    vocabulary = logits.shape[1]
    steps = loss_steps(logits, targets)
    right, total = float(steps.loss), float(steps.total)
    smooth = float(loss_steps(logits, targets, LossSettings(smoothing=SMOOTH)).loss)
    row_sums = torch.tensor(logits).sigmoid().sum(-1)
    return {
        "right": right,
        "blind": math.log(vocabulary),
        "lowest": lowest_twice_softmaxed(vocabulary),
        "highest": lowest_twice_softmaxed(vocabulary) + 1,
        "vocabulary": vocabulary,
        "positions": len(targets),
        "low": float(row_sums.min()),
        "high": float(row_sums.max()),
        "good": math.exp(right),
        "of_sum": f"{math.exp(total):,.0f}" if total < LARGEST_SUM else f"e^{total:.0f}",
        "base_two": 2**right,
        "smooth": math.exp(smooth),
        "mean_of": float(steps.nats.exp().mean()),
    }

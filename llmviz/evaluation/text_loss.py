"""The loss of a text under a model: its steps, torch's own value, and the loss with a mistake.

T positions, V vocabulary. Losses are in nats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.nn.loss import LossSteps


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

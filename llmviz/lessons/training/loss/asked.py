"""What the controls ask of the loss, as arguments of our function and of torch's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llmviz.lessons.training.model_picker import Read


@dataclass(frozen=True)
class Asked:
    """The arguments of the loss as the controls stand, besides logits and targets."""

    reduction: str
    skipped: tuple[int, ...]  # positions without a loss
    token: int | None  # which has a weight of its own
    weight: float
    smoothing: float


def steps_of(reading: Read, logits: np.ndarray, asked: Asked | None = None):
    """Return the `LossSteps` of a text; with the controls' arguments, or the plain mean.

    Raises ValueError: a mean over nothing.
    """
    import torch

    from llmviz.nn.loss import cross_entropy_steps

    scores, targets = torch.tensor(logits), torch.tensor(reading.targets)
    if asked is None:
        return cross_entropy_steps(scores, targets)
    return cross_entropy_steps(scores, _masked(targets, asked), **arguments(asked, scores.shape[1]))


def arguments(asked: Asked, vocabulary: int) -> dict:
    """Return the arguments that `cross_entropy_steps` takes for the controls."""
    import torch

    weights = None
    if asked.token is not None:
        weights = torch.ones(vocabulary, dtype=torch.float64)
        weights[asked.token] = asked.weight
    return {
        "reduction": asked.reduction,
        "class_weights": weights,
        "label_smoothing": asked.smoothing,
    }


def _masked(targets, asked: Asked):
    from llmviz.nn.loss import IGNORED

    masked = targets.clone()
    masked[list(asked.skipped)] = IGNORED
    return masked


def torch_loss(reading: Read, logits: np.ndarray, asked: Asked) -> np.ndarray:
    """Return what torch's own function says to the same arguments."""
    import torch

    from llmviz.nn.loss import IGNORED

    given = arguments(asked, logits.shape[1])
    return torch.nn.functional.cross_entropy(
        torch.tensor(logits),
        _masked(torch.tensor(reading.targets), asked),
        weight=given["class_weights"],
        ignore_index=IGNORED,
        reduction=asked.reduction,
        label_smoothing=asked.smoothing,
    ).numpy()

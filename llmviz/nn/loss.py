"""The loss that a training of a language model takes, and each step of it."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

IGNORED = -1  # a target that carries no loss
REDUCTIONS = ("mean", "sum", "none")


def next_token_loss(
    logits: Tensor, targets: Tensor, label_smoothing: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Mean cross-entropy in nats per token over all positions whose target is not −1.

    logits (…, V), before the softmax; targets (…), token ids. label_smoothing: see
    `cross_entropy_steps`. reduction: "none" gives each position's own, 0 where it is −1.
    Raises ValueError for a target outside the vocabulary, or a shape that does not match.
    If every target is −1 there is nothing to average and the loss is NaN.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"targets must have the shape {tuple(logits.shape[:-1])} of the positions; "
            f"got {tuple(targets.shape)}"
        )
    flat = logits.reshape(-1, logits.shape[-1]).float()
    try:
        loss = F.cross_entropy(
            flat,
            targets.reshape(-1),
            ignore_index=IGNORED,
            label_smoothing=label_smoothing,
            reduction=reduction,
        )
        return loss if reduction != "none" else loss.view(targets.shape)
    except IndexError as error:
        raise ValueError(
            f"target ids must be from 0 to {logits.shape[-1] - 1} (or −1 for no loss); "
            f"got {targets.min()} to {targets.max()}"
        ) from error


class LossSteps(NamedTuple):
    """Every step of a cross-entropy; N positions, V vocabulary, all in nats.

    A position that is ignored has the weight 0 and the target probability, logarithm and nats of
    its row's token 0, so that nothing in it is undefined.
    """

    probabilities: Tensor  # (N, V) softmax of each row of the logits
    target_probability: Tensor  # (N,) that of the target
    log_probability: Tensor  # (N,) its natural logarithm
    nats: Tensor  # (N,) minus that
    spread: Tensor  # (N,) label smoothing's share: the mean over all tokens of −ln p, weighted
    weights: Tensor  # (N,) class weight of the target, 0 where ignored
    parts: Tensor  # (N,) weights × nats and smoothing put together
    total: Tensor  # () sum of the parts
    divisor: Tensor  # () sum of the weights
    loss: Tensor  # () or, with reduction "none", (N,)


def cross_entropy_steps(
    logits: Tensor,
    targets: Tensor,
    *,
    reduction: str = "mean",
    ignore_index: int = IGNORED,
    class_weights: Tensor | None = None,
    label_smoothing: float = 0.0,
) -> LossSteps:
    """Cross-entropy with each of its steps kept; equal to `torch.nn.functional.cross_entropy`.

    logits (N, V), before the softmax; targets (N,), token ids. class_weights (V,) count a target
    as often as its weight says; the mean divides by their sum. label_smoothing ε moves a share ε
    of each target to all V tokens evenly. reduction: mean, sum, or none, which keeps N numbers.

    >>> cross_entropy_steps(torch.tensor([[0.0, 0.0]]), torch.tensor([1])).loss
    tensor(0.6931)

    Raises ValueError for shapes that do not match, a target outside the vocabulary, a smoothing
    outside [0, 1], a negative weight, or a mean over positions that are all ignored or weigh 0.
    Reference: Szegedy et al. 2016, section 7 (label smoothing); with class weights in torch's form.
    """
    _check(logits, targets, reduction, ignore_index, class_weights, label_smoothing)
    v = logits.shape[1]
    counted = targets != ignore_index
    safe = torch.where(counted, targets, 0)
    each = torch.ones(v).to(logits) if class_weights is None else class_weights.to(logits)
    log_all = logits.log_softmax(dim=-1)  # (N, V)
    log_p = log_all.gather(1, safe[:, None])[:, 0]  # (N,)
    weights = torch.where(counted, each[safe], 0.0)
    spread = torch.where(counted, -(log_all * each).sum(-1) / v, 0.0)
    parts = (1 - label_smoothing) * weights * -log_p + label_smoothing * spread
    total, divisor = parts.sum(), weights.sum()
    if reduction == "mean" and not divisor > 0:
        raise ValueError("a mean needs at least one position whose weight is above 0; got none")
    loss = {"mean": lambda: total / divisor, "sum": lambda: total, "none": lambda: parts}
    return LossSteps(
        probabilities=log_all.exp(),
        target_probability=log_p.exp(),
        log_probability=log_p,
        nats=-log_p,
        spread=spread,
        weights=weights,
        parts=parts,
        total=total,
        divisor=divisor,
        loss=loss[reduction](),
    )


def _check(
    logits: Tensor,
    targets: Tensor,
    reduction: str,
    ignore_index: int,
    class_weights: Tensor | None,
    label_smoothing: float,
) -> None:
    if logits.dim() != 2 or targets.shape != logits.shape[:1] or not len(targets):
        raise ValueError(
            "logits must have the shape (positions, vocabulary) and targets one id a position; "
            f"got {tuple(logits.shape)} and {tuple(targets.shape)}"
        )
    v = logits.shape[1]
    wrong = targets[(targets != ignore_index) & ((targets < 0) | (targets >= v))]
    if len(wrong):
        raise ValueError(f"target ids must be from 0 to {v - 1}; got {wrong[0]}")
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}; got {reduction!r}")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing must be from 0 to 1; got {label_smoothing}")
    if class_weights is not None:
        if class_weights.shape != (v,):
            raise ValueError(f"{v} class weights are needed; got {tuple(class_weights.shape)}")
        if not bool((class_weights >= 0).all()):
            raise ValueError(f"a class weight must not be negative; got {class_weights.min():g}")

"""The one place where the loss of a language model is computed."""

import torch.nn.functional as F
from torch import Tensor

IGNORED = -1  # a target that carries no loss


def next_token_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats per token over all positions whose target is not −1.

    logits (…, V), before the softmax; targets (…), token ids.
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
        return F.cross_entropy(flat, targets.reshape(-1), ignore_index=IGNORED)
    except IndexError as error:
        raise ValueError(
            f"target ids must be from 0 to {logits.shape[-1] - 1} (or −1 for no loss); "
            f"got {targets.min()} to {targets.max()}"
        ) from error

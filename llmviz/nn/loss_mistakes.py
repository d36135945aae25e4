"""Losses as they come out when a mistake was made; each is a mistake seen in real course notes.

N positions, V vocabulary. The right one is `llmviz.nn.loss.cross_entropy_steps`.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from llmviz.nn.loss import cross_entropy_steps

Mistake = Callable[[Tensor, Tensor, Tensor], Tensor]


def no_shift(logits: Tensor, targets: Tensor, inputs: Tensor) -> Tensor:
    """The target is the token that went in, not the one that comes next."""
    return cross_entropy_steps(logits, inputs).loss


def probabilities_as_logits(logits: Tensor, targets: Tensor, inputs: Tensor) -> Tensor:
    """Probabilities go into a loss that takes logits, so the softmax is taken twice.

    It cannot fall below ln(V − 1 + e) − 1, however good the model is.
    """
    return cross_entropy_steps(logits.softmax(-1), targets).loss


def rows_not_one(logits: Tensor, targets: Tensor, inputs: Tensor) -> Tensor:
    """A sigmoid of each logit instead of a softmax of the row: the rows do not add up to 1."""
    return -torch.nn.functional.logsigmoid(logits.gather(1, targets[:, None])).mean()


def wrong_column(logits: Tensor, targets: Tensor, inputs: Tensor) -> Tensor:
    """The column beside the target's is read: ids counted from 1 where columns count from 0."""
    return cross_entropy_steps(logits, (targets + 1) % logits.shape[1]).loss


def by_classes(logits: Tensor, targets: Tensor, inputs: Tensor) -> Tensor:
    """The sum is divided by the number of tokens in the vocabulary, not by that of positions."""
    return cross_entropy_steps(logits, targets, reduction="sum").loss / logits.shape[1]


LOSS_MISTAKES: dict[str, Mistake] = {
    "shift": no_shift,
    "probabilities": probabilities_as_logits,
    "rows": rows_not_one,
    "column": wrong_column,
    "classes": by_classes,
}


def lowest_twice_softmaxed(vocabulary: int) -> float:
    """The loss of a certain and right model that is fed to the loss as probabilities, in nats."""
    return math.log(vocabulary - 1 + math.e) - 1

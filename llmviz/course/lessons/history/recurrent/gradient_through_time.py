"""How much each earlier state of a recurrent model counts for the last loss.

T letters, H hidden width.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel

LARGEST = 1e30  # a longer gradient is as good as infinite


@dataclass(frozen=True)
class PastGradients:
    """Lengths of the gradient of the last loss (nats) with respect to each state.

    norms: for each tensor of the state (hidden; an LSTM's cell as well) (T,), the first letter
    first.
    """

    loss: float
    norms: dict[str, np.ndarray]

    @property
    def ratio(self) -> float:
        """The first hidden state's gradient over the last one's; 0 where that is 0."""
        first, last = float(self.norms["hidden"][0]), float(self.norms["hidden"][-1])
        return min(first / last, LARGEST) if last > 0 else 0.0


def past_gradients(model: LanguageModel, ids: Sequence[int], target: int) -> PastGradients:
    """Return the gradient of the loss at the last id with respect to the states at all ids.

    target: the id that should follow the last one. The context's length is no limit here.
    Raises ValueError without ids, for a model without one recurrent layer, and for a gradient
    longer than LARGEST.
    """
    import torch
    import torch.nn.functional as F

    from llmviz.course.lessons.history.recurrent.recurrent_states import require_one_layer

    rnn = require_one_layer(model)
    if not ids:
        raise ValueError("at least one letter is needed for a gradient")
    layer = rnn.layers[0]
    parts = ("hidden", "cell") if layer.n_state > 1 else ("hidden",)
    x = F.embedding(torch.tensor([list(ids)]), rnn.token.weight)
    if not x.requires_grad:  # a frozen model: the states need a gradient all the same
        x.requires_grad_()
    steps = layer.steps(x)
    logits = rnn.head(steps[-1].hidden)
    loss = F.cross_entropy(logits, torch.tensor([target]))
    states = [getattr(step, part) for part in parts for step in steps]
    gradients = torch.autograd.grad(loss, states)
    lengths = [float(grad.double().norm()) for grad in gradients]
    if not np.isfinite(lengths).all() or max(lengths) > LARGEST:
        raise ValueError("the gradient is longer than 10³⁰: it has exploded")
    return PastGradients(
        float(loss.detach()),
        {
            part: np.array(lengths[i * len(steps) : (i + 1) * len(steps)])
            for i, part in enumerate(parts)
        },
    )


def fresh(model: LanguageModel, seed: int, scale: float = 1.0) -> LanguageModel:
    """Return an untrained model of the same sizes; its recurrent weights are times `scale`."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        new = type(model)(model.config)
    return scaled(new, scale)


def scaled(model: LanguageModel, scale: float) -> LanguageModel:
    """Return a copy whose recurrent weights are times `scale`, and which can be trained."""
    import torch

    from llmviz.course.lessons.history.recurrent.recurrent_states import require_one_layer

    new = require_one_layer(copy.deepcopy(model)).requires_grad_(True)
    with torch.no_grad():
        new.layers[0].recurrent.weight.mul_(scale)
    return new

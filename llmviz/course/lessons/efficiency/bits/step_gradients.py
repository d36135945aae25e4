"""The gradients and the update of one real training step of a bundled model, size by size.

N numbers: all weights of the model, or all values at the ends of its layers. Everything is computed
in float32; what float16 would do to it follows exactly, because a loss scale is a power of two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.quantization.formats import FLOAT16, FORMATS, FloatFormat, Format

if TYPE_CHECKING:
    from torch import Tensor, nn

    from llmviz.models.gpt import GPT
    from llmviz.training.data import TrainData

ROWS = {"names-gpt": 64, "tiny-world-char": 4}  # windows of a batch, by model
BATCHES = 8  # whose gradients Adam's averages are made of
CHARACTERS = 60_000  # of tiny-world's stories that a batch is drawn from
BETAS, EPSILON = (0.9, 0.99), 1e-8  # Adam's
WEIGHTS, ACTIVATIONS = "weights", "activations"


@dataclass(frozen=True)
class Fates:
    """What float16 makes of some gradients, counted; together they are all of them."""

    zero: int  # exactly 0 already in float32
    vanish: int  # become 0
    subnormal: int
    normal: int
    overflow: int  # become infinite

    @property
    def total(self) -> int:
        return self.zero + self.vanish + self.subnormal + self.normal + self.overflow

    @property
    def lost(self) -> float:
        """The share of the gradients other than 0 that vanish or overflow; 0 where all are 0."""
        counted = self.total - self.zero
        return (self.vanish + self.overflow) / counted if counted else 0.0


@dataclass(frozen=True)
class Sizes:
    """The sizes of some gradients (N,), the smallest first."""

    sizes: np.ndarray

    @cached_property
    def powers(self) -> tuple[np.ndarray, np.ndarray]:
        """Powers e, rising without a gap, and how many sizes lie from 2^e to below 2^(e + 1)."""
        above = self.sizes[self.sizes > 0]
        if not above.size:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        exponents = np.frexp(above.astype(np.float64))[1] - 1
        first = int(exponents.min())
        counts = np.bincount(exponents - first)
        return np.arange(first, first + len(counts)), counts

    def fates(self, power: int) -> Fates:
        """Count what float16 makes of all gradients, each multiplied by 2^power."""
        sizes = self.sizes.astype(np.float64)
        # Halfway between 0 and the smallest number goes to 0; halfway past the largest is infinite.
        edges = [
            np.searchsorted(sizes, 0.0, "right"),
            np.searchsorted(sizes, FLOAT16.smallest / 2 * 2.0**-power, "right"),
            np.searchsorted(sizes, _NORMAL_FROM * 2.0**-power, "left"),
            np.searchsorted(sizes, _INFINITE_FROM * 2.0**-power, "left"),
            len(sizes),
        ]
        parts = np.diff([0, *edges])
        return Fates(*(int(part) for part in parts))


_NORMAL_FROM = FLOAT16.smallest_normal - FLOAT16.smallest / 2  # rounded up to a normal number
_INFINITE_FROM = FLOAT16.largest + float(FLOAT16.spacing(FLOAT16.largest)) / 2


@dataclass(frozen=True)
class RealStep:
    """One step: its loss in nats, its gradients, its weights and what Adam would add to them.

    direction: (N,) what is taken from the weights (N,) at a learning rate of 1, by Adam with
    averages of BATCHES batches. Weights without any gradient, such as those of tokens that did not
    come up, are left out of both.
    """

    loss: float
    tokens: int  # that carry loss
    gradients: Mapping[str, Sizes]  # of WEIGHTS and of ACTIVATIONS
    weights: np.ndarray
    direction: np.ndarray

    def lost_updates(self, format: FloatFormat, rate: float) -> float:
        """Return the share of the weights, held in a format, that an update leaves as they were.

        The update is taken from the weight exactly and the result rounded to the format.
        """
        held = format.round(self.weights)
        return float(np.mean(format.round(held - rate * self.direction) == held))


def lost_updates(step: RealStep, name: str, rates: tuple[float, ...]) -> np.ndarray:
    """Return for each learning rate (R,) the share of weights that an update leaves unchanged."""
    format = FORMATS[name]
    assert isinstance(format, FloatFormat)
    return np.array([step.lost_updates(format, rate) for rate in rates])


def update_steps(step: RealStep, format: Format, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return how large the updates are, measured in distances to the next number of a format.

    Rising powers e, and how many updates are from 2^e to below 2^(e + 1) distances large.
    """
    held = format.round(step.weights)
    sizes = np.sort(np.abs(rate * step.direction) / format.spacing(held))
    return Sizes(sizes).powers


def real_step(name: str, base: Any = None) -> RealStep:
    """Take one step of a bundled model of ROWS on its own corpus, without changing the model.

    base: what `load_bundled` returned for it. Raises ValueError for a model that is not there.
    """
    from llmviz.models.transformers import require_transformer
    from llmviz.pretrained import load_bundled

    if name not in ROWS:
        raise ValueError(f"the model must be one of {', '.join(ROWS)}; got {name!r}")
    model, tokenizer, card = base or load_bundled(name)
    data = batches_of(card["corpus"], tokenizer, model.context_length)
    # Without dropout, so that the step is one of its own.
    gpt = require_transformer(model).eval().requires_grad_(True)
    gradients: list[dict[str, Tensor]] = []
    for number in range(1, BATCHES + 1):
        loss, tokens, own, ends = gradients_of(gpt, data.batch(number, ROWS[name]))
        gradients.append(own)
    weights = {key: weight.detach() for key, weight in gpt.named_parameters()}
    return RealStep(
        loss,
        tokens,
        {WEIGHTS: _sizes(own.values()), ACTIVATIONS: _sizes(ends)},
        *_update(weights, gradients),
    )


def batches_of(corpus: str, tokenizer: Any, context_length: int) -> TrainData:
    """Return batches of a bundled model's own corpus; of tiny-world, of some of its stories."""
    from llmviz.corpus import load_corpus
    from llmviz.training.data import TrainData

    characters = CHARACTERS if corpus == "tiny-world" else None
    return TrainData.from_corpus(
        load_corpus(corpus, characters=characters), tokenizer, context_length
    )


def gradients_of(
    model: GPT, batch: tuple[Tensor, ...], scale: float = 1.0
) -> tuple[float, int, dict[str, Tensor], list[Tensor]]:
    """Return a batch's loss, its scored tokens, and the gradients: of weights, of layers' ends.

    scale: what the loss is multiplied by before the backward pass.
    """
    from llmviz.training.data import scored

    ends: list[Tensor] = []

    def keep(module: nn.Module, given: object, out: Any) -> None:
        end = out[0] if isinstance(out, tuple) else out
        end.retain_grad()
        ends.append(end)

    hooks = [block.register_forward_hook(keep) for block in model.blocks]
    try:
        model.zero_grad(set_to_none=True)
        loss = model(*batch)[1]
    finally:
        for hook in hooks:
            hook.remove()
    (loss * scale).backward()
    named = model.named_parameters()
    own = {key: weight.grad.clone() for key, weight in named if weight.grad is not None}
    of_ends = [end.grad for end in ends if end.grad is not None]
    return float(loss.detach()), scored(batch), own, of_ends


def _sizes(gradients: Any) -> Sizes:
    import torch

    return Sizes(torch.cat([grad.reshape(-1).abs() for grad in gradients]).sort().values.numpy())


def _update(
    weights: Mapping[str, Tensor], gradients: list[dict[str, Tensor]]
) -> tuple[np.ndarray, np.ndarray]:
    """The weights that have any gradient, and Adam's direction for them."""
    import torch

    held, directions = [], []
    for key in gradients[0]:
        own = torch.stack([grads[key] for grads in gradients]).double()
        some = (own != 0).any(0)
        held.append(weights[key][some].double())
        directions.append(adam_direction(own[:, some]))
    return torch.cat(held).numpy(), torch.cat(directions).numpy()


def adam_direction(gradients: Tensor) -> Tensor:
    """Return what Adam takes from weights (N,) at a learning rate of 1, after gradients (S, N)."""
    import torch

    mean = square = torch.zeros_like(gradients[0])
    for gradient in gradients:
        mean = BETAS[0] * mean + (1 - BETAS[0]) * gradient
        square = BETAS[1] * square + (1 - BETAS[1]) * gradient**2
    mean = mean / (1 - BETAS[0] ** len(gradients))
    square = square / (1 - BETAS[1] ** len(gradients))
    return mean / (square.sqrt() + EPSILON)

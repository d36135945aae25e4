"""What many layers do to the numbers that pass through them, and to gradients on their way back.

T tokens, C width, L layers, P = L + 1 points: before the first layer, and after each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

DEEPEST = 48


class DepthStudy(NamedTuple):
    """One untrained stack of transformer layers, and one pass forward and back through it."""

    activations: Tensor  # (P,) root mean square of the numbers at each point
    gradients: Tensor  # (P,) length of the loss's gradient with respect to them


def depth_study(
    n_layer: int,
    norm: str = "pre",
    *,
    shortcuts: bool = True,
    norm_kind: str = "layer",
    width: int = 32,
    tokens: int = 16,
    gain: float = 1.0,
    seed: int = 0,
) -> DepthStudy:
    """Send random vectors through a stack of untrained layers and their loss's gradient back.

    norm: pre, post or none; shortcuts: whether a layer adds to its input or replaces it.
    gain: the weights are normal with deviation gain / √inputs, so that a matrix keeps the size of
      what it multiplies for gain 1.
    The loss is the mean product of the result with fixed random numbers; so it neither grows with
    depth by itself nor prefers a direction. Computed in float64.
    Raises ValueError for a stack that is not from 1 to 48 layers deep and as `GPTConfig` does.
    """
    import torch

    from llmviz.models.gpt import GPT, GPTConfig
    from llmviz.trace import record

    if not 1 <= n_layer <= DEEPEST:
        raise ValueError(f"n_layer must be from 1 to {DEEPEST}; got {n_layer}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x, direction = torch.randn(2, 1, tokens, width, dtype=torch.float64)
        x.requires_grad_()
        model = GPT(
            GPTConfig(
                vocab_size=2,
                context_length=tokens,
                n_layer=n_layer,
                n_head=4,
                n_embd=width,
                norm=norm,
                norm_kind=norm_kind,
                residual=shortcuts,
            )
        ).double()
        for parameter in model.blocks.parameters():
            if parameter.dim() == 2:
                torch.nn.init.normal_(parameter, std=gain / parameter.shape[1] ** 0.5)
    mask, causal = model.visible(torch.zeros(1, tokens, dtype=torch.long))
    points = [x]
    # Recorded weights are computed step by step: where numbers explode, the fused kernel's gradient
    # is not a number.
    with record("blocks.*.attn.weights"):
        for block in model.blocks:
            points.append(block(points[-1], mask, causal, None))
    loss = (points[-1] * direction).mean()
    gradients = torch.stack([found.norm() for found in torch.autograd.grad(loss, points)])
    sizes = torch.stack([point.detach().square().mean().sqrt() for point in points])
    return DepthStudy(sizes, gradients)

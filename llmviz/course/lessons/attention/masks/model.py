"""Masks by name, and what leaks through one.

T tokens. Torch is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.nn.attention.steps import AttentionSteps


def mask_of(kind: str, t: int, window: int = 1, real: int = 1) -> Tensor | None:
    """Return a mask (T, T), True where a row may look; None for the kind "none".

    kind: none, causal, off_by_one, padding or sliding. window: tokens that a row sees, with kind
    sliding. real: tokens that are no padding.
    Raises ValueError: another kind, or a number out of range.
    """
    from llmviz.nn import attention

    match kind:
        case "none":
            return None
        case "causal":
            return attention.causal_mask(t)
        case "off_by_one":
            return attention.causal_mask_off_by_one(t)
        case "padding":
            return attention.padding_mask([real], t)[0, 0].expand(t, t)
        case "sliding":
            return attention.sliding_window_mask(t, window)
    raise ValueError(f"a mask must be none, causal, off_by_one, padding or sliding; got {kind!r}")


def leak(steps: AttentionSteps, mask: Tensor, before: str | None) -> float:
    """Return how far the allowed weights move when every forbidden score grows by 1.

    steps: of one head, (T, T) each. before: the softmax taken before the mask, as in `attention`.
    """
    import torch

    from llmviz.nn.attention import attention

    moved = steps.scaled + (~mask).to(steps.scaled.dtype)
    zero = torch.zeros_like(moved[..., :1])
    again = attention(
        moved, torch.eye(mask.shape[-1]).to(moved), zero, mask, 1.0, 0.0, None, before
    )
    return float(((again.weights - steps.weights).abs() * mask).max())

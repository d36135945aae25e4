"""Attention of several heads, each on its own columns of Q and K, or, a mistake, each on all.

T tokens, C width, H heads, D = C/H. Torch is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.nn.attention.steps import AttentionSteps


def heads_of(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    n_head: int,
    mask: Tensor | None,
    scale: float,
    before: str | None = None,
    *,
    all_columns: bool = False,
) -> AttentionSteps:
    """Return what H heads compute from queries, keys and values, each (T, C).

    mask: (T, T), True where a row may look. scale: what scores are multiplied by. before: the
    softmax taken before the mask, as in `attention`. all_columns: each head compares all C columns
    of q and k, so that all heads have the same weights.
    Raises ValueError: n_head does not divide C.
    """
    from llmviz.nn.attention import attention, split_heads

    queries, keys, values = (split_heads(part, n_head) for part in (q, k, v))  # each (H, T, D)
    if all_columns:
        queries, keys = (part.expand(n_head, *part.shape) for part in (q, k))
    return attention(queries, keys, values, mask, scale, softmax_before_mask=before)

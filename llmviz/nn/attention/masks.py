"""Which token may look at which: boolean masks in which True means "may look".

Rows ask (queries), columns are asked (keys). T time, S source length, B batch.
"""

import torch
from torch import Tensor


def causal_mask(t: int, device: torch.device | str | None = None) -> Tensor:
    """Each token sees itself and what came before it: (T, T).

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    _require_length(t)
    return torch.ones(t, t, dtype=torch.bool, device=device).tril()


def causal_mask_off_by_one(t: int, device: torch.device | str | None = None) -> Tensor:
    """A mistake, kept to be looked at: each token also sees the next one, (T, T).

    >>> causal_mask_off_by_one(3).int().tolist()
    [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    """
    _require_length(t)
    return torch.ones(t, t, dtype=torch.bool, device=device).tril(1)


def sliding_window_mask(t: int, window: int, device: torch.device | str | None = None) -> Tensor:
    """Each token sees itself and the window − 1 tokens before it: (T, T).

    Raises ValueError for a window below 1.

    >>> sliding_window_mask(3, 2).int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """
    if window < 1:
        raise ValueError(f"window must be at least 1 token; got {window}")
    return causal_mask(t, device).triu(1 - window)


def padding_mask(lengths: Tensor | list[int], t: int) -> Tensor:
    """Nobody sees the padding behind a text's real tokens: (B, 1, 1, T), for all heads and rows.

    lengths: (B,), the number of real tokens of each text.
    Raises ValueError for a length below 1 (a row with nothing to look at) or above t.

    >>> padding_mask([1, 3], 3).int().tolist()
    [[[[1, 0, 0]]], [[[1, 1, 1]]]]
    """
    lengths = torch.as_tensor(lengths)
    if lengths.numel() and (lengths.min() < 1 or lengths.max() > t):
        raise ValueError(f"each length must be from 1 to {t}; got {lengths.tolist()}")
    return (torch.arange(t, device=lengths.device) < lengths[:, None])[:, None, None, :]


def refuse_fully_masked_rows(mask: Tensor) -> None:
    """Raise ValueError if some row of the mask may look at nothing.

    The softmax of such a row would divide zero by zero. The check reads the mask, so it is made
    where a mask comes from outside, not at every training step.
    """
    blind = ~mask.any(dim=-1)
    if blind.any():
        where = tuple(blind.nonzero()[0].tolist())
        raise ValueError(
            f"row {where[-1]} of the mask may look at no token at all, "
            f"so its softmax would be 0/0; leave it at least one"
        )


def _require_length(t: int) -> None:
    if t < 1:
        raise ValueError(f"a mask needs at least 1 token; got {t}")

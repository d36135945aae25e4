"""Windows over token ids as tensors: inputs and targets, shifted by one.

T  context: tokens in a window        N  windows in the text
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.utils.data import Dataset

from llmviz.corpus.window_plan import WindowPlan


def windows(ids: Sequence[int] | Tensor, context: int, stride: int) -> tuple[Tensor, Tensor]:
    """Return (inputs, targets), both int64 (N, T); targets are the inputs shifted by one.

    Raises ValueError if a size is below 1 or there are fewer than context + 1 ids.
    """
    dataset = TokenDataset(ids, context, stride)
    starts = torch.tensor(list(dataset.plan.starts))
    at = starts[:, None] + torch.arange(context)  # (N, T)
    return dataset.ids[at], dataset.ids[at + 1]


class TokenDataset(Dataset):
    """The windows of a token stream; item i is (inputs (T,), targets (T,)).

    Raises ValueError as `windows` does.
    """

    def __init__(self, ids: Sequence[int] | Tensor, context: int, stride: int | None = None):
        self.ids = torch.as_tensor(ids, dtype=torch.int64)
        if self.ids.dim() != 1:
            raise ValueError(f"token ids must be one row; got shape {tuple(self.ids.shape)}")
        self.plan = WindowPlan(len(self.ids), context, context if stride is None else stride)

    def __len__(self) -> int:
        return len(self.plan.starts)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        start = self.plan.starts[index]
        end = start + self.plan.context
        return self.ids[start:end], self.ids[start + 1 : end + 1]

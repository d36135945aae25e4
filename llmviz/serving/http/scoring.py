"""The log-probability of every token of a text, by one forward pass of the model itself."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn


class TokenScore(NamedTuple):
    """A token, the natural logarithm of its probability after those before it, and the likeliest.

    top: (id, log-probability), the most probable first.
    """

    id: int
    logprob: float
    top: tuple[tuple[int, float], ...]


class Scorer:
    """Scores texts of token ids; one at a time, no matter who asks, so that memory stays bounded.

    Temperature and the other steps of sampling do not touch these numbers.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._turn = threading.Lock()

    def __call__(self, ids: Sequence[int], top: int) -> list[TokenScore | None]:
        """Return the score of each token, with the `top` likeliest in its place.

        None for the first token, which has nothing before it. The last one needs no place in the
        context: at most one token more than that can be scored.
        """
        if len(ids) < 2:
            return [None] * len(ids)
        with self._turn, torch.inference_mode():
            logits = self._model(torch.tensor([list(ids[:-1])]))[0][0]
            logs = logits.float().log_softmax(-1)
            own = logs.gather(-1, torch.tensor(ids[1:])[:, None])[:, 0].tolist()
            best = logs.topk(min(top, logs.shape[-1]))
            likely = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [
            None,
            *(
                TokenScore(token, value, tuple(zip(*row, strict=True)))
                for token, value, row in zip(ids[1:], own, likely, strict=True)
            ),
        ]

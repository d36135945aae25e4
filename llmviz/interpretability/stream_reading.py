"""What passes in a transformer while it reads many texts, and its loss with the stream replaced.

T tokens of a text, C = n_embd, L layers. The start token is read but is no part of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.gpt import GPT

AT_ONCE = 16  # texts


def stream_tap(layer: int) -> str:
    """The tap that the residual stream passes at the end of a layer."""
    return f"blocks.{layer}.residual"


def read_taps(
    gpt: GPT, texts: Sequence[Sequence[int]], names: Sequence[str], dtype: str = "float32"
) -> list[list[np.ndarray]]:
    """Return what passed each tap for each text: [name][text] (T, C), without the start token.

    texts: ids, the start token first, each of at most the model's context.
    """
    import torch

    from llmviz.trace import record

    found: list[list[np.ndarray]] = [[np.zeros(0)] * len(texts) for _ in names]
    for numbers, idx in _batches(texts):
        with torch.inference_mode(), record(names) as trace:
            gpt(idx, last_only=True)
        for at, name in enumerate(names):
            for row, number in enumerate(numbers):
                kept = trace[name][row, 1 : len(texts[number])]
                found[at][number] = kept.to(getattr(torch, dtype)).numpy()
    return found


def losses_with(
    gpt: GPT,
    texts: Sequence[Sequence[int]],
    tap: str = "",
    change: Callable[[Tensor], Tensor] | None = None,
) -> np.ndarray:
    """Return the loss of every token of every text, one after another, in nats.

    change: what is made of what passes a tap (B, T, C); the start token's stays. Without it the
    model is as it is.
    """
    import torch

    from llmviz.trace import replaced

    def changed(x: Tensor) -> Tensor:
        assert change is not None
        return torch.cat((x[:, :1], change(x[:, 1:])), 1)

    changes = {} if change is None else {tap: changed}
    losses: list[np.ndarray] = [np.zeros(0)] * len(texts)
    for numbers, idx in _batches(texts):
        with torch.inference_mode(), replaced(changes):
            log_p = gpt(idx)[0][:, :-1].log_softmax(-1)
        given = log_p.gather(-1, idx[:, 1:, None])[..., 0]
        for row, number in enumerate(numbers):
            losses[number] = -given[row, : len(texts[number]) - 1].double().numpy()
    return np.concatenate(losses)


def _batches(texts: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Tensor]]:
    """Numbers of texts of about one length, and their ids (B, T), filled up behind their ends."""
    import torch

    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    for first in range(0, len(order), AT_ONCE):
        numbers = order[first : first + AT_ONCE]
        longest = max(len(texts[number]) for number in numbers)
        idx = torch.zeros(len(numbers), longest, dtype=torch.long)
        for row, number in enumerate(numbers):
            idx[row, : len(texts[number])] = torch.tensor(list(texts[number]))
        yield numbers, idx

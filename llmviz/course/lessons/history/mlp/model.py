"""An MLP on a few letters: the window of each prediction, and what each place of it adds.

T letters, W window, C = n_embd, F hidden width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel


@dataclass(frozen=True)
class WindowsRead:
    """What an MLP of one hidden layer computed on a text.

    added: the length of what each place adds to the layer's product; 0 would change nothing.
    """

    seen: tuple[tuple[int | None, ...], ...]  # T windows of W ids; None stands before the text
    slots: Tensor  # (T, W, C)
    added: Tensor  # (T, W)
    linear: Tensor  # (T, F)
    normed: Tensor  # (T, F)
    hidden: Tensor  # (T, F)
    logits: Tensor  # (T, V)


def read_windows(model: LanguageModel, ids: Sequence[int]) -> WindowsRead:
    """Return what a model computes on token ids.

    Raises ValueError for another model than an MLP of one hidden layer, and ids that do not fit.
    """
    import torch

    from llmviz.models import MLP
    from llmviz.trace import record

    if not isinstance(model, MLP) or len(model.layers) != 1:
        raise ValueError(f"an MLP of one hidden layer is needed; got a {type(model).__name__}")
    window = model.config.window
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([list(ids)]))
        slots = trace["window"][0].unflatten(1, (window, -1))  # (T, W, C)
        weight = model.layers[0].linear.weight.unflatten(1, (window, -1))  # (F, W, C)
        added = torch.einsum("twc,fwc->twf", slots, weight).norm(dim=-1)
    padded: list[int | None] = [None] * (window - 1) + list(ids)
    linear, normed, hidden = (
        trace[f"layers.0{part}"][0].clone() for part in (".linear", ".norm", "")
    )
    return WindowsRead(
        tuple(tuple(padded[at : at + window]) for at in range(len(ids))),
        slots.clone(),
        added.clone(),
        linear,
        normed,
        hidden,
        trace["logits"][0].clone(),
    )

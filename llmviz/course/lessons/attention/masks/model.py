"""Masks by name, what leaks through one, and the loss of a model that is asked letter by letter.

L layers, B batch, H heads, T tokens. Torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models import GPT
    from llmviz.nn.attention.steps import AttentionSteps
    from llmviz.tokenizers import Tokenizer


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


@dataclass(frozen=True)
class LetterByLetter:
    """A model asked as when it writes, and where it looks when it is given all of a name."""

    loss: float  # nats per letter
    ahead: float  # mean share of weight on later letters
    names: int
    vocabulary: int


def letter_by_letter(
    model: GPT, tokenizer: Tokenizer, names: Sequence[str], looked_at: int
) -> LetterByLetter:
    """Ask a model for each letter of names from the letters before.

    Names that are longer than the context are left out. looked_at: of how many the weights are
    looked at.
    """
    import torch

    from llmviz.nn.attention.study import loss_as_written, weight_ahead
    from llmviz.tokenizers import ENDOFTEXT
    from llmviz.trace import record

    end = tokenizer.special_tokens[ENDOFTEXT]
    rows = [[end, *tokenizer.encode(name), end] for name in names]
    rows = [row for row in rows if len(row) <= model.context_length + 1]
    ahead = []
    by_length = sorted(rows[:looked_at], key=len)  # names of one length go through together
    for _, batch in groupby(by_length, key=len):
        with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
            model(torch.tensor([row[:-1] for row in batch]))
        weights = torch.stack(list(trace.values()))  # (L, B, H, T, T)
        ahead += weight_ahead(weights).mean(dim=(0, 2)).tolist()
    loss = loss_as_written(model, rows)
    return LetterByLetter(loss, sum(ahead) / len(ahead), len(rows), tokenizer.vocab_size)

"""Names asked letter by letter: the loss of a model that is given only what stands before a letter.

L layers, B batch, H heads, T tokens. Torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmviz.models import GPT
    from llmviz.tokenizers import Tokenizer


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

    from llmviz.nn.attention.leaks import loss_as_written, weight_ahead
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

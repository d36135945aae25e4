"""What a model writes after a prompt when it always takes the most probable token."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models import GPT
    from llmviz.models.base import LanguageModel
    from llmviz.sampling.generation import NextLogits
    from llmviz.tokenizers import Tokenizer


class Continuation(NamedTuple):
    """What was written, whether the model ended it, and its first choice.

    first (V,): the probability of each token right after the prompt. left_out: tokens of the
    prompt's beginning that the context had no room for.
    """

    text: str
    ended: bool
    first: np.ndarray
    left_out: int


def continuation(
    model: LanguageModel, tokenizer: Tokenizer, prompt: str, tokens: int
) -> Continuation:
    """Return up to `tokens` tokens after a prompt, each the most probable one.

    Bytes that make no character are shown as �. Raises ValueError for a text that cannot be
    encoded.
    """
    from llmviz.sampling.generation import NextLogits
    from llmviz.training.data import end_id

    ids, end = tokenizer.encode_from_start(prompt), end_id(tokenizer)
    room = max(1, model.context_length - tokens)
    window = ids[-room:]
    next_logits = NextLogits(model)
    logits = next_logits(window)  # one pass of the prompt is for the first choice and for the text
    chosen = []
    for token in islice(_most_probable(next_logits, logits, window), tokens):
        chosen.append(token)
        if token == end:
            break
    ended = bool(chosen) and chosen[-1] == end
    data = b"".join(tokenizer.token_bytes(token) for token in (chosen[:-1] if ended else chosen))
    first = logits.double().softmax(-1).numpy()
    return Continuation(data.decode("utf-8", "replace"), ended, first, len(ids) - len(window))


def _most_probable(next_logits: NextLogits, logits: Tensor, window: list[int]) -> Iterator[int]:
    """Yield the largest of the logits (V,) after a window, then what follows it, and so on."""
    ids = list(window)
    while True:
        ids.append(int(logits.numpy().argmax()))  # of equal ones the first
        yield ids[-1]
        logits = next_logits(ids)


def untrained(model: GPT, seed: int = 0) -> GPT:
    """Return a model of the same shape with the random weights that training begins from."""
    import torch

    from llmviz.models import GPT

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return GPT(model.config).eval().requires_grad_(False)

"""How a translator writes: with the right words given to it, and on its own.

S source length, T steps of the decoder, K words at each step, G heads of all layers. Torch is
imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.interpretability.translation_trace import translated

if TYPE_CHECKING:
    from llmviz.models import Seq2Seq
    from llmviz.models.translator import Translator

BEST = 5  # words that are kept of each step


class Decoding(NamedTuple):
    """What a decoder read, and what it would write after each token of that."""

    read: tuple[int, ...]  # T ids, the start token first
    best: np.ndarray  # (T, K) ids, the most probable first
    chances: np.ndarray  # (T, K) their probabilities

    @property
    def written(self) -> tuple[int, ...]:
        """The most probable token after each token that was read, T ids."""
        return tuple(int(i) for i in self.best[:, 0])


class Looks(NamedTuple):
    """The attention weights of all heads, layer by layer; each row adds up to 1."""

    encoder: np.ndarray  # (G, S, S)
    own: np.ndarray  # (G, T, T) masked: zero above the diagonal
    cross: np.ndarray  # (G, T, S)


def forced(model: Translator, source: Sequence[int], target: Sequence[int]) -> Decoding:
    """Return what a decoder says at each step when it reads the right words: teacher forcing.

    target: ids without start and end. The right answers are the same ids with the end behind them.
    Raises ValueError for unknown ids or more of them than the context.
    """
    return _decoding(model, source, [model.config.start_id, *target])


def forced_loss(model: Translator, source: Sequence[int], target: Sequence[int]) -> float:
    """Return the loss of training, nats per token, of the right words and the end behind them."""
    import torch

    config = model.config
    given, right = [config.start_id, *target], [*target, config.end_id]
    with torch.inference_mode():
        loss = model(*(torch.tensor([list(ids)]) for ids in (source, given, right)))[1]
    return float(loss)


def free(model: Translator, source: Sequence[int]) -> Decoding:
    """Return what a decoder says at each step when it reads its own words: free running.

    Its last word is the end, unless the context was full before.
    """
    own = translated(model, source)[: model.context_length - 1]
    return _decoding(model, source, [model.config.start_id, *own])


def _decoding(model: Translator, source: Sequence[int], read: list[int]) -> Decoding:
    import torch

    with torch.inference_mode():
        logits = model(torch.tensor([list(source)]), torch.tensor([read]))[0][0]
        best = logits.softmax(-1).topk(min(BEST, logits.shape[-1]))
    return Decoding(tuple(read), best.indices.numpy(), best.values.numpy())


def parting(right: Sequence[int], written: Sequence[int]) -> int | None:
    """Return the first step at which a decoder wrote another token; None where there is none.

    right and written: with the end. After that step a forced and a free decoder read different
    tokens; up to it they read the same.

    >>> parting([3, 4, 0], [3, 5, 0]), parting([3, 0], [3, 0]), parting([3, 0], [3, 4, 0])
    (1, None, 1)
    """
    for step, (token, guess) in enumerate(zip(right, written, strict=False)):
        if token != guess:
            return step
    return None if len(right) == len(written) else min(len(right), len(written))


def looks(model: Seq2Seq, source: Sequence[int], read: Sequence[int]) -> Looks:
    """Return what the heads of both halves look at while the decoder reads some tokens."""
    import torch

    from llmviz.trace import record

    kinds = ("encoder.blocks.*.attn", "decoder.blocks.*.attn", "decoder.blocks.*.cross")
    with torch.inference_mode(), record([f"{kind}.weights" for kind in kinds]) as trace:
        model(torch.tensor([list(source)]), torch.tensor([list(read)]))
    layers = range(model.config.n_layer)
    return Looks(
        *(
            torch.cat([trace[f"{kind.replace('*', str(i))}.weights"][0] for i in layers]).numpy()
            for kind in kinds
        )
    )

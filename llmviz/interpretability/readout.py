"""How a vector becomes logits: the final norm, the head, and softmax, number by number.

C = n_embd, V vocabulary, K tokens that are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.interpretability.attribution import Parts, require_tokens
from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.models.transformers import require_sum, require_transformer
from llmviz.nn.layers import LayerNorm, RMSNorm


class NormNumbers(NamedTuple):
    """What a final norm divides by and multiplies with. The mean is taken off by layer norm only.

    For layer norm `square` is the variance, else the mean square; `divisor` is √(square + ε).
    """

    kind: str  # layer or rms
    mean: Tensor | None  # (1, 1)
    square: Tensor  # (1, 1)
    divisor: Tensor  # (1, 1)
    epsilon: float
    scale: Tensor  # (1, C)
    shift: Tensor | None  # (1, C)


class Readout(NamedTuple):
    """A vector of the stream on its way to the probabilities of K tokens."""

    x: Tensor  # (1, C)
    norm: NormNumbers | None
    normed: Tensor  # (1, C), which the head reads
    rows: Tensor  # (K, C) of the head, one a token
    logits: Tensor  # (1, K)
    log_sum: Tensor  # (1, 1) ln of the sum of e^logit over all V tokens
    log_p: Tensor  # (1, K)
    p: Tensor  # (1, K)


class PartReadout(NamedTuple):
    """The vector of some parts on its way to their share of a logit, as the ledger counts it."""

    stream: Tensor  # (1, C) the sum of all parts, which decides what the frozen norm divides by
    norm: NormNumbers | None  # of the stream; for the shift of the norm itself None
    vector: Tensor  # (1, C) what the parts added
    mean: Tensor | None  # (1, 1) of the vector, with layer norm
    normed: Tensor  # (1, C)
    row: Tensor  # (1, C) the head's row of the token
    against: Tensor | None  # (1, C) that of the other token
    share: Tensor  # (1, 1)


def read_out(model: LanguageModel, x: Tensor, tokens: Sequence[int]) -> Readout:
    """Take a vector x (C,) of the stream to the probabilities of some tokens.

    x: such as a place of `Lens.stream`.
    Raises ValueError for a model that is no transformer, and for a vector or a token that it does
    not have.
    """
    gpt = require_transformer(model)
    require_tokens(gpt, *tokens)
    if x.shape != (gpt.config.n_embd,):
        raise ValueError(f"x must be a vector of {gpt.config.n_embd} numbers; got {tuple(x.shape)}")
    with torch.inference_mode():
        x = x[None]
        normed = gpt.norm_final(x)
        every = gpt.head(normed)  # (1, V)
        chosen = list(tokens)
        logits, log_sum = every[:, chosen], every.logsumexp(-1, keepdim=True)
        log_p = logits - log_sum
        rows = gpt.head.weight.detach()[chosen]
        return Readout(x, _norm_of(gpt, x), normed, rows, logits, log_sum, log_p, log_p.exp())


def read_part(
    model: LanguageModel,
    split: Parts,
    chosen: Collection[tuple[str, int, int]],
    token: int,
    against: int | None = None,
) -> PartReadout:
    """Take what some parts added at a place of a text to their share of a token's logit.

    split: of `split_stream`. chosen: (kind, layer, head) as in the entries of `ledger_of`, whose
    frozen norm is used and whose values the share is the sum of. The shift of the norm stands
    alone. Raises ValueError as `ledger_of` does, and for parts that are not there.
    """
    gpt = require_sum(model)
    require_tokens(gpt, token, against)
    wanted = set(chosen)
    with torch.inference_mode():
        stream = split.stream[None]
        norm, mean = _norm_of(gpt, stream), None
        own = [vector for *part, vector in split.parts if tuple(part) in wanted]
        if wanted == {("norm_shift", -1, -1)} and norm is not None and norm.shift is not None:
            vector = normed = norm.shift
            norm = None
        elif not wanted or len(own) < len(wanted):
            raise ValueError(f"parts must be entries of the ledger; got {sorted(wanted)}")
        else:
            vector = normed = torch.stack(own).sum(0)[None]
            if norm is not None:
                if norm.mean is not None:
                    mean = vector.mean(-1, keepdim=True)
                centred = vector if mean is None else vector - mean
                normed = centred / norm.divisor * norm.scale
        head = gpt.head.weight.detach()
        row, other = head[token][None], None if against is None else head[against][None]
        reading = row if other is None else row - other
        share = (normed.double() @ reading.double().T).to(normed.dtype)
        return PartReadout(stream, norm, vector, mean, normed, row, other, share)


def _norm_of(gpt: GPT, x: Tensor) -> NormNumbers | None:
    """The numbers of the final norm on a vector x (1, C); None where the model has none."""
    config = gpt.config
    if config.norm != "pre":
        return None
    norm, epsilon = gpt.norm_final, config.norm_epsilon
    assert isinstance(norm, LayerNorm | RMSNorm)
    if isinstance(norm, RMSNorm):
        mean, square, shift = None, x.square().mean(-1, keepdim=True), None
    else:
        mean, square = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
        shift = None if norm.bias is None else norm.bias.detach()[None]
    divisor = (square + epsilon).sqrt()
    scale = norm.weight.detach()[None]
    return NormNumbers(config.norm_kind, mean, square, divisor, epsilon, scale, shift)

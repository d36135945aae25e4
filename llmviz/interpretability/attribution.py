"""The ledger of a logit: what each part of a transformer added to it.

T tokens, C = n_embd, L layers, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.models.residual import read_stream
from llmviz.models.transformers import require_sum
from llmviz.nn.layers import LayerNorm, RMSNorm


class Entry(NamedTuple):
    """One line: which part, and what it added."""

    kind: str  # token, position, head, attention_bias, mlp, mlp_bias, norm_shift
    layer: int  # −1 outside the layers
    head: int  # −1 where it is no head
    value: float


class FrozenNorm(NamedTuple):
    """The final norm as the ledger applies it to every part: with the numbers of the whole stream.

    A norm divides by the size of the vector that it gets, so the size of one part depends on all
    others. The ledger takes the divisor of the whole vector for every part.
    """

    kind: str  # layer, rms, or none
    divisor: float  # √(variance + ε) or √(mean square + ε) of the whole vector; 1 without a norm


class Ledger(NamedTuple):
    """The entries, which sum to the logit (or to the difference of two) up to rounding."""

    entries: tuple[Entry, ...]
    norm: FrozenNorm
    logit: float  # the model's own

    @property
    def total(self) -> float:
        """The sum of all entries."""
        return sum(entry.value for entry in self.entries)


class Parts(NamedTuple):
    """What each part of a model added to the stream at one place of a text."""

    parts: tuple[tuple[str, int, int, Tensor], ...]  # kind, layer and head of an entry; (C,)
    stream: Tensor  # (C,) their sum


def logit_ledger(
    model: LanguageModel,
    ids: Sequence[int],
    token: int,
    against: int | None = None,
    place: int = -1,
) -> Ledger:
    """Take apart the logit of `token` after the token at `place` of a text.

    against: another token; the ledger is then of the first one's logit minus the second one's.
    A part's entry is its vector, through the frozen final norm, times the head's row of the token.
    With experts, their biases are within the entry `mlp`.
    Raises ValueError for a model whose stream is no sum (see `require_sum`), for ids outside the
    vocabulary and for a place outside the text.

    Reference: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits" (what heads
    add to logits); Wang et al. 2022, "Interpretability in the Wild", section 3.
    """
    return ledger_of(model, split_stream(model, ids, place), token, against)


def ledger_of(model: LanguageModel, split: Parts, token: int, against: int | None = None) -> Ledger:
    """Return the ledger of a logit for a stream that was split already: see `logit_ledger`."""
    gpt = require_sum(model)
    require_tokens(gpt, token, against)
    with torch.inference_mode():
        row = gpt.head.weight[token].double()  # (C,)
        if against is not None:
            row = row - gpt.head.weight[against].double()
        reading, shift, frozen = _reading(gpt, split.stream, row)
        values = torch.stack([vector for _, _, _, vector in split.parts]).double() @ reading
        entries = [
            Entry(kind, layer, head, value)
            for (kind, layer, head, _), value in zip(split.parts, values.tolist(), strict=True)
        ]
        if shift is not None:
            entries.append(Entry("norm_shift", -1, -1, shift))
        logits = gpt.head(gpt.norm_final(split.stream)).double()
        logit = logits[token] - (0 if against is None else logits[against])
        return Ledger(tuple(entries), frozen, float(logit))


def require_tokens(gpt: GPT, *tokens: int | None) -> None:
    """Raise ValueError for a token outside the vocabulary; None is none."""
    for token in tokens:
        if token is not None and not 0 <= token < gpt.vocab_size:
            raise ValueError(f"token must be from 0 to {gpt.vocab_size - 1}; got {token}")


def split_stream(model: LanguageModel, ids: Sequence[int], place: int = -1) -> Parts:
    """Return what each part added to the stream at a place of a text.

    Raises ValueError as `logit_ledger` does.
    """
    gpt = require_sum(model)
    if not -len(ids) <= place < len(ids):
        raise ValueError(f"place must be from {-len(ids)} to {len(ids) - 1}; got {place}")
    read = read_stream(gpt, list(ids))
    states, written = read.states[:, place], read.written[:, :, place]  # (S, C), (L, H, C)
    parts = [("token", -1, -1, states[0])]
    if gpt.config.adds_positions:
        parts.append(("position", -1, -1, states[1] - states[0]))
    for layer, block in enumerate(gpt.blocks):
        parts += [("head", layer, head, vector) for head, vector in enumerate(written[layer])]
        if block.attn.projection.bias is not None:
            parts.append(("attention_bias", layer, -1, block.attn.projection.bias.detach()))
        before, after = states[2 + 2 * layer], states[3 + 2 * layer]
        bias = None if gpt.config.n_expert > 1 else block.feed_forward.output.bias
        added = after - before
        parts.append(("mlp", layer, -1, added if bias is None else added - bias.detach()))
        if bias is not None:
            parts.append(("mlp_bias", layer, -1, bias.detach()))
    return Parts(tuple(parts), states[-1])


def _reading(gpt: GPT, stream: Tensor, row: Tensor) -> tuple[Tensor, float | None, FrozenNorm]:
    """What a part is multiplied by, (C,); what the norm's shift adds; the frozen norm itself.

    norm(x) · row = x · reading + shift, for the one x that is the stream (C,).
    """
    config, x = gpt.config, stream.double()
    if config.norm == "none":
        return row, None, FrozenNorm("none", 1.0)
    norm, epsilon = gpt.norm_final, config.norm_epsilon
    assert isinstance(norm, LayerNorm | RMSNorm)
    scaled = row * norm.weight.double()
    if isinstance(norm, RMSNorm):
        divisor = (x.square().mean() + epsilon).sqrt()
        return scaled / divisor, None, FrozenNorm("rms", float(divisor))
    divisor = (x.var(unbiased=False) + epsilon).sqrt()
    centred = scaled - scaled.mean()  # taking off the mean of x is the same as of what it meets
    shift = None if norm.bias is None else float(norm.bias.double() @ row)
    return centred / divisor, shift, FrozenNorm("layer", float(divisor))

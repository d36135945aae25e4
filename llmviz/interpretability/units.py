"""Single units of the feed-forward layers: which never fire, what drives them, what they write.

N texts, T tokens, L layers, F hidden width, C = n_embd, K texts that are kept, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from llmviz.interpretability.block import all_blocks, require_block
from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.models.transformers import require_dense
from llmviz.nn.layers import LayerNorm, RMSNorm
from llmviz.trace import record

KEPT = 8
TOKENS_AT_ONCE = 2048


class UnitSearch(NamedTuple):
    """What every unit did on a set of texts.

    A unit fires on a token where its number before the activation is above 0 (for SwiGLU, that of
    the gate).
    """

    fired: Tensor  # (L, F) share of the tokens on which it fires, 0 to 1
    highest: Tensor  # (L, F, K) its largest values after the activation, one a text, falling
    texts: Tensor  # (L, F, K) number of the text
    places: Tensor  # (L, F, K) place of the token in it
    tokens: int  # that were read

    @property
    def dead(self) -> Tensor:
        """Units that never fired, (L, F) bool."""
        return self.fired == 0


class UnitWrites(NamedTuple):
    """The tokens that a unit makes more and less probable when its value is above 0."""

    more: Tensor  # (K,) ids, the most raised first
    raised: Tensor  # (K,) what a value of 1 adds to their logits
    less: Tensor  # (K,)
    lowered: Tensor  # (K,)
    divisor: float  # of the final norm at that token; 1 without one


def texts_within(texts: Sequence[Sequence[int]], tokens: int, longest: int) -> list[list[int]]:
    """Return the first texts that have `tokens` tokens together, each cut to `longest` tokens."""
    kept: list[list[int]] = []
    for text in texts:
        if tokens <= 0:
            break
        cut = list(text[: min(longest, tokens)])
        if cut:
            kept.append(cut)
            tokens -= len(cut)
    return kept


def search_units(
    model: LanguageModel, texts: Sequence[Sequence[int]], keep: int = KEPT
) -> UnitSearch:
    """Read texts (ids each, of at most the model's context) and note what every unit does.

    Raises ValueError for no text, for a model that is no transformer and for one with experts.
    """
    *_, search = search_steps(model, texts, keep)
    return search


def search_steps(
    model: LanguageModel,
    texts: Sequence[Sequence[int]],
    keep: int = KEPT,
    at_once: int | None = None,
) -> Iterator[UnitSearch]:
    """Yield what every unit did so far, after each batch of about `at_once` tokens.

    The last one is that of all texts. Raises ValueError as `search_units` does.
    """
    gpt = require_dense(model)
    if not any(map(len, texts)):
        raise ValueError("a search needs at least one text with a token in it")
    shape = (gpt.config.n_layer, gpt.config.feed_forward_size)
    fired = torch.zeros(shape, dtype=torch.long)
    best = [torch.full((*shape, 0), 0.0), *(torch.zeros((*shape, 0)).long() for _ in range(2))]
    tokens = 0
    for numbers, hidden, act in _passes(gpt, texts, at_once or TOKENS_AT_ONCE):
        fired += (hidden > 0).sum((0, 1)).view(shape)
        tokens += act.shape[0] * act.shape[1]
        highest, places = act.max(dim=1)  # (B, L·F) each
        number = torch.tensor(numbers)[:, None].expand_as(places)
        new = [part.T.view(*shape, -1) for part in (highest, number, places)]
        both = [torch.cat(pair, dim=-1) for pair in zip(best, new, strict=True)]
        order = both[0].topk(min(keep, both[0].shape[-1]), dim=-1).indices
        best = [part.gather(-1, order) for part in both]
        values, texts_of, places_of = best
        yield UnitSearch(fired / tokens, values, texts_of, places_of, tokens)


def _passes(
    gpt: GPT, texts: Sequence[Sequence[int]], at_once: int
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Texts of one length at a time: their numbers; hidden and act of all layers (B, T, L·F)."""
    layers = range(gpt.config.n_layer)
    hidden = [f"blocks.{layer}.mlp.hidden" for layer in layers]
    act = [f"blocks.{layer}.mlp.act" for layer in layers]
    order = sorted((n for n in range(len(texts)) if len(texts[n])), key=lambda n: len(texts[n]))
    while order:
        length = len(texts[order[0]])
        alike = [n for n in order if len(texts[n]) == length]
        alike = alike[: max(1, at_once // length)]
        order = order[len(alike) :]
        with torch.inference_mode(), record([*hidden, *act]) as trace:
            gpt(torch.tensor([list(texts[n]) for n in alike]), last_only=True)
        before, after = (torch.cat([trace[name] for name in names], -1) for names in (hidden, act))
        yield alike, before, after


def unit_values(model: LanguageModel, ids: Sequence[int], layer: int) -> Tensor:
    """Values of every unit of a layer on every token of a text, after the activation: (T, F).

    Raises ValueError as `search_units` does, and for a layer that is not there.
    """
    gpt = require_dense(model)
    _check(gpt, layer, 0)
    name = f"blocks.{layer}.mlp.act"
    with torch.inference_mode(), record(name) as trace:
        gpt(torch.tensor([list(ids)]), last_only=True)
    return trace[name][0]


def unit_writes(
    model: LanguageModel, layer: int, unit: int, ids: Sequence[int], place: int = -1, keep: int = 10
) -> UnitWrites:
    """What a value of 1 of a unit adds to the logits after the token at `place` of a text.

    The unit's output column goes the direct way to the head, through the norms that stand there,
    each with the divisor that it has at this token. What later layers make of it is left out.
    Raises ValueError as `unit_values` does, for a unit that is not there, for a place outside the
    text and for a model with residual=False, where there is no direct way.

    Reference: Geva et al. 2022, "Transformer Feed-Forward Layers Build Predictions by Promoting
    Concepts in the Vocabulary Space", section 3.
    """
    gpt = require_block(model)
    _check(gpt, layer, unit)
    if not -len(ids) <= place < len(ids):
        raise ValueError(f"place must be from {-len(ids)} to {len(ids) - 1}; got {place}")
    sums = [(block["sum1"][place], block["sum2"][place]) for block in all_blocks(gpt, ids)]  # (C,)
    with torch.inference_mode():
        column = gpt.blocks[layer].feed_forward.output.weight[:, unit]  # (C,)
        if gpt.config.norm == "post":
            for at, block in enumerate(list(gpt.blocks)[layer:], layer):
                if at > layer:
                    column = _held(block.norm1, column, sums[at][0])
                column = _held(block.norm2, column, sums[at][1])
        logits = gpt.head.weight @ _held(gpt.norm_final, column, sums[-1][1])  # (V,)
        keep = min(keep, len(logits))
        more, less = logits.topk(keep), logits.topk(keep, largest=False)
        divisor = float(_divisor(gpt.norm_final, sums[-1][1]))
        return UnitWrites(more.indices, more.values, less.indices, less.values, divisor)


def _divisor(norm: nn.Module, x: Tensor) -> Tensor:
    """By what a norm divides a vector x (C,); 1 where there is none."""
    if not isinstance(norm, LayerNorm | RMSNorm):
        return torch.ones(())
    layer = isinstance(norm, LayerNorm)
    return ((x.var(unbiased=False) if layer else x.square().mean()) + (norm.eps or 0.0)).sqrt()


def _held(norm: nn.Module, part: Tensor, x: Tensor) -> Tensor:
    """Return what a part (C,) of a vector x (C,) is behind a norm of x; its shift is no part's."""
    if not isinstance(norm, LayerNorm | RMSNorm):
        return part
    centred = part - part.mean() if isinstance(norm, LayerNorm) else part
    return centred / _divisor(norm, x) * norm.weight


def _check(gpt: GPT, layer: int, unit: int) -> None:
    if not 0 <= layer < gpt.config.n_layer:
        raise ValueError(f"layer must be from 0 to {gpt.config.n_layer - 1}; got {layer}")
    if not 0 <= unit < gpt.config.feed_forward_size:
        raise ValueError(f"unit must be from 0 to {gpt.config.feed_forward_size - 1}; got {unit}")

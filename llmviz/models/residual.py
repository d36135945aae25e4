"""The residual stream of a GPT, step by step: how a token's vector becomes what it is.

S stages, T tokens, C = n_embd, L layers, H heads, D head size.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.models.gpt import GPT
from llmviz.trace import record


class Stage(NamedTuple):
    """A place in the stream: what was added last, in which layer, and the tap that sees it."""

    kind: str  # token, position, attention, mlp
    layer: int  # -1 before the first
    tap: str


class Stream(NamedTuple):
    """The vectors of a text after every stage, and what each head had a part in.

    `states` (S, T, C); `weights` (L, H, T, T) attention weights; `written` (L, H, T, C) what each
    head added to the stream; `chances` (T, V) of the token that follows each.
    """

    states: Tensor
    weights: Tensor
    written: Tensor
    chances: Tensor


def stages(model: GPT) -> list[Stage]:
    """Return the stages of a model, from the token's own row to the end of the last layer."""
    chain = [Stage("token", -1, "embed.token"), Stage("position", -1, "embed")]
    for layer in range(model.config.n_layer):
        chain.append(Stage("attention", layer, f"blocks.{layer}.residual_mid"))
        chain.append(Stage("mlp", layer, f"blocks.{layer}.residual"))
    return chain


def read_stream(model: GPT, ids: list[int] | tuple[int, ...]) -> Stream:
    """Return the stream of one text.

    Raises ValueError for ids outside the vocabulary and for more tokens than the context.
    """
    taps = [stage.tap for stage in stages(model)]
    heads = ("blocks.*.attn.weights", "blocks.*.attn.output")
    with torch.inference_mode(), record([*taps, *heads]) as trace:
        logits = model(torch.tensor([list(ids)]))[0][0]
        weights, written = [], []
        for layer, block in enumerate(model.blocks):
            weights.append(trace[f"blocks.{layer}.attn.weights"][0])
            output = trace[f"blocks.{layer}.attn.output"][0]  # (H, T, D)
            n_head, _, size = output.shape
            # The rows of the output projection that belong to each head, (H, D, C).
            projection = block.attn.projection.weight.T.reshape(n_head, size, -1)
            written.append(output @ projection)
        states = torch.stack([trace[tap][0] for tap in taps])
        return Stream(states, torch.stack(weights), torch.stack(written), logits.softmax(-1))


def parting_head(
    first: Stream, second: Stream, layer: int, place: int, other_place: int
) -> tuple[int, float]:
    """Return the head of a layer that wrote the most different vectors at two positions.

    The second value is how far apart the two vectors are.
    """
    a, b = first.written[layer, :, place], second.written[layer, :, other_place]
    apart = (a - b).norm(dim=-1)
    head = int(apart.argmax())
    return head, float(apart[head])

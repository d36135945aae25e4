"""What the heads of a transformer do on one text: traces of a layer, maps, effects of single heads.

T tokens, C = n_embd, D head size, L layers, H heads, V vocabulary. Torch is imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import torch

    from llmviz.models import GPT
    from llmviz.nn.attention.study import HeadSummary

Head = tuple[int, int]  # layer, head
CLOSE = 1e-3  # what rounding may make of the same attention weight


class HeadMaps(NamedTuple):
    """One forward pass: all heads' weights, where each looks, and the last logits."""

    maps: np.ndarray  # (L, H, T, T) uint8, 255 is 1
    summary: HeadSummary[np.ndarray]  # (L, H) each
    logits: np.ndarray  # (V,)
    decided: np.ndarray  # (L, H), as `llmviz.nn.attention.study.decision` says


def read_by(model: GPT, layer: int) -> str:
    """Return the trace entry that attention in a layer reads: the norm before it, if it has one."""
    if model.config.norm == "pre":
        return f"blocks.{layer}.norm1"
    return f"blocks.{layer - 1}.residual" if layer else "embed"


def require_own_keys(model: GPT) -> None:
    """Raise ValueError unless each head of a model has keys and values of its own."""
    config = model.config
    if config.kv_heads != config.n_head:
        raise ValueError(
            "the matrices are drawn of models in which each head has keys and values of its own; "
            f"here {config.n_head} heads share {config.kv_heads}"
        )


def require_drawn_attention(
    model: GPT, layer: int, read: torch.Tensor, weights: torch.Tensor
) -> None:
    """Raise ValueError unless attention in a layer has no other steps than pictures draw.

    They draw queries and keys of what it reads, turned where positions are rotary, their scaled
    products, the mask and the softmax. read (T, C), weights (H, T, T): as the model had them.
    """
    import torch

    from llmviz.nn.attention import attention, share_heads, split_heads
    from llmviz.nn.positions import rotate

    attn, config = model.blocks[layer].attn, model.config
    with torch.inference_mode():
        sizes = (config.n_embd, attn.kv_size, attn.kv_size)
        parts = attn.qkv(read).split(sizes, dim=-1)  # (T, C), (T, G·D) twice
        heads = (config.n_head, config.kv_heads, config.kv_heads)
        q, k, v = (split_heads(*part) for part in zip(parts, heads, strict=True))
        if (speeds := turning_speeds(model)) is not None:
            angles = (torch.arange(len(read))[:, None] * speeds).repeat(1, 2)  # (T, D)
            q, k = (rotate(part, angles.cos(), angles.sin()) for part in (q, k))
        k, v = (share_heads(part, config.n_head) for part in (k, v))
        mask, before = seen_by_rows(model, len(read)), config.softmax_before_mask
        drawn = attention(q, k, v, mask, attn.scale, softmax_before_mask=before).weights
    if not torch.allclose(drawn, weights, atol=CLOSE, equal_nan=True):
        raise ValueError("attention of this model has a step that this picture does not know")


def seen_by_rows(model: GPT, t: int) -> torch.Tensor | None:
    """Return which of T tokens each row may look at, (T, T); None for a model without a mask."""
    import torch

    if model.config.mask == "none":
        return None
    mask = model.visible(torch.zeros(1, t, dtype=torch.int64))[0]
    return torch.ones(t, t, dtype=torch.bool) if mask is None else mask


def turning_speeds(model: GPT) -> torch.Tensor | None:
    """Return how far rotary positions turn each pair from one position to the next, (1, D/2).

    In radians; None for a model without them.
    """
    import torch

    from llmviz.nn.positions import rotary_angles, stretched

    config = model.config
    if config.positions != "rotary":
        return None
    angles = rotary_angles(torch.ones(1), config.head_size, config.rotary_base)
    return stretched(angles[0], config.rotary_scaling)[None]


def layer_trace(model: GPT, ids: Sequence[int], layer: int) -> dict[str, torch.Tensor]:
    """Return what attention in one layer read and computed on a text of T tokens.

    input (T, C); q, k, v (H, T, D); weights (H, T, T); projection (T, C), what it hands on.
    """
    import torch

    from llmviz.trace import record

    parts = {"input": read_by(model, layer)} | {
        part: f"blocks.{layer}.attn.{part}" for part in ("q", "k", "v", "weights", "projection")
    }
    with torch.inference_mode(), record(parts.values()) as trace:
        model(torch.tensor([list(ids)]), last_only=True)
    return {part: trace[tap][0].clone() for part, tap in parts.items()}


def head_maps(model: GPT, ids: Sequence[int]) -> HeadMaps:
    """Return what all heads of a model do on a text, out of one forward pass."""
    import torch

    from llmviz.nn.attention.study import HeadSummary, decision, summarise_heads
    from llmviz.trace import record

    with torch.inference_mode(), record("blocks.*.attn.weights", torch.float16) as trace:
        logits = model(torch.tensor([list(ids)]), last_only=True)[0][0, -1]
    layers = [part[0].float() for part in trace.values()]  # each (H, T, T)
    summaries = [summarise_heads(part, ids) for part in layers]
    return HeadMaps(
        np.stack([(255 * part).round().to(torch.uint8).numpy() for part in layers]),
        HeadSummary(*(np.stack(part) for part in zip(*summaries, strict=True))),
        logits.numpy(),
        np.stack([decision(part).numpy() for part in layers]),
    )


def last_logits(model: GPT, ids: Sequence[int], off: Iterable[Head] = ()) -> np.ndarray:
    """Return the logits (V,) after the last token, with some heads switched off."""
    import torch

    from llmviz.nn.attention import heads_off

    with torch.inference_mode(), heads_off(off):
        logits = model(torch.tensor([list(ids)]), last_only=True)[0]
    return logits[0, -1].numpy()


def effect_of_heads(model: GPT, ids: Sequence[int]) -> np.ndarray:
    """Return how much of the next token's probability moves when each head alone is off, (L, H).

    Half of the sum of all differences: 0 where nothing changes, 1 where nothing stays.
    """
    full, less = chances_without_each(model, ids)
    return np.abs(full - less).sum(axis=-1) / 2


def chances_without_each(model: GPT, ids: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the next token's probabilities (V,), and those without each head alone (L, H, V)."""
    shape = (model.config.n_layer, model.config.n_head)
    full, less = chances_without(model, ids, tuple(np.ndindex(shape)))
    return full, less.reshape(*shape, -1)


def chances_without(
    model: GPT, ids: Sequence[int], heads: Sequence[Head]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next token's probabilities (V,), and those without each of N heads (N, V).

    A row begins at its head's layer, with the stored stream: nothing before it can change.
    """
    import torch

    from llmviz.interpretability.patching import read_prompt
    from llmviz.sampling.steps import softmax
    from llmviz.trace import replaced

    read, config = read_prompt(model, ids), model.config
    order = sorted(range(len(heads)), key=lambda place: heads[place][0])
    with torch.inference_mode():
        mask, plain = model.visible(torch.tensor([list(ids)]))
        x = read.stream.new_empty(0, len(ids), config.n_embd)
        for layer, block in enumerate(model.blocks):
            off = [heads[place][1] for place in order if heads[place][0] == layer]
            begun = len(x)
            x = torch.cat((x, read.stream[layer].expand(len(off), -1, -1)))

            def change(
                concat: torch.Tensor, begun: int = begun, off: Sequence[int] = off
            ) -> torch.Tensor:
                concat = concat.clone()
                for row, head in enumerate(off, start=begun):
                    concat[row, :, head * config.head_size : (head + 1) * config.head_size] = 0
                return concat

            if len(x):
                with replaced({f"blocks.{layer}.attn.concat": change}):
                    x = block(x, mask, plain, None)
        logits = torch.cat((read.logits[None], model.head(model.norm_final(x[:, -1]))))
    full, *less = softmax(logits.numpy().astype(np.float64))
    found = np.empty((len(heads), full.size))
    found[order] = less
    return full, found

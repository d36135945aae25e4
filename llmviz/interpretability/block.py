"""Every number inside the layers of a transformer on one text, and a layer in its other order.

T tokens, C = n_embd, F hidden width, H heads, G heads of keys and values, D head size, L layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.models.gpt import GPT
    from llmviz.models.settings import GPTConfig

Steps = Mapping[str, "Tensor"]
# What a layer does, in this order, by where its norms stand; the names are those of the trace, and
# "sum1" and "sum2" are what comes out of the two additions.
STAGES = {
    "pre": ("input", "norm1", "attn", "sum1", "norm2", "mlp", "sum2"),
    "post": ("input", "attn", "sum1", "norm1", "mlp", "sum2", "norm2"),
    "none": ("input", "attn", "sum1", "mlp", "sum2"),
}


def require_block(model: LanguageModel) -> GPT:
    """Return the model; ValueError for one whose layers are not attention, +, feed-forward, +."""
    from llmviz.models.transformers import require_dense

    gpt = require_dense(model)
    if not gpt.config.residual:
        raise ValueError("this opens layers that add to their input; the model has residual=False")
    return gpt


def all_blocks(model: LanguageModel, ids: Sequence[int]) -> list[Steps]:
    """Return what every layer computes on a text, out of one forward pass.

    Of each layer, without the batch: input (T, C), norm1 (T, C), attn.q (H, T, D), attn.k, attn.v
    (G, T, D), attn.scores, attn.scaled, attn.masked, attn.weights (H, T, T), attn.output (H, T, D),
    attn.concat, attn, sum1, norm2 (T, C), mlp.hidden, mlp.act (T, F), mlp, sum2, residual (T, C).
    Norms are left out where the model has none.
    Raises ValueError for a model that `require_block` refuses, and for ids that it cannot read.
    """
    import torch

    from llmviz.trace import record

    gpt = require_block(model)
    with torch.inference_mode(), record(["embed", "blocks.*"]) as trace:
        gpt(torch.tensor([list(ids)]), last_only=True)
    layers, x = [], trace["embed"][0]
    for layer in range(gpt.config.n_layer):
        at = f"blocks.{layer}."
        own = {name.removeprefix(at): trace[name][0] for name in trace if name.startswith(at)}
        layers.append(_with_sums(own, x, gpt.config.norm))
        x = own["residual"]
    return layers


def block_steps(model: LanguageModel, ids: Sequence[int], layer: int) -> Steps:
    """Return what one layer computes on a text.

    Raises ValueError as `all_blocks` does, and for a layer that is not there.
    """
    every = all_blocks(model, ids)
    if not 0 <= layer < len(every):
        raise ValueError(f"layer must be from 0 to {len(every) - 1}; got {layer}")
    return every[layer]


def _with_sums(steps: dict[str, Tensor], x: Tensor, norm: str) -> Steps:
    """The steps with their input and both sums; norms that change nothing are left out."""
    steps["input"] = x
    steps["sum1"] = x + steps["attn"]
    steps["sum2"] = steps["residual_mid"] + steps["mlp"]
    if norm == "none":
        del steps["norm1"], steps["norm2"]
    return steps


def parameters_of(config: GPTConfig) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the learned tensors of a layer, by the part that they belong to, with their shapes.

    Parts: norm1, qkv, projection, norm2, up, down. A shape is (outputs, inputs), as torch keeps it.
    Raises ValueError for a tensor that belongs to none of them, such as an expert's.
    """
    from llmviz.models.costs import tensors

    parts = {
        "norm1": "norm1",
        "attn.qkv": "qkv",
        "attn.projection": "projection",
        "norm2": "norm2",
        "mlp.hidden": "up",
        "mlp.up": "up",
        "mlp.output": "down",
    }
    shapes: dict[str, dict[str, tuple[int, ...]]] = {part: {} for part in parts.values()}
    for tensor in tensors(config):
        if tensor.name.startswith("blocks.0."):
            owner, _, kind = tensor.name.removeprefix("blocks.0.").rpartition(".")
            if owner not in parts:
                raise ValueError(f"a layer has the parts {', '.join(shapes)}; got {tensor.name}")
            shapes[parts[owner]][f"{owner}.{kind}"] = tensor.shape
    return shapes

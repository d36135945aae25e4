"""Activation-aware scaling: what a matrix gets much of is made larger before it is rounded.

An input channel j of a matrix W can be multiplied by s_j if what comes in is divided by it: W·x =
(W·diag(s))·(diag(1/s)·x). The division costs nothing where the layer before is linear in each
channel: a norm's weight and bias take it, and the rows of the values take that of the projection.
Rounding then does less to the columns that matter, as their weights stand higher on the grid.

Not scaled: the second matrix of the feed-forward. What comes into it has been through an activation
function, and GELU of x / s is not GELU of x divided by s.

Reference: Lin et al. 2023, "AWQ: Activation-aware Weight Quantization for LLM Compression and
Acceleration", section 3.2. Deviations: eleven exponents instead of twenty, and no
search for clipping.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from llmviz.models.gpt import GPT, Block
from llmviz.quantization.grids import dequantize, quantize
from llmviz.quantization.scheme import Scheme
from llmviz.trace import record

EXPONENTS = tuple(step / 10 for step in range(11))  # α, from 0 (no scaling) to 1
MOST_ROWS = 2048  # tokens that the search looks at


@dataclass(frozen=True, eq=False)
class Scaled:
    """A model with the same function, its weights scaled, and the exponent of each matrix.

    errors: of each matrix the mean squared error of its outputs on the calibration text, without
    scaling and with the chosen one.
    """

    model: GPT
    exponents: dict[str, float]
    errors: dict[str, tuple[float, float]]


def matrix_inputs(model: nn.Module, batches: Sequence[Tensor]) -> dict[str, Tensor]:
    """Return what comes into each matrix of the blocks on texts: path -> (N, in), N tokens.

    batches: ids (B, T) each. Raises ValueError for a model that is not a GPT with its norms in
    front, keys and values of each head, and one feed-forward.
    """
    gpt = check_scalable(model)
    taps = {
        "attn.qkv": "norm1",
        "attn.projection": "attn.concat",
        "mlp.hidden": "norm2",
        "mlp.output": "mlp.act",
    }
    inputs: dict[str, list[Tensor]] = {}
    for ids in batches:
        with torch.inference_mode(), record([f"blocks.*.{tap}" for tap in taps.values()]) as trace:
            gpt(ids)
        for layer, block in enumerate(gpt.blocks):
            for end, tap in taps.items():
                x = trace[f"blocks.{layer}.{tap}"].flatten(0, -2).clone()
                inputs.setdefault(f"blocks.{layer}.{end}", []).append(x)
            if block.feed_forward.up is not None:
                gate = inputs[f"blocks.{layer}.mlp.hidden"]
                inputs.setdefault(f"blocks.{layer}.mlp.up", []).append(gate[-1])
    return {path: torch.cat(parts) for path, parts in inputs.items()}


def check_scalable(model: nn.Module) -> GPT:
    """Return the model. Raises ValueError unless its scales fold into the layers before."""
    rule = "activation-aware scaling is for GPTs with norms in front, keys and values of each "
    rule += "head and one feed-forward"
    if not isinstance(model, GPT):
        raise ValueError(f"{rule}; got {type(model).__name__}")
    about = model.config
    fits = {"norm": "pre", "n_kv_head": about.n_head, "n_expert": 1}
    given = {"norm": about.norm, "n_kv_head": about.kv_heads, "n_expert": about.n_expert}
    wrong = [f"{name}={given[name]} in place of {fits[name]}" for name in fits
             if given[name] != fits[name]]  # fmt: skip
    if wrong:
        raise ValueError(f"{rule}; this one has {' and '.join(wrong)}")
    return model


def scale_by_activations(model: GPT, batches: Sequence[Tensor], scheme: Scheme) -> Scaled:
    """Return a copy of a GPT whose function is the same and whose matrices round better.

    For each matrix the scales are s_j = (mean |x_j|)^α, divided by the geometric mean of the
    largest and the smallest; α is the one of EXPONENTS whose rounded matrix has outputs closest to
    the exact ones on `batches`, ids (B, T) each. Quantize the copy as any model.

    Raises ValueError for a model that `check_scalable` refuses, and as `quantize`.
    """
    inputs = matrix_inputs(model, batches)
    own = copy.deepcopy(model).requires_grad_(False)
    exponents: dict[str, float] = {}
    errors: dict[str, tuple[float, float]] = {}
    for number, block in enumerate(own.blocks):
        at = f"blocks.{number}"
        # The projection first: its scales go into the rows of the values, which are rounded, too.
        for names in (["attn.projection"], ["attn.qkv"], ["mlp.hidden", "mlp.up"]):
            paths = [f"{at}.{name}" for name in names if f"{at}.{name}" in inputs]
            weights = [own.get_parameter(f"{path}.weight") for path in paths]
            x = inputs[paths[0]][:MOST_ROWS]
            scales, exponent, error = _search(weights, x, scheme)
            _fold(block, names[0], scales)
            for path, weight in zip(paths, weights, strict=True):
                weight.mul_(scales)
                exponents[path], errors[path] = exponent, error
    return Scaled(own.eval(), exponents, errors)


def channel_scales(x: Tensor, exponent: float) -> Tensor:
    """Return the scales (in,) for what comes in, x (N, in), and an exponent α."""
    size = x.abs().mean(0).clamp_min(1e-6) ** exponent
    return size / (size.max() * size.min()).sqrt()


def _search(
    weights: Sequence[Tensor], x: Tensor, scheme: Scheme
) -> tuple[Tensor, float, tuple[float, float]]:
    """The best scales for matrices (out, in) that get the same x, their α, and both errors."""
    gram = x.T @ x / len(x)  # (in, in): the mean of (D·x)² over the tokens is tr(D·gram·Dᵀ) / out
    tried: list[tuple[float, float, Tensor]] = []
    for exponent in EXPONENTS:
        scales = channel_scales(x, exponent)
        error = 0.0
        for w in weights:
            change = dequantize(quantize(w * scales, scheme)) / scales - w
            error += float(((change @ gram) * change).sum()) / len(w)
        tried.append((error, exponent, scales))
    plain, (error, exponent, scales) = tried[0][0], min(tried, key=lambda trial: trial[0])
    return scales, exponent, (plain / len(weights), error / len(weights))


def _fold(block: Block, name: str, scales: Tensor) -> None:
    """Divide what comes into a matrix by its scales (in,), in the layer before."""
    if name == "attn.projection":
        before: Any = block.attn.qkv
        rows = slice(-len(scales), None)  # the last C rows of qkv
    else:
        before, rows = (block.norm1 if name == "attn.qkv" else block.norm2), slice(None)
    weight = before.weight[rows]
    weight.div_(scales[:, None] if weight.dim() == 2 else scales)
    if getattr(before, "bias", None) is not None:
        before.bias[rows].div_(scales)

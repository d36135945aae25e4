"""What the chapters need of a trained model: which one is chosen, and what its heads computed.

How the learner's text becomes tokens of that model: `llmviz.course.ui.model_on_text`.
T time, C width, D head size, N = H·D, L layers, H heads, V vocabulary.
"""

import torch

from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.ui import engine, kit
from llmviz.interpretability import heads_on_text
from llmviz.nn.attention import merge_heads

# What the chapters look into: bundled GPTs of texts, and runs on any text.
PICKER = kit.Picker(runs_fit=kit.attends)
# Where no next token is asked for, classifiers too.
LOOKED_INTO = kit.Picker(runs_fit=kit.looked_into)


traced = kit.cached(32)(kit.on_model(heads_on_text.layer_trace))
all_maps = kit.cached(32)(kit.on_model(heads_on_text.head_maps))


def model_head(bundled: engine.Bundled, reading: kit.Read, layer: int, head: int | None) -> Inputs:
    """Return one head of a bundled model on a text; None for all heads of the layer at once.

    Raises ValueError: heads of this model share keys and values, or
    its attention has a step that the picture does not know.
    """
    heads_on_text.require_own_keys(bundled.model)
    trace = traced(bundled, reading.ids, layer)
    heads_on_text.require_drawn_attention(bundled.model, layer, trace["input"], trace["weights"])
    attn = bundled.model.blocks[layer].attn
    q, k, v = (trace[part] for part in "qkv")  # each (H, T, D)
    d = q.shape[-1]
    cut = slice(None) if head is None else slice(head * d, (head + 1) * d)
    x = trace["input"]
    w = [part[:, cut] for part in attn.qkv.weight.detach().T.chunk(3, dim=1)]  # each (C, N)
    b = attn.qkv.bias
    b = None if b is None else tuple(part[:, cut] for part in b.detach()[None].chunk(3, dim=1))
    out, out_bias = attn.projection.weight.detach().T, attn.projection.bias
    t, speeds, plain = len(reading.ids), heads_on_text.turning_speeds(bundled.model), None
    if speeds is not None:
        plain = tuple(x @ w[i] + (0 if b is None else b[i]) for i in (0, 1))
    return Inputs(
        reading.tokens,
        x,
        tuple(w),
        b,
        (out, None if out_bias is None else out_bias.detach()[None]),
        bundled.name,
        tuple(merge_heads(part)[:, cut] for part in (q, k, v)),
        reading.ids,
        trace["projection"],
        None if speeds is None else torch.arange(t)[:, None] * speeds,
        speeds,
        plain,
        scale_of(bundled, attn.scale),
        heads_on_text.seen_by_rows(bundled.model, t),
        bundled.model.config.softmax_before_mask,
        (layer, head),
    )


def scale_of(bundled: engine.Bundled, factor: float) -> tuple[float, str]:
    """Return what a model multiplies its scores by, and how that is written."""
    config = bundled.model.config
    size = {"head": config.head_size, "model": config.n_embd}.get(config.attention_scale)
    return factor, f"÷ √{size}" if size else "× 1"

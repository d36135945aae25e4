"""One head of cross-attention as matrices: what is being written asks what was read.

T target length, S source length, C width, D head size, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from llmviz.nn.attention import attention
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.kept import kept
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.build import project
from llmviz.ui.lessons.attention.picture import Picture, scale_of, weights_to_output

STEPS = ("scores", "scaled", "weights", "context")


class Crossed(NamedTuple):
    """A translation, and what the heads of cross-attention had to do with it."""

    said: tuple[int, ...]  # ids, without start and end
    weights: np.ndarray  # (L·H, T, S); row t is what was looked at to write token t
    asks: np.ndarray  # (L, T, C) what queries are made of
    read: np.ndarray  # (S, C) what keys and values are made of
    parts: tuple[np.ndarray, ...]  # queries (L, H, T, D), keys and values (L, H, S, D)


@kept(32)
def crossed(name: str, stamp: str, source: tuple[int, ...]) -> Crossed:
    """Return a model's translation of some ids, with all that its heads did while writing it."""
    model = engine.load(name).model
    ids, layers = torch.tensor([source]), range(model.config.n_layer)
    kinds = ("asks", "cross.q", "cross.k", "cross.v", "cross.weights")
    with torch.inference_mode():
        said = model.translate(ids)[0][: model.context_length - 1]
        start = torch.tensor([[model.config.start_id, *said]])
        with record(["encoder.output", *(f"decoder.blocks.*.{kind}" for kind in kinds)]) as trace:
            model(ids, start)
    asks, q, k, v, weights = (
        torch.cat([trace[f"decoder.blocks.{i}.{kind}"] for i in layers]).numpy() for kind in kinds
    )
    flat = weights.reshape(-1, *weights.shape[2:])
    return Crossed(tuple(said), flat, asks, trace["encoder.output"][0].numpy(), (q, k, v))


def matrices(
    bundled: engine.Bundled,
    found: Crossed,
    place: tuple[int, int],
    asking: Sequence[str],
    asked: Sequence[str],
) -> Picture:
    """Return one head from both sequences to what it hands the decoder, step by step.

    place: its layer and number. asking, asked: the tokens of the target and of the source.
    """
    layer, head = place
    attn, made = bundled.model.decoder.blocks[layer].cross, Picture()
    q, k, v = (torch.tensor(part[layer, head]) for part in found.parts)
    steps = attention(q, k, v)
    say, d = words.cross, q.shape[-1]
    c, n = made.window("C", found.read.shape[1]), made.window("N", d)
    sides = {
        "Y": (found.asks[layer], asking, say.WRITTEN),
        "E": (found.read, asked, say.READ_FORMULA),
    }
    for name, (values, tokens, text) in sides.items():
        more = {"role": "residual", "row_labels": tokens, "windows": ("", c)}
        made.add(name, torch.tensor(values), name, text, **more)
    made.step(list(sides), say.STEPS["sides"].format(asking=len(asking), asked=len(asked)))
    biases = (None, None, None)
    if attn.qkv.bias is not None:
        biases = attn.qkv.bias.detach().view(3, attn.n_head, 1, d)[:, head]  # each (1, D)
    own = zip("QKV", "YEE", (q, k, v), attn.projections(head), biases, strict=True)
    for letter, side, values, weight, bias in own:
        names = project(made, letter, values, side, sides[side][1], weight, bias, (c, n))
        made.step(names, say.STEPS[letter])
    weights_to_output(made, asking, steps, "V", operands=("Q", "K"), scale=scale_of(d), asked=asked)
    for name in STEPS:
        made.step([name], say.STEPS[name].format(scale=scale_of(d)[1]))
    made.layout = [
        ["Y", "W_Q", "Q"],
        ["E", "W_K", "K"],
        [None, "W_V", "V"],
        ["scores", "scaled", "weights"],
        ["context", None, None],
    ]
    return made

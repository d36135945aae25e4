"""A layer as a picture of stages, and its weights, kept for all visitors."""

from __future__ import annotations

from llmviz import components as lv
from llmviz.lessons.transformer.block.drawing import Drawing
from llmviz.lessons.transformer.subject import blocks_of, model_of
from llmviz.study.block import Steps, in_order
from llmviz.ui.kept import kept


@kept(32)
def steps_of(name: str, version: str, ids: tuple[int, ...], layer: int, norm: str) -> Steps:
    """Return what a layer computes with its norms where `norm` says."""
    model, steps = model_of(name), blocks_of(name, version, ids)[layer]
    return steps if norm == model.config.norm else in_order(model, ids, layer, steps, norm)


@kept(8)  # 28 MB each at the shape of GPT-2
def weights_of(name: str, version: str, layer: int) -> lv.Weights:
    """Return the matrices of a layer that no head has for itself."""
    block = model_of(name).blocks[layer]
    found = {"W_O": block.attn.projection, "W_up": block.mlp.hidden, "W_down": block.mlp.output}
    if block.mlp.up is not None:
        found |= {"W_gate": block.mlp.hidden, "W_up": block.mlp.up}
    return lv.Weights.of({key: linear.weight.T.numpy() for key, linear in found.items()})


@kept(32)
def head_weights_of(name: str, version: str, layer: int, head: int) -> lv.Weights:
    """Return W_Q, W_K, W_V of a head."""
    parts = model_of(name).blocks[layer].attn.projections(head)
    return lv.Weights.of(
        {f"W_{letter}": part.numpy() for letter, part in zip("QKV", parts, strict=True)}
    )


@kept(32)
def picture_of(
    name: str,
    version: str,
    ids: tuple[int, ...],
    tokens: tuple[str, ...],
    layer: int,
    head: int,
    norm: str,
) -> lv.StagePicture:
    """Return the picture of a layer and one of its heads."""
    model = model_of(name)
    steps = steps_of(name, version, ids, layer, norm)
    drawn = Drawing(model, steps, ids, tokens, layer, head, norm)
    stages = drawn.stages()
    weights = [weights_of(name, version, layer), head_weights_of(name, version, layer, head)]
    return lv.stage_picture(drawn.picture.matrices, stages, drawn.picture.windows, weights)

"""A layer as a picture of stages, and its weights, kept for all visitors."""

from __future__ import annotations

from llmviz import components as lv
from llmviz.lessons.transformer.block.drawing import Drawing
from llmviz.lessons.transformer.subject import blocks_of, model_of
from llmviz.models.gpt import Block
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
    return layer_weights(model_of(name).blocks[layer])


def layer_weights(block: Block) -> lv.Weights:
    """Take the matrices out of a layer that no head has for itself."""
    linears = {"W_O": block.attn.projection, "W_up": block.mlp.hidden, "W_down": block.mlp.output}
    if block.mlp.up is not None:
        linears |= {"W_gate": block.mlp.hidden, "W_up": block.mlp.up}
    return lv.Weights.of({key: linear.weight.T.numpy() for key, linear in linears.items()})


@kept(32)
def head_weights_of(name: str, version: str, layer: int, head: int) -> lv.Weights:
    """Return W_Q, W_K, W_V of a head."""
    return head_weights(model_of(name).blocks[layer], head)


def head_weights(block: Block, head: int) -> lv.Weights:
    """Take W_Q, W_K, W_V of a head out of a layer."""
    parts = block.attn.projections(head)
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
    steps = steps_of(name, version, ids, layer, norm)
    drawn = Drawing(model_of(name), steps, ids, tokens, layer, head, norm)
    weights = [weights_of(name, version, layer), head_weights_of(name, version, layer, head)]
    return staged(drawn, weights)


def staged(drawn: Drawing, weights: list[lv.Weights]) -> lv.StagePicture:
    """Return the picture of a layer that is to be drawn."""
    stages = drawn.stages()
    return lv.stage_picture(drawn.picture.matrices, stages, drawn.picture.windows, weights)

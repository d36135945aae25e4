"""The variant in force, as steps and as a picture: of an example, or of a trained model's head."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from llmviz.course.lessons.attention.inputs import examples
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.matrices import build
from llmviz.course.lessons.attention.steps import words
from llmviz.course.ui import engine, kit, matrix_picture, model_on_text
from llmviz.course.ui.matrix_picture import Picture, scale_of
from llmviz.nn.attention import (
    attention,
    causal_mask,
    dropout_mask,
    merge_heads,
    split_heads,
    variants,
)
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.nn.attention.variants import MultiHeadSteps


@dataclass(frozen=True)
class Variant:
    """What a variant starts from, what it computes, and how it is drawn.

    `place` is the layer and the head of a model; `kept` (T, T) says which weights dropout left,
    None without dropout.
    """

    inputs: Inputs
    steps: AttentionSteps
    picture: Picture
    place: tuple[int, int] = (0, 0)
    kept: Tensor | None = None


def of_example(state: kit.PageState) -> Variant:
    """Show the example's own controls and return the variant.

    Raises ValueError: an edited cell is no finite number, or words are unknown.
    """
    variant = state["rung"]
    if state["source"] == "journey":
        examples.words_box(state)
    inputs = examples.edited(state)
    own_weights = any(state[key] for key in ("wq", "wk", "wv"))
    if state["source"] == "journey" and variant != "simple" and not own_weights:
        kit.prose(words.journey_note)
    if variant == "simple":
        steps = variants.simplified(inputs.x)
        return Variant(inputs, steps, build.simplified(inputs, steps))
    mask = None if variant == "qkv" else causal_mask(len(inputs.tokens))
    if variant == "heads":
        width = inputs.x.shape[1]
        assert inputs.projection is not None
        n = examples.choose_heads(state, width)
        multi = variants.multi_head(
            inputs.x, *inputs.matrices(), n, w_o=inputs.projection[0], mask=mask
        )
        return Variant(
            inputs, multi.attention, build.many_heads(inputs, multi, n, scale_of(width // n))
        )
    if variant == "dropout":
        dropout_controls(state)
    p, generator = _dropout(state)
    steps = variants.single_head(
        inputs.x, *inputs.matrices(), mask, dropout=p, generator=generator
    ).attention
    reason = "" if mask is None else matrix_picture.MASK_REASON
    return _one_head(state, inputs, steps, reason)


def of_model(
    state: kit.PageState,
    bundled: engine.Bundled,
    reading: model_on_text.Read,
    place: tuple[int, int],
) -> Variant:
    """Return the variant of a layer and head; shows nothing, so that the picture comes first."""
    variant, config, (layer, head) = state["rung"], bundled.model.config, place
    inputs = real.model_head(bundled, reading, layer, None if variant == "heads" else head)
    if variant == "simple":
        steps = variants.simplified(inputs.x)
        return Variant(inputs, steps, build.simplified(inputs, steps), place)
    assert inputs.scale is not None and inputs.output is not None  # a model has both
    # The model's own mask, scale and order of steps, right or wrong: what is drawn is its trace.
    own: dict[str, Any] = {"scale": inputs.scale[0], "softmax_before_mask": inputs.before}
    mask = None if variant == "qkv" else inputs.allowed
    reason = matrix_picture.MASK_REASON if config.window is None else matrix_picture.WINDOW_REASON
    reason = "" if mask is None else reason
    if variant == "heads":
        q, k, v = (split_heads(part, config.n_head) for part in inputs.qkv())
        steps = attention(q, k, v, mask, **own)
        multi = MultiHeadSteps(q, k, v, steps, merge_heads(steps.output), inputs.output)
        more: dict[str, Any] = {"masked": reason, "before": inputs.before}
        picture = build.many_heads(inputs, multi, config.n_head, inputs.scale, **more)
        return Variant(inputs, steps, picture, place)
    p, generator = _dropout(state)
    steps = attention(*inputs.qkv(), mask, dropout=p, generator=generator, **own)
    return _one_head(state, inputs, steps, reason, place, before=inputs.before)


def _one_head(
    state: kit.PageState,
    inputs: Inputs,
    steps: AttentionSteps,
    reason: str,
    place: tuple[int, int] = (0, 0),
    **more,
) -> Variant:
    scale = inputs.scale or scale_of(inputs.qkv()[0].shape[1])
    p, generator = _dropout(state)  # the same numbers once more
    kept = None if generator is None else dropout_mask(steps.weights.shape, p, generator)
    picture = build.one_head(inputs, steps, scale, reason, p, kept=kept, **more)
    return Variant(inputs, steps, picture, place, kept)


def dropout_controls(state: kit.PageState) -> None:
    with st.container(horizontal=True, gap="medium"):
        st.slider(words.p, step=0.05, width=360, **state.ranged("p"))
        st.number_input(words.seed, width=160, **state.ranged("seed"))


def _dropout(state: kit.PageState) -> tuple[float, torch.Generator | None]:
    if state["rung"] != "dropout" or not state["p"]:
        return 0.0, None
    return state["p"], torch.Generator().manual_seed(state["seed"])

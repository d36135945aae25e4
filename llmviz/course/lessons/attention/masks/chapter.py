"""Chapter "Masks": what a token may look at, before or after the softmax; trained mistakes."""

import streamlit as st
import torch
from torch import Tensor

from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.inputs import examples, opening, sources
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.masks import peeking, words
from llmviz.course.lessons.attention.masks.controls import choose_mask, model_width, scale
from llmviz.course.lessons.attention.masks.effects import say_differences, say_leak
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.ui import kit, matrix_words, model_on_text
from llmviz.course.ui.matrix_picture import Picture, Way, weights_to_output
from llmviz.nn.attention import (
    attention,
    causal_mask,
    padding_mask,
    refuse_fully_masked_rows,
    sliding_window_mask,
)
from llmviz.nn.attention.steps import AttentionSteps

STAGED = True
KEY = "attention.masks"


ahead = peeking.all_honest  # asked once, before the first visitor asks


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show where models look that may look ahead, then any mask, number by number."""
    if not peeking.draw(state):
        return
    kit.section(words.intro)
    inputs, steps, mask = None, None, None
    try:
        if (inputs := _inputs(state)) is not None:
            mask, steps = _masked(state, inputs)
    except ValueError as error:
        kit.refuse(error)
    trained = peeking.numbers()
    if trained:
        peeking.code()
    if inputs is not None and steps is not None:
        kit.seen(
            words.end,
            cells=kit.count(steps.weights.numel(), "cell"),
            hidden=0 if mask is None else int((~mask).sum()),
            trained=words.end_trained.format(**trained) if trained else "",
        )


def _masked(state: kit.PageState, inputs: Inputs) -> tuple[Tensor | None, AttentionSteps]:
    """Draw attention under the chosen mask; return both. Raises ValueError: no such mask."""
    mask = choose_mask(state, inputs.tokens)
    factor, written = scale(state, inputs)
    if mask is not None:
        refuse_fully_masked_rows(mask)
    q, k, v = inputs.qkv()
    before = None if state["when"] == "before" or mask is None else state["when"]
    steps = attention(q, k, v, mask, factor, softmax_before_mask=before)
    right = attention(q, k, v, causal_mask(len(inputs.tokens)))
    _explain(state, inputs)
    _picture(state, inputs, steps, right, written, before)
    say_differences(inputs, steps, right)
    say_leak(steps, mask, before)
    _code(inputs, mask, factor, before)
    return mask, steps


def _inputs(state: kit.PageState) -> Inputs | None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        examples.choose_source(state)
        if state["source"] == "journey":
            examples.words_box(state)
        if state["source"] != "model":
            return sources.example(state)
        bundled = kit.load(real.LOOKED_INTO.choose(state))
        if bundled is None:
            return None
        layer, head = opening.choose_head(state, bundled)
    reading = model_on_text.read_text(state, bundled, params.DRAWN)
    return reading and real.model_head(bundled, reading, layer, head)


def _explain(state: kit.PageState, inputs: Inputs) -> None:
    size, width = inputs.qkv()[0].shape[1], model_width(inputs)
    one_head = state["scale"] == "model" and width == size
    scale_text = words.scale_one_head if one_head else words.scale_text[state["scale"]]
    lines = [
        words.mask_text[state["mask"]],
        words.when_text[state["when"]] if state["mask"] != "none" else "",
        scale_text.format(width=width, size=size, heads=width // size),
    ]
    kit.prose("\n\n".join(line for line in lines if line))


def _picture(
    state: kit.PageState,
    inputs: Inputs,
    steps: AttentionSteps,
    right: AttentionSteps,
    written: str,
    before: str | None,
) -> None:
    picture = Picture()
    q, k, v = inputs.qkv()
    rows = {"row_labels": inputs.tokens}
    for name, part, role in (("Q", q, "query"), ("K", k, "key"), ("V", v, "value")):
        picture.add(name, part, role=role, **rows)
    weights_to_output(
        picture,
        inputs.tokens,
        steps,
        "V",
        operands=("Q", "K"),
        way=Way((1.0, written), words.reasons[state["mask"]], before=before),
    )
    square = {"row_labels": inputs.tokens, "col_labels": inputs.tokens}
    axes = {
        "row_axis": matrix_words.ASKING_AXIS,
        "col_axis": matrix_words.ASKED_AXIS,
        "row_sums": True,
    }
    picture.add(
        "right", right.weights, words.right_one, role="weights", limit=1.0, **square, **axes
    )
    names = [m.name for m in picture.matrices if m.name not in ("Q", "K", "V", "right", "scores")]
    names.remove("context")
    picture.layout = [names[:-1], [*names[-1:], "right"]]
    linked.show(state, picture, KEY)


def _code(inputs: Inputs, mask: Tensor | None, factor: float, before: str | None) -> None:
    slots = {"factor": factor, "before": before}
    slots["mask"] = "None" if mask is None else f"torch.tensor({mask.tolist()})"
    parts = inputs.qkv()
    if inputs.name:
        layer, head = inputs.place
        slots |= {"name": inputs.name, "ids": list(inputs.ids), "layer": layer, "head": head}
        text = words.snippet_of_model.format(**slots)
    else:
        rows = [[[round(cell, 9) for cell in row] for row in part.tolist()] for part in parts]
        text = words.snippet_of_example.format(**dict(zip("qkv", rows, strict=True)), **slots)
        # From the very numbers that the snippet quotes: a half is then rounded the same way.
        parts = [torch.tensor(part, dtype=torch.float64) for part in rows]
    weights = attention(*parts, mask, factor, softmax_before_mask=before).weights.tolist()
    if inputs.name:
        prints = str([f"{w:.2f}" for w in weights[-1]])
    else:
        prints = "\n".join(str([f"{w:.3f}" for w in row]) for row in weights)
    functions = [causal_mask, padding_mask, sliding_window_mask, refuse_fully_masked_rows]
    kit.show_code([*functions, attention], text, prints, label=words.code_mask)

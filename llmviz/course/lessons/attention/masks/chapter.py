"""Chapter "Masks": what a token may look at, before or after the softmax; trained mistakes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from llmviz.course.lessons.attention import params
from llmviz.course.lessons.attention.inputs import examples, opening, sources
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.masks import peeking, words
from llmviz.course.lessons.attention.masks.model import leak, mask_of
from llmviz.course.lessons.attention.matrices import linked_matrices as linked
from llmviz.course.ui import kit, matrix_picture, model_on_text
from llmviz.course.ui.matrix_picture import Picture, Scale, Way, weights_to_output
from llmviz.nn.attention import (
    attention,
    causal_mask,
    padding_mask,
    refuse_fully_masked_rows,
    sliding_window_mask,
)
from llmviz.nn.attention.steps import AttentionSteps

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
            forbids=forbids(mask, steps.weights.numel()),
            trained=words.end_trained.format(**trained) if trained else "",
        )


def forbids(mask: Tensor | None, cells: int) -> str:
    """Return what the chapter's end says of a mask over so many cells."""
    hidden = 0 if mask is None else int((~mask).sum())
    line = words.end_mask["some" if hidden else "none"]
    return line.format(hidden=hidden, cells=kit.count(cells, "cell"))


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
    _say_change(steps, right)
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
    return None if reading is None else real.model_head(bundled, reading, layer, head)


def choose_mask(state: kit.PageState, tokens: Sequence[str]) -> Tensor | None:
    """Show the switches and return the mask (T, T) of T tokens, or None for none.

    Raises ValueError: there are more real tokens than tokens, or none.
    """
    t = len(tokens)
    kit.choose(state, "mask", words.mask_choice, words.masks, parts=True)
    kind = state["mask"]
    if kind == "sliding":
        st.number_input(words.mask_window, width=160, **state.ranged("window"))
    if kind == "padding":
        st.number_input(words.mask_real, width=160, **state.ranged("real"))
    own = _own(state, tokens) if kind == "own" else None
    with st.container(horizontal=True, gap="medium"):
        kit.choose(state, "when", words.when_label, words.when)
        kit.choose(state, "scale", words.scale_label, words.scales)
    if kind == "padding" and not 1 <= state["real"] <= t:
        raise ValueError(words.mask_real_bad.format(count=t, real=state["real"]))
    return own if kind == "own" else mask_of(kind, t, state["window"], state["real"])


def read_mask(written: str, t: int) -> Tensor:
    """Return a mask as links write it, rows of 0 and 1 with dots between; else the causal one."""
    rows = written.split(".")
    if len(rows) == t and all(len(row) == t and set(row) <= {"0", "1"} for row in rows):
        return torch.tensor([[cell == "1" for cell in row] for row in rows])
    return causal_mask(t)


def _own(state: kit.PageState, tokens: Sequence[str]) -> Tensor:
    t, names = len(tokens), [f"{i} {token}" for i, token in enumerate(tokens)]
    slot = f"{KEY}.own"
    known, base, number = st.session_state.get(slot, (None, "", 0))
    if known != state["own"] or len(base.split(".")) != t:
        start = read_mask(state["own"], t).int().tolist()
        base, number = ".".join("".join(map(str, row)) for row in start), number + 1
    table = pd.DataFrame(read_mask(base, t).numpy(), columns=names, index=names)
    key = f"{slot}.{hash(tuple(names))}.{number}"
    given = st.data_editor(table, key=key, width=84 * t + 96, height=35 * (t + 1) + 3)
    mask = torch.from_numpy(given.to_numpy(dtype=bool, na_value=False).copy())
    text = ".".join("".join(map(str, row)) for row in mask.int().tolist())
    if text != state["own"]:
        state["own"] = text
    st.session_state[slot] = (text, base, number)
    return mask


def scale(state: kit.PageState, inputs: Inputs) -> Scale:
    size, width = inputs.qkv()[0].shape[1], model_width(inputs)
    return {
        "head": (1 / math.sqrt(size), f"÷ √{size}"),
        "model": (1 / math.sqrt(width), f"÷ √{width}"),
        "none": (1.0, "× 1"),
    }[state["scale"]]


def model_width(inputs: Inputs) -> int:
    """The width of the model; an example's one head stands for one of four."""
    return inputs.x.shape[1] if inputs.name else 4 * inputs.x.shape[1]


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
    rows: dict[str, Any] = {"row_labels": inputs.tokens}
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
    square: dict[str, Any] = {"row_labels": inputs.tokens, "col_labels": inputs.tokens}
    axes: dict[str, Any] = {
        "row_axis": matrix_picture.ASKING_AXIS,
        "col_axis": matrix_picture.ASKED_AXIS,
        "row_sums": True,
    }
    picture.add(
        "right", right.weights, words.right_one, role="weights", limit=1.0, **square, **axes
    )
    names = [m.name for m in picture.matrices if m.name not in ("Q", "K", "V", "right", "scores")]
    names.remove("context")
    picture.layout = [[*names[:-1]], [*names[-1:], "right"]]
    linked.show(state, picture, KEY)


def _say_change(steps: AttentionSteps, right: AttentionSteps) -> None:
    now, then = steps.weights, right.weights
    change = (now - then).abs().max().item()
    if change < 1e-6:
        kit.prose(words.mask_equal)
        return
    largest = {"right": then.amax(-1).mean().item(), "now": now.amax(-1).mean().item()}
    text = words.mask_changed.format(change=digits(change), **largest)
    sums = now.sum(-1)
    if (sums - 1).abs().max() > 1e-4:
        listed = ", ".join(f"{value:.2f}" for value in sums.tolist())
        text += " " + words.mask_sums.format(sums=listed)
    kit.prose(text)


def digits(change: float) -> str:
    """Return a change with three digits, however small it is.

    >>> digits(0.49875), digits(0.00001234)
    ('0.499', '0.0000123')
    """
    return np.format_float_positional(change, 3, unique=False, fractional=False, trim="k")


def say_leak(steps: AttentionSteps, mask: Tensor | None, before: str | None) -> None:
    """Say whether forbidden scores reach the allowed weights."""
    if mask is None or bool(mask.all()):
        return
    leaked = leak(steps, mask, before)
    kit.prose(words.mask_leak.format(leak=digits(leaked)) if leaked > 1e-5 else words.mask_tight)


def _code(inputs: Inputs, mask: Tensor | None, factor: float, before: str | None) -> None:
    slots: dict[str, Any] = {"factor": factor, "before": before}
    slots["mask"] = "None" if mask is None else f"torch.tensor({mask.tolist()})"
    parts: tuple[Tensor, ...] = inputs.qkv()
    if inputs.name:
        layer, head = inputs.place
        slots |= {"name": inputs.name, "ids": list(inputs.ids), "layer": layer, "head": head}
        text = words.snippet_of_model.format(**slots)
    else:
        rows = [[[round(cell, 9) for cell in row] for row in part.tolist()] for part in parts]
        text = words.snippet_of_example.format(**dict(zip("qkv", rows, strict=True)), **slots)
        # From the very numbers that the snippet quotes: a half is then rounded the same way.
        parts = tuple(torch.tensor(part, dtype=torch.float64) for part in rows)
    q, k, v = parts
    weights = attention(q, k, v, mask, factor, softmax_before_mask=before).weights.tolist()
    if inputs.name:
        prints = str([f"{w:.2f}" for w in weights[-1]])
    else:
        prints = "\n".join(str([f"{w:.3f}" for w in row]) for row in weights)
    masks = (causal_mask, padding_mask, sliding_window_mask, refuse_fully_masked_rows)
    kit.show_code((*masks, attention), text, prints, label=words.code_mask)

"""The switches of chapter "Masks": which mask, where the softmax stands, which scale."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.masks import words
from llmviz.course.lessons.attention.masks.model import mask_of
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import Scale
from llmviz.nn.attention import causal_mask

KEY = "attention.masks"


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
    """Show boxes to tick, and return the mask that they make."""
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
    """Return the chosen scale, and how it is written."""
    size, width = inputs.qkv()[0].shape[1], model_width(inputs)
    return {
        "head": (1 / math.sqrt(size), f"÷ √{size}"),
        "model": (1 / math.sqrt(width), f"÷ √{width}"),
        "none": (1.0, "× 1"),
    }[state["scale"]]


def model_width(inputs: Inputs) -> int:
    """The width of the model; an example's one head stands for one of four."""
    return inputs.x.shape[1] if inputs.name else 4 * inputs.x.shape[1]

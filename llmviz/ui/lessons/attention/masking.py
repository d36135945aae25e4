"""Chapter "Masks": who may look at whom, before or after the softmax, and trained mistakes."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from llmviz.nn.attention import (
    attention,
    causal_mask,
    causal_mask_off_by_one,
    padding_mask,
    refuse_fully_masked_rows,
    sliding_window_mask,
)
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.ui import components as lv
from llmviz.ui import engine
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.attention import build, ladder, sources, twins, words
from llmviz.ui.lessons.attention.sources import Inputs
from llmviz.ui.lessons.common import refuse
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_markdown

KEY = "attention.masks"
LISTED = 4  # differences said in words
SEEN = 0.005  # a share below this is not worth a sentence


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.masks.TITLE, words.masks.TEXT)
    try:
        inputs = _inputs(state)
        if inputs is None:
            return
        mask = _controls(state, len(inputs.tokens))
        factor, written = scale(state, inputs)
        if mask is not None:
            refuse_fully_masked_rows(mask)
        q, k, v = inputs.qkv()
        before = None if state["when"] == "before" or mask is None else state["when"]
        steps = attention(q, k, v, mask, factor, softmax_before_mask=before)
    except ValueError as error:
        refuse(error)
        twins.draw()
        return
    right = attention(q, k, v, causal_mask(len(inputs.tokens)))
    _explain(state, inputs)
    _picture(state, inputs, steps, right, written, before, mask)
    _differences(inputs, steps, right)
    _leak(inputs, steps, mask, before)
    _ask(state, len(inputs.tokens))
    _code(inputs, mask, factor, before)
    twins.draw()


def _inputs(state: PageState) -> Inputs | None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        ladder.choose_source(state)
        if state["source"] == "journey":
            ladder.words_box(state)
        if state["source"] != "model":
            return sources.example(state)
        name = sources.choose_model(state)
        if name is None:
            return None
        bundled = engine.load(name)
        layer, head = sources.choose_head(state, bundled)
    said = sources.read_text(state, bundled, sources.DRAWN)
    return said and sources.model_head(bundled, said, layer, head)


def _controls(state: PageState, t: int) -> Tensor | None:
    """Show the switches and return the mask (T, T), or None for none.

    Raises ValueError: the mask leaves a row nothing to look at.
    """
    st.segmented_control(
        words.masks.MASK_CHOICE,
        list(words.masks.MASKS),
        format_func=words.masks.MASKS.__getitem__,
        required=True,
        **state.bind("mask"),
    )
    kind = state["mask"]
    if kind == "sliding":
        st.number_input(words.masks.MASK_WINDOW, 1, 64, width=160, **state.bind("window"))
    if kind == "padding":
        st.number_input(words.masks.MASK_REAL, 0, 64, width=160, **state.bind("real"))
    own = _own(state, t) if kind == "own" else None
    with st.container(horizontal=True, gap="medium"):
        st.segmented_control(
            words.masks.WHEN_LABEL,
            list(words.masks.WHEN),
            format_func=words.masks.WHEN.__getitem__,
            required=True,
            **state.bind("when"),
        )
        st.segmented_control(
            words.masks.SCALE_LABEL,
            list(words.masks.SCALES),
            format_func=words.masks.SCALES.__getitem__,
            required=True,
            **state.bind("scale"),
        )
    return {
        "none": lambda: None,
        "causal": lambda: causal_mask(t),
        "off_by_one": lambda: causal_mask_off_by_one(t),
        "padding": lambda: padding_mask([state["real"]], t)[0, 0].expand(t, t),
        "sliding": lambda: sliding_window_mask(t, state["window"]),
        "own": lambda: own,
    }[kind]()


def read_mask(written: str, t: int) -> Tensor:
    """Return a mask as links write it, rows of 0 and 1 with dots between; else the causal one."""
    rows = written.split(".")
    if len(rows) == t and all(len(row) == t and set(row) <= {"0", "1"} for row in rows):
        return torch.tensor([[cell == "1" for cell in row] for row in rows])
    return causal_mask(t)


def _own(state: PageState, t: int) -> Tensor:
    """Show boxes to tick, and return the mask that they make."""
    slot = f"{KEY}.own"
    shown, base, number = st.session_state.get(slot, (None, "", 0))
    if shown != state["own"] or len(base.split(".")) != t:
        start = read_mask(state["own"], t).int().tolist()
        base, number = ".".join("".join(map(str, row)) for row in start), number + 1
    table = pd.DataFrame(read_mask(base, t).numpy(), columns=[str(j) for j in range(t)])
    given = st.data_editor(table, key=f"{slot}.{t}.{number}", width=70 * t + 60)
    mask = torch.from_numpy(given.to_numpy(dtype=bool, na_value=False).copy())
    text = ".".join("".join(map(str, row)) for row in mask.int().tolist())
    if text != state["own"]:
        state["own"] = text
    st.session_state[slot] = (text, base, number)
    return mask


def scale(state: PageState, inputs: Inputs) -> build.Scale:
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


def _explain(state: PageState, inputs: Inputs) -> None:
    size, width = inputs.qkv()[0].shape[1], model_width(inputs)
    lines = [
        words.masks.MASK_TEXT[state["mask"]],
        words.masks.WHEN_TEXT[state["when"]] if state["mask"] != "none" else "",
        words.masks.SCALE_TEXT[state["scale"]].format(width=width, size=size, heads=width // size),
    ]
    prose("\n\n".join(line for line in lines if line))


def _picture(
    state: PageState,
    inputs: Inputs,
    steps: AttentionSteps,
    right: AttentionSteps,
    written: str,
    before: str | None,
    mask: Tensor | None,
) -> None:
    made = build.Picture()
    q, k, v = inputs.qkv()
    rows = {"row_labels": inputs.tokens}
    for name, part, role in (("Q", q, "query"), ("K", k, "key"), ("V", v, "value")):
        made.add(name, part, role=role, **rows)
    reason = (
        ""
        if mask is None
        else words.matrices.MASK_REASON
        if state["mask"] == "causal"
        else "masked"
    )
    build.weights_to_output(
        made,
        inputs.tokens,
        steps,
        "V",
        operands=("Q", "K"),
        scale=(1.0, written),
        masked=reason,
        before=before,
    )
    square = {"row_labels": inputs.tokens, "col_labels": inputs.tokens}
    axes = {"row_axis": words.WHO_ASKS, "col_axis": words.WHO_IS_ASKED, "row_sums": True}
    made.add(
        "right", right.weights, words.masks.RIGHT_ONE, role="weights", limit=1.0, **square, **axes
    )
    names = [m.name for m in made.matrices if m.name not in ("Q", "K", "V", "right", "scores")]
    names.remove("context")
    made.layout = [names[:-1], [*names[-1:], "right"]]
    ladder.show(state, made, KEY)


def _differences(inputs: Inputs, steps: AttentionSteps, right: AttentionSteps) -> None:
    """Say who now sees whom, and how far the weights are from the right ones."""
    tokens = inputs.tokens
    now, then = steps.weights, right.weights
    new = (now > SEEN) & (then == 0)
    gone = (now == 0) & (then > SEEN)
    sentences = []
    for cells, line, share in (
        (new, words.masks.MASK_SEES, now),
        (gone, words.masks.MASK_BLIND, then),
    ):
        places = cells.nonzero().tolist()
        for i, j in places[:LISTED]:
            who, whom = tokens[i].strip("·"), tokens[j].strip("·")
            text = line.format(who=who, whom=whom, share=f"{share[i, j]:.0%}")
            sentences.append(f"- row {i}: {escape_markdown(text)}")
        if len(places) > LISTED:
            sentences.append(f"- {words.masks.MASK_MORE.format(count=len(places) - LISTED)}")
    if sentences:
        st.markdown("\n".join(sentences))
    change = (now - then).abs().max().item()
    if change < 1e-6:
        prose(words.masks.MASK_EQUAL)
        return
    text = words.masks.MASK_CHANGED.format(
        change=change, right=then.amax(-1).mean().item(), now=now.amax(-1).mean().item()
    )
    sums = now.sum(-1)
    if (sums - 1).abs().max() > 1e-4:
        listed = ", ".join(f"{value:.2f}" for value in sums.tolist())
        text += " " + words.masks.MASK_SUMS.format(sums=listed)
    prose(text)


def leak(steps: AttentionSteps, mask: Tensor, before: str | None) -> float:
    """How far the allowed weights move when every forbidden score grows by 1."""
    moved = steps.scaled + (~mask).to(steps.scaled.dtype)
    zero = torch.zeros_like(moved[..., :1])
    again = attention(
        moved, torch.eye(mask.shape[-1]).to(moved), zero, mask, 1.0, 0.0, None, before
    )
    return float(((again.weights - steps.weights).abs() * mask).max())


def _leak(inputs: Inputs, steps: AttentionSteps, mask: Tensor | None, before: str | None) -> None:
    if mask is None or bool(mask.all()):
        return
    found = leak(steps, mask, before)
    prose(words.masks.MASK_LEAK.format(leak=found) if found > 1e-5 else words.masks.MASK_TIGHT)


def _ask(state: PageState, t: int) -> None:
    """Ask which mask was laid over even scores."""
    t = max(4, min(t, 6))
    options = list(words.masks.ASK_MASK_ANSWERS)
    wanted = options[(state["seed"] + t) % len(options)]
    real = t - 2
    masks = {
        "causal": causal_mask(t),
        "none": torch.ones(t, t, dtype=torch.bool),
        "sliding": sliding_window_mask(t, 2),
        "padding": padding_mask([real], t)[0, 0].expand(t, t),
        "off_by_one": causal_mask_off_by_one(t),
    }
    even = torch.zeros(t, 1)
    steps = attention(even, even, even, masks[wanted])
    square = {"row_labels": [str(i) for i in range(t)], "col_labels": [str(i) for i in range(t)]}
    axes = {"row_axis": words.WHO_ASKS, "col_axis": words.WHO_IS_ASKED}
    lv.matrix_view(
        [
            lv.Matrix("masked", steps.masked.numpy(), **square, **axes),
            lv.Matrix(
                "weights", steps.weights.numpy(), role="weights", limit=1.0, **square, **axes
            ),
        ],
        key=f"{KEY}.ask",
    )
    predict(
        Question(
            words.masks.ASK_MASK.format(count=t),
            [words.masks.ASK_MASK_ANSWERS[name][0].format(real=real) for name in options],
            options.index(wanted),
            [words.masks.ASK_MASK_ANSWERS[name][1].format(real=real) for name in options],
        ),
        f"{KEY}.which",
    )


def _code(
    inputs: Inputs,
    mask: Tensor | None,
    factor: float,
    before: str | None,
) -> None:
    if inputs.name:
        return
    lines = ["import torch", "from llmviz.nn.attention import attention", ""]
    parts = []
    for name, part in zip("qkv", inputs.qkv(), strict=True):
        rows = [[round(cell, 9) for cell in row] for row in part.tolist()]
        lines.append(f"{name} = torch.tensor({rows}, dtype=torch.float64)")
        parts.append(torch.tensor(rows, dtype=torch.float64))
    # From the very numbers that the snippet quotes: a half is then rounded the same way.
    weights = attention(*parts, mask, factor, softmax_before_mask=before).weights
    lines.append(f"mask = {'None' if mask is None else f'torch.tensor({mask.tolist()})'}")
    lines.append(f"steps = attention(q, k, v, mask, {factor!r}, softmax_before_mask={before!r})")
    lines.append("for row in steps.weights.tolist():")
    lines.append('    print([f"{w:.3f}" for w in row])')
    prints = "\n".join(str([f"{w:.3f}" for w in row]) for row in weights.tolist())
    show_code(
        [causal_mask, padding_mask, sliding_window_mask, refuse_fully_masked_rows, attention],
        "\n".join(lines),
        prints,
        label=words.masks.CODE_MASK,
    )

"""Chapter "Step by step": the ladder from dot products to several heads, every cell open."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st
import torch

from llmviz.nn.attention import attention, causal_mask, split_heads
from llmviz.nn.attention import ladder as rungs
from llmviz.nn.attention.ladder import MultiHeadSteps
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.ui import components as lv
from llmviz.ui import engine
from llmviz.ui.components.matrices import Cell
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.attention import build, sources, words
from llmviz.ui.lessons.attention.params import MATRICES, parse_matrix, write_matrix
from llmviz.ui.lessons.attention.sources import Inputs
from llmviz.ui.lessons.common import keep, refuse
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState

KEY = "attention.ladder"


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.ladder.TITLE, words.ladder.TEXT)
    from_the_end = _forget(state)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose_source(state, from_the_end)
        st.segmented_control(
            words.ladder.RUNG_LABEL,
            list(words.ladder.RUNGS),
            format_func=words.ladder.RUNGS.__getitem__,
            required=True,
            **state.bind("rung", then=from_the_end),
        )
    prose(words.ladder.RUNG_TEXT[state["rung"]])
    try:
        made = _model(state) if state["source"] == "model" else _example(state)
    except ValueError as error:
        refuse(error)
        return
    if made is None:
        return
    inputs, steps, picture = made
    show(state, picture)
    _say(inputs, steps)
    _ask(inputs, steps)
    _code(state, inputs, picture)


def _forget(state: PageState):
    """Return a callback that goes back to the last step with no cell kept."""

    def then() -> None:
        state["step"], state["cell"] = -1, ""

    return then


def choose_source(state: PageState, then=None) -> None:
    """Show the choice between the examples and a bundled model."""
    st.segmented_control(
        words.sources.SOURCE_LABEL,
        list(words.sources.SOURCES),
        format_func=words.sources.SOURCES.__getitem__,
        required=True,
        **state.bind("source", then=then),
    )


# ---- the examples


def _example(state: PageState) -> tuple[Inputs, AttentionSteps, build.Picture]:
    rung = state["rung"]
    if state["source"] == "journey":
        words_box(state)
    inputs = edited(state)
    own_weights = any(state[key] for key in ("wq", "wk", "wv"))
    if state["source"] == "journey" and rung != "simple" and not own_weights:
        prose(words.ladder.JOURNEY_NOTE)
    if rung == "simple":
        steps = rungs.simplified(inputs.x)
        return inputs, steps, build.simplified(inputs, steps)
    if rung == "heads":
        n = choose_heads(state, inputs.x.shape[1])
        mask = causal_mask(len(inputs.tokens))
        steps = rungs.multi_head(inputs.x, *inputs.w, n, mask=mask)
        scale = scale_of(inputs.x.shape[1] // n)
        return inputs, steps.attention, build.many_heads(inputs, steps, n, scale)
    mask = None if rung == "qkv" else causal_mask(len(inputs.tokens))
    dropout, generator = _dropout(state)
    steps = rungs.single_head(
        inputs.x, *inputs.w, mask, dropout=dropout, generator=generator
    ).attention
    return inputs, steps, _head_picture(inputs, steps, rung, dropout)


def _head_picture(
    inputs: Inputs, steps: AttentionSteps, rung: str, dropout: float
) -> build.Picture:
    masked = "" if rung == "qkv" else words.matrices.MASK_REASON
    return build.one_head(inputs, steps, scale_of(inputs.qkv()[0].shape[1]), masked, dropout)


def scale_of(d: int) -> build.Scale:
    """Return the right scale of a head of size d, and how it is written."""
    return 1 / math.sqrt(d), f"÷ √{d}"


def _dropout(state: PageState) -> tuple[float, torch.Generator | None]:
    if state["rung"] != "dropout":
        return 0.0, None
    left, right, _ = st.columns([2, 1, 2], gap="large")
    left.slider(words.ladder.P, 0.0, 0.9, step=0.05, **state.bind("p"))
    right.number_input(words.ladder.SEED, 0, 999_999, **state.bind("seed"))
    return state["p"], torch.Generator().manual_seed(state["seed"])


def choose_heads(state: PageState, width: int) -> int:
    """Show and return the number of heads, one of those that divide the width."""
    options = [n for n in (1, 2, 3, 4) if width % n == 0]
    if state["n"] in (2, 3) and state["n"] not in options:  # the other example's number
        state["n"] = options[1]
    n = keep(state, "n", options[1:] + options[:1])
    st.segmented_control(words.ladder.N_HEAD, options, required=True, **state.bind("n"))
    return n


def words_box(state: PageState) -> None:
    """Show the box for the words of the example with six words."""

    def other_rows() -> None:
        state["x"] = ""
        _forget(state)()

    st.text_input(words.sources.JOURNEY_LABEL, width=420, **state.bind("words", then=other_rows))


def edited(state: PageState) -> Inputs:
    """Show the editors and return the example with the learner's numbers.

    Raises ValueError: an edited cell is no finite number, or words are unknown.
    """
    own = sources.own_matrices(state)
    with st.expander(
        words.ladder.EDIT, icon=":material/edit:", expanded=any(state[k] for k in MATRICES)
    ):
        prose(words.ladder.EDIT_TEXT)
        places = st.columns(len(MATRICES))
        problem = None
        for key, place in zip(MATRICES, places, strict=True):
            with place:
                problem = _editor(state, key, own[key]) or problem
        st.button(words.ladder.EDIT_RESET, on_click=_reset, args=(state,), icon=":material/undo:")
    if problem:
        raise ValueError(problem)
    return sources.example(state)


def _editor(state: PageState, key: str, own: str) -> str:
    """Show one matrix as a table to edit; return what is wrong with it, or nothing.

    The table keeps what it started from while it is edited: new starting values would drop what
    was typed.
    """
    slot = f"{KEY}.edit.{key}"
    shown, base, count = st.session_state.get(slot, ("", "", 0))
    now = state[key] or own
    if not shown or now != shown or len(base.split(";")) != len(own.split(";")):
        base, count = now, count + 1
    rows = parse_matrix(base)
    table = pd.DataFrame(rows, columns=[str(j) for j in range(len(rows[0]))])
    st.caption(words.sources.MATRIX_NAMES[key])
    given = st.data_editor(
        table,
        key=f"{slot}.{state['source']}.{count}",
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(step=None) for name in table.columns},
    )
    try:
        text = checked(given)
    except ValueError as rule:
        st.session_state[slot] = (now, base, count)
        return words.ladder.EDIT_BAD.format(name=words.sources.MATRIX_NAMES[key], rule=rule)
    st.session_state[slot] = (text, base, count)
    wanted = "" if text == write_matrix(parse_matrix(own)) else text
    if wanted != state[key]:
        state[key] = wanted
    return ""


def checked(table: pd.DataFrame) -> str:
    """Return an edited table as a matrix is written in links.

    Raises ValueError: a cell is empty, no number, or not finite.
    """
    cells = [["" if pd.isna(cell) else str(cell) for cell in row] for row in table.to_numpy()]
    return write_matrix(parse_matrix(";".join(",".join(row) for row in cells)))


def _reset(state: PageState) -> None:
    for key in MATRICES:
        state[key] = ""
        st.session_state.pop(f"{KEY}.edit.{key}", None)


# ---- a bundled model


def _model(state: PageState) -> tuple[Inputs, AttentionSteps, build.Picture] | None:
    rung = state["rung"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = sources.choose_model(state)
        if name is None:
            return None
        bundled = engine.load(name)
        layer, head = sources.choose_head(state, bundled, heads=rung != "heads")
    said = sources.read_text(state, bundled, sources.DRAWN)
    if said is None:
        return None
    config = bundled.model.config
    size = config.head_size
    about = {"name": name, "layer": layer, "head": head, "size": size, "heads": config.n_head}
    prose((words.ladder.REAL_HEADS if rung == "heads" else words.ladder.REAL_NOTE).format(**about))
    inputs = sources.model_head(bundled, said, layer, None if rung == "heads" else head)
    if inputs.wide:
        prose(words.ladder.WIDE_NOTE.format(name=name, width=config.n_embd, size=size))
    if rung == "simple":
        steps = rungs.simplified(inputs.x)
        return inputs, steps, build.simplified(inputs, steps)
    mask = None if rung == "qkv" else causal_mask(len(said.ids))
    if rung == "heads":
        q, k, v = (split_heads(part, config.n_head) for part in inputs.qkv())
        steps = attention(q, k, v, mask)
        concat = steps.output.transpose(0, 1).flatten(1)
        all_heads = MultiHeadSteps(q, k, v, steps, concat, concat)
        return inputs, steps, build.many_heads(inputs, all_heads, config.n_head, scale_of(size))
    dropout, generator = _dropout(state)
    steps = attention(*inputs.qkv(), mask, dropout=dropout, generator=generator)
    return inputs, steps, _head_picture(inputs, steps, rung, dropout)


# ---- what every source shares


def read_cell(written: str, picture: build.Picture) -> Cell | None:
    """Return the cell that a link names; None where there is none or it does not exist."""
    name, *place = written.split(".")
    shapes = {matrix.name: matrix.values.shape for matrix in picture.matrices}
    if name not in shapes or len(place) != 2 or not all(part.isdigit() for part in place):
        return None
    row, column = map(int, place)
    rows, columns = shapes[name]
    return Cell(name, row, column) if row < rows and column < columns else None


def show(state: PageState, picture: build.Picture, key: str = KEY) -> None:
    """Draw the matrices; the step and the kept cell are in the link."""
    drawn = {name for row in picture.layout for name in row if name} or None
    last = len(picture.steps) - 1
    if state["cell"] and read_cell(state["cell"], picture) is None:
        state["cell"] = ""
        st.warning(words.ladder.NO_CELL, icon=":material/link_off:")

    def settled() -> None:
        said = st.session_state[key]
        step, pinned = said.get("step", last), said.get("pinned")
        state["step"] = -1 if step in (None, last) else step
        state["cell"] = ".".join(map(str, pinned)) if pinned else ""

    known = {matrix.name for matrix in picture.matrices} & (drawn or set(_names(picture)))
    steps = [([name for name in names if name in known], text) for names, text in picture.steps]
    lv.matrix_view(
        picture.matrices,
        layout=picture.layout or None,
        steps=steps,
        key=key,
        step=last if state["step"] < 0 else min(state["step"], last),
        pinned=read_cell(state["cell"], picture),
        on_change=settled,
    )


def _names(picture: build.Picture) -> list[str]:
    return [matrix.name for matrix in picture.matrices]


def _say(inputs: Inputs, steps: AttentionSteps) -> None:
    """Say what the largest weight means."""
    weights = steps.weights.numpy()
    if len(inputs.tokens) == 1:
        prose(words.ladder.ONE_TOKEN)
        return
    flat = weights.reshape(-1, *weights.shape[-2:])
    head, row, _ = np.unravel_index(flat[:, 1:].argmax(), flat[:, 1:].shape)
    quoted = [quote(token) for token in inputs.tokens]
    sentence = build.takes(quoted, flat[head])[row + 1].replace("“", "").replace("”", "")
    prose(words.ladder.LARGEST.format(sentence=sentence))


def _ask(inputs: Inputs, steps: AttentionSteps) -> None:
    """Ask for a hidden cell of the weights."""
    weights = steps.weights.reshape(-1, *steps.weights.shape[-2:])[0]
    masked = steps.masked.reshape(-1, *steps.masked.shape[-2:])[0]
    if len(inputs.tokens) < 2:
        return
    row, column = len(inputs.tokens) - 1, 0
    allowed = int(masked[row].isfinite().sum())
    raised = masked.exp()
    right = f"{weights[row, column]:.3f}"
    reasons = {
        right: words.ladder.ASK_CELL_RIGHT,
        f"{masked[row, column]:.3f}": words.ladder.ASK_CELL_SCORE,
        f"{1 / allowed:.3f}": words.ladder.ASK_CELL_EVEN,
        f"{raised[row, column] / raised[:, column].sum():.3f}": words.ladder.ASK_CELL_COLUMN,
    }
    reasons[right] = words.ladder.ASK_CELL_RIGHT
    if len(reasons) < 3:
        return
    section(words.ladder.HIDDEN_TITLE)
    square = {"row_labels": inputs.tokens, "col_labels": inputs.tokens}
    ask = {"row_axis": words.WHO_ASKS, "col_axis": words.WHO_IS_ASKED}
    lv.matrix_view(
        [
            lv.Matrix("softmax gets", masked.numpy(), **square, **ask),
            lv.Matrix(
                "weights",
                weights.numpy(),
                role="weights",
                limit=1.0,
                op=lv.softmax_rows("softmax gets"),
                hidden=[(row, column)],
                **square,
                **ask,
            ),
        ],
        key=f"{KEY}.hidden",
    )
    answers = sorted(reasons)
    who, whom = quote(inputs.tokens[row]), quote(inputs.tokens[column])
    predict(
        Question(
            words.ladder.ASK_CELL.format(who=who, whom=whom),
            answers,
            answers.index(right),
            [reasons[a].format(value=a.replace("-", "−"), count=allowed) for a in answers],
        ),
        f"{KEY}.ask",
    )


def _code(state: PageState, inputs: Inputs, picture: build.Picture) -> None:
    shown, prints = snippet(state, inputs)
    ran = {"simple": [rungs.simplified], "heads": [rungs.multi_head]}
    show_code([*ran.get(state["rung"], [rungs.single_head]), attention], shown, prints)


def snippet(state: PageState, inputs: Inputs) -> tuple[str, str]:
    """Return code that computes the rung by itself, and what it prints."""
    if inputs.name:
        return _model_snippet(state, inputs)
    rung, n = state["rung"], state["n"]
    x, w = inputs.x.float(), [part.float() for part in inputs.w]
    lines = ["import torch", "from llmviz.nn.attention import causal_mask, ladder", ""]
    lines.append(f"x = torch.tensor({inputs.x.tolist()})")
    if rung == "simple":
        call, output = "ladder.simplified(x)", rungs.simplified(x).output
    else:
        for name, part in zip(("w_q", "w_k", "w_v"), inputs.w, strict=True):
            lines.append(f"{name} = torch.tensor({part.tolist()})")
        mask = causal_mask(len(x))
        if rung == "heads":
            call = f"ladder.multi_head(x, w_q, w_k, w_v, n_head={n}, mask=causal_mask(len(x)))"
            output = rungs.multi_head(x, *w, n, mask=mask).output
        elif rung == "qkv":
            call = "ladder.single_head(x, w_q, w_k, w_v)"
            output = rungs.single_head(x, *w).output
        else:
            call, output = "ladder.causal_head(x, w_q, w_k, w_v)", rungs.causal_head(x, *w).output
    lines += [f"steps = {call}", 'print([f"{c:.3f}" for c in steps.output[-1].tolist()])']
    return "\n".join(lines), str([f"{c:.3f}" for c in output[-1].tolist()])


def _model_snippet(state: PageState, inputs: Inputs) -> tuple[str, str]:
    layer, head = state["layer"], state["head"]
    bundled = engine.load(inputs.name)
    found = sources.traced(inputs.name, sources.stamp(bundled), inputs.ids, layer)
    tap = f"blocks.{layer}.attn.weights"
    text = (
        "import torch\nfrom llmviz.pretrained import load_bundled\n"
        "from llmviz.trace import record\n\n"
        f"model, tokenizer, card = load_bundled({inputs.name!r})\n"
        f"ids = torch.tensor([{list(inputs.ids)}])\n"
        f'with torch.inference_mode(), record("{tap}") as trace:\n'
        "    model(ids)\n"
        f'row = trace["{tap}"][0, {head}, -1]\n'
        'print([f"{w:.2f}" for w in row.tolist()])'
    )
    return text, str([f"{w:.2f}" for w in found["weights"][head][-1].tolist()])

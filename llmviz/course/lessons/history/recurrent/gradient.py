"""Part of the chapter "RNN, GRU, LSTM": the gradient through time."""

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.history.recurrent import words
from llmviz.course.lessons.history.recurrent.gradient_through_time import (
    PastGradients,
    fresh,
    past_gradients,
    scaled,
)
from llmviz.course.ui import engine, kit

KEY = "history.recurrent.past"
SEED = 0
# From what a length is multiplied by to the word for it: vanishes, shrinks, stays, grows, explodes.
BOUNDS = (1e-3, 0.5, 2.0, 1e3)


def draw(state: kit.PageState, bundled: engine.Bundled, name: str) -> None:
    """Show how long the gradient is at each earlier state."""
    context = bundled.model.context_length
    kit.section(words.past, letters=state["through"], context=context)
    known = (bundled, name, state["through"])
    try:
        of = (gradients(*known, 0.0), gradients(*known, state["times"]))
    except ValueError as error:  # it exploded
        kit.refuse(error)
        return
    kit.chart(chart(*known, state["times"], kit.theme()), KEY)
    model = words.cells[state["cell"]]
    kit.prose(
        " ".join(sentence(grads, kind, model) for grads, kind in zip(of, words.kinds, strict=True))
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.back, width=220, **state.ranged("through"))
        st.slider(words.times, step=0.25, width=260, **state.ranged("times"))
    read, after = letters(name, state["through"])
    kit.show_code(
        [past_gradients],
        words.snippet_gradient.format(
            name=bundled.name, read=read, after=after, seed=SEED, times=state["times"]
        ),
        f"{of[1].loss:.4f} {of[1].ratio:.3g}",
    )


def letters(name: str, count: int) -> tuple[str, str]:
    """Return a name written again and again up to `count` letters, and the letter after them.

    >>> letters("ann", 4)
    ('anna', 'n')
    """
    text = (name * (count // len(name) + 2))[: count + 1]
    return text[:-1], text[-1]


@kit.cached(128)
def gradients(bundled: engine.Bundled, name: str, count: int, times: float) -> PastGradients:
    """Return the gradients of the trained model (times 0), or of an untrained one."""
    read, after = letters(name, count)
    ids, target = bundled.tokenizer.encode(read), bundled.tokenizer.encode(after)[0]
    used = fresh(bundled.model, SEED, times) if times else scaled(bundled.model, 1.0)
    return past_gradients(used, ids, target)


@kit.cached(64)
def chart(
    bundled: engine.Bundled, name: str, count: int, times: float, mode: kit.Mode
) -> kit.Figure:
    """Return the lengths of the gradient at all states, of both models, on a logarithmic axis."""
    x, drawn = np.arange(1, count + 1), []
    for at, (scale, label, cell) in enumerate(
        (
            (0.0, words.trained, words.trained_cell),
            (times, words.fresh.format(times=times), words.fresh_cell),
        )
    ):
        norms = gradients(bundled, name, count, scale).norms
        drawn.append(Line(label, x, norms["hidden"], at))
        if "cell" in norms:
            drawn.append(Line(cell, x, norms["cell"], at, dashed=True))
    return lines(drawn, words.past_axes, mode, logarithmic=(False, True), hover="%{y:.2e}")


def written(factor: float) -> str:
    """Return a factor in few digits, whatever its size."""
    if factor == 0 or 1e-3 <= factor < 1e4:
        return f"{factor:.3g}"
    return kit.power_of_ten(factor)


def sentence(past: PastGradients, kind: str, model: str) -> str:
    """Say what becomes of the gradient from the last letter back to the first."""
    becomes = words.becomes[int(np.searchsorted(BOUNDS, past.ratio, side="right"))]
    factor = written(past.ratio)
    return words.past_read.format(kind=kind, model=model, becomes=becomes, factor=factor)

"""Part of the chapter "RNN, GRU, LSTM": the gradient through time, and its clipping."""

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.figures.losses import compared
from llmviz.course.lessons.history.recurrent import words
from llmviz.course.lessons.history.recurrent.gradient_through_time import (
    PastGradients,
    fresh,
    past_gradients,
    scaled,
)
from llmviz.course.lessons.history.recurrent.params import LETTERS, TIMES
from llmviz.course.ui import engine, kit

KEY = "history.recurrent.past"
SEED = 0
# From what a length is multiplied by to the word for it: vanishes, shrinks, stays, grows, explodes.
BOUNDS = (1e-3, 0.5, 2.0, 1e3)


def draw(state: kit.PageState, bundled: engine.Bundled, name: str) -> None:
    """Show how long the gradient is at each earlier state."""
    context = bundled.model.context_length
    kit.section(words.past, letters=state["through"], context=context)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.slider(words.back, width=220, **state.ranged("through"))
        st.slider(words.times, step=0.25, width=260, **state.ranged("times"))
    known = (bundled, name, state["through"])
    try:
        of = (gradients(*known, 0.0), gradients(*known, state["times"]))
    except ValueError as error:  # it exploded
        kit.refuse(error)
        return
    model = words.cells[state["cell"]]
    # Of the first setting, so that who answered may move the sliders.
    quiz = question(gradients(*known[:2], LETTERS, TIMES), model, TIMES, LETTERS)
    if quiz is not None and not kit.predict(quiz, f"{KEY}.ask", covers=True):
        return
    kit.chart(chart(*known, state["times"], kit.theme()), KEY)
    kit.prose(
        " ".join(sentence(grads, kind, model) for grads, kind in zip(of, words.kinds, strict=True))
    )
    st.slider(words.clip, step=0.1, width=300, **state.ranged("clip"))
    kit.chart(clip_chart(*known, state["times"], state["clip"], kit.theme()), f"{KEY}.clip")
    kit.prose(clipping(of[1], state["clip"]))
    _code(bundled, name, state["through"], state["times"], of[1])


def letters(name: str, count: int) -> tuple[str, str]:
    """Return a name written again and again up to `count` letters, and the letter after them.

    >>> letters("ann", 4)
    ('anna', 'n')
    """
    text = (name * (count // len(name) + 2))[: count + 1]
    return text[:-1], text[-1]


@kit.kept(128)
def gradients(bundled: engine.Bundled, name: str, count: int, times: float) -> PastGradients:
    """Return the gradients of the trained model (times 0), or of an untrained one."""
    read, after = letters(name, count)
    ids, target = bundled.tokenizer.encode(read), bundled.tokenizer.encode(after)[0]
    used = fresh(bundled.model, SEED, times) if times else scaled(bundled.model, 1.0)
    return past_gradients(used, ids, target)


@kit.kept(64)
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


@kit.kept(64)
def clip_chart(
    bundled: engine.Bundled, name: str, count: int, times: float, limit: float, mode: kit.Mode
) -> kit.Figure:
    """Return the length of the gradient of all parameters before and after clipping, as bars."""
    past = gradients(bundled, name, count, times)
    values = [past.whole, past.whole * past.clipped(limit)]
    return compared(words.clip_bars, values, 1, words.clip_axis, mode)


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


def clipping(past: PastGradients, limit: float) -> str:
    """Say what clipping does to a gradient."""
    whole, factor = written(past.whole), past.clipped(limit)
    if factor == 1:
        return words.clip_not.format(whole=whole, limit=limit)
    return words.clip_read.format(whole=whole, limit=limit, factor=written(factor))


def question(past: PastGradients, model: str, times: float, count: int) -> kit.Question | None:
    """Ask what becomes of the gradient of the untrained model.

    None where its factor, as it is written, is a border of two answers.
    """
    if written(past.ratio) in ("0.5", "2"):
        return None
    right = 0 if past.ratio < 0.5 else 1 if past.ratio <= 2 else 2
    values = {"model": model, "times": times, "letters": count, "factor": written(past.ratio)}
    return kit.Question.rated(
        words.past_ask, words.past_answers, right, words.past_reason, **values
    )


def _code(
    bundled: engine.Bundled, name: str, count: int, times: float, past: PastGradients
) -> None:
    read, after = letters(name, count)
    kit.show_code(
        [past_gradients],
        words.snippet_gradient.format(
            name=bundled.name, read=read, after=after, seed=SEED, times=times
        ),
        f"{past.loss:.4f} {past.ratio:.3g}",
    )

"""The small network: values forward, gradients backward, each beside autograd's."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.graph_view.view import graph_view
from llmviz.course.components.matrix_view.view import Matrix, matrix_view
from llmviz.course.lessons.training.backprop import graph as net
from llmviz.course.lessons.training.backprop import picture, update, words
from llmviz.course.lessons.training.backprop.params import NUDGE_MATRICES, SMALL_LAST
from llmviz.course.ui import kit

KEY = "training.backprop"


def draw(state: kit.PageState) -> None:
    """Show the part."""
    from llmviz.training.backprop import CHOICES, autograd, backward, example, forward

    kit.section(words.small, choices=CHOICES, target=state["target"])
    _controls(state, CHOICES)
    given = example()
    values = forward(given, state["target"])
    slip = state["slip"]
    d = backward(values, None if slip == "none" else slip)
    by_torch = autograd(given, state["target"])
    quiz = question(state["target"], float(values["p"][0, state["target"]]))
    shown = kit.predict(quiz, f"{KEY}.sign", covers=True)
    if shown:
        walk = _graph(state, values, d)
        _matrices(state, walk, values, d, by_torch)
        if slip != "none":
            kit.prose(_slipped(slip, d, by_torch))
    after = update.draw(state, given, values, d)
    if shown:
        update.variant(given, state["target"], float(values["loss"]))
    _code(state["target"], d)
    if shown:
        kit.seen(
            words.end, told=end(float(values["loss"]), after, state["eta"], slipped=slip != "none")
        )


def _controls(state: kit.PageState, choices: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.target,
            range(choices),
            format_func=lambda i: words.choice.format(i=i),
            width=180,
            **state.bind("target"),
        )
        kit.choose(state, "slip", words.mistake, words.mistakes)


def _graph(state: kit.PageState, values: dict[str, Any], d: dict[str, Any]) -> int:
    nodes, edges = net.graph(values, d)

    return graph_view(
        nodes,
        edges,
        net.steps(values),
        key=f"{KEY}.graph",
        step=state["walk"],
        value_label=words.value,
        gradient_label=words.gradient,
        scale_note=words.scale,
        on_change=kit.bound(
            state, f"{KEY}.graph", step=("walk", kit.one_of(range(SMALL_LAST + 1)))
        ),
    )


def _matrices(
    state: kit.PageState,
    walk: int,
    values: dict[str, Any],
    d: dict[str, Any],
    by_torch: dict[str, Any],
) -> None:
    forth = list(net.FORWARD)
    if walk < len(forth):
        step_picture = picture.forward_step(forth[walk], values, state["target"])
        matrix_view(step_picture.matrices, key=f"{KEY}.cells", layout=_rows(step_picture))
        return
    name = net.BACKWARD[walk - len(forth)]
    step_picture = picture.backward_step(name, values, d, state["slip"])
    result = step_picture.matrices[-1]
    auto = Matrix(
        "autograd",
        by_torch[name].numpy(),
        result.label,
        words.autograd,
        row_labels=result.row_labels,
        col_labels=result.col_labels,
        role="accent",
        limit=float(np.abs(result.values).max()) or None,
    )
    layout = _rows(step_picture)
    if layout:  # right below, so that cell stands under cell
        layout.append([*[None] * (len(layout[0]) - 2), "≟", "autograd"])
    matrix_view([*step_picture.matrices, auto], key=f"{KEY}.cells", layout=layout)
    apart = {key: float((d[key] - by_torch[key]).abs().max()) for key in net.BACKWARD}
    kit.prose(
        words.agrees, apart=_small(apart[name]), count=len(apart), most=_small(max(apart.values()))
    )


def _rows(step_picture: picture.Picture) -> list[list[str | None]] | None:
    """One row with its signs, or None where there are none: then matrices flow."""
    signs = {"×", "=", "+", "→", "?"}
    return [list(step_picture.layout)] if signs & set(step_picture.layout) else None


def _small(value: float) -> str:
    return kit.power_of_ten(value)


def _slipped(slip: str, d: dict[str, Any], by_torch: dict[str, Any]) -> str:
    apart = {key: float((d[key] - by_torch[key]).abs().max()) for key in net.BACKWARD}
    where = max(apart, key=apart.__getitem__)
    times = float(d["W1"].norm() / by_torch["W1"].norm())
    return words.mistake_text[slip].format(
        worst=apart[where], where=f"∂{words.nodes[where]}", times=times
    )


def question(target: int, p: float) -> kit.Question:
    """Ask for the gradient of the logit whose token came."""
    return kit.Question.of(words.ask_sign, target=target, p=p, rest=1 - p)


def end(before: float, after: float, rate: float, *, slipped: bool) -> str:
    """Return what was seen of the small network: its loss before and after one step."""
    text = words.end_slipped if slipped else words.end_small
    return text.format(before=before, after=after, eta=rate, matrices=len(NUDGE_MATRICES))


def _code(target: int, d: dict[str, Any]) -> None:
    from llmviz.training.backprop import autograd, backward, example, forward

    given = example()
    right = backward(forward(given, target))
    apart = max(
        float((right[name] - grad).abs().max()) for name, grad in autograd(given, target).items()
    )
    kit.show_code(
        [forward, backward, autograd],
        words.snippet_small.format(target=target),
        f"{[f'{g:.4f}' for g in right['W1'][0].tolist()]} {apart < 1e-12}",
    )

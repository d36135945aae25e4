"""Chapter "Backpropagation": blame that flows back through a small network, box by box.

Then one of its weights is nudged, and its gradient measured without any derivative.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared import cell_operations as ops
from llmviz.course.components.graph_view.view import graph_view
from llmviz.course.components.matrix_view.view import Matrix, matrix_view
from llmviz.course.figures.losses import differences
from llmviz.course.lessons.training.backprop import graph as net
from llmviz.course.lessons.training.backprop import nudging, picture, trained, words
from llmviz.course.lessons.training.backprop.model import example_losses, slope_errors
from llmviz.course.lessons.training.backprop.nudging import exact
from llmviz.course.lessons.training.backprop.params import NUDGE_MATRICES, SMALL_LAST
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready

NUDGE_KEY = "training.nudge"
REACH = 2.0


def draw_nudge(state: kit.PageState) -> str:
    """Show the part; return what was seen of it."""
    from llmviz.training.backprop import TARGET, autograd, backward, example, forward, loss_with

    kit.section(words.nudge_section)
    given = example()
    name, row, column = _choose(state, given)
    weight = float(given[name][row, column])
    hand = float(backward(forward(given, TARGET))[name][row, column])
    auto = float(autograd(given, TARGET)[name][row, column])
    weights = nudging.values(weight, REACH)
    losses = _losses(name, row, column, weight)
    nudging.draw(state, "moved", NUDGE_KEY, weights, losses, hand)
    true = loss_with(given, TARGET, name, row, column, weight + 0.01) - float(
        losses[nudging.MIDDLE]
    )
    _measure(name, row, column, hand, auto)
    _nudge_code(name, row, column, hand)
    return words.end_nudge.format(
        name=name, row=row, column=column, slope=exact(hand), true=exact(true)
    )


def _choose(state: kit.PageState, given: dict[str, Any]) -> tuple[str, int, int]:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(words.matrix, NUDGE_MATRICES, width=130, **state.bind("wmat"))
        rows, columns = given[state["wmat"]].shape
        row, column = kit.keep(state, "wrow", range(rows)), kit.keep(state, "wcol", range(columns))
        st.selectbox(words.row, range(rows), width=110, **state.bind("wrow"))
        st.selectbox(words.column, range(columns), width=110, **state.bind("wcol"))
    return state["wmat"], row, column


@kit.cached(64)
def _losses(name: str, row: int, column: int, weight: float) -> np.ndarray:
    return example_losses(name, row, column, nudging.values(weight, REACH))


@kit.cached(64)
def _slope_errors(
    name: str, row: int, column: int, hand: float
) -> tuple[list[float], dict[str, list[float]]]:
    from llmviz.training.backprop import example

    return slope_errors(example(), name, row, column, hand)


@kit.cached(64)
def check_figure(
    steps: tuple[float, ...], named: tuple[tuple[str, tuple[float, ...]], ...], mode: kit.Mode
) -> kit.Figure:
    """Return how far measured slopes are from the exact one, a line for each precision."""
    return differences(steps, dict(named), words.check_axes, mode)


def _measure(name: str, row: int, column: int, hand: float, auto: float) -> None:
    kit.section(words.check)
    steps, errors = _slope_errors(name, row, column, hand)
    named = tuple((words.check_names[kind], tuple(values)) for kind, values in errors.items())
    st.plotly_chart(check_figure(tuple(steps), named, kit.theme()), key=f"{NUDGE_KEY}.check")
    best = int(np.argmin(errors["double"]))
    text = words.check_line.format(
        hand=exact(hand),
        auto=exact(auto),
        eps=f"{steps[best]:.0e}",
        off=f"{errors['double'][best]:.1e}",
    )
    zeros = sum(value == 0 for values in errors.values() for value in values)
    kit.prose(text + (" " + words.check_zero.format(count=zeros) if zeros else ""))


def _nudge_code(name: str, row: int, column: int, hand: float) -> None:
    from llmviz.training.backprop import TARGET, central_difference, example, loss_with

    given = example()

    def loss(value: float) -> float:
        return loss_with(given, TARGET, name, row, column, value)

    slope = central_difference(loss, float(given[name][row, column]), 1e-5)
    kit.show_code(
        [loss_with, central_difference],
        words.snippet_nudge.format(name=name, row=row, column=column),
        f"{hand:.6f} {slope:.6f}",
    )


KEY, GUESS = "training.backprop", "training.backprop.sign"
FORTH = len(net.FORWARD)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the values, ask for the first blame, then all of it and what is done with it."""
    target = state["target"]
    came = words.came[target]
    kit.prose(words.hook, came=came)
    if not engine_ready():
        return
    from llmviz.training.backprop import autograd, backward, example, forward

    given = example()
    values = forward(given, target)
    d, by_torch = backward(values), autograd(given, target)
    bets = values["p"][0].tolist()
    guess = kit.Guess(GUESS, question(target, bets), leads=f"walk={FORTH}")
    shown = guess.open
    with kit.stage("backprop"):
        axis = kit.Axis(0, 1, words.bets_axis["told" if shown else "asked"])
        kit.case_rows(bet_rows(target, bets, revealed=shown), axis, key=f"{KEY}.bets")
        guess.ask()
        walk = _graph(state, values, d if shown else {})
        if walk >= FORTH:
            kit.prose(caption(walk, d))
        st.selectbox(
            words.target,
            range(len(words.came)),
            format_func=words.came.__getitem__,
            width=180,
            **state.bind("target"),
        )
    if not shown:
        return
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    _matrices(state, walk, values, d, by_torch)
    kit.choose(state, "how", words.part, words.parts, parts=True)
    if state["how"] == "small":
        told = _update(state, given, values, d)
        _code(target, d)
    else:
        told = {"nudge": draw_nudge, "trained": trained.draw}[state["how"]](state)
    if told:
        kit.seen(words.end, told=told)


def _graph(state: kit.PageState, values: dict[str, Any], d: dict[str, Any]) -> int:
    """Show the network; without gradients `d` it has values alone. Return the step shown."""
    nodes, edges = net.graph(values, d)
    steps = net.steps(values)[: None if d else FORTH]
    return graph_view(
        nodes,
        edges,
        steps,
        key=f"{KEY}.graph",
        step=min(state["walk"], len(steps) - 1),
        value_label=words.value,
        gradient_label=words.gradient,
        scale_note=words.scale,
        on_change=kit.bound(
            state, f"{KEY}.graph", step=("walk", kit.one_of(range(SMALL_LAST + 1)))
        ),
    )


def caption(walk: int, d: dict[str, Any]) -> str:
    """Say where the most blame lies in the box of a step back."""
    name = net.BACKWARD[walk - FORTH]
    row, column = divmod(int(d[name].abs().argmax()), d[name].shape[1])
    blame = float(d[name][row, column])
    return words.caption.format(
        box=words.nodes[name], row=row, column=column, blame=exact(blame), change=exact(blame / 100)
    )


def question(target: int, bets: list[float]) -> kit.Question:
    """Ask which of the bets are to blame for the token that came."""
    others = [at for at in range(len(bets)) if at != target]
    rival = words.came[max(others, key=bets.__getitem__)]
    p = kit.percent(bets[target])
    return kit.Question.of(words.ask, came=words.came[target], p=p, rival=rival)


def bet_rows(target: int, bets: list[float], *, revealed: bool) -> list[kit.Case]:
    """Return the bets as bars; revealed: with a line from each to what would have been right."""
    rows = []
    for at, (name, bet) in enumerate(zip(words.came, bets, strict=True)):
        right, role = float(at == target), "value" if at == target else "query"
        off = words.off["low" if at == target else "high"].format(name=name)
        interval = (min(bet, right), max(bet, right)) if revealed else None
        rows.append(kit.Case(off if revealed else name, bet, interval=interval, role=role))
    return rows


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
    step_picture = picture.backward_step(name, values, d)
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
    kit.measured(
        words.agrees["near" if max(apart.values()) else "exact"],
        apart=kit.power_of_ten(apart[name]),
        count=len(apart),
        most=kit.power_of_ten(max(apart.values())),
    )


def _rows(step_picture: picture.Picture) -> list[list[str | None]] | None:
    """One row with its signs, or None where there are none: then matrices flow."""
    signs = {"×", "=", "+", "→", "?"}
    return [list(step_picture.layout)] if signs & set(step_picture.layout) else None


def _update(
    state: kit.PageState, given: dict[str, Any], values: dict[str, Any], d: dict[str, Any]
) -> str:
    """Show θ − η · ∇ for one matrix, and what becomes of the loss when all of them step."""
    from llmviz.training.backprop import forward, stepped

    kit.section(words.update)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(words.moving, NUDGE_MATRICES, width=180, **state.bind("moving"))
        st.slider(words.eta, step=0.1, width=280, **state.ranged("eta"))
    name, rate = state["moving"], state["eta"]
    after = stepped(given, d, rate)
    matrix_view(
        matrices(name, given[name].numpy(), d[name].numpy(), after[name].numpy(), rate),
        key=f"{KEY}.step",
        layout=[["theta", "+", "step", "=", "new"], [None, None, "gradient", None, None]],
    )
    before, now = float(values["loss"]), float(forward(after, state["target"])["loss"])
    kit.prose(result(before, now, rate, words.came[state["target"]]))
    if rate:
        kit.measured(predicted(before, now, rate, d))
    return words.end_small.format(before=before, after=now)


def matrices(name: str, theta: Any, gradient: Any, new: Any, rate: float) -> list[Matrix]:
    """The matrices of one step, each with its arithmetic."""
    return [
        Matrix("theta", theta, words.theta.format(name=name), role="value"),
        Matrix("gradient", gradient, words.gradient_of.format(name=name), role="accent"),
        Matrix(
            "step",
            -rate * gradient,
            words.step.format(name=name),
            role="accent",
            op=ops.scaled("gradient", -rate, f"× (−{rate:g})"),
        ),
        Matrix(
            "new",
            new,
            words.theta_new.format(name=name),
            role="value",
            op=ops.add("theta", "step"),
        ),
    ]


def result(before: float, after: float, rate: float, came: str) -> str:
    """Say what the step of all six matrices did to the loss."""
    if not rate:
        return words.update_zero
    text = words.update_lower if after < before else words.update_not_lower
    return text.format(before=before, after=after, came=came)


def predicted(before: float, after: float, rate: float, gradients: dict[str, Any]) -> str:
    """Say by how much the loss changed, beside what the slopes predict."""
    change = -rate * sum(float((gradients[name] ** 2).sum()) for name in NUDGE_MATRICES)
    return words.update_predicted.format(change=exact(after - before), predicted=exact(change))


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

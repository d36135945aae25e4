"""The update of the small network's weights, and the network without its feed-forward layer."""

from typing import Any

import streamlit as st

from llmviz.course.components._shared import cell_arithmetic as ops
from llmviz.course.components.matrix_view.view import Matrix, matrix_view
from llmviz.course.lessons.training.backprop import words
from llmviz.course.lessons.training.backprop.nudging import exact
from llmviz.course.lessons.training.backprop.params import NUDGE_MATRICES
from llmviz.course.ui import kit

KEY = "training.backprop"


def draw(
    state: kit.PageState, given: dict[str, Any], values: dict[str, Any], d: dict[str, Any]
) -> float:
    """Show θ − η · ∇ for one matrix, and what becomes of the loss when all of them step.

    Returns the loss after the step.
    """
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
    kit.prose(result(before, now, rate, d, right=state["slip"] == "none"))
    return now


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


def result(
    before: float, after: float, rate: float, gradients: dict[str, Any], *, right: bool
) -> str:
    """Say what the step of all six matrices did to the loss, beside what their slopes predict.

    right: whether the gradients are, and not those of a mistake.
    """
    if not rate:
        return words.update_zero
    predicted = -rate * sum(float((gradients[name] ** 2).sum()) for name in NUDGE_MATRICES)
    lines = [words.update_result.format(before=before, after=after, change=exact(after - before))]
    if right:
        lines.append(words.update_predicted.format(predicted=exact(predicted)))
    lower = words.update_lower if right else words.update_lower_wrong
    not_lower = words.update_not_lower if right else words.update_not_lower_wrong
    lines.append(lower if after < before else not_lower)
    return " ".join(lines)


def variant(given: dict[str, Any], target: int, loss: float) -> None:
    """Show the network without its feed-forward layer; `loss` is that of the one with it."""
    from llmviz.training.backprop import without_feed_forward

    kit.section(words.variant)
    network = without_feed_forward(given, target)
    values = {name: value.numpy() for name, value in network.items()}
    sat = [words.tokens[-1]]

    def matrix(name: str, role: str = "neutral", op: ops.Op | None = None, **more: Any) -> Matrix:
        label = words.nodes.get(name, name)
        rows = {"row_labels": sat} if values[name].shape[0] == 1 else {}
        return Matrix(name, values[name], label, role=role, op=op, **rows, **more)

    values["p of the token"] = values["p"][:, [target]]
    values["aᵀ"] = values["a"].T
    matrix_view(
        [
            matrix("a"),
            matrix("W_out", "value"),
            matrix("logits", op=ops.matmul("a", "W_out")),
            matrix("p", "weights", ops.softmax_rows("logits"), limit=1.0),
            matrix("p of the token", "weights", ops.picked("p", [target]), limit=1.0),
            matrix("loss", "key", ops.function("p of the token", "−ln"), scale="sequential"),
            Matrix("minus y", values["minus y"], words.labels["minus y"], words.variant_formula),
            matrix("∂logits", "accent", ops.add("p", "minus y")),
            matrix("aᵀ", op=ops.transposed("a")),
            Matrix(
                "∂W_out",
                values["∂W_out"],
                "∂W_out",
                words.variant_gradient,
                role="accent",
                op=ops.matmul("aᵀ", "∂logits"),
            ),
        ],
        key=f"{KEY}.variant",
        layout=[
            ["a", "×", "W_out", "=", "logits"],
            ["p", "+", "minus y", "=", "∂logits"],
            ["p of the token", "→", "loss", None, None],
            ["aᵀ", "→", "∂W_out", None, None],
        ],
    )
    kit.prose(words.variant_result, without=float(network["loss"]), loss=loss)

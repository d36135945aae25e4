"""One weight of a trained model: its gradient position by position, and a nudge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared import cell_operations as ops
from llmviz.course.components.matrix_view.view import Matrix, matrix_view
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.lessons.training import model_picker as readers
from llmviz.course.lessons.training.backprop import nudging, words
from llmviz.course.lessons.training.backprop.model import (
    position_shares,
    steepest_weight,
    weight_on_text,
)
from llmviz.course.lessons.training.backprop.nudging import exact
from llmviz.course.lessons.training.backprop.params import DEFAULT_MATRIX, TRAINED_STEEPEST
from llmviz.course.ui import engine, kit

if TYPE_CHECKING:
    from llmviz.training.one_weight import WeightGradient

KEY = "training.trained"
MOST = 24  # positions of the text


def draw(state: kit.PageState) -> str:
    """Show the part; return what was seen of it, nothing where there is no model or no text."""
    with st.container(gap=None):
        kit.text_area(state, "story", words.sentence_label, height=68)
        text_guard(kit.furniture.half_character)
    bundled = readers.choose(state, kit.Picker("pupil", kit.attends), "story")
    if bundled is None:
        return ""
    parameters = bundled.card["parameters"]
    kit.section(words.trained, parameters=parameters)
    reading = readers.read(bundled, state["story"], MOST)
    if reading is None:
        return ""
    cell = _choose(state, reading)
    gradient, losses = _explained(reading.bundled, reading.ids, *cell)
    _products(reading, gradient)
    kit.prose(_result(reading, gradient))
    weights = _stops(gradient.value)
    nudging.draw(state, "shifted", f"{KEY}.nudge", weights, np.array(losses), gradient.by_hand)
    _code(reading, gradient)
    return words.end_trained.format(
        name=gradient.name,
        row=gradient.row,
        column=gradient.column,
        slope=exact(gradient.by_hand),
        parts=kit.count(len(position_shares(gradient)), "position"),
        parameters=parameters,
    )


def _choose(state: kit.PageState, reading: kit.Read) -> tuple[str, int, int]:
    from llmviz.training.one_weight import matrices

    names = matrices(reading.bundled.model)
    if state["tmat"] == DEFAULT_MATRIX and DEFAULT_MATRIX not in names:
        state["tmat"] = names[-1]
    steepest = state.setter(trow=TRAINED_STEEPEST, tcol=TRAINED_STEEPEST)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = kit.keep(state, "tmat", names)
        st.selectbox(words.matrix, names, width=300, **state.bind("tmat", steepest))
        rows, columns = reading.bundled.model.get_parameter(name).shape
        if not (0 <= state["trow"] < rows and 0 <= state["tcol"] < columns):
            state["trow"], state["tcol"] = _steepest(reading.bundled, reading.ids, name)
        for key, label, size in (("trow", words.row, rows), ("tcol", words.column, columns)):
            st.number_input(label, width=130, **state.ranged(key, least=0, most=size - 1))
        st.button(words.steepest, icon=":material/trending_up:", on_click=steepest)
    return name, state["trow"], state["tcol"]


_steepest = kit.cached(64)(kit.on_model(steepest_weight))


@kit.cached(64)
def _explained(
    bundled: engine.Bundled, ids: tuple[int, ...], matrix: str, row: int, column: int
) -> tuple[WeightGradient, list[float]]:
    """Where a weight's gradient comes from, and the loss at every stop of the slider."""
    return weight_on_text(bundled.model, ids, matrix, row, column, _stops)


def _stops(value: float) -> np.ndarray:
    """The values (STOPS,) that the slider moves a weight through: far enough for a curve."""
    return nudging.values(value, max(0.5, 4 * abs(value)))


def _products(reading: kit.Read, gradient: WeightGradient) -> None:
    columns: list[Matrix] = []
    layout: list[str] = []
    before = reading.tokens[:-1]
    totals = []
    for number, use in enumerate(gradient.uses):
        mark = "" if len(gradient.uses) == 1 else f" {number + 1}"
        column = {"row_labels": before, "row_axis": words.position}
        parts = {"local": use.local, "upstream": use.upstream, "product": use.local * use.upstream}
        for part, values in parts.items():
            label, formula = words.columns[part]
            op = ops.multiply(f"local{mark}", f"upstream{mark}") if part == "product" else None
            role = {"upstream": "accent", "product": "accent"}.get(part, "neutral")
            columns.append(
                Matrix(
                    part + mark,
                    values.numpy()[:, None],
                    label,
                    formula if not mark or part != "local" else use.module,
                    role=role,
                    op=op,
                    digits=6,
                    **column,
                )
            )
            layout += [part + mark, {"local": "×", "upstream": "=", "product": "Σ"}[part]]
        label, formula = words.columns["total"]
        total = float(parts["product"].sum())
        summed = ops.summed(f"product{mark}")
        columns.append(
            Matrix(f"total{mark}", np.array([[total]]), label, formula, op=summed, digits=6)
        )
        totals.append(f"total{mark}")
        layout.append(f"total{mark}")
    if len(totals) > 1:
        label, formula = words.columns["both"]
        both = np.array([[gradient.by_hand]])
        columns.append(Matrix("both", both, label, formula, op=ops.add(*totals), digits=6))
        layout += ["+", "both"]
    label, formula = words.columns["auto"]
    auto = np.array([[gradient.autograd]])
    columns.append(Matrix("auto", auto, label, formula, role="residual", digits=6))
    layout += ["≟", "auto"]
    # The two uses of a tied matrix stand below each other.
    rows = [layout]
    if len(totals) > 1:
        cut = layout.index(totals[0]) + 1
        rows = [layout[:cut], layout[cut:]]
    matrix_view(columns, key=f"{KEY}.cells", layout=rows, numbers=True)


def _result(reading: kit.Read, gradient: WeightGradient) -> str:
    part = position_shares(gradient)
    at = int(part.argmax())
    apart = abs(gradient.by_hand - gradient.autograd)
    lines = [
        words.trained_result.format(
            value=exact(gradient.value),
            hand=exact(gradient.by_hand),
            auto=exact(gradient.autograd),
            apart=kit.power_of_ten(apart, 1) if apart else words.zero,
        )
    ]
    if part.any():
        share, token = kit.percent(float(part[at])), kit.quote(reading.tokens[at])
        lines.append(words.trained_largest.format(share=share, token=token))
    if any(use.module == "token" for use in gradient.uses):
        token = kit.quote(kit.names_of([gradient.row], reading.bundled.tokenizer)[0])
        text = words.tied if len(gradient.uses) > 1 else words.table
        lines.append(text.format(token=token, row=gradient.row))
    return " ".join(lines)


def _code(reading: kit.Read, gradient: WeightGradient) -> None:
    from llmviz.training.one_weight import Copy, WeightGradient, _use

    tokenizer: Any = reading.bundled.tokenizer
    text = reading.text
    if tokenizer.encode_from_start(text) != list(reading.ids):
        return  # unknown characters: the text cannot be quoted back
    kit.show_code(
        [Copy.explain, _use, WeightGradient],
        words.snippet_trained.format(
            reading_bundled_name=reading.bundled.name,
            text=text,
            gradient_name=gradient.name,
            row=gradient.row,
            column=gradient.column,
        ),
        f"{gradient.by_hand:.6f} {gradient.autograd:.6f}",
    )

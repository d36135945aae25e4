"""One row of a matrix: its weights above their grid, and as cells, to their codes and back."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.figures.quantization import rounding_line
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.model import (
    MODEL,
    RowSteps,
    largest_weight,
    row_steps,
    with_large_weight,
)
from llmviz.course.ui import engine, kit
from llmviz.quantization.grids import dequantize, grid, quantize_steps
from llmviz.quantization.scheme import TENSOR, Scheme

KEY = "efficiency.quantization.row"
SHOWN = 12  # weights of the row that have cells
WHOLE = ("rounded", "shifted", "codes", "zero_point")  # steps that are whole numbers
BOX = 124  # pixels, of a box for a number; below 120 it has no buttons
MOST_PLACES = 12


def model() -> engine.Bundled:
    """Return the model of the chapter; ValueError where it is not here."""
    return engine.load(MODEL)


class Place(NamedTuple):
    """A weight of the model: path of its matrix, row and column, and the matrix's size."""

    path: str
    row: int
    column: int
    rows: int
    columns: int


def place_of(state: kit.PageState) -> Place:
    """Return the weight that the controls name; where they name none, the largest one."""
    layers = len(model().model.blocks)
    path = f"blocks.{min(state['qlayer'], layers - 1)}.{state['qmatrix']}"
    weight = model().model.get_submodule(path).weight
    rows, columns = weight.shape
    row = largest_weight(weight)[0] if state["qrow"] < 0 else min(state["qrow"], rows - 1)
    column = state["qweight"]
    if column < 0:
        column = largest_weight(weight[row : row + 1])[1]
    return Place(path, row, min(column, columns - 1), rows, columns)


@kit.cached(64)
def steps_of(bundled: engine.Bundled, place: Place, times: int, scheme: Scheme) -> RowSteps:
    """Return the row at each step, its weight `times` as large as it is."""
    w = with_large_weight(bundled.model, place.path, place.row, place.column, times)
    return row_steps(w, place.row, scheme)


def draw(state: kit.PageState, scheme: Scheme) -> None:
    """Show a row's weights above their grid, and as cells. Raises ValueError as `row_steps`."""
    place, times = place_of(state), state["qtimes"]
    steps = steps_of(model(), place, times, scheme)
    kit.chart(line_of(model(), place, times, scheme, kit.theme()), f"{KEY}.line")
    st.slider(words.times.format(column=place.column), width=320, **state.ranged("qtimes"))
    kit.prose(f"{words.outlier} {line_read(steps, place, scheme)} {words.line_code}")
    _cells(state, steps, place, scheme)
    error = float(np.abs(steps.error[together(place, scheme)]).mean())
    bits = scheme.bits_per_weight(place.rows, place.columns)
    share = kit.percent(error / steps.scale[place.column])
    kit.measured(words.how_line, share=share, bits=bits)
    other_matrix = state.setter(qrow=-1, qweight=-1, qtimes=1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if last := len(model().model.blocks) - 1:
            layer = state.ranged("qlayer", most=last, then=other_matrix)
            st.number_input(words.layer, width=BOX, **layer)
        kit.choose(state, "qmatrix", words.matrix, words.matrices, then=other_matrix)
        other_row = state.setter(qweight=-1, qtimes=1)
        _number(state, "qrow", words.row, place.row, place.rows, other_row)
        _number(state, "qweight", words.weight, place.column, place.columns, None)

    def printed() -> str:
        found = steps_of(model(), place, 1, scheme)
        codes = [int(code) for code in found.codes[:6]]
        return f"{codes}\n{[f'{value:.4f}' for value in found.restored[:6]]}"

    kit.show_code(
        [quantize_steps, grid, dequantize],
        words.snippet_row.format(model=MODEL, path=place.path, scheme=scheme, row=place.row),
        printed,
    )


def _number(
    state: kit.PageState,
    control: str,
    label: str,
    value: int,
    size: int,
    then: Callable[[], None] | None,
) -> None:
    """A box for the number of a row or column; the control itself may leave the choice open."""

    def changed(chosen: int) -> None:
        state[control] = int(chosen)
        if then is not None:
            then()

    slot = kit.tied(f"_efficiency.{control}.shown", value, changed)
    st.number_input(label, min_value=0, max_value=size - 1, width=BOX, **slot)


def together(place: Place, scheme: Scheme) -> slice:
    """Return the columns of the row that share a step with the chosen one."""
    size = scheme.group_size(place.columns)
    first = place.column - place.column % size
    return slice(first, first + size)


@kit.cached(64)
def line_of(
    bundled: engine.Bundled, place: Place, times: int, scheme: Scheme, mode: kit.Mode
) -> kit.Figure:
    """Return the weights that share the chosen one's step, above the values of their grid."""
    steps, part = steps_of(bundled, place, times, scheme), together(place, scheme)
    return rounding_line(
        steps.weights[part],
        steps.restored[part],
        steps.grid(place.column),
        place.column - part.start,
        words.line_names,
        words.line_axis,
        words.line_rows,
        mode,
    )


def line_read(steps: RowSteps, place: Place, scheme: Scheme) -> str:
    """Return how many values of the grid the weights use, in a sentence."""
    part = together(place, scheme)
    used = len(np.unique(steps.codes[part]))
    how = "one" if used == 1 else "all" if used == scheme.codes else "some"
    return words.line_read[how].format(count=part.stop - part.start, used=used, codes=scheme.codes)


def decimals(scale: np.ndarray) -> int:
    """Return how many decimals show three digits of the smallest step (N,), at least four.

    >>> decimals(np.array([0.07])), decimals(np.array([0.07, 0.000236]))
    (4, 6)
    """
    return max(4, 2 - math.floor(math.log10(scale.min())))


def fixed(value: float, places: int) -> str:
    """Return a number with so many decimals and a true minus sign; 0 has no sign.

    >>> fixed(-0.25, 4), fixed(-0.00001, 4), fixed(-3, 0)
    ('−0.2500', '0.0000', '−3')
    """
    text = f"{value:.{places}f}"
    return (text if float(text) else text.replace("-", "")).replace("-", "−")


def quotient(value: float) -> str:
    """Return w ÷ s with two decimals, or as many as show which whole number is nearest.

    >>> quotient(-1.254), quotient(2.4996), quotient(2.5)
    ('−1.25', '2.4996', '2.50')
    """
    places = 2
    while places < MOST_PLACES and value % 1 != 0.5 and round(value, places) % 1 == 0.5:
        places += 1
    return fixed(value, places)


def _names(scheme: Scheme) -> list[str]:
    return [name for name in words.steps if name != "shifted" or not scheme.symmetric]


def texts_of(steps: RowSteps, columns: range) -> dict[str, list[str]]:
    """Return the number in each cell of some columns, by the name of the step."""
    places = decimals(steps.scale[columns.start : columns.stop])
    written: dict[str, Callable[[float], str]] = {
        "scale": partial(fixed, places=places + 1),
        "divided": quotient,
        **dict.fromkeys(WHOLE, partial(fixed, places=0)),
    }
    plain = partial(fixed, places=places)
    return {
        name: [written.get(name, plain)(getattr(steps, name)[column]) for column in columns]
        for name in (*words.steps, "zero_point")
    }


def notes_of(
    steps: RowSteps, place: Place, scheme: Scheme, columns: range, times: int
) -> dict[str, list[str]]:
    """Return the arithmetic of each cell of some columns, by the name of the step.

    times: what the weight of `place` was multiplied by.
    """
    texts = texts_of(steps, columns)
    places = decimals(steps.scale[columns.start : columns.stop])
    size = place.rows * place.columns if scheme.per == TENSOR else scheme.group_size(place.columns)
    known: dict[str, Any] = {
        "row": place.row,
        "shared": size - 1,
        "lowest": fixed(steps.lowest, 0),
        "highest": steps.highest,
    }
    notes: dict[str, list[str]] = {name: [] for name in _names(scheme)}
    for at, column in enumerate(columns):
        values = {name: texts[name][at] for name in texts}
        values |= known | {"column": column, "minus": kit.operand(values["weights"])}
        values["scale"] = fixed(steps.scale[column], places + 2)  # enough to divide by
        values["half"] = fixed(steps.scale[column] / 2, places)
        enlarged = column == place.column and times != 1
        values["times"] = words.note_times.format(times=times) if enlarged else ""
        template = dict(words.notes)
        if not scheme.symmetric:
            template["restored"] = words.note_restored_zero
        if steps.divided[column] % 1 == 0.5:
            template["rounded"] = words.note_half
        for name, said in notes.items():
            said.append(template[name].format(**values))
    return notes


def _cells(state: kit.PageState, steps: RowSteps, place: Place, scheme: Scheme) -> None:
    """Show some weights at each step, with the arithmetic of the one that is pointed at."""
    first = min(place.column - place.column % SHOWN, max(0, place.columns - SHOWN))
    names, columns = _names(scheme), range(first, min(place.columns, first + SHOWN))
    texts = texts_of(steps, columns)
    notes = notes_of(steps, place, scheme, columns, state["qtimes"])
    shades = np.stack([getattr(steps, name)[columns.start : columns.stop] for name in names])
    most = np.abs(shades).max(axis=1, keepdims=True)
    strong = np.zeros(shades.shape, dtype=bool)
    strong[:, place.column - columns.start] = True
    key = f"{KEY}.cells"

    def keep_cell() -> None:
        cell = st.session_state[key].get("chosen")
        state["qcell"] = "" if cell is None else f"{names[cell[0]]}.{columns[cell[1]]}"

    places = {
        f"{name}.{at}": (i, j) for i, name in enumerate(names) for j, at in enumerate(columns)
    }
    cell_grid(
        0.7 * shades / np.where(most, most, 1),  # a row's largest is full, a step is pale
        key=key,
        row_names=[words.steps[name] for name in names],
        column_names=[words.column.format(column=column) for column in columns],
        texts=[texts[name] for name in names],
        notes=[notes[name] for name in names],
        strong=strong,
        limit=1.0,
        label=words.grid,
        chosen=places.get(state["qcell"], (0, 0)),
        on_change=keep_cell,
    )

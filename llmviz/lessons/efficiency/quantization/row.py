"""One row of a matrix as cells, its grid as a line, and what one large weight does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.components.cell_grid.view import cell_grid
from llmviz.figures.quantization import rounding_line
from llmviz.figures.theme import Mode
from llmviz.lessons.efficiency.quantization import words
from llmviz.lessons.efficiency.quantization.setting import KEY, MODEL, model
from llmviz.quantization.scheme import GROUP, Scheme
from llmviz.study.quantization_errors import largest_weight
from llmviz.study.quantized_row import (
    Damage,
    RowSteps,
    damage,
    row_steps,
    with_large_weight,
)
from llmviz.ui.code import show_code
from llmviz.ui.common import choose, percent, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState, tied
from llmviz.ui.table import rows_table

SHOWN = 12  # weights of the row that have cells


class Place(NamedTuple):
    """A weight of the model: path of its matrix, row and column, and the matrix's size."""

    path: str
    row: int
    column: int
    rows: int
    columns: int


def place_of(state: PageState) -> Place:
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


@kept(64)
def steps_of(version: str, place: Place, times: int, scheme: Scheme) -> RowSteps:
    """Return the row at each step, its weight `times` as large as it is."""
    w = with_large_weight(model().model, place.path, place.row, place.column, times)
    return row_steps(w, place.row, scheme)


@kept(64)
def damage_of(version: str, place: Place, times: int, scheme: Scheme) -> dict[str, Damage]:
    """Return what the weight does to the others."""
    w = with_large_weight(model().model, place.path, place.row, place.column, times)
    return damage(w, place.row, place.column, scheme)


def draw(state: PageState, scheme: Scheme) -> None:
    """Show the section. Raises ValueError for a scheme that does not fit the matrix."""
    section(words.ROW_TITLE, words.ROW_TEXT)
    _controls(state)
    place = place_of(state)
    found = steps_of(model().version, place, state["qtimes"], scheme)
    _cells(state, found, place, scheme)
    bits = scheme.bits_per_weight(place.rows, place.columns)
    prose(words.STEP_KEPT.format(bits=bits))
    _code(place, scheme)
    _outlier(state, found, place, scheme)


def _controls(state: PageState) -> None:
    def other_matrix() -> None:
        state["qrow"] = state["qweight"] = -1
        state["qtimes"] = 1

    def other_row() -> None:
        state["qweight"] = -1
        state["qtimes"] = 1

    last = len(model().model.blocks) - 1
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if last > 0:
            st.number_input(
                words.LAYER, width=140, **state.ranged("qlayer", most=last, then=other_matrix)
            )
        choose(state, "qmatrix", words.MATRIX, words.MATRICES, then=other_matrix)
        place = place_of(state)
        boxes = (("qrow", words.ROW, place.row, place.rows, other_row),)
        boxes += (("qweight", words.WEIGHT, place.column, place.columns, None),)
        for control, label, value, size, then in boxes:
            _number(state, control, label, value, size, then)


def _number(
    state: PageState,
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

    slot = tied(f"_efficiency.{control}.shown", value, changed)
    st.number_input(label, min_value=0, max_value=size - 1, width=140, **slot)


def window(place: Place) -> range:
    """Return the columns that have cells, the chosen one among them."""
    first = min(place.column - place.column % SHOWN, max(0, place.columns - SHOWN))
    return range(first, min(place.columns, first + SHOWN))


def number(value: float) -> str:
    """Return a number of a cell with a true minus sign."""
    return f"{value:.4f}".replace("-", "−")


def whole(value: float) -> str:
    """Return a whole number of a cell with a true minus sign."""
    return f"{value:.0f}".replace("-0", "0").replace("-", "−")


def _names(scheme: Scheme) -> list[str]:
    return [name for name in words.STEPS if name != "shifted" or not scheme.symmetric]


def notes_of(found: RowSteps, place: Place, scheme: Scheme, column: int) -> dict[str, str]:
    """Return the arithmetic of each cell of a column."""
    shared = place.columns * place.rows if scheme.per == "tensor" else None
    values: dict[str, Any] = {
        "row": place.row,
        "column": column,
        "shared": f"{(shared or scheme.group_size(place.columns)) - 1:,} other",
        "w": number(found.weights[column]),
        "s": f"{found.scale[column]:.5f}",
        "divided": f"{found.divided[column]:.2f}".replace("-", "−"),
        "rounded": whole(found.rounded[column]),
        "z": whole(found.zero_point[column]),
        "shifted": whole(found.shifted[column]),
        "lowest": whole(found.lowest),
        "highest": whole(found.highest),
        "code": whole(found.codes[column]),
        "code_less": whole(found.codes[column]),
        "back": number(found.restored[column]),
        "error": number(found.error[column]),
        "half": number(found.scale[column] / 2),
    }
    names = _names(scheme)
    template = dict(words.NOTES)
    if not scheme.symmetric:
        template["restored"] = template["restored_zero"]
    return {name: template[name].format(**values) for name in names}


def _cells(state: PageState, found: RowSteps, place: Place, scheme: Scheme) -> None:
    names, columns = _names(scheme), window(place)
    notes = {column: notes_of(found, place, scheme, column) for column in columns}
    arrays = {name: getattr(found, name)[columns.start : columns.stop] for name in names}
    shades = np.stack([_shade(values) for values in arrays.values()])
    written = {"divided": lambda v: f"{v:.2f}".replace("-", "−"), "scale": lambda v: f"{v:.5f}"}
    written |= dict.fromkeys(("rounded", "shifted", "codes"), whole)
    texts = [[written.get(name, number)(value) for value in arrays[name]] for name in names]
    strong = np.zeros(shades.shape, dtype=bool)
    strong[:, place.column - columns.start] = True
    key = f"{KEY}.cells"

    def keep_cell() -> None:
        cell = st.session_state[key].get("chosen")
        state["qcell"] = "" if cell is None else f"{names[cell[0]]}.{columns[cell[1]]}"

    cell_grid(
        shades,
        key=key,
        row_names=[words.STEPS[name] for name in names],
        column_names=[words.COLUMN.format(column=column) for column in columns],
        texts=texts,
        notes=[[notes[column][name] for column in columns] for name in names],
        strong=strong,
        limit=1.0,
        label=words.GRID,
        chosen=_chosen(state["qcell"], names, columns),
        on_change=keep_cell,
    )


def _shade(values: np.ndarray) -> np.ndarray:
    """A row's own colours: its largest magnitude is full, a step is pale."""
    size = np.abs(values).max(initial=0.0)
    return 0.7 * values / size if size else np.zeros_like(values)


def _chosen(cell: str, names: list[str], columns: range) -> tuple[int, int] | None:
    name, _, column = cell.partition(".")
    if name in names and column.isascii() and column.isdecimal() and len(column) < 9:
        at = int(column)
        if at in columns:
            return names.index(name), at - columns.start
    return 0, 0


def together(place: Place, scheme: Scheme) -> range:
    """Return the columns of the row that share a step with the chosen one."""
    size = scheme.group_size(place.columns)
    first = place.column - place.column % size
    return range(first, first + size)


@kept(64)
def line_of(version: str, place: Place, times: int, scheme: Scheme, mode: Mode) -> go.Figure:
    """Return the weights that share the chosen one's step, above the values of their grid."""
    found = steps_of(version, place, times, scheme)
    part = together(place, scheme)
    return rounding_line(
        found.weights[part.start : part.stop],
        found.restored[part.start : part.stop],
        found.grid(place.column),
        place.column - part.start,
        words.LINE_NAMES,
        words.LINE_AXIS,
        words.LINE_ROWS,
        mode,
    )


def read(found: RowSteps, place: Place, scheme: Scheme) -> str:
    """Return what the picture of the grid shows, in a sentence."""
    part = together(place, scheme)
    codes = found.codes[part.start : part.stop]
    error = float(np.abs(found.error[part.start : part.stop]).mean())
    return words.LINE_READ.format(
        count=len(part),
        column=place.column,
        used=len(np.unique(codes)),
        codes=scheme.codes,
        error=number(error),
        share=percent(error / found.scale[place.column]),
    )


def _outlier(state: PageState, found: RowSteps, place: Place, scheme: Scheme) -> None:
    section(words.OUTLIER_TITLE, words.OUTLIER_TEXT)
    label = words.TIMES.format(column=place.column)
    st.slider(label, width=320, **state.ranged("qtimes"))
    times = state["qtimes"]
    figure = line_of(model().version, place, times, scheme, theme())
    st.plotly_chart(figure, key=f"{KEY}.line", theme=None)
    prose(read(found, place, scheme))
    others = damage_of(model().version, place, times, scheme)
    prose(words.DAMAGE.format(times=times, bits=scheme.bits, group=scheme.group))
    rows_table(damage_rows(others), words.DAMAGE_COLUMNS)
    told = damage_read(others)
    if told:
        prose(told)


def damage_rows(found: dict[str, Damage]) -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    return [
        (words.PERS[per], *(_share(one) for one in (d.group, d.row, d.others)))
        for per, d in found.items()
    ]


def _share(value: float | None) -> str:
    return words.NO_OTHERS if value is None else percent(value)


def damage_read(found: dict[str, Damage]) -> str:
    """Return what the table says; nothing where there are no groups or no such other weights."""
    if GROUP not in found:
        return ""
    shares = {
        "tensor": found["tensor"].others,
        "channel": found["channel"].others,
        "row": found["channel"].row,
        "grouped": found["group"].row,
    }
    if any(one is None for one in shares.values()):
        return ""
    return words.DAMAGE_READ.format(**{name: percent(one) for name, one in shares.items()})


def _code(place: Place, scheme: Scheme) -> None:
    from llmviz.quantization.grids import dequantize, grid, quantize_steps

    def printed() -> str:
        found = steps_of(model().version, place, 1, scheme)
        codes = [int(code) for code in found.codes[:6]]
        return f"{codes}\n{[f'{value:.4f}' for value in found.restored[:6]]}"

    show_code(
        [quantize_steps, grid, dequantize],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.quantization.grids import quantize_steps\n"
        "from llmviz.quantization.scheme import Scheme\n\n"
        f"model, tokenizer, card = load_bundled({MODEL!r})\n"
        f"w = model.get_submodule({place.path!r}).weight\n"
        f"steps = quantize_steps(w, {scheme!r})\n"
        f"print(steps.codes[{place.row}, :6].tolist())\n"
        f"print([f'{{value:.4f}}' for value in steps.restored[{place.row}, :6].tolist()])",
        printed,
    )

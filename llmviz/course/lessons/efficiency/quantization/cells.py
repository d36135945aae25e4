"""A row of weights as cells: the number in each, and the arithmetic behind it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.digits import decimals, fixed, quotient
from llmviz.course.lessons.efficiency.quantization.place import Place
from llmviz.course.lessons.efficiency.quantization.quantized_row import RowSteps
from llmviz.course.lessons.efficiency.quantization.setting import KEY
from llmviz.course.ui import kit
from llmviz.quantization.scheme import TENSOR, Scheme

SHOWN = 12  # weights of the row that have cells
WHOLE = ("rounded", "shifted", "codes", "zero_point")  # steps that are whole numbers


def window(place: Place) -> range:
    """Return the columns that have cells, the chosen one among them."""
    first = min(place.column - place.column % SHOWN, max(0, place.columns - SHOWN))
    return range(first, min(place.columns, first + SHOWN))


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
        for name, lines in notes.items():
            lines.append(template[name].format(**values))
    return notes


def draw_cells(state: kit.PageState, steps: RowSteps, place: Place, scheme: Scheme) -> None:
    """Show the cells, with the arithmetic of the one that is pointed at."""
    names, columns = _names(scheme), window(place)
    texts = texts_of(steps, columns)
    notes = notes_of(steps, place, scheme, columns, state["qtimes"])
    arrays = [getattr(steps, name)[columns.start : columns.stop] for name in names]
    shades = np.stack([_shade(values) for values in arrays])
    strong = np.zeros(shades.shape, dtype=bool)
    strong[:, place.column - columns.start] = True
    key = f"{KEY}.cells"

    def keep_cell() -> None:
        cell = st.session_state[key].get("chosen")
        state["qcell"] = "" if cell is None else f"{names[cell[0]]}.{columns[cell[1]]}"

    cell_grid(
        shades,
        key=key,
        row_names=[words.steps[name] for name in names],
        column_names=[words.column.format(column=column) for column in columns],
        texts=[texts[name] for name in names],
        notes=[notes[name] for name in names],
        strong=strong,
        limit=1.0,
        label=words.grid,
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

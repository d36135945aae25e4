"""One row of a matrix as cells, from its weights to their codes and back."""

from collections.abc import Callable

import streamlit as st

from llmviz.course.lessons.efficiency.quantization import outlier, words
from llmviz.course.lessons.efficiency.quantization.cells import draw_cells
from llmviz.course.lessons.efficiency.quantization.place import Place, place_of, steps_of
from llmviz.course.lessons.efficiency.quantization.setting import MODEL, model
from llmviz.course.ui import kit
from llmviz.quantization.scheme import Scheme

BOX = 124  # pixels, of a box for a number; below 120 it has no buttons


def draw(state: kit.PageState, scheme: Scheme) -> None:
    """Show the row and what enlarging a weight does.

    Raises ValueError for a scheme that does not fit the matrix.
    """
    kit.section(words.row_section)
    _controls(state)
    place = place_of(state)
    steps = steps_of(model(), place, state["qtimes"], scheme)
    draw_cells(state, steps, place, scheme)
    bits = scheme.bits_per_weight(place.rows, place.columns)
    kept = words.symmetric_kept if scheme.symmetric else words.asymmetric_kept
    kit.prose(words.step_kept, bits=bits, kept=kept)
    _code(place, scheme)
    outlier.draw(state, steps, place, scheme)


def _controls(state: kit.PageState) -> None:
    other_matrix = state.setter(qrow=-1, qweight=-1, qtimes=1)
    other_row = state.setter(qweight=-1, qtimes=1)
    last = len(model().model.blocks) - 1
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if last > 0:
            st.number_input(
                words.layer, width=BOX, **state.ranged("qlayer", most=last, then=other_matrix)
            )
        kit.choose(state, "qmatrix", words.matrix, words.matrices, then=other_matrix)
        place = place_of(state)
        boxes = (("qrow", words.row, place.row, place.rows, other_row),)
        boxes += (("qweight", words.weight, place.column, place.columns, None),)
        for control, label, value, size, then in boxes:
            _number(state, control, label, value, size, then)


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


def _code(place: Place, scheme: Scheme) -> None:
    from llmviz.quantization.grids import dequantize, grid, quantize_steps

    def printed() -> str:
        steps = steps_of(model(), place, 1, scheme)
        codes = [int(code) for code in steps.codes[:6]]
        return f"{codes}\n{[f'{value:.4f}' for value in steps.restored[:6]]}"

    kit.show_code(
        [quantize_steps, grid, dequantize],
        words.snippet_row.format(model=MODEL, path=place.path, scheme=scheme, row=place.row),
        printed,
    )

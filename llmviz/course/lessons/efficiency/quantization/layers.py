"""How far each matrix is off on the learner's text, with and without scaling by activations."""

import streamlit as st

from llmviz.course.figures.quantization import error_bars
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.quantization_errors import (
    MatrixError,
    matrix_errors,
)
from llmviz.course.lessons.efficiency.quantization.setting import KEY, MODEL, model
from llmviz.course.ui import engine, kit
from llmviz.quantization.awq import MOST_ROWS
from llmviz.quantization.model import QuantizedModel, quantize_model
from llmviz.quantization.quantized_models import AWQ, CALIBRATED_ON, ROUNDING, scaled
from llmviz.quantization.scheme import Scheme

rounded_from = kit.kept(8)(kit.on_model_and_tokenizer(scaled))


@kit.kept(4)
def small_of(bundled: engine.Bundled, scheme: Scheme, method: str) -> QuantizedModel:
    """Return the model on the grid."""
    return quantize_model(rounded_from(bundled, scheme, method), scheme)


@kit.kept(32)
def errors_of(
    bundled: engine.Bundled, scheme: Scheme, method: str, ids: tuple[int, ...]
) -> tuple[MatrixError, ...]:
    """Return the errors of each matrix on a text."""
    return tuple(matrix_errors(rounded_from(bundled, scheme, method), ids, scheme))


def text_of(state: kit.PageState) -> str | None:
    """Show the box of the text; None, after one clear line, where there is nothing to read."""
    kit.text_area(state, "qtext", words.text_label, height=100)
    return kit.readable(state["qtext"], kit.LOOKED_AT, words.empty, kit.TOO_LONG)


def draw(state: kit.PageState, scheme: Scheme) -> str | None:
    """Show the section; return the learner's text. Raises ValueError as quantization does."""
    kit.section(words.layers)
    anew = state.setter(qmeasured=False)
    kit.choose(state, "qmethod", words.method, words.methods, then=anew)
    if state["qmethod"] == AWQ:
        kit.prose(words.awq_text, texts=CALIBRATED_ON, tokens=MOST_ROWS)
    text = text_of(state)
    if text is None:
        return None
    ids = tuple(model().tokenizer.encode_from_start(text)[: model().model.context_length])
    errors = errors_of(model(), scheme, state["qmethod"], ids)
    kit.chart(bars(model(), scheme, state["qmethod"], ids, kit.theme()), f"{KEY}.layers")
    largest = largest_of(errors_of(model(), scheme, ROUNDING, ids))
    kit.prose(report(errors, largest))
    st.button(words.show_row, icon=":material/visibility:", on_click=_show, args=(state, largest))
    _code(scheme, ids[:16])
    return text


def _show(state: kit.PageState, error: MatrixError) -> None:
    _, layer, matrix = error.path.split(".", 2)
    state["qlayer"], state["qmatrix"] = int(layer), matrix
    state["qrow"], state["qweight"] = error.row, error.column
    state["qtimes"], state["qview"] = 1, "row"


def name_of(path: str) -> str:
    """Return how a matrix is called: its layer and what it is for."""
    _, layer, matrix = path.split(".", 2)
    return f"{layer}: {words.matrices.get(matrix, matrix)}"


@kit.kept(32)
def bars(
    bundled: engine.Bundled, scheme: Scheme, method: str, ids: tuple[int, ...], mode: kit.Mode
) -> kit.Figure:
    """Return both errors of each matrix."""
    errors = errors_of(bundled, scheme, method, ids)
    both = tuple([getattr(error, kind) for error in errors] for kind in ("weights", "outputs"))
    labels = [name_of(error.path) for error in errors]
    return error_bars(labels, both, words.layers_names, words.layers_axis, mode)


def largest_of(errors: tuple[MatrixError, ...]) -> MatrixError:
    """Return the matrix with the largest weight, measured by its typical one."""
    return max(errors, key=lambda error: error.largest)


def report(errors: tuple[MatrixError, ...], largest: MatrixError) -> str:
    """Return which matrices are off most and least, and where the largest weight is."""
    worst = max(errors, key=lambda error: error.outputs)
    best = min(errors, key=lambda error: error.outputs)
    return words.layers_read.format(
        worst=f"“{name_of(worst.path)}”",
        most=kit.percent(worst.outputs),
        best=f"“{name_of(best.path)}”",
        least=kit.percent(best.outputs),
        outlier=f"“{name_of(largest.path)}”",
        row=largest.row,
        times=largest.largest,
    )


def _code(scheme: Scheme, ids: tuple[int, ...]) -> None:
    def printed() -> str:
        first = errors_of(model(), scheme, ROUNDING, ids)[0]
        return f"{first.path} {first.weights:.3f} {first.outputs:.3f}"

    kit.show_code(
        [matrix_errors, scaled],
        words.snippet_layers.format(model=MODEL, ids=ids, scheme=scheme),
        printed,
    )

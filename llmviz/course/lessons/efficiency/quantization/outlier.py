"""One large weight: the grid of those that share its step as a line, and the errors of others."""

import numpy as np
import streamlit as st

from llmviz.course.figures.quantization import rounding_line
from llmviz.course.lessons.efficiency.quantization import words
from llmviz.course.lessons.efficiency.quantization.digits import decimals, fixed
from llmviz.course.lessons.efficiency.quantization.place import Place, steps_of
from llmviz.course.lessons.efficiency.quantization.quantized_row import (
    Damage,
    RowSteps,
    damage,
    with_large_weight,
)
from llmviz.course.lessons.efficiency.quantization.setting import KEY, model, values_told
from llmviz.course.ui import engine, kit
from llmviz.quantization.scheme import GROUP, Scheme


@kit.kept(64)
def damage_of(
    bundled: engine.Bundled, place: Place, times: int, scheme: Scheme
) -> dict[str, Damage]:
    """Return what the weight does to the others."""
    w = with_large_weight(bundled.model, place.path, place.row, place.column, times)
    return damage(w, place.row, place.column, scheme)


def together(place: Place, scheme: Scheme) -> range:
    """Return the columns of the row that share a step with the chosen one."""
    size = scheme.group_size(place.columns)
    first = place.column - place.column % size
    return range(first, first + size)


@kit.kept(64)
def line_of(
    bundled: engine.Bundled, place: Place, times: int, scheme: Scheme, mode: kit.Mode
) -> kit.Figure:
    """Return the weights that share the chosen one's step, above the values of their grid."""
    steps = steps_of(bundled, place, times, scheme)
    part = together(place, scheme)
    return rounding_line(
        steps.weights[part.start : part.stop],
        steps.restored[part.start : part.stop],
        steps.grid(place.column),
        place.column - part.start,
        words.line_names,
        words.line_axis,
        words.line_rows,
        mode,
    )


def read(steps: RowSteps, place: Place, scheme: Scheme) -> str:
    """Return what the picture of the grid shows, in a sentence."""
    part = together(place, scheme)
    codes = steps.codes[part.start : part.stop]
    error = float(np.abs(steps.error[part.start : part.stop]).mean())
    return words.line_read.format(
        count=len(part),
        column=place.column,
        used=len(np.unique(codes)),
        codes=scheme.codes,
        error=fixed(error, decimals(steps.scale[part.start : part.stop])),
        share=kit.percent(error / steps.scale[place.column]),
    )


def draw(state: kit.PageState, steps: RowSteps, place: Place, scheme: Scheme) -> None:
    """Show the section; found: the row with its weight enlarged as the slider says."""
    kit.section(words.outlier)
    label = words.times.format(column=place.column)
    st.slider(label, width=320, **state.ranged("qtimes"))
    times = state["qtimes"]
    kit.chart(line_of(model(), place, times, scheme, kit.theme()), f"{KEY}.line")
    if values_told(scheme):
        kit.prose(read(steps, place, scheme))
    others = damage_of(model(), place, times, scheme)
    known = {"times": times, "bits": scheme.bits, "group": scheme.group, "ways": len(others)}
    kit.prose(words.damage, **known)
    kit.rows_table(damage_rows(others), words.damage_columns)
    line = damage_read(others)
    if line:
        kit.prose(line)


def damage_rows(damages: dict[str, Damage]) -> list[tuple[str, ...]]:
    """Return the rows of the table."""
    return [
        (words.pers[per], *(_share(share) for share in (d.group, d.row, d.others)))
        for per, d in damages.items()
    ]


def _share(value: float | None) -> str:
    return words.no_others if value is None else kit.percent(value)


def damage_read(damages: dict[str, Damage]) -> str:
    """Return what the table says; nothing where there are no groups or no such other weights."""
    if GROUP not in damages:
        return ""
    shares = {
        "tensor": damages["tensor"].others,
        "channel": damages["channel"].others,
        "row": damages["channel"].row,
        "grouped": damages["group"].row,
    }
    if any(share is None for share in shares.values()):
        return ""
    return words.damage_read.format(**{name: kit.percent(share) for name, share in shares.items()})

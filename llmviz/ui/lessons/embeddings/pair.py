"""Part of the chapter "How alike": dot product, distance and cosine of two vectors, worked out.

C width of a vector.
"""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from llmviz.figures import embeddings as figures
from llmviz.similarity import (
    VectorTable,
    cosine_terms,
    euclidean_terms,
    in_plane,
    measure_all,
    pairwise,
    unit_rows,
)
from llmviz.ui import components as lv
from llmviz.ui.lesson import Question, predict, section, show_code
from llmviz.ui.lessons.common import percent, refuse, signed, theme
from llmviz.ui.lessons.embeddings import cells, mistake, sides
from llmviz.ui.lessons.embeddings.params import TYPED, parse_vector
from llmviz.ui.lessons.embeddings.sides import Side
from llmviz.ui.lessons.embeddings.words import similarity as words
from llmviz.ui.prose import prose, quote
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_plotly

KEY = "embeddings.pair"
ROOMY = 12  # columns up to which every cell shows its number


def draw(state: PageState, table: VectorTable) -> None:
    """Show two vectors and every number of what is made of them."""
    st.segmented_control(
        words.KIND,
        list(words.KINDS),
        format_func=words.KINDS.__getitem__,
        required=True,
        wrap=True,
        **state.bind("kind"),
    )
    try:
        with st.container():
            both = sides.READ[state["kind"]](state, table)
        if both is not None:
            _compare(state, table, *both)
    except ValueError as error:
        refuse(error)
    mistake.draw()


def _compare(state: PageState, table: VectorTable, a: Side, b: Side) -> None:
    gap = euclidean_terms(a.values, b.values)
    # Places that may stay empty: where an element more would push the pictures down, they
    # would be built anew and forget their kept cells.
    problem, terms = st.container(), None
    try:
        terms = cosine_terms(a.values, b.values)
    except ValueError as error:
        with problem:
            refuse(error)
            prose(words.ZERO)
    dot = float(a.values @ b.values)
    with st.container(horizontal=True):
        st.metric(words.DOT, _shown(dot))
        st.metric(words.DISTANCE, _shown(gap.distance))
        if terms:
            st.metric(words.COSINE, _shown(terms.cosine))
            angle = math.degrees(math.acos(terms.cosine))
            st.metric(words.ANGLE_LABEL, words.ANGLE.format(angle=angle))
    section(words.STEPS_TITLE, words.STEPS_TEXT.format(width=a.values.size))
    _steps(state, a, b)
    _largest(a, b, dot)
    section(words.SUMS_TITLE, words.SUMS_TEXT)
    with st.container():
        if terms:
            prose(
                words.SUMS_LINE.format(
                    dot=_shown(dot),
                    a=_shown(terms.norm_a),
                    b=_shown(terms.norm_b),
                    cosine=_shown(terms.cosine),
                )
            )
    left, right = st.columns([5, 4], gap="large")
    with left:
        _sums(state, a, b, terms is not None)
    if terms:
        with right:
            st.plotly_chart(
                figures.arrows(
                    in_plane(a.values, b.values),
                    [f"A {escape_plotly(a.short)}", f"B {escape_plotly(b.short)}"],
                    words.GAP.format(distance=gap.distance),
                    theme(),
                ),
                key=f"{KEY}.plane",
                theme=None,
                config={"displayModeBar": False},
            )
            st.caption(words.PLANE)
        _three(state)
        _rank(table, a, b)
        _ask(a, b)
        _code(state, table, a, b)


def _shown(value: float) -> str:
    return f"{value:.4f}".replace("-", "−") if abs(value) < 1e4 else f"{value:.4g}"


def _steps(state: PageState, a: Side, b: Side) -> None:
    difference = a.values - b.values
    names = words.VECTORS
    rows = [
        (names["A"], a.values, f"{a.name} · {a.what}", "residual", None),
        (names["B"], b.values, f"{b.name} · {b.what}", "residual", None),
        (
            names["products"],
            a.values * b.values,
            "",
            "residual",
            lv.multiply(names["A"], names["B"]),
        ),
        (names["gaps"], difference, "", "neutral", lv.subtracted(names["A"], names["B"])),
        (
            names["squares"],
            difference**2,
            "",
            "residual",
            lv.multiply(names["gaps"], names["gaps"]),
        ),
    ]
    limit = float(max(np.abs(a.values).max(), np.abs(b.values).max())) or None
    cells.show(
        state,
        [
            lv.Matrix(
                name,
                values[None],
                formula=what,
                role=role,
                op=op,
                limit=limit if op is None else None,
                row_sums=name in (names["products"], names["squares"]),
                col_labels=[str(j) for j in range(values.size)] if values.size <= ROOMY else (),
            )
            for name, values, what, role, op in rows
        ],
        [[name] for name, *_ in rows],
        key=f"{KEY}.steps",
        control="term",
        stacked=True,
    )


def _largest(a: Side, b: Side, dot: float) -> None:
    products = a.values * b.values
    at = int(np.abs(products).argmax())
    prose(
        words.LARGEST.format(
            column=at,
            a=_shown(a.values[at]),
            b=_shown(b.values[at]),
            product=_shown(products[at]),
            width=products.size,
            dot=_shown(dot),
            positive=int((products > 0).sum()),
        )
    )


def _sums(state: PageState, a: Side, b: Side, defined: bool) -> None:
    """Draw the sums, lengths and measures as cells that open; the vectors are operands only."""
    of, vectors = words.LABELS, words.VECTORS
    gap = a.values - b.values
    made: list[lv.Matrix] = [
        lv.Matrix(vectors["A"], a.values[None], role="residual"),
        lv.Matrix(vectors["B"], b.values[None], role="residual"),
        lv.Matrix(vectors["gaps"], gap[None]),
    ]

    def cell(name: str, value: float, op: lv.Op, role: str = "neutral") -> None:
        made.append(lv.Matrix(of[name], np.array([[value]]), op=op, role=role))

    def product(x: str, y: str) -> lv.Op:
        return lv.matmul(vectors[x], vectors[y], transpose_b=True)

    aa, bb, dot = (
        float(x @ y) for x, y in ((a.values,) * 2, (b.values,) * 2, (a.values, b.values))
    )
    cell("AA", aa, product("A", "A"))
    cell("a", math.sqrt(aa), lv.function(of["AA"], "√"))
    cell("BB", bb, product("B", "B"))
    cell("b", math.sqrt(bb), lv.function(of["BB"], "√"))
    cell("dot", dot, product("A", "B"))
    cell("sum", float(gap @ gap), product("gaps", "gaps"))
    cell("distance", float(np.sqrt(gap @ gap)), lv.function(of["sum"], "√"), "value")
    layout = [
        [of["AA"], "√", of["a"]],
        [of["BB"], "√", of["b"]],
        [of["dot"]],
        [of["sum"], "√", of["distance"]],
    ]
    if defined:
        lengths = math.sqrt(aa) * math.sqrt(bb)
        cell("ab", lengths, lv.multiply(of["a"], of["b"]))
        cosine = cosine_terms(a.values, b.values).cosine
        cell("cosine", cosine, lv.divided(of["dot"], of["ab"]), "value")
        layout[2:3] = [[of["dot"], "÷", of["ab"]], [None, "=", of["cosine"]]]
    cells.show(
        state,
        made,
        layout,
        key=f"{KEY}.sums",
        control="kept",
        numbers=True,
    )


def _three(state: PageState) -> None:
    """Draw the cosines of all three typed vectors, where they have any."""
    if state["kind"] != "numbers":
        return
    try:
        vectors = np.array([parse_vector(state[name]) for name in TYPED])
        alike = pairwise(vectors)
    except ValueError:  # one is missing, of another length, or zero: the pair has been shown
        return
    unit = unit_rows(vectors)
    of = {"row_labels": list(TYPED)}
    cells.show(
        state,
        [
            lv.Matrix(words.UNIT, unit, "", words.UNIT_FORMULA, role="residual", **of),
            lv.Matrix(
                words.LIST_LABEL,
                alike,
                role="value",
                limit=1.0,
                col_labels=list(TYPED),
                op=lv.matmul(words.UNIT, words.UNIT, transpose_b=True),
                **of,
            ),
        ],
        [[words.UNIT], [words.LIST_LABEL]],
        key=f"{KEY}.three",
        control="open",
    )


def _rank(table: VectorTable, a: Side, b: Side) -> None:
    """Say where the cosine stands among those of all tokens with the first word."""
    if len(a.ids) != 1 or len(b.ids) != 1 or a.ids == b.ids:
        return
    alike = measure_all(table.matrix, a.values)
    alike[a.ids[0]] = np.nan
    above = int((alike > alike[b.ids[0]]).sum())
    prose(
        words.RANK.format(
            cosine=signed(alike[b.ids[0]]),
            count=int(np.isfinite(alike).sum()),
            above=above,
            word=quote(a.name),
            other=quote(b.name),
            share=percent(above / np.isfinite(alike).sum()),
        )
    )


def _ask(a: Side, b: Side) -> None:
    twice = cosine_terms(2 * a.values, b.values)
    about = {
        "c": signed(twice.cosine),
        "dot": _shown(twice.dot),
        "length": _shown(twice.norm_a),
        "b": _shown(twice.norm_b),
    }
    predict(
        Question(
            words.ASK_DOUBLE.format(**about),
            words.ASK_DOUBLE_ANSWERS,
            1,
            [reason.format(**about) for reason in words.ASK_DOUBLE_REASONS],
        ),
        f"{KEY}.double",
    )


def _code(state: PageState, table: VectorTable, a: Side, b: Side) -> None:
    lines = ["from llmviz.similarity import cosine_terms, euclidean_terms"]
    if a.ids:
        lines += [
            "from llmviz.ui.lessons.embeddings.sources import table",
            "",
            f"vectors = table({table.name!r})",
            f"a, b = vectors.mean({list(a.ids)}), vectors.mean({list(b.ids)})",
        ]
    else:
        lines += ["", f"a, b = {a.values.tolist()}, {b.values.tolist()}"]
    lines += [
        "terms = cosine_terms(a, b)",
        'print(f"{terms.dot:.4f} {terms.cosine:.4f}")',
        'print(f"{euclidean_terms(a, b).distance:.4f}")',
    ]
    terms = cosine_terms(a.values, b.values)
    distance = euclidean_terms(a.values, b.values).distance
    show_code(
        [cosine_terms, euclidean_terms, in_plane],
        "\n".join(lines),
        f"{terms.dot:.4f} {terms.cosine:.4f}\n{distance:.4f}",
    )

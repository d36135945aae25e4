"""Part of the chapter "How alike": the numbers of two vectors, and of their measures, as cells.

C width of a vector.
"""

import math

import numpy as np

from llmviz.course import components as lv
from llmviz.course.lessons.embeddings.similarity import TYPED, parse_vector, words
from llmviz.course.lessons.embeddings.similarity.vector_sources import Side
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.similarity import cosine_terms, pairwise, unit_rows

KEY = "embeddings.pair"
ROOMY = 12  # columns up to which every cell shows its number


def steps(state: kit.PageState, a: Side, b: Side) -> None:
    """Draw both vectors and their products."""
    names = words.vectors
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
                row_sums=name == names["products"],
                col_labels=[str(j) for j in range(values.size)] if values.size <= ROOMY else (),
            )
            for name, values, what, role, op in rows
        ],
        [[name] for name, *_ in rows],
        key=f"{KEY}.steps",
        control="term",
        stacked=True,
    )


def sums(state: kit.PageState, a: Side, b: Side, *, defined: bool) -> None:
    """Draw the sums, lengths and measures as cells that open; the vectors are operands only."""
    of, vectors = words.labels, words.vectors
    gap = a.values - b.values
    matrices: list[lv.Matrix] = [
        lv.Matrix(vectors["A"], a.values[None], role="residual"),
        lv.Matrix(vectors["B"], b.values[None], role="residual"),
        lv.Matrix(vectors["gaps"], gap[None]),
    ]

    def cell(name: str, value: float, op: lv.Op, role: str = "neutral") -> None:
        matrices.append(lv.Matrix(of[name], np.array([[value]]), op=op, role=role))

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
        matrices,
        layout,
        key=f"{KEY}.sums",
        control="kept",
        numbers=True,
    )


def three(state: kit.PageState) -> None:
    """Draw the cosines of all three typed vectors, where they have any."""
    if state["kind"] != "numbers":
        return
    try:
        vectors = np.array([parse_vector(state[name]) for name in TYPED])
        alike = pairwise(vectors)
    except ValueError:  # one is missing, of another length, or zero: the pair is drawn
        return
    unit = unit_rows(vectors)
    of = {"row_labels": list(TYPED)}
    cells.show(
        state,
        [
            lv.Matrix(words.unit, unit, "", words.unit_formula, role="residual", **of),
            lv.Matrix(
                words.list_label,
                alike,
                role="value",
                limit=1.0,
                col_labels=list(TYPED),
                op=lv.matmul(words.unit, words.unit, transpose_b=True),
                **of,
            ),
        ],
        [[words.unit], [words.list_label]],
        key=f"{KEY}.three",
        control="open",
    )

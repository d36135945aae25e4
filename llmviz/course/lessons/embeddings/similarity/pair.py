"""Part of the chapter "How alike": dot product, distance and cosine of two vectors, worked out.

C width of a vector.
"""

import math

import numpy as np
import streamlit as st

from llmviz.course.components.arrows.view import arrows
from llmviz.course.lessons.embeddings.similarity import pair_cells, words
from llmviz.course.lessons.embeddings.similarity import vector_sources as sides
from llmviz.course.lessons.embeddings.similarity.vector_sources import Side
from llmviz.course.ui import kit
from llmviz.course.ui.paint_order import before_controls, pictures_first
from llmviz.interpretability.vector_tables import measured
from llmviz.similarity import CosineTerms, VectorTable, cosine_terms, euclidean_terms, in_plane

KEY = "embeddings.pair"
FACTORS = (2, -2, 3, -3)  # what A is multiplied by in the question


def draw(state: kit.PageState, table: VectorTable) -> str:
    """Show two vectors and every number of their measures; return what was seen, once asked."""
    try:
        with before_controls(st.container(), lambda: _controls(state)):
            with st.container():
                both = sides.READ[state["kind"]](state, table)
            if both is None:
                return ""
            terms = _compare(state, *both)
        if _sums(state, table, *both, terms) and terms:
            return words.end_pair.format(
                dot=_number(terms.dot),
                distance=_number(euclidean_terms(both[0].values, both[1].values).distance),
                cosine=_number(terms.cosine),
            )
    except ValueError as error:
        kit.refuse(error)
    return ""


def _controls(state: kit.PageState) -> None:
    kit.choose(state, "kind", words.kind, words.kinds)
    sides.BOXES[state["kind"]](state)


def _compare(state: kit.PageState, a: Side, b: Side) -> CosineTerms | None:
    """Show the measures of two vectors and every product; return the cosine's terms, if any."""
    gap = euclidean_terms(a.values, b.values)
    # Places that may stay empty: where an element more would push the pictures down, they
    # would be built anew and forget their kept cells.
    problem, terms = st.container(), None
    try:
        terms = cosine_terms(a.values, b.values)
    except ValueError as error:
        with problem:
            kit.refuse(error)
            kit.prose(words.zero)
    dot = float(a.values @ b.values)
    with st.container(horizontal=True):
        st.metric(words.dot, _number(dot))
        st.metric(words.distance, _number(gap.distance))
        if terms:
            st.metric(words.cosine, _number(terms.cosine))
            angle = math.degrees(math.acos(terms.cosine))
            st.metric(words.angle_label, words.angle.format(angle=angle))
    kit.section(words.steps, width=a.values.size)
    pair_cells.steps(state, a, b)
    _largest(a, b, dot)
    return terms


def _sums(
    state: kit.PageState, table: VectorTable, a: Side, b: Side, terms: CosineTerms | None
) -> bool:
    """Show how the products come together, and the two vectors in their plane.

    Returns whether the question about them was answered, or there is none.
    """
    kit.section(words.sums)
    with st.container():
        if terms:
            kit.prose(
                words.sums_line,
                dot=_number(terms.dot),
                a=_number(terms.norm_a),
                b=_number(terms.norm_b),
                cosine=_number(terms.cosine),
            )
    left, right = st.columns([5, 4], gap="large")
    with left:
        pair_cells.sums(state, a, b, defined=terms is not None)
    if terms:
        with right:
            arrows(
                in_plane(a.values, b.values),
                [f"A {a.short}".strip(), f"B {b.short}".strip()],
                words.gap.format(distance=euclidean_terms(a.values, b.values).distance),
                axes=words.plane_axes,
                key=f"{KEY}.plane",
                words=words.plane_words,
            )
            st.caption(words.plane)
        pair_cells.three(state)
        pictures_first()
        _rank(table, a, b)
        shown = _ask(a, b)
        _code(table, a, b)
        return shown
    return False


def _number(value: float) -> str:
    """Four decimals, or four digits of a number for which those are too many or too few."""
    plain = value == 0 or 1e-3 <= abs(value) < 1e4
    return (f"{value:.4f}" if plain else f"{value:.4g}").replace("-", "−")


def _largest(a: Side, b: Side, dot: float) -> None:
    products = a.values * b.values
    at = int(np.abs(products).argmax())
    kit.prose(
        words.largest,
        column=at,
        a=_number(a.values[at]),
        b=kit.operand(_number(b.values[at])),
        product=_number(products[at]),
        width=products.size,
        dot=_number(dot),
        positive=kit.count(int((products > 0).sum()), "is", "are"),
    )


def _rank(table: VectorTable, a: Side, b: Side) -> None:
    """Say where the cosine stands among those of all tokens with the first word."""
    if len(a.ids) != 1 or len(b.ids) != 1 or a.ids == b.ids:
        return
    alike = measured(table, a.ids[0]).copy()
    alike[a.ids[0]] = np.nan
    above = int((alike > alike[b.ids[0]]).sum())
    kit.prose(
        words.rank,
        cosine=kit.signed(alike[b.ids[0]]),
        count=int(np.isfinite(alike).sum()),
        above=above,
        word=kit.quote(a.name),
        other=kit.quote(b.name),
        share=kit.percent(above / np.isfinite(alike).sum()),
    )


def _ask(a: Side, b: Side) -> bool:
    question = factor_question(a.values, b.values)
    return question is None or kit.predict(question, f"{KEY}.factor", covers=True)


def factor_question(a: np.ndarray, b: np.ndarray) -> kit.Question | None:
    """Return the question what the cosine is when A (C,) is multiplied by a number.

    The number is 2, 3, −2 or −3, by the digits of the cosine. None where the answers look alike.
    """
    now = cosine_terms(a, b)
    factor = FACTORS[round(abs(now.cosine) * 1000) % len(FACTORS)]
    then = cosine_terms(factor * a, b)
    about = {
        "factor": f"{factor}".replace("-", "−"),
        "c": kit.signed(now.cosine),
        "dot": _number(then.dot),
        "length": _number(then.norm_a),
        "b": kit.operand(_number(then.norm_b)),
        "new": kit.signed(then.cosine),
    }
    other = words.ask_factor_turned if factor > 0 else words.ask_factor_same
    reasons = {
        kit.signed(then.cosine): words.ask_factor_right,
        kit.signed(-then.cosine): other,
        kit.signed(factor * now.cosine): words.ask_factor_product,
    }
    if len(reasons) < 3 or "0.00" in reasons or "−0.00" in reasons:
        return None
    return kit.Question.among(words.ask_factor, reasons, kit.signed(then.cosine), **about)


def _code(table: VectorTable, a: Side, b: Side) -> None:
    if a.ids:
        text = words.snippet_rows.format(name=table.name, a=list(a.ids), b=list(b.ids))
    else:
        text = words.snippet_typed.format(a=a.values.tolist(), b=b.values.tolist())
    terms = cosine_terms(a.values, b.values)
    distance = euclidean_terms(a.values, b.values).distance
    prints = f"{terms.dot:.4f} {terms.cosine:.4f}\n{distance:.4f}"
    ran = [cosine_terms, euclidean_terms, in_plane]
    kit.show_code(ran, f"{text}\n{words.snippet_pair.format()}", prints)

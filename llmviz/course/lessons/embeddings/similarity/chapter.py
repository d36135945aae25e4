"""Chapter "How alike": two vectors, and the nearest of a whole vocabulary."""

import math
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.arrows.view import arrows
from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.similarity import (
    TYPED,
    neighbours,
    parse_vector,
    word_sums,
    words,
)
from llmviz.course.lessons.embeddings.similarity.sums_model import candidates
from llmviz.course.lessons.embeddings.similarity.vector_sources import BOXES, READ, Side
from llmviz.course.ui import kit
from llmviz.course.ui import pinned_cells as cells
from llmviz.interpretability.vector_tables import measured
from llmviz.similarity import (
    CosineTerms,
    VectorTable,
    cosine_terms,
    euclidean_terms,
    in_plane,
    pairwise,
    unit_rows,
)

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


def sum_cells(state: kit.PageState, a: Side, b: Side, *, defined: bool) -> None:
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
    of: dict[str, Any] = {"row_labels": list(TYPED)}
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


KEY = "embeddings.pair"
GUESS = f"{KEY}.alike"
NEARLY = 0.95  # the cosine that somebody expects of two words of one kind
APART = 0.12  # between the answers of the question
CAPITALS = ("Paris", "London", "Tokyo", "France", "Japan", "Italy")  # that the looks compare


class Seen(NamedTuple):
    """The two vectors of the stage, and the terms of their cosine if there is one."""

    a: Side
    b: Side
    terms: CosineTerms | None


def draw_pair(state: kit.PageState, table: VectorTable) -> Seen | None:
    """Show two vectors, their products, and a guess how alike they are.

    Returns them once that is told.
    """
    both = None
    try:
        both = READ[state["kind"]](state, table)
        if both is None:
            return None
        steps(state, *both)
        a, b = both
        terms = cosine_terms(a.values, b.values)
    except ValueError as error:
        kit.refuse(error)
        if both is None:
            return None
        kit.prose(words.zero)
        a, b = both
        return Seen(a, b, None)
    guess = kit.Guess(GUESS, alike_question(table, a, b, terms))
    _alike(guess, table, a, b, terms)
    guess.ask()
    if guess.asks:
        return None
    if a.short and a.ids and a.ids == b.ids:
        kit.prose(words.same_row, word=_said(a))
    kit.prose(caption(a, b, terms))
    return Seen(a, b, terms)


def caption(a: Side, b: Side, terms: CosineTerms) -> str:
    """Return how many products pull together, and what they add up to."""
    products = a.values * b.values
    return words.caption.format(
        positive=kit.count(int((products > 0).sum()), "is", "are"),
        products=kit.count(products.size, "product"),
        dot=_number(terms.dot),
        cosine=kit.signed(terms.cosine),
        angle=math.degrees(math.acos(terms.cosine)),
    )


def _alike(guess: kit.Guess, table: VectorTable, a: Side, b: Side, terms: CosineTerms) -> None:
    """Draw how alike the two are; beside it, for two tokens, what is nearest to the first."""
    told, levels = [], []
    if len(a.ids) == len(b.ids) == 1:
        alike = np.delete(measured(table, a.ids[0]), a.ids[0])
        if (rest := alike[np.isfinite(alike)]).size:
            told = [(a.name, 1.0), sources.likest_of(table, a.ids[0])]
            levels = [(float(np.median(rest)), words.median)]
    rows = [(name, value, "residual") for name, value in told if name != b.name]
    cases = [
        kit.Case(
            [(words.and_other.format(a=a.name), False), (name, True)],
            *(value, None, (), kit.signed(value)),
            role=role,
        )
        for name, value, role in [*rows, (b.name, terms.cosine, "query")]
    ]
    guess.cases(
        cases,
        kit.Axis(-1, 1, words.list_label),
        veiled=[len(cases) - 1],
        picture=f"{KEY}.alike.rows",
        form="figure",
        mark="dot",
        levels=levels,
    )


def alike_question(table: VectorTable, a: Side, b: Side, terms: CosineTerms) -> kit.Question | None:
    """Return the question how alike two tokens are; None for others, and where the answers are.

    The wrong answers are those of somebody to whom two words of one kind are nearly the same, and
    of one to whom two words are two things.
    """
    if len(a.ids) != 1 or len(b.ids) != 1 or a.ids == b.ids or table.size < 3:
        return None
    reasons = {NEARLY: words.ask_alike_same, 0.0: words.ask_alike_other}
    reasons = {at: why for at, why in reasons.items() if abs(at - terms.cosine) >= APART}
    if not reasons or not np.isfinite(measured(table, a.ids[0])).any():
        return None
    return kit.Question.among(
        words.ask_alike,
        reasons | {terms.cosine: words.ask_alike_right},
        terms.cosine,
        kit.signed,
        a=_said(a),
        b=_said(b),
    )


def _said(side: Side) -> str:
    """Return a word as one says it, without the space that its token begins with."""
    return kit.quote(side.name.strip("·") or side.name)


def sums(state: kit.PageState, table: VectorTable, seen: Seen) -> str:
    """Show how the products come together, and the two vectors in their plane.

    Returns what was seen.
    """
    a, b, terms = seen
    kit.section(words.sums)
    distance = euclidean_terms(a.values, b.values).distance
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
        sum_cells(state, a, b, defined=terms is not None)
    if not terms:
        return ""
    with right:
        arrows(
            in_plane(a.values, b.values),
            [f"A {a.short}".strip(), f"B {b.short}".strip()],
            words.gap.format(distance=distance),
            axes=words.plane_axes,
            key=f"{KEY}.plane",
            words=words.plane_words,
        )
        st.caption(words.plane)
    three(state)
    _code(table, a, b)
    return words.end_pair.format(cosine=_number(terms.cosine))


def titled(state: kit.PageState) -> str:
    """Return the chapter's question about other words than those that it names."""
    own = any(state[key] != state.params[key].default for key in ("word", "other", "kind"))
    return words.title_words if own else ""


@kit.cached(8)
def sums_of_capitals(table: VectorTable) -> dict[str, Any]:
    """Return where sums of capitals and countries come out; empty where a table lacks the words."""
    found: dict[str, Any] = {"count": kit.local(f"{table.size:,}")}
    try:
        of = {word: table.find(word) for word in CAPITALS}
    except ValueError:
        return {}
    for country in ("Japan", "Italy"):
        rows = [of[word] for word in ("Paris", "France", country)]
        near = candidates(table, *rows, exclude_inputs=True)
        others = zip(near.ids.tolist(), near.values.tolist(), strict=True)
        best, cosine = next(
            (row, value)
            for row, value in others
            if not any(sources.same_word(table, row, given) for given in rows)
        )
        found[country] = sources.labels(table)[best].strip("·")
        found[f"{country}_cosine"] = kit.signed(cosine)
    return found


def _number(value: float) -> str:
    """Four decimals, or four digits of a number for which those are too many or too few."""
    plain = value == 0 or 1e-3 <= abs(value) < 1e4
    return kit.local((f"{value:.4f}" if plain else f"{value:.4g}").replace("-", "−"))


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


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show two rows of numbers and how alike they are, then what goes deeper."""
    kit.prose(words.hook)
    with kit.stage("similarity"):
        picture = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            table = sources.choose(state)
            kit.choose(state, "kind", words.kind, words.kinds)
        BOXES[state["kind"]](state)
    if table is None:
        return
    with picture:
        seen = draw_pair(state, table)
    if found := sums_of_capitals(table):
        looks = words.looks_capitals + words.looks_kinds
        kit.looks(state, looks, "embeddings.similarity.capitals", **found)
    else:
        kit.looks(state, words.looks + words.looks_kinds, "embeddings.similarity.looks")
        kit.real_look(state, words.real, "embeddings.similarity.real")
    word_sums.draw(state, table)
    kit.section(words.further)
    kit.choose(state, "look", words.look, words.parts, parts=True)
    _looked(state, table, seen)


@st.fragment
def _looked(state: kit.PageState, table: VectorTable, seen: Seen | None) -> None:
    """What is compared: its controls do not draw the rest of the chapter again."""
    found = ""
    try:
        if state["look"] != "pair":
            found = neighbours.draw(state, table)
        elif seen:
            found = sums(state, table, seen)
    except ValueError as error:  # a row of zeros has no cosine, say
        kit.refuse(error)
    if found:
        kit.seen(words.end, found=found)

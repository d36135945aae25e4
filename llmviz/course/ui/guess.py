"""A guess on the picture: what is asked for is veiled there, and the hand sets it or draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared.transport import component_key
from llmviz.course.components.case_rows.view import Axis, Case, case_rows
from llmviz.course.components.draw_on.view import Drawn, Hand, Scale, draw_on
from llmviz.course.components.matrix_view.view import Matrix, matrix_view
from llmviz.course.ui.question import Question, answered, by_hand, marks_on, settle
from llmviz.course.ui.question import hand_words as words


def guess_cases(
    cases: Sequence[Case],
    axis: Axis,
    question: Question | None,
    key: str,
    *,
    veiled: Sequence[int],
    picture: str,
    **look: Any,
) -> None:
    """Draw cases of which some are told when a question is answered, by dragging them or else.

    veiled: their places, in the order of the numbers that each answer's `values` hold. key: of the
    question; picture: of the picture. look: see `case_rows`. Without a question all is told.
    """
    shown = list(cases)
    told = question is None or answered(question, key)
    if question is not None:
        labels = [cases[at].label for at in veiled]
        marks = marks_on(labels, axis, picture, words.bars, look.get("form", "percent"))
        own = by_hand(question, key, picture, marks, log=axis.log)
        for n, at in enumerate(veiled):
            if not told:
                shown[at] = replace(cases[at], value=None, interval=None, dots=(), note="")
            elif own is not None:
                wrong = [v[n] for v in question.values if v != question.values[question.right]]
                shown[at] = replace(cases[at], guess=own[n], ghosts=wrong)
    on_act = _settled(question, key, picture, log=axis.log)
    case_rows(shown, axis, key=picture, words=words.bars, on_act=on_act, **look)


def guess_line(
    lines: Sequence[Drawn],
    whole: Drawn,
    x: Scale,
    y: Scale,
    question: Question | None,
    key: str,
    *,
    known: int,
    picture: str,
    ghosts: Sequence[Drawn] | None = None,
    **look: Any,
) -> None:
    """Draw lines of which one, `whole`, is told up to its first `known` points before a question.

    The numbers of each answer's `values` are the line's further points. ghosts: lines of what
    somebody might think, drawn once it is told; if not given, the wrong answers. For the rest see
    `guess_cases` and `draw_on`.
    """
    told = question is None or answered(question, key)
    begun = [*lines, replace(whole, x=whole.x[:known], y=whole.y[:known])]
    after = list(whole.x[known:])
    if ghosts is None and question is not None:
        ghosts = [
            Drawn(answer, after, line, "residual", dashed=True)
            for at, (answer, line) in enumerate(zip(question.answers, question.values, strict=True))
            if at != question.right
        ]

    def draw(guesses: Sequence[Sequence[float]]) -> None:
        key, said = component_key("class", picture), words.line | {"picture": whole.label}
        draw_on(begun, x, y, key=key, words=said, hand=Hand(after, others=guesses), **look)

    own = None if question is None else by_hand(question, key, picture, draw, log=y.log)
    shown = [*lines, whole] if told else begun
    draw_on(
        [*shown, *((ghosts or ()) if told and own is not None else ())],
        x,
        y,
        key=picture,
        words=words.line | {"picture": whole.label},
        hand=Hand() if told and own is None else Hand(after, own if told else None),
        on_act=_settled(question, key, picture, log=y.log),
        **look,
    )


def guess_cell(
    matrix: Matrix,
    question: Question | None,
    key: str,
    *,
    row: int,
    picture: str,
    veiled: Sequence[int] = (),
    number: Callable[[int], float] = float,
    **look: Any,
) -> None:
    """Draw a matrix in one row of which a cell is clicked as the guess.

    number: which of the question's values a column stands for. veiled: rows that are told when it
    is answered. For the rest see `guess_cases` and `matrix_view`.
    """
    if question is not None and veiled and not answered(question, key):
        values = np.array(matrix.values, dtype=np.float32)
        values[list(veiled)] = 0
        cells = [(at, column) for at in veiled for column in range(values.shape[1])]
        matrix = replace(matrix, values=values, hidden=cells, row_sums=False)

    def clicked() -> None:
        match st.session_state[picture].get("pinned"):
            case [_, int(at), int(column)] if question is not None and at == row:
                if not answered(question, key) and 0 <= column < np.shape(matrix.values)[1]:
                    settle(question, key, [number(column)])

    matrix_view([matrix], key=picture, on_change=clicked, **look)


def _settled(
    question: Question | None, key: str, picture: str, *, log: bool = False
) -> Callable[[], None]:
    def run() -> None:
        act = st.session_state[picture].get("act")
        if question is not None and isinstance(act, dict):
            settle(question, key, act.get("guess"), log=log)

    return run

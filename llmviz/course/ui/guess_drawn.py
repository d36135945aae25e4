"""The pictures that a guess is made on: bars, a line or a cell, before and after it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components._shared.transport import component_key
from llmviz.course.components.case_rows.view import Axis, Case, Form, case_rows
from llmviz.course.components.draw_on.view import Drawn, Hand, Scale, draw_on
from llmviz.course.components.matrix_view.view import Cell, Matrix, matrix_view
from llmviz.course.document import beside
from llmviz.course.ui.guess_given import GivenGuess
from llmviz.course.ui.question import Question, begins_of

words = beside(__file__, "guess")
# In the session, where somebody lists them: by a picture's key, the question that is answered on it
# (`ByHand`). Who is told has then guessed right.
HANDS = "_hands"


class ByHand(NamedTuple):
    """A question that is answered on a picture; log, line: how near a guess is, see `settle`.

    draw: draws the picture with what all of a class set.
    """

    question: Question
    log: bool
    line: bool
    draw: Callable[[Sequence[Sequence[float]]], None]


class DrawnGuess(GivenGuess):
    """A guess that may be made on a picture; see `guess.Guess`."""

    def _acted(self, picture: str, *, log: bool = False, line: bool = False) -> Callable[[], None]:
        def run() -> None:
            act = st.session_state[picture].get("act")
            if isinstance(act, dict):
                self.settle(act.get("guess"), log=log, line=line)

        return run

    def on(
        self,
        picture: str,
        draw: Callable[[Sequence[Sequence[float]]], None],
        *,
        log: bool = False,
        line: bool = False,
    ) -> list[float] | None:
        """Note that it is made on a picture; return the guess to draw there, if any.

        draw: draws the picture with what all of a class set. log, line: see `settle`.
        """
        self.by_hand = True
        if self.question is None:
            return None
        st.session_state[f"{self._slot}.class"] = draw
        if (listed := st.session_state.get(HANDS)) is None:
            return self.own
        listed[picture] = ByHand(self.question, log, line, draw)
        return list(self.question.values[self.question.right])

    def cases(
        self,
        cases: Sequence[Case],
        axis: Axis,
        *,
        veiled: Sequence[int],
        picture: str,
        marked: bool = True,
        **look: Any,
    ) -> None:
        """Draw cases of which some are told when it is made, by dragging them or else.

        veiled: their places, in the order of the numbers that each answer's `values` hold; once it
        is told, the picture may be without them. picture: the key of the picture. marked: whether,
        once it is told, the guess and the wrong answers stand beside it. look: see `case_rows`.
        Without a question all is told.
        """
        shown, question = list(cases), self.question
        marks = marks_on(
            [cases[at].label for at in veiled], axis, picture, look.get("form", "percent")
        )
        line = len(veiled) > 1
        own = self.on(picture, marks, log=axis.log, line=line)
        rights = [] if question is None else list(question.values[question.right])
        if question is not None and not self.open:
            begins = begins_of(axis.low, axis.high, rights, log=axis.log)
            for at, begin in zip(veiled, begins, strict=True):
                shown[at] = replace(
                    cases[at], value=None, interval=None, dots=(), note="", begin=begin
                )
        elif marked and question is not None and own is not None:
            for n, at in enumerate(veiled):
                others = [values[n] for values in question.values if values[n] != rights[n]]
                shown[at] = replace(cases[at], guess=own[n], ghosts=others)
        on_act = self._acted(picture, log=axis.log, line=line)
        case_rows(shown, axis, key=picture, words=words.bars, on_act=on_act, **look)

    def line(
        self,
        lines: Sequence[Drawn],
        whole: Drawn,
        x: Scale,
        y: Scale,
        *,
        known: int,
        picture: str,
        ghosts: Sequence[Drawn] | None = None,
        **look: Any,
    ) -> None:
        """Draw lines of which one, `whole`, is told up to its first `known` points before.

        The numbers of each answer's `values` are the line's further points. ghosts: lines of what
        somebody might think, drawn once it is told; if not given, the wrong answers. For the rest
        see `cases` and `draw_on`.
        """
        question, told_all = self.question, self.open
        begun = [*lines, replace(whole, x=whole.x[:known], y=whole.y[:known])]
        after = list(whole.x[known:])
        if ghosts is None and question is not None:
            ghosts = [
                Drawn(answer, after, line, "residual", dashed=True)
                for at, (answer, line) in enumerate(
                    zip(question.answers, question.values, strict=True)
                )
                if at != question.right
            ]
        said = words.line | {"picture": whole.label}

        def draw(guesses: Sequence[Sequence[float]]) -> None:
            key = component_key("class", picture)
            fit = [guess for guess in guesses if len(guess) == len(after)]  # of this text
            draw_on(begun, x, y, key=key, words=said, hand=Hand(after, others=fit), **look)

        own = self.on(picture, draw, log=y.log, line=True)
        shown = [*lines, whole] if told_all else begun
        draw_on(
            [*shown, *((ghosts or ()) if told_all and own is not None else ())],
            x,
            y,
            key=picture,
            words=said,
            hand=Hand() if told_all and own is None else Hand(after, own if told_all else None),
            on_act=self._acted(picture, log=y.log, line=True),
            **look,
        )

    def cell(
        self,
        matrix: Matrix,
        *,
        row: int,
        picture: str,
        veiled: Sequence[int] = (),
        number: Callable[[int], float] = float,
        **look: Any,
    ) -> None:
        """Draw a matrix in one row of which a cell is clicked as the guess.

        number: which of the question's values a column stands for. veiled: rows that are told when
        it is made. For the rest see `cases` and `matrix_view`.
        """
        self.by_hand, columns = True, range(np.shape(matrix.values)[1])
        if veiled and not self.open:
            values = np.array(matrix.values, dtype=np.float32)
            values[list(veiled)] = 0
            cells = [(at, column) for at in veiled for column in columns]
            matrix = replace(matrix, values=values, hidden=cells, row_sums=False)
        elif rings := self.rings(row, columns, number):
            matrix = replace(matrix, rings=rings)
            if self.given is not None and (cells := rings[words.cells["right"]]):
                look.setdefault("pinned", Cell(matrix.name, *cells[0]))

        def clicked() -> None:
            match st.session_state[picture].get("pinned"):
                case [_, int(at), int(column)] if at == row and not self.open:
                    if column in columns:
                        self.settle([number(column)])

        matrix_view([matrix], key=picture, on_change=clicked, **look)

    def rings(
        self, row: int, columns: Sequence[int], number: Callable[[int], float] = float
    ) -> dict[str, list[tuple[int, int]]]:
        """Return the cells of a row that are right, and those of another guess, once it is told."""
        if self.question is None or not self._done:
            return {}
        told_as = {words.cells["right"]: list(self.right)}
        if not self.graded and self.own is not None:
            told_as[words.cells["own"]] = self.own
        return {
            name: [(row, at) for at in columns if [number(at)] == value]
            for name, value in told_as.items()
        }


def marks_on(
    labels: Sequence[str | Sequence[tuple[str, bool]]],
    axis: Axis,
    picture: str,
    form: Form = "percent",
) -> Callable[[Sequence[Sequence[float]]], None]:
    """Return what draws the guesses of a class as marks: each has a number for each label."""

    def draw(guesses: Sequence[Sequence[float]]) -> None:
        cases = [
            Case(label, None, dots=[guess[n] for guess in guesses], note=f"{len(guesses)}")
            for n, label in enumerate(labels)
        ]
        case_rows(cases, axis, key=component_key("class", picture), words=words.bars, form=form)

    return draw

"""A guess: asked once, on the picture or in a list, and it ends for everybody with what is right.

Whether it was made is noted under its chapter and its key, not under its words: another text, model
or look asks nobody again, but shows its own result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st

from llmviz.course.components._shared.transport import component_key
from llmviz.course.components.case_rows.view import Axis, Case, Form, case_rows
from llmviz.course.components.draw_on.view import Drawn, Hand, Scale, draw_on
from llmviz.course.components.matrix_view.view import Cell, Matrix, matrix_view
from llmviz.course.components.progress.view import note_answer
from llmviz.course.document import beside
from llmviz.course.document.marks import unmarked
from llmviz.course.ui.class_question import OnPicture, thinks, told
from llmviz.course.ui.notices import wrong
from llmviz.course.ui.prose import prose, to_html
from llmviz.course.ui.question import Question, begin_of
from llmviz.course.ui.state import PageState
from llmviz.course.ui.text import escape_markdown

words = beside(__file__, "guess")
COVERS = True  # False shows everything: tests that look at what is below a question
LARGEST = 1e300  # of the numbers that a hand may set
BOX = "lv-guess-"  # begins the name of the block of a question, before its key
# In the session:
_ALL = "_show_answers"  # whether this visitor's link shows all that questions cover
_PAGE = "_guess_page"  # the state of the page that is shown
_HEAD = "_guess_head"  # the place above a picture where its question will stand
_TOLD, _LINKED = "_guess_told", "_guess_linked"  # chapters with a guess made; those a link opened
# By chapter, of its first question: what was asked, the guess, "" for none, what is right, and
# whether the guess was.
MADE, _FIRST = "_hour_guesses", "_first_guess"
HERE = "_here"  # the place of the chapter that is shown
QUESTIONS = "_asked"  # where somebody lists them: the questions of the page
# Where somebody lists them: by a picture's key, the question that is answered on it (`ByHand`). Who
# is told has then guessed right.
HANDS = "_hands"


_ESCAPED = re.compile(r"\\([^\w\s])")  # a sign that Markdown shows as it is


class Given(NamedTuple):
    """What a visitor gave to a question: the answer, and what was set on the picture, if anything.

    asked: which words and answers were asked. chosen: None where it was only shown.
    """

    asked: int
    chosen: int | None = None
    guess: Sequence[float] = ()

    @classmethod
    def to(cls, question: Question, chosen: int, guess: Sequence[float] = ()) -> Given:
        """Return an answer to a question, by its number."""
        return cls(_content(question), chosen, guess)


SHOWN = Given(0)


class ByHand(NamedTuple):
    """A question that is answered on a picture; log: whether its axis goes by powers.

    draw: draws the picture with what all of a class set.
    """

    question: Question
    log: bool
    draw: Callable[[Sequence[Sequence[float]]], None]


def open_all(shown: bool) -> None:
    """Say whether this visitor's link shows all that questions cover."""
    st.session_state[_ALL] = shown


def enter(place: str, state: PageState, chapter: str = "") -> None:
    """Say which chapter is shown; its address then tells who opens it what was guessed here."""
    session = st.session_state
    session[HERE], session[_PAGE] = place, state
    take_head()  # of another page
    if not chapter or state["show"] == "1":
        return
    told_here = session.setdefault(_TOLD, set())
    if state["show"] == chapter and place not in told_here:
        session.setdefault(_LINKED, set()).add(place)
        told_here.add(place)
    _into_address()


def _into_address() -> None:
    place, state = st.session_state.get(HERE, ""), st.session_state.get(_PAGE)
    chapter = place.partition("/")[2]
    if state is None or not chapter or state["show"] == "1":
        return
    told_here = chapter if place in st.session_state.get(_TOLD, ()) else ""
    if state["show"] != told_here:
        state["show"] = told_here


def keep_head(block: Any, *, for_lists: bool = True) -> None:
    """Keep the top of a stage, or of a section, for the question about the picture below.

    for_lists: also for one that is answered in a list.
    """
    st.session_state[_HEAD] = block.container(), for_lists


def take_head(*, by_hand: bool = False) -> Any:
    """Return the place that is kept for a question, once; None: there is none."""
    head, for_lists = st.session_state.pop(_HEAD, (None, True))
    return head if for_lists or by_hand else None


def slot_of(place: str, key: str) -> str:
    """Return where the session keeps what was given to a question of a chapter."""
    return f"_guess.{place}/{key}"


def _content(question: Question) -> int:
    return hash((question.text, tuple(question.answers)))


@dataclass
class Guess:
    """The guess of a chapter about its picture, which has no question where there is no answer.

    key: its name in the chapter. seen: the visitor has moved the control so far that it shows.
    by_hand: it is made on a picture; what `cases`, `line` and `cell` draw says so by itself. leads:
    the state that it is about, as a look has it (`temperature=0.5`): there the page goes once.
    """

    key: str
    question: Question | None
    seen: bool = False
    by_hand: bool = False
    leads: str = ""

    def __post_init__(self) -> None:
        if self.seen and self.question is not None and COVERS and self.given is None:
            self._note(SHOWN)

    # ---- what is known of it

    @property
    def _slot(self) -> str:
        return slot_of(st.session_state.get(HERE, ""), self.key)

    @property
    def given(self) -> Given | None:
        """What this visitor gave, also to the question that another state asked."""
        return st.session_state.get(self._slot)

    @property
    def _answer(self) -> Given | None:
        """What this visitor gave to these very words and answers."""
        given = self.given
        if given is None or given.chosen is None or self.question is None:
            return None
        return given if given.asked == _content(self.question) else None

    @property
    def graded(self) -> bool | None:
        """Whether this visitor's answer is right; None: nothing was answered to this question."""
        answer, question = self._answer, self.question
        return None if answer is None or question is None else answer.chosen == question.right

    @property
    def own(self) -> list[float] | None:
        """The numbers that this visitor set on the picture; None where there are none."""
        return list(self._answer.guess) or None if self._answer else None

    @property
    def right(self) -> Sequence[float]:
        """The numbers that the right answer stands for; there is a question."""
        assert self.question is not None
        return self.question.values[self.question.right]

    @property
    def _forced(self) -> bool:
        """Whether a link has told all of the lesson, whatever this visitor does here."""
        return st.session_state.get(_ALL, False)

    @property
    def _linked(self) -> bool:
        """Whether a link has told it, until this visitor wants to guess."""
        session = st.session_state
        return session.get(HERE, "") in session.get(_LINKED, ())

    @property
    def _done(self) -> bool:
        question = self.question
        return question is not None and (
            self.given is not None
            or self.seen
            or self._forced
            or self._linked
            or told(question.text, question.answers) > 0
        )

    @property
    def open(self) -> bool:
        """Whether what it covers may be seen: it was made, or shown, or there is no question."""
        return self.question is None or not COVERS or self._done

    @property
    def asks(self) -> bool:
        """Whether it still waits for an answer."""
        return not self.open

    # ---- what is done with it

    def _note(self, given: Given | None) -> None:
        session = st.session_state
        place, told_here = session.get(HERE, ""), session.setdefault(_TOLD, set())
        session[self._slot] = given
        told_here.add(place)
        of_place = (name for name in map(str, session) if name.startswith(slot_of(place, "")))
        if given is None and not any(isinstance(session[name], Given) for name in of_place):
            told_here.discard(place)
        _into_address()

    def _give(self, given: Given) -> None:
        """Note what was given, and lead the page to the state that the question is about."""
        self._note(given)
        state = st.session_state.get(_PAGE)
        if self.leads and state is not None:
            state.take(self.leads)

    def _again(self) -> None:
        """Ask anew, with the controls that the question is about as they were at first."""
        if (state := st.session_state.get(_PAGE)) is not None:
            for name, _ in parse_qsl(self.leads):
                state[name] = state.params[name].default
        st.session_state.get(_LINKED, set()).discard(st.session_state.get(HERE, ""))
        self._note(None)

    def choose(self, answer: int | None) -> None:
        """Take one of the answers."""
        if answer is not None and self.question is not None:
            self._give(Given.to(self.question, answer))

    def settle(self, guess: Any, *, log: bool = False) -> None:
        """Take what the hand set on the picture as an answer: that one whose values are nearest.

        log: how near is counted by powers. What is no guess at all of this question is passed over.
        """
        question = self.question
        if question is None:
            return

        def far(values: Sequence[float]) -> float:
            pairs = zip(values, guess, strict=True)
            return sum(abs(math.log(a / b)) if log else abs(a - b) for a, b in pairs)

        numbers = isinstance(guess, list) and all(
            isinstance(at, int | float) and abs(at) <= LARGEST for at in guess
        )
        if not numbers or len(guess) != len(question.values[0]) or (log and min(guess) <= 0):
            return
        distances = [far(values) for values in question.values]
        nearest = min(distances)
        right = distances[question.right] == nearest
        chosen = question.right if right else distances.index(nearest)
        self._give(Given.to(question, chosen, [float(at) for at in guess]))

    def _acted(self, picture: str, *, log: bool = False) -> Callable[[], None]:
        def run() -> None:
            act = st.session_state[picture].get("act")
            if isinstance(act, dict):
                self.settle(act.get("guess"), log=log)

        return run

    # ---- the pictures that it is made on

    def on(
        self,
        picture: str,
        draw: Callable[[Sequence[Sequence[float]]], None],
        *,
        log: bool = False,
    ) -> list[float] | None:
        """Note that it is made on a picture; return the guess to draw there, if any.

        draw: draws the picture with what all of a class set.
        """
        self.by_hand = True
        if self.question is None:
            return None
        st.session_state[f"{self._slot}.class"] = draw
        if (listed := st.session_state.get(HANDS)) is None:
            return self.own
        listed[picture] = ByHand(self.question, log, draw)
        return list(self.question.values[self.question.right])

    def cases(
        self,
        cases: Sequence[Case],
        axis: Axis,
        *,
        veiled: Sequence[int],
        picture: str,
        **look: Any,
    ) -> None:
        """Draw cases of which some are told when it is made, by dragging them or else.

        veiled: their places, in the order of the numbers that each answer's `values` hold. picture:
        the key of the picture. look: see `case_rows`. Without a question all is told.
        """
        shown, question = list(cases), self.question
        marks = marks_on(
            [cases[at].label for at in veiled], axis, picture, look.get("form", "percent")
        )
        own = self.on(picture, marks, log=axis.log)
        for n, at in enumerate(veiled):
            if question is None:
                break
            right = question.values[question.right][n]
            if not self.open:
                begin = begin_of(axis.low, axis.high, right, question.text, log=axis.log)
                shown[at] = replace(
                    cases[at], value=None, interval=None, dots=(), note="", begin=begin
                )
            elif own is not None:
                others = [values[n] for values in question.values if values[n] != right]
                shown[at] = replace(cases[at], guess=own[n], ghosts=others)
        on_act = self._acted(picture, log=axis.log)
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
            draw_on(begun, x, y, key=key, words=said, hand=Hand(after, others=guesses), **look)

        own = self.on(picture, draw, log=y.log)
        shown = [*lines, whole] if told_all else begun
        draw_on(
            [*shown, *((ghosts or ()) if told_all and own is not None else ())],
            x,
            y,
            key=picture,
            words=said,
            hand=Hand() if told_all and own is None else Hand(after, own if told_all else None),
            on_act=self._acted(picture, log=y.log),
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

    # ---- the question

    def ask(self) -> bool:
        """Ask before the numbers are shown; then say what is right, and why.

        The question stands above the picture where a stage keeps its place, else here. Returns
        whether what would give the answer away may be shown: `open`.
        """
        question, head = self.question, take_head(by_hand=self.by_hand)
        if question is None:
            return True
        if (listed := st.session_state.get(QUESTIONS)) is not None and question not in listed:
            listed.append(question)
        if head is not None:
            with head:
                self._text(question)
        bare = self.by_hand and head is not None and not self._done
        with st.container(border=not bare, key=f"{BOX}{self.key}"):
            if head is None:
                self._text(question)
            own_axis = question.share and not self.by_hand
            if own_axis:
                self._axis(question)
            elif not self.by_hand:
                self._list(question)
            draw = st.session_state.get(f"{self._slot}.class")
            picture = OnPicture(self.own or (), draw) if draw else None
            chosen = self._answer.chosen if self._answer else None
            thinks(question.text, question.answers, question.right, question.order, chosen, picture)
            if self._done:
                self._end(question)
            elif self.asks:
                press: dict[str, Any] = {"on_click": self._give, "args": (SHOWN,)}
                st.button(words.show, key=f"{self._slot}.show", type="tertiary", **press)
        return self.open

    def _text(self, question: Question) -> None:
        key = escape(self.key, quote=True)
        text = f"<b>{words.mark}</b> {to_html(question.text)}"
        st.html(f'<div class="lv-ask" data-ask="{key}">{text}</div>')

    def _list(self, question: Question) -> None:
        """Show the answers to choose from; once it is told, the right one is marked."""
        if not self._done:
            name = f"{self._slot}.list"
            st.radio(
                "Your answer",
                question.order,
                index=None,
                format_func=lambda index: question.answers[index],
                key=name,
                label_visibility="collapsed",
                on_change=lambda: self.choose(st.session_state.get(name)),
            )
            return
        chosen = self._answer.chosen if self._answer else None
        lines = []
        for at in question.order:
            mark = "check_circle" if at == question.right else "radio_button_unchecked"
            own = f" ({words.yours})" if at == chosen else ""
            lines.append(f":material/{mark}: {question.answers[at]}{own}")
        st.markdown("  \n".join(lines))

    def _axis(self, question: Question) -> None:
        """Draw the axis of a question for a share, with a handle until it is answered."""
        (right,) = question.values[question.right]
        label = words.bars["told" if self.open else "guess"]
        picture = component_key("guess", self.key)
        self.cases([Case(label, right)], Axis(0, 1), veiled=[0], picture=picture)

    def _end(self, question: Question) -> None:
        """Say what is right, and why; to who answered this very question, also how that was."""
        answer, right = self._answer, question.answers[question.right]
        self._keep(question)
        if not self.by_hand:  # Markdown, as the list has it
            right = _ESCAPED.sub(r"\1", right)
        reason, far = question.reasons[question.right], told(question.text, question.answers)
        if answer is not None and answer.chosen is not None:
            self._grade(question, answer.chosen, right)
            if question.reasons[answer.chosen] != reason:
                prose(question.reasons[answer.chosen])
            prose(reason)
        else:
            prose(words.right, right=right)
            if self.given is not None or self._forced or self._linked or self.seen or far > 1:
                prose(reason)
        asks_again = self.leads or not self.seen
        given = self.given is not None or self._linked
        if given and asks_again and not (self._forced or far):
            key = f"{self._slot}.again"
            st.button(words.again, key=key, type="tertiary", on_click=self._again)

    def _keep(self, question: Question) -> None:
        """Keep what was guessed in the chapter, for the end of a way."""
        session, answer = st.session_state, self._answer
        place = session.get(HERE, "")
        first = session.setdefault(_FIRST, {}).setdefault(place, self.key)
        given = self.given
        if first != self.key or (given is not None and given.chosen is not None and not answer):
            return  # of another question, or in another state
        guess = ""
        if answer is not None and answer.chosen is not None:
            guess = question.answers[answer.chosen]
            if self.own and len(self.own) == 1 and question.write:
                guess = question.write(self.own[0])
        said = [unmarked(text) for text in (question.text, guess, question.answers[question.right])]
        session.setdefault(MADE, {})[place] = (*said, self.graded)

    def _grade(self, question: Question, chosen: int, right: str) -> None:
        is_right = chosen == question.right
        if here := st.session_state.get(HERE):
            note_answer(here, self.key, is_right, key=component_key("answer", self.key))
        if self.by_hand:
            line = self._told(question, is_right=is_right)
        else:
            line = words.graded["right" if is_right else "wrong"].format(right=right)
        if is_right:
            st.success(escape_markdown(unmarked(line)), icon=":material/check_circle:")
        else:
            wrong(line)

    def _told(self, question: Question, *, is_right: bool) -> str:
        """Return what a guess on the picture was, and what is right."""
        own, right = self.own, unmarked(question.answers[question.right])
        if own and len(own) == 1 and question.write:
            guess = question.write(own[0])
            case = "near" if is_right and guess != right else "said"
            return words.by_hand[case].format(guess=guess, right=right)
        return words.by_hand["same" if is_right else "other"].format(right=right)


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

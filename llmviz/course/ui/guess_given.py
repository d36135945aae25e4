"""What a visitor gave to the question of a guess, and whether what it covers may be seen.

Whether it was made is noted under its chapter and its key, not under its words: another text, model
or look asks nobody again, but shows its own result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import streamlit as st

from llmviz.course.ui.class_question import shown_of
from llmviz.course.ui.question import Question
from llmviz.course.ui.state import PageState

COVERS = True  # False shows everything: tests that look at what is below a question
LARGEST = 1e300  # of the numbers that a hand may set
# In the session:
_ALL = "_show_answers"  # whether this visitor's link shows all that questions cover
_PAGE = "_guess_page"  # the state of the page that is shown
_TOLD, _LINKED = "_guess_told", "_guess_linked"  # chapters with a guess made; those a link opened
HERE = "_here"  # the place of the chapter that is shown


class Given(NamedTuple):
    """What a visitor gave to a question: the answer, and what was set on the picture, if anything.

    asked: which words and answers were asked. chosen: None where it was only shown. line: whether
    what was set is a line, or bars.
    """

    asked: int
    chosen: int | None = None
    guess: Sequence[float] = ()
    line: bool = False

    @classmethod
    def to(
        cls, question: Question, chosen: int, guess: Sequence[float] = (), *, line: bool = False
    ) -> Given:
        """Return an answer to a question, by its number."""
        return cls(_content(question), chosen, guess, line)


SHOWN = Given(0)


def open_all(shown: bool) -> None:
    """Say whether this visitor's link shows all that questions cover."""
    st.session_state[_ALL] = shown


def enter(place: str, state: PageState, chapter: str = "") -> None:
    """Say which chapter is shown; its address then tells who opens it what was guessed here."""
    session = st.session_state
    session[HERE], session[_PAGE] = place, state
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


def slot_of(place: str, key: str) -> str:
    """Return where the session keeps what was given to a question of a chapter."""
    return f"_guess.{place}/{key}"


def _content(question: Question) -> int:
    return hash((question.text, tuple(question.answers)))


@dataclass
class GivenGuess:
    """What was given to a question, if there is one; see `guess.Guess`."""

    key: str
    question: Question | None
    seen: bool = False
    by_hand: bool = False
    leads: str = ""

    def __post_init__(self) -> None:
        if self.seen and self.question is not None and COVERS and self.given is None:
            self._note(SHOWN)

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
        """The numbers that this visitor set on the picture; None where there are none.

        Another text may ask the same of more numbers, or of fewer: then none were set for it.
        """
        own = list(self._answer.guess) if self._answer else []
        return own if own and len(own) == len(self.right) else None

    @property
    def missed(self) -> int | None:
        """The place that this visitor set on the picture, where another is right."""
        return int(self.own[0]) if self.own and self.own[0] != self.right[0] else None

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
            or shown_of(question.text, question.answers) > 0
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

    def settle(self, guess: Any, *, log: bool = False, line: bool = False) -> None:
        """Take what the hand set on the picture as an answer: that one whose values are `nearest`.

        What is no guess at all of this question is passed over.
        """
        question = self.question
        if question is None:
            return
        numbers = isinstance(guess, list) and all(
            isinstance(at, int | float) and abs(at) <= LARGEST for at in guess
        )
        if not numbers or len(guess) != len(question.values[0]) or (log and min(guess) <= 0):
            return
        chosen = nearest(question, guess, log=log, line=line)
        self._give(Given.to(question, chosen, [float(at) for at in guess], line=line))


def nearest(question: Question, guess: Sequence[float], *, log: bool, line: bool) -> int:
    """Return the answer whose values are nearest to a guess; the right one if others are as near.

    log: how near is counted by powers. line: the values are a line, or bars, so it counts as much
    how far they go up or down, from their first half to their second.
    """

    def far(values: Sequence[float]) -> float:
        pairs = zip(values, guess, strict=True)
        gaps = [math.log(a / b) if log else a - b for a, b in pairs]
        half = len(gaps) // 2
        turns = line and half and sum(gaps[-half:]) - sum(gaps[:half])
        return sum(map(abs, gaps)) + 2 * abs(turns)

    distances = [far(values) for values in question.values]
    least = min(distances)
    right = distances[question.right] == least
    return question.right if right else distances.index(least)

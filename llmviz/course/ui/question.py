"""A question made from live numbers: predict, then look."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import streamlit as st

from llmviz.course.components._shared.transport import component_key
from llmviz.course.components.case_rows.view import Axis, Case, Form, case_rows
from llmviz.course.components.progress.view import note_answer
from llmviz.course.document import Ask, Sentence, beside
from llmviz.course.document.marks import unmarked
from llmviz.course.ui.class_question import OnPicture, thinks, told
from llmviz.course.ui.notices import wrong
from llmviz.course.ui.prose import prose
from llmviz.course.ui.text import escape_markdown

hand_words = beside(__file__, "guess")
COVERS = True  # False shows everything: tests that look at what is below a question
_SHOW = "_show_answers"  # in the session
RIGHT = Sentence("**Right: {}**")
# Of a guess on the picture; one that is right may be near, and then it says why it is.
SAID = "You said {guess}, and it is {right}."
NEAR = f"{SAID} No other answer is nearer."
SAME_WAY, OTHER_WAY = "Your guess goes the same way: {}", "It goes another way: {}"
MARK = "PREDICT, THEN LOOK"  # stands above each question
LARGEST = 1e300  # of the numbers that a hand may set
APART = 0.15  # between the right share of a question and the others
HERE = "_here"  # in the session: the place of the chapter that is shown
QUESTIONS = "_asked"  # in the session, where somebody lists them: the questions of the page
# In the session, where somebody lists them: by a picture's key, the question that is answered on
# it (`ByHand`). Who is told has then guessed right.
HANDS = "_hands"


@dataclass(frozen=True)
class Question:
    """A question made from live numbers.

    `right` is the index of the right one of `answers`, and `reasons` say for each answer why it is
    right or what it overlooks. The answers are shown in `order`, so that their author's order does
    not tell which one is right. scale: they are steps of a scale or lines of a program, which keep
    their order. values: for a guess on the picture, the numbers that each answer stands for; write:
    how a single one of them is written. share: they are shares, and where no picture asks for the
    guess, the question has an axis of its own.
    """

    text: str
    answers: Sequence[str]
    right: int
    reasons: Sequence[str]
    scale: bool = False
    values: Sequence[Sequence[float]] = ()
    write: Callable[[Any], str] | None = field(default=None, compare=False)
    share: bool = False

    @classmethod
    def of(cls, ask: Ask, right: int | None = None, /, **values: Any) -> Question:
        """Return the question of a document with its slots filled.

        right: the place of the right answer, where the document does not say it.
        """
        place = ask.right if right is None else right
        if place is None:
            raise ValueError(f"no answer of {ask.text!r} is marked as the right one")
        return cls(
            ask.text.format(**values),
            [answer.format(**values) for answer in ask.answers],
            place,
            [reason.format(**values) for reason in ask.answers.values()],
        )

    @classmethod
    def among(
        cls,
        text: str,
        reasons: Mapping[Any, str],
        right: Any,
        written: Callable[[Any], str] | None = None,
        /,
        *,
        scale: bool = False,
        **values: Any,
    ) -> Question:
        """Return a question whose answers are the keys of `reasons`, each with its reason.

        right: one of the keys. written: how an answer stands on the page; without it a text stands
        as it is, and a number with its thousands apart. values: of the slots of sentences that
        are not filled yet.

        >>> Question.among("How many?", {4: "too few", 9000: "yes"}, 9000).answers
        ['4', '9,000']
        """
        write = written or (lambda answer: answer if isinstance(answer, str) else f"{answer:,}")
        answers, texts = list(reasons), [_filled(reason, values) for reason in reasons.values()]
        shown = [write(answer) for answer in answers]
        numbers = [(answer,) if isinstance(answer, int | float) else answer for answer in answers]
        return cls(
            _filled(text, values),
            shown,
            answers.index(right),
            texts,
            scale,
            [] if any(isinstance(answer, str) for answer in answers) else numbers,
            write,
        )

    @classmethod
    def rated(
        cls,
        text: str,
        answers: Sequence[str],
        right: int,
        reasons: str | Sequence[str],
        /,
        **values: Any,
    ) -> Question:
        """Return a question whose answers are the steps of a scale.

        reasons: one of each step, or one that serves them all. values: of the slots of sentences
        that are not filled yet.
        """
        each = [reasons] * len(answers) if isinstance(reasons, str) else reasons
        shown, texts = ([_filled(line, values) for line in part] for part in (answers, each))
        return cls(_filled(text, values), shown, right, texts, scale=True)

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.reasons) or len(set(self.answers)) != len(self.answers):
            raise ValueError("a question needs different answers and one reason for each")
        if not 0 <= self.right < len(self.answers):
            raise ValueError(f"right must name one of {len(self.answers)} answers")

    @property
    def order(self) -> list[int]:
        """The answers as they stand on the page: drawn by their words, so always the same."""

        def drawn(index: int) -> bytes:
            words = "\0".join((self.text, self.answers[index]))
            return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()

        order = list(range(len(self.answers)))
        return order if self.scale else sorted(order, key=drawn)


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """A sentence of a document with its slots filled; what is filled already stays as it is."""
    return text.format(**values) if isinstance(text, Sentence) else text


def share_question(
    text: str, right: float, reasons: Sequence[str], written: Callable[[float], str]
) -> Question:
    """Return a question whose answers are shares: the right one, and two that are not near it.

    The guess is set on an axis, so that no form gives it away, and counts as the nearest answer.
    right: from 0 to 1. reasons: why it is right, why a larger share is too much, why a smaller one
    is too little. written: how a share is written.

    >>> share_question("How much?", 0.3, ("yes", "less", "more"), "{:.0%}".format).answers
    ['0%', '30%', '50%']
    """
    apart = [share for share in (0.0, 0.25, 0.5, 0.75, 1.0) if abs(share - right) >= APART]
    shares = sorted([right, *sorted(apart, key=lambda share: abs(share - right))[:2]])
    why, less, more = reasons
    return Question(
        text,
        [written(share) for share in shares],
        shares.index(right),
        [why if share == right else less if share > right else more for share in shares],
        scale=True,
        values=[(share,) for share in shares],
        write=written,
        share=True,
    )


def whole_percent(share: float) -> str:
    """Return a share in whole percent, as an answer of a question says it.

    >>> whole_percent(0.518).replace("\u00a0", " ")
    '52 %'
    """
    return f"{100 * share:.0f}\u00a0%"


def _slot(question: Question, key: str) -> str:
    # The key holds the question's own content: when the numbers change, it is asked anew.
    return f"{key}.{hash((question.text, tuple(question.answers)))}"


def open_all(shown: bool) -> None:
    """Say whether this visitor's link shows all that questions cover."""
    st.session_state[_SHOW] = shown


def answered(question: Question, key: str) -> bool:
    """Whether what a question covers may be seen: it was answered, or somebody asked to see it.

    For a page that draws what is asked for above the question; else `predict` returns the same.
    """
    slot, session = _slot(question, key), st.session_state
    return (
        not COVERS
        or session.get(_SHOW, False)
        or session.get(f"{slot}.shown", False)
        or session.get(slot) is not None
        or told(question.text, question.answers) > 0
    )


def graded(question: Question, key: str) -> bool | None:
    """Whether this visitor's answer to a question is right; None: there is no answer yet."""
    chosen = st.session_state.get(_slot(question, key))
    return None if chosen is None else chosen == question.right


def guess_of(question: Question, key: str) -> list[float] | None:
    """Return the numbers that this visitor set on the picture; None where there are none."""
    return st.session_state.get(f"{_slot(question, key)}.guess")


class ByHand(NamedTuple):
    """A question that is answered on a picture; log: whether its axis goes by powers.

    draw: draws the picture with what all of a class set.
    """

    question: Question
    log: bool
    draw: Callable[[Sequence[Sequence[float]]], None]


def by_hand(
    question: Question,
    key: str,
    picture: str,
    draw: Callable[[Sequence[Sequence[float]]], None],
    *,
    log: bool = False,
) -> list[float] | None:
    """Note that a question is answered on a picture; return the guess to draw there, if any.

    draw: draws the picture with what all of a class set.
    """
    st.session_state[f"{_slot(question, key)}.class"] = draw
    if (listed := st.session_state.get(HANDS)) is None:
        return guess_of(question, key)
    listed[picture] = ByHand(question, log, draw)
    return list(question.values[question.right])


def settle(question: Question, key: str, guess: Any, *, log: bool = False) -> None:
    """Take what the hand set on the picture as an answer: that one whose values are nearest.

    log: how near is counted by powers. What is no guess at all of this question is passed over.
    """

    def far(values: Sequence[float]) -> float:
        pairs = zip(values, guess, strict=True)
        return sum(abs(math.log(a / b)) if log else abs(a - b) for a, b in pairs)

    count = len(question.values[0])
    numbers = isinstance(guess, list) and all(
        isinstance(at, int | float) and abs(at) <= LARGEST for at in guess
    )
    if not numbers or len(guess) != count or (log and min(guess) <= 0):
        return
    distances = [far(values) for values in question.values]
    nearest = min(distances)
    slot = _slot(question, key)
    right = distances[question.right] == nearest
    st.session_state[slot] = question.right if right else distances.index(nearest)
    st.session_state[f"{slot}.guess"] = [float(at) for at in guess]


def _show(slot: str) -> None:
    st.session_state[f"{slot}.shown"] = True


def predict(question: Question, key: str, *, covers: bool = False, hand: bool = False) -> bool:
    """Ask before the numbers are shown; grade the answer and give the reason.

    Returns whether what would give the answer away may be shown: see `answered`. covers: whether
    the page holds anything back until then, which the visitor can have shown without an answer.
    hand: the answer is given on the picture (see `guess`), and no list of answers stands here.
    """
    if (listed := st.session_state.get(QUESTIONS)) is not None and question not in listed:
        listed.append(question)
    with st.container(border=True):
        st.caption(MARK)
        prose(question.text)
        slot = _slot(question, key)
        if question.share and not hand:
            _axis(question, key)
            hand = True
        chosen = st.session_state.get(slot)
        if not hand:
            chosen = st.radio(
                "Your answer",
                question.order,
                index=None,
                format_func=lambda index: question.answers[index],
                key=slot,
                label_visibility="collapsed",
            )
        draw = st.session_state.get(f"{slot}.class")
        picture = OnPicture(guess_of(question, key) or (), draw) if draw else None
        thinks(question.text, question.answers, question.right, question.order, chosen, picture)
        if chosen is None:
            shown = answered(question, key)
            far = told(question.text, question.answers)
            if st.session_state.get(f"{slot}.shown", False):
                far = 2
            if far:
                prose(RIGHT.format(question.answers[question.right]))
                if far > 1:
                    prose(question.reasons[question.right])
            if covers and not shown:
                label = "Show me without an answer"
                st.button(label, key=f"{slot}.show", type="tertiary", on_click=_show, args=(slot,))
            return shown
        right = chosen == question.right
        if here := st.session_state.get(HERE):
            note_answer(here, key, right, key=component_key("answer", key))
        with st.container(border=False):
            line = _told(question, key, right) if hand else ""
            if right:
                st.success(escape_markdown(line) or "Right.", icon=":material/check_circle:")
            elif line:
                wrong(line)
            else:
                st.error("Not this one.", icon=":material/cancel:")
            prose(question.reasons[chosen])
            if question.reasons[question.right] != question.reasons[chosen]:
                prose(question.reasons[question.right])
        return True


def _told(question: Question, key: str, right: bool) -> str:
    """Return what a guess on the picture was, and what is right."""
    said, answer = guess_of(question, key), unmarked(question.answers[question.right])
    if said and len(said) == 1 and question.write:
        guess = question.write(said[0])
        return (NEAR if right and guess != answer else SAID).format(guess=guess, right=answer)
    return (SAME_WAY if right else OTHER_WAY).format(answer)


def _axis(question: Question, key: str) -> None:
    """Draw the axis of a question for a share, with a handle until it is answered."""
    picture = component_key("guess", key)
    axis, hand, told = Axis(0, 1), hand_words.bars, answered(question, key)
    own = by_hand(question, key, picture, marks_on([hand["guess"]], axis, picture, hand))
    wrong = [value for (value,) in question.values if (value,) != question.values[question.right]]
    (right,) = question.values[question.right]
    case = Case(
        hand["told" if told else "guess"],
        right if told else None,
        guess=own[0] if told and own else None,
        ghosts=wrong if told and own else (),
    )

    def act() -> None:
        done = st.session_state[picture].get("act")
        settle(question, key, done.get("guess") if isinstance(done, dict) else None)

    case_rows([case], axis, key=picture, words=hand, on_act=act)


def marks_on(
    labels: Sequence[str | Sequence[tuple[str, bool]]],
    axis: Axis,
    picture: str,
    hand: Mapping[str, str],
    form: Form = "percent",
) -> Callable[[Sequence[Sequence[float]]], None]:
    """Return what draws the guesses of a class as marks: each has a number for each label."""

    def draw(guesses: Sequence[Sequence[float]]) -> None:
        cases = [
            Case(label, None, dots=[guess[n] for guess in guesses], note=f"{len(guesses)}")
            for n, label in enumerate(labels)
        ]
        case_rows(cases, axis, key=component_key("class", picture), words=hand, form=form)

    return draw

"""The furniture of a lesson: its head, its sections, the code behind a step, a question."""

from __future__ import annotations

import inspect
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from llmviz.ui.prose import prose
from llmviz.ui.state import PageState

SNIPPET_MARK = "# Runs by itself."
CHAPTERS = "_chapters"


def lesson(title: str, promise: str, state: PageState | None = None) -> None:
    """Show the head of a lesson: its title, what you will have seen at the end, link problems."""
    st.title(title, anchor=False)
    prose(promise)
    if state is not None:
        state.show_problems()


@dataclass(frozen=True)
class Chapter:
    """One part of a lesson: its name in links, its title, and what draws it."""

    key: str
    title: str
    draw: Callable[[PageState], None]


def chapters(parts: Sequence[Chapter], state: PageState) -> None:
    """Show one chapter at a time, with the list of all above it and the next one below.

    Only the chosen chapter is computed. The page declares `codec.choice("part", …)` for its link.
    """
    titles = {chapter.key: chapter.title for chapter in parts}
    keys = list(titles)
    st.session_state[CHAPTERS] = keys  # tests read from here which chapters there are
    st.segmented_control(
        "Parts of this lesson",
        keys,
        format_func=titles.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="stretch",
        **state.bind("part"),
    )
    at = keys.index(state["part"])
    parts[at].draw(state)
    st.space("medium")
    before, after = st.columns(2)
    if at > 0:
        before.button(
            f"Back: {titles[keys[at - 1]]}",
            icon=":material/arrow_back:",
            on_click=_go_to,
            args=(state, keys[at - 1]),
        )
    if at + 1 < len(keys):
        after.button(
            f"Next: {titles[keys[at + 1]]}",
            icon=":material/arrow_forward:",
            type="primary",
            on_click=_go_to,
            args=(state, keys[at + 1]),
        )


def _go_to(state: PageState, part: str) -> None:
    state["part"] = part


def section(title: str, text: str = "", anchor: str | None = None) -> None:
    """Show the head of a section and its few sentences."""
    st.header(title, anchor=anchor or False, divider=False)
    if text:
        prose(text)


AHEAD = 0.1  # seconds: what it takes from the sending of a picture until it has been painted


def pictures_first() -> None:
    """Let the browser draw what was sent so far before it gets the rest of the page.

    What arrives together is drawn together, and a new question or a fold of code takes the browser
    longer than most pictures: the hand would wait for them, too. Call it where the pictures are
    sent and questions, buttons and code are not.
    """
    time.sleep(AHEAD)


@contextmanager
def before_controls(place: DeltaGenerator, controls: Callable[[], None]) -> Iterator[None]:
    """Draw what the block draws, and only then the controls that stand above it in `place`.

    The control that was moved stands already, and the hand waits for the picture. The controls
    come also where the block returns early or fails.
    """
    try:
        yield
        pictures_first()
    finally:
        with place:
            controls()


OPENED = "_opened"  # in the session: open every fold at once, as the tests want it


def fold(label: str, key: str, icon: str) -> DeltaGenerator | None:
    """Show a closed fold; return it once it is open, and until then None.

    What nobody looks at is neither computed nor sent: the browser would need longer for it than
    for most pictures.
    """
    opened = bool(st.session_state.get(OPENED))
    box = st.expander(label, icon=icon, expanded=opened, key=key, on_change="rerun")
    return box if box.open else None


def show_code(
    functions: Sequence[Callable | type],
    snippet: str,
    prints: str | Callable[[], str],
    *,
    label: str = "Show the code",
) -> None:
    """Show the source of what was just computed, and a snippet that repeats it outside the app.

    `functions` are the `llmviz` functions that ran. `snippet` is Python that runs alone from the
    project's folder and prints exactly `prints`; the tests run it. Where that has to be computed,
    `prints` is a function, called once somebody looks.
    """
    caller = sys._getframe(1)
    names = ",".join(function.__qualname__ for function in functions)
    key = f"_code.{caller.f_globals['__name__']}.{caller.f_lineno}.{names}"
    box = fold(label, key, ":material/code:")
    if box is None:
        return
    with box:
        for function in functions:
            name = f"{function.__module__}.{function.__qualname__}"
            st.caption(name.replace("_", "\\_"))
            st.code(_source(function), language="python", height=320)
        st.caption("The same numbers without the app:")
        st.code(f"{SNIPPET_MARK}\n{textwrap.dedent(snippet).strip()}", language="python")
        st.caption("It prints:")
        st.code(prints if isinstance(prints, str) else prints(), language=None)


@cache  # finding a function in its file takes milliseconds, and every rerun would do it again
def _source(function: Callable | type) -> str:
    return textwrap.dedent(inspect.getsource(function))


@dataclass(frozen=True)
class Question:
    """A question made from live numbers.

    `answers` are shown in this order, `right` is the index of the right one, and `reasons` say for
    each answer why it is right or what it overlooks.
    """

    text: str
    answers: Sequence[str]
    right: int
    reasons: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.answers) != len(self.reasons) or len(set(self.answers)) != len(self.answers):
            raise ValueError("a question needs different answers and one reason for each")
        if not 0 <= self.right < len(self.answers):
            raise ValueError(f"right must name one of {len(self.answers)} answers")


def _slot(question: Question, key: str) -> str:
    # The key holds the question's own content: when the numbers change, it is asked anew.
    return f"{key}.{hash((question.text, tuple(question.answers)))}"


def answered(question: Question, key: str) -> bool:
    """Whether `predict` has an answer already, for a page that draws what it asks for above it."""
    return st.session_state.get(_slot(question, key)) is not None


def predict(question: Question, key: str) -> bool:
    """Ask before the numbers are shown; grade the answer and give the reason.

    Returns True once an answer was given, so that a page can hold the numbers back until then.
    """
    with st.container(border=True):
        st.caption("PREDICT, THEN LOOK")
        prose(question.text)
        chosen = st.radio(
            "Your answer",
            range(len(question.answers)),
            index=None,
            format_func=lambda index: question.answers[index],
            key=_slot(question, key),
            label_visibility="collapsed",
        )
        if chosen is None:
            return False
        right = chosen == question.right
        with st.container(border=False):
            if right:
                st.success("Right.", icon=":material/check_circle:")
            else:
                st.error("Not this one.", icon=":material/cancel:")
            prose(question.reasons[chosen])
            if not right:
                prose(question.reasons[question.right])
        return True

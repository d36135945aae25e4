"""A question in a class: a follower's answer is counted, and its presenter sees what all think."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from llmviz.course.document import beside
from llmviz.course.document.languages import run_on
from llmviz.course.document.marks import unmarked
from llmviz.course.ui import browser, class_session, notices, origin
from llmviz.course.ui.class_answers import MOST, ClassAnswers, name_of, who_of
from llmviz.course.ui.class_session import CLASSES, put
from llmviz.course.ui.classes import OpenClass, Refused
from llmviz.course.ui.text import escape_markdown
from llmviz.processes.limits import limit

words = beside(__file__, "classroom")
THOUGHT = ClassAnswers(CLASSES)
POLL = 1.0  # seconds between two looks at the answers
_TOLD = "_class_told"  # in the session: by class and question, the answer that was given


class OnPicture(NamedTuple):
    """A question that is answered on a picture: what this visitor set there, if anything.

    draw: draws the picture with what all of a class set.
    """

    own: Sequence[float]
    draw: Callable[[Sequence[Sequence[float]]], None]


def of_this_window() -> OpenClass | None:
    """Return the open class that this window leads or follows."""
    here = class_session.current()
    group = CLASSES.find(here.code) if here is not None else None
    return group if here is not None and group is not None and group.key == here.key else None


def leads() -> bool:
    """Whether this window leads its class."""
    here = class_session.current()
    return here is not None and here.leads


def tell(
    group: OpenClass,
    chosen: Mapping[str, int | None],
    said: tuple[str, str],
    guess: Sequence[float] = (),
) -> None:
    """Count what a follower chose and note their own words, if they are new, or say why not.

    chosen: by a question's name. said: the name of a question, and the words. guess: what they set
    on its picture.
    """
    reported = st.session_state.setdefault(_TOLD, {})
    here = origin.of_session(class_session.window())
    who = who_of(browser.secret(), group.key, "" if here.own else here.address)
    try:
        for name, choice in chosen.items():
            if choice is not None and reported.get((group.key, name)) != (choice, *guess):
                THOUGHT.give(group, who, name, choice, guess)
                reported[group.key, name] = (choice, *guess)
        name, text = said
        if text != reported.get((group.key, name, "said"), ""):
            THOUGHT.say(group, who, name, text)
            reported[group.key, name, "said"] = text
    except Refused as refused:
        line = words.notices[refused.reason].format(count=refused.count)
        notices.inform(unmarked(line), ":material/groups:")


def warn_if_full(group: OpenClass) -> None:
    """Tell a presenter that there is no room for more answers, or for more from an address."""
    if THOUGHT.is_full(group):
        line = words.notices["answers_all"].format(count=limit("LLMVIZ_CLASS_KB"))
        notices.warn(unmarked(run_on([line, words.room])))
    if THOUGHT.is_crowded(group):
        notices.warn(unmarked(words.crowded.format(count=limit("LLMVIZ_ADDRESS_FOLLOWERS"))))


def shown_of(text: str, answers: Sequence[str]) -> int:
    """Return how far a presenter shows the answer: 0 not at all, 1 the answer, 2 the reason."""
    if class_session.current() is None:
        return 0
    return class_session.answer_shown(
        name_of(unmarked(text), [unmarked(answer) for answer in answers])
    )


def thinks(
    text: str,
    answers: Sequence[str],
    right: int,
    order: Sequence[int],
    chosen: int | None,
    picture: OnPicture | None = None,
) -> None:
    """Count the answer of a follower; show the presenter of a class what all answered.

    order: in which the answers stand on the page. chosen: this visitor's own answer. picture: on
    which it is answered, if on any.
    """
    group = of_this_window()
    if group is None:
        return
    text, answers = unmarked(text), [unmarked(answer) for answer in answers]
    name = name_of(text, answers)
    if not leads():
        said = st.text_input(words.own_words, key=f"_class_said.{group.key}.{name}", max_chars=MOST)
        tell(group, {name: chosen}, (name, said), picture.own if picture else ())
        return
    st.fragment(_counted, run_every=POLL)(
        group, name, (text, answers, right), order, picture and picture.draw
    )
    far = class_session.answer_shown(name)
    further = (far + 1) % len(words.tell_all)
    press: dict[str, Any] = {"on_click": class_session.tell_all, "args": (name, further)}
    st.button(words.tell_all[far], key=f"_class_tell.{name}", type="tertiary", **press)


def _counted(
    group: OpenClass,
    name: str,
    asked: tuple[str, Sequence[str], int],
    order: Sequence[int],
    draw: Callable[[Sequence[Sequence[float]]], None] | None,
) -> None:
    question = THOUGHT.ask(group, *asked)
    warn_if_full(group)
    counts = question.counts()
    shown = f"_class_shown.{group.key}.{name}"
    visible = st.session_state.get(shown, False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.answered[sum(counts) == 1].format(count=sum(counts)))
        label = words.hide_answers if visible else words.show_answers
        st.button(
            label, key=f"{shown}.press", type="tertiary", on_click=put, args=(shown, not visible)
        )
    if visible:
        if draw and question.marks:
            draw(sorted(question.marks.values()))
        for index in order:
            line = words.of_answer.format(answer=question.answers[index], count=counts[index])
            st.progress(counts[index] / max(1, sum(counts)), escape_markdown(line))
    _own_words([text for text in question.own_words.values() if text], shown)


def _own_words(said: list[str], key: str) -> None:
    """Show the presenter how many wrote something, and on demand what, in an order of choice."""
    if not said:
        return
    listed, longest = (bool(st.session_state.get(f"{key}.{what}")) for what in ("said", "longest"))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.wrote[len(said) == 1].format(count=len(said)))
        press: dict[str, Any] = {
            "on_click": put,
            "args": (f"{key}.said", not listed),
            "type": "tertiary",
        }
        st.button(words.hide_words if listed else words.show_words, key=f"{key}.words", **press)
        if listed:
            press = {"on_click": put, "args": (f"{key}.longest", not longest), "type": "tertiary"}
            st.button(words.by_letter if longest else words.by_length, key=f"{key}.order", **press)
    if listed:
        said.sort(key=lambda text: (-len(text) if longest else 0, text.casefold()))
        st.text("\n".join(f"– {text}" for text in said))  # a text is never markup


def table(code: str) -> str:
    """Return what a class answered as CSV; only its head where there is none."""
    group = CLASSES.find(code)
    return "" if group is None else THOUGHT.table(group)

"""A lesson's page: its head, the chosen chapter or the chosen part of one, and the way onward."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import streamlit as st

from llmviz.course import streamlit_parts
from llmviz.course.components.progress.view import note_opened
from llmviz.course.document import Section
from llmviz.course.ui import class_session, course, hour
from llmviz.course.ui.common import choose_below_title
from llmviz.course.ui.contents import HOUR, MORE, WAY, Lesson
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.course.ui.furniture import words
from llmviz.course.ui.guess import keep_head, take_head
from llmviz.course.ui.guess_given import enter, open_all
from llmviz.course.ui.languages import as_translated
from llmviz.course.ui.prose import opening, prose
from llmviz.course.ui.state import PageState, page_state


def draw_part(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[str, str],
    parts: Mapping[str, Callable[[PageState], None]],
) -> None:
    """Show the choice of a part, which the control `key` holds, and draw that part.

    names: what each is called, in order. parts: what draws each.
    """
    choose_below_title(state, key, label, names, parts=True)
    parts[state[key]](state)


SOUGHT = "lv-sought"  # the block around the head of the section to which a link has led
SECTION = "_section"  # in the session: "lesson/chapter#section" to which an older link has led
HEAD = "_section_head"  # in the session: the head of that section, where its chapter is shown
CHAPTERS = "_chapters"  # in the session: tests read from here which chapters there are


def show(lesson: Lesson) -> None:
    """Show a lesson's page: its head, what stands above its chapters, and the chosen chapter.

    The lesson's folder may hold `page.py` with `draw(state)`: what stands above the chapters, or
    all of a page without chapters.
    """
    begins = dict(lesson.begins_with)
    if lesson.linked_first:
        begins["part"] = lesson.chapters[0].key
    if (there := lesson.gone.get(st.query_params.get("part", ""))) is not None:
        st.switch_page(f"pages/{there}.py", query_params=st.query_params.to_dict())
    linked = bool(class_session.of_page(st.query_params.to_dict())) or class_session.is_led(
        lesson.key
    )
    fresh = [key for key in begins if f"{lesson.key}.{key}" not in st.session_state]
    opened = lesson.opened_by(st.query_params.to_dict())
    if (there := lesson.moved.get(st.query_params.get("part", ""))) is not None:
        st.session_state[SECTION] = f"{lesson.key}/{there}"
    if not linked:
        st.session_state.update({f"{lesson.key}.{key}": begins[key] for key in fresh})
    state = page_state(lesson.key, lesson.params())
    if opened:
        state["part"] = opened
    if linked:  # kept from now on, for a visitor who comes back from another page
        for key in fresh:
            state[key] = state[key]
    if not lesson.names:
        st.title(lesson.headline or lesson.title, anchor=False)
        if above := "\n\n".join(filter(None, (lesson.promise, lesson.needs))):
            prose(above)  # nothing would take its room, and give it back when it comes
    if lesson.names:
        course.tell_story(state, state["part"])
    state.show_problems()
    if state["show"] and class_session.projects():  # before a class, answers stay covered
        state["show"] = ""
    open_all(state["show"] == "1")
    take_head()  # of another page
    body(lesson, state)


@st.fragment  # a control runs this alone, not the app around it
def body(lesson: Lesson, state: PageState) -> None:
    """Show what stands below a lesson's head; its imports wait until the head is on its way."""
    if not lesson.names:
        hour.begin(None)
        note_opened(lesson.key)
        enter(lesson.key, state)
        with as_translated(lesson.words):
            importlib.import_module(f"{lesson.package}.page").draw(state)
        _onward(state, lesson)
    elif not lesson.needs_engine or engine_ready():
        chapters(lesson, state)


def chapters(lesson: Lesson, state: PageState) -> None:
    """Show one chapter at a time, with the list of all above it and the next one below.

    Only the chosen chapter is computed.
    """
    page = _page_of(lesson)
    if page and hasattr(page, "follow_old_links"):
        page.follow_old_links(state)
    titles = {chapter.key: chapter.title for chapter in lesson.chapters}
    keys = list(titles)
    st.session_state[CHAPTERS] = keys  # tests read from here which chapters there are
    _tabs(lesson, state, titles)
    at = keys.index(state["part"])
    chapter = lesson.chapters[at]
    way = course.stop_of(state[WAY.key], lesson.key, chapter.key)
    kind = "further" if chapter.key in lesson.further else "chapter"
    where = words.place[kind].format(lesson=lesson.title, at=at + 1, count=len(keys))
    titled = getattr(lesson.module(chapter), "titled", None)
    front = chapter.front
    if titled and (question := titled(state)):
        front = front._replace(question=question)
    opening(front, chapter.short_names, way, where)
    place = f"{lesson.key}/{chapter.key}"
    enter(place, state, chapter.key)
    section = _section_of(place)
    st.session_state[HEAD] = getattr(chapter.words, section) if section else None
    note_opened(place, section)
    folded = state[WAY.key] == HOUR and way and not section and state[MORE.key] != chapter.key

    def end() -> None:
        _both_ways(state, lesson, chapter.key)
        hour.more(lambda: state.__setitem__(MORE.key, chapter.key))

    hour.begin(end if folded else None)
    stopped = streamlit_parts.stop_exception() or ()
    try:
        with as_translated(chapter.words):
            lesson.module(chapter).draw(state)
    except stopped:
        return  # the end of a folded stop is drawn
    hour.ends_below()
    st.space("medium")
    if not folded:
        _needed_first(lesson)
    _both_ways(state, lesson, chapter.key)


def _section_of(place: str) -> str:
    """Return the section of a chapter to which an older link has led, else nothing."""
    there, _, section = st.session_state.get(SECTION, "").partition("#")
    if there == place:
        return section
    st.session_state.pop(SECTION, None)
    return ""


def _both_ways(state: PageState, lesson: Lesson, chapter: str) -> None:
    """Show the buttons that lead on and back."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if before := course.back(state[WAY.key], lesson, chapter):
            _leads(state, lesson, before, f"_back@{lesson.key}.{chapter}", main=False)
        _onward(state, lesson, chapter)


def _tabs(lesson: Lesson, state: PageState, titles: dict[str, str]) -> None:
    """Show all chapters of the lesson beside each other, the further ones last."""
    st.segmented_control(
        words.parts,
        lesson.keys,
        format_func=titles.__getitem__,
        required=True,
        label_visibility="collapsed",
        width="stretch",
        **state.bind("part"),
    )


def _page_of(lesson: Lesson) -> ModuleType | None:
    """What the lesson's chapters share, such as the box for a text."""
    name = f"{lesson.package}.page"
    return importlib.import_module(name) if find_spec(name) else None


def _needed_first(lesson: Lesson) -> None:
    """Say what the lesson promises, what it takes for granted, and where that is taught."""
    with st.expander(words.first, icon=":material/school:"):
        prose("\n\n".join(filter(None, (lesson.promise, lesson.needs))))
        for key in lesson.after:
            st.page_link(f"pages/{key}.py", icon=":material/arrow_back:")


def _go_to(state: PageState, part: str) -> None:
    state["part"] = part


def _onward(state: PageState, lesson: Lesson, chapter: str = "") -> None:
    """Show the main button, which leads along the visitor's way; nothing comes after its end."""
    if "end" in state.params and state["end"]:  # of the hour: the page itself says what comes next
        return
    if after := course.onward(state[WAY.key], lesson, chapter):
        _leads(state, lesson, after, f"_next@{lesson.key}.{chapter}", main=True)


def _leads(state: PageState, lesson: Lesson, to: course.Next, key: str, *, main: bool) -> None:
    page, _, part = to.place.partition("/")
    here = page == lesson.key and bool(part)  # then the list of chapters stays where it is
    pressed = st.button(
        to.label,
        key=key,
        icon=":material/arrow_forward:" if main else ":material/arrow_back:",
        type="primary" if main else "secondary",
        on_click=_go_to if here else None,
        args=(state, part) if here else None,
    )
    if pressed and not here:
        if main and page == course.ENDING:
            st.session_state[f"{course.ENDING}.when"] = "after"
        course.open_place(to.place)


def seen(end: Section, /, **values: Any) -> None:
    """Show what a chapter ends with: what was seen, in the learner's numbers, and what to try."""
    hour.rest()
    title, text = end.filled(**values)
    with st.container(border=True):
        st.subheader(title, anchor=False)
        prose(text)


def section(head: Section | str, text: str = "", /, **values: Any) -> None:
    """Show the head of a section and its few sentences, with `values` in the slots of both."""
    hour.rest()
    sought = head == st.session_state.get(HEAD)
    if isinstance(head, Section):
        head, text = head.filled(**values)
    with st.container(key=SOUGHT) if sought else nullcontext():
        st.header(head, anchor=False, divider=False)
    if text:
        prose(text)
    keep_head(st, for_lists=False)

"""The contract of all lessons: a lesson is a list of chapters, a chapter is a folder.

A chapter's folder holds its document `chapter.md`, `chapter.py` with `draw(state)`, `params.py`
with `PARAMS`, the controls that its links carry (none: no such file), and its parts. `chapter.py`
is imported when the chapter is first shown. What several chapters of a lesson share stands in the
lesson's folder.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import streamlit as st

from llmviz.components.progress.view import note_opened
from llmviz.document import (
    ENGLISH,
    Document,
    Front,
    Section,
    language,
    sentences,
    texts_of,
)
from llmviz.ui import codec, course, seat
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.glossary import short_names
from llmviz.ui.prose import opening, prose
from llmviz.ui.question import HERE, open_all
from llmviz.ui.state import PageState, page_state

LANGUAGE = codec.language("lang", ENGLISH)  # of the texts
CHAPTERS = "_chapters"  # in the session: tests read from here which chapters there are


@cache
def _short_names(document: Document, wanted: str) -> list[str]:
    return short_names(sentences(texts_of(document, wanted)))


@dataclass(frozen=True)
class Chapter:
    """One part of a lesson: the package of its lesson, and its name in links and of its folder."""

    lesson: str
    key: str

    @property
    def package(self) -> str:
        """The chapter's folder as a package."""
        return f"{self.lesson}.{self.key}"

    @property
    def words(self) -> Document:
        """Its document."""
        return importlib.import_module(self.package).words

    @property
    def front(self) -> Front:
        """What its document says of it: its title, its minutes, the question that it answers."""
        return self.words.front

    @property
    def short_names(self) -> list[str]:
        """The short names that its document uses, such as GELU."""
        return _short_names(self.words, language())

    @property
    def title(self) -> str:
        """How the list of chapters calls it."""
        return self.front.title

    @property
    def minutes(self) -> int:
        """About how long it takes, with its questions; 0 is not said."""
        return self.front.minutes


@dataclass(frozen=True)
class Lesson:
    """One page: where it is listed, what its head says, and its chapters.

    key: the page's name in addresses, that of its file in `pages/` and of its package.
    icon: a Material symbol. words: its document, `lesson.md`, which gives its title and, by name,
    what lists and the head of the page say of it.
    chapters: the names of their folders. after: keys of the lessons to take first, as links.
    needs_engine: whether no chapter can do without torch; the page then waits for it.
    linked_first: the chapter of a link that names none, where that is not the first one any more.
    begins_with: controls and what they are for a visitor who comes without a link, where a link
    that leaves them out has always meant something else.
    """

    key: str
    icon: str
    words: Document
    names: Sequence[str] = ()
    needs_engine: bool = False
    after: Sequence[str] = ()
    linked_first: str = ""
    begins_with: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chapters(self) -> list[Chapter]:
        """Its chapters, in their order."""
        return [Chapter(self.package, name) for name in self.names]

    @property
    def title(self) -> str:
        """How lists and cards call it."""
        return self.words.front.title

    @property
    def card(self) -> str:
        """What the home page says about it."""
        return self._text("card")

    @property
    def headline(self) -> str:
        """What the head of the page says in place of the title, if anything."""
        return self._text("headline")

    @property
    def promise(self) -> str:
        """The text below the head."""
        return self._text("promise")

    @property
    def needs(self) -> str:
        """What the page takes for granted."""
        return self._text("needs")

    def _text(self, name: str) -> str:
        return texts_of(self.words).get(name, "")

    @property
    def package(self) -> str:
        """The lesson's folder as a package."""
        return f"llmviz.lessons.{self.key}"

    def title_of(self, key: str) -> str:
        """Return the title of a chapter, for a head that says the same as the list.

        Raises KeyError: there is no such chapter.
        """
        return {chapter.key: chapter.title for chapter in self.chapters}[key]

    def module(self, chapter: Chapter) -> ModuleType:
        """Return the module that draws a chapter, imported now if nobody has seen it yet."""
        return importlib.import_module(f"{chapter.package}.chapter")

    def modules(self) -> list[ModuleType]:
        """Return all modules that draw something of the page, imported now if need be."""
        drawn = [self.module(chapter) for chapter in self.chapters]
        page = f"{self.package}.page"
        return [*drawn, importlib.import_module(page)] if find_spec(page) else drawn

    def params(self) -> list[codec.Param]:
        """Return all controls of the page: the lesson's own and those of its chapters.

        Raises ValueError: two places declare a control of one name.
        """
        declared: dict[str, str] = {}
        controls: list[codec.Param] = []
        if self.chapters:
            keys = [chapter.key for chapter in self.chapters]
            controls.append(codec.choice("part", self.linked_first or keys[0], keys))
            declared["part"] = "llmviz.ui.lesson"
        controls.append(codec.flag("show", False))  # what questions cover
        controls += [LANGUAGE, course.WAY]
        declared |= dict.fromkeys(("show", LANGUAGE.key, course.WAY.key), "llmviz.ui.lesson")
        folders = [f"{self.package}.{chapter.key}" for chapter in self.chapters]
        for package in (self.package, *folders):
            for param in _params(package):
                if param.key in declared:
                    raise ValueError(
                        f"the control {param.key!r} is declared twice: in {declared[param.key]} "
                        f"and in {package}"
                    )
                declared[param.key] = package
                controls.append(param)
        return controls


def controls_of(lesson: Lesson, chapter: str) -> list[codec.Param]:
    """Return the controls that a chapter may read: its own and its lesson's.

    chapter: its key; an empty one for a lesson without chapters.
    """
    own = _params(f"{lesson.package}.{chapter}") if chapter else ()
    return [*_params(lesson.package), *own]


@cache
def _params(package: str) -> Sequence[codec.Param]:
    name = f"{package}.params"
    return importlib.import_module(name).PARAMS if find_spec(name) else ()


def show(lesson: Lesson) -> None:
    """Show a lesson's page: its head, what stands above its chapters, and the chosen chapter.

    The lesson's folder may hold `page.py` with `draw(state)`: what stands above the chapters, or
    all of a page without chapters.
    """
    begins = dict(lesson.begins_with)
    if lesson.linked_first:
        begins["part"] = lesson.chapters[0].key
    linked = bool(seat.of_page(st.query_params.to_dict())) or seat.is_led(lesson.key)
    fresh = [key for key in begins if f"{lesson.key}.{key}" not in st.session_state]
    state = page_state(lesson.key, lesson.params())
    for key in fresh:  # kept from now on, for a visitor who comes back from another page
        state[key] = state[key] if linked else begins[key]
    st.title(lesson.headline or lesson.title, anchor=False)
    prose("\n\n".join(filter(None, (lesson.promise, lesson.needs))))
    if lesson.after:
        with st.container(horizontal=True, gap="small"):
            for key in lesson.after:
                st.page_link(f"pages/{key}.py", icon=":material/arrow_back:")
    state.show_problems()
    if state["show"] and seat.projects():  # before a class, answers stay covered
        state["show"] = False
    open_all(state["show"])
    body(lesson, state)


@st.fragment  # a control runs this alone, not the app around it
def body(lesson: Lesson, state: PageState) -> None:
    """Show what stands below a lesson's head; its imports wait until the head is on its way."""
    if find_spec(f"{lesson.package}.page"):
        importlib.import_module(f"{lesson.package}.page").draw(state)
    if not lesson.names:
        st.session_state[HERE] = lesson.key
        _onward(state, lesson)
    elif not lesson.needs_engine or engine_ready():
        chapters(lesson, state)


def chapters(lesson: Lesson, state: PageState) -> None:
    """Show one chapter at a time, with the list of all above it and the next one below.

    Only the chosen chapter is computed.
    """
    titles = {chapter.key: chapter.title for chapter in lesson.chapters}
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
    chapter = lesson.chapters[at]
    way = course.stop_of(state[course.WAY.key], lesson.key, chapter.key)
    opening(chapter.front, chapter.short_names, way)
    st.session_state[HERE] = place = f"{lesson.key}/{chapter.key}"
    note_opened(place)
    lesson.module(chapter).draw(state)
    st.space("medium")
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if at > 0:
            st.button(
                f"Back: {titles[keys[at - 1]]}",
                key=f"_back@{lesson.key}.{chapter.key}",
                icon=":material/arrow_back:",
                on_click=_go_to,
                args=(state, keys[at - 1]),
            )
        _onward(state, lesson, keys[at])


def _go_to(state: PageState, part: str) -> None:
    state["part"] = part


def _onward(state: PageState, lesson: Lesson, chapter: str = "") -> None:
    """Show the main button, which leads along the visitor's way; nothing comes after its end."""
    after = course.onward(state[course.WAY.key], lesson, chapter)
    if after is None:
        return
    page, _, part = after.place.partition("/")
    here = page == lesson.key  # then the list of chapters stays where it is
    pressed = st.button(
        after.label,
        key=f"_next@{lesson.key}.{chapter}",
        icon=":material/arrow_forward:",
        type="primary",
        on_click=_go_to if here else None,
        args=(state, part) if here else None,
    )
    if pressed and not here:
        course.open_place(after.place)


def seen(end: Section, /, **values: Any) -> None:
    """Show what a chapter ends with: what was seen, in the learner's numbers, and what to try."""
    title, text = end.filled(**values)
    with st.container(border=True):
        st.subheader(title, anchor=False)
        prose(text)


def section(
    head: Section | str, text: str = "", /, *, anchor: str | None = None, **values: Any
) -> None:
    """Show the head of a section and its few sentences, with `values` in the slots of both."""
    if isinstance(head, Section):
        head, text = head.filled(**values)
    st.header(head, anchor=anchor or False, divider=False)
    if text:
        prose(text)

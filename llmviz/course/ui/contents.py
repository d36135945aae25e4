"""The contents of the course: a lesson is a list of chapters, a chapter is a folder.

A chapter's folder holds its document `chapter.md`, `chapter.py` with `draw(state)`, in its
`__init__.py` the texts and `PARAMS`, the controls that its links carry (none: no such name), and
what computes for it alone. `chapter.py` is imported when the chapter is first shown. What several
chapters of a lesson share stands in the lesson's folder. Nothing here draws: no Streamlit.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from llmviz.course.document import ENGLISH, Document, Front, language, sentences, texts_of
from llmviz.course.document.languages import LANGUAGES
from llmviz.course.glossary import short_names
from llmviz.course.ui import codec

LANGUAGE = codec.choice("lang", ENGLISH, tuple(LANGUAGES), shared=True)  # of the texts
ALL = "all"  # the way through all chapters of all lessons
HOUR, COURSE = "hour", "course"  # the shorter ways
WAY = codec.choice("course", ALL, (HOUR, COURSE, ALL), shared=True)
MORE = codec.text("more", "")  # the stop of the hour that is shown in full


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
    names, further: its chapters' folders, those of its way and those behind it.
    after: keys of the lessons to take first, as links.
    needs_engine: whether no chapter can do without torch; the page then waits for it.
    linked_first: the chapter of a link that names none, where that is not the first one any more.
    moved: names of chapters in older links, and the chapters that hold now what was there, with the
    section of it: `chapter#section`.
    gone: chapters that stand in another lesson today, and that one.
    split: chapters that were a part of another, with that one and what older links to it say, and
        today's never do, that mean them: `control=value`, or `control`; `chapter/control` of a
        second one.
    begins_with: controls and what they are for a visitor who comes without a link, where a link
    that leaves them out has always meant something else.
    """

    key: str
    icon: str
    words: Document
    names: Sequence[str] = ()
    further: Sequence[str] = ()
    needs_engine: bool = False
    after: Sequence[str] = ()
    linked_first: str = ""
    moved: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    split: Mapping[str, Sequence[str]] = field(default_factory=dict)
    begins_with: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The names of all its chapters, in their order."""
        return [*self.names, *self.further]

    @property
    def chapters(self) -> list[Chapter]:
        """All its chapters, in their order: those of its way, then the further ones."""
        return [Chapter(self.package, name) for name in self.keys]

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
        return package_of(self.key)

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
            first = self.linked_first or keys[0]
            controls.append(codec.choice("part", first, keys, moved=self.hosts, always=True))
            declared["part"] = "all lessons"
        # What questions cover: "1" shows it in all chapters, the name of a chapter in that one.
        chapters = [chapter.key for chapter in self.chapters]
        controls.append(
            codec.choice("show", "", ("", "1", *chapters), moved={"0": "", **self.hosts})
        )
        controls += [LANGUAGE, WAY, MORE]
        declared |= dict.fromkeys(("show", LANGUAGE.key, WAY.key, MORE.key), "all lessons")
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

    @property
    def hosts(self) -> dict[str, str]:
        """The chapters that hold now what others held, by the names of those in older links."""
        return {old: there.partition("#")[0] for old, there in self.moved.items()}

    def opened_by(self, link: Mapping[str, str]) -> str | None:
        """Return the chapter that holds now what an older link to another one means.

        >>> from llmviz.course.lessons.embeddings import LESSON
        >>> LESSON.opened_by({"part": "positions", "way": "none"})
        'ways'
        """
        said = {*link, *map("=".join, link.items())}
        for key, (old, *pieces) in self.split.items():
            for chapter, _, piece in (written.rpartition("/") for written in pieces):
                if link.get("part") == (chapter or old) and piece in said:
                    return key
        return None


def package_of(key: str) -> str:
    """Return the package of a lesson, which is found by the name of its folder alone."""
    return f"llmviz.course.lessons.{key}"


def controls_of(lesson: Lesson, chapter: str) -> list[codec.Param]:
    """Return the controls that a chapter may read: its own and its lesson's.

    chapter: its key; an empty one for a lesson without chapters.
    """
    own = _params(f"{lesson.package}.{chapter}") if chapter else ()
    return [*_params(lesson.package), *own]


@cache
def _params(package: str) -> Sequence[codec.Param]:
    name = f"{package}.params"  # where `__init__.py` does not hold them
    return getattr(importlib.import_module(name if find_spec(name) else package), "PARAMS", ())

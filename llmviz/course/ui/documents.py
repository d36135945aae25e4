"""The documents of the lessons, held against the code that shows them, when the server starts."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import streamlit as st

from llmviz.course import streamlit_parts
from llmviz.course.document import ENGLISH, Document, texts_of
from llmviz.course.document.check import Names, check
from llmviz.course.document.languages import LANGUAGES, let_choose
from llmviz.course.document.translated import Translation, translations
from llmviz.course.ui.contents import LANGUAGE, Lesson
from llmviz.files.paths import COURSE, PACKAGE
from llmviz.files.whole import write_whole

# Of which state of the files it is known that they fit.
FIT = COURSE / "__pycache__" / "documents.txt"


def offer_languages() -> None:
    """Show each visitor the texts in the language that the link asks for, else the one chosen."""
    let_choose(_wanted)


# In the thread that runs a visitor's script, whose reruns are all of one session.
_here: ContextVar[str | None] = ContextVar("language", default=None)


def _wanted() -> str:
    known = _here.get()  # a rerun asks some hundred times
    return known or _look_up()


def _look_up() -> str:
    linked = st.query_params.get(LANGUAGE.key)
    if linked not in LANGUAGES:  # else the page's own state reads it later in this rerun
        linked = st.session_state.get(f"shared.{LANGUAGE.key}", LANGUAGE.default)
    if streamlit_parts.session():
        _here.set(linked)
    return linked


def hear_language() -> None:
    """Look anew, when a rerun of the whole app begins, in which language it is."""
    _here.set(None)


def check_changed_documents(
    lessons: Sequence[Lesson], between: Callable[[], None] = lambda: None
) -> None:
    """Check the documents, unless a server before this one found the same files right.

    Files are the same by what Python's own cache goes by: their paths, sizes and times. Reading
    all code takes the processor three seconds; where the cache cannot be written, it takes them at
    each start.

    between: called again and again meanwhile, so that others may come before.
    Raises DocumentError as `check_documents` does.
    """
    files = (path for end in ("md", "py", "js") for path in PACKAGE.rglob(f"*.{end}"))
    state = state_of(files, [lesson.key for lesson in lessons])
    if FIT.is_file() and FIT.read_bytes() == state:
        return
    check_documents(lessons, between)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            FIT.parent.mkdir(exist_ok=True)
            write_whole(FIT, lambda path: path.write_bytes(state))


def state_of(files: Iterable[Path], lessons: Sequence[str]) -> bytes:
    """Return what tells a state of files from all others, for these lessons."""
    lines = [f"{path} {(kept := path.stat()).st_size} {kept.st_mtime_ns}" for path in sorted(files)]
    return hashlib.sha256("\n".join([*lessons, *lines]).encode("utf-8")).hexdigest().encode()


def _taker(lesson: Lesson) -> Callable[[str, str], Any]:
    """Return what reads the value of a control of a lesson, as its links write it."""
    params = {param.key: param for param in lesson.params()}
    return lambda control, written: params[control].read(written)


def check_documents(lessons: Sequence[Lesson], between: Callable[[], None] = lambda: None) -> None:
    """Read every document of these lessons and hold it against their code.

    A slot may be filled by a lesson's own code, by what all lessons share, by a script of a
    component, or with a value that the engine names.

    Raises DocumentError naming the file, the line and the rule.
    """

    def files(pattern: str, folder: Path) -> Iterator[Path]:
        for path in sorted(folder.rglob(pattern)):
            between()
            yield path

    engine = Names(files("*.py", PACKAGE))
    shared = [*(COURSE / "ui").glob("*.py"), *(COURSE / "components").rglob("*.js")]
    furniture = Names(sorted((COURSE / "ui").glob("*.py")))
    for path in sorted((COURSE / "ui").glob("*.md")):
        if "." not in path.stem:
            check(path, furniture)
    for path, english in translations():
        Translation(path, texts_of(Document(english), ENGLISH)).check()
    for lesson in lessons:
        folder = COURSE / "lessons" / lesson.key
        names = Names([*sorted(folder.rglob("*.py")), *shared], engine)
        for path in files("*.md", folder):
            if "." not in path.stem:
                check(path, names, _taker(lesson))

"""The documents of the lessons, held against the code that shows them, when the server starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

import llmviz
from llmviz.document import Document, texts_of
from llmviz.document.check import Names, check, check_translation
from llmviz.document.texts import let_choose
from llmviz.ui.lesson import LANGUAGE, Lesson

HERE = Path(llmviz.__file__).parent


def offer_languages() -> None:
    """Show each visitor the texts in the language that the link asks for, as far as there are any.

    Without a document in another language nothing asks, so that English costs nothing.
    """
    let_choose(lambda: st.session_state.get(f"shared.{LANGUAGE.key}", LANGUAGE.default))


def check_documents(lessons: Sequence[Lesson]) -> None:
    """Read every document of these lessons and hold it against their code.

    A slot may be filled by a lesson's own code, by what all lessons share, by a script of a
    component, or with a value that the engine names.

    Raises DocumentError naming the file, the line and the rule.
    """
    if any(path.stem.count(".") for path in HERE.glob("lessons/**/*.md")):
        offer_languages()
    engine = Names(sorted(HERE.rglob("*.py")))
    shared = [*(HERE / "ui").glob("*.py"), *(HERE / "components").rglob("*.js")]
    furniture = Names(sorted((HERE / "ui").glob("*.py")))
    for path in sorted((HERE / "ui").glob("*.md")):
        check(path, furniture)
    for lesson in lessons:
        folder = HERE / "lessons" / lesson.key
        names = Names([*sorted(folder.rglob("*.py")), *shared], engine)
        for path in sorted(folder.rglob("*.md")):
            name, _, language = path.stem.partition(".")
            if language:
                check_translation(path, texts_of(Document(path.with_name(f"{name}.md"))))
            else:
                check(path, names)

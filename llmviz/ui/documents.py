"""The documents of the lessons, held against the code that shows them, when the server starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import llmviz
from llmviz.document import Document, texts_of
from llmviz.document.check import Names, check, check_translation
from llmviz.ui.lesson import Lesson

HERE = Path(llmviz.__file__).parent


def check_documents(lessons: Sequence[Lesson]) -> None:
    """Read every document of these lessons and hold it against their code.

    A slot may be filled by a lesson's own code, by what all lessons share, by a script of a
    component, or with a value that the engine names.

    Raises DocumentError naming the file, the line and the rule.
    """
    engine = Names(sorted(HERE.rglob("*.py")))
    shared = [*(HERE / "ui").glob("*.py"), *(HERE / "components").rglob("*.js")]
    for lesson in lessons:
        folder = HERE / "lessons" / lesson.key
        names = Names([*sorted(folder.rglob("*.py")), *shared], engine)
        for path in sorted(folder.rglob("*.md")):
            name, _, language = path.stem.partition(".")
            if language:
                check_translation(path, texts_of(Document(path.with_name(f"{name}.md"))))
            else:
                check(path, names)

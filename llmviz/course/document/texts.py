"""A document's texts as attributes, in the language that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmviz.course.document.read import read

ENGLISH = "en"
_asks: Callable[[], str] | None = None


def language() -> str:
    """Return the language that is asked for now: English, unless `let_choose` was called."""
    return ENGLISH if _asks is None else _asks()


def let_choose(asks: Callable[[], str] | None) -> None:
    """Let `asks` say, whenever a text is taken, in which language it is wanted; None: English."""
    global _asks
    _asks = asks


class Document:
    """The texts of a Markdown document by name: `words.result` is its text `result`.

    It is read when the first text is asked for, once. A document beside it whose name has a
    language before its end, such as `chapter.es.md`, is read where `language()` is that one; what
    it does not have is English.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts: dict[str, dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        """Return a text.

        Raises AttributeError: the document has none of this name. DocumentError: it cannot be read.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return texts_of(self)[name]
        except KeyError:
            raise AttributeError(f"{self._path} has no text named {name!r}") from None


def beside(file: str, name: str = "chapter") -> Document:
    """Return the document `name.md` in the folder of a module, which gives its `__file__`."""
    return Document(Path(file).with_name(f"{name}.md"))


def texts_of(document: Document, wanted: str = "") -> dict[str, Any]:
    """Return all texts by name in a language, by default the one that is asked for now."""
    wanted = wanted or language()
    known = document._texts
    if wanted not in known:
        path = path_of(document, wanted)
        if wanted == ENGLISH:
            known[wanted] = read(path)
        else:
            known[wanted] = texts_of(document, ENGLISH) | (read(path) if path.is_file() else {})
    return known[wanted]


def path_of(document: Document, wanted: str = ENGLISH) -> Path:
    """Return where the document of a language stands, whether it is there or not."""
    english = document._path
    return english if wanted == ENGLISH else english.with_name(f"{english.stem}.{wanted}.md")

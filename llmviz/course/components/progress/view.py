"""Notes in the visitor's own browser what was opened and answered; nothing of it is seen."""

from __future__ import annotations

from llmviz.course.components._shared.transport import pack, renderer
from llmviz.course.document import language


def note_opened(place: str, section: str = "") -> None:
    """Keep that a chapter was opened, and show a page that is new to the window from its top.

    Its language is said to screen readers.

    place: such as ``attention/steps``; for a page without chapters its name, which is not kept.
    section: of it, the one to show instead, whose head stands in the block ``lv-sought``.
    """
    payload = {"place": place, "section": section, "language": language()}
    renderer("progress")(data=pack(payload), key="progress")


def note_answer(place: str, question: str, right: bool, *, key: str) -> None:
    """Keep that a question of a chapter was answered, and whether rightly."""
    payload = {"place": place, "question": question, "right": right}
    renderer("progress")(data=pack(payload), key=key)

"""When each kind of model came, what it needed, and what it measures here."""

from __future__ import annotations

from llmviz.lessons.history.all import words
from llmviz.lessons.history.all.nine import measures
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the events in their order."""
    section(words.WHEN_TITLE, words.WHEN_TEXT)
    prose("\n\n".join(events()))


def events() -> list[str]:
    """Return a paragraph for each event, with the losses that the models have here."""
    losses = {one.key: one.loss for one in measures()}
    lines = []
    for year, what, needed, source, models in words.EVENTS:
        measured = ", ".join(
            words.HERE_ONE.format(model=words.MODELS[key], loss=losses[key]) for key in models
        )
        here = words.HERE.format(measured=measured) if measured else ""
        lines.append(
            words.EVENT.format(year=year, what=what, needed=needed, source=source, here=here)
        )
    return lines

"""The questions of a chapter as a visitor meets them, from its first screen to its last answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.components import unpack
from llmviz.course.components.case_rows.view import Axis
from llmviz.course.document.marks import unmarked
from llmviz.course.ui import guess, guess_given
from llmviz.course.ui.question import Question, begins_of
from tests.pages.harness import fine, open_part, prose_of

TAG = re.compile(r"<[^>]+>")
SHOWN_ANYWAY = "Show me without an answer"


class Asked(NamedTuple):
    """A question as a visitor sees it: its text, its answers in order, the place of the right."""

    text: str
    answers: Sequence[str]
    right: int


@contextmanager
def noting() -> Iterator[list[Question]]:
    """Note the questions of the pages that are opened meanwhile, each once."""
    noted: list[Question] = []
    order = Question.order

    def noting_order(asked: Question) -> list[int]:
        if asked not in noted:
            noted.append(asked)
        return order.fget(asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Question, "order", property(noting_order))
        yield noted


def in_lists(app: AppTest, questions: Sequence[Question]) -> Iterator[Asked]:
    """Of these questions, those whose answers stand in a list of the page."""
    listed = {frozenset(radio.options) for radio in app.radio}
    for each in questions:
        if frozenset(each.answers) in listed:
            shown = each.order
            answers = [unmarked(each.answers[at]) for at in shown]
            yield Asked(unmarked(each.text), answers, shown.index(each.right))


class OnAxis(NamedTuple):
    """A question that a handle on an axis answers: the numbers that its answers stand for.

    begin: where the handle stands at first.
    """

    question: Question
    low: float
    high: float
    log: bool
    begin: float


def on_axis(made: guess.Guess, axis: Axis, veiled: Sequence[int]) -> Iterator[OnAxis]:
    """Where a guess is asked for with one handle, that handle."""
    if made.question is not None and made.asks and len(veiled) == 1:
        (right,) = made.right
        begin = begins_of(axis.low, axis.high, [right], log=axis.log)[0]
        yield OnAxis(made.question, axis.low, axis.high, axis.log, begin)


class Answered(NamedTuple):
    """A chapter that was opened, and then answered to its end."""

    shown: list[str]  # on the page before any answer
    questions: list[Question]  # on that page
    in_lists: list[Asked]  # on any of its pages
    on_axes: list[OnAxis]
    waits: bool  # whether something still waits for an answer
    prose: str  # at its end


@cache
def answered(name: str, part: str) -> Answered:
    """Open a chapter as visitors find it, and answer what it asks; each page must be fine."""
    listed: list[Asked] = []
    axes: list[OnAxis] = []
    draw = guess.Guess.cases

    def noting_axis(made, cases, axis, *, veiled, **look):
        axes.extend(on_axis(made, axis, veiled))
        draw(made, cases, axis, veiled=veiled, **look)

    with noting() as noted, pytest.MonkeyPatch.context() as patch:
        patch.setattr(guess.Guess, "cases", noting_axis)
        patch.setattr(guess_given, "COVERS", True)
        app = open_part(name, part)
        fine(app)
        shown, questions = list(texts(app.main)), list(noted)
        listed += in_lists(app, noted)
        for _ in range(12):  # an answer may open the next question
            waiting = [radio for radio in app.radio if radio.value is None]
            unanswered = [button for button in app.button if button.label == SHOWN_ANYWAY]
            if waiting:
                waiting[0].set_value(0).run()
            elif unanswered:  # the guess is made on the picture
                unanswered[0].click().run()
            else:
                break
            fine(app)
            listed += in_lists(app, noted)
        waits = any(button.label == SHOWN_ANYWAY for button in app.button)
        return Answered(shown, questions, listed, axes, waits, prose_of(app))


def texts(block: Any, pictures: bool = True) -> Iterator[str]:
    """All that stands on a page from top to bottom, without the code below it."""
    for element in block.children.values():
        proto = getattr(element, "proto", None)
        if element.type == "html":
            tips = re.sub(r'<span class="lv-tip".*?</span>', "", proto.body)
            yield unescaped(TAG.sub("", tips))
        elif element.type == "arrow_data_frame":
            yield from map(str, element.value.to_numpy().ravel())
        elif element.type == "bidi_component" and pictures:
            yield from _strings(unpack(proto.bytes))
        elif element.type == "radio":
            yield element.label
        elif element.type not in ("code", "expander", "bidi_component") and hasattr(
            element, "value"
        ):
            yield unmarkdown(str(element.value))
            yield getattr(element, "label", None) or ""
        if hasattr(element, "children") and element.type != "expander":
            yield from texts(element, pictures)


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def unmarkdown(text: str) -> str:
    return re.sub(r"[*`\\]", "", text)


def _strings(payload: Any) -> Iterator[str]:
    if isinstance(payload, str):
        yield payload
    elif isinstance(payload, int) and not isinstance(payload, bool) and payload >= 100:
        yield f"{payload:,}"
    elif isinstance(payload, dict):
        for name, part in payload.items():
            if name != "hex":  # bytes, of which two may look like an answer
                yield from _strings(part)
    elif isinstance(payload, list | tuple):
        for part in payload:
            yield from _strings(part)

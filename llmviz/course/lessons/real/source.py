"""Where the chapters get their numbers: the record, or the model where it is here."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.components.token_strip.view import TokenRow
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.real import words
from llmviz.course.lessons.real.measures import MEASURES, name_of
from llmviz.course.lessons.real.record import recorded
from llmviz.course.ui import engine, kit
from llmviz.course.ui.contents import Chapter, package_of
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.files.text import whole_number
from llmviz.tokenizers import Token, in_line

SLICE = 0.4  # seconds of work in one rerun
POLL = 0.1  # seconds between two of them
Given = tuple[str, ...]  # what stands in the fields of a chapter
_STOPPED = "_real_stopped"  # in the session: what this visitor does not wait for


def record(name: str, *given: Any) -> Any:
    """Return what is recorded of a measure. ValueError: the file is missing; KeyError: not this."""
    return recorded(name, MEASURES[name].kind)[name_of(given)]


def here() -> engine.Bundled | None:
    """Return the real model, loaded; None where it was not fetched."""
    return engine.load(kit.REAL) if kit.REAL in engine.obtained() and engine_ready() else None


class Work:
    """A measure that is taken step by step; several visitors may wait for the same one."""

    def __init__(self, reader: engine.Bundled, name: str, given: Sequence[Any]) -> None:
        self.share, self.value = 0.0, None
        self._begin: Callable[[], Any] | None = lambda: MEASURES[name].compute(reader, *given)
        self._steps: Any = None
        self._lock = Lock()

    def grow(self, seconds: float) -> bool:
        """Work for some seconds, at least a step; return whether it is done.

        Raises ValueError where what is given cannot be measured.
        """
        with self._lock:
            until = time.monotonic() + seconds
            if self._begin is not None:
                made, self._begin = self._begin(), None
                if not hasattr(made, "send"):
                    self.value, self.share = made, 1.0
                self._steps = made
            while self.share < 1.0 or self.value is None:
                try:
                    self.share = min(0.99, next(self._steps))
                except StopIteration as end:
                    self.value, self.share = end.value, 1.0
                if time.monotonic() >= until:
                    break
            return self.share == 1.0


@kit.cached(64)
def work(reader: engine.Bundled, name: str, given: tuple[Any, ...]) -> Work:
    """Return a measure as far as it is, the same for all visitors."""
    return Work(reader, name, given)


def measured(name: str, *given: Any) -> Any:
    """Return a measure, or None after showing why there is none yet.

    What is recorded comes from the record. Else the model is asked, in steps, with progress and a
    way to stop; where it is not here, it is offered.
    """
    try:
        return record(name, *given)
    except KeyError:
        pass
    reader = here()
    key = f"real.{name}.{name_of(given)}"
    if reader is None:
        kit.inform(unmarked(words.recorded_only), ":material/inventory_2:")
        kit.offer_real_model(f"real.{name}")
        return None
    stopped = st.session_state.setdefault(_STOPPED, set())
    if key in stopped:
        st.button(
            words.go_on,
            key=f"{key}.on",
            icon=":material/play_arrow:",
            on_click=stopped.discard,
            args=(key,),
        )
        return None
    going = work(reader, name, given)
    try:
        if going.grow(SLICE):
            return going.value
    except ValueError as error:
        work.forget(reader, name, given)
        kit.refuse(error)
        return None

    @st.fragment(run_every=POLL)
    def wait() -> None:
        if key in stopped or going.grow(SLICE):
            kit.run_again()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(going.share, words.measuring, width=360)
            st.button(words.stop, key=f"{key}.stop", on_click=stopped.add, args=(key,))

    wait()
    return None


def or_recorded(name: str, given: Given, example: Given) -> tuple[Any, Given]:
    """Return a measure and what it is of: of an example that is recorded, where there is none yet.

    So the picture stays, and shows what is said beside it.
    """
    found = measured(name, *given)
    if found is not None:
        return found, given
    kit.prose(words.instead)
    return record(name, *example), example


def word(text: str) -> str:
    """Return a token or a word quoted, without the space before it."""
    return kit.quote(text.strip() or text)


def chips(pieces: Sequence[str]) -> list[Token]:
    """Return pieces of a text as the tokens of a strip, numbered."""
    return in_line(map(str.encode, pieces))


def places(name: str, *, stays: bool = False) -> tuple[DeltaGenerator, ...]:
    """Return the places of a chapter's picture, guess, fields and looks, in this order.

    They stay where they are while something is measured, so that no field loses its focus. stays:
    see `kit.stage`.
    """
    with st.container():  # the picture stays in view as far as its looks
        return kit.stage(name, stays=stays), *(st.container() for _ in range(3))


def beside() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return a place for a grid of all heads and one beside it, or below it in a narrow window."""
    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        return st.container(width=460), st.container(width=340)


def snippet(text: str, /, **slots: Any) -> str:
    """Return a snippet, filled, behind the lines that load the model."""
    return f"{words.load}\n\n{text.format(**slots)}"


def cell_of(link: str, rows: int, columns: int) -> tuple[int, int] | None:
    """Return the cell that a link names, "23.4"; None where there is none."""
    row, _, column = link.partition(".")
    match whole_number(row), whole_number(column):
        case int(i), int(j) if i < rows and j < columns:
            return i, j
    return None


def grid(
    state: kit.PageState,
    param: str,
    values: np.ndarray,
    notes: Sequence[Sequence[str]],
    *,
    opened: bool = True,
    **look: Any,
) -> None:
    """Draw a grid, of all heads if nothing else is said; a click names its cell in the address.

    Before it is opened it is empty.
    """
    rows, columns = values.shape
    if not opened:
        values, notes = np.zeros_like(values), [[words.waits] * columns] * rows
    key = f"real.{param}.grid"  # the state itself is kept without the last word

    def clicked() -> None:
        chosen = st.session_state[key]["chosen"]  # None where the page lets go of a cell
        state[param] = "{}.{}".format(*chosen) if chosen else ""

    heads = {
        "row_names": [words.layer.format(layer=n) for n in range(rows)],
        "column_names": [words.head.format(head=n) for n in range(columns)],
    }
    cell_grid(
        values,
        key=key,
        notes=notes,
        limit=1.0,
        chosen=cell_of(state[param], rows, columns) if opened else None,
        on_change=clicked,
        **heads | look,
    )


def mean_of(
    key: str, label: str, pieces: Sequence[str], values: Sequence[float] | np.ndarray
) -> None:
    """Draw the pieces of a text, each with its value from 0 to 1, whose mean a cell shows."""
    details = [{label: kit.percent(value)} for value in values]
    row = TokenRow("", chips(pieces), "", list(values), details)
    kit.value_strip([row], key, label)


def own(state: kit.PageState, fields: dict[str, str], *, width: int = 320) -> None:
    """Show the fields in which one types something of one's own, and the way back.

    fields: by control, their labels.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, label in fields.items():
            kit.text_input(state, key, label, width=width)
        begun = {key: state.params[key].default for key in fields}
        if any(state[key] != value for key, value in begun.items()):
            name = f"real.{'.'.join(fields)}.back"
            st.button(words.back, key=name, icon=":material/undo:", on_click=state.setter(**begun))


def measured_text(
    state: kit.PageState,
    chapter: str,
    fields: dict[str, str],
    *,
    measure: str = "",
    width: int = 320,
    stays: bool = False,
) -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator, Any, Given]:
    """Show the fields of a chapter, and measure what stands in them, as `measure` or the chapter.

    Returns the places of its picture, guess and looks, what was measured, and of what: of what the
    chapter begins with, where what stands there is not measured yet.
    """
    stage, guess, below, looks = places(chapter, stays=stays)
    with below:
        own(state, fields, width=width)
        about()
    given = tuple(state[key].strip() for key in fields)
    begun = tuple(state.params[key].default for key in fields)
    with stage:
        return stage, guess, looks, *or_recorded(measure or chapter, given, begun)


def proved(lesson: str, chapter: str) -> None:
    """Show a link to the chapter that proves the same on small models."""
    title = Chapter(package_of(lesson), chapter).title
    kit.chapter_link(lesson, chapter, words.proved.format(title=title))


def about() -> None:
    """Say whose numbers these are, and guard the fields; once on each page."""
    text_guard(kit.furniture.half_character)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(unmarked(words.about[kit.REAL in engine.obtained()]))
        kit.offer_real_model("real.about")

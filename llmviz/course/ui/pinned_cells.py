"""A place in a picture, such as a cell of a matrix, that stands in the link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.ui.state import PageState
from llmviz.files.text import whole_number

NONE = "-"  # written where the learner let go of the cell that a picture opens with


def link_of(place: Sequence[object] | None) -> str:
    """Return a place as a link has it, which `cell_of` reads again; empty for none.

    >>> link_of(["weights", 1, 2]), link_of(None)
    ('weights.1.2', '')
    """
    return ".".join(map(str, place)) if place else ""


def chosen_link(place: Sequence[object] | None) -> str | None:
    """Return a place as a link has it; None for none, which leaves a control as it is."""
    return link_of(place) or None


def place_of(link: str, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Return the place that a link names in an array of that shape; None where there is none such.

    >>> place_of("1.3", (2, 4)), place_of("1.4", (2, 4)), place_of("1", (2, 4))
    ((1, 3), None, None)
    """
    numbers = [whole_number(part) for part in link.split(".")]
    place = tuple(number for number in numbers if number is not None)
    fits = len(numbers) == len(place) == len(shape)
    return place if fits and all(at < size for at, size in zip(place, shape, strict=True)) else None


def windows_link(windows: Sequence[tuple[str, int]] | None) -> str:
    """Return where windows on axes begin, as a link has it; those at the beginning are left out.

    >>> windows_link([("C", 8), ("F", 0)]), windows_link(None)
    ('C.8', '')
    """
    return ",".join(f"{name}.{at}" for name, at in windows or [] if at)


def second_of(place: Sequence[int] | None) -> int:
    """Return the column of a cell, or the token of a row that was clicked; -1 for none."""
    return place[1] if place else -1


def or_first(number: int | None) -> int:
    """Return a number; 0 for none."""
    return number or 0


def one_of(values: Sequence[Any], otherwise: Any = None) -> Callable[[Any], Any]:
    """Return what gives the value of a number that counts them from 0.

    otherwise: of what is no such number.

    >>> one_of("abc")(2), one_of("abc")(3), one_of([0, 1, -1], -1)(None)
    ('c', None, -1)
    """
    return lambda at: values[at] if isinstance(at, int) and 0 <= at < len(values) else otherwise


def bound(
    state: PageState, key: str, **parts: str | tuple[str, Callable[[Any], Any]]
) -> Callable[[], None]:
    """Return the callback of a component that puts what it reports into the page's state.

    key: of the component. parts: by the component's name of what it reports, such as `step`,
    `pinned` or `chosen`, the control that holds it, and what makes the control's value of it, if
    that is another one. None leaves the control as it is.
    """

    def settled() -> None:
        reported = st.session_state[key] or {}
        for part, held in parts.items():
            control, read = (held, None) if isinstance(held, str) else held
            value = reported.get(part) if read is None else read(reported.get(part))
            if value is not None:
                state[control] = value

    return settled


def show(
    state: PageState,
    matrices: Sequence[lv.Matrix],
    layout: Sequence[Sequence[str | None]],
    *,
    key: str,
    control: str,
    first: str = "",
    **more: Any,
) -> None:
    """Draw linked matrices; `control` is the state's key of the kept cell, `first` opens first.

    An empty control means `first`; a cell that no longer exists is let go. `more` goes to the
    view as it is.
    """
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    pinned = lv.cell_of(state[control] or first, shapes)

    def settled() -> None:
        kept = link_of(st.session_state[key].get("pinned")) or NONE
        state[control] = "" if kept == first else kept

    lv.matrix_view(matrices, layout=layout, key=key, pinned=pinned, on_change=settled, **more)

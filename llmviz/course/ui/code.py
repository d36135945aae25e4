"""The code behind a step: the functions that ran, and a snippet that prints the same."""

from __future__ import annotations

import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from llmviz.course.ui.furniture import words
from llmviz.course.ui.prose import prose

SNIPPET_MARK = "# Runs by itself."


OPENED = "_opened"  # in the session: open every fold at once, as the tests want it


def fold(label: str, key: str, icon: str, *, opened: bool = False) -> DeltaGenerator | None:
    """Show a closed fold; return it once it is open, and until then None.

    What nobody looks at is neither computed nor sent: the browser would need longer for it than
    for most pictures.

    opened: it begins open. Another value later makes another fold of it, which begins as that says.
    """
    expanded = opened or bool(st.session_state.get(OPENED))
    box = st.expander(label, icon=icon, expanded=expanded, key=key, on_change="rerun")
    return box if box.open else None


def show_code(
    functions: Sequence[Callable | type | FunctionType],
    snippet: str,
    prints: str | Callable[[], str],
    *,
    label: str = "",
) -> None:
    """Show the source of what was just computed, and a snippet that repeats it outside the app.

    `functions` are the `llmviz` functions that ran. `snippet` is Python that runs alone from the
    project's folder and prints exactly `prints`; the tests run it. Where that has to be computed,
    `prints` is a function, called once somebody looks.
    """
    caller = sys._getframe(1)
    names = ",".join(function.__qualname__ for function in functions)
    key = f"_code.{caller.f_globals['__name__']}.{caller.f_code.co_qualname}.{names}"
    box = fold(label or words.show_code, key, ":material/code:")
    if box is None:
        return
    with box:
        for function in functions:
            name = f"{function.__module__}.{function.__qualname__}"
            st.caption(name.replace("_", "\\_"))
            st.code(_source(function), language="python", height=320)
        st.caption(words.same_numbers)
        st.code(f"{SNIPPET_MARK}\n{textwrap.dedent(snippet).strip()}", language="python")
        st.caption(words.prints)
        st.code(prints if isinstance(prints, str) else prints(), language=None)


def measured(text: str, /, **values: Any) -> DeltaGenerator | None:
    """Show, once somebody opens it, how numbers came about: seeds, means, what was left out.

    Return the open fold, for what else belongs there; None while it is closed.
    """
    return _aside(words.how_measured, ":material/science:", text, values)


def programmers(text: str, code: str = "", /, **values: Any) -> None:
    """Show, once somebody opens it, what who writes code wants to know: shapes, calls, traps.

    code: lines below the text, shown as they are.
    """
    box = _aside(words.programmers, ":material/code:", text, values)
    if box is not None and code:
        box.code(code, language=None)


def _aside(label: str, icon: str, text: str, values: dict[str, Any]) -> DeltaGenerator | None:
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]  # a chapter may have several
    box = fold(label, f"_aside.{digest}", icon)
    if box is not None:
        with box:
            prose(text, **values)
    return box


@cache  # finding a function in its file takes milliseconds, and every rerun would do it again
def _source(function: Callable | type) -> str:
    return textwrap.dedent(inspect.getsource(function))

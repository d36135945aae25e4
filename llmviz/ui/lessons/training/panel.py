"""One run: how it goes, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from llmviz.training import library
from llmviz.training.curves import time_left
from llmviz.training.states import RESUMABLE, RunState
from llmviz.ui import runs
from llmviz.ui.lessons.common import count
from llmviz.ui.lessons.training import cost, shown
from llmviz.ui.lessons.training.clicks import clicked
from llmviz.ui.lessons.training.words import runs as words
from llmviz.ui.notices import refuse, warn
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_markdown

FIRST_POINT = 0.9  # seconds that a start waits for the first point of its curve
ACTED = "_training_acted"  # in the session: a button was answered, and the page is of before
PROBLEM = "_training_problem"  # in the session: why the last thing asked for was not done


def begin(state: PageState, start: Callable[[], RunState]) -> None:
    """Start a run and look at it; a refusal is kept for the next drawing of the page."""
    try:
        run = start()
    except ValueError as error:
        st.session_state[PROBLEM] = str(error)
    else:
        state["run"] = library.PREFIX + run.name
        runs.manager().wait(run.name, FIRST_POINT)
    st.rerun()


def draw(state: PageState, run: RunState | None, found: shown.Shown | None) -> None:
    """How a run goes, and what can be done with it."""
    if st.session_state.pop(ACTED, False):
        st.rerun()  # all of the page, which says how busy the machine is
    if found is not None and found.is_bundled:
        st.caption(words.BUNDLED.format(name=escape_markdown(found.label)))
        return
    with st.container(border=True):
        last, steps = _progress(run, found)
        st.markdown(_headline(run, found))
        if run is None or run.state != "waiting":
            st.progress(min(1.0, last / max(1, steps)), text=_speed(run, found, last, steps))
        if run is not None and run.line:
            warn(run.line)
        _buttons(state, run, found)


def _progress(run: RunState | None, found: shown.Shown | None) -> tuple[int, int]:
    last = int(found.curve.steps[-1]) if found and len(found.curve) else 0
    if run is not None:
        return last, run.steps
    return last, found.steps if found else 1


def _headline(run: RunState | None, found: shown.Shown | None) -> str:
    if run is None:
        assert found is not None
        going = words.ELSEWHERE if shown.is_growing(found.name) else words.AT_REST
        return f"**{escape_markdown(found.label)}** · {going}"
    state = words.STATES[run.state]
    if run.state == "waiting":
        manager = runs.manager()
        state = words.PLACE.format(
            before=count(manager.place(run.name), "run"), waiting=manager.waiting
        )
    kept = words.KEPT if run.kept else ""
    return f"**{escape_markdown(runs.label(run))}** · {state}{kept}"


def _speed(run: RunState | None, found: shown.Shown | None, last: int, steps: int) -> str:
    if found is None or not len(found.curve):
        return words.PREPARING
    said = words.PROGRESS.format(last=f"{last:,}", steps=f"{steps:,}")
    if run is not None and run.state == "training":
        said += words.RATE.format(rate=f"{found.curve.rate[-1]:,.0f}", unit=found.counted)
        left = time_left(found.curve, steps)
        if left is not None:
            said += words.LEFT.format(time=cost.spoken(left))
    return said


def _buttons(state: PageState, run: RunState | None, found: shown.Shown | None) -> None:
    manager, owner = runs.manager(), runs.visitor()
    if run is None:
        if found and _can_go_on(found):
            name = library.split_name(found.name)[0]
            _act(words.GO_ON, "play_arrow", lambda: _take_up(state, name, owner))
        return
    if run.owner != owner and not run.kept:
        st.caption(words.WATCHING)
        return
    with st.container(horizontal=True):
        if run.active:
            _act(words.PAUSE, "pause", lambda: manager.pause(run.name, owner))
            _act(words.STOP, "stop_circle", lambda: manager.stop(run.name, owner))
        elif run.state in RESUMABLE:
            _act(
                words.GO_ON,
                "play_arrow",
                lambda: _take_up(state, run.name, owner),
                type="primary",
            )
        if not run.kept:
            _keep(state, run, owner)
            if not run.active:
                _act(words.DELETE, "delete", lambda: manager.discard(run.name, owner))


def _can_go_on(found: shown.Shown) -> bool:
    """Whether a run on the disk is not at its end and nobody writes it."""
    last = int(found.curve.steps[-1]) if len(found.curve) else 0
    unfinished = last < found.steps and found.plan is not None
    return unfinished and not found.is_bundled and not shown.is_growing(found.name)


def _act(label: str, icon: str, act: Callable[[], object], **more: Any) -> None:
    """A button that acts before the script runs, so that no `st.rerun()` can lose the click."""

    def answer() -> None:
        st.session_state[ACTED] = True
        try:
            act()
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)

    st.button(label, icon=f":material/{icon}:", key=f"run.{icon}", on_click=answer, **more)


def _take_up(state: PageState, name: str, owner: str) -> None:
    run = runs.manager().resume(name, owner)
    state["run"] = library.PREFIX + run.name
    runs.manager().wait(run.name, FIRST_POINT)


def _keep(state: PageState, run: RunState, owner: str) -> None:
    with st.popover(words.KEEP, icon=":material/bookmark_add:"):
        st.caption(words.KEEP_TEXT.format(root=escape_markdown(str(library.root()))))
        wanted = st.text_input(words.KEEP_NAME, f"{run.plan['model']}-{run.number}", max_chars=60)
        if clicked(words.KEEP_BUTTON, f"run.keep.{run.name}", type="primary"):
            try:
                runs.manager().keep(run.name, owner, wanted)
            except ValueError as error:
                refuse(error)
                return
            state["run"] = ""
            st.rerun()

"""The panel of one run: its state, and the buttons to pause, stop, continue, keep or delete it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from llmviz.course.lessons.training import charted_runs
from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.lessons.training.clicks import clicked
from llmviz.course.lessons.training.runs import words
from llmviz.course.ui import kit, runs
from llmviz.training import run_folders
from llmviz.training.curves import time_left
from llmviz.training.permissions import RESUMABLE, RunState

FIRST_POINT = 0.9  # seconds that a start waits for the first point of its curve
ACTED = "_training_acted"  # in the session: a button was answered, and the page is of before
PROBLEM = "_training_problem"  # in the session: why the last thing asked for was not done


def begin(state: kit.PageState, start: Callable[[], RunState]) -> None:
    """Start a run and look at it; a refusal is kept for the next drawing of the page."""
    try:
        run = start()
    except ValueError as error:
        st.session_state[PROBLEM] = str(error)
    else:
        state["run"], state["at"] = run_folders.PREFIX + run.name, -1
        runs.manager().wait(run.name, FIRST_POINT)
    st.rerun()


def draw(state: kit.PageState, run: RunState | None, charted: ChartedRun | None) -> None:
    """How a run goes, and what can be done with it."""
    if st.session_state.pop(ACTED, False):
        st.rerun()  # all of the page, which says how busy the machine is
    if charted is not None and charted.is_bundled:
        return
    with st.container(border=True):
        last, steps = _progress(run, charted)
        st.markdown(_headline(run, charted))
        if run is None or run.state != "waiting":
            st.progress(min(1.0, last / max(1, steps)), text=_speed(run, charted, last, steps))
        if run is not None and run.line:
            kit.warn(run.line)
        elif run is None and charted is not None and (line := charted.wrong):
            kit.warn(line)
        _buttons(state, run, charted)


def _progress(run: RunState | None, charted: ChartedRun | None) -> tuple[int, int]:
    last = int(charted.curve.steps[-1]) if charted and len(charted.curve) else 0
    if run is not None:
        return last, run.steps
    return last, charted.steps if charted else 1


def _headline(run: RunState | None, charted: ChartedRun | None) -> str:
    if run is None:
        assert charted is not None
        going = words.elsewhere if charted_runs.is_growing(charted.name) else words.at_rest
        return f"**{kit.escape_markdown(charted.label)}** · {going}"
    state = words.states[run.state]
    if run.state == "waiting":
        manager = runs.manager()
        state = words.place.format(
            before=kit.count(manager.place(run.name), "run"), waiting=manager.waiting
        )
    kept = words.kept if run.kept else ""
    return f"**{kit.escape_markdown(runs.label(run))}** · {state}{kept}"


def _speed(run: RunState | None, charted: ChartedRun | None, last: int, steps: int) -> str:
    if charted is None or not len(charted.curve):
        return words.preparing
    text = words.progress.format(last=f"{last:,}", steps=f"{steps:,}")
    if run is not None and run.state == "training":
        text += words.rate.format(rate=f"{charted.curve.rate[-1]:,.0f}", unit=charted.counted)
        left = time_left(charted.curve, steps)
        if left is not None:
            text += words.left.format(time=kit.duration(left))
    return text


def _buttons(state: kit.PageState, run: RunState | None, charted: ChartedRun | None) -> None:
    manager, owner = runs.manager(), runs.visitor()
    if run is None:
        if charted and _can_go_on(charted):
            name = run_folders.split_name(charted.name)[0]
            _act(words.go_on, "play_arrow", lambda: _take_up(state, name, owner))
        return
    if not manager.controls(run.name, owner):
        st.caption(words.watching_kept if run.kept else words.watching)
        return
    with st.container(horizontal=True):
        if run.active and run.state != "stopping":
            _act(words.pause, "pause", lambda: manager.pause(run.name, owner))
            _act(words.stop, "stop_circle", lambda: manager.stop(run.name, owner))
        elif run.state in RESUMABLE:
            _act(
                words.go_on,
                "play_arrow",
                lambda: _take_up(state, run.name, owner),
                type="primary",
            )
        if not run.kept and run.state != "stopping":
            _keep(state, run, owner)
            if not run.active:
                _act(words.delete, "delete", lambda: manager.discard(run.name, owner))


def _can_go_on(charted: ChartedRun) -> bool:
    """Whether a run on the disk is not at its end and nobody writes it."""
    last = int(charted.curve.steps[-1]) if len(charted.curve) else 0
    unfinished = last < charted.steps and charted.plan is not None
    return unfinished and not charted.is_bundled and not charted_runs.is_growing(charted.name)


def _act(label: str, icon: str, act: Callable[[], object], **more: Any) -> None:
    """A button that acts before the script runs, so that no `st.rerun()` can lose the click."""

    def answer() -> None:
        st.session_state[ACTED] = True
        try:
            act()
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)

    st.button(label, icon=f":material/{icon}:", key=f"run.{icon}", on_click=answer, **more)


def _take_up(state: kit.PageState, name: str, owner: str) -> None:
    run = runs.manager().resume(name, owner)
    state["run"] = run_folders.PREFIX + run.name
    runs.manager().wait(run.name, FIRST_POINT)


def _keep(state: kit.PageState, run: RunState, owner: str) -> None:
    with st.popover(words.keep, icon=":material/bookmark_add:"):
        st.caption(words.keep_text.format(root=kit.escape_markdown(str(run_folders.root()))))
        wanted = st.text_input(words.keep_name, f"{run.plan['model']}-{run.number}", max_chars=60)
        if clicked(words.keep_button, f"run.keep.{run.name}", type="primary"):
            try:
                runs.manager().keep(run.name, owner, wanted)
            except ValueError as error:
                kit.refuse(error)
                return
            state["run"] = ""
            st.rerun()

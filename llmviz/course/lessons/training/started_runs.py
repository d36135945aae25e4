"""Several runs that a chapter starts at once, kept in the session so that they can be looked at."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from llmviz.course.lessons.training import charted_runs
from llmviz.course.lessons.training.charted_runs import ChartedRun
from llmviz.course.ui import kit, runs
from llmviz.runs import store
from llmviz.training.config import Plan

PROBLEM = "_training_started_problem"
FIRST_POINT = 0.9  # seconds that a start waits for the first point of its curve


@dataclass(frozen=True)
class Titled(ChartedRun):
    """A run under the title that a chapter gives it."""

    title: str = ""

    @property
    def label(self) -> str:
        return self.title


def titled(run: ChartedRun, title: str) -> Titled:
    return Titled(run.name, run.folder, run.description, run.curve, title)


def start(slot: str, plans: Mapping[str, Plan]) -> None:
    """Put plans into the queue and remember the runs by title; a refusal is shown by `problem`."""
    names: dict[str, str] = {}
    for title, plan in plans.items():
        try:
            names[title] = runs.manager().start(runs.visitor(), plan).name
        except ValueError as error:
            st.session_state[PROBLEM] = str(error)
            break
    if names:
        st.session_state[slot] = names
        runs.manager().wait(next(iter(names.values())), FIRST_POINT)


def forget(slot: str) -> None:
    """Look at the bundled runs again; the runs themselves stay in the list of runs."""
    st.session_state.pop(slot, None)


def problem() -> None:
    """Show why the last start was refused, once."""
    if refusal := st.session_state.pop(PROBLEM, ""):
        kit.refuse(refusal)


def names(slot: str) -> dict[str, str]:
    """Return title and name of the runs that were started and still exist."""
    return {
        title: name
        for title, name in st.session_state.get(slot, {}).items()
        if runs.manager().run(name) is not None
    }


def read(slot: str) -> list[Titled]:
    """Return the started runs that have a point by now."""
    charted = []
    for title, name in names(slot).items():
        try:
            run = charted_runs.read(store.PREFIX + name)
        except ValueError:  # it has written nothing yet
            continue
        if len(run.curve):
            charted.append(titled(run, title))
    return charted


def active(slot: str) -> bool:
    """Whether any of them trains or waits."""
    return any(
        (run := runs.manager().run(name)) is not None and run.active
        for name in names(slot).values()
    )


def lines(slot: str) -> list[str]:
    """Return, for each started run that ended badly, its title and why."""
    endings = []
    for title, name in names(slot).items():
        run = runs.manager().run(name)
        if run is not None and run.line:
            endings.append(f"{title}: {run.line}")
    return endings

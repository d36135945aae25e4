"""Live work on a page: of what one window asked for in turn, it watches the last alone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.ui import job_pools, live_job
from llmviz.processes.background import JobPool


def endless(heat: float) -> Iterator[float]:
    while True:
        time.sleep(0.01)
        yield heat


def training_page() -> None:
    import streamlit as st

    from llmviz.course.ui.codec import flag, number
    from llmviz.course.ui.live_job import JobWords, begun, live
    from llmviz.course.ui.state import THROUGH_APP, page_state
    from tests.course.ui.test_live_job import job_of

    st.session_state[THROUGH_APP] = True
    state = page_state("small", [number("heat", 1.0, 0.0, 5.0), flag("train", False)])
    st.slider("Heat", 0.0, 5.0, **state.bind("heat"))
    given = (state["heat"],)
    begun(state, "train", job_of, given)
    more = {"start": "Train", "share": lambda job: 0.5, "said": JobWords(pauses=True)}
    live(state, "train", job_of, given, lambda job: None, **more)
    if st.button("Another setting and back"):
        state["train"] = False
        st.rerun()


job_of = live_job.job_of(f"{__name__}:endless", "heat")


@pytest.fixture
def pool(monkeypatch) -> Iterator[JobPool]:
    made = JobPool(limit=1, visitors=job_pools.SESSIONS)
    monkeypatch.setattr(live_job, "training_jobs", lambda: made)
    yield made
    for work in list(made._works.values()):
        work.stop()
    job_of.clear()


def going(pool: JobPool) -> list[float]:
    return [work.arguments["heat"] for work in pool._works.values() if not work.stopping]


def test_a_window_that_moves_a_control_leaves_no_trainings_behind(pool):
    app = AppTest.from_function(training_page).run()
    app.button[0].click().run()
    assert going(pool) == [1.0]
    for heat in (2.0, 3.0, 4.0, 5.0, 0.0, 1.0):
        app.slider[0].set_value(heat).run()
        assert going(pool) == [heat]
    assert not app.error and not app.exception


def press(app: AppTest, label: str) -> AppTest:
    (button,) = [button for button in app.button if button.label == label]
    return button.click().run()


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button][:-1]


def until(app: AppTest, wanted: list[str]) -> None:
    deadline = time.monotonic() + 60
    while labels(app) != wanted:
        assert time.monotonic() < deadline, labels(app)
        time.sleep(0.02)
        app.run()


def test_who_watches_alone_may_hold_a_training_and_let_it_go_on_and_stop_it(pool):
    app = press(AppTest.from_function(training_page).run(), "Train")
    (work,) = pool._works.values()
    while not work.results:
        time.sleep(0.02)
    until(press(app, "Pause"), ["Go on", "Stop"])
    assert work.state == "paused"
    assert press(app, "Go on") and labels(app) == ["Pause", "Stop"]
    work.watchers.join("another visitor", work.watchers.begun_by)
    assert labels(app.run()) == ["Stop"]  # it is not only this visitor's to hold
    work.watchers.leave("another visitor", 0)
    until(press(app, "Stop"), ["Train again"])
    assert work.stopping and app.info


def test_a_training_whose_settings_are_chosen_again_is_there_without_a_button(pool):
    app = press(AppTest.from_function(training_page).run(), "Train")
    app.slider[0].set_value(2.0).run()
    until(press(press(app, "Another setting and back"), "Stop"), ["Train again"])
    assert going(pool) == []
    until(press(app, "Train again"), ["Pause", "Stop"])
    assert going(pool) == [2.0]


def test_a_training_that_is_one_too_many_says_so_and_can_be_tried_again(pool, monkeypatch):
    monkeypatch.setenv("LLMVIZ_BROWSER_JOBS", "1")
    monkeypatch.setattr(job_pools.SESSIONS, "here", lambda: "test session id")
    other = pool.start(f"{__name__}:endless", heat=9.0)
    app = AppTest.from_function(training_page).run()
    app.button[0].click().run()
    (error,) = app.error
    assert "1 of your computations are going on or waiting" in error.value
    other.stop()
    (again,) = [button for button in app.button if "again" in button.label]
    again.click().run()
    assert going(pool) == [1.0] and not app.error

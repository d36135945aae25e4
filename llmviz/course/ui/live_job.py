"""Work in the background of a page, such as a training: begun by a button, watched, stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from llmviz.course.ui.cached import Cached, cached
from llmviz.course.ui.furniture import words
from llmviz.course.ui.job_pools import training_jobs
from llmviz.course.ui.notices import refuse_failed
from llmviz.course.ui.state import PageState
from llmviz.processes.background import FAILED, PAUSED, STOPPED, Job

POLL = 0.7  # seconds between two looks
WATCHED = "_watched_jobs"  # in the session: {kind: job}
JOBS = "_live_jobs"  # in the session: {page and control: (settings, job)}


@dataclass(frozen=True)
class JobWords:
    """What is said while a job goes on, when it was stopped, and on the button that begins anew.

    What is left out says so of a training.

    repeats: whether that button is also there when the job has ended by itself, for what comes out
    differently each time, such as durations. pauses: whether who watches it alone may hold it.
    then: what is done besides when it is begun by hand.
    """

    going_on: str = ""
    stopped: str = ""
    again: str = ""
    repeats: bool = False
    pauses: bool = False
    then: Callable[[], None] = lambda: None


def job_of(target: str, *names: str, most: int = 12) -> Cached[..., Job]:
    """Return what gives the job of some settings, begun once for all who ask for the same.

    target: what runs in a process of its own; it gets the settings under these names. most: jobs
    that are kept.
    """

    def begin(*settings: Any) -> Job:
        return training_jobs().start(target, **dict(zip(names, settings, strict=True)))

    return cached(most)(begin)


def polled(draw: Callable[[bool], None], going: Callable[[], bool], pace: float = POLL) -> None:
    """Draw a part of a page, again and again while something goes on; all of it when that changes.

    draw: is told whether it went on when the page was run. pace: seconds between two looks.
    """
    went_on = going()

    def look() -> None:
        if going() != went_on:
            st.rerun()  # which begins the looking, or ends it
        draw(went_on)

    st.fragment(look, run_every=pace if went_on else None)()


def begun(state: PageState, flag: str, job_of: Cached, given: tuple) -> Job | None:
    """Return the job of these settings if it was begun.

    A session that comes back to settings whose job it holds finds it begun.
    """
    held, _ = st.session_state.get(JOBS, {}).get(f"{state.page}.{flag}", (None, None))
    state[flag] = state[flag] or held == given
    return job_for(state, flag, job_of, given) if state[flag] else None


def job_for(state: PageState, flag: str, job_of: Cached, given: tuple) -> Job:
    """Return the job of these settings: this session's, else the one that is kept for all.

    A session holds its last one, so that other visitors' jobs do not push it out. The one of other
    settings, which it no longer shows, goes on only for others who watch it.
    """
    held = st.session_state.setdefault(JOBS, {})
    name = f"{state.page}.{flag}"
    if name not in held or held[name][0] != given:
        held[name] = given, going_job(name, job_of, *given)
    return held[name][1]


def going_job(name: str, job_of: Cached, *given: Any) -> Job:
    """Return the job that is kept for all, begun anew where it had ended too soon.

    name: of its kind; see `watch_only`.
    """
    job = job_of(*given)
    if job.state == FAILED or (job.state == STOPPED and not job.again()):
        job_of.forget(*given)
        job = job_of(*given)
    watch_only(name, job)
    return job


def watch_only(name: str, job: Job) -> None:
    """Let this session watch one job of a kind: an earlier one goes on only for others."""
    watched = st.session_state.setdefault(WATCHED, {})
    before = watched.get(name)
    watched[name] = job
    if before is not None and before is not job:
        before.stop()


def _forget(state: PageState, flag: str, job_of: Cached, given: tuple) -> None:
    st.session_state.get(JOBS, {}).pop(f"{state.page}.{flag}", None)
    job_of.forget(*given)


def live(
    state: PageState,
    flag: str,
    job_of: Cached,
    given: tuple,
    draw: Callable[[Job], None],
    *,
    start: str,
    share: Callable[[Job], float],
    said: JobWords = JobWords(),
) -> None:
    """Show a button that begins a job, and the job once it was begun; a link may say so, too.

    flag: the control that says that it was begun. job_of(*given): the job, kept for all visitors.
    draw: shows what the job has yielded so far. start: the button's text. share: how much of it is
    done, from 0 to 1.
    """
    key = f"_{state.page}.{flag}.job"  # not the name under which the control is kept

    def begin() -> None:
        state[flag] = True
        said.then()

    if not state[flag]:
        st.button(
            start, icon=":material/play_arrow:", type="primary", on_click=begin, key=f"{key}.begin"
        )
        return
    job = job_for(state, flag, job_of, given)

    def watch(going: bool) -> None:
        if going:
            _progress(job, share(job), said, key)
        elif job.state == FAILED:
            refuse_failed(job)
        elif job.state == STOPPED:
            st.info(said.stopped or words.job["stopped"], icon=":material/stop:")
        if job.state != FAILED:
            draw(job)
        may_begin_again = not going and (said.repeats or job.state in (STOPPED, FAILED))
        again = said.again or words.job["again"]
        if may_begin_again and st.button(again, icon=":material/replay:", key=f"{key}.again"):
            begin()
            if not job.again():
                _forget(state, flag, job_of, given)
            st.rerun()  # this fragment alone would go on with the job that is over

    polled(watch, lambda: not job.over)


def _progress(job: Job, share: float, said: JobWords, key: str) -> None:
    held, waits, line = job.state == PAUSED, job.before, words.job
    goes = said.going_on or line["goes"] if share else line["begins"]
    text = line["held"] if held else line["waits"].format(count=waits) if waits else goes
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.progress(min(1.0, share), text)
        if held:
            on, icon = job.go_on, ":material/play_arrow:"
            st.button(line["go_on"], icon=icon, on_click=on, key=f"{key}.go_on")
        elif said.pauses and job.alone:
            hold, icon = job.pause, ":material/pause:"
            st.button(line["pause"], icon=icon, on_click=hold, key=f"{key}.pause")
        st.button(line["stop"], icon=":material/stop:", on_click=job.stop, key=f"{key}.stop")

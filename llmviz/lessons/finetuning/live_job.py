"""A training in the background of a page: begun by a button, watched, stopped."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import streamlit as st

from llmviz.background import FAILED, STOPPED, Job
from llmviz.lessons.finetuning import live_job_words as words
from llmviz.paths import TUNED
from llmviz.training.reading import read_metrics
from llmviz.ui.kept import Kept, kept
from llmviz.ui.notices import inform, refuse
from llmviz.ui.state import PageState

POLL = 0.7  # seconds between two looks
JOBS = "finetuning.jobs"  # in the session: {control: (settings, job)}
MEASURED = "instructions"  # the bundled fine-tuning whose curve says how long it took


def tell_cost(template: str, texts: int, **line: object) -> None:
    """Say what a training of so many stories takes; template: with {seconds}."""
    try:
        seconds = seconds_of(texts)
    except ValueError as error:
        inform(words.NO_COST.format(reason=error), ":material/timer_off:")
        return
    st.caption(template.format(seconds=seconds, **line))


@kept(8)
def seconds_of(texts: int) -> float:
    """Return about how long a training takes that reads so many stories, by a bundled curve.

    What was measured between its updates is left out. Raises ValueError where it is not in this
    copy.
    """
    from llmviz.finetuning.recipes import TUNINGS

    curve = read_metrics(TUNED / MEASURED)
    if not curve:
        raise ValueError(f"the curve of {MEASURED} is empty")
    tokens = [0, *(one.tokens for one in curve)]
    pace = [one.tokens_per_second for one in curve]
    seconds = sum((b - a) / each for (a, b), each in zip(pairwise(tokens), pace, strict=True))
    return seconds * texts / (curve[-1].step * TUNINGS[MEASURED].plan.train.batch_size)


def job_for(flag: str, job_of: Kept, given: tuple) -> Job:
    """Return the job of these settings: this session's, else the one that is kept for all.

    A session holds its last one, so that other visitors' jobs do not push it out.
    """
    held = st.session_state.setdefault(JOBS, {})
    if flag not in held or held[flag][0] != given:
        job = job_of(*given)
        if job.state in (STOPPED, FAILED):  # by another visitor, or in a session before
            job_of.forget(*given)
            job = job_of(*given)
        held[flag] = given, job
    return held[flag][1]


def _forget(flag: str, job_of: Kept, given: tuple) -> None:
    st.session_state.get(JOBS, {}).pop(flag, None)
    job_of.forget(*given)


def live(
    state: PageState,
    flag: str,
    job_of: Kept,
    given: tuple,
    draw: Callable[[Job], None],
    *,
    start: str,
    share: Callable[[Job], float],
) -> None:
    """Show a button that begins a job, and the job once it was begun; a link may say so, too.

    flag: the control that says that it was begun. job_of(*given): the job, kept for all visitors.
    draw: shows what the job has yielded so far. start: the button's text. share: how much of it is
    done, from 0 to 1.
    """
    key = f"_{state.page}.{flag}.job"  # not the name under which the control is kept

    def begin() -> None:
        state[flag] = True

    if not state[flag]:
        st.button(
            start, icon=":material/play_arrow:", type="primary", on_click=begin, key=f"{key}.begin"
        )
        return
    job = job_for(flag, job_of, given)
    going = not job.over

    def shown() -> None:
        if going and job.over:
            st.rerun()  # which ends the looking
        if going:
            _progress(job, share(job), f"{key}.stop")
        elif job.state == FAILED:
            _failed(job, flag, job_of, given)
            return
        elif job.state == STOPPED:
            st.info(words.STOPPED, icon=":material/stop:")
        draw(job)
        if not going and job.state == STOPPED:
            st.button(
                words.AGAIN,
                icon=":material/replay:",
                on_click=_forget,
                args=(flag, job_of, given),
                key=f"{key}.again",
            )

    st.fragment(shown, run_every=POLL if going else None)()


def _progress(job: Job, share: float, key: str) -> None:
    waits = job.before
    text = words.WAITS.format(count=waits) if waits else words.GOES if share else words.BEGINS
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.progress(min(1.0, share), text)
        st.button(words.STOP, icon=":material/stop:", on_click=job.stop, key=key)


def _failed(job: Job, flag: str, job_of: Kept, given: tuple) -> None:
    problem, expected = job.problem, job.expected
    _forget(flag, job_of, given)  # so that it can be tried again
    if not expected:
        raise RuntimeError(problem)  # a bug, and not the learner's
    refuse(problem)

"""The learner's own runs: what comes, how it is served, and how far they have come."""

from __future__ import annotations

import streamlit as st

from llmviz.background import Job
from llmviz.lessons.efficiency.serving import figures, words
from llmviz.lessons.efficiency.serving.runs import FLAG, job_of, trial_of
from llmviz.study.serving_run import (
    BASE,
    MOST_OWN,
    MOST_OWN_CHARACTERS,
    SAMPLED,
    Trial,
    done_share,
    memory_of_beam,
    runs_of,
)
from llmviz.ui.common import choose, count
from llmviz.ui.lesson import section
from llmviz.ui.live_job import live
from llmviz.ui.model_on_text import models_here
from llmviz.ui.notices import refuse
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState

WIDTH = 250


def draw(state: PageState) -> None:
    """Show the controls, the button, and how far the runs are."""
    sampled = words.SAMPLED.format(temperature=SAMPLED.temperature)
    section(words.SERVE_TITLE, f"{words.SERVE_TEXT} {sampled}")
    if not models_here(BASE):
        return
    _controls(state)
    try:
        trial = trial_of(state)
    except ValueError as error:
        refuse(error)
        return
    if trial.workload.beams:
        prose(words.SEARCHED.format(tokens=count(memory_of_beam(trial), "token")))
    live(
        state,
        FLAG,
        job_of,
        (trial,),
        lambda job: _told(trial, job),
        start=words.START,
        share=lambda job: done_share(trial, list(job.results)),
        going_on=words.GOES,
        stopped=words.STOPPED,
        again=words.AGAIN,
    )


def _controls(state: PageState) -> None:
    def anew() -> None:
        state[FLAG] = False

    def slider(label: str, key: str, step: int = 1) -> None:
        st.slider(label, step=step, width=WIDTH, **state.ranged(key, then=anew))

    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        choose(state, "servepolicy", words.POLICY, words.POLICIES, then=anew)
        choose(state, "serveagainst", words.AGAINST, words.POLICIES, then=anew)
        choose(state, "servekind", words.KIND, words.KINDS, then=anew)
        slider(words.COUNT, "servecount")
        slider(words.RATE, "serverate", 10)
        slider(words.PROMPT, "serveprompt")
        slider(words.NEW, "servenew")
        slider(words.SAMPLES, "servesamples")
        slider(words.BEGINNING, "servebeginning", 4)
        slider(words.BATCH, "servebatch")
        slider(words.MEMORY, "servememory", 32)
        choose(state, "serveblock", words.BLOCK, words.BLOCK_SIZES, then=anew)
        choose(state, "servepreempt", words.PREEMPT, words.PREEMPTIONS, then=anew)
        st.toggle(words.SHARE, **state.bind("serveshare", then=anew))
    limits = words.OWN_LIMITS.format(lines=MOST_OWN, characters=MOST_OWN_CHARACTERS)
    st.text_area(
        words.OWN,
        placeholder=words.OWN_PLACE,
        help=f"{words.OWN_HELP} {limits}",
        height=90,
        **state.bind("serveown", then=anew),
    )


def _told(trial: Trial, job: Job) -> None:
    for number, run in enumerate(runs_of(trial, list(job.results))):
        recording = run.recording
        prose(
            words.SO_FAR.format(
                policy=figures.run_names(trial.policies)[number],
                ended=len(recording.outcomes),
                all=sum(request.texts for request in recording.requests),
                tokens=count(recording.tokens, "token"),
            )
        )
    if job.state == "done":
        prose(words.DONE)

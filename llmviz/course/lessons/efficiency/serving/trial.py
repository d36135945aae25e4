"""The learner's own runs: what comes, how it is served, and how far they have come."""

import streamlit as st

from llmviz.course.lessons.efficiency.serving import figures, words
from llmviz.course.lessons.efficiency.serving.runs import FLAG, job_of, trial_of
from llmviz.course.lessons.efficiency.serving.serving_run import (
    BASE,
    MOST_OWN,
    MOST_OWN_CHARACTERS,
    SAMPLED,
    Trial,
    done_share,
    memory_of_beam,
    runs_of,
)
from llmviz.course.ui import kit

WIDTH = 250


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and how far the runs are."""
    sampled = words.sampled.format(temperature=SAMPLED.temperature)
    kit.section(words.serve.title, f"{words.serve_text} {sampled}")
    if not kit.models_here(BASE):
        return
    _controls(state)
    trial = kit.or_refused(trial_of, state)
    if trial is None:
        return
    if trial.workload.beams:
        kit.prose(words.searched, tokens=kit.count(memory_of_beam(trial), "token"))
    kit.live(
        state,
        FLAG,
        job_of,
        (trial,),
        lambda job: _told(trial, job),
        start=words.start,
        share=lambda job: done_share(trial, list(job.results)),
        said=kit.Said(words.goes, words.stopped, words.again),
    )


def _controls(state: kit.PageState) -> None:
    anew = state.setter(**{FLAG: False})

    def slider(label: str, key: str, step: int = 1) -> None:
        st.slider(label, step=step, width=WIDTH, **state.ranged(key, then=anew))

    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kit.choose(state, "servepolicy", words.policy, words.policies, then=anew)
        kit.choose(state, "serveagainst", words.against, words.policies, then=anew)
        kit.choose(state, "servekind", words.kind, words.kinds, then=anew)
        slider(words.count, "servecount")
        slider(words.rate, "serverate", 10)
        slider(words.prompt, "serveprompt")
        slider(words.new, "servenew")
        slider(words.samples, "servesamples")
        slider(words.beginning, "servebeginning", 4)
        slider(words.batch, "servebatch")
        slider(words.memory, "servememory", 32)
        kit.choose(state, "serveblock", words.block, words.block_sizes, then=anew)
        kit.choose(state, "servepreempt", words.preempt, words.preemptions, then=anew)
        st.toggle(words.share, **state.bind("serveshare", then=anew))
    limits = words.own_limits.format(lines=MOST_OWN, characters=MOST_OWN_CHARACTERS)
    kit.text_area(
        state,
        "serveown",
        words.own,
        placeholder=words.own_place,
        help=f"{words.own_help} {limits}",
        height=90,
        then=anew,
    )


def _told(trial: Trial, job: kit.Job) -> None:
    for number, run in enumerate(runs_of(trial, list(job.results))):
        recording = run.recording
        kit.prose(
            words.so_far,
            policy=figures.run_names(trial.policies)[number],
            ended=len(recording.outcomes),
            all=sum(request.texts for request in recording.requests),
            tokens=kit.count(recording.tokens, "token"),
        )
    if job.state == "done":
        kit.prose(words.done)

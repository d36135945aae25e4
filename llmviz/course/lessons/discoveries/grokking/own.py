"""A smaller modulus that learns while the learner watches."""

import streamlit as st

from llmviz.course.lessons.discoveries.grokking import words
from llmviz.course.lessons.discoveries.grokking.curves import curves_read, right_figure, turned_read
from llmviz.course.lessons.discoveries.grokking.grokking_record import SMALL_WIDTH
from llmviz.course.lessons.discoveries.grokking.model import Film, Sums
from llmviz.course.lessons.discoveries.grokking.params import (
    OWN_DECAYS,
    OWN_MODULI,
    OWN_SHARES,
    WAVES,
)
from llmviz.course.ui import kit

KEY = "discoveries.grokking.own"
MOST = 4000  # steps
job_of = kit.job_of("llmviz.course.lessons.discoveries.grokking.model:learn", "task")


def draw(state: kit.PageState) -> None:
    """Show the controls, the button, and the two curves while they grow."""
    kit.section(words.own)
    anew = state.setter(owngrok=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, texts in (
            ("ownmodulus", words.own_modulus, OWN_MODULI),
            ("ownshare", words.own_share, OWN_SHARES),
            ("owndecay", words.own_decay, OWN_DECAYS),
        ):
            st.selectbox(label, width=140, **state.named(key, {text: text for text in texts}, anew))
        st.number_input(words.own_seed, step=1, width=110, **state.ranged("owngrokseed", then=anew))
    task = task_of(state)
    kit.live(
        state,
        "owngrok",
        job_of,
        (task,),
        lambda job: _results(task, job),
        start=words.own_start,
        share=lambda job: job.results[-1].step / task.most if job.results else 0.0,
    )


def task_of(state: kit.PageState) -> Sums:
    """Return what the controls ask for."""
    return Sums(
        int(state["ownmodulus"]),
        float(state["ownshare"]),
        float(state["owndecay"]),
        state["owngrokseed"],
        SMALL_WIDTH,
        MOST,
    )


def _results(task: Sums, job: kit.Job) -> None:
    moments = list(job.results)
    if not moments:
        return
    run = Film(task, moments)
    kit.chart(right_figure(run, kit.theme()), f"{KEY}.right", bar=False)
    last = run.last
    if job.over:
        kit.prose(f"{curves_read(run)} {turned_read(run)}")
    else:
        right = {"shown": kit.percent(last.shown_right), "new": kit.percent(last.new_right)}
        kit.prose(words.own_going, step=last.step, **right)
    held = float(run.held(WAVES)[-1])
    kit.prose(words.own_held, count=WAVES, all=len(last.power), held=kit.percent(held))

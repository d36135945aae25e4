"""The model learns from rewards while the learner watches: every update is painted."""

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.adapters import Curve, lines
from llmviz.course.lessons.reasoning.reinforce import words
from llmviz.course.lessons.reasoning.reinforce.params import BETAS
from llmviz.course.lessons.reasoning.reward_runs import Look, config_of
from llmviz.course.lessons.reasoning.sum_texts import decode
from llmviz.course.ui import kit
from llmviz.finetuning.policy import METHODS

KEY = "reasoning.reinforce.live"
EVERY = 20  # updates between two looks
Settings = tuple[str, int, int, str]  # way, answers in a group, updates, β as the link writes it


@kit.kept(12)
def job_of(way: str, group: int, updates: int, beta: str) -> kit.Job:
    """Return a run in a process of its own; the same one is made only once."""
    config = config_of(way, updates=updates, group=group, beta=float(beta))
    return kit.training_jobs().start(
        "llmviz.course.lessons.reasoning.reward_runs:reward_run", config=config, every=EVERY
    )


def draw(state: kit.PageState) -> None:
    """Show the controls, the button and the run."""
    way, size = state["rlway"], state["rlgroup"]
    prompts = config_of("reinforce").prompts
    kit.section(words.live, prompts=prompts, group=size)
    anew = state.setter(rlrun=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = {beta: beta for beta in BETAS}
        st.select_slider(words.beta, width=260, **state.named("rlbeta", names, anew))
        st.slider(words.updates, step=10, width=260, **state.ranged("rlupdates", then=anew))
    if size == 1 and METHODS[way].compares:
        return  # said where the group is shown
    updates = state["rlupdates"]
    kit.live(
        state,
        "rlrun",
        job_of,
        (way, size, updates, state["rlbeta"]),
        lambda job: _results(job, prompts * size),
        start=words.start,
        share=lambda job: parts(job)[0][-1].step / updates if parts(job)[0] else 0.0,
    )


def parts(job: kit.Job) -> tuple[list[Any], list[Look]]:
    """Return the updates and the looks so far."""
    every = list(job.results)
    return [result for result in every if not isinstance(result, Look)], [
        result for result in every if isinstance(result, Look)
    ]


def _results(job: kit.Job, answers: int) -> None:
    updates, looks = parts(job)
    if not updates:
        return
    columns = st.columns(3, gap="medium")
    figures = run_figures(job, len(updates), len(looks), kit.theme())
    for number, (place, figure) in enumerate(zip(columns, figures, strict=True)):
        place.plotly_chart(
            figure, key=f"{KEY}.{number}", theme=None, config={"displayModeBar": False}
        )
    last = updates[-1]
    right = round(last.reward * answers)
    kit.prose(
        words.live_read,
        step=last.step,
        seconds=last.seconds,
        answers=answers,
        right=right,
        flat=kit.percent(last.flat),
    )
    prompt, written = last.first
    st.caption(f"{words.last_group} {decode(prompt)}")
    kit.rows_table(
        [
            (str(at), decode(ids), f"{paid:g}", kit.signed(gain))
            for at, (ids, paid, gain) in enumerate(written, 1)
        ],
        list(words.answer_columns)[:4],
    )
    if job.over and len(looks) > 1:
        kit.prose(live_end(looks))


def live_end(looks: list[Look]) -> str:
    """Return what the model answers to sums for testing, before and after."""
    first, last = looks[0], looks[-1]
    most = first.samples
    return words.live_end.format(
        questions=first.questions,
        samples=most,
        before=kit.percent(first.right),
        after=kit.percent(last.right),
        pass_before=kit.percent(first.passed(most)),
        pass_after=kit.percent(last.passed(most)),
    )


@kit.kept(32)
def run_figures(job: kit.Job, count: int, looked: int, mode: kit.Mode) -> tuple[go.Figure, ...]:
    """Return three charts of a run so far: right answers; distance and entropy; length."""
    updates, looks = parts(job)
    updates, looks = updates[:count], looks[:looked]
    steps, seen = [update.step for update in updates], [look.step for look in looks]
    own, tested = words.live_names
    first = [
        Curve(own, steps, [update.reward for update in updates], "weights"),
        Curve(tested, seen, [look.right for look in looks], "accent", marks=True),
    ]
    far, open_ = words.distance_names
    second = [
        Curve(far, steps, [update.divergence for update in updates], "key"),
        Curve(open_, steps, [update.entropy for update in updates], "query"),
    ]
    third = [Curve(words.length_name, steps, [update.length for update in updates], "value")]
    return (
        lines(first, words.live_axes, mode, shares=True),
        lines(second, words.distance_axes, mode),
        lines(third, words.length_axes, mode),
    )

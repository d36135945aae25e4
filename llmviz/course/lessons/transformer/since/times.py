"""How long a step of training takes after a change, measured on this server when asked for."""

import streamlit as st

from llmviz.background import DONE, STOPPED
from llmviz.course.lessons.transformer.since import words
from llmviz.course.lessons.transformer.since.model import CHANGES, FAMILY, checkpoint
from llmviz.course.ui import kit
from llmviz.course.ui.question import hand_words
from llmviz.training.step_times import ROUNDS, StepTimes, step_times

KEY = "transformer.since.times"
POLL = 0.5  # seconds between two looks at how far it is


@kit.kept(1)
def measuring() -> list[kit.Job]:
    """The measurement of this server, once one was begun: the same for all visitors."""
    return []


def draw(change: str) -> None:
    """Show the times, how far their measurement is, or how to begin one."""
    kit.section(words.times)
    jobs = measuring()
    if not jobs or jobs[-1].state == STOPPED:
        st.button(words.measure, key=f"{KEY}.begin", icon=":material/timer:", on_click=_begin)
        return
    job = jobs[-1]
    if not job.over:
        st.fragment(_wait, run_every=POLL)(job)
        return
    if job.state != DONE:
        kit.refuse(words.not_measured.format(problem=(job.problem.splitlines() or [""])[-1]))
        st.button(words.measure, key=f"{KEY}.begin", icon=":material/timer:", on_click=_begin)
        return
    measured = job.results[-1]
    kit.prose(times_line(change, measured))
    every = ratios(measured)
    kit.case_rows(
        [
            kit.Case(words.row.format(after=words.models[name], before=words.models[before]), ratio)
            for (name, before), ratio in every.items()
        ],
        kit.Axis(0, 1.2 * max(every.values()), words.times_axis),
        key=f"{KEY}.ratios",
        words=hand_words.bars,
        form="figure",
        mark="dot",
        levels=[(1.0, words.as_before)],
    )
    kit.show_code(
        [step_times],
        words.snippet_times,
        f"1 {[checkpoint(name) for name in FAMILY[:2]]}",
    )


def _begin() -> None:
    """Begin to measure, unless another visitor did so meanwhile."""
    jobs = measuring()
    if jobs and not jobs[-1].over:
        return
    names = [checkpoint(name) for name in FAMILY]
    jobs[:] = [kit.training_jobs().start("llmviz.training.step_times:step_times", names=names)]


def _wait(job: kit.Job) -> None:
    if job.over:
        st.rerun()
    done = job.results[-1].rounds if job.results else 0
    line = words.measured_rounds.format(done=done, rounds=ROUNDS)
    if job.before:
        line = words.times_wait.format(before=kit.count(job.before, "other job"))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(done / ROUNDS, line, width=480)
        st.button(words.stop, key=f"{KEY}.stop", icon=":material/close:", on_click=job.stop)


def ratios(measured: StepTimes) -> dict[tuple[str, str], float]:
    """Return each changed model's time by that of the model it is in place of."""
    times = {name: measured.milliseconds[checkpoint(name)] for name in FAMILY}
    return {
        (name, before): times[name] / times[before]
        for before, *after in CHANGES.values()
        for name in after
    }


def times_line(change: str, measured: StepTimes) -> str:
    """Return the sentences about the times of one change."""
    before, *after = CHANGES[change]
    every, sides = ratios(measured), words.sides[change]
    lines = [
        words.times_read.format(
            after=side[0].upper() + side[1:], ratio=every[name, before], before=sides[0]
        )
        for name, side in zip(after, sides[1:], strict=True)
    ]
    return " ".join([*lines, words.times_note])

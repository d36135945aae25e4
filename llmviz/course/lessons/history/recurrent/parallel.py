"""Part of the chapter "RNN, GRU, LSTM": time per token by length, measured beside attention."""

import pandas as pd
import streamlit as st

from llmviz.background import WAITING
from llmviz.course.figures.lines import Line, lines
from llmviz.course.figures.networks import network_number
from llmviz.course.lessons.history.recurrent import words
from llmviz.course.lessons.history.recurrent.length_timing import (
    LENGTHS,
    MODELS,
    ROWS,
    WIDTH,
    Timing,
    time_steps,
    waits,
)
from llmviz.course.ui import kit

KEY = "history.recurrent.parallel"
JOB = f"{KEY}.job"  # in the session
POLL = 0.4  # seconds between two looks at a measurement that goes on
NAMES = {**words.cells, "gpt": words.attention}


def draw(model: str, cell: str) -> None:
    """Show the measurement, and offer to take it."""
    kit.section(words.waiting, rows=ROWS, width=WIDTH)
    job: kit.Job | None = st.session_state.get(JOB)
    live = job is not None and not job.over
    st.fragment(_measured, run_every=POLL if live else None)(model, cell, live)
    kit.show_code(
        [time_steps, waits],
        words.snippet_parallel,
        "\n".join(f"{waits('rnn', length)} {waits('gpt', length)}" for length in (16, 512)),
    )


def _measured(model: str, cell: str, live: bool) -> None:
    job: kit.Job | None = st.session_state.get(JOB)
    if live != (job is not None and not job.over):
        st.rerun()  # looking again and again begins, or ends
    if live:
        st.button(words.stop, icon=":material/stop:", on_click=job.stop, key=f"{KEY}.stop")
        text = words.measuring.format(done=len(job.results), all=len(LENGTHS) * len(MODELS))
        waiting = job.state == WAITING
        share = len(job.results) / (len(LENGTHS) * len(MODELS))
        st.progress(share, text=words.queued if waiting else text)
    else:
        label = words.measure if job is None else words.again
        st.button(label, icon=":material/timer:", on_click=_start, key=f"{KEY}.start")
    if job is None:
        return
    if job.problem:
        kit.refuse_failed(job)
    if job.results:
        show(list(job.results), model, cell)


def _start() -> None:
    before: kit.Job | None = st.session_state.get(JOB)
    if before is not None:
        before.stop()
    st.session_state[JOB] = kit.training_jobs().start(
        "llmviz.course.lessons.history.recurrent.length_timing:time_steps"
    )


def show(timings: list[Timing], model: str, cell: str) -> None:
    """Show the measurements so far as lines, the longest texts as a table, and a sentence."""
    drawn = []
    for name in NAMES:
        own = [run for run in timings if run.model == name]
        if own:
            y = [1e6 * run.per_token for run in own]
            drawn.append(Line(NAMES[name], [run.length for run in own], y, network_number(name)))
    figure = lines(
        drawn, words.wait_axes, kit.theme(), logarithmic=(True, True), hover="%{y:.2f} µs"
    )
    figure.update_xaxes(tickvals=list(LENGTHS))
    kit.chart(figure, f"{KEY}.chart")
    whole = [length for length in LENGTHS if len(at(timings, length)) == len(MODELS)]
    if not whole:
        return
    st.caption(words.wait_table.format(length=whole[-1]))
    rows = [
        [NAMES[run.model], waits(run.model, run.length), 1e3 * run.seconds, 1e6 * run.per_token]
        for run in at(timings, whole[-1]).values()
    ]
    two = st.column_config.NumberColumn(format="%.2f")
    st.dataframe(
        pd.DataFrame(rows, columns=list(words.wait_columns)),
        hide_index=True,
        width=620,
        column_config={name: two for name in words.wait_columns[2:]},
    )
    if len(whole) > 1:
        kit.prose(sentence(timings, whole[0], whole[-1], model, cell))
    kit.prose(words.wait_thread)


def at(timings: list[Timing], length: int) -> dict[str, Timing]:
    """Return what was measured at a length, by model."""
    return {run.model: run for run in timings if run.length == length}


def sentence(timings: list[Timing], first: int, last: int, model: str, cell: str) -> str:
    """Say how the time per token of a recurrent model and of attention changes with the length."""
    early, late = at(timings, first), at(timings, last)
    return words.wait_read.format(
        first=first,
        last=last,
        model=model,
        own=late[cell].per_token / early[cell].per_token,
        attention=late["gpt"].per_token / early["gpt"].per_token,
        times=late[cell].per_token / late["gpt"].per_token,
    )

"""The measured speed-up against the number of guesses, with the formula beside it."""

import dataclasses

import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.speculative import words
from llmviz.course.lessons.efficiency.speculative.guess_speed import (
    LONGEST,
    TRIES,
    WIDE,
    Speed,
    pooled,
)
from llmviz.course.ui import kit
from llmviz.models.arithmetic import weight_bytes
from llmviz.models.settings import GPTConfig
from llmviz.sampling.speculative import expected_speed_up

KEY = "efficiency.speculative.speed"
job_of = kit.job_of(
    "llmviz.course.lessons.efficiency.speculative.guess_speed:guess_speeds",
    "name",
    "kind",
    "temperature",
    "wide",
)


def draw(state: kit.PageState, name: str, kind: str, config: GPTConfig) -> None:
    """Show the controls, the measurement, the figure and the table.

    kind: of the draft. config: that of the target as it is.
    """
    wider = dataclasses.replace(config, hidden_size=WIDE * config.feed_forward_size)
    small, large = (weight_bytes(settings, "float32") / 1e6 for settings in (config, wider))
    line = {"small": small, "large": large, "wide": WIDE, "longest": LONGEST}
    kit.section(words.speed, **line)
    anew = state.setter(guessspeed=False)
    kit.choose(state, "guesssize", words.size, words.sizes, then=anew)
    kit.live(
        state,
        "guessspeed",
        job_of,
        (name, kind, state["guessheat"], WIDE if state["guesssize"] == "wide" else 1),
        _draw_results,
        start=words.measure,
        share=lambda job: len(job.results) / TRIES,
        said=kit.Said(words.measuring, words.measure_stopped, words.measure_again),
    )


def _draw_results(job: kit.Job) -> None:
    measurements = list(job.results)
    if not measurements:
        if job.over:
            kit.prose(words.speed_not_yet)
        return
    kit.prose(best_line(measurements[-1]))
    kit.chart(figure(measurements[-1], kit.theme()), f"{KEY}.figure")
    kit.rows_table(table_rows(measurements[-1]), words.speed_columns, key=f"{KEY}.table")
    st.caption(words.speed_note.format(tries=kit.count(len(measurements), "try", "tries")))


def best_line(speeds: tuple[Speed, ...]) -> str:
    """Return which number of guesses was the fastest, in a sentence."""
    best = max(speeds, key=lambda speed: (speed.speed_up, -speed.guesses))
    line = words.speed_best.format(
        plain=1 / best.step,
        k=best.guesses,
        best=best.tokens / best.seconds,
        ratio=best.speed_up,
        accepted=kit.percent(best.acceptance),
    )
    return line if best.speed_up > 1 else line + words.speed_worse


def table_rows(speeds: tuple[Speed, ...]) -> list[tuple]:
    """Return the measurement as a table."""
    return [
        (
            speed.guesses,
            round(speed.tokens / speed.seconds),
            f"{speed.speed_up:.2f}",
            kit.percent(speed.acceptance),
            f"{speed.tokens / speed.rounds:.2f}",
            f"{speed.cost:.2f}",
            f"{speed.read:.2f}",
        )
        for speed in speeds
    ]


@kit.kept(32)
def figure(speeds: tuple[Speed, ...], mode: kit.Mode) -> kit.Figure:
    """Return the measured speed-up and that of the formula, over the number of guesses."""
    a, cost = pooled(speeds)
    ks = [speed.guesses for speed in speeds]
    read = [expected_speed_up(a, speed.guesses, cost, speed.read) for speed in speeds]
    drawn = [
        Line(words.measured, ks, [speed.speed_up for speed in speeds], 0),
        Line(words.expected, ks, [expected_speed_up(a, k, cost) for k in ks], 1),
        Line(words.expected_read, ks, read, 2, dashed=True),
    ]
    return lines(drawn, words.speed_axes, mode, level=(1.0, words.plain_level), hover="%{y:.2f}")

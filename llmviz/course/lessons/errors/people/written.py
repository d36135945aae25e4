"""What a model writes after each job: shares at any temperature, and sentences that it wrote."""

import math

import numpy as np
import streamlit as st

from llmviz.corpus.leaning import JOBS
from llmviz.course.lessons.errors.people import words
from llmviz.course.lessons.errors.people.leans import first_half, kept_word, mean_said, points
from llmviz.course.lessons.errors.read_leaning import HEATS, WRITTEN, JobRead, Measured, sharpened
from llmviz.course.ui import kit


def written_share(model: Measured, temperature: float) -> float:
    """Return how often "she" is written after the jobs of the first half read with pronouns."""
    those = first_half(model, direct=True)
    return sum(sharpened(job.probability, temperature) for job in those) / len(those)


def draw(state: kit.PageState, lean: float, seed: int, model: Measured) -> None:
    """Show the shares at a temperature, and what the model wrote at three of them."""
    kit.section(words.written)
    st.slider(
        words.temperature, step=0.05, width=320, format="%.2f", **state.ranged("leantemperature")
    )
    at = state["leantemperature"]
    rows = [
        [
            job.name,
            kit.whole_percent(job.planted),
            kit.percent(job.probability),
            kit.percent(sharpened(job.probability, at)),
        ]
        for job in model.jobs
        if job.direct
    ]
    column = words.at_temperature.format(temperature=at)
    kit.rows_table(rows, (words.job, words.in_text, words.given, column), height="content")
    kit.prose(
        words.written_read.format(
            temperature=at,
            written=kit.percent(written_share(model, at)),
            given=kit.percent(mean_said(model, direct=True)),
            lean=kit.whole_percent(lean),
        )
    )
    _wrote(lean, seed, model)


def written_shares(model: Measured, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many written sentences have "she" and "he" (2, 2), a row for each half.

    Last, the share of "she" among them (2,). place: of the temperature in HEATS. Jobs that were
    read with pronouns.
    """
    halves = (model.jobs[:JOBS], model.jobs[JOBS:])
    counts = np.array(
        [sum(np.array(job.written[place]) for job in half if job.direct) for half in halves]
    )
    return counts, counts[:, 0] / np.maximum(counts.sum(1), 1)


def _wrote(lean: float, seed: int, model: Measured) -> None:
    """Show what the model wrote at each of HEATS, and some of it."""
    st.code("\n".join(model.examples), language=None, wrap_lines=True)
    kit.rows_table(wrote_rows(model), words.wrote_columns)
    kit.prose(wrote_line(lean, seed, model))


def wrote_rows(model: Measured) -> list[tuple[str, ...]]:
    """Return a row for each temperature: how many sentences have which pronoun."""
    table = []
    for place, heat in enumerate(HEATS):
        counts, _ = written_shares(model, place)
        neither = WRITTEN * len(direct_jobs(model)) - int(counts.sum())
        table.append((f"{heat:g}", *(f"{count:,}" for count in (*counts.ravel(), neither))))
    return table


def direct_jobs(model: Measured) -> list[JobRead]:
    """Return the jobs that were read with pronouns."""
    return [job for job in model.jobs if job.direct]


def wrote_line(lean: float, seed: int, model: Measured) -> str:
    """Return whether what was written keeps the lean of the text, at each temperature."""
    planted, near = 2 * lean - 1, near_of_draws(lean, len(direct_jobs(model)) // 2)
    lines = []
    for place, heat in enumerate(HEATS):
        first, second = written_shares(model, place)[1]
        word = kept_word(planted, first - second, near)
        lines.append(
            words.wrote_line.format(
                heat=heat, apart=points(first - second), planted=points(planted), word=word
            )
        )
    return words.wrote.format(
        text=seed + 1,
        count=WRITTEN,
        jobs=len(direct_jobs(model)),
        lines=" ".join(lines),
        near=points(near),
    )


def near_of_draws(lean: float, jobs: int) -> float:
    """Return two standard errors of the difference of two shares, WRITTEN draws for each job."""
    return 2 * math.sqrt(2 * lean * (1 - lean) / (WRITTEN * jobs))

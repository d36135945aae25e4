"""Part of the chapter "MLP": what reaches the activation function, with batch norm and without."""

import numpy as np
import pandas as pd
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.history.mlp import words
from llmviz.course.lessons.history.mlp.letter_film import LetterFilm
from llmviz.course.lessons.history.mlp.letter_map import (
    BARS,
    REACH,
    SATURATED,
    WATCHED,
    MapSettings,
    activity,
    film,
)
from llmviz.course.ui import kit

KEY = "history.mlp.norm"
BORDERS = (0.1, 0.4, 0.6)  # between the answers


def draw(film: LetterFilm, bend: str, at: int, settings: MapSettings) -> None:
    """Show what reaches the activation function with and without batch norm."""
    name = words.bends[bend]
    flat = words.flat[bend].format(saturated=SATURATED)
    step = int(film.steps[at])
    text = words.norm_text.format(bend=name, step=step, names=WATCHED, flat=flat)
    kit.section(words.norm.title, text)
    quiz = question(film, name, settings.scale)
    if quiz is not None and not kit.predict(quiz, f"{KEY}.ask", covers=True):
        return
    shares = tuple(tuple(film.counts[on][at].tolist()) for on in (True, False))
    kit.chart(histograms(*shares, name, kit.theme()), f"{KEY}.histograms")
    st.caption(words.histogram_note.format(reach=REACH))
    rows = [
        [
            words.maps["on" if on else "off"],
            kit.signed(float(film.mean[on][at])),
            f"{film.deviation[on][at]:.2f}",
            f"{100 * film.saturated[on][at]:.1f}",
            f"{film.dead[on][at]} of {film.units}",
            _loss(film, on, at),
        ]
        for on in (True, False)
    ]
    frame = pd.DataFrame(rows, columns=list(words.stats))
    st.dataframe(frame, hide_index=True, width=680)
    kit.prose(norm_report(film, name, at) + words.norm_why[bend])
    values = tuple(tuple((100 * film.saturated[on]).tolist()) for on in (True, False))
    kit.chart(flat_chart(tuple(film.steps.tolist()), *values, kit.theme()), f"{KEY}.flat")
    _code(film, settings)


def _loss(film: LetterFilm, on: bool, at: int) -> str:
    loss = float(film.losses[on][at])
    return words.no_loss if np.isnan(loss) else f"{loss:.3f}"


@kit.kept(64)
def histograms(on: tuple[int, ...], off: tuple[int, ...], bend: str, mode: kit.Mode) -> kit.Figure:
    """Return the numbers before an activation function with and without batch norm, as shares."""
    width = 2 * REACH / BARS
    centres = -REACH + width * (np.arange(BARS) + 0.5)
    drawn = [
        Line(words.maps[name], centres, 100 * np.array(counts) / sum(counts), colour, marked=False)
        for colour, (name, counts) in enumerate((("on", on), ("off", off)))
    ]
    axes = (words.histogram[0].format(bend=bend), words.histogram[1])
    return lines(drawn, axes, mode, hover="%{y:.2f} %", height=300)


@kit.kept(64)
def flat_chart(
    steps: tuple[int, ...], on: tuple[float, ...], off: tuple[float, ...], mode: kit.Mode
) -> kit.Figure:
    """Return the share of numbers where the slope is almost 0, over the training."""
    drawn = [
        Line(words.maps[name], steps, values, colour, marked=False)
        for colour, (name, values) in enumerate((("on", on), ("off", off)))
    ]
    return lines(drawn, words.flat_chart, mode, hover="%{y:.1f} %", height=280)


def norm_report(film: LetterFilm, bend: str, at: int) -> str:
    """Say what batch norm changes at one frame."""
    losses = {on: _loss(film, on, at) for on in (True, False)}
    text = words.norm_read.format(
        on=kit.percent(float(film.saturated[True][at])),
        off=kit.percent(float(film.saturated[False][at])),
        bend=bend,
        on_dead=int(film.dead[True][at]),
        off_dead=int(film.dead[False][at]),
        units=film.units,
    )
    if words.no_loss in losses.values():
        return text
    nats = {on: f"{loss} nats" for on, loss in losses.items()}
    return text + words.norm_loss.format(on_loss=nats[True], off_loss=nats[False])


def question(film: LetterFilm, bend: str, scale: float) -> kit.Question | None:
    """Ask how much of the first weights' numbers is flat without batch norm.

    None where the share, as it is written, is a border of two answers.
    """
    off = float(film.saturated[False][0])
    if kit.percent(off) in map(kit.percent, BORDERS):
        return None
    right = int(np.searchsorted(BORDERS, off))
    values = {"off": kit.percent(off), "on": kit.percent(float(film.saturated[True][0]))}
    values |= {"scale": f"{scale:g}", "bend": bend}
    return kit.Question.rated(
        words.norm_ask, words.norm_answers, right, words.norm_reason, **values
    )


def _code(map_film: LetterFilm, settings: MapSettings) -> None:
    saturated = f"{map_film.saturated[False][0]:.4f} {map_film.saturated[True][0]:.4f}"
    kit.show_code(
        [film, activity],
        words.snippet_norm.format(settings=settings),
        saturated,
    )

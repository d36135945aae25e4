"""The heads as points by what they look at, moment by moment; the loss by place; heads off."""

import numpy as np
import plotly.graph_objects as go

from llmviz.course.components.scatter_film.view import LAST, Curve, Film, scatter_film
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.induction import words
from llmviz.course.lessons.discoveries.induction.induction_record import ONE, learned
from llmviz.course.ui import kit
from llmviz.interpretability.induction import Learned, Moment, floor

KEY = "discoveries.induction.film"


def place_of(state: kit.PageState) -> int:
    """Return the place of the moment that the film shows."""
    last = len(learned().moments) - 1
    return state["copyframe"] if 0 <= state["copyframe"] < last else last


def draw(state: kit.PageState) -> None:
    """Show the film, the loss by place at its moment, and what is lost without each head."""
    kit.section(words.film)
    run, place = learned(), place_of(state)
    last = len(run.moments) - 1
    points = points_of(run)
    names = head_names(run)
    scatter_film(
        Film(
            points,
            names,
            words=words.film_words,
            kinds=np.array([int(name[0]) for name in names]),
            kind_names=words.film_kinds,
            lit=(0, 1),
            captions=captions(),
            curve=Curve(words.loss_curve, run.curve("repeat_loss").tolist()),
            axes=tuple(words.film_axes),
        ),
        key=KEY,
        step=place if place < last else LAST,
        on_step=kit.bound(state, KEY, step=("copyframe", kit.one_of([*range(last), LAST], LAST))),
    )
    moment = run.moments[place]
    kit.prose(words.off_intro, step=moment.step, loss=moment.repeat_loss)
    kit.rows_table(off_rows(moment), words.off_columns)
    kit.chart(by_place(place, kit.theme()), f"{KEY}.place", bar=False)
    kit.prose(words.floor_read)


@kit.kept(1)
def captions() -> list[str]:
    """Return the step and the loss of each moment, in one line."""
    return [
        words.caption.format(step=moment.step, loss=moment.repeat_loss)
        for moment in learned().moments
    ]


def head_names(run: Learned) -> list[str]:
    """Return the heads of a model: layer, point, head.

    >>> from llmviz.interpretability.induction import Copier
    >>> head_names(Learned(Copier(layers=2, heads=2), []))
    ['0.0', '0.1', '1.0', '1.1']
    """
    copier = run.copier
    return [f"{layer}.{head}" for layer in range(copier.layers) for head in range(copier.heads)]


def points_of(run: Learned) -> np.ndarray:
    """Return the scores of all heads at all moments (S, L · H, 2): previous and induction."""
    both = np.stack([run.curve("previous"), run.curve("induction")], -1)
    return both.reshape(len(both), -1, 2)


def off_rows(moment: Moment) -> list[tuple[str, ...]]:
    """Return a row for each head: its two scores, and the loss when it alone is off."""
    return [
        (
            words.head.format(layer=layer, head=head),
            kit.percent(float(moment.previous[layer, head])),
            kit.percent(float(moment.induction[layer, head])),
            f"{moment.off[layer, head]:.3f}",
        )
        for layer, head in np.ndindex(moment.off.shape)
    ]


@kit.kept(90)
def by_place(place: int, mode: kit.Mode) -> go.Figure:
    """Return the loss of each letter from the second on, beside the least that is possible."""
    least = floor()
    places = np.arange(2, len(least) + 2)
    drawn = [
        Line(words.two_now, places, learned().moments[place].by_place, 0),
        Line(words.one_last, places, learned(ONE).last.by_place, 1),
        Line(words.floor_line, places, least, 2, dashed=True, marked=False),
    ]
    return lines(drawn, (words.place_axis, words.by_place_axis), mode, height=320)

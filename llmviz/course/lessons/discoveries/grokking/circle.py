"""The numbers in a plane of the embedding table, moment by moment, and its Fourier power."""

import numpy as np
import plotly.graph_objects as go

from llmviz.course.components.scatter_film.view import LAST, Curve, Film, scatter_film
from llmviz.course.lessons.discoveries.grokking import words
from llmviz.course.lessons.discoveries.grokking.grokking_record import film
from llmviz.course.lessons.discoveries.grokking.model import Moment, plane
from llmviz.course.lessons.discoveries.grokking.params import WAVES
from llmviz.course.ui import kit

KEY = "discoveries.grokking.circle"


@kit.kept(1)
def frames() -> list[Moment]:
    """Return the moments of the main training whose rows are bundled."""
    return [moment for moment in film().moments if moment.rows is not None]


@kit.kept(WAVES)
def places(frequency: int) -> np.ndarray:
    """Return where the numbers lie at each moment (S, P, 2), along the last moment's directions."""
    rows = [frame.rows for frame in frames()]
    directions = plane(rows[-1], frequency)
    return np.array([row @ directions.T for row in rows])


def neighbours(frequency: int, modulus: int) -> list[tuple[int, int]]:
    """Return the pairs of numbers that are next to each other on the wave of a frequency.

    >>> neighbours(2, 5)
    [(0, 3), (1, 4), (2, 0), (3, 1), (4, 2)]
    """
    apart = pow(frequency, -1, modulus)
    return [(n, (n + apart) % modulus) for n in range(modulus)]


def draw(state: kit.PageState) -> None:
    """Show the film, and how much each frequency holds at its moment."""
    main = film()
    modulus, last = main.task.modulus, len(frames()) - 1
    kit.section(words.circle, modulus=modulus)
    waves = main.strongest(WAVES)
    kit.choose(state, "grokwave", words.wave, {n: str(k) for n, k in enumerate(waves)})
    frequency = waves[state["grokwave"]]
    at = state["grokframe"] if 0 <= state["grokframe"] < last else LAST
    scatter_film(
        Film(
            places(frequency),
            [str(n) for n in range(modulus)],
            words=words.film_words,
            kinds=np.zeros(modulus),
            kind_names=[words.film_words["kinds"]],
            lit=[0],
            links=neighbours(frequency, modulus),
            captions=captions(),
            curve=Curve(words.loss_curve, [frame.new_loss for frame in frames()]),
            axes=tuple(words.film_axes),
        ),
        key=KEY,
        step=at,
        on_step=kit.bound(state, KEY, step=("grokframe", kit.one_of([*range(last), LAST], LAST))),
    )
    kit.chart(power_figure(at, kit.theme()), f"{KEY}.power", bar=False)
    kit.prose(power_read(at))


@kit.kept(1)
def captions() -> list[str]:
    """Return what is known at each moment, in one line."""
    return [
        words.caption.format(
            step=frame.step, shown=kit.percent(frame.shown_right), new=kit.percent(frame.new_right)
        )
        for frame in frames()
    ]


@kit.kept(64)
def power_figure(at: int, mode: kit.Mode) -> go.Figure:
    """Return the share of each frequency at a moment, as bars; the strongest at the end stand out.

    The axis is that of the largest share of all moments.
    """
    held = frames()[at].power
    top = max(float(frame.power.max()) for frame in frames())
    strong = film().strongest(WAVES)
    colours = ["weights" if k + 1 in strong else "residual" for k in range(len(held))]
    bars = {
        "type": "bar",
        "x": list(range(1, len(held) + 1)),
        "y": held.round(4).tolist(),
        "marker": {"color": [kit.role_color(role, mode) for role in colours]},
        "hovertemplate": "%{x}: %{y:.1%}<extra></extra>",
    }
    margin = {"l": 56, "r": 16, "t": 16, "b": 44}
    layout = kit.bare_layout(mode, height=240, margin=margin, showlegend=False, bargap=0.25)
    layout["xaxis"] |= {"title": {"text": words.frequency_axis, "standoff": 8}}
    layout["yaxis"] |= {
        "title": {"text": words.power_axis, "standoff": 8},
        "tickformat": ".0%",
        "range": [0, top * 1.05],
    }
    return go.Figure([bars], layout)


def power_read(at: int) -> str:
    """Return how much the strongest frequencies hold at a moment and held at the first."""
    moments = frames()

    def held(moment: Moment) -> str:
        return kit.whole_percent(float(np.sort(moment.power)[-WAVES:].sum()))

    return words.power_read.format(
        step=moments[at].step,
        first=moments[0].step,
        count=WAVES,
        all=len(moments[at].power),
        now=held(moments[at]),
        before=held(moments[0]),
    )

"""How many sums are right, step by step: of those that are shown, and of new ones."""

import numpy as np
import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.grokking import words
from llmviz.course.lessons.discoveries.grokking.grokking_record import film
from llmviz.course.lessons.discoveries.grokking.model import LEARNED, Film
from llmviz.course.lessons.discoveries.grokking.params import WAVES
from llmviz.course.ui import kit

KEY = "discoveries.grokking.curves"


def draw() -> None:
    """Show the curves of the main training, and say when it knows what."""
    kit.section(words.curves)
    kit.chart(main_figure(kit.theme()), f"{KEY}.right", bar=False)
    kit.prose(f"{curves_read(film())} {turned_read(film())}")
    kit.prose(losses_read(film()))


@kit.kept(2)
def main_figure(mode: kit.Mode) -> go.Figure:
    """Return the shares of right sums of the main training, by step."""
    return right_figure(film(), mode)


def right_figure(run: Film, mode: kit.Mode) -> go.Figure:
    """Return shares of right sums by step, and what the frequencies of the last moment hold."""
    curves = {"shown_right": words.shown_line, "turned_right": words.turned_line}
    curves |= {"new_right": words.new_line}
    marked = len(run.moments) < 2
    drawn = [
        Line(title, run.steps, run.curve(name), colour, marked=marked)
        for colour, (name, title) in enumerate(curves.items())
    ]
    held = words.waves_line.format(count=WAVES)
    drawn.append(Line(held, run.steps, run.held(WAVES), 3, dashed=True, marked=marked))
    return shares(lines(drawn, axes(), mode, logarithmic=(True, False), hover="%{y:.1%}"))


def axes() -> tuple[str, str]:
    """Return the titles of the axes."""
    return words.step_axis, words.right_axis


def shares(figure: go.Figure) -> go.Figure:
    """Give a figure an axis of shares, from 0 to 1."""
    return figure.update_layout(yaxis_tickformat=".0%", yaxis_range=[-0.02, 1.04])


def curves_read(run: Film) -> str:
    """Return when a training knows the shown sums, and when the new ones, in a sentence."""
    heart, new = run.step_of("shown_right"), run.step_of("new_right")
    last = run.last
    how = "none" if heart is None else "heart" if new is None else "both"
    return words.curves_read[how].format(
        most=kit.percent(LEARNED),
        heart=heart,
        new=new,
        times=new / heart if heart and new else 0,
        last=last.step,
        known=kit.percent(last.shown_right),
        right=kit.percent(last.new_right),
    )


def turned_read(run: Film) -> str:
    """Return what a training knows of the other order, once it knows the shown sums; or nothing."""
    place = run.first("shown_right")
    if place is None:
        return ""
    return words.turned_read.format(turned=kit.percent(run.moments[place].turned_right))


def losses_read(run: Film) -> str:
    """Return what the losses do between the two moments, in a sentence; or nothing."""
    heart, new = run.first("shown_right"), run.first("new_right")
    if heart is None or new is None or new <= heart:
        return ""
    between = slice(heart, new + 1)
    return words.losses_read.format(
        shown_loss=float(run.curve("shown_loss")[between].max()),
        worst=float(run.curve("new_loss")[between].max()),
        modulus=run.task.modulus,
        guess=float(np.log(run.task.modulus)),
    )

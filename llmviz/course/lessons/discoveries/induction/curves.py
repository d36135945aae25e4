"""The loss on letters that repeat, step by step, with two layers and with one."""

from collections.abc import Sequence
from dataclasses import replace

import plotly.graph_objects as go

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.induction import words
from llmviz.course.lessons.discoveries.induction.induction_record import ONE, SEEDS, TWO, learned
from llmviz.course.ui import kit
from llmviz.interpretability.induction import HELD_OUT, Copier, Learned

KEY = "discoveries.induction.curves"


def draw() -> None:
    """Show the curves of all bundled trainings, and say when the loss falls."""
    kit.section(words.curves, held=HELD_OUT)
    kit.chart(figure(kit.theme()), f"{KEY}.loss", bar=False)
    kit.prose(step_read(learned(), ends_of(TWO), ends_of(ONE)))


@kit.kept(2)
def figure(mode: kit.Mode) -> go.Figure:
    """Return the loss on letters that repeat of all bundled trainings, by step."""
    drawn = [
        line(
            learned(replace(copier, seed=seed)),
            title.format(number=seed + 1),
            colour,
            dashed=dashed,
        )
        for colour, (copier, title, dashed) in enumerate(
            ((TWO, words.two_line, False), (ONE, words.one_line, True))
        )
        for seed in SEEDS
    ]
    return lines(drawn, (words.step_axis, words.loss_axis), mode, logarithmic=(True, False))


def line(run: Learned, title: str, colour: int, *, dashed: bool = False) -> Line:
    """Return the loss on letters that repeat of a training as a line; step 0 has no logarithm."""
    steps, losses = run.steps, run.curve("repeat_loss")
    after = steps > 0
    return Line(title, steps[after], losses[after], colour, dashed=dashed, marked=False)


def ends_of(copier: Copier) -> Sequence[float]:
    """Return the last losses of the trainings of a model, sorted."""
    return sorted(learned(replace(copier, seed=seed)).last.repeat_loss for seed in SEEDS)


def step_read(run: Learned, twos: Sequence[float], ones: Sequence[float]) -> str:
    """Return when the loss falls fastest, and where both kinds of model end, in sentences."""
    place = run.steepest
    before, after = run.moments[place - 1], run.moments[place]
    return words.step_read.format(
        since=before.step,
        at=after.step,
        before=before.repeat_loss,
        after=after.repeat_loss,
        ends=kit.listed([f"{loss:.3f}" for loss in twos]),
        ones=kit.listed([f"{loss:.2f}" for loss in ones]),
    )

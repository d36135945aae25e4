"""Other settings: weight decay, the share that is shown and the modulus, three trainings each."""

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.discoveries.grokking import words
from llmviz.course.lessons.discoveries.grokking.curves import axes, shares
from llmviz.course.lessons.discoveries.grokking.grokking_record import (
    DECAYS,
    MODULI,
    SEEDS,
    SHARES,
    film,
    small,
)
from llmviz.course.lessons.discoveries.grokking.model import LEARNED, Film
from llmviz.course.ui import kit

KEY = "discoveries.grokking.grid"


def draw(state: kit.PageState) -> bool:
    """Ask what weight decay does, and show the trainings; return whether they are shown."""
    kit.section(words.grid, trainings=len(MODULI) * len(SHARES) * len(DECAYS) * len(SEEDS))
    if not kit.predict(kit.Question.of(words.ask_decay), f"{KEY}.decay", covers=True):
        return False
    kit.section(words.many)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, values in (
            ("gridmodulus", words.modulus, MODULI),
            ("gridshare", words.share, SHARES),
            ("griddecay", words.decay, DECAYS),
        ):
            kit.choose(state, key, label, {f"{value:g}": f"{value:g}" for value in values})
    modulus = int(state["gridmodulus"])
    share, decay = float(state["gridshare"]), float(state["griddecay"])
    kit.chart(figure(modulus, share, decay, kit.theme()), f"{KEY}.new", bar=False)
    kit.prose(grid_read(films(modulus, share, decay)))
    kit.prose(words.every, modulus=modulus, most=kit.percent(LEARNED))
    kit.rows_table(every_row(modulus), words.every_columns)
    return True


def films(modulus: int, share: float, decay: float) -> list[Film]:
    """Return the three trainings of these settings."""
    return [film(small(modulus, share, decay, seed)) for seed in SEEDS]


@kit.kept(36)
def figure(modulus: int, share: float, decay: float, mode: kit.Mode) -> go.Figure:
    """Return the share of right new sums of three trainings, by step."""
    every = films(modulus, share, decay)
    drawn = [
        Line(
            words.seed_line.format(number=n + 1), run.steps, run.curve("new_right"), n, marked=False
        )
        for n, run in enumerate(every)
    ]
    titles = axes()[0], words.new_axis
    return shares(lines(drawn, titles, mode, logarithmic=(True, False), hover="%{y:.1%}"))


def grid_read(every: list[Film]) -> str:
    """Return which of three trainings come to know the new sums, and when."""
    steps = [step for step in (run.step_of("new_right") for run in every) if step is not None]
    how = "all" if len(steps) == len(every) else "some" if steps else "none"
    return words.grid_read[how].format(
        count=len(steps),
        last=max(run.last.step for run in every),
        steps=kit.listed([f"{step:,}" for step in steps]),
        rights=kit.listed([kit.percent(run.last.new_right) for run in every]),
    )


def when(run: Film) -> str:
    """Return the step at which a training knows the new sums, or that it does not."""
    step = run.step_of("new_right")
    return words.never.format(last=run.last.step) if step is None else f"{step:,}"


@kit.kept(len(MODULI))
def every_row(modulus: int) -> list[tuple[str, ...]]:
    """Return a row for each share: when three trainings of each weight decay know the new sums."""
    return [
        (f"{share:g}", *("; ".join(map(when, films(modulus, share, decay))) for decay in DECAYS))
        for share in SHARES
    ]

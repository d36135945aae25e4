"""A student that learns while the learner watches; its curve stands beside the bundled ones."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.reasoning.distillation import record, words
from llmviz.course.lessons.reasoning.distillation.distil_record import FEW, SEEDS, recorded
from llmviz.course.lessons.reasoning.distillation.distilling import WAYS, Point
from llmviz.course.ui import kit

KEY = "reasoning.distillation.live"
SEED = len(SEEDS)  # of its weights and stories, which no bundled student has


@kit.kept(12)
def job_of(way: str, updates: int) -> kit.Job:
    """Return a training in a process of its own; the same one is made only once."""
    return kit.training_jobs().start(
        "llmviz.course.lessons.reasoning.distillation.distilling:student_run",
        name=way,
        count=FEW,
        seed=SEED,
        updates=updates,
    )


def draw(state: kit.PageState) -> None:
    """Show the controls, the button and the training."""
    kit.section(words.live, few=FEW)
    anew = state.setter(distrun=False)
    kit.choose(state, "distway", words.way, {name: words.ways[name] for name in WAYS}, then=anew)
    st.slider(words.updates, step=40, width=320, **state.ranged("distupdates", then=anew))
    way, updates = state["distway"], state["distupdates"]
    kit.live(
        state,
        "distrun",
        job_of,
        (way, updates),
        lambda job: _result(job, way),
        start=words.start,
        share=lambda job: list(job.results)[-1].step / updates if job.results else 0.0,
    )


def _result(job: kit.Job, way: str) -> None:
    points: list[Point] = list(job.results)
    if not points:
        return
    record.chart(run_figure(job, len(points), kit.theme()), f"{KEY}.lack")
    last = points[-1]
    kit.prose(
        words.live_read,
        tokens=last.tokens,
        lack=last.lack,
        seconds=last.seconds,
        mean=f"{bundled_at(way, last.tokens):.3f}",
    )


def bundled_at(way: str, tokens: int) -> float:
    """Return what the bundled students of a way lack after so many tokens, between two points."""
    runs = recorded().of(way, FEW)
    x = np.mean([[point.tokens for point in run.points] for run in runs], axis=0)
    y = np.mean([[point.lack for point in run.points] for run in runs], axis=0)
    return float(np.interp(tokens, x, y))


@kit.kept(24)
def run_figure(job: kit.Job, count: int, mode: kit.Mode) -> go.Figure:
    """Return the curve of a training so far, beside those of the bundled students."""
    points = list(job.results)[:count]
    x, y = [point.tokens for point in points], [point.lack for point in points]
    own = Line(words.live_name, x, y, len(WAYS))
    axes = words.tokens_axis, words.lack_axis
    return lines([*record.curves(FEW), own], axes, mode, logarithmic=(False, True))

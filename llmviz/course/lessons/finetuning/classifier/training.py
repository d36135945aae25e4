"""A training of a classifier: its controls, its curve, and what came out of it on the test.

What came out is the share of right answers, the confusion matrix, the texts of a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.figures.finetuning import learning_curve
from llmviz.course.lessons.finetuning.classifier import STEPS, class_training, words
from llmviz.course.lessons.finetuning.classifier.class_training import (
    Begun,
    ClassPlan,
    Point,
    Trained,
    rebuilt,
)
from llmviz.course.ui import engine, kit
from llmviz.files.text import whole_number
from llmviz.finetuning.classifier import Classifier

FLAG = "classtrained"
SAID = kit.JobWords(again=words.again, pauses=True)
OUTCOME_KEY = "finetuning.classifier.table"
TEXTS = 5  # of an opened cell
job_of = kit.job_of(f"{class_training.__name__}:training", "plan", most=4)


class Outcome(NamedTuple):
    """A training as far as it has come; `whose` tells it from all others."""

    plan: ClassPlan
    begun: Begun
    points: list[Point]
    trained: Trained | None
    whose: Hashable


def outcome(plan: ClassPlan, parts: Sequence[object], whose: Hashable) -> Outcome | None:
    """Return a training from what it has yielded; None before it has begun."""
    points = [part for part in parts if isinstance(part, Point)]
    trained = [part for part in parts if isinstance(part, Trained)]
    if not parts:
        return None
    assert isinstance(parts[0], Begun)
    return Outcome(plan, parts[0], points, trained[-1] if trained else None, whose)


def first(plan: ClassPlan) -> Outcome | None:
    """Return the classifier that is there for all visitors, if the plan is that one's."""
    if plan != ClassPlan() or plan.base not in engine.names():
        return None
    return first_of(engine.load(plan.base))


@kit.cached(2)
def first_of(bundled: engine.Bundled) -> Outcome | None:
    """Return the classifier of the usual settings on a model."""
    plan = ClassPlan()
    return outcome(plan, [*class_training.training(plan)], (bundled.name, bundled.version))


@kit.cached(8, key=lambda now: (now.whose, now.trained.step))
def model_of(now: Outcome) -> Classifier:
    """Return the newest classifier of a training, ready for use."""
    assert now.trained is not None
    return rebuilt(engine.load(now.plan.base).model, now.plan, now.trained)


def controls(state: kit.PageState) -> None:
    changed = state.setter(classtrained=False)

    def other_way() -> None:
        changed()
        state["classupdates"] = STEPS[state["trains"]]

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "trains", words.way, words.ways, then=other_way)
        st.number_input(words.examples, width=140, **state.ranged("examples", then=changed))
        st.number_input(words.steps, width=120, **state.ranged("classupdates", then=changed))
        st.number_input(words.seed, width=120, **state.ranged("classseed", then=changed))


def draw(state: kit.PageState, plan: ClassPlan, then: Callable[[Outcome], None]) -> None:
    """Show the training of a plan; then: shows what there is to a classifier that has come out."""
    kit.training_jobs().warm_up(class_training.__name__)  # importing torch takes longer than a head
    there = None if kit.begun(state, FLAG, job_of, (plan,)) else first(plan)

    def shown(job: kit.Job) -> None:
        _result(state, outcome(plan, list(job.results), job), then if job.over else None)

    kit.live(
        state,
        FLAG,
        job_of,
        (plan,),
        shown,
        start=words.again if there else words.train,
        share=lambda job: max([0, *(_step(part) for part in job.results[-2:])]) / plan.steps,
        said=SAID,
    )
    if there is not None:
        st.caption(words.first_one)
        _result(state, there, then)


def _step(part: object) -> int:
    return part.step if isinstance(part, Point | Trained) else 0


def _result(
    state: kit.PageState, now: Outcome | None, then: Callable[[Outcome], None] | None
) -> None:
    """Show the curve so far; then: of a training that is over, all that is said of it."""
    if now is None or not now.points:
        return
    kit.chart(curve(now, kit.theme()), "finetuning.classifier.curve")
    if then is None:
        return
    kit.prose(
        words.took,
        trained=f"{now.begun.trained:,}",
        parameters=f"{now.begun.parameters:,}",
        texts=kit.count(sum(now.begun.counts.values()), "text"),
        seconds=now.begun.preparing + now.points[-1].seconds,
    )
    if now.trained is None:
        st.caption(words.stopped_early)
        return
    if now.trained.step < now.plan.steps:
        st.caption(words.as_it_was.format(step=now.trained.step))
    draw_outcome(state, now, now.trained)
    then(now)


@kit.cached(64, key=lambda now, mode: (now.whose, len(now.points), mode))
def curve(now: Outcome, mode: kit.Mode) -> kit.Figure:
    steps, losses = [point.step for point in now.points], [point.loss for point in now.points]
    measured = [(at.step, at.validation) for at in now.points if at.validation is not None]
    names, axes = words.loss_names, words.loss_axes
    return learning_curve(steps, losses, measured, names, axes, now.plan.steps, mode)


def draw_outcome(state: kit.PageState, now: Outcome, trained: Trained) -> None:
    """Show how good a classifier is, and where it errs."""
    kit.section(words.reached_section)
    opened = confusion(state, trained, trained.table)
    line = words.reached.format(**reached(now))
    kit.prose(f"{line} {words.table[0].upper()}{words.table[1:]}. {words.open_cell}")
    if opened is not None:
        _texts_of(trained, trained.table, opened)


def reached(now: Outcome) -> dict[str, str]:
    """Return what a classifier gets right of the test, and what the most frequent class would."""
    trained = now.trained
    assert trained is not None
    most = max(now.begun.tested, key=now.begun.tested.__getitem__)
    return {
        "count": kit.count(int(trained.table.sum()), "test text"),
        "right": f"{np.trace(trained.table):,}",
        "share": kit.percent(trained.accuracy),
        "guess": kit.quote(most),
        "chance": kit.percent(now.begun.tested[most] / trained.table.sum()),
    }


def confusion(state: kit.PageState, trained: Trained, table: np.ndarray) -> tuple[int, int] | None:
    """Draw the confusion matrix and return the opened cell."""
    names = trained.names
    shares = table / np.maximum(1, table.sum(1, keepdims=True))

    def note(i: int, j: int) -> str:
        texts, share = kit.count(int(table[i, j]), "text"), kit.percent(shares[i, j])
        return words.cell_note.format(texts=texts, own=names[i], called=names[j], share=share)

    row, _, column = state["cell"].partition(".")
    return cell_grid(
        shares,
        key=OUTCOME_KEY,
        row_names=names,
        column_names=names,
        texts=[[f"{n:,}" for n in line] for line in table],
        notes=[[note(i, j) for j in range(len(names))] for i in range(len(names))],
        strong=np.eye(len(names), dtype=bool),
        limit=1.0,
        scale=words.scale,
        label=words.table,
        chosen=read_cell([whole_number(row), whole_number(column)], len(names), len(names)),
        on_change=kit.bound(state, OUTCOME_KEY, chosen=("cell", kit.link_of)),
    )


def _texts_of(trained: Trained, table: np.ndarray, cell: tuple[int, int]) -> None:
    chosen = trained.probabilities.argmax(1)
    places = np.flatnonzero((trained.labels == cell[0]) & (chosen == cell[1]))[:TEXTS]
    own, called = (kit.quote(trained.names[i]) for i in cell)
    if not len(places):
        kit.prose(words.cell_empty, own=own, called=called)
        return
    line = {"shown": len(places), "count": f"{table[cell]:,}"}
    kit.prose(words.cell_opened, own=own, called=called, **line)
    cases = [
        kit.Case(trained.texts[at], float(trained.probabilities[at, cell[1]])) for at in places
    ]
    axis = kit.Axis(0, 1, words.cell_axis)
    kit.case_rows(cases, axis, key=f"{OUTCOME_KEY}.texts", form="percent")

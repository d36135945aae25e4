"""A training's controls, its curve, how far it is, and what came out of it on the test.

What came out is the share of right answers, the confusion matrix, the texts of a cell.
"""

import numpy as np
import streamlit as st

from llmviz.background import WAITING
from llmviz.course.components.cell_grid.view import cell_grid, read_cell
from llmviz.course.figures.finetuning import learning_curve
from llmviz.course.lessons.finetuning.classifier import STEPS, runs, words
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan, Trained
from llmviz.course.lessons.finetuning.classifier.runs import Outcome, OwnRun
from llmviz.course.ui import kit
from llmviz.textfile import whole_number

OUTCOME_KEY = "finetuning.classifier.table"
TEXTS = 5  # of an opened cell


def draw_outcome(state: kit.PageState, now: Outcome) -> None:
    """Show how good a classifier is, and where it errs."""
    trained = now.trained
    assert trained is not None
    kit.section(words.reached_section)
    opened = confusion(state, trained, trained.table)
    line = words.reached.format(**reached(now))
    kit.prose(f"{line} {words.table[0].upper()}{words.table[1:]}. {words.open_cell}")
    _texts_of(trained, trained.table, opened)


def reached(now: Outcome) -> dict[str, str]:
    """Return what a classifier gets right of the test, and what the most frequent class would."""
    trained, begun = now.trained, now.begun
    assert trained is not None and begun is not None
    most = max(begun.tested, key=begun.tested.__getitem__)
    return {
        "count": kit.count(int(trained.table.sum()), "test text"),
        "right": f"{np.trace(trained.table):,}",
        "share": kit.percent(trained.accuracy),
        "guess": kit.quote(most),
        "chance": kit.percent(begun.tested[most] / trained.table.sum()),
    }


def confusion(state: kit.PageState, trained: Trained, table: np.ndarray) -> tuple[int, int] | None:
    """Draw the confusion matrix and return the opened cell."""
    names = trained.names
    shares = table / np.maximum(1, table.sum(1, keepdims=True))
    notes = [
        [
            words.cell_note.format(
                texts=kit.count(int(table[i, j]), "text"),
                own=own,
                called=called,
                share=kit.percent(shares[i, j]),
            )
            for j, called in enumerate(names)
        ]
        for i, own in enumerate(names)
    ]
    row, _, column = state["cell"].partition(".")
    chosen = read_cell([whole_number(row), whole_number(column)], len(names), len(names))
    return cell_grid(
        shares,
        key=OUTCOME_KEY,
        row_names=names,
        column_names=names,
        texts=[[f"{n:,}" for n in line] for line in table],
        notes=notes,
        strong=np.eye(len(names), dtype=bool),
        limit=1.0,
        scale=words.scale,
        label=words.table,
        chosen=chosen,
        on_change=kit.bound(state, OUTCOME_KEY, chosen=("cell", kit.link_of)),
    )


def _texts_of(trained: Trained, table: np.ndarray, cell: tuple[int, int] | None) -> None:
    if cell is None:
        return
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
    kit.case_rows(cases, axis, key=f"{OUTCOME_KEY}.texts", words={}, form="percent")


PACE = 0.7  # seconds between two looks at a training


def controls(state: kit.PageState) -> None:
    """Show what is trained and how."""
    changed = state.setter(classtrained=False)

    def other_way() -> None:
        changed()
        state["classupdates"] = STEPS[state["trains"]]

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "trains", words.way, words.ways, then=other_way)
        st.number_input(words.examples, width=140, **state.ranged("examples", then=changed))
        st.number_input(words.steps, width=120, **state.ranged("classupdates", then=changed))
        st.number_input(words.seed, width=120, **state.ranged("classseed", then=changed))


def draw(state: kit.PageState, plan: ClassPlan) -> Outcome | None:
    """Show the training of a plan, and return it; None where there is none yet."""
    if state["classtrained"] and runs.own_run(plan) is None and runs.first(plan) is None:
        runs.start(plan)  # a link asked for it
    runs.warm_up()
    run = runs.own_run(plan)
    live = run is not None and not run.job.over
    st.fragment(_live, run_every=PACE if live else None)(state, plan, live)
    run = runs.own_run(plan)
    if run is None:
        return runs.first(plan)
    return run.outcome if run.job.over and not run.job.problem else None


def _live(state: kit.PageState, plan: ClassPlan, live: bool) -> None:
    """The buttons, how far it is, and the curve so far; looked at again while it grows."""
    run = runs.own_run(plan)
    if live != (run is not None and not run.job.over):
        st.rerun()  # looking again and again begins, or ends
    _buttons(state, plan, run)
    now = run.outcome if run is not None else runs.first(plan)
    if run is not None:
        _progress(run)
    elif now is not None:
        st.caption(words.first_one)
    else:
        st.caption(words.not_yet)
    if now is None or not now.points:
        return
    kit.chart(curve(now.mark, len(now.points), now, kit.theme()), "finetuning.classifier.curve")
    if not live and now.begun is not None:
        slots = {
            "trained": f"{now.begun.trained:,}",
            "parameters": f"{now.begun.parameters:,}",
            "texts": kit.count(sum(now.begun.counts.values()), "text"),
            "preparing": seconds(now.begun.preparing),
            "seconds": seconds(now.points[-1].seconds),
        }
        kit.prose(words.took, **slots)


def seconds(value: float) -> str:
    """Return a time of a training in seconds.

    >>> seconds(0.04), seconds(1.26), seconds(83)
    ('less than 0.1 seconds', '1.3 seconds', '83 seconds')
    """
    if value < 0.1:
        return "less than 0.1 seconds"
    return f"{value:.1f} seconds" if value < 10 else f"{value:.0f} seconds"


@kit.kept(64, key=lambda mark, points, outcome, mode: (mark, points, mode))
def curve(mark: str, points: int, outcome: Outcome, mode: kit.Mode) -> kit.Figure:
    """Return the losses so far; `mark` and `points` tell this state of it from all others."""
    drawn = outcome.points[:points]
    measured = [(point.step, point.validation) for point in drawn if point.validation is not None]
    steps, losses = [point.step for point in drawn], [point.loss for point in drawn]
    end = outcome.plan.steps
    return learning_curve(steps, losses, measured, words.loss_names, words.loss_axes, end, mode)


def _buttons(state: kit.PageState, plan: ClassPlan, run: OwnRun | None) -> None:
    if run is not None and not run.job.over:
        key = "finetuning.classifier.stop"
        st.button(words.stop, icon=":material/stop:", on_click=run.job.stop, key=key)
        return

    def begin() -> None:
        runs.start(plan)
        state["classtrained"] = True

    there = run is not None or runs.first(plan) is not None
    st.button(
        words.again if there else words.train,
        icon=":material/play_arrow:",
        type="secondary" if there else "primary",
        on_click=begin,
        key="finetuning.classifier.train",
    )


def _progress(run: OwnRun) -> None:
    """Say how far a run is, or why it ended."""
    job, points = run.job, run.outcome.points
    if job.problem:
        kit.refuse_failed(job)
        return
    steps = run.outcome.plan.steps
    if job.over:
        trained = run.outcome.trained
        if trained is None:
            st.caption(words.stopped_early)
        elif trained.step < steps:
            st.caption(words.stopped.format(step=trained.step))
        return
    if points:
        text = words.progress.format(step=points[-1].step, steps=steps)
        st.progress(points[-1].step / steps, text=text)
    elif job.state == WAITING and job.before:
        st.progress(0.0, text=words.queued.format(before=kit.count(job.before, "training")))
    else:
        st.progress(0.0, text=words.starting)

"""The controls of a training, its buttons, its curve, and how far it is."""

import streamlit as st

from llmviz.background import WAITING
from llmviz.course.figures.finetuning import learning_curve
from llmviz.course.lessons.finetuning.classifier import STEPS, runs, words
from llmviz.course.lessons.finetuning.classifier.class_training import ClassPlan
from llmviz.course.lessons.finetuning.classifier.runs import Outcome, OwnRun
from llmviz.course.ui import kit

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

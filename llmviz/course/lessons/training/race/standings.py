"""How the models of the race stand at a step: a table, a report in words, and a question."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from llmviz.course.lessons.training.race import words
from llmviz.course.lessons.training.started_runs import Titled
from llmviz.course.ui import kit
from llmviz.evaluation.nine_models import TIE

EARLY = 20.0  # seconds of training after which the order by speed is read


def table(state: kit.PageState, full: list[Titled]) -> None:
    """Show what each model had reached by a step, and what it then wrote."""
    longest = max(full, key=lambda run: len(run.curve.samples))
    steps = [int(longest.curve.steps[i]) for i, _ in longest.curve.samples]
    at = state["rstep"] if state["rstep"] in steps else steps[-1]

    def moved(chosen: int) -> None:
        state["rstep"] = -1 if chosen == steps[-1] else chosen

    st.select_slider(
        words.at,
        steps,
        format_func=lambda step: f"{step:,}",
        width=420,
        **kit.tied("_rstep@training", at, moved),
    )
    rows = [_row(run, at) for run in full]
    three = st.column_config.NumberColumn(format="%.3f")
    formats = {words.columns[key]: three for key in ("validation", "training")}
    formats[words.columns["parameters"]] = st.column_config.TextColumn(alignment="right")
    kit.rows_table(rows, words.columns.values(), column_config=formats)
    kit.prose(report(full, at))


def _row(run: Titled, step: int) -> list[object]:
    curve = run.curve
    at = int(np.searchsorted(curve.steps, step))
    at = min(at, len(curve) - 1)
    texts = {int(curve.steps[i]): text for i, text in curve.samples}
    return [
        run.title,
        words.models[run.name][1],
        f"{run.description['parameters']:,}",
        round(float(curve.seconds[at])),
        loss_by(run, step),
        float(curve.train[at]),
        texts.get(step, words.not_yet),
    ]


def loss_by(run: Titled, step: int) -> float:
    """The last validation loss measured up to a step; NaN before there is one."""
    known = run.curve.validation[run.curve.steps <= step]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def after(run: Titled, seconds: float) -> float:
    """The last validation loss measured within some seconds of training; NaN before one."""
    known = run.curve.validation[run.curve.seconds <= seconds]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def report(full: list[Titled], step: int) -> str:
    """Say which models are best at a step, which were after some seconds, and which overfits."""
    measured = [run for run in full if not np.isnan(loss_by(run, step))]
    if len(measured) < 2:
        return words.unmeasured.format(step=step)
    order = sorted(measured, key=lambda run: loss_by(run, step))
    best = _leaders(order, partial(loss_by, step=step))
    text = words.standing.format(
        step=step,
        first=order[0].title,
        loss=loss_by(order[0], step),
        next=_next(order, best, step),
        last=order[-1].title,
        worst=loss_by(order[-1], step),
    )
    by_then = partial(after, seconds=EARLY)
    quick = _leaders(full, by_then)
    if quick:
        text += words.quick[best[0] in quick].format(
            seconds=f"{EARLY:g}",
            first=best[0].title,
            quick=quick[0].title,
            loss=by_then(quick[0]),
        )
    return text + _overfitting(full) + _dropped(full)


def _leaders(runs: list[Titled], loss: Callable[[Titled], float]) -> list[Titled]:
    """The runs with the lowest loss, the lowest first: those that cannot be ranked behind it."""
    order = sorted((run for run in runs if not np.isnan(loss(run))), key=loss)
    return [run for run in order if loss(run) - loss(order[0]) <= TIE]


def _next(order: list[Titled], best: list[Titled], step: int) -> str:
    """Say which come behind the first one, or with it."""
    if len(best) == 1:
        gap = loss_by(order[1], step) - loss_by(order[0], step)
        return words.next.format(second=order[1].title, gap=gap)
    follow = "follows" if len(best) == 2 else "follow"
    ties = kit.listed([run.title for run in best[1:]])
    return words.next_ties.format(ties=ties, follow=follow, tie=TIE)


def _overfitting(full: list[Titled]) -> str:
    """Say which model has the lowest training loss, where another does better on new names."""
    low, best = min(full, key=_train), min(full, key=_end)
    behind, gap = _end(low) - _end(best), _end(low) - _train(low)
    if behind <= TIE or gap <= 0 or np.isinf(_end(low)):
        return ""
    return " " + words.overfit.format(
        name=low.title,
        train=_train(low),
        loss=_end(low),
        best=best.title,
        behind=behind,
        gap=gap,
    )


def _dropped(full: list[Titled]) -> str:
    """Say why a model with dropout has a higher loss on what it learns from."""
    names = [
        run.title
        for run in full
        if run.description["model"]["config"].get("dropout") and _train(run) > _end(run)
    ]
    return " " + words.dropped.format(names=kit.listed(names)) if names else ""


def _train(run: Titled) -> float:
    return float(run.curve.train[-1])


def _end(run: Titled) -> float:
    loss = run.curve.last_validation
    return float("inf") if loss is None else loss


def end(full: list[Titled]) -> dict[str, object] | None:
    """Return the numbers that the chapter ends with: the lowest losses at the end of the runs.

    None where no validation loss was measured.
    """
    low, best = min(full, key=_train), min(full, key=_end)
    if math.isinf(_end(best)):
        return None
    return {
        "models": len(full),
        "best": best.title,
        "loss": _end(best),
        "near": sum(_end(run) - _end(best) <= TIE for run in full) - 1,
        "tie": TIE,
        "low": low.title,
        "train": _train(low),
    }


def question(full: list[Titled]) -> kit.Question | None:
    """Ask which model ends best on new names; None where the lowest training loss tells it.

    Models that end too close to the best one to be ranked are no answers.
    """
    low, order = min(full, key=_train), sorted(full, key=_end)
    best = order[0]
    behind = [run for run in order if _end(run) - _end(best) > TIE]
    if low not in behind:
        return None
    offered = sorted((low, behind[-1], best, behind[0]), key=lambda run: run.title)
    reasons = {
        _answer(run): (words.ask_right if run is best else words.ask_wrong).format(
            name=run.title, loss=_end(run), gap=_end(run) - _end(best), best=best.title
        )
        for run in offered
    }
    return kit.Question.among(
        words.ask,
        reasons,
        _answer(best),
        low=low.title,
        train=_train(low),
        step=int(low.curve.steps[-1]),
        count=f"{low.description['data']['validation_documents']:,}",
    )


def _answer(run: Titled) -> str:
    """What one can go by before looking: a model's size and its training loss."""
    return words.ask_answer.format(
        name=run.title,
        parameters=run.description["parameters"],
        train=_train(run),
    )

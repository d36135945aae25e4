"""How the models of the race stand at a step: a table, a report in words, and a question."""

from __future__ import annotations

import numpy as np
import streamlit as st

from llmviz.lessons.training.race import words
from llmviz.lessons.training.started_runs import Titled
from llmviz.ui.prose import prose
from llmviz.ui.question import Question
from llmviz.ui.state import PageState, tied
from llmviz.ui.table import rows_table

EARLY = 20.0  # seconds of training after which the order by speed is read


def table(state: PageState, full: list[Titled]) -> None:
    """Show what each model had reached by a step, and what it then wrote."""
    longest = max(full, key=lambda one: len(one.curve.samples))
    steps = [int(longest.curve.steps[i]) for i, _ in longest.curve.samples]
    at = state["rstep"] if state["rstep"] in steps else steps[-1]

    def moved(chosen: int) -> None:
        state["rstep"] = -1 if chosen == steps[-1] else chosen

    st.select_slider(
        words.at,
        steps,
        format_func=lambda step: f"{step:,}",
        width=420,
        **tied("_rstep@training", at, moved),
    )
    rows = [_row(one, at) for one in full]
    three = st.column_config.NumberColumn(format="%.3f")
    formats = {words.columns[key]: three for key in ("validation", "training")}
    formats[words.columns["parameters"]] = st.column_config.TextColumn(alignment="right")
    rows_table(rows, words.columns.values(), column_config=formats)
    prose(report(full, at))


def _row(one: Titled, step: int) -> list[object]:
    curve = one.curve
    at = int(np.searchsorted(curve.steps, step))
    at = min(at, len(curve) - 1)
    texts = {int(curve.steps[i]): text for i, text in curve.samples}
    return [
        one.title,
        words.models[one.name][1],
        f"{one.description['parameters']:,}",
        round(float(curve.seconds[at])),
        loss_by(one, step),
        float(curve.train[at]),
        texts.get(step, words.not_yet),
    ]


def loss_by(one: Titled, step: int) -> float:
    """The last validation loss measured up to a step; NaN before there is one."""
    known = one.curve.validation[one.curve.steps <= step]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def after(one: Titled, seconds: float) -> float:
    """The last validation loss measured within some seconds of training; NaN before one."""
    known = one.curve.validation[one.curve.seconds <= seconds]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def report(full: list[Titled], step: int) -> str:
    """Say which model is best at a step, which was within the first seconds, and which overfits."""
    measured = [one for one in full if not np.isnan(loss_by(one, step))]
    if len(measured) < 2:
        return words.unmeasured.format(step=step)
    order = sorted(measured, key=lambda one: loss_by(one, step))
    text = words.end.format(
        step=step,
        first=order[0].title,
        loss=loss_by(order[0], step),
        second=order[1].title,
        gap=loss_by(order[1], step) - loss_by(order[0], step),
        last=order[-1].title,
        worst=loss_by(order[-1], step),
    )
    quick = min(full, key=lambda one: np.nan_to_num(after(one, EARLY), nan=np.inf))
    if not np.isnan(after(quick, EARLY)):
        text += words.quick[quick is order[0]].format(
            seconds=f"{EARLY:g}", quick=quick.title, loss=after(quick, EARLY)
        )
    return text + _overfitting(full)


def _overfitting(full: list[Titled]) -> str:
    """Say which model has the lowest training loss, where others do better on new names."""
    low = min(full, key=_train)
    place, gap = sorted(full, key=_end).index(low) + 1, _end(low) - _train(low)
    if place == 1 or gap <= 0:
        return ""
    return " " + words.overfit.format(
        name=low.title, train=_train(low), place=place, loss=_end(low), gap=gap
    )


def _train(one: Titled) -> float:
    return float(one.curve.train[-1])


def _end(one: Titled) -> float:
    loss = one.curve.last_validation
    return float("inf") if loss is None else loss


def question(full: list[Titled]) -> Question | None:
    """Ask which model ends best on new names; None where the lowest training loss tells it.

    None as well where two models end alike in the digits that are shown.
    """
    low, order = min(full, key=_train), sorted(full, key=_end)
    if order[0] is low or f"{_end(order[0]):.3f}" == f"{_end(order[1]):.3f}":
        return None
    asked = list({one.name: one for one in (low, order[-1], order[0], order[2])}.values())
    asked.sort(key=lambda one: one.title)
    return Question(
        words.ask.format(
            low=low.title,
            train=_train(low),
            step=int(low.curve.steps[-1]),
            count=f"{low.description['data']['validation_documents']:,}",
        ),
        [_answer(one) for one in asked],
        asked.index(order[0]),
        [
            (words.ask_right if one is order[0] else words.ask_wrong).format(
                name=one.title,
                loss=_end(one),
                place=order.index(one) + 1,
                all=len(order),
            )
            for one in asked
        ],
    )


def _answer(one: Titled) -> str:
    """What one can go by before looking: a model's size and its training loss."""
    return words.ask_answer.format(
        name=one.title,
        parameters=one.description["parameters"],
        train=_train(one),
    )

"""Below the curves, seven models on the same names: how they stand at a step, and a question."""

import math
from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise

import numpy as np
import streamlit as st

from llmviz.course.lessons.training.curves import words
from llmviz.course.lessons.training.started_runs import Titled
from llmviz.course.ui import kit
from llmviz.evaluation.nine_models import TIE

GUESS = "training.race.end"
EARLY_STEP = 500  # at which the models are seen before the question
APART = 0.05  # nats, between the answers of the question


def draw(state: kit.PageState, full: list[Titled]) -> None:
    """Show how the models stood early, the guess where the leader ends, and a look."""
    if len(full) < 3:
        return
    kit.section(words.race, models=len(full))
    guess = kit.Guess(GUESS, question(full))
    revealed = guess.open
    rows(state, full, guess, revealed=revealed)
    guess.ask()
    if revealed:
        kit.looks(state, words.race_looks, "training.race.looks")
        kit.measured(words.how_raced)


def rows(state: kit.PageState, full: list[Titled], guess: kit.Guess, *, revealed: bool) -> None:
    """Draw how the models stood at step EARLY; once it is told, how they stand at a step."""
    early = {run.name: loss_by(run, EARLY_STEP) for run in full}
    at = max(int(run.curve.steps[-1]) for run in full)
    if revealed:
        at = _step(state, full)
    losses = {run.name: loss_by(run, at if revealed else EARLY_STEP) for run in full}
    order = sorted(
        (run for run in full if np.isfinite(losses[run.name])), key=lambda run: losses[run.name]
    )
    cases = [
        kit.Case(
            run.title,
            losses[run.name],
            dots=[early[run.name]] if revealed and np.isfinite(early[run.name]) else [],
            role="loss" if revealed else "residual",
        )
        for run in order
    ]
    first = leader(full)
    veiled = order.index(first) if revealed and first in order else 0
    if not revealed and first is not None:
        cases.insert(0, kit.Case(words.asked_row.format(name=first.title, step=at), 0.0))
    numbers = [
        *losses.values(),
        *early.values(),
        *(chain(*guess.question.values) if guess.question else ()),
    ]
    low, high = (end(number for number in numbers if np.isfinite(number)) for end in (min, max))
    fits = first and (not revealed or at == int(first.curve.steps[-1]))
    (guess if fits else kit.Guess(GUESS, None)).cases(
        cases,
        kit.Axis(math.floor(10 * low - 1) / 10, math.ceil(10 * high + 1) / 10, words.race_axis),
        veiled=[veiled],
        picture="training.race.rows",
        form="figure",
        mark="dot",
    )
    kit.prose(
        f"{report(full, at)} {words.circles}" if revealed else words.race_caption,
        step=EARLY_STEP,
        first=first and first.title,
    )


def _step(state: kit.PageState, full: list[Titled]) -> int:
    """Let a step be chosen at which names were written; return it."""
    longest = max(full, key=lambda run: len(run.curve.samples))
    steps = [int(longest.curve.steps[i]) for i, _ in longest.curve.samples]
    if not steps:
        return int(longest.curve.steps[-1])
    at = state["rstep"] if state["rstep"] in steps else steps[-1]

    def moved(chosen: int) -> None:
        state["rstep"] = -1 if chosen == steps[-1] else chosen

    slot = kit.tied("_rstep@training", at, moved)
    st.select_slider(
        words.race_step, steps, format_func=lambda step: f"{step:,}", width=420, **slot
    )
    return at


def leader(full: list[Titled]) -> Titled | None:
    """Return the model that leads at step EARLY_STEP; None where none does by more than a tie."""
    early = _leaders(full, partial(loss_by, step=EARLY_STEP))
    return early[0] if len(early) == 1 else None


def loss_by(run: Titled, step: int) -> float:
    """The last validation loss measured up to a step; NaN before there is one."""
    known = run.curve.validation[run.curve.steps <= step]
    measured = known[~np.isnan(known)]
    return float(measured[-1]) if measured.size else float("nan")


def report(full: list[Titled], step: int) -> str:
    """Say which models are best at a step, and which is last."""
    measured = [run for run in full if not np.isnan(loss_by(run, step))]
    if len(measured) < 2:
        return words.unmeasured.format(step=step)
    order = sorted(measured, key=lambda run: loss_by(run, step))
    best = _leaders(order, partial(loss_by, step=step))
    return words.standing.format(
        step=step,
        first=order[0].title,
        loss=loss_by(order[0], step),
        next=_next(order, best, step),
        last=order[-1].title,
        worst=loss_by(order[-1], step),
    )


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


def _train(run: Titled) -> float:
    return float(run.curve.train[-1])


def _end(run: Titled) -> float:
    loss = run.curve.last_validation
    return float("inf") if loss is None else loss


def question(full: list[Titled]) -> kit.Question | None:
    """Ask where the model ends that led at step EARLY_STEP; None where two answers are near.

    The wrong answers are those of somebody to whom a lead stays a lead, and of one to whom a model
    that has learned fast has learned all.
    """
    first = leader(full)
    if first is None or any(math.isinf(_end(run)) for run in full):
        return None
    others = [run for run in full if run is not first]
    early = loss_by(first, EARLY_STEP)
    measured = [loss_by(run, EARLY_STEP) for run in others]
    lead = min(loss for loss in measured if np.isfinite(loss)) - early
    right, keeps = _end(first), min(map(_end, others)) - lead
    values = sorted({round(right, 3), round(keeps, 3), round(early, 3)})
    if len(values) < 3 or min(b - a for a, b in pairwise(values)) < APART:
        return None
    best = min(full, key=_end)
    reasons = {
        round(right, 3): words.race_right[best is first],
        round(keeps, 3): words.race_keeps,
        round(early, 3): words.race_stays,
    }
    return kit.Question.among(
        words.race_ask,
        reasons,
        round(right, 3),
        "{:.3f}".format,
        name=first.title,
        step=EARLY_STEP,
        last=int(first.curve.steps[-1]),
        early=early,
        loss=right,
        place=sorted(map(_end, full)).index(right) + 1,
        best=best.title,
        lowest=_end(best),
        train=_train(first),
    )

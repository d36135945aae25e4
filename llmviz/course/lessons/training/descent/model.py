"""Optimizers on a language model: a bigram at every rate, and a small network trained now."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from llmviz.course.components.descent_view.view import descent_view
from llmviz.course.figures.descent import race as race_figure
from llmviz.course.lessons.training import run_chart
from llmviz.course.lessons.training.descent import walkers, words
from llmviz.course.lessons.training.descent.descents import Rates, bigram_descent
from llmviz.course.lessons.training.descent.params import MODEL_NAME
from llmviz.course.ui import kit
from llmviz.evaluation.nine_models import TIE

KEY = "training.descent.model"

if TYPE_CHECKING:
    from llmviz.training.descent import Descent
    from llmviz.training.records import TrainRecord
STEPS = 100
RATES = Rates(0.003, 100.0, 19)
WATCHED = ("q", "u")
DEEP_STEPS = 150


def draw(state: kit.PageState) -> None:
    """Show the part."""
    from llmviz.corpus.counts import LETTERS
    from llmviz.training.bigram_descent import names_bigram

    bigram = names_bigram()
    row, column = (LETTERS.index(letter) for letter in WATCHED)
    counts = bigram.counts
    kit.section(
        words.model,
        weights=counts.numel(),
        pairs=int(counts.sum()),
        names=int(counts[0].sum()),
        floor=bigram.floor,
        qu=int(counts[row, column]),
        q=int(counts[row].sum()),
    )
    st.pills(
        words.optimizers,
        selection_mode="multi",
        wrap=True,
        **state.named("racers", words.names),
    )
    if not state["racers"]:
        st.info(words.none_chosen, icon=":material/touch_app:")
        return
    losses = _view(state, bigram.floor)
    rarest = rare_letter(state[kit.LEARNER_TEXT.key], counts.sum(1).tolist())
    if rarest is not None:
        quiz = question(LETTERS[rarest], int(counts.sum()), int(counts[rarest].sum()))
        kit.predict(quiz, f"{KEY}.rare")
    _code(state)
    _deep(state)
    kit.seen(words.end, told=end(losses, bigram.floor))


@kit.kept(len(words.names))
def ways(optimizer: str) -> Descent:
    """Return an optimizer's paths on the bigram, with the one weight that is watched."""
    return bigram_descent(optimizer, WATCHED, RATES, STEPS, hyper())


def hyper():
    """Return the settings besides the rate; AdamW gets what usual training gives it."""
    from llmviz.training.optimizers import Hyper

    return Hyper(beta2=0.99)


def _view(state: kit.PageState, floor: float) -> list[float]:
    """Show the optimizers on the bigram; return the loss with which each ends."""
    descents = [ways(name) for name in state["racers"]]
    now = walkers.state_of(state, MODEL_NAME, len(descents), RATES.count, STEPS)
    descent_view(
        [walkers.walker(descent, hyper(), floor) for descent in descents],
        descents[0].rates.numpy(),
        key=KEY,
        words=words.view | words.model_view,
        floor=floor,
        state=now,
        names=(words.model_weight,),
        on_change=walkers.keep_in_link(state, MODEL_NAME, KEY, len(descents), RATES.count, STEPS),
    )
    ends = [
        (float(descent.losses[stop, -1]), words.names[descent.optimizer])
        for descent, stop in zip(descents, now.stops, strict=True)
    ]
    parts = [words.model_part.format(name=name, loss=loss) for loss, name in sorted(ends)]
    kit.prose(words.model_report, steps=STEPS, parts=", ".join(parts))
    return [loss for loss, _ in ends]


def rare_letter(text: str, counts: list[int]) -> int | None:
    """Return the row of the letter of a text with which fewest pairs begin; None without one.

    counts: of the pairs that begin with each symbol.
    """
    from llmviz.corpus.counts import LETTERS

    there = {LETTERS.index(letter) for letter in text.lower() if "a" <= letter <= "z"}
    return min(there, key=lambda row: (counts[row], row), default=None)


def question(letter: str, pairs: int, own: int) -> kit.Question:
    """Ask how the gradient of a letter's row depends on how many of all pairs begin with it."""
    return kit.Question.of(words.ask_model, 1, letter=letter, pairs=pairs, own=own)


def end(losses: list[float], floor: float) -> str:
    """Return what was seen of the bigram: the lowest of the losses, and that of the table."""
    text = words.end_model_one if len(losses) == 1 else words.end_model
    return text.format(steps=STEPS, all=len(losses), loss=min(losses), floor=floor)


def _code(state: kit.PageState) -> None:
    from llmviz.training.bigram_descent import BigramLoss
    from llmviz.training.descent import descend

    now = walkers.state_of(state, MODEL_NAME, len(state["racers"]), RATES.count, STEPS)
    name, stop = state["racers"][now.followed], now.stops[now.followed]
    loss = float(ways(name).losses[stop, -1])
    kit.show_code(
        [BigramLoss, descend],
        words.snippet_model.format(
            low=RATES.low,
            high=RATES.high,
            count=RATES.count,
            stop=stop,
            next_stop=stop + 1,
            name=name,
            steps=STEPS,
        ),
        f"{loss:.4f} {ways(name).losses.new_tensor(_floor()).item():.4f}",
    )


def _floor() -> float:
    from llmviz.training.bigram_descent import names_bigram

    return names_bigram().floor


# ---- a network with a hidden layer, trained on the spot


def _deep(state: kit.PageState) -> None:
    from llmviz.training.optimizer_race import RATES as USUAL

    kit.section(words.deep, steps=DEEP_STEPS, count=len(state["racers"]))
    begin = state.setter(deep=True)
    st.button(
        words.deep_button.format(count=len(state["racers"])),
        icon=":material/sports_score:",
        on_click=begin,
    )
    if not state["deep"]:
        return
    rates = {name: USUAL[name] for name in state["racers"]}
    job = kit.going_job(f"{KEY}.race", _race, tuple(rates.items()), DEEP_STEPS)
    going = not job.over
    run_chart.polled(partial(_deep_shown, rates, job, going), growing=going)


def _deep_shown(rates: dict[str, float], job: kit.Job, going: bool) -> None:
    """The race as far as it has come; at its end the curves."""
    if going and job.over:
        st.rerun()  # which ends the polling
    done: dict[str, list[TrainRecord]] = {name: [] for name in rates}
    for name, record in list(job.results):
        done[name].append(record)
    if job.problem:
        _race.forget(tuple(rates.items()), DEEP_STEPS)  # so that it can be tried again
        kit.refuse_failed(job)
        return
    if not job.over:
        _progress(done)
        return
    st.plotly_chart(race_lines(job, kit.theme()), key=f"{KEY}.deep")
    ends = sorted((records[-1].validation_loss, name) for name, records in done.items())
    parts = [
        words.deep_part.format(
            name=words.names[name], rate=rates[name], loss=loss, seconds=done[name][-1].seconds
        )
        for loss, name in ends
    ]
    all_parts = "; ".join(parts) + "."
    kit.prose(words.deep_result, steps=DEEP_STEPS, all=all_parts, told=ahead(ends))


def ahead(ends: list[tuple[float, str]]) -> str:
    """Say which of some optimizers ends lowest, or that the first ones cannot be ranked.

    ends: validation losses in nats per letter, with the names, rising.
    """
    first = [words.names[name] for loss, name in ends if loss - ends[0][0] <= TIE]
    if len(first) == 1:
        return words.deep_ahead.format(best=first[0])
    return words.deep_tie.format(names=kit.listed(first), tie=TIE)


@kit.kept(16)
def race_lines(job: kit.Job, mode: kit.Mode) -> kit.Figure:
    """Return the losses of a race that is over, a line for each optimizer."""
    curves: dict[str, tuple[list[int], list[float]]] = {}
    roles = {}
    for name, record in job.results:
        steps, losses = curves.setdefault(words.names[name], ([], []))
        steps.append(record.step)
        losses.append(record.train_loss)
        roles[words.names[name]] = walkers.ROLES[name]
    return race_figure(curves, roles, words.deep_axes, mode)


def _progress(done: dict[str, list[TrainRecord]]) -> None:
    done_steps = sum(map(len, done.values()))
    share = done_steps / (DEEP_STEPS * len(done))
    name = next((name for name in reversed(done) if done[name]), None)
    if name is None:
        st.progress(0.0, words.deep_waits)
        return
    last = done[name][-1]
    text = words.deep_progress.format(
        name=words.names[name], step=last.step, steps=DEEP_STEPS, loss=last.train_loss
    )
    st.progress(share, text)


@kit.kept(8)
def _race(rates: tuple[tuple[str, float], ...], steps: int) -> kit.Job:
    """The race in a process of its own; the same race is run only once."""
    target = "llmviz.training.optimizer_race:race"
    return kit.training_jobs().start(target, optimizers=dict(rates), steps=steps)

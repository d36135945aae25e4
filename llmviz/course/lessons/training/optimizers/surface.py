"""Optimizers on a surface of two weights: balls roll down, and a rate is guessed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components.descent_view.view import DescentState, Landscape, descent_view
from llmviz.course.lessons.training import trajectories
from llmviz.course.lessons.training.optimizers import words
from llmviz.course.lessons.training.trajectories import Rates
from llmviz.course.ui import kit

if TYPE_CHECKING:
    from llmviz.training.descent import Descent
    from llmviz.training.surfaces import Surface

KEY = "training.descent.surface"
STEPS = 80
RATES = Rates(0.001, 3.0, 41)
LEVELS = 18
GRID = (151, 101)  # columns, rows
FAR = 1e3
RESTS = 0.01  # of the slope at the start: where it is flatter, a ball has come to rest


def draw(state: kit.PageState) -> tuple[bool, Callable[[bool], None]]:
    """Draw the balls; return whether the guess is told, and what shows what stands below."""
    from llmviz.training.surfaces import SURFACES

    surface = SURFACES[state["surface"]]
    start = start_of(state, surface)
    settings = (state["beta1"], state["beta2"], state["decay"])
    asked, known, largest = question(state["surface"], surface)
    seen = any(stop >= known for stop in state["surf_lr"])
    leads = f"from=&opts=sgd,momentum,rmsprop,adam&decay=0&surf_lr={largest}"
    guess = kit.Guess(f"{KEY}.largest", asked, seen, leads=leads)
    shown = guess.open
    count = RATES.count if shown else known
    names = state["opts"] or ["sgd"]
    descents = [ways(state["surface"], start, name, *settings, count) for name in names]
    drawn = [
        trajectories.walker(descent, hyper_of(*settings), surface.floor) for descent in descents
    ]
    now = trajectories.state_of(state, "surf", len(drawn), count, STEPS)
    heights = surface.grid(*GRID).numpy()

    def act() -> None:
        match st.session_state[KEY].get("act"):
            case {"start": [float() | int() as x, float() | int() as y]}:
                if surface.contains((x, y)):
                    state["from"] = f"{x:.3f},{y:.3f}"

    descent_view(
        drawn,
        descents[0].rates.numpy(),
        key=KEY,
        words=words.view,
        floor=surface.floor,
        state=now,
        stage=Landscape(
            heights, levels(heights, surface.floor), surface.low, surface.high, surface.minima
        ),
        on_change=trajectories.keep_in_link(state, "surf", KEY, len(drawn), count, STEPS),
        on_act=act,
    )

    def rest(shown: bool) -> None:
        kit.prose(report(descents, now, start, surface))
        _controls(state)
        guess.ask()
        if shown:
            kit.looks(state, words.looks, f"{KEY}.looks")
        kit.section(words.surface_section)
        kit.prose(words.surface_text[state["surface"]])
        note = words.formula_of.format(formula=surface.formula)
        kit.programmers(f"{note} {decay_note(state['decay'], surface)}")
        _code(state, surface, descents[now.followed], now, start)
        if shown:
            kit.seen(words.end, told=end(descents, now, surface))

    return shown, rest


def _controls(state: kit.PageState) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        afresh = state.setter(**{"from": ""})
        kit.choose(state, "surface", words.surface, words.surfaces, afresh)
        st.pills(
            words.optimizers,
            selection_mode="multi",
            wrap=True,
            **state.named("opts", words.names),
        )
    with (
        st.expander(words.settings, icon=":material/tune:"),
        st.container(horizontal=True, vertical_alignment="bottom", gap="medium"),
    ):
        st.slider(words.momentum, step=0.01, width=230, **state.ranged("beta1"))
        beta2: dict[str, Any] = {"step": 0.0001, "format": "%.4f", "width": 230}
        st.slider(words.beta2, **beta2, **state.ranged("beta2"))
        st.slider(words.decay, step=0.01, width=230, **state.ranged("decay"))


def start_of(state: kit.PageState, surface: Surface) -> tuple[float, float]:
    """Return where the balls start: where the learner put them, if that is on the map."""
    try:
        x, y = (float(part) for part in state["from"].split(","))
    except ValueError:
        return surface.start
    return (x, y) if surface.contains((x, y)) else surface.start


def hyper_of(beta1: float, beta2: float, decay: float) -> Any:
    """Return the settings of the optimizers besides their rates."""
    from llmviz.training.optimizers import Hyper

    return Hyper(momentum=beta1, beta1=beta1, beta2=beta2, weight_decay=decay)


@kit.cached(256)
def ways(
    surface: str,
    start: tuple[float, float],
    optimizer: str,
    beta1: float,
    beta2: float,
    decay: float,
    count: int = RATES.count,
) -> Descent:
    """Return an optimizer's paths down a surface, at the first `count` rates of the slider."""
    import torch

    from llmviz.training.descent import descend
    from llmviz.training.surfaces import SURFACES

    field = SURFACES[surface]
    place = torch.tensor(start, dtype=torch.float64)
    rates, hyper = RATES.values()[:count], hyper_of(beta1, beta2, decay)
    return descend(optimizer, field.height, field.gradient, place, rates, STEPS, hyper)


def levels(heights: np.ndarray, floor: float) -> list[float]:
    """Return heights for contour lines, closer to each other near the floor."""
    shares = np.linspace(0, 1, LEVELS) ** 2.2
    return [float(level) for level in floor + shares * (heights.max() - floor)]


def report(
    descents: list[Descent], now: DescentState, start: tuple[float, float], surface: Surface
) -> str:
    """Say what becomes of each optimizer at its chosen rate."""
    groups: dict[str, list[str]] = {}
    for descent, stop in zip(descents, now.stops, strict=True):
        groups.setdefault(_end(descent, stop, surface), []).append(words.names[descent.optimizer])
    parts = [text.format(names=", ".join(names)) for text, names in groups.items()]
    x, y = (kit.signed(value) for value in start)
    return words.report.format(steps=STEPS, x=x, y=y, parts="; ".join(parts))


def _end(descent: Descent, stop: int, surface: Surface) -> str:
    """How a path ended, with a place for the names of its optimizers."""
    if int(descent.lasted[stop]) < STEPS:
        return words.report_left
    if bool(descent.settled(surface.floor, trajectories.SETTLED)[stop]):
        return words.report_settled
    steep = descent.values["gradient"][stop].norm(dim=-1)
    flat = bool(steep[-1] < RESTS * steep[0])
    text = words.report_rest if flat else words.report_way
    return text.replace("{share}", _left(descent, stop, surface))


def end(descents: list[Descent], now: DescentState, surface: Surface) -> str:
    """Return what was seen of two weights: how many optimizers got to the bottom."""
    arrived = [
        bool(descent.settled(surface.floor, trajectories.SETTLED)[stop])
        for descent, stop in zip(descents, now.stops, strict=True)
    ]
    how = {0: "none", 1: "one"}.get(sum(arrived), "some")
    if all(arrived):
        how = "all" if len(arrived) > 1 else "alone"
    return words.end_surface[how].format(arrived=sum(arrived), all=len(arrived), steps=STEPS)


def decay_note(decay: float, surface: Surface) -> str:
    """Say what weight decay does on a surface: it depends on whether the bottom is at zero."""
    at_zero = any(point == (0.0, 0.0) for point in surface.minima)
    kind = "some" if decay else "none"
    return words.decay_note[kind].format(decay=decay, where=words.decay_where[at_zero])


def question(name: str, surface: Surface) -> tuple[kit.Question | None, int, int]:
    """Ask for the largest of some rates at which plain SGD arrives; None where few rates do.

    Returns also how many rates may be drawn before it is answered, and the stop that is right.
    Which rates arrive is not one stretch of the slider on every surface, so each of them is said
    for itself.
    """
    ways_down = ways(name, surface.start, "sgd", 0.9, 0.99, 0.0)
    arrives = ways_down.settled(surface.floor, trajectories.SETTLED).tolist()
    largest = max((stop for stop, there in enumerate(arrives) if there), default=-1)
    stops = [largest + away for away in (-8, -4, -2, 0, 2)]
    if stops[0] < 0 or stops[-1] >= RATES.count:
        return None, RATES.count, largest
    rates = [f"{float(ways_down.rates[stop]):.3g}" for stop in stops]
    reasons = []
    for stop, rate in zip(stops, rates, strict=True):
        left = _left(ways_down, stop, surface)
        kind = "right" if stop == largest else "small" if arrives[stop] else "large"
        gone = int(ways_down.lasted[stop]) < STEPS
        what = words.ask_leaves if gone else words.ask_stuck.format(left=left)
        reason = words.ask_surface_reason[kind]
        reasons.append(reason.format(rate=rate, left=left, right=rates[3], what=what))
    x, y = (kit.signed(value) for value in surface.start)
    text = words.ask_surface.format(steps=STEPS, x=x, y=y)
    return kit.Question(text, rates, 3, reasons), stops[0] + 1, largest


def _left(descent: Descent, stop: int, surface: Surface) -> str:
    """How much of the start's height above the bottom is left at the end, in words."""
    heights = descent.losses[stop] - surface.floor
    rest = float(heights[-1] / heights[0])
    return kit.percent(rest) if rest < FAR else f"{rest:,.0f} ×"


def _code(
    state: kit.PageState,
    surface: Surface,
    descent: Descent,
    now: DescentState,
    start: tuple[float, float],
) -> None:
    from llmviz.training import optimizers
    from llmviz.training.descent import descend

    stop = now.stops[now.followed]
    hyper = (
        f"Hyper(momentum={state['beta1']!r}, beta1={state['beta1']!r}, beta2={state['beta2']!r}, "
        f"weight_decay={state['decay']!r})"
    )
    kit.show_code(
        [optimizers.UPDATES[descent.optimizer], descend],
        words.snippet_surface.format(
            surface=state["surface"],
            start=list(start),
            rates=RATES,
            stop=stop,
            next_stop=stop + 1,
            hyper=hyper,
            optimizer=descent.optimizer,
            steps=STEPS,
        ),
        str([f"({x:.3f}, {y:.3f})" for x, y in descent.path[stop, :4].tolist()]),
    )

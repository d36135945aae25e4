"""Two weights: several optimizers from one start on one surface, at every learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components.descent_view.view import DescentState, Landscape, Walker, descent_view
from llmviz.course.lessons.training.descent import walkers, words
from llmviz.course.lessons.training.descent.descents import Rates, surface_descent
from llmviz.course.lessons.training.descent.params import SURFACE_NAME
from llmviz.course.ui import kit

KEY = "training.descent.surface"

if TYPE_CHECKING:
    from llmviz.training.descent import Descent
    from llmviz.training.surfaces import Surface
STEPS = 80
RATES = Rates(0.001, 3.0, 41)
LEVELS = 18
GRID = (151, 101)  # columns, rows
FAR = 1e3
RESTS = 0.01  # of the slope at the start: where it is flatter, a ball has come to rest


def draw(state: kit.PageState) -> None:
    """Show the part."""
    from llmviz.training.surfaces import SURFACES

    kit.section(words.surface_section)
    _controls(state)
    if not state["opts"]:
        st.info(words.none_chosen, icon=":material/touch_app:")
        return
    surface = SURFACES[state["surface"]]
    kit.prose(words.surface_text[state["surface"]], formula=surface.formula)
    start = start_of(state, surface)
    settings = (state["beta1"], state["beta2"], state["decay"])
    descents = [ways(state["surface"], start, name, *settings) for name in state["opts"]]
    hyper = hyper_of(*settings)
    drawn = [walkers.walker(descent, hyper, surface.floor) for descent in descents]
    now = walkers.state_of(state, SURFACE_NAME, len(drawn), RATES.count, STEPS)
    quiz = question(state["surface"], surface)
    shown = quiz is None or kit.predict(quiz, f"{KEY}.largest.{state['surface']}", covers=True)
    if shown:
        _view(state, surface, drawn, descents[0].rates.numpy(), now)
        kit.prose(report(descents, now, start, surface) + " " + decay_note(state["decay"], surface))
    _code(state, surface, descents, now, start)
    if shown:
        kit.seen(words.end, told=end(descents, now, surface))


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
        beta2 = {"step": 0.0001, "format": "%.4f", "width": 230}
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


@kit.kept(256)
def ways(
    surface: str,
    start: tuple[float, float],
    optimizer: str,
    beta1: float,
    beta2: float,
    decay: float,
) -> Descent:
    """Return an optimizer's paths down a surface, at every rate of the slider."""
    return surface_descent(surface, start, optimizer, RATES, STEPS, hyper_of(beta1, beta2, decay))


def levels(heights: np.ndarray, floor: float) -> list[float]:
    """Return heights for contour lines, closer to each other near the floor."""
    shares = np.linspace(0, 1, LEVELS) ** 2.2
    return [float(level) for level in floor + shares * (heights.max() - floor)]


def _view(
    state: kit.PageState,
    surface: Surface,
    drawn: list[Walker],
    rates: np.ndarray,
    now: DescentState,
) -> None:
    heights = surface.grid(*GRID).numpy()

    def act() -> None:
        done = st.session_state[KEY].get("act")
        match done:
            case {"start": [float() | int() as x, float() | int() as y]}:
                if surface.contains((x, y)):
                    state["from"] = f"{x:.3f},{y:.3f}"

    descent_view(
        drawn,
        rates,
        key=KEY,
        words=words.view,
        floor=surface.floor,
        state=now,
        stage=Landscape(
            heights, levels(heights, surface.floor), surface.low, surface.high, surface.minima
        ),
        on_change=walkers.keep_in_link(state, SURFACE_NAME, KEY, len(drawn), RATES.count, STEPS),
        on_act=act,
    )


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
    if bool(descent.settled(surface.floor, walkers.SETTLED)[stop]):
        return words.report_settled
    steep = descent.values["gradient"][stop].norm(dim=-1)
    flat = bool(steep[-1] < RESTS * steep[0])
    text = words.report_rest if flat else words.report_way
    return text.replace("{share}", _left(descent, stop, surface))


def end(descents: list[Descent], now: DescentState, surface: Surface) -> str:
    """Return what was seen of two weights: how many optimizers got to the bottom."""
    arrived = [
        bool(descent.settled(surface.floor, walkers.SETTLED)[stop])
        for descent, stop in zip(descents, now.stops, strict=True)
    ]
    return words.end_surface.format(arrived=sum(arrived), all=len(arrived), steps=STEPS)


def decay_note(decay: float, surface: Surface) -> str:
    """Say what weight decay does on a surface: it depends on whether the bottom is at zero."""
    at_zero = any(point == (0.0, 0.0) for point in surface.minima)
    kind = "some" if decay else "none"
    return words.decay_note[kind].format(decay=decay, where=words.decay_where[at_zero])


def question(name: str, surface: Surface) -> kit.Question | None:
    """Ask for the largest of four rates at which plain SGD arrives; None where few rates do.

    Which rates arrive is not one stretch of the slider on every surface, so each of the four is
    said for itself.
    """
    ways_down = ways(name, surface.start, "sgd", 0.9, 0.99, 0.0)
    arrives = ways_down.settled(surface.floor, walkers.SETTLED).tolist()
    if True not in arrives:
        return None
    largest = len(arrives) - 1 - arrives[::-1].index(True)
    stops = [largest - 8, largest, largest + 2, largest + 4]
    if stops[0] < 0 or stops[-1] >= RATES.count:
        return None
    rates = [f"{float(ways_down.rates[stop]):.3g}" for stop in stops]
    reasons = []
    for stop, rate in zip(stops, rates, strict=True):
        left = _left(ways_down, stop, surface)
        kind = "right" if stop == largest else "small" if arrives[stop] else "large"
        gone = int(ways_down.lasted[stop]) < STEPS
        what = words.ask_leaves if gone else words.ask_stuck.format(left=left)
        reason = words.ask_surface_reason[kind]
        reasons.append(reason.format(rate=rate, left=left, right=rates[1], what=what))
    x, y = (kit.signed(value) for value in surface.start)
    return kit.Question(words.ask_surface.format(steps=STEPS, x=x, y=y), rates, 1, reasons)


def _left(descent: Descent, stop: int, surface: Surface) -> str:
    """How much of the start's height above the bottom is left at the end, in words."""
    heights = descent.losses[stop] - surface.floor
    rest = float(heights[-1] / heights[0])
    return kit.percent(rest) if rest < FAR else f"{rest:,.0f} ×"


def _code(
    state: kit.PageState,
    surface: Surface,
    descents: list[Descent],
    now: DescentState,
    start: tuple[float, float],
) -> None:
    from llmviz.training import optimizers
    from llmviz.training.descent import descend

    descent, stop = descents[now.followed], now.stops[now.followed]
    hyper = (
        f"Hyper(momentum={state['beta1']!r}, beta1={state['beta1']!r}, beta2={state['beta2']!r}, "
        f"weight_decay={state['decay']!r})"
    )
    kit.show_code(
        [optimizers.UPDATES[descent.optimizer], descend],
        words.snippet_surface.format(
            surface=state["surface"],
            start=list(start),
            low=RATES.low,
            high=RATES.high,
            count=RATES.count,
            stop=stop,
            next_stop=stop + 1,
            hyper=hyper,
            optimizer=descent.optimizer,
            steps=STEPS,
        ),
        str([f"({x:.3f}, {y:.3f})" for x, y in descent.path[stop, :4].tolist()]),
    )

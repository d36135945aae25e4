"""Chapter "Optimizers": seven ways down, on a surface, for a neuron, for a language model.

The three parts stand here in this order, each with its picture, its question and its code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.corpus.counts import LETTERS
from llmviz.course.components.descent_view.view import DescentState, Landscape, Plane, descent_view
from llmviz.course.lessons.training import trajectories
from llmviz.course.lessons.training.optimizers import words
from llmviz.course.lessons.training.trajectories import Rates
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready

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
EPOCHS = 8
LETTER_RATES = Rates(0.1, 51.2, 10)
ROLES = {"batch": "weights", "mini": "query", "stochastic": "residual"}
SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
NAMES_COUNTED = 32_033
MODEL_STEPS = 100
MODEL_RATES = Rates(0.003, 100.0, 19)
WATCHED = LETTERS.index("q"), LETTERS.index("u")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what goes down, where, and how far each optimizer comes."""
    kit.prose(words.hooks[state["ways"]])
    if not engine_ready():
        return
    with kit.stage("optimizers"):
        shown, rest = DRAW[state["ways"]](state)
    kit.choose(state, "ways", words.ways, words.parts, parts=True)
    rest(shown)


def _surface(state: kit.PageState) -> tuple[bool, Callable[[bool], None]]:
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
        _surface_code(state, surface, descents[now.followed], now, start)
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


def _surface_code(
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


def _letters(state: kit.PageState) -> tuple[bool, Callable[[bool], None]]:
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import BATCHES, vowels

    key = "training.descent.letters"
    points, trainings = vowels(), trained(state["order"])
    count = len(points.names)
    last = EPOCHS * count
    now = trajectories.state_of(state, "ltr", len(trainings), LETTER_RATES.count, last)
    drawn = [
        trajectories.walker(
            descent,
            Hyper(),
            0.0,
            words.kinds[kind],
            ROLES[kind],
            np.cumsum([0, *map(len, plan)]),  # after how many letters each step is done
        )
        for kind, (descent, plan) in trainings.items()
    ]
    keep = trajectories.keep_in_link(state, "ltr", key, len(trainings), LETTER_RATES.count, last)

    def changed() -> None:
        point = st.session_state[key].get("point")
        if isinstance(point, int) and 0 <= point < count:
            state["letter"] = point
        keep()

    descent_view(
        drawn,
        LETTER_RATES.values().numpy(),
        key=key,
        words=words.view | words.letters_view | {"kinds": words.letters_kinds},
        floor=0.0,
        state=now,
        stage=_plane(state, points, trainings, now.followed),
        names=words.letters_names,
        decades=3,
        on_change=changed,
    )

    def rest(shown: bool) -> None:
        kit.prose(_letters_report(points, trainings, now))
        st.number_input(words.seed, width=150, **state.ranged("order"))
        kit.section(words.letters, points=count, mini=BATCHES["mini"])
        kit.measured(words.how_neuron, names=NAMES_COUNTED, epochs=EPOCHS)
        _letters_code(state, trainings, now)
        ends = [
            words.model_part.format(name=words.kinds[kind], loss=float(descent.losses[stop, -1]))
            for (kind, (descent, _)), stop in zip(trainings.items(), now.stops, strict=True)
        ]
        kit.seen(words.end, told=words.end_letters.format(epochs=EPOCHS, losses=", ".join(ends)))

    return True, rest


@kit.cached(16)
def trained(seed: int) -> dict[str, tuple[Descent, list[list[int]]]]:
    """Return for each kind of batch its paths at every rate, and which points each step saw."""
    from llmviz.training.surfaces import BATCHES, batches, train_logistic, vowels

    points, values = vowels(), LETTER_RATES.values()
    plans = {kind: batches(len(points.names), size, EPOCHS, seed) for kind, size in BATCHES.items()}
    return {kind: (train_logistic(points, values, plan), plan) for kind, plan in plans.items()}


def _plane(state: kit.PageState, points: Any, trainings: dict, followed: int) -> Plane:
    from llmviz.training.surfaces import binary_cross_entropy

    means, deviations = points.x.mean(0).tolist(), points.x.std(0, correction=0).tolist()
    x_ticks, y_ticks = (  # round shares on axes that show standardised square roots
        [((math.sqrt(share) - mean) / deviation, f"{share:.0%}") for share in SHARES]
        for mean, deviation in zip(means, deviations, strict=True)
    )
    training = list(trainings.values())[followed][0]
    inputs = points.inputs()
    answer = binary_cross_entropy(training.path, inputs, points.y)
    answers = {"z": answer.z, "p": answer.p, "loss": answer.loss}
    return Plane(
        points.names,
        inputs[:, :2].numpy(),
        points.y.numpy(),
        (x_ticks, y_ticks),
        [plan for _, plan in trainings.values()],
        {name: values.numpy() for name, values in answers.items()},
        followed,
        state["letter"],
    )


def _letters_report(points: Any, trainings: dict, now: DescentState) -> str:
    from llmviz.training.surfaces import binary_cross_entropy

    parts = []
    for (kind, (descent, _)), stop in zip(trainings.items(), now.stops, strict=True):
        answer = binary_cross_entropy(descent.path[stop, -1], points.inputs(), points.y)
        right = ((answer.p > 0.5) == (points.y > 0.5)).tolist()
        part = words.letters_part.format(
            kind=words.kinds[kind],
            loss=float(descent.losses[stop, -1]),
            right=sum(right),
            points=len(right),
        )
        wrong = [name for name, ok in zip(points.names, right, strict=True) if not ok]
        parts.append(part + (words.letters_wrong.format(names=", ".join(wrong)) if wrong else ""))
    rates = LETTER_RATES.values()
    used = dict.fromkeys(f"{float(rates[stop]):.3g}" for stop in now.stops)
    return words.letters_end.format(epochs=EPOCHS, rate=" / ".join(used), parts="; ".join(parts))


def _letters_code(state: kit.PageState, trainings: dict, now: DescentState) -> None:
    from llmviz.training.surfaces import BATCHES, batches, binary_cross_entropy, train_logistic

    kind = list(trainings)[now.followed]
    descent, stop = trainings[kind][0], now.stops[now.followed]
    kit.show_code(
        [binary_cross_entropy, batches, train_logistic],
        words.snippet_letters.format(
            batches=BATCHES[kind],
            epochs=EPOCHS,
            order=state["order"],
            rates=LETTER_RATES,
            stop=stop,
            next_stop=stop + 1,
        ),
        f"{float(descent.losses[stop, -1]):.4f} "
        + str([f"{w:.3f}" for w in descent.path[stop, -1].tolist()]),
    )


def _model(state: kit.PageState) -> tuple[bool, Callable[[bool], None]]:
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import names_bigram

    key, bigram = "training.descent.model", names_bigram()
    racers = state["racers"] or ["sgd"]
    descents = [bigram_ways(name) for name in racers]
    sizes = len(descents), MODEL_RATES.count, MODEL_STEPS
    now = trajectories.state_of(state, "big", *sizes)
    descent_view(
        [trajectories.walker(descent, Hyper(beta2=0.99), bigram.floor) for descent in descents],
        MODEL_RATES.values().numpy(),
        key=key,
        words=words.view | words.model_view,
        floor=bigram.floor,
        state=now,
        names=(words.model_weight,),
        on_change=trajectories.keep_in_link(
            state, "big", key, len(descents), MODEL_RATES.count, MODEL_STEPS
        ),
    )
    ends = sorted(
        (float(descent.losses[stop, -1]), words.names[descent.optimizer])
        for descent, stop in zip(descents, now.stops, strict=True)
    )

    def rest(shown: bool) -> None:
        parts = [words.model_part.format(name=name, loss=loss) for loss, name in ends]
        kit.prose(words.model_report, steps=MODEL_STEPS, parts=", ".join(parts))
        st.pills(
            words.optimizers,
            selection_mode="multi",
            wrap=True,
            **state.named("racers", words.names),
        )
        kit.section(
            words.model,
            qu=int(bigram.counts[WATCHED]),
            q=int(bigram.counts[WATCHED[0]].sum()),
        )
        kit.measured(
            words.how_bigram,
            pairs=int(bigram.counts.sum()),
            weights=bigram.counts.numel(),
            names=int(bigram.counts[0].sum()),
            floor=bigram.floor,
        )
        _model_code(racers[now.followed], now.stops[now.followed], bigram.floor)
        kit.seen(words.end, told=end_model([loss for loss, _ in ends], bigram.floor))

    return True, rest


@kit.cached(len(words.names))
def bigram_ways(optimizer: str) -> Descent:
    """Return an optimizer's paths on the bigram, with the one weight that is watched."""
    from llmviz.training.descent import descend
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import names_bigram

    bigram = names_bigram()
    return descend(
        optimizer,
        bigram.height,
        bigram.gradient,
        bigram.start(),
        MODEL_RATES.values(),
        MODEL_STEPS,
        Hyper(beta2=0.99),
        watched=[WATCHED[0] * len(LETTERS) + WATCHED[1]],
    )


def end_model(losses: list[float], floor: float) -> str:
    """Return what was seen of the bigram: the lowest of the losses, and that of the table."""
    text = words.end_model_one if len(losses) == 1 else words.end_model
    return text.format(steps=MODEL_STEPS, all=len(losses), loss=min(losses), floor=floor)


def _model_code(name: str, stop: int, floor: float) -> None:
    from llmviz.training.descent import descend
    from llmviz.training.surfaces import BigramLoss

    losses = bigram_ways(name).losses
    kit.show_code(
        [BigramLoss, descend],
        words.snippet_model.format(
            rates=MODEL_RATES, stop=stop, next_stop=stop + 1, name=name, steps=MODEL_STEPS
        ),
        f"{float(losses[stop, -1]):.4f} {losses.new_tensor(floor).item():.4f}",
    )


DRAW = {"surface": _surface, "letters": _letters, "model": _model}

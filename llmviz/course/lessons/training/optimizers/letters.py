"""A neuron that tells vowels from consonants, by all letters at once, by a few, by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course.components.descent_view.view import DescentState, Plane, descent_view
from llmviz.course.lessons.training import trajectories
from llmviz.course.lessons.training.optimizers import words
from llmviz.course.lessons.training.trajectories import Rates
from llmviz.course.ui import kit

if TYPE_CHECKING:
    from llmviz.training.descent import Descent

KEY = "training.descent.letters"
EPOCHS = 8
RATES = Rates(0.1, 51.2, 10)
ROLES = {"batch": "weights", "mini": "query", "stochastic": "residual"}
SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
NAMES_COUNTED = 32_033


def draw(state: kit.PageState) -> tuple[bool, Callable[[bool], None]]:
    """Draw the lines between the letters; return as `surface.draw` does, with nothing to guess."""
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import BATCHES, vowels

    points, trainings = vowels(), trained(state["order"])
    count = len(points.names)
    last = EPOCHS * count
    now = trajectories.state_of(state, "ltr", len(trainings), RATES.count, last)
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
    keep = trajectories.keep_in_link(state, "ltr", KEY, len(trainings), RATES.count, last)

    def changed() -> None:
        point = st.session_state[KEY].get("point")
        if isinstance(point, int) and 0 <= point < count:
            state["letter"] = point
        keep()

    descent_view(
        drawn,
        RATES.values().numpy(),
        key=KEY,
        words=words.view | words.letters_view | {"kinds": words.letters_kinds},
        floor=0.0,
        state=now,
        stage=_plane(state, points, trainings, now.followed),
        names=words.letters_names,
        decades=3,
        on_change=changed,
    )

    def rest(shown: bool) -> None:
        kit.prose(_report(points, trainings, now))
        st.number_input(words.seed, width=150, **state.ranged("order"))
        kit.section(words.letters, points=count, mini=BATCHES["mini"])
        kit.measured(words.how_neuron, names=NAMES_COUNTED, epochs=EPOCHS)
        _code(state, trainings, now)
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

    points, values = vowels(), RATES.values()
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


def _report(points: Any, trainings: dict, now: DescentState) -> str:
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
    rates = RATES.values()
    used = dict.fromkeys(f"{float(rates[stop]):.3g}" for stop in now.stops)
    return words.letters_end.format(epochs=EPOCHS, rate=" / ".join(used), parts="; ".join(parts))


def _code(state: kit.PageState, trainings: dict, now: DescentState) -> None:
    from llmviz.training.surfaces import BATCHES, batches, binary_cross_entropy, train_logistic

    kind = list(trainings)[now.followed]
    descent, stop = trainings[kind][0], now.stops[now.followed]
    kit.show_code(
        [binary_cross_entropy, batches, train_logistic],
        words.snippet_letters.format(
            batches=BATCHES[kind],
            epochs=EPOCHS,
            order=state["order"],
            rates=RATES,
            stop=stop,
            next_stop=stop + 1,
        ),
        f"{float(descent.losses[stop, -1]):.4f} "
        + str([f"{w:.3f}" for w in descent.path[stop, -1].tolist()]),
    )

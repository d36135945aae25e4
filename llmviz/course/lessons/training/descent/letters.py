"""One neuron that tells vowels from consonants: batch, mini-batch and stochastic descent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

from llmviz.course.components.descent_view.view import DescentState, Plane, descent_view
from llmviz.course.lessons.training.descent import walkers, words
from llmviz.course.lessons.training.descent.descents import Rates, points_seen, vowel_descents
from llmviz.course.lessons.training.descent.params import LETTERS_NAME
from llmviz.course.ui import kit

KEY = "training.descent.letters"
ASK = f"{KEY}.first"

if TYPE_CHECKING:
    from llmviz.training.descent import Descent
EPOCHS = 8
RATES = Rates(0.1, 51.2, 10)
ROLES = {"batch": "weights", "mini": "query", "stochastic": "residual"}
SHARES = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
NAMES_COUNTED = 32_033


def draw(state: kit.PageState) -> None:
    """Show the part."""
    from llmviz.training.logistic import BATCHES, vowels
    from llmviz.training.optimizers import Hyper

    points = vowels()
    count = len(points.names)
    kit.section(words.letters, names=NAMES_COUNTED)
    kit.prose(words.letters_batches, points=count, mini=BATCHES["mini"], epochs=EPOCHS)
    st.number_input(words.seed, width=150, **state.ranged("order"))
    trainings = trained(state["order"])
    last = EPOCHS * count
    now = walkers.state_of(state, LETTERS_NAME, len(trainings), RATES.count, last)
    drawn = [
        walkers.walker(descent, Hyper(), 0.0, words.kinds[kind], ROLES[kind], points_seen(plan))
        for kind, (descent, plan) in trainings.items()
    ]
    descent_view(
        drawn,
        next(iter(trainings.values()))[0].rates.numpy(),
        key=KEY,
        words=words.view | words.letters_view | {"kinds": words.letters_kinds},
        floor=0.0,
        state=now,
        stage=_plane(state, points, trainings, now.followed),
        names=words.letters_names,
        decades=3,
        on_change=_keep(state, len(trainings), last),
    )
    kit.prose(_report(points, trainings, now))
    rate = float(next(iter(trainings.values()))[0].rates[now.stops[now.followed]])
    kit.predict(
        question(points.names[state["letter"]], vowel=bool(points.y[state["letter"]]), rate=rate),
        ASK,
    )
    _code(state, points, trainings, now)
    losses = {
        words.kinds[kind]: float(descent.losses[stop, -1])
        for (kind, (descent, _)), stop in zip(trainings.items(), now.stops, strict=True)
    }
    kit.seen(words.end, told=end(losses))


@kit.kept(16)
def trained(seed: int) -> dict[str, tuple[Descent, list[list[int]]]]:
    """Return for each kind of batch its paths at every rate, and which points each step saw."""
    return vowel_descents(seed, RATES, EPOCHS)


def ticks(points):
    """Return round shares as places on both axes, which show standardised square roots."""
    means, deviations = points.x.mean(0).tolist(), points.x.std(0, correction=0).tolist()
    return tuple(
        [((math.sqrt(share) - mean) / deviation, f"{share:.0%}") for share in SHARES]
        for mean, deviation in zip(means, deviations, strict=True)
    )


def _plane(state: kit.PageState, points, trainings: dict, followed: int) -> Plane:
    from llmviz.training.logistic import binary_cross_entropy

    training = list(trainings.values())[followed][0]
    inputs = points.inputs()
    answer = binary_cross_entropy(training.path, inputs, points.y)
    answers = {"z": answer.z, "p": answer.p, "loss": answer.loss}
    return Plane(
        points.names,
        inputs[:, :2].numpy(),
        points.y.numpy(),
        ticks(points),
        [plan for _, plan in trainings.values()],
        {name: values.numpy() for name, values in answers.items()},
        followed,
        state["letter"],
    )


def _keep(state: kit.PageState, count: int, last: int):
    rest = walkers.keep_in_link(state, LETTERS_NAME, KEY, count, RATES.count, last)

    def changed() -> None:
        point = st.session_state[KEY].get("point")
        if isinstance(point, int) and 0 <= point < 26:
            state["letter"] = point
        rest()

    return changed


def _report(points, trainings: dict, now: DescentState) -> str:
    from llmviz.training.logistic import binary_cross_entropy

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
    first = next(iter(trainings.values()))[0]
    rates = dict.fromkeys(f"{float(first.rates[stop]):.3g}" for stop in now.stops)
    return words.letters_end.format(epochs=EPOCHS, rate=" / ".join(rates), parts="; ".join(parts))


def question(letter: str, *, vowel: bool, rate: float) -> kit.Question:
    """Ask where a first step with one letter alone moves b, from weights that are all 0."""
    return kit.Question.of(
        words.ask_letters,
        0 if vowel else 1,
        letter=letter,
        kind=words.letters_kinds[vowel],
        y=int(vowel),
        rate=rate,
        half=rate / 2,
        slope="½ − 1 = −½" if vowel else "½ − 0 = ½",
    )


def end(losses: dict[str, float]) -> str:
    """Return what was seen of the neuron: the mean loss that each kind of batch ends with."""
    listed = ", ".join(
        words.model_part.format(name=name, loss=loss) for name, loss in losses.items()
    )
    return words.end_letters.format(epochs=EPOCHS, losses=listed)


def _code(state: kit.PageState, points, trainings: dict, now: DescentState) -> None:
    from llmviz.training.logistic import BATCHES, batches, binary_cross_entropy, train_logistic

    kind = list(trainings)[now.followed]
    descent, stop = trainings[kind][0], now.stops[now.followed]
    kit.show_code(
        [binary_cross_entropy, batches, train_logistic],
        words.snippet_letters.format(
            batches=BATCHES[kind],
            epochs=EPOCHS,
            order=state["order"],
            low=RATES.low,
            high=RATES.high,
            count=RATES.count,
            stop=stop,
            next_stop=stop + 1,
        ),
        f"{float(descent.losses[stop, -1]):.4f} "
        + str([f"{w:.3f}" for w in descent.path[stop, -1].tolist()]),
    )

"""Chapter "All of them": nine models by their age, what they bring, and one name through all."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.networks import network_number
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.all import axes, name, words
from llmviz.course.lessons.history.all.nine import Measured, measures
from llmviz.course.lessons.history.params import NAME
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.nine_models import NINE, TRAINED

STAGED = True
KEY = "history.all"
GUESS = "history.all.three"
DRAWN = ("counted-pairs", "names-bigram")  # whose losses are told before the question
ASKED = ("counted-fours", "names-lstm", "names-gpt")  # a table and two networks, by age
APART = 0.1  # of the axis, on average, between the answers of the question
CLOSE = 0.1  # nats: that near to each other the three are called close together
MODELS_OF = {
    "1913": ("counted-pairs", "names-bigram"),
    "1990": ("names-rnn",),
    "1995": ("counted-fours",),
    "1997": ("names-lstm",),
    "2003": ("names-mlp",),
    "2014": ("names-gru",),
    "2016": ("names-wavenet",),
    "2018": ("names-gpt",),
}  # by the year of the event


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the nine by age, of which three are guessed, then a name through all of them."""
    missing = [model for model in TRAINED if model not in engine.names()]
    if missing:
        command = f"python -m llmviz checkpoints make {missing[0]}"
        text = words.missing.format(names=", ".join(missing), command=command)
        st.info(as_markdown(text), icon=":material/download:")
        return
    if not engine_ready():
        return
    kit.prose(words.hook)
    every = measures()
    asked = question({model.key: model.loss for model in every})
    told = asked is None or kit.answered(asked, GUESS)
    with kit.stage("all", stays=False):
        _rows(every, asked, told=told)
        if asked is not None:
            kit.predict(asked, GUESS, covers=True, hand=True)
        kit.prose(words.years)
    if not told:  # what the nine give a name would tell
        return
    kit.prose(axes.lowest(every))
    kit.looks(state, words.looks, f"{KEY}.looks")
    name.draw(state)
    parts = {"axes": axes.draw, "when": _when}
    kit.draw_part(state, "all", words.parts_label, words.parts, parts)
    typed = typed_name.read(state[NAME.key]).letters
    if typed:
        kit.seen(words.end, **end(typed))


def by_age() -> list[tuple[str, str]]:
    """Return the nine models in the order of their years, each with its year."""
    return [(year, key) for year, keys in sorted(MODELS_OF.items()) for key in keys]


def question(losses: dict[str, float]) -> kit.Question | None:
    """Ask for the losses of a table and of two networks that came after it.

    The wrong answers are those of somebody to whom each newer model is a step better, and of one to
    whom a table is a table. None where the answers are near each other, or the three are not.
    """
    first, low = losses[DRAWN[0]], min(losses[key] for key in ASKED)
    right = tuple(losses[key] for key in ASKED)
    answers = {
        "right": right,
        "newer": tuple(first - (first - low) * step / len(ASKED) for step in (1, 2, 3)),
        "tables": (first, low, low),
    }
    least = APART * (AXIS.high - AXIS.low)
    apart = [
        np.abs(np.subtract(answers[a], answers[b])).mean()
        for a, b in (("right", "newer"), ("right", "tables"), ("newer", "tables"))
    ]
    if min(apart) < least or max(right) - min(right) > CLOSE:
        return None
    texts = {"table": words.models[ASKED[0]], "loss": right[0], "apart": max(right) - min(right)}
    return kit.Question(
        words.ask.format(first=first),
        [words.answers[key] for key in answers],
        0,
        [words.reasons[key].format(**texts) for key in answers],
        values=list(answers.values()),
    )


AXIS = kit.Axis(1.4, 2.4, words.axis)


def _rows(every: tuple[Measured, ...], asked: kit.Question | None, *, told: bool) -> None:
    """Each model's loss on new names, by age; what would tell the three is no more than a ?."""
    losses = {model.key: model.loss for model in every}
    order = by_age()
    cases = []
    for year, key in order:
        label = [(f"{year} ", False), (words.models[key], key in ASKED)]
        known = told or key in DRAWN or key in ASKED
        role = f"kind-{network_number(key) % 8}"
        value = losses[key] if known else None
        cases.append(kit.Case(label, value, note="" if known else "?", role=role))
    kit.guess_cases(
        cases,
        AXIS,
        asked,
        GUESS,
        veiled=[n for n, (_, key) in enumerate(order) if key in ASKED],
        picture=f"{KEY}.rows",
        form="figure",
        mark="dot",
    )


def _when(state: kit.PageState) -> None:
    """The events in their order, with the losses that the models have here."""
    kit.section(words.when)
    losses = {model.key: model.loss for model in measures()}
    lines = []
    for year, (what, needed, source) in words.events.items():
        measured = ", ".join(
            words.here_one.format(model=words.models[key], loss=losses[key])
            for key in MODELS_OF.get(year, ())
        )
        here = words.here.format(measured=measured) if measured else ""
        lines.append(
            words.event.format(year=year, what=what, needed=needed, source=source, here=here)
        )
    kit.prose("\n\n".join(lines))


def end(typed: str) -> dict[str, Any]:
    """Return what the end says of a name: the lowest and the highest losses of the nine."""
    means = -np.log(name.scores(typed)).mean(axis=1)
    every = measures()
    losses = [model.loss for model in every]
    return {
        "name": kit.quote(typed),
        "low": float(means.min()),
        "high": float(means.max()),
        "least": min(losses),
        "most": max(losses),
        "best": words.models[NINE[int(np.argmin(losses))]],
    }

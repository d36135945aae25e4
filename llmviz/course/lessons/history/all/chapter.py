"""Chapter "All of them": nine models by their age, what they bring, and one name through all.

The last part has all of them on the same axes: what each costs and what it brings.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.history import by_measure, network_number
from llmviz.course.lessons.history import NAME, typed_name
from llmviz.course.lessons.history.all import words
from llmviz.course.lessons.history.typed_name import link_onward
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.invented_names import names_learned_from
from llmviz.evaluation.nine_models import (
    COUNTED,
    NINE,
    TIE,
    TRAINED,
    Written,
    chances_by_counts,
    chances_by_model,
    count_names,
    reach,
)
from llmviz.training.curves import CurveFile
from llmviz.training.reading import read_description


@dataclass(frozen=True)
class Measured:
    """One of the nine: its loss on held-out names in nats per letter, and what it costs."""

    key: str
    loss: float
    parameters: int
    seconds: float
    train_rate: float
    context: int
    steps: int


counted = kit.cached(len(COUNTED))(count_names)


def chances_of(key: str, name: str) -> np.ndarray:
    """Return the probability of each letter of a name and of its end, (T,)."""
    if key in COUNTED:
        return chances_by_counts(counted(key), name)
    bundled = engine.load(key)
    return chances_by_model(bundled.model, bundled.tokenizer, name)


@kit.cached(1)
def measures() -> tuple[Measured, ...]:
    """Return the measures of all nine; those of trained models from the runs that made them."""
    return tuple(_of_counts(key) if key in COUNTED else _of_run(key) for key in NINE)


def _of_counts(key: str) -> Measured:
    table = counted(key)
    letters = table.grams.letters
    seconds = max(table.seconds, 1e-6)
    context = reach(partial(chances_of, key))
    return Measured(key, table.loss, table.stored, seconds, letters / seconds, context, 0)


def _of_run(key: str) -> Measured:
    folder = engine.CHECKPOINTS / key
    description, curve = read_description(folder), CurveFile(folder).read()
    seconds = float(curve.seconds[-1])
    return Measured(
        key,
        float(curve.last_validation or np.nan),
        description["parameters"],
        seconds,
        float(curve.tokens[-1]) / seconds,
        reach(partial(chances_of, key)),
        int(curve.steps[-1]),
    )


AXES_KEY = "history.all.axes"
COUNT, LONGEST = 100, 15  # names that each writes, and the letters of the longest
LISTED = 3  # names of each that are shown


def draw_axes(state: kit.PageState) -> None:
    """Show the chart of two measures, and what the models write."""
    kit.section(words.axes)
    names = {key: title.format(count=COUNT) for key, title in words.measures.items()}
    left, right = st.columns(2, gap="medium")
    for place, key, label in ((left, "across", words.across), (right, "up", words.up)):
        place.selectbox(label, list(names), format_func=names.__getitem__, **state.bind(key))
    st.number_input(words.write_seed, width=200, **state.ranged("wseed"))
    if not state["wrote"]:
        _growing(state, [])
    kit.live(
        state,
        "wrote",
        _writing,
        (state["wseed"],),
        lambda job: _growing(state, list(job.results)),
        start=words.write.format(count=COUNT),
        share=lambda job: len(job.results) / len(NINE),
        said=kit.JobWords(words.writing, words.stopped, words.again),
    )
    kit.measured(words.how_costs)
    _code()


@kit.cached(16)
def _writing(seed: int) -> kit.Job:
    target = "llmviz.evaluation.nine_models:write_names"
    return kit.training_jobs().start(target, count=COUNT, seed=seed, longest=LONGEST)


def _growing(state: kit.PageState, results: list[Written]) -> None:
    """The chart, as far as the nine have written."""
    written = {result.key: result for result in results}
    chosen = (state["across"], state["up"])
    if any(key in ("write_rate", "new") for key in chosen) and not written:
        st.info(words.unwritten, icon=":material/edit_note:")
    else:
        speeds = tuple(
            (result.key, result.tokens / max(result.seconds, 1e-9), result.new)
            for result in written.values()
        )
        st.plotly_chart(_figure(*chosen, speeds, kit.theme()), key=f"{AXES_KEY}.chart")
    if written:
        listed = "; ".join(
            words.wrote_one.format(
                model=words.models[result.key],
                names=", ".join(kit.quote(name) for name in result.names[:LISTED]),
            )
            for result in written.values()
        )
        kit.prose(words.wrote, seed=state["wseed"], listed=listed)


def value_of(model: Measured, measure: str, speeds: dict[str, tuple[float, int]]) -> float:
    """Return a measure of one of the nine; NaN where it was not measured yet."""
    if measure in ("write_rate", "new"):
        rate, new = speeds.get(model.key, (np.nan, np.nan))
        return float(rate if measure == "write_rate" else new)
    return float(getattr(model, measure))


@kit.cached(64)
def _figure(
    across: str, up: str, speeds: tuple[tuple[str, float, int], ...], mode: kit.Mode
) -> kit.Figure:
    known = {key: (rate, new) for key, rate, new in speeds}
    points = {
        words.models[model.key]: (value_of(model, across, known), value_of(model, up, known))
        for model in measures()
    }
    numbers = [network_number(model.key) for model in measures()]
    titles = [words.measures[key].format(count=COUNT) for key in (across, up)]
    return by_measure(points, numbers, titles, [key in words.powers for key in (across, up)], mode)


def lowest(models: tuple[Measured, ...]) -> str:
    """Say which of the nine has the lowest loss, and which of those that were trained."""
    first = min(models, key=lambda model: model.loss)
    order = sorted((model for model in models if model.key not in COUNTED), key=lambda m: m.loss)
    trained = order[0]
    near = [words.models[model.key] for model in order[1:] if model.loss - trained.loss <= TIE]
    follow = "follows" if len(near) == 1 else "follow"
    ties = words.lowest_ties.format(others=kit.listed(near), follow=follow, tie=TIE)
    text = words.lowest.format(
        best=words.models[first.key],
        low=first.loss,
        trained=words.models[trained.key],
        trained_low=trained.loss,
        ties=ties if near else "",
    )
    if first.key != "counted-fours":
        return text
    return text + words.counts_win.format(known=kit.percent(_known()))


@kit.cached(1)
def _known() -> float:
    from llmviz.corpus import load_corpus

    held_out = list(load_corpus("names").split(0.1, 0)[1])
    table = counted("counted-fours")
    return table.grams.known(held_out, table.n)


def _code() -> None:
    gpt = next(model for model in measures() if model.key == "names-gpt")
    kit.show_code(
        [reach],
        words.snippet_axes,
        f"{gpt.parameters} {gpt.context}",
    )


KEY = "history.all"
GUESS = "history.all.three"
DRAWN = ("counted-pairs", "names-bigram")  # whose losses are told before the question
GUESSED = ("counted-fours", "names-lstm", "names-gpt")  # a table and two networks, by age
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
    guess = kit.Guess(GUESS, question({model.key: model.loss for model in every}))
    revealed = guess.open
    with kit.stage("all"):
        _rows(every, guess, revealed=revealed)
        guess.ask()
        kit.prose(words.years)
    if not revealed:  # what the nine give a name would tell
        return
    kit.prose(lowest(every))
    kit.looks(state, words.looks, f"{KEY}.looks")
    draw_name(state)
    parts = {"axes": draw_axes, "when": _when}
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
    first, low = losses[DRAWN[0]], min(losses[key] for key in GUESSED)
    right = tuple(losses[key] for key in GUESSED)
    answers = {
        "right": right,
        "newer": tuple(first - (first - low) * step / len(GUESSED) for step in (1, 2, 3)),
        "tables": (first, low, low),
    }
    least = APART * (AXIS.high - AXIS.low)
    apart = [
        np.abs(np.subtract(answers[a], answers[b])).mean()
        for a, b in (("right", "newer"), ("right", "tables"), ("newer", "tables"))
    ]
    if min(apart) < least or max(right) - min(right) > CLOSE:
        return None
    texts = {"loss": right[0], "apart": max(right) - min(right)}
    return kit.Question(
        words.ask.format(first=first),
        [words.answers[key] for key in answers],
        0,
        [words.reasons[key].format(**texts) for key in answers],
        values=list(answers.values()),
    )


AXIS = kit.Axis(1.4, 2.4, words.axis)


def _rows(every: tuple[Measured, ...], guess: kit.Guess, *, revealed: bool) -> None:
    """Each model's loss on new names, by age; what would tell the three is no more than a ?."""
    losses = {model.key: model.loss for model in every}
    order = by_age()
    cases = []
    for year, key in order:
        label = [(f"{year} ", False), (words.models[key], key in GUESSED)]
        known = revealed or key in DRAWN or key in GUESSED
        role = f"kind-{network_number(key) % 8}"
        value = losses[key] if known else None
        cases.append(kit.Case(label, value, note="" if known else "?", role=role))
    guess.cases(
        cases,
        AXIS,
        veiled=[n for n, (_, key) in enumerate(order) if key in GUESSED],
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
    means = -np.log(scores(typed)).mean(axis=1)
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


NAME_KEY = "history.all.name"


@kit.cached(1)
def _learned() -> frozenset[str]:
    return frozenset(names_learned_from())


def draw_name(state: kit.PageState) -> None:
    """Show the losses of each letter of the name, by model."""
    kit.section(words.intro)
    name = typed_name.ask(state)
    if not name:
        return
    chances = scores(name)
    losses = -np.log(chances)
    means = losses.mean(axis=1, keepdims=True)
    table = np.hstack([losses, means])
    most = float(table.max())
    letters = [*name, words.end_mark]
    cell_grid(
        table,
        key=NAME_KEY,
        row_names=[words.models[key] for key in NINE],
        column_names=[*letters, words.mean],
        texts=[[f"{loss:.2f}" for loss in row] for row in table],
        notes=_notes(letters, chances, losses),
        strong=np.hstack([np.zeros_like(losses, bool), means <= means.min()]),
        starts=[2],
        role="key",
        limit=max(most, 1e-6),
        scale=(words.scale[0], words.scale[1].format(most=most)),
        label=words.grid,
    )
    kit.prose(f"{best(name, chances)} {words.listed[name in _learned()]}")
    kit.measured(words.how_surprised, names=len(_learned()))
    link_onward(name)
    _name_code(name, chances)


@kit.cached(256)
def scores(name: str) -> np.ndarray:
    """Return what each of the nine gives each letter and the end of a name, (9, T)."""
    return np.array([chances_of(key, name) for key in NINE])


def _notes(letters: list[str], chances: np.ndarray, losses: np.ndarray) -> list[list[str]]:
    notes = []
    for key, row, own in zip(NINE, chances, losses, strict=True):
        model = words.models[key]
        line = [
            words.note.format(model=model, letter=letter, p=kit.percent(p), loss=loss)
            for letter, p, loss in zip(letters, row, own, strict=True)
        ]
        notes.append([*line, words.note_mean.format(model=model, loss=own.mean())])
    return notes


def best(name: str, chances: np.ndarray) -> str:
    """Say which model has the lowest loss for a name, and at which letter they differ most."""
    losses = -np.log(chances)
    means = losses.mean(axis=1)
    low, high = int(means.argmin()), int(means.argmax())
    if f"{means[low]:.3f}" == f"{means[high]:.3f}":
        return words.best_tie.format(name=kit.quote(name), low=means[low])
    at = int((losses.max(axis=0) - losses.min(axis=0)).argmax())
    letters = [words.place.format(number=i, letter=kit.quote(c)) for i, c in enumerate(name, 1)]
    return words.best.format(
        name=kit.quote(name),
        best=words.models[NINE[low]],
        worst=words.models[NINE[high]],
        low=means[low],
        high=means[high],
        place=[*letters, words.place_end][at],
    )


def _name_code(name: str, chances: np.ndarray) -> None:
    gpt = chances[NINE.index("names-gpt")]
    kit.show_code(
        [chances_by_model],
        words.snippet_name.format(name=name),
        "\n".join(f"{p:.4f}" for p in gpt),
    )

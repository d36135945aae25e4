"""Features, units and single numbers held against what the grammar knows."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from llmviz.corpus.states import RULES, STATES, WORD_CLASSES
from llmviz.course.figures.scored_rows import scored_rows
from llmviz.course.lessons.discoveries.features import words
from llmviz.course.lessons.discoveries.features.one import dictionary_of
from llmviz.course.lessons.discoveries.features_record import (
    CHOSEN_ON,
    LAYERS,
    MAIN,
    MEASURED_ON,
    ON_EACH,
    SIZE,
    scores,
)
from llmviz.course.ui import kit

KEY = "discoveries.features.truth"
WELL, BADLY = 0.8, 0.5  # F1 of what is told well by all numbers, and of what no feature tells
SHOWN = 8  # labels that the features miss
KINDS = {"word": WORD_CLASSES, "rule": RULES, "state": STATES}
SOURCES = ("feature", "unit", "axis", "reading")


def table(layer: int, features: int, on: int = ON_EACH) -> dict[str, np.ndarray]:
    """Return F1 by source, (3 seeds, K labels) each."""
    runs = sorted(scores().of(layer, features, on), key=lambda run: run.seed)
    others = sorted(scores().at(layer), key=lambda score: score.seed)
    found = {"feature": np.array([run.f1 for run in runs])}
    for name in SOURCES[1:]:
        found[name] = np.array([getattr(other, name) for other in others])
    return found


def of_kind(kind: str) -> list[int]:
    """Return the places of a kind's labels."""
    return [k for k, label in enumerate(scores().labels) if label.startswith(f"{kind} ")]


def medians(layer: int, features: int, kind: str) -> dict[str, np.ndarray]:
    """Return the median F1 over a kind's labels by source, for each seed (3,)."""
    at = of_kind(kind)
    return {name: np.median(f1[:, at], 1) for name, f1 in table(layer, features).items()}


def verdict(feature: Sequence[float] | np.ndarray, unit: Sequence[float] | np.ndarray) -> str:
    """Return whether the first tells more, less, or neither: the three trainings must not mix.

    >>> verdict([0.5, 0.6], [0.3, 0.4]), verdict([0.5, 0.6], [0.55, 0.4])
    ('more', 'tie')
    """
    first, second = np.round(feature, 2), np.round(unit, 2)  # as the page shows them
    if first.min() > second.max():
        return "more"
    return "less" if first.max() < second.min() else "tie"


def three(values: Sequence[float] | np.ndarray, digits: int = 2) -> str:
    """Return the numbers of the trainings for a sentence.

    >>> three([0.5, 0.25, 0.75])
    '0.50, 0.25 and 0.75'
    """
    return kit.listed([f"{value:.{digits}f}" for value in values])


def question() -> kit.Question:
    """Return the question what tells the story's states best."""
    found = medians(MAIN, SIZE, "state")
    right = int(np.argmax([found[name].mean() for name in SOURCES]))
    return kit.Question.of(
        words.ask_best,
        right,
        states=len(STATES),
        features=SIZE,
        units=units(),
        width=width(),
    )


def width() -> int:
    """Return how many numbers a vector has."""
    from llmviz.course.lessons.discoveries.features_record import bundle

    return len(bundle(MAIN).dictionary.centre)


def units() -> int:
    """Return how many units a feed-forward layer of the story model has."""
    from llmviz.course.lessons.discoveries.features_record import MODEL
    from llmviz.course.ui import engine

    return engine.load(MODEL).model.config.feed_forward_size


def draw(state: kit.PageState) -> None:
    """Show the scores of a kind, and what the features miss."""
    kit.section(words.truth, chosen=CHOSEN_ON, measured=MEASURED_ON)
    kit.choose(state, "featkind", words.kind, words.kinds)
    layer, features = dictionary_of(state)
    kind = state["featkind"]
    kit.chart(figure(layer, features, kind, kit.theme()), f"{KEY}.scores", bar=False)
    kit.prose(read_out(layer, features, kind))
    kit.prose(words.by_layer.format(features=SIZE))
    kit.rows_table(layer_rows(kind), words.by_layer_columns)
    _misses(layer, features)


def read_out(layer: int, features: int, kind: str) -> str:
    """Return how features compare with units and the rest, in sentences."""
    found = medians(layer, features, kind)
    said = words.verdict[verdict(found["feature"], found["unit"])].format(
        kind=words.kinds[kind], feature=three(found["feature"]), unit=three(found["unit"])
    )
    rest = words.verdict_rest.format(axis=three(found["axis"]), reading=three(found["reading"]))
    return f"{said} {rest}"


@kit.kept(36)
def figure(layer: int, features: int, kind: str, mode: kit.Mode) -> go.Figure:
    """Return the middle F1 of the three seeds for each label of a kind."""
    at, found = of_kind(kind), table(layer, features)
    middle = {name: np.median(f1[:, at], 0) for name, f1 in found.items()}
    order = np.argsort(-middle["feature"], kind="stable")
    names = [words.label_names[scores().labels[at[k]]] for k in order]
    drawn = {
        title: middle[name][order].tolist()
        for title, name in zip(words.sources, SOURCES, strict=True)
    }
    return scored_rows(names, drawn, words.f1_axis, mode)


@kit.kept(3)
def layer_rows(kind: str) -> list[tuple[str, ...]]:
    """Return a row for each layer: the medians of three trainings by source."""
    rows = []
    for layer in LAYERS:
        found = medians(layer, SIZE, kind)
        texts = [", ".join(f"{value:.2f}" for value in found[name]) for name in SOURCES]
        rows.append((str(layer), *texts))
    return rows


@kit.kept(6)
def missing_rows(layer: int, features: int) -> list[tuple[str, ...]]:
    """Return labels that all numbers tell and no feature does, the widest gap first."""
    found = {name: np.median(f1, 0) for name, f1 in table(layer, features).items()}
    feature, reading = found["feature"], found["reading"]
    at = [k for k in range(len(feature)) if reading[k] >= WELL and feature[k] < BADLY]
    at.sort(key=lambda k: feature[k] - reading[k])
    return [
        (words.label_names[scores().labels[k]], f"{feature[k]:.2f}", f"{reading[k]:.2f}")
        for k in at[:SHOWN]
    ]


def _misses(layer: int, features: int) -> None:
    kit.section(words.misses)
    rows = missing_rows(layer, features)
    kit.prose(words.missing_labels["some" if rows else "none"].format(known=WELL, told=BADLY))
    if rows:
        kit.rows_table(rows, words.misses_columns)
    run = next(score for score in scores().of(layer, features) if score.seed == 0)
    worst = int(np.argmax(run.missed))
    kit.prose(
        words.missed_most.format(
            label=words.label_names[scores().labels[worst]],
            missed=kit.percent(run.missed[worst]),
            all=kit.percent(1 - run.explained),
        )
    )

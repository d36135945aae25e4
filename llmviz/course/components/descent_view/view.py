"""Descents under the hand: balls on a landscape, their numbers, and a slider of learning rates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer, starting


@dataclass(frozen=True)
class Row:
    """One number of an update as a table shows it.

    ``name`` is that of the array in ``Walker.values``. ``text`` is its arithmetic; names in braces
    stand for the other arrays, for ``{w}``, ``{next}``, ``{lr}``, ``{t}`` (the step, from 1) and
    for ``Walker.constants``; ``{name'}`` is an array's value one step before, 0 at the first.
    """

    name: str
    label: str
    text: str = ""


@dataclass(frozen=True)
class Walker:
    """One optimizer's paths, one for each of L learning rates; P weights are drawn.

    ``path`` (L, S + 1, P), ``losses`` (L, S + 1), ``values`` (L, S, P) each, ``lasted`` (L,) steps
    that were made, ``settled`` (L,) whether the last loss is good. ``best`` is the best rate.
    ``when`` (S + 1,) puts the steps of walkers with different numbers of them on one line.
    """

    name: str
    label: str
    role: str
    path: np.ndarray
    losses: np.ndarray
    lasted: np.ndarray
    settled: np.ndarray
    best: int
    values: Mapping[str, np.ndarray] = field(default_factory=dict)
    rows: Sequence[Row] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    when: np.ndarray | None = None


@dataclass(frozen=True)
class Landscape:
    """A map: heights (rows, columns) from ``low`` to ``high``, the lowest y first."""

    heights: np.ndarray
    levels: Sequence[float]
    low: tuple[float, float]
    high: tuple[float, float]
    minima: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Profile:
    """A curve of the loss over one weight: ``x`` and ``y`` (N,), and where it is lowest."""

    x: np.ndarray
    y: np.ndarray
    minimum: tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """Points of two kinds that walkers part by a line; N points, three weights a walker.

    ``x`` (N, 2) as the walkers see it; ``ticks`` puts texts on places of both axes. ``y`` (N,) is
    0 or 1. ``batches`` says for each walker which points each of its steps saw. ``answers`` holds
    z, p and loss, each (L, S + 1, N), of the walker ``of``.
    ``chosen`` is the point whose sums are written out.
    """

    names: Sequence[str]
    x: np.ndarray
    y: np.ndarray
    ticks: tuple[Sequence[tuple[float, str]], Sequence[tuple[float, str]]]
    batches: Sequence[Sequence[Sequence[int]]]
    answers: Mapping[str, np.ndarray]
    of: int
    chosen: int


@dataclass(frozen=True)
class DescentState:
    """What the learner settled on: the step, the rate's stop of each walker, whose numbers."""

    step: int
    stops: tuple[int, ...]
    followed: int


def descent_view(
    walkers: Sequence[Walker],
    rates: np.ndarray,
    *,
    key: str,
    words: Mapping[str, str],
    floor: float,
    state: DescentState,
    stage: Landscape | Profile | Plane | None = None,
    names: Sequence[str] = ("x", "y"),
    lines: Sequence[str] = (),
    decades: int = 6,
    on_change: Callable[[], None] | None = None,
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw walkers on a stage, with a player of steps and a slider of the ``rates`` (L,).

    ``floor`` is the lowest loss there is; the chart draws losses above it, over ``decades`` powers
    of ten at most. ``names`` call the weights; ``lines`` says one sentence a rate of the first
    walker. What the learner settles on is in ``st.session_state[key]``, read by ``settled``, and a
    click on a landscape in its ``act``: ``{"start": [x, y]}``. Raises ValueError for data that do
    not fit.
    """
    payload = descent_payload(walkers, rates, words, floor, stage, names, lines)
    payload["decades"] = decades
    sent = {}
    for name, wanted in (
        ("step", state.step),
        ("stops", list(state.stops)),
        ("followed", state.followed),
    ):
        sent[name], _ = starting(key, name, wanted)
    if isinstance(stage, Plane):
        sent["point"], _ = starting(key, "point", stage.chosen)
    change = on_change or nothing
    renderer("descent_view")(
        data=pack(payload | sent),
        key=key,
        default=sent,
        on_step_change=change,
        on_stops_change=change,
        on_followed_change=change,
        on_point_change=change,
        on_act_change=on_act or nothing,
    )


def settled(
    message: Mapping[str, Any], walkers: int, rates: int, steps: int
) -> DescentState | None:
    """Return what a component sent, or None where it does not fit."""
    match message.get("step"), message.get("stops"), message.get("followed"):
        case int(step), [*stops], int(followed):
            inside = all(isinstance(stop, int) and 0 <= stop < rates for stop in stops)
            if inside and len(stops) == walkers and 0 <= followed < walkers and 0 <= step <= steps:
                return DescentState(step, tuple(stops), followed)
    return None


def descent_payload(
    walkers: Sequence[Walker],
    rates: np.ndarray,
    words: Mapping[str, str],
    floor: float,
    stage: Landscape | Profile | Plane | None,
    names: Sequence[str],
    lines: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what a view of descents is sent, checked."""
    if not walkers:
        raise ValueError("a view of descents needs at least one walker")
    if len(lines) not in (0, len(rates)):
        raise ValueError(f"{len(rates)} rates need as many lines; got {len(lines)}")
    return {
        "walkers": [_described(walker, len(rates)) for walker in walkers],
        "rates": np.asarray(rates, np.float32),
        "words": dict(words),
        "floor": float(floor),
        "names": list(names),
        "lines": list(lines),
        "stage": _stage(stage),
    }


def _described(walker: Walker, rates: int) -> dict[str, Any]:
    count, steps = walker.losses.shape[0], walker.losses.shape[1] - 1
    weights = walker.path.shape[-1]
    if count != rates or walker.path.shape[:2] != walker.losses.shape:
        raise ValueError(
            f"{walker.name}: {rates} rates need as many ways; got path {walker.path.shape} and "
            f"losses {walker.losses.shape}"
        )
    for name, values in walker.values.items():
        if values.shape != (count, steps, weights):
            raise ValueError(
                f"{walker.name}: {name} must have the shape {(count, steps, weights)}; "
                f"got {values.shape}"
            )
    when = np.arange(steps + 1) if walker.when is None else np.asarray(walker.when)
    if when.shape != (steps + 1,) or (np.diff(when) <= 0).any():
        raise ValueError(f"{walker.name}: when must rise over its {steps + 1} places")
    return {
        "name": walker.name,
        "label": walker.label,
        "role": walker.role,
        "path": walker.path.astype(np.float32),
        "losses": walker.losses.astype(np.float32),
        "lasted": walker.lasted.astype(np.int32),
        "settled": walker.settled.astype(np.uint8),
        "best": int(walker.best),
        "values": {name: values.astype(np.float32) for name, values in walker.values.items()},
        "rows": [vars(row) for row in walker.rows],
        "constants": {name: float(value) for name, value in walker.constants.items()},
        "when": when.astype(np.int32),
    }


def _stage(stage: Landscape | Profile | Plane | None) -> dict[str, Any] | None:
    match stage:
        case Landscape():
            return {
                "kind": "map",
                "heights": stage.heights.astype(np.float32),
                "levels": [float(level) for level in stage.levels],
                "low": list(stage.low),
                "high": list(stage.high),
                "minima": [list(place) for place in stage.minima],
            }
        case Plane():
            return {
                "kind": "plane",
                "names": list(stage.names),
                "x": stage.x.astype(np.float32),
                "y": stage.y.astype(np.uint8),
                "ticks": [[list(tick) for tick in axis] for axis in stage.ticks],
                "batches": [[list(batch) for batch in plan] for plan in stage.batches],
                "answers": {"of": stage.of}
                | {name: values.astype(np.float32) for name, values in stage.answers.items()},
            }
        case Profile():
            return {
                "kind": "curve",
                "x": stage.x.astype(np.float32),
                "y": stage.y.astype(np.float32),
                "minimum": list(stage.minimum),
            }
    return None

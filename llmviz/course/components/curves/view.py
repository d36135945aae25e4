"""Curves of runs that may still grow, under one scrubber; zoom is kept while they do.

All axes, units and means travel together, so that the hand changes them without the server. Each
run travels by itself: one that grows or joins does not bring the others along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared import transport

OFFERED = ("axis", "unit", "mean", "logx", "logy")  # what the hand may choose on the chart


@dataclass(frozen=True)
class View:
    """How a chart is drawn: its axis, its unit, how much is smoothed, which axes go by powers."""

    axis: str = "steps"
    unit: str = "nats"
    mean: float = 0.8
    logx: bool = False
    logy: bool = False


@dataclass(frozen=True, eq=False)  # by its identity, so that what was packed is found again
class RunCurve:
    """One run as it is drawn: n points, v validation losses; losses in nats per token.

    ``label`` is shown, ``name`` tells one run from another; ``colour`` is its number in the
    palette. ``bits`` is how many bits a byte of its text costs for each nat per token. ``means``
    holds a row for each weight of smoothing. ``samples`` are (step, text).
    """

    name: str
    label: str
    colour: int
    bits: float
    steps: np.ndarray  # (n,)
    tokens: np.ndarray  # (n,)
    seconds: np.ndarray  # (n,)
    train: np.ndarray  # (n,)
    means: np.ndarray  # (weights, n)
    measured: Mapping[str, np.ndarray]  # where validation was measured: steps, tokens, seconds
    validation: np.ndarray  # (v,)
    lr: np.ndarray  # (n,)
    grad_norm: np.ndarray  # (n,)
    rate: np.ndarray  # (n,) tokens a second
    samples: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Line:
    """A horizontal line, in nats, that losses are held against; the floor is drawn firmer."""

    label: str
    value: float
    floor: bool = False


def curves(
    runs: Sequence[RunCurve],
    *,
    key: str,
    axes: Mapping[str, Any],
    words: Mapping[str, Any],
    lines: Sequence[Line] = (),
    main: int = 0,
    at: int | None = None,
    view: View = View(),
    weights: Sequence[float] = (),
    offered: Sequence[str] = (),
    notes: Mapping[str, str] | None = None,
    hidden: Sequence[str] | None = None,
    on_view: Callable[[], None] | None = None,
    on_at: Callable[[], None] | None = None,
    on_hidden: Callable[[], None] | None = None,
) -> None:
    """Draw the curves; ``main`` is the run that the scrubber goes through.

    ``axes`` names x and y for each axis and unit, lr and grad; ``at`` is the step to stand at,
    None the newest; ``offered`` are the controls that the chart shows, of OFFERED; ``notes`` are
    said below it: thinned always, smoothed and bytes where they hold. ``hidden`` names the runs
    that are not drawn, which the hand changes without the server; None where it cannot. What the
    hand chose is read by `view_of`, `step_of` and `hidden_of`. Raises ValueError for arrays that do
    not fit together.
    """
    payload = curves_payload(
        runs,
        axes,
        words,
        lines=lines,
        main=main,
        at=transport.starting(key, "at", -1 if at is None else at)[0],
        view=transport.starting(key, "view", asdict(view))[0],
        weights=weights,
        offered=offered,
        notes=notes,
        hidden=None if hidden is None else transport.starting(key, "hidden", list(hidden))[0],
    )
    with (
        nullcontext() if transport.is_collecting() else st.container(gap=None)
    ):  # the runs take no room
        for place, run in enumerate(runs):
            store = transport.component_key(key, run.name)
            message, stamp = _packed(run, store, len(weights))
            transport.renderer("curve_data")(data=message, key=store)
            payload["runs"][place] |= {"store": store, "stamp": stamp}
        transport.renderer("curves")(
            data=transport.pack(payload),
            key=key,
            on_view_change=on_view or transport.nothing,
            on_at_change=on_at or transport.nothing,
            on_hidden_change=on_hidden or transport.nothing,
        )


@lru_cache(maxsize=64)  # a run that did not grow is the same object
def _packed(run: RunCurve, store: str, weights: int) -> tuple[bytes, str]:
    """The message with a run's arrays, and what tells it from the run's earlier ones."""
    arrays = run_payload(run, weights)
    stamp = blake2b(transport.pack(arrays), digest_size=8).hexdigest()
    return transport.pack({"store": store, "stamp": stamp, "run": arrays}), stamp


def view_of(key: str) -> dict[str, Any]:
    """What the hand has chosen on a chart, by the names of OFFERED; empty before it has."""
    choices = (st.session_state.get(key) or {}).get("view")
    if not isinstance(choices, dict):
        return {}
    return {name: choices[name] for name in OFFERED if name in choices}


def step_of(key: str) -> int:
    """The step that the scrubber was let go at; −1 for the newest."""
    step = (st.session_state.get(key) or {}).get("at")
    return step if isinstance(step, int) and step >= 0 else -1


def hidden_of(key: str) -> list[str]:
    """The names of the runs that the hand took off the picture."""
    names = (st.session_state.get(key) or {}).get("hidden")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def curves_payload(
    runs: Sequence[RunCurve],
    axes: Mapping[str, Any],
    words: Mapping[str, Any],
    *,
    lines: Sequence[Line] = (),
    main: int = 0,
    at: int = -1,
    view: Mapping[str, Any] | None = None,
    weights: Sequence[float] = (),
    offered: Sequence[str] = (),
    notes: Mapping[str, str] | None = None,
    hidden: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return what the curves are sent beside the arrays of the runs, checked."""
    if not 0 <= main < len(runs):
        raise ValueError(f"main must name one of {len(runs)} runs; got {main}")
    if unknown := set(offered) - set(OFFERED):
        raise ValueError(f"a chart offers {', '.join(OFFERED)}; got {', '.join(unknown)}")
    return {
        "runs": [_named(run) for run in runs],
        "axes": dict(axes),
        "words": dict(words),
        "lines": [
            {"label": line.label, "value": float(line.value), "floor": line.floor} for line in lines
        ],
        "main": main,
        "at": at,
        "view": dict(view or asdict(View())),
        "weights": list(weights),
        "offered": list(offered),
        "hidden": None if hidden is None else list(hidden),
        "notes": {"thinned": "", "smoothed": "", "bytes": "", "counted": "", **(notes or {})},
    }


def _named(run: RunCurve) -> dict[str, Any]:
    return {"name": run.name, "label": run.label, "colour": run.colour, "bits": float(run.bits)}


def run_payload(run: RunCurve, weights: int) -> dict[str, Any]:
    """Return a run's arrays as they are sent. Raises ValueError where they do not fit together."""
    each = (run.steps, run.tokens, run.seconds, run.train, run.lr, run.grad_norm, run.rate)
    if len({len(column) for column in each}) != 1:
        raise ValueError(
            f"the columns of {run.name} have {[len(column) for column in each]} points"
        )
    if run.means.shape != (weights, len(run.steps)):
        raise ValueError(
            f"{run.name} has {len(run.steps)} points, {weights} weights and means {run.means.shape}"
        )
    if any(len(place) != len(run.validation) for place in run.measured.values()):
        raise ValueError(f"{run.name} has validation losses without a place")
    return {
        "steps": np.asarray(run.steps, np.int32),
        "tokens": _floats(run.tokens),
        "seconds": _floats(run.seconds),
        "train": _floats(run.train),
        "means": [_floats(mean) for mean in run.means],
        **{f"v_{axis}": _floats(place) for axis, place in run.measured.items()},
        "validation": _floats(run.validation),
        "lr": _floats(run.lr),
        "grad": _floats(run.grad_norm),
        "rate": _floats(run.rate),
        "samples": [[int(step), text] for step, text in run.samples],
    }


def _floats(values: np.ndarray) -> np.ndarray:
    # A norm may be beyond float32; such points are above every chart.
    return np.clip(np.asarray(values, float), -3e38, 3e38).astype(np.float32)

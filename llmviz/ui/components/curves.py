"""Curves of runs that may still grow, under one scrubber; zoom is kept while they do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.ui.components.wire import nothing, pack, renderer


@dataclass(frozen=True)
class RunCurve:
    """One run as it is drawn: n points, v validation losses; everything in the units of the axes.

    ``label`` is shown, ``name`` tells one run from another; ``colour`` is its number in the
    palette. ``smoothed`` is empty where nothing is smoothed. ``samples`` are (step, text).
    """

    name: str
    label: str
    colour: int
    x: np.ndarray  # (n,)
    steps: np.ndarray  # (n,)
    train: np.ndarray  # (n,)
    smoothed: np.ndarray  # (n,) or (0,)
    validation_x: np.ndarray  # (v,)
    validation: np.ndarray  # (v,)
    lr: np.ndarray  # (n,)
    grad_norm: np.ndarray  # (n,)
    rate: np.ndarray  # (n,) tokens a second
    samples: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Line:
    """A horizontal line that losses are held against; the floor is drawn firmer."""

    label: str
    value: float
    floor: bool = False


def curves(
    runs: Sequence[RunCurve],
    *,
    key: str,
    axes: Mapping[str, str],
    words: Mapping[str, Any],
    lines: Sequence[Line] = (),
    main: int = 0,
    at: int | None = None,
    log_x: bool = False,
    log_y: bool = False,
    note: str = "",
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw the curves; ``main`` is the run that the scrubber goes through.

    ``axes`` names x, y, lr and grad; ``at`` is the step to stand at, None the newest. What the
    scrubber was let go at comes back in ``st.session_state[key]["act"]`` as ``{"at": step or
    None, "run": name}``. Raises ValueError for arrays that do not fit together.
    """
    payload = curves_payload(
        runs, axes, words, lines=lines, main=main, at=at, log_x=log_x, log_y=log_y, note=note
    )
    renderer("curves", "player", "axes")(
        data=pack(payload), key=key, on_act_change=on_act or nothing
    )


def curves_payload(
    runs: Sequence[RunCurve],
    axes: Mapping[str, str],
    words: Mapping[str, Any],
    *,
    lines: Sequence[Line] = (),
    main: int = 0,
    at: int | None = None,
    log_x: bool = False,
    log_y: bool = False,
    note: str = "",
) -> dict[str, Any]:
    """Return what the curves are sent, checked."""
    if not 0 <= main < len(runs):
        raise ValueError(f"main must name one of {len(runs)} runs; got {main}")
    return {
        "runs": [_run(run) for run in runs],
        "axes": dict(axes),
        "words": dict(words),
        "lines": [
            {"label": line.label, "value": float(line.value), "floor": line.floor} for line in lines
        ],
        "main": main,
        "at": at,
        "log": {"x": log_x, "y": log_y},
        "note": note,
    }


def _run(run: RunCurve) -> dict[str, Any]:
    each = (run.x, run.steps, run.train, run.lr, run.grad_norm, run.rate)
    if len({len(column) for column in each}) != 1:
        raise ValueError(
            f"the columns of {run.name} have {[len(column) for column in each]} points"
        )
    if len(run.smoothed) not in (0, len(run.x)):
        raise ValueError(f"{run.name} has {len(run.x)} points and {len(run.smoothed)} means")
    if len(run.validation_x) != len(run.validation):
        raise ValueError(f"{run.name} has validation losses without a place")

    def floats(values: np.ndarray) -> np.ndarray:
        # Perplexity may be beyond float32; such points are above every chart.
        return np.clip(np.asarray(values, float), -3e38, 3e38).astype(np.float32)

    return {
        "name": run.name,
        "label": run.label,
        "colour": run.colour,
        "x": floats(run.x),
        "steps": np.asarray(run.steps, np.int32),
        "y": floats(run.train),
        "s": floats(run.smoothed),
        "vx": floats(run.validation_x),
        "vy": floats(run.validation),
        "lr": floats(run.lr),
        "grad": floats(run.grad_norm),
        "rate": floats(run.rate),
        "samples": [[int(step), text] for step, text in run.samples],
    }

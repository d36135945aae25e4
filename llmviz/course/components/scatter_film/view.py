"""Points that move: a map of words, frame by frame, with what is near the chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer, starting
from llmviz.course.figures.maps import Shade
from llmviz.course.figures.theme import CATEGORIES, SHAPES

LAST = -1  # as a step: the last frame, also when there are more of them later
ORIGIN = -1  # in a link: (0, 0)
MOST_CHOSEN = 3


@dataclass(frozen=True)
class Near:
    """What is near one chosen point at every frame: F frames, k neighbours, nearest first.

    ``ids`` (F, k) are points and ``values`` (F, k) how near they are. ``false`` (F, k) are the
    points that the map wrongly shows among the nearest, -1 where there are fewer; it may be None.
    """

    point: int
    ids: np.ndarray
    values: np.ndarray
    false: np.ndarray | None = None


@dataclass(frozen=True)
class Curve:
    """A loss for each frame, None where there is none yet, and its title with the unit."""

    title: str
    values: Sequence[float | None]


@dataclass(frozen=True, eq=False)
class Film:
    """A map of N points over F frames: ``points`` (F, N, 2), and a label for each of them.

    ``words`` are the component's own texts; without one for ``find`` there is no search. ``kinds``
    (N,) numbers ``kind_names``, -1 for none; those in ``lit`` are coloured. ``notes`` hold a line
    for each point. ``links`` are pairs of points that a thin line joins; ``ORIGIN`` in place of a
    point is (0, 0).
    """

    points: np.ndarray
    labels: Sequence[str]
    words: Mapping[str, str]
    kinds: np.ndarray | None = None
    kind_names: Sequence[str] = ()
    lit: Sequence[int] = ()
    near: Sequence[Near] = ()
    captions: Sequence[str] = ()
    curve: Curve | None = None
    shade: Shade | None = None
    notes: Sequence[str] = ()
    axes: tuple[str, str] = ("", "")
    links: Sequence[tuple[int, int]] = ()


def scatter_film(
    film: Film,
    *,
    key: str,
    equal: bool = True,
    step: int = LAST,
    on_step: Callable[[], None] | None = None,
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw a map as a film; with one frame there is no player.

    ``step`` is where to start; ``LAST`` follows a film that grows. ``equal`` draws a unit equally
    long on both axes; without it the second has lanes, and no numbers.

    The step let go at is ``st.session_state[key]["step"]`` (``LAST`` for the last), for
    ``on_step``; ``st.session_state[key]["act"]`` is then ``{"pick": point}``, ``{"drop": point}``
    or ``{"lit": [kinds]}``, for ``on_act``. Raises ValueError for data that do not fit.
    """
    payload = film_payload(film) | {"step": starting(key, "step", int(step))[0], "equal": equal}
    renderer("scatter_film")(
        data=pack(payload),
        key=key,
        default={"step": int(step)},
        on_step_change=on_step or nothing,
        on_act_change=on_act or nothing,
    )


def film_payload(film: Film) -> dict[str, Any]:
    """Return what a film of points is sent, checked."""
    labels, curve, shade = film.labels, film.curve, film.shade
    points = np.asarray(film.points, dtype=np.float32)
    if points.ndim != 3 or points.shape[2] != 2 or 0 in points.shape:
        raise ValueError(f"points must be (frames, points, 2); got {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError("every point needs two finite numbers")
    frames, n = points.shape[:2]
    kinds = np.full(n, -1) if film.kinds is None else np.asarray(film.kinds)
    for what, size, right in (
        ("labels", len(labels), n),
        ("kinds", len(kinds), n),
        ("notes", len(film.notes) or n, n),
        ("captions", len(film.captions) or frames, frames),
        ("the curve", len(curve.values) if curve else frames, frames),
        ("the shades", len(shade.values) if shade else n, n),
    ):
        if size != right:
            raise ValueError(f"{what} must be {right}; got {size}")
    joined = np.asarray(film.links, dtype=np.int32).reshape(-1, 2)
    if ((joined < ORIGIN) | (joined >= n)).any():
        raise ValueError(f"links must join points from 0 to {n - 1}, or {ORIGIN}; got {film.links}")
    if kinds.max(initial=-1) >= len(film.kind_names):
        raise ValueError(f"kind {kinds.max()} has no name; there are {len(film.kind_names)}")
    return {
        "points": points,
        "labels": list(labels),
        "kinds": kinds.astype(np.int32),
        "kindNames": list(film.kind_names),
        "colors": len(CATEGORIES["light"]),
        "shapes": list(SHAPES),
        "lit": [int(kind) for kind in film.lit],
        "near": [_near(neighbours, frames, n) for neighbours in film.near],
        "captions": list(film.captions),
        "curve": None if curve is None else {"title": curve.title, "values": list(curve.values)},
        "shade": None
        if shade is None
        else {
            "title": shade.title,
            "values": np.asarray(shade.values, dtype=np.float32),
            "low": float(shade.low),
        },
        "notes": list(film.notes),
        "links": joined,
        "axes": list(film.axes),
        "words": dict(film.words),
        "most": MOST_CHOSEN,
    }


def _near(near: Near, frames: int, n: int) -> dict[str, Any]:
    ids, values = np.asarray(near.ids), np.asarray(near.values)
    if ids.shape != values.shape or ids.ndim != 2 or len(ids) != frames:
        raise ValueError(f"neighbours must be ({frames}, k); got {ids.shape} and {values.shape}")
    if not 0 <= near.point < n or ids.min(initial=0) < 0 or ids.max(initial=0) >= n:
        raise ValueError(f"neighbours must be among the {n} points")
    return {
        "point": int(near.point),
        "ids": ids.astype(np.int32),
        "values": values.astype(np.float32),
        "false": None if near.false is None else np.asarray(near.false).astype(np.int32),
    }

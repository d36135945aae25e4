"""Linked matrices one stage of a computation at a time, with a diagram of the stages above them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared.transport import Stored, mount_states
from llmviz.course.components.matrix_view import view
from llmviz.course.figures.theme import ROLES


@dataclass(frozen=True)
class Stage:
    """One stage: its title, what stands in its box, its matrices, and what is said below.

    ``layout`` is a grid as in `matrix_view`. ``short`` is the box's text where there is little
    room. ``branch`` is None for a stage on the stream itself, else the number of the branch that
    leaves the stream before its first stage and comes back at the next one on the stream.
    """

    title: str
    box: str
    short: str
    layout: Sequence[Sequence[str | None]]
    caption: str
    role: str = "neutral"
    branch: int | None = None


@dataclass(frozen=True)
class StagePicture:
    """What a view of stages is sent, checked; made by `stage_picture`."""

    payload: dict[str, Any]
    parts: tuple[Stored, ...]
    shapes: dict[str, tuple[int, ...]]
    windows: dict[str, view.Window]

    @property
    def last(self) -> int:
        """The number of the last stage."""
        return len(self.payload["stages"]) - 1


def stage_picture(
    matrices: Sequence[view.Matrix],
    stages: Sequence[Stage],
    windows: Mapping[str, view.Window],
    weights: Sequence[view.Weights] = (),
) -> StagePicture:
    """Check a view of stages and make what it is sent; keep it, since that takes milliseconds.

    Matrices whose names are among those of ``weights`` travel with these. Raises ValueError for
    data that do not fit.
    """
    known = {matrix.name for matrix in matrices}
    drawn = [_names(stage, known) for stage in stages]
    if not stages or not all(drawn):
        raise ValueError("a view of stages needs stages, each with a matrix")
    for stage in stages:
        if stage.role not in ROLES["light"] and stage.role != "neutral":
            raise ValueError(f"stage {stage.title!r}: unknown role {stage.role!r}")
    steps = [(names, stage.caption) for names, stage in zip(drawn, stages, strict=True)]
    payload = view.matrix_payload(matrices, None, steps, numbers="auto", windows=windows)
    view.by_reference(payload["matrices"], weights)
    payload["stages"] = [
        {
            "title": stage.title,
            "box": stage.box,
            "short": stage.short,
            "layout": [list(row) for row in stage.layout],
            "role": stage.role,
            "branch": stage.branch,
        }
        for stage in stages
    ]
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    return StagePicture(payload, tuple(group.part for group in weights), shapes, dict(windows))


def stage_view(
    picture: StagePicture,
    *,
    key: str,
    step: int = 0,
    pinned: view.Cell | None = None,
    windows: Mapping[str, view.Window] | None = None,
    narrow: int = 0,
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw the stages; the hand walks through them without the server.

    ``step`` and ``pinned`` are where to start, ``windows`` where the windows stand. What the hand
    settled on is in ``st.session_state[key]``: "step", "pinned" as [name, row, column] or None, and
    "window" as a list of (name, at).
    """
    starts = view.starting_states(max(0, min(step, picture.last)), pinned, windows)
    payload = picture.payload | {"stacked": False, "narrow": narrow}
    with st.container(gap=None):
        mount_states(
            "matrix_view", payload, *picture.parts, key=key, starts=starts, on_change=on_change
        )


def _names(stage: Stage, known: set[str]) -> list[str]:
    return [name for row in stage.layout for name in row if name in known]

"""A dot for every token over two axes; some of them named."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer
from llmviz.course.components.vector_table.view import clicked
from llmviz.course.figures.theme import ROLES


@dataclass(frozen=True)
class Dot:
    """A dot that is named: which one, and the role whose colour it has."""

    index: int
    role: str = "accent"


def dots(
    x: np.ndarray,
    y: np.ndarray,
    labels: Sequence[str],
    marks: Sequence[Dot],
    *,
    axes: tuple[str, str],
    key: str,
    words: Mapping[str, str],
    on_change: Callable[[], None] | None = None,
) -> int | None:
    """Draw points (N,), (N,) with a label for each; return the one clicked.

    They move to where new numbers put them. `axes` are both titles; `words` has "name" for the
    picture, "hint" and "dot", in which {label}, {x} and {y} stand. Raises ValueError for data
    that do not fit.
    """
    payload = dots_payload(x, y, labels, marks) | {"axes": list(axes), "words": dict(words)}
    result = renderer("dots")(
        data=pack(payload),
        key=key,
        default={"chosen": None},
        on_chosen_change=on_change or nothing,
    )
    return clicked(result.get("chosen"), len(labels))


def dots_payload(
    x: np.ndarray, y: np.ndarray, labels: Sequence[str], marks: Sequence[Dot]
) -> dict[str, Any]:
    """Return what the picture is sent, checked; a dot without a height is not drawn."""
    across, up = np.asarray(x, dtype=np.float32), np.asarray(y, dtype=np.float32)
    if across.ndim != 1 or not across.size or across.shape != up.shape:
        raise ValueError(f"dots need as many x as y; got shapes {across.shape} and {up.shape}")
    if len(labels) != across.size:
        raise ValueError(f"{across.size} dots need as many labels; got {len(labels)}")
    for mark in marks:
        if not 0 <= mark.index < across.size or mark.role not in ROLES["light"]:
            raise ValueError(f"there is no dot or no role for {mark}")
    return {
        "x": across,
        "y": up,
        "labels": list(labels),
        "marks": [[int(mark.index), mark.role] for mark in marks],
    }

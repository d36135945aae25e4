"""A computation as a graph of small matrices: values flow forward, gradients come back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of

KINDS = ("input", "learned", "step", "loss")


@dataclass(frozen=True)
class GraphNode:
    """One matrix of a computation, drawn around the place (x, y) in units of a cell.

    ``value`` and ``gradient`` are matrices of the same shape; a node without a gradient gets none.
    ``text`` says in one sentence how the value was made.
    """

    name: str
    label: str
    kind: str
    x: float
    y: float
    value: np.ndarray
    gradient: np.ndarray | None = None
    text: str = ""


@dataclass(frozen=True)
class GraphStep:
    """One step of the play: the node that appears, its value or its gradient, and a sentence."""

    node: str
    backward: bool
    caption: str


def graph_view(
    nodes: Sequence[GraphNode],
    edges: Sequence[tuple[str, str]],
    steps: Sequence[GraphStep],
    *,
    key: str,
    step: int,
    value_label: str,
    gradient_label: str,
    scale_note: str,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw a computation and return the step that the learner settled on.

    ``edges`` run from operand to result. A click on a node goes to the step of its gradient, or to
    that of its value. ``scale_note`` says what the colours mean. Raises ValueError for data that
    do not fit.
    """
    payload = graph_payload(nodes, edges, steps)
    payload |= {"value": value_label, "gradient": gradient_label, "scale": scale_note}
    reported = mount("graph_view", payload, key=key, state="step", start=step, on_change=on_change)
    return place_of(reported, len(steps), step)


def graph_payload(
    nodes: Sequence[GraphNode], edges: Sequence[tuple[str, str]], steps: Sequence[GraphStep]
) -> dict[str, Any]:
    """Return what a graph is sent, checked."""
    names = [node.name for node in nodes]
    if len(set(names)) != len(names) or not names:
        raise ValueError("the names of nodes must differ, and there must be one at least")
    for start, end in edges:
        if start not in names or end not in names:
            raise ValueError(f"the edge {start} → {end} has an end that is no node")
    for step in steps:
        if step.node not in names:
            raise ValueError(f"a step names {step.node!r}, which is no node")
    return {
        "nodes": [_described(node) for node in nodes],
        "edges": [list(edge) for edge in edges],
        "steps": [
            {"node": step.node, "backward": step.backward, "caption": step.caption}
            for step in steps
        ],
    }


def _described(node: GraphNode) -> dict[str, Any]:
    if node.kind not in KINDS:
        raise ValueError(f"{node.name}: kind must be one of {', '.join(KINDS)}; got {node.kind!r}")
    value = np.asarray(node.value, np.float32)
    if value.ndim != 2:
        raise ValueError(f"{node.name}: a value has two dimensions; got {value.shape}")
    gradient = None if node.gradient is None else np.asarray(node.gradient, np.float32)
    if gradient is not None and gradient.shape != value.shape:
        raise ValueError(
            f"{node.name}: a gradient has the shape of its value {value.shape}; "
            f"got {gradient.shape}"
        )
    return {
        "name": node.name,
        "label": node.label,
        "kind": node.kind,
        "x": node.x,
        "y": node.y,
        "text": node.text,
        "value": value,
        "gradient": gradient,
    }

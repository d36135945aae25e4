"""The small network as a graph: the place of each value, and the order of the computation."""

from typing import Any

from llmviz.course.components.graph_view.view import GraphNode, GraphStep
from llmviz.course.lessons.training.backprop import words

PLACES = {
    "X": (42, 217),
    "W_Q": (130, 74),
    "q": (222, 74),
    "W_K": (130, 217),
    "K": (222, 217),
    "W_V": (130, 360),
    "V": (222, 360),
    "scores": (302, 142),
    "scaled": (370, 142),
    "weights": (440, 142),
    "a": (522, 252),
    "W1": (600, 117),
    "z": (600, 252),
    "h": (668, 252),
    "W2": (738, 117),
    "f": (738, 252),
    "W_out": (826, 117),
    "logits": (826, 252),
    "p": (908, 252),
    "loss": (966, 252),
}
# Result and operands of every step, in the order in which it is computed.
FORWARD = {
    "q": ("x", "W_Q"),
    "K": ("X", "W_K"),
    "V": ("X", "W_V"),
    "scores": ("q", "K"),
    "scaled": ("scores",),
    "weights": ("scaled",),
    "a": ("weights", "V"),
    "z": ("a", "W1"),
    "h": ("z",),
    "f": ("h", "W2"),
    "logits": ("f", "W_out"),
    "p": ("logits",),
    "loss": ("p",),
}
BACKWARD = (
    *("logits", "W_out", "f", "W2", "h", "z", "W1", "a", "weights", "V", "W_V"),
    *("scaled", "scores", "q", "W_Q", "K", "W_K", "X"),
)
Values = dict[str, Any]


def graph(values: Values, d: Values) -> tuple[list[GraphNode], list[tuple[str, str]]]:
    """Return the nodes and edges of the network with its values and gradients."""
    learned = ("W_Q", "W_K", "W_V", "W1", "W2", "W_out")
    nodes = []
    for name, (x, y) in PLACES.items():
        kind = "learned" if name in learned else "step"
        kind = {"X": "input", "loss": "loss"}.get(name, kind)
        gradient = d.get(name) if name in BACKWARD else None
        value = values[name].numpy()
        gradient_cells = None if gradient is None else gradient.numpy()
        nodes.append(
            GraphNode(
                name, words.nodes[name], kind, x, y, value, gradient_cells, caption(name, values)
            )
        )
    edges = [
        ("X" if operand == "x" else operand, name)
        for name, operands in FORWARD.items()
        for operand in operands
    ]
    return nodes, edges


def steps(values: Values) -> list[GraphStep]:
    """Return the play: values forward, then gradients backward."""
    forth = [GraphStep(name, False, caption(name, values)) for name in FORWARD]
    return forth + [GraphStep(name, True, words.backward[name]) for name in BACKWARD]


def caption(name: str, values: Values) -> str:
    """Return the sentence on how a value came about."""
    p = float((values["p"] * values["target"]).sum())
    return words.forward.get(name, words.weights).format(p=p, loss=float(values["loss"]))

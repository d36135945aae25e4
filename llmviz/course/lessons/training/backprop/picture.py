"""Each step of the small network as matrices whose cells open."""

from typing import Any

import numpy as np

from llmviz.course.components._shared import cell_operations as ops
from llmviz.course.components.matrix_view.view import Matrix
from llmviz.course.lessons.training.backprop import words
from llmviz.course.lessons.training.backprop.graph import FORWARD, Values

ROLES = {"q": "query", "K": "key", "V": "value", "weights": "weights"}
# ∂ of the left is (turned matrix) times (∂ of the right), as an outer product.
OUTER = {
    "W_out": ("f", "logits"),
    "W2": ("h", "f"),
    "W1": ("a", "z"),
    "V": ("weights", "a"),
    "W_V": ("X", "V"),
    "W_Q": ("x", "q"),
    "K": ("scores", "q"),
    "W_K": ("X", "K"),
}
# ∂ of the left is (∂ of the middle) times (the matrix on the right, turned).
THROUGH = {
    "f": ("logits", "W_out"),
    "h": ("f", "W2"),
    "a": ("z", "W1"),
    "weights": ("a", "V"),
}


class Picture:
    """Matrices that explain one step, in the order in which they are laid out."""

    def __init__(self, values: Values, d: Values) -> None:
        self.values, self.d = values, d
        self.matrices: list[Matrix] = []
        self.layout: list[str | None] = []

    def value(self, name: str, op: ops.Op | None = None, formula: str = "") -> str:
        """Add a value of the forward pass."""
        return self._add(name, self.values[name], _label(name), op, formula, ROLES.get(name))

    def gradient(self, name: str, op: ops.Op | None = None, formula: str = "") -> str:
        return self._add(f"∂{name}", self.d[name], f"∂{_label(name)}", op, formula, "accent", name)

    def other(self, name: str, values: Any, op: ops.Op | None = None, like: str = "") -> str:
        """Add a matrix that has no node of its own."""
        label = words.labels.get(name, name)
        return self._add(name, values, label, op, words.formulas.get(name, ""), None, like)

    def turned(self, name: str, *, of_gradient: bool = False) -> str:
        """Add a matrix with rows and columns exchanged."""
        return self._add(
            f"{name} turned",
            (self.d if of_gradient else self.values)[name].T,
            f"{'∂' if of_gradient else ''}{_label(name)}ᵀ",
            None,
            words.formulas["transposed"],
            "accent" if of_gradient else ROLES.get(name),
            transposed=name,
        )

    def sign(self, glyph: str) -> None:
        """Put a sign between two matrices."""
        self.layout.append(glyph)

    def _add(
        self,
        name: str,
        values: Any,
        label: str,
        op: ops.Op | None,
        formula: str,
        role: str | None,
        like: str = "",
        transposed: str = "",
    ) -> str:
        if name not in {matrix.name for matrix in self.matrices}:
            cells = np.asarray(values)
            rows, columns = _names(like or name, cells.shape)
            if transposed:
                columns, rows = _names(transposed, cells.shape[::-1])
            self.matrices.append(
                Matrix(
                    name,
                    cells,
                    label,
                    formula,
                    row_labels=rows,
                    col_labels=columns,
                    role=role or "neutral",
                    op=op,
                )
            )
        self.layout.append(name)
        return name


def _label(name: str) -> str:
    return {"x": "x of sat", "q": "q"}.get(name, words.nodes.get(name, name))


def _names(name: str, shape: tuple[int, int]) -> tuple[list[str], list[str]]:
    tokens, wide = list(words.tokens), [str(i) for i in range(shape[1])]
    if name in ("X", "K", "V") or name.startswith("X by"):
        return tokens, wide
    if name in ("scores", "scaled", "weights", "centred"):
        return [tokens[-1]], tokens
    if name.startswith("W"):
        return [str(i) for i in range(shape[0])], wide
    return [tokens[-1]] * shape[0] if shape[0] == 1 else [str(i) for i in range(shape[0])], wide


def forward_step(name: str, values: Values, target: int) -> Picture:
    picture = Picture(values, {})
    if name == "q":
        picture.value("X")
        picture.value("x", ops.lookup("X", [len(words.tokens) - 1]))
    for place, operand in enumerate(FORWARD[name]):
        if name == "q" and operand == "x":
            continue
        if place:
            picture.sign("×")
        picture.value(operand)
    picture.sign("→" if len(FORWARD[name]) == 1 else "=")
    operands = FORWARD[name]
    match name:
        case "scores":
            picture.value(name, ops.matmul(*operands, transpose_b=True))
        case "scaled":
            picture.value(name, ops.scaled("scores", 0.5, "÷ √4"))
        case "weights" | "p":
            picture.value(name, ops.softmax_rows(*operands))
        case "h":
            picture.value(name, ops.function("z", "ReLU"))
        case "loss":
            picture.other("p of the token", values["p"][:, [target]], ops.picked("p", [target]))
            picture.sign("→")
            picture.value(name, ops.function("p of the token", "−ln"))
        case _:
            picture.value(name, ops.matmul(*operands))
    return picture


def backward_step(name: str, values: Values, d: Values) -> Picture:
    """Return the matrices that make one gradient: upstream, local, and by hand."""
    picture = Picture(values, d)
    if name in OUTER:
        local, up = OUTER[name]
        transposed = picture.turned(local, of_gradient=name == "K")
        picture.sign("×")
        upstream = picture.value(up) if name == "K" else picture.gradient(up)
        picture.sign("=")
        picture.gradient(name, ops.matmul(transposed, upstream))
    elif name in THROUGH:
        up, local = THROUGH[name]
        upstream = picture.gradient(up)
        picture.sign("×")
        picture.value(local)
        picture.sign("=")
        picture.gradient(name, ops.matmul(upstream, local, transpose_b=True))
    else:
        _special(picture, name)
    return picture


def _special(picture: Picture, name: str) -> None:
    values, d = picture.values, picture.d
    match name:
        case "logits":
            picture.value("p")
            picture.sign("+")
            picture.other("minus y", -values["target"], like="p")
            picture.sign("=")
            picture.gradient(name, ops.add("p", "minus y"))
        case "z":
            picture.value("z")
            picture.sign("→")
            picture.other("open", d["open"], ops.function("z", "above 0? "), like="z")
            picture.sign("×")
            picture.gradient("h")
            picture.sign("=")
            picture.gradient(name, ops.multiply("open", "∂h"))
        case "scaled":
            picture.gradient("weights")
            picture.value("weights")
            picture.other("dot", d["dot"], ops.matmul("∂weights", "weights", transpose_b=True))
            picture.other("minus dot", -d["dot"], ops.scaled("dot", -1, "× (−1)"))
            picture.other("centred", d["centred"], ops.add("∂weights", "minus dot"), like="weights")
            picture.gradient(name, ops.multiply("weights", "centred"))
        case "scores":
            picture.gradient("scaled")
            picture.sign("→")
            picture.gradient(name, ops.scaled("∂scaled", 0.5, "÷ √4"))
        case "q":
            picture.gradient("scores")
            picture.sign("×")
            picture.value("K")
            picture.sign("=")
            picture.gradient(name, ops.matmul("∂scores", "K"))
        case "X":
            parts = ("X by q", "X by K", "X by V")
            for place, part in enumerate(parts):
                if place:
                    picture.sign("+")
                picture.other(part, d[part], like="X")
            picture.sign("=")
            picture.gradient(name, ops.add(*parts))

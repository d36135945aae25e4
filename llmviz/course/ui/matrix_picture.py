"""A picture of linked matrices, and the parts of a transformer in it: products, turns, attention.

Their words are those of all lessons that draw them. T time, C width, D head size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from llmviz.course import components as lv
from llmviz.files.text import whole_number
from llmviz.nn.attention.steps import AttentionSteps

ASKING_AXIS = "token that asks"
ASKED_AXIS = "token that is asked"
TAKES = "“{asking}” takes {share} from “{asked}”."
TAKES_SELF = "“{asking}” takes most, {share}, from itself."
MASK_REASON = "it lies ahead"
WINDOW_REASON = "it lies ahead or outside the window"
MASKED_FORMULA = "−∞ where forbidden"
WEIGHTS_FORMULA = "softmax of each row"
KEPT_FORMULA = "1 = kept"
DROPPED_FORMULA = "kept ÷ (1 − p)"
FIRST_SOFTMAX = "softmax first"
THEN_MASK = "then masked"
MASK_LABEL = "mask"
TURNED = "turned"
TURNED_FORMULA = "{name} turned by angle"
ANGLE_FORMULA = "position × speed, radians"


Names = list[list[str | None]]
Scale = tuple[float, str]  # what scores are multiplied by, and how that is written
SEEN = 4  # numbers of a long axis that are seen at once
WHOLE = 8  # numbers of an axis that is drawn whole
ROLE_OF = {"Q": "query", "K": "key", "V": "value"}
BINARY: dict[str, Any] = {"scale": "sequential", "limit": 1.0}  # how zeros and ones are drawn


def scale_of(d: int) -> Scale:
    """Return the right scale of a head of size d, and how it is written."""
    return 1 / math.sqrt(d), f"÷ √{d}"


@dataclass
class Picture:
    """What `matrix_view` is given."""

    matrices: list[lv.Matrix] = field(default_factory=list)
    layout: Names = field(default_factory=list)
    steps: list[tuple[list[str], str]] = field(default_factory=list)
    windows: dict[str, lv.Window] = field(default_factory=dict)

    def window(self, name: str, size: int) -> str:
        """Open a window on an axis too long to be drawn; return its name, else nothing."""
        if size <= WHOLE:
            return ""
        self.windows[name] = lv.Window(size, SEEN)
        return name

    def add(self, name: str, values: Tensor, label: str = "", formula: str = "", **more) -> None:
        array = values.detach().numpy()
        self.matrices.append(lv.Matrix(name, array, label or name, formula, **more))

    def step(self, names: Sequence[str], caption: str) -> None:
        """Add a step in which these matrices appear."""
        self.steps.append((list(names), caption))

    def matrix(self, name: str) -> lv.Matrix:
        """The matrix of a name; KeyError where there is none."""
        return {matrix.name: matrix for matrix in self.matrices}[name]


def read_windows(written: str, windows: dict[str, lv.Window]) -> dict[str, lv.Window]:
    """Return the windows where a link ("C.96,D.12") wants them, as far as it fits."""
    moved = dict(windows)
    for part in written.split(","):
        name, _, at = part.partition(".")
        place = whole_number(at)
        if name in moved and place is not None:
            window = moved[name]
            moved[name] = lv.Window(window.size, window.show, min(place, window.size - window.show))
    return moved


def linear(
    picture: Picture,
    name: str,
    values: Tensor,
    read: str,
    weight: tuple[str, Tensor],
    bias: tuple[str, Tensor] | None,
    seen: tuple[str, str],
    formula: str | None = None,
    **more,
) -> list[str]:
    """Add a matrix, its bias if it has one, and what is read times them.

    values (T, D); read: the name of what is read, (T, C). weight: its name and (C, D); bias: its
    name and (1, D). seen: the windows of C and D. formula: what stands behind the result's name,
    the product if not given. more: how all three are drawn, `row_labels` for the result alone.
    Returns the names of what was added.
    """
    c, n = seen
    rows = {"row_labels": more.pop("row_labels", ())}
    names = [weight[0]]
    picture.add(*weight, windows=(c, n), **more)
    if bias is not None:
        names.append(bias[0])
        picture.add(*bias, windows=("", n), **more)
    op = lv.matmul(read, weight[0], bias=None if bias is None else bias[0])
    if formula is None:
        formula = f"{read} · {' + '.join(names)}"
    picture.add(name, values, name, formula, op=op, windows=("", n), **rows, **more)
    return [*names, name]


def project(
    picture: Picture,
    letter: str,
    values: Tensor,
    read: str,
    tokens: Sequence[str],
    learned: tuple[Tensor, Tensor | None],
    seen: tuple[str, str],
    formula: str | None = None,
) -> list[str]:
    """Add W and b of the queries, keys or values (letter Q, K or V), and these: see `linear`."""
    weight, bias = learned
    biased = None if bias is None else (f"b_{letter}", bias)
    more = {"role": ROLE_OF[letter], "row_labels": tokens}
    own = (f"W_{letter}", weight)
    return linear(picture, letter, values, read, own, biased, seen, formula, **more)


def turn(
    picture: Picture,
    tokens: Sequence[str],
    angles: Tensor,
    speeds: Tensor,
    pairs: Sequence[tuple[str, str, Tensor]],
    n: str = "",
) -> None:
    """Add how far each position turns, and queries and keys turned.

    angles (T, D/2) in radians, speeds (1, D/2) in radians a position. pairs: (name of the matrix
    before, its role, what the model made of it). n: their window.
    """
    rows, half = {"row_labels": tokens}, angles.shape[1]
    if "angle" not in {matrix.name for matrix in picture.matrices}:
        seen = picture.window("half", half)
        picture.add("position", torch.arange(len(tokens))[:, None])
        picture.add("speed", speeds)
        op = lv.multiply("position", "speed")
        formula = ANGLE_FORMULA
        picture.add("angle", angles, "angle", formula, op=op, windows=("", seen), **rows)
    for name, role, values in pairs:
        op, label = lv.turned(name, "angle"), turned(name)
        text = TURNED_FORMULA.format(name=name)
        picture.add(label, values, label, text, role=role, op=op, windows=("", n), **rows)


def turned(name: str) -> str:
    """What queries or keys are called once they are turned."""
    return f"{name} {TURNED}"


def takes(tokens: Sequence[str], weights: np.ndarray, sources: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each row of weights (T, S): which token it takes most from."""
    columns = sources or tokens
    lines = []
    for i, row in enumerate(weights):
        j = int(row.argmax())
        own = not sources and i == j
        line = TAKES_SELF if own else TAKES
        lines.append(line.format(asking=tokens[i], share=f"{row[j]:.0%}", asked=columns[j]))
    return lines


@dataclass(frozen=True, eq=False)
class Way:
    """How scores become weights.

    scale: the factor and how it is written. masked: why a cell is forbidden; empty without a mask.
    dropout: the share struck out; kept: which weights were not (T, T). before: the softmax taken
    before the mask, as in `attention`.
    """

    scale: Scale | None
    masked: str = ""
    dropout: float = 0.0
    before: str | None = None
    kept: Tensor | None = None


def weights_to_output(
    picture: Picture,
    tokens: Sequence[str],
    steps: AttentionSteps,
    values: str,
    *,
    operands: tuple[str, str],
    way: Way,
    mark: str = "",
    asked: Sequence[str] = (),
) -> None:
    """Add scores, scaled, masked, weights, dropped and context of one head.

    operands: names of queries and keys. mark: put behind every name. asked: tokens of another
    sequence, if keys and values are its.
    """
    masked, dropout, before = way.masked, way.dropout, way.before
    square = {
        "row_labels": tokens,
        "col_labels": asked or tokens,
        "row_axis": ASKING_AXIS,
        "col_axis": ASKED_AXIS,
    }
    op = lv.matmul(*operands, transpose_b=True)
    last = f"scores{mark}"
    q, k = (picture.matrix(name).label for name in operands)
    picture.add(last, steps.scores, last, f"{q} · {k}ᵀ", op=op, **square)
    if way.scale:
        op = lv.scaled(last, *way.scale)
        last = f"scaled{mark}"
        picture.add(last, steps.scaled, last, f"scores {way.scale[1]}", op=op, **square)
    if before is not None:
        last = _softmax_first(picture, steps, last, before, masked, mark, square)
    else:
        if masked:
            op, last = lv.masked(last, masked), f"masked{mark}"
            picture.add(last, steps.masked, last, MASKED_FORMULA, op=op, **square)
        op, last = lv.softmax_rows(last), f"weights{mark}"
        notes = takes(tokens, steps.weights.numpy(), asked)
        shares = {"role": "weights", "limit": 1.0, "row_sums": True, **square}
        picture.add(last, steps.weights, last, WEIGHTS_FORMULA, op=op, notes=notes, **shares)
    if dropout:
        assert way.kept is not None
        text = KEPT_FORMULA
        picture.add(
            f"kept{mark}", way.kept.to(steps.weights), f"kept{mark}", text, **BINARY, **square
        )
        op = lv.dropout(last, f"kept{mark}", dropout)
        last = f"dropped{mark}"
        shares = {"role": "weights", "limit": 1 / (1 - dropout), "row_sums": True, **square}
        picture.add(last, steps.dropped, last, DROPPED_FORMULA, op=op, **shares)
    picture.add(
        f"context{mark}",
        steps.output,
        f"context{mark}",
        f"{last} · {picture.matrix(values).label}",
        role="value",
        op=lv.matmul(last, values),
        row_labels=tokens,
        windows=("", picture.matrix(values).windows[1]),
    )


def _softmax_first(
    picture: Picture,
    steps: AttentionSteps,
    last: str,
    before: str,
    masked: str,
    mark: str,
    square: dict,
) -> str:
    """Add the mistake of a softmax before the mask; return the name of the weights."""
    first = steps.scaled.softmax(-1)
    shares = {"role": "weights", "limit": 1.0, "row_sums": True, **square}
    picture.add(f"softmax{mark}", first, FIRST_SOFTMAX, op=lv.softmax_rows(last), **shares)
    if before == "softmax_again":
        op = lv.masked(f"softmax{mark}", masked)
        picture.add(f"masked{mark}", steps.masked, THEN_MASK, op=op, **square)
        op = lv.softmax_rows(f"masked{mark}")
    else:
        allowed = (steps.masked != 0).to(first.dtype)
        picture.add(f"mask{mark}", allowed, MASK_LABEL, **BINARY, **square)
        op = lv.multiply(f"softmax{mark}", f"mask{mark}")
        if before == "renormalise":
            picture.add(f"masked{mark}", steps.masked, THEN_MASK, op=op, **shares)
            op = lv.rows_normalised(f"masked{mark}")
    picture.add(f"weights{mark}", steps.weights, "weights", op=op, **shares)
    return f"weights{mark}"

"""Steps of attention as linked matrices, each with the operation that made it.

T time, C width, D head size, H heads, N = H·D.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor

from llmviz.nn.attention.ladder import MultiHeadSteps
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.ui import components as lv
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.sources import Inputs, heads_of

Names = list[list[str | None]]
Scale = tuple[float, str]  # what scores are multiplied by, and how that is written

MAPS = ("scores", "scaled", "softmax", "mask", "masked", "weights", "kept", "dropped", "context")


@dataclass
class Picture:
    """What `matrix_view` is given."""

    matrices: list[lv.Matrix] = field(default_factory=list)
    layout: Names = field(default_factory=list)
    steps: list[tuple[list[str], str]] = field(default_factory=list)

    def add(self, name: str, values: Tensor, label: str = "", formula: str = "", **more) -> None:
        """Add a matrix."""
        array = values.detach().numpy()
        self.matrices.append(lv.Matrix(name, array, label or name, formula, **more))

    def step(self, names: Sequence[str], caption: str) -> None:
        """Add a step in which these matrices appear."""
        self.steps.append((list(names), caption))

    def matrix(self, name: str) -> lv.Matrix:
        """The matrix of a name; KeyError where there is none."""
        return {matrix.name: matrix for matrix in self.matrices}[name]


def takes(tokens: Sequence[str], weights: np.ndarray, sources: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each row of weights (T, S): whom it takes most from."""
    asked = sources or tokens
    lines = []
    for i, row in enumerate(weights):
        j = int(row.argmax())
        own = not sources and i == j
        line = words.matrices.TAKES_SELF if own else words.matrices.TAKES
        lines.append(line.format(who=tokens[i], share=f"{row[j]:.0%}", whom=asked[j]))
    return lines


def weights_to_output(
    made: Picture,
    tokens: Sequence[str],
    steps: AttentionSteps,
    values: str,
    *,
    operands: tuple[str, str],
    scale: Scale | None,
    masked: str = "",
    dropout: float = 0.0,
    mark: str = "",
    before: str | None = None,
) -> None:
    """Add scores, scaled, masked, weights, dropped and context of one head.

    operands: names of queries and keys. scale: the factor and how it is written. masked:
    why a cell is forbidden; empty without a mask. mark: put behind every name. before: the
    softmax taken before the mask, as in `attention`.
    """
    square = {
        "row_labels": tokens,
        "col_labels": tokens,
        "row_axis": words.WHO_ASKS,
        "col_axis": words.WHO_IS_ASKED,
    }
    op = lv.matmul(*operands, transpose_b=True)
    last = f"scores{mark}"
    q, k = (made.matrix(name).label for name in operands)
    made.add(last, steps.scores, last, f"{q} · {k}ᵀ", op=op, **square)
    if scale:
        op = lv.scaled(last, *scale)
        last = f"scaled{mark}"
        made.add(last, steps.scaled, last, f"scores {scale[1]}", op=op, **square)
    if before is not None:
        last = _softmax_first(made, steps, last, before, mark, square)
    else:
        if masked:
            op, last = lv.masked(last, masked), f"masked{mark}"
            made.add(last, steps.masked, last, words.matrices.MASKED_FORMULA, op=op, **square)
        op, last = lv.softmax_rows(last), f"weights{mark}"
        notes = takes(tokens, steps.weights.numpy())
        shares = {"role": "weights", "limit": 1.0, "row_sums": True, **square}
        made.add(
            last, steps.weights, last, words.matrices.WEIGHTS_FORMULA, op=op, notes=notes, **shares
        )
    if dropout:
        kept = ((steps.dropped != 0) | (steps.weights == 0)).to(steps.weights.dtype)
        made.add(f"kept{mark}", kept, f"kept{mark}", words.matrices.KEPT_FORMULA, **square)
        op = lv.dropout(last, f"kept{mark}", dropout)
        last = f"dropped{mark}"
        shares = {"role": "weights", "limit": 1 / (1 - dropout), "row_sums": True, **square}
        made.add(last, steps.dropped, last, words.matrices.DROPPED_FORMULA, op=op, **shares)
    made.add(
        f"context{mark}",
        steps.output,
        f"context{mark}",
        f"{last} · {made.matrix(values).label}",
        role="value",
        op=lv.matmul(last, values),
        row_labels=tokens,
    )


def _softmax_first(
    made: Picture, steps: AttentionSteps, last: str, before: str, mark: str, square: dict
) -> str:
    """Add the mistake of a softmax before the mask; return the name of the weights."""
    first = steps.scaled.softmax(-1)
    shares = {"role": "weights", "limit": 1.0, "row_sums": True, **square}
    made.add(
        f"softmax{mark}", first, words.matrices.FIRST_SOFTMAX, op=lv.softmax_rows(last), **shares
    )
    if before == "softmax_again":
        op = lv.masked(f"softmax{mark}", words.matrices.MASK_REASON)
        made.add(f"masked{mark}", steps.masked, words.matrices.THEN_MASK, op=op, **square)
        op = lv.softmax_rows(f"masked{mark}")
    else:
        allowed = (steps.masked != 0).to(first.dtype)
        made.add(f"mask{mark}", allowed, words.matrices.MASK_LABEL, **square)
        op = lv.multiply(f"softmax{mark}", f"mask{mark}")
        if before == "renormalise":
            made.add(f"masked{mark}", steps.masked, words.matrices.THEN_MASK, op=op, **shares)
            op = lv.rows_normalised(f"masked{mark}")
    made.add(f"weights{mark}", steps.weights, "weights", op=op, **shares)
    return f"weights{mark}"


def projections(made: Picture, inputs: Inputs) -> None:
    """Add X, the three matrices and Q, K, V; of wide models Q, K and V alone."""
    rows = {"row_labels": inputs.tokens}
    q, k, v = inputs.qkv()
    formula = words.matrices.X_FORMULA_MODEL if inputs.name else words.matrices.X_FORMULA
    if not inputs.wide:
        made.add("X", inputs.x, "X", formula, role="residual", **rows)
    for place, (letter, role, values) in enumerate(
        zip("QKV", ("query", "key", "value"), (q, k, v), strict=True)
    ):
        op, text = None, f"X · W_{letter}"
        if not inputs.wide:
            made.add(f"W_{letter}", inputs.w[place], role=role)
            bias = None
            if inputs.b is not None:
                bias, text = f"b_{letter}", f"X · W_{letter} + b_{letter}"
                made.add(bias, inputs.b[place], role=role)
            op = lv.matmul("X", f"W_{letter}", bias=bias)
        made.add(letter, values, letter, text, role=role, op=op, **rows)


def one_head(
    inputs: Inputs, steps: AttentionSteps, scale: Scale, masked: str, dropout: float = 0.0, **more
) -> Picture:
    """Return one head: X to Q, K, V, scores, weights, context, laid out as they multiply."""
    made = Picture()
    projections(made, inputs)
    weights_to_output(
        made,
        inputs.tokens,
        steps,
        "V",
        operands=("Q", "K"),
        scale=scale,
        masked=masked,
        dropout=dropout,
        **more,
    )
    names = [matrix.name for matrix in made.matrices]
    made.layout = _laid_out([n for n in names if n in MAPS], inputs.wide)
    _captions(made, inputs, names, scale, masked)
    return made


def _laid_out(maps: list[str], wide: bool) -> Names:
    """The projections in columns on the left, the maps of a head in the order of the steps."""
    if wide:
        rows: Names = [["Q"], ["K"], ["V"], [None]]
        for at, name in enumerate(maps):
            rows[at // 2].append(name)
        return [row for row in rows if len(row) > 1 or row != [None]]
    left = [["X", "W_Q", "Q"], [None, "W_K", "K"], [None, "W_V", "V"]]
    rows = [[*row, name] for row, name in zip(left, maps, strict=False)]
    rest = [*maps[3:]]
    return [*rows, [None] * (4 - len(rest)) + rest] if rest else rows


def _captions(made: Picture, inputs: Inputs, names: list[str], scale: Scale, masked: str) -> None:
    say = words.matrices.STEPS
    if inputs.wide:
        made.step(["Q", "K", "V"], say["wide"].format(width=inputs.x.shape[1]))
    else:
        made.step(["X"], say["X"].format(count=len(inputs.tokens), width=inputs.x.shape[1]))
        for letter in "QKV":
            made.step([f"W_{letter}", letter], say[letter])
    made.step(["scores"], say["scores"])
    for name in names:
        if name in ("scaled", "masked", "softmax", "weights", "dropped", "context"):
            also = {"dropped": ["kept"], "weights": ["mask"]}.get(name, [])
            present = [name, *(n for n in also if n in names)]
            made.step(present, say[name].format(scale=scale[1], masked=masked))


def simplified(inputs: Inputs, steps: AttentionSteps) -> Picture:
    """Return self-attention without learned matrices."""
    made = Picture()
    made.add(
        "X", inputs.x, "X", words.matrices.X_FORMULA, role="residual", row_labels=inputs.tokens
    )
    weights_to_output(made, inputs.tokens, steps, "X", operands=("X", "X"), scale=None)
    made.layout = [["X", "scores", "weights", "context"]]
    if inputs.wide:
        made.layout = [["scores", "weights"]]
    say = words.matrices.STEPS
    made.step(["X"], say["X"].format(count=len(inputs.tokens), width=inputs.x.shape[1]))
    for name in ("scores", "weights", "context"):
        made.step([name], say[f"simple {name}"])
    return made


def many_heads(
    inputs: Inputs,
    steps: MultiHeadSteps,
    n_head: int,
    scale: Scale,
    off: frozenset[int] = frozenset(),
) -> Picture:
    """Return several heads side by side, then their concatenation and projection."""
    made = Picture()
    projections(made, inputs)
    rows = {"row_labels": inputs.tokens}
    split, parts = [], dict(zip("QKV", (steps.q, steps.k, steps.v), strict=True))
    d = steps.q.shape[-1]
    for h in range(n_head):
        for letter, role in zip("QKV", ("query", "key", "value"), strict=True):
            name = f"{letter}{_small(h)}"
            op = lv.columns(letter, h * d)
            text = words.matrices.COLUMNS.format(first=h * d, last=(h + 1) * d - 1, of=letter)
            limit = float(made.matrix(letter).values.__abs__().max()) or 1.0
            made.add(name, parts[letter][h], name, text, role=role, op=op, limit=limit, **rows)
            split.append(name)
    for h in range(n_head):
        mark = _small(h)
        one = AttentionSteps(*(step[h] for step in steps.attention))
        weights_to_output(
            made,
            inputs.tokens,
            one,
            f"V{mark}",
            operands=(f"Q{mark}", f"K{mark}"),
            scale=scale,
            masked=words.matrices.MASK_REASON,
            mark=mark,
        )
    last = _joined(made, inputs, steps, n_head, off)
    made.layout = [["X", "W_Q", "Q"], [None, "W_K", "K"], [None, "W_V", "V"]]
    if inputs.wide:
        made.layout = [
            [f"{name}{_small(h)}" for h in range(n_head)] for name in ("scores", "weights")
        ]
    for h in range(0 if inputs.wide else n_head):
        m = _small(h)
        row = [f"Q{m}", f"K{m}", f"V{m}", f"scores{m}", f"weights{m}", f"context{m}"]
        made.layout.append(row)
    if not inputs.wide:
        made.layout.append(last)
    say = words.matrices.STEPS
    made.step(["X", *(f"{w}{x}" for x in "QKV" for w in ("W_", ""))], say["all qkv"])
    made.step(split, say["split"].format(heads=n_head, size=d, width=d * n_head))
    for name in ("scores", "weights", "context"):
        made.step([f"{name}{_small(h)}" for h in range(n_head)], say[f"heads {name}"])
    made.step(last, say["joined"])
    return made


def _joined(
    made: Picture, inputs: Inputs, steps: MultiHeadSteps, n_head: int, off: frozenset[int]
) -> list[str]:
    rows = {"row_labels": inputs.tokens}
    names = [f"context{_small(h)}" for h in range(n_head)]
    op = None if off else lv.concat(*names)
    made.add(
        "concat", steps.concat, "concat", words.matrices.CONCAT_FORMULA, role="value", op=op, **rows
    )
    if inputs.projection is None or inputs.wide:
        return ["concat"]
    w_o, bias = inputs.projection
    made.add("W_O", w_o, role="residual")
    if bias is not None:
        made.add("b_O", bias, role="residual")
    op = lv.matmul("concat", "W_O", bias=None if bias is None else "b_O")
    output = steps.concat @ w_o + (0 if bias is None else bias)
    made.add("output", output, "output", "concat · W_O", role="residual", op=op, **rows)
    return ["concat", "W_O", "output"]


def reshape(values: Tensor, tokens: Sequence[str], n_head: int) -> Picture:
    """Return Q whole (T, N) and as heads (H, T, D), with one colour scale."""
    made = Picture()
    d = values.shape[1] // n_head
    limit = float(values.abs().max()) or 1.0
    rows = {"row_labels": tokens, "role": "query", "limit": limit}
    labels = [words.matrices.OF_HEAD.format(head=column // d) for column in range(values.shape[1])]
    labels = labels if values.shape[1] <= 12 else []
    made.add("Q", values, "Q", "(T, C)", col_labels=labels, **rows)
    for h, part in enumerate(heads_of(values, n_head)):
        name = f"Q{_small(h)}"
        text = words.matrices.COLUMNS.format(first=h * d, last=(h + 1) * d - 1, of="Q")
        made.add(name, part, name, text, op=lv.columns("Q", h * d), **rows)
    return made


def _small(n: int) -> str:
    """A number as subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(n))

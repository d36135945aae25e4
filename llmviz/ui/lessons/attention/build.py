"""The rungs of the ladder as pictures: one head, several, and the cut of a matrix into heads.

T time, C width, D head size, H heads, N = H·D.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from torch import Tensor

from llmviz.nn.attention import split_heads
from llmviz.nn.attention.ladder import MultiHeadSteps
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.ui import components as lv
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.picture import Names, Picture, Scale, weights_to_output
from llmviz.ui.lessons.attention.sources import Inputs

MAPS = ("scores", "scaled", "softmax", "mask", "masked", "weights", "kept", "dropped", "context")


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
    made.layout = _laid_out([n for n in names if n in MAPS], inputs)
    _captions(made, inputs, names, scale, masked)
    return made


def _laid_out(maps: list[str], inputs: Inputs) -> Names:
    """The projections in columns on the left, the maps of a head in the order of the steps."""
    if inputs.large:
        # What has a row for each token on the left, who asks whom on the right.
        left = ["Q", "K", "V", "context"]
        right = [name for name in maps if name != "context"]
        rows = [[a] * 3 + [b] * 3 for a, b in zip_longest(left, right)]
        above = [["X"] * 6, ["W_Q", "W_Q", "W_K", "W_K", "W_V", "W_V"]]
        return rows if inputs.wide else above + rows
    left_of = [["X", "W_Q", "Q"], [None, "W_K", "K"], [None, "W_V", "V"]]
    rows = [[*row, name] for row, name in zip(left_of, maps, strict=False)]
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
    if inputs.large:
        made.layout = [["X", "X"], ["scores", "weights"], ["context", "context"]]
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
    made.layout = _heads_laid_out(last, n_head, inputs.x.shape[1])
    say = words.matrices.STEPS
    made.step(["X", *(f"{w}{x}" for x in "QKV" for w in ("W_", ""))], say["all qkv"])
    made.step(split, say["split"].format(heads=n_head, size=d, width=d * n_head))
    for name in ("scores", "weights", "context"):
        made.step([f"{name}{_small(h)}" for h in range(n_head)], say[f"heads {name}"])
    made.step(last, say["joined"])
    return made


def _heads_laid_out(last: list[str], n_head: int, width: int) -> Names:
    """Small matrices one head below the other, large ones a column for each head."""
    parts, maps = ("Q", "K", "V"), ("scores", "weights", "context")
    marks = [_small(h) for h in range(n_head)]
    if width > 12:
        whole = [[name] * n_head for name in parts]
        heads = [[f"{name}{mark}" for mark in marks] for name in (*parts, *maps)]
        return [*whole, *heads, *([name] * n_head for name in last if name != "W_O")]
    rows: Names = [["X", "W_Q", "Q"], [None, "W_K", "K"], [None, "W_V", "V"]]
    for mark in marks:
        rows += [[f"{name}{mark}" for name in names] for names in (parts, maps)]
    return [*rows, last]


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
    for h, part in enumerate(split_heads(values, n_head)):
        name = f"Q{_small(h)}"
        text = words.matrices.COLUMNS.format(first=h * d, last=(h + 1) * d - 1, of="Q")
        made.add(name, part, name, text, op=lv.columns("Q", h * d), **rows)
    return made


def _small(n: int) -> str:
    """A number as subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(n))

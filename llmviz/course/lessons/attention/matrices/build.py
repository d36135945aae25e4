"""The variants of the variants as pictures: one head, several, and the cut of a matrix into heads.

Below them stands what is said of each step. T time, C width, D head size, H heads, N = H·D.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from llmviz.course import components as lv
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.matrices import layouts, words
from llmviz.course.ui import matrix_picture
from llmviz.course.ui.matrix_picture import (
    Picture,
    Scale,
    Way,
    project,
    scale_of,
    turn,
    turned,
    weights_to_output,
)
from llmviz.nn.attention import split_heads
from llmviz.nn.attention.steps import AttentionSteps
from llmviz.nn.attention.variants import MultiHeadSteps

SQUARE = ("scaled", "masked", "softmax", "weights", "dropped", "context")


def square_captions(scale: Scale, d: int, before: str | None) -> dict[str, str]:
    """Return what is said of each step from the scaled scores to the context.

    d: the head's size. before: the softmax taken before the mask, as in `attention`.
    """
    say, (factor, written) = words.steps, scale
    captions = {name: say[name] for name in SQUARE}
    right = math.isclose(factor, scale_of(d)[0])
    scaled = "scaled" if right else "not scaled" if factor == 1 else "scaled by width"
    captions["scaled"] = say[scaled].format(scale=written)
    if before is not None:
        captions["weights"] = say[f"weights {before}"]
    if before in ("leave", "renormalise"):
        captions["masked"] = say["masked shares"]
    return captions


def projections(picture: Picture, inputs: Inputs) -> None:
    """Add X, the three matrices, Q, K and V: its products, before anything turns them."""
    rows = {"row_labels": inputs.tokens}
    q, k, v = inputs.qkv()
    if inputs.plain is not None:
        q, k = inputs.plain
    formula = words.x_formula_model if inputs.name else words.x_formula
    c, n = picture.window("C", inputs.x.shape[1]), picture.window("N", q.shape[1])
    picture.add("X", inputs.x, "X", formula, role="residual", windows=("", c), **rows)
    biases = inputs.b or (None, None, None)
    for letter, values, weight, bias in zip("QKV", (q, k, v), inputs.w, biases, strict=True):
        project(picture, letter, values, "X", inputs.tokens, (weight, bias), (c, n))


def one_head(
    inputs: Inputs, steps: AttentionSteps, scale: Scale, masked: str, dropout: float = 0.0, **more
) -> Picture:
    """Return one head: X to Q, K, V, scores, weights, context, laid out as they multiply."""
    picture = Picture()
    projections(picture, inputs)
    q, k, _ = inputs.qkv()
    operands = ("Q", "K")
    if inputs.angles is not None and inputs.speeds is not None:
        pairs = [("Q", "query", q), ("K", "key", k)]
        turn(
            picture,
            inputs.tokens,
            inputs.angles,
            inputs.speeds,
            pairs,
            picture.matrix("Q").windows[1],
        )
        operands = (turned("Q"), turned("K"))
    weights_to_output(
        picture,
        inputs.tokens,
        steps,
        "V",
        operands=operands,
        way=Way(scale, masked, dropout, **more),
    )
    picture.layout = layouts.one_head(picture, inputs)
    _captions(picture, inputs, scale, more.get("before"))
    return picture


def _captions(picture: Picture, inputs: Inputs, scale: Scale, before: str | None) -> None:
    say, names = words.steps, [matrix.name for matrix in picture.matrices]
    picture.step(["X"], say["X"].format(count=len(inputs.tokens), width=inputs.x.shape[1]))
    for letter in "QKV":
        picture.step([f"W_{letter}", letter], say[letter])
    if inputs.angles is not None:
        picture.step(["angle", turned("Q"), turned("K")], say["turned"])
    picture.step(["scores"], say["scores"])
    captions = square_captions(scale, inputs.qkv()[0].shape[1], before)
    for name in names:
        if name in SQUARE:
            also = {"dropped": ["kept"], "weights": ["mask"]}.get(name, [])
            picture.step([name, *(n for n in also if n in names)], captions[name])


def simplified(inputs: Inputs, steps: AttentionSteps) -> Picture:
    """Return self-attention without learned matrices."""
    picture = Picture()
    c = picture.window("C", inputs.x.shape[1])
    rows = {"row_labels": inputs.tokens, "windows": ("", c)}
    picture.add("X", inputs.x, "X", words.x_formula, role="residual", **rows)
    weights_to_output(picture, inputs.tokens, steps, "X", operands=("X", "X"), way=Way(None))
    picture.layout = [["X", "scores", "weights", "context"]]
    if inputs.name:
        picture.layout = [["X", "scores"], ["context", "weights"]]
    say = words.steps
    picture.step(["X"], say["X"].format(count=len(inputs.tokens), width=inputs.x.shape[1]))
    for name in ("scores", "weights", "context"):
        picture.step([name], say[f"simple {name}"])
    return picture


def many_heads(
    inputs: Inputs,
    steps: MultiHeadSteps,
    n_head: int,
    scale: Scale,
    off: frozenset[int] = frozenset(),
    masked: str = matrix_picture.MASK_REASON,
    **more,
) -> Picture:
    """Return several heads side by side, then their concatenation and projection."""
    picture = Picture()
    projections(picture, inputs)
    d, marks = steps.q.shape[-1], [_small(h) for h in range(n_head)]
    rows = {"row_labels": inputs.tokens}
    q, k, v = steps.q, steps.k, steps.v
    if inputs.plain is not None:
        q, k = (split_heads(part, n_head) for part in inputs.plain)
    split = []
    for h, mark in enumerate(marks):
        for letter, role, part in zip("QKV", ("query", "key", "value"), (q, k, v), strict=True):
            name = f"{letter}{mark}"
            op = lv.columns(letter, h * d)
            text = _columns(h, d, letter)
            limit = float(picture.matrix(letter).values.__abs__().max()) or 1.0
            picture.add(name, part[h], name, text, role=role, op=op, limit=limit, **rows)
            split.append(name)
        if inputs.angles is not None and inputs.speeds is not None:
            pairs = [(f"Q{mark}", "query", steps.q[h]), (f"K{mark}", "key", steps.k[h])]
            turn(picture, inputs.tokens, inputs.angles, inputs.speeds, pairs)
    for h, mark in enumerate(marks):
        read_as = str if inputs.angles is None else turned
        weights_to_output(
            picture,
            inputs.tokens,
            AttentionSteps(*(step[h] for step in steps.attention)),
            f"V{mark}",
            operands=(read_as(f"Q{mark}"), read_as(f"K{mark}")),
            way=Way(scale, masked, **more),
            mark=mark,
        )
    last = _joined(picture, inputs, steps, n_head, off)
    picture.layout = layouts.many_heads(picture, inputs, last, marks)
    say = words.steps
    picture.step(["X", *(f"{w}{x}" for x in "QKV" for w in ("W_", ""))], say["all qkv"])
    picture.step(split, say["split"].format(heads=n_head, size=d, width=d * n_head))
    if inputs.angles is not None:
        names = [turned(f"{letter}{mark}") for mark in marks for letter in "QK"]
        picture.step(["angle", *names], say["turned"])
    present = {matrix.name for matrix in picture.matrices}
    captions = square_captions(scale, d, more.get("before"))
    captions |= {name: say[f"heads {name}"] for name in ("scores", "softmax", "context")}
    if more.get("before") is None:
        captions |= {name: say[f"heads {name}"] for name in ("masked", "weights")}
    for name in ("scores", "scaled", "softmax", "masked", "weights", "context"):
        names = [f"{name}{mark}" for mark in marks if f"{name}{mark}" in present]
        if names:
            picture.step(names, captions[name])
    picture.step(last, say["joined"])
    return picture


def _joined(
    picture: Picture, inputs: Inputs, steps: MultiHeadSteps, n_head: int, off: frozenset[int]
) -> list[str]:
    names = [f"context{_small(h)}" for h in range(n_head)]
    op = None if off else lv.concat(*names)
    return joined(picture, inputs, steps.concat, op)


def joined(picture: Picture, inputs: Inputs, concat: Tensor, op: lv.Op | None, **more) -> list[str]:
    """Add the heads' answers side by side, W_O and what comes out of it; return their names.

    op: how the concatenation came to be. more: how it is drawn.
    """
    rows = {"row_labels": inputs.tokens}
    n, c = picture.window("N", concat.shape[1]), picture.window("C", inputs.x.shape[1])
    more = {"role": "value", "op": op, "windows": ("", n), **rows, **more}
    picture.add("concat", concat, "concat", words.concat_formula, **more)
    if inputs.projection is None:
        return ["concat"]
    w_o, bias = inputs.projection
    picture.add("W_O", w_o, role="residual", windows=(n, c))
    text = "concat · W_O"
    if bias is not None:
        text = "concat · W_O + b_O"
        picture.add("b_O", bias, role="residual", windows=("", c))
    op = lv.matmul("concat", "W_O", bias=None if bias is None else "b_O")
    output = inputs.output
    if output is None:
        output = concat @ w_o + (0 if bias is None else bias)
    picture.add("output", output, "output", text, role="residual", op=op, windows=("", c), **rows)
    return ["concat", "W_O", "output"]


def reshape(values: Tensor, tokens: Sequence[str], n_head: int) -> Picture:
    """Return Q whole (T, N) and as heads (H, T, D), with one colour scale."""
    picture = Picture()
    d = values.shape[1] // n_head
    limit = float(values.abs().max()) or 1.0
    rows = {"row_labels": tokens, "role": "query", "limit": limit}
    labels = [words.of_head.format(head=column // d) for column in range(values.shape[1])]
    labels = labels if values.shape[1] <= 12 else []
    picture.add("Q", values, "Q", "(T, C)", col_labels=labels, **rows)
    for h, part in enumerate(split_heads(values, n_head)):
        name = f"Q{_small(h)}"
        text = _columns(h, d, "Q")
        picture.add(name, part, name, text, op=lv.columns("Q", h * d), **rows)
    return picture


def cut_tokens(values: Tensor, tokens: Sequence[str], n_head: int, drawn: Sequence[int]) -> Picture:
    """Return the rows (T, N) of some tokens, each cut into heads: (H, D), with one colour scale."""
    picture = Picture()
    d = values.shape[1] // n_head
    limit = float(values.abs().max()) or 1.0
    rows = [words.of_head.format(head=head) for head in range(n_head)]
    for t in drawn:
        label = words.cut_token.format(token=tokens[t])
        text = words.cut_formula.format(token=t)
        more = {"row_labels": rows, "role": "query", "limit": limit}
        picture.add(f"cut{t}", values[t].reshape(n_head, d), label, text, **more)
    return picture


def _columns(head: int, d: int, of: str) -> str:
    """Which columns of a matrix a head of size d takes, in words."""
    line = words.column if d == 1 else words.columns
    return line.format(first=head * d, last=(head + 1) * d - 1, of=of)


def _small(n: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(n))

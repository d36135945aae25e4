"""The matrices of one step: from the input of the head to its gradient and its new weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared import cell_operations as ops
from llmviz.course.components.matrix_view.view import Matrix, Window
from llmviz.course.lessons.training.step import words
from llmviz.course.lessons.training.step.one_step import OneStep, StepChoice

SEEN = 12  # tokens that are drawn at once
TOKENS = "token"  # the window over the vocabulary

Steps = list[tuple[list[str], str]]


class Picture:
    """Matrices in the order of their making, and the captions under which they appear."""

    def __init__(self) -> None:
        self.matrices: list[Matrix] = []
        self.steps: Steps = []
        self.layout: list[list[str | None]] | None = None  # None: they flow

    def add(
        self,
        name: str,
        values: Any,
        label: str | Sequence[str],
        op: ops.Op | None = None,
        **more: Any,
    ) -> None:
        """Add a matrix with its label and formula; a number, or a row of them, becomes one."""
        cells = np.atleast_2d(np.asarray(values, dtype=np.float64))
        label, formula = (label, "") if isinstance(label, str) else label
        self.matrices.append(Matrix(name, cells, label, formula, op=op, **more))

    def caption(self, text: str, *names: str) -> None:
        """Let these matrices appear, with a sentence."""
        self.steps.append((list(names), text))


def windows_of(step: OneStep) -> dict[str, Window]:
    """The window over the vocabulary, where that is too long to be drawn."""
    size = len(step.names)
    return {TOKENS: Window(size, SEEN)} if size > SEEN else {}


def forward(step: OneStep, names: list[str]) -> Picture:
    """From what the head is given to the loss, and back to the head's gradient.

    names: the V tokens as they are visible.
    """
    picture, window = Picture(), TOKENS if windows_of(step) else ""
    b, t = step.ids.shape
    n, vocabulary = b * t, len(names)
    numbers = {
        "rows": b,
        "width": t,
        "positions": n,
        "vocabulary": vocabulary,
        "channels": step.head.shape[1],
    }

    def caption(key: str, *visible: str) -> None:
        picture.caption(words.forward_steps[key].format(**numbers), *visible)

    def read(row: int) -> list[str]:
        return [names[token] for token in step.ids[row]]

    wide: dict[str, Any] = {
        "col_labels": names,
        "windows": ("", window),
        "row_axis": words.position,
    }
    by_token: dict[str, Any] = {"row_labels": names, "windows": (window, "")}
    flat_rows = [f"{row + 1}: {name}" for row in range(b) for name in read(row)]
    hidden = [f"hidden {row + 1}" for row in range(b)]
    logits = [f"logits {row + 1}" for row in range(b)]
    for row in range(b):
        label, formula = (text.format(row=row + 1) for text in words.hidden)
        picture.add(hidden[row], step.hidden[row], (label, formula), row_labels=read(row))
    picture.add("head", step.head, words.labels["head"], role="value", **by_token)
    for row in range(b):
        named = [text.format(row=row + 1) for text in words.logits]
        op = ops.matmul(hidden[row], "head", transpose_b=True)
        picture.add(logits[row], step.logits[row], named, op, row_labels=read(row), **wide)
    caption("hidden", *hidden)
    caption("logits", "head", *logits)

    rows: dict[str, Any] = {"row_labels": flat_rows}
    flat = step.logits.reshape(n, vocabulary).astype(np.float64)
    targets = step.targets.reshape(-1)
    p = np.exp(flat - np.logaddexp.reduce(flat, axis=1, keepdims=True))
    chosen = p[np.arange(n), targets]
    picture.add("flat", flat, words.labels["flat"], ops.stacked(*logits), **rows, **wide)
    caption("flat", "flat")
    weights: dict[str, Any] = {"role": "weights"}
    picture.add("p", p, words.labels["p"], ops.softmax_rows("flat"), **weights, **rows, **wide)
    caption("p", "p")
    target_rows: dict[str, Any] = {"row_labels": [names[token] for token in targets]}
    column = ops.picked("p", targets.tolist())
    picture.add("chosen", chosen[:, None], words.labels["chosen"], column, **weights, **target_rows)
    costs: dict[str, Any] = {"role": "loss", "scale": "sequential"}
    nats = -np.log(chosen)[:, None]
    op = ops.function("chosen", "−ln")
    picture.add("nats", nats, words.labels["nats"], op, **costs, **target_rows)
    caption("nats", "chosen", "nats")
    picture.add("total", nats.sum(), words.labels["total"], ops.summed("nats"), **costs)
    mean = ops.scaled("total", 1 / n, f"÷ {n}")
    picture.add("loss", nats.mean(), words.labels["loss"], mean, role="loss", scale="sequential")
    caption("loss", "total", "loss")

    y = np.zeros_like(p)
    y[np.arange(n), targets] = 1
    gradient: dict[str, Any] = {"role": "accent"}
    picture.add("minus y", -y, words.labels["minus y"], **rows, **wide)
    difference = ops.add("p", "minus y")
    picture.add("difference", p - y, words.labels["difference"], difference, **rows, **wide)
    shared = ops.scaled("difference", 1 / n, f"÷ {n}")
    upstream = (p - y) / n
    label = words.labels["upstream"]
    picture.add("upstream", upstream, label, shared, **gradient, **rows, **wide)
    caption("upstream", "minus y", "difference", "upstream")
    transposed = ops.transposed("upstream")
    label = words.labels["turned"]
    picture.add(
        "turned", upstream.T, label, transposed, **gradient, **by_token, col_labels=flat_rows
    )
    given = step.hidden.reshape(n, -1)
    picture.add("flat hidden", given, words.labels["flat hidden"], ops.stacked(*hidden), **rows)
    product = ops.matmul("turned", "flat hidden")
    label = words.labels["gradient"]
    picture.add("gradient", step.gradient, label, product, **gradient, **by_token, digits=6)
    caption("gradient", "turned", "flat hidden", "gradient")
    return picture


def update(step: OneStep, choice: StepChoice, token: int) -> Picture:
    """From the lengths of all gradients to the new weights of one token's row of the head."""
    picture, config = Picture(), choice.config()
    lengths = np.array(list(step.norms.values()))[:, None]
    rows: dict[str, Any] = {
        "row_labels": [short(name) for name in step.norms],
        "digits": 6,
        "scale": "sequential",
    }
    picture.add("norms", lengths, words.norms, role="accent", **rows)
    numbers = {
        "norm": step.norm,
        "clip": choice.clip,
        "factor": step.factor,
        "step": choice.step,
        "rate": step.rate,
    }

    def caption(key: str, *visible: str) -> None:
        picture.caption(words.update_steps[key].format(**numbers), *visible)

    caption("norms", "norms")
    picture.add("squared", lengths**2, words.squares, ops.multiply("norms", "norms"), **rows)
    total = float((lengths**2).sum())
    picture.add("sum", total, words.sum, ops.summed("squared"), digits=6)
    picture.add("norm", step.norm, words.norm, ops.function("sum", "√"), digits=6)
    caption("norm", "squared", "sum", "norm")

    clipped = step.factor < 1
    visible = ["factor", "row", "clipped"]
    op = None
    if clipped:
        picture.add("limit", choice.clip, words.limit)
        visible.insert(0, "limit")
        op = ops.divided("limit", "norm")
    picture.add("factor", step.factor, words.factor, op, digits=6)
    row: dict[str, Any] = {"row_labels": [step_name(step, token)], "digits": 6}
    gradient = step.gradient[token]
    picture.add("row", gradient, words.row, role="accent", **row)
    op = ops.multiply("row", "factor")
    picture.add("clipped", gradient * step.factor, words.clipped, op, role="accent", **row)
    caption("clipped" if clipped else "unclipped" if choice.clip else "unlimited", *visible)

    rate = f"× (−{step.rate:.6g})"
    picture.add("before", step.head[token], words.before, role="value", **row)
    if choice.optimizer == "sgd":
        op = ops.scaled("clipped", -step.rate, rate)
        picture.add("step", step.update["step"][token], words.move, op, **row)
        caption("sgd", "step")
        parts = ["before", "step"]
    else:
        _adamw(picture, step, choice, token, row)
        picture.layout = _side_by_side(visible)
        caption("memory", *_MEAN, *_SQUARES)
        op = ops.scaled("ratio", -step.rate, rate)
        picture.add("step", step.update["step"][token], words.move, op, **row)
        caption("adamw", "mean corrected", "squares corrected", "scale", "ratio", "step")
        pull = step.rate * config.weight_decay
        op = ops.scaled("before", -pull, f"× (−{pull:.6g})")
        picture.add("decay", step.update["decay"][token], words.memory["decay"], op, **row)
        parts = ["before", "decay", "step"]
    after = ops.add(*parts)
    picture.add("after", step.after[token], words.after, after, role="value", **row)
    caption(f"{choice.optimizer} after", *(part for part in parts if part != "step"), "after")
    return picture


def short(parameter: str) -> str:
    """A parameter's name in a few letters, W for weights and b for biases.

    >>> short("blocks.0.attn.projection.weight"), short("norm_final.bias")
    ('attn out W', 'norm_final b')
    """
    name = parameter.removeprefix("blocks.0.").replace("projection", "out")
    return name.replace(".weight", " W").replace(".bias", " b").replace(".", " ")


_MEAN = ("mean before", "mean kept", "mean new", "mean")
_SQUARES = ("square", "squares before", "squares kept", "squares new", "squares")


def _side_by_side(clipping: list[str]) -> list[list[str | None]]:
    """The mean of the gradients beside the mean of their squares, line by line."""
    numbers = [name for name in clipping if name in ("limit", "factor")]
    return [
        ["norms", "squared"],
        ["sum", "norm"],
        [*numbers, None][:2],
        ["row", "clipped"],
        ["before", "square"],
        ["mean before", "squares before"],
        ["mean kept", "squares kept"],
        ["mean new", "squares new"],
        ["mean", "squares"],
        ["mean corrected", "squares corrected"],
        ["ratio", "scale"],
        ["step", "decay"],
        ["after", None],
    ]


def _adamw(
    picture: Picture, step: OneStep, choice: StepChoice, token: int, row: Mapping[str, Any]
) -> None:
    """What Adam computes between the clipped gradient and the step."""
    config = choice.config()
    nothing = np.zeros(step.head.shape[1])
    gradient = step.update["gradient"][token].astype(np.float64)

    def add(name: str, values: Any, op: ops.Op | None) -> None:
        picture.add(name, values, words.memory[name], op, **row)

    def remembered(key: str) -> np.ndarray:
        return step.memory[key][token].astype(np.float64) if step.memory else nothing

    for name, beta, key, new, source in (
        ("mean", config.beta1, "mean", gradient, "clipped"),
        ("squares", config.beta2, "mean_of_squares", gradient**2, "square"),
    ):
        before = remembered(key)
        if name == "squares":
            add("square", gradient**2, ops.multiply("clipped", "clipped"))
        add(f"{name} before", before, None)
        rest = 1 - beta
        add(f"{name} kept", beta * before, ops.scaled(f"{name} before", beta, f"× {beta:g}"))
        add(f"{name} new", rest * new, ops.scaled(source, rest, f"× {rest:.4g}"))
        add(name, step.update[key][token], ops.add(f"{name} kept", f"{name} new"))
    for name, beta, key in (
        ("mean", config.beta1, "mean_corrected"),
        ("squares", config.beta2, "squares_corrected"),
    ):
        by = 1 / (1 - beta**choice.step)
        op = ops.scaled(name, by, f"÷ (1 − {beta:g}^{choice.step})")
        add(f"{name} corrected", step.update[key][token], op)
    scale = step.update["scale"][token].astype(np.float64)
    add("scale", scale, ops.function("squares corrected", "ε + √"))
    ratio = step.update["mean_corrected"][token] / scale
    add("ratio", ratio, ops.divided("mean corrected", "scale"))


def step_name(step: OneStep, token: int) -> str:
    """A token of the step's vocabulary as text that one can see."""
    from llmviz.course.components.token_strip.view import visible_text
    from llmviz.files.text import ENDOFTEXT

    name = step.names[token]
    return words.end_token if name == ENDOFTEXT else visible_text(name.encode("utf-8"))[0]

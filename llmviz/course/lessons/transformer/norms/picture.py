"""Layer norm and RMSNorm of the same vectors, number by number.

T tokens, C width.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from llmviz.course import components as lv
from llmviz.course.lessons.transformer.norms import words
from llmviz.course.lessons.transformer.subject import Subject
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import Picture
from llmviz.interpretability.block import STAGES
from llmviz.nn.layers import NormSteps, RMSNormSteps, layer_norm_steps, rms_norm_steps

LAYOUT = [  # four matrices as wide as x have no room beside each other
    ["x", "mean", "variance", "deviation"],
    ["normalized", "scale", "shift", None],
    ["out", None, None, None],
    ["mean square", "root", None, None],
    ["divided", "rms out", None, None],
]


@dataclass(frozen=True)
class Normed:
    """What a norm reads, (T, C), and both norms of it, with the model's own scale and shift."""

    x: Tensor
    layer: NormSteps
    rms: RMSNormSteps
    scale: Tensor  # (C,)
    shift: Tensor | None  # (C,)
    epsilon: float
    source: str  # the step of the layer that is read


@kit.kept(32)
def normed(subject: Subject, which: str) -> Normed:
    """Return both norms of what one norm of a layer reads; which: norm1 or norm2."""
    model, steps = subject.model, subject.steps
    stages = STAGES[model.config.norm]
    # A norm behind an addition reads the sum; one before a part reads the stream.
    source = stages[stages.index(which) - 1]
    norm, x = getattr(model.blocks[subject.layer], which), steps[source]
    shift = getattr(norm, "bias", None)
    return Normed(
        x,
        layer_norm_steps(x, norm.weight, shift, norm.eps),
        rms_norm_steps(x, norm.weight, norm.eps),
        norm.weight,
        shift,
        norm.eps,
        source,
    )


@kit.kept(32)
def picture_of(subject: Subject, which: str) -> Picture:
    """Return the matrices of both norms."""
    norms, picture = normed(subject, which), Picture()
    rows, say = {"row_labels": subject.tokens}, words.formulas
    wide = {"windows": ("", picture.window("C", norms.x.shape[1]))}
    both = rows | wide

    def add(key: str, values: Tensor, op: lv.Op | None = None, **more) -> None:
        picture.add(key, values, words.labels.get(key, key), say.get(key, ""), op=op, **more)

    picture.add("scale", norms.scale[None], **wide)
    if norms.shift is not None:
        picture.add("shift", norms.shift[None], **wide)
    add("x", norms.x, role="residual", **both)
    layer_steps, rms = norms.layer, norms.rms
    add("mean", layer_steps.mean, lv.row_mean("x"), **rows)
    add("variance", layer_steps.variance, lv.row_mean_square("x", "mean"), **rows)
    deviation = (layer_steps.variance + norms.epsilon).sqrt()
    add("deviation", deviation, lv.root("variance", norms.epsilon), **rows)
    op = lv.normalised("x", "mean", "deviation")
    add("normalized", layer_steps.normalized, op, role="query", **both)
    shift = None if norms.shift is None else "shift"
    op = lv.normalised("x", "mean", "deviation", "scale", shift)
    text = say["out" if shift else "out_plain"]
    picture.add("out", layer_steps.output, words.out, text, op=op, role="query", **both)
    add("mean square", rms.mean_square, lv.row_mean_square("x"), **rows)
    root = (rms.mean_square + norms.epsilon).sqrt()
    add("root", root, lv.root("mean square", norms.epsilon), **rows)
    add("divided", rms.normalized, lv.rms_normalised("x", "root"), role="value", **both)
    op = lv.rms_normalised("x", "root", "scale")
    add("rms out", rms.output, op, role="value", **both)
    names = {matrix.name for matrix in picture.matrices}
    picture.layout = [[name if name in names else None for name in row] for row in LAYOUT]
    return picture


def students(x: Tensor, epsilon: float) -> dict[str, np.ndarray]:
    """Return the last row of x (T, C) as four students norm it, before scale and shift."""
    right, row = layer_norm_steps(x, epsilon=epsilon), x[-1]
    variance = right.variance[-1] + epsilon
    columns = layer_norm_steps(x.T, epsilon=epsilon).normalized.T
    arrays = {
        "right": right.normalized[-1],
        "variance": (row - right.mean[-1]) / variance,
        "mean": row / variance.sqrt(),
        "columns": columns[-1],
    }
    return {name: torch.as_tensor(values).double().numpy() for name, values in arrays.items()}

"""The matrices of a cross-entropy, from logits to the loss; each cell opens to its arithmetic."""

from dataclasses import replace
from typing import Any

import numpy as np

from llmviz.course.components._shared import cell_arithmetic as ops
from llmviz.course.components.matrix_view.view import Matrix, Window, matrix_view
from llmviz.course.lessons.training.loss import words
from llmviz.course.ui import kit
from llmviz.evaluation.text_loss import LossSettings

SEEN = 12  # rows, and columns, that are drawn at once


def draw(
    reading: kit.Read, logits: np.ndarray, plain: Any, steps: Any, settings: LossSettings, key: str
) -> None:
    """Show `plain` (the mean of all positions) and `steps` (as the controls stand) as matrices."""
    matrices, steps_shown = build(reading, logits, plain, steps, settings)
    windowed, windows = through_windows(matrices)
    # Another text has other windows: they begin at its start.
    key += "".join(f".{name}{window.size}" for name, window in windows.items())
    matrix_view(windowed, key=key, steps=steps_shown, numbers=True, windows=windows)


def through_windows(matrices: list[Matrix]) -> tuple[list[Matrix], dict[str, Window]]:
    """Return the matrices with windows on what is too long to be drawn, and these windows.

    All have a row for each position; the first ones have a column for each token.
    """
    rows, columns = matrices[0].values.shape
    windows = {
        name: Window(size, SEEN)
        for name, size in (("position", rows), ("token", columns))
        if size > SEEN
    }
    windowed = []
    for matrix in matrices:
        high, wide = matrix.values.shape
        names = (
            "position" if high == rows and "position" in windows else "",
            "token" if wide == columns and "token" in windows else "",
        )
        windowed.append(replace(matrix, windows=names))
    return windowed, windows


def build(
    reading: kit.Read, logits: np.ndarray, plain: Any, steps: Any, settings: LossSettings
) -> tuple[list[Matrix], list[tuple[list[str], str]]]:
    """Return the matrices and the steps in which they appear."""
    small, columns, labels = visible_columns(reading, logits)
    others = logits.shape[1] - len(set(reading.targets))
    rows = {"row_labels": reading.tokens[:-1], "notes": _notes(reading, plain, settings)}
    wide = {**rows, "col_labels": labels, "row_axis": words.position}
    targets = {**rows, "row_labels": reading.target_tokens}
    exact = np.exp(small - np.logaddexp.reduce(small, axis=1, keepdims=True))
    matrices: list[Matrix] = []

    def add(name: str, values: Any, op: ops.Op | None = None, **more: Any) -> None:
        weighted = name == "spread" and settings.token is not None
        label, formula = words.labels["spread weighted" if weighted else name]
        cells = np.asarray(values, dtype=np.float64)
        if cells.ndim < 2:
            cells = cells.reshape(-1, 1)
        matrices.append(Matrix(name, cells, label, formula, op=op, **more))

    add("logits", small, **wide)
    add("probabilities", exact, ops.softmax_rows("logits"), role="weights", limit=1.0, **wide)
    p = plain.target_probability
    add("p", p, ops.picked("probabilities", columns), role="weights", limit=1.0, **targets)
    add("ln", plain.log_probability, ops.function("p", "ln"), **targets)
    add(
        "nats",
        plain.nats,
        ops.scaled("ln", -1, "× (−1)"),
        role="key",
        scale="sequential",
        **targets,
    )
    add("w", steps.weights, role="residual", scale="sequential", **targets)
    parts = ops.multiply("w", "nats")
    names = ["w"]
    if settings.smoothing:
        eps = settings.smoothing
        weighted = steps.weights * plain.nats
        add("weighted", weighted, parts, **targets)
        add(
            "hard",
            (1 - eps) * weighted,
            ops.scaled("weighted", 1 - eps, f"× {1 - eps:g}"),
            **targets,
        )
        add("spread", steps.spread, **targets)
        add("soft", eps * steps.spread, ops.scaled("spread", eps, f"× {eps:g}"), **targets)
        parts = ops.add("hard", "soft")
        names += ["weighted", "hard", "spread", "soft"]
    add("parts", steps.parts, parts, role="key", scale="sequential", **targets)
    ends = []
    if settings.reduction != "none":
        add("total", steps.total, ops.summed("parts"), scale="sequential")
        ends.append("total")
    if settings.reduction == "mean":
        add("divisor", steps.divisor, ops.summed("w"), scale="sequential")
        add("loss", steps.loss, ops.divided("total", "divisor"), role="accent", scale="sequential")
        ends += ["divisor", "loss"]
    order = ["logits", "probabilities", "p", "ln", "nats"]
    captions = [([name], words.steps[name].format(rest=_rest(others))) for name in order]
    captions += [(names, words.steps["w"]), (["parts"], words.steps["parts"])]
    if ends:
        captions.append((ends, words.steps[f"loss {settings.reduction}"]))
    else:
        captions[-1] = (["parts"], words.steps["loss none"])
    return matrices, captions


def visible_columns(
    reading: kit.Read, logits: np.ndarray
) -> tuple[np.ndarray, list[int], list[str]]:
    """Return logits (T, K + 1), the column of each target, and the columns' names.

    The tokens of the text have a column each. The last column holds ln Σ exp of all the others'
    logits: with it, the softmax of these few columns is that of the whole vocabulary.
    """
    ids = list(dict.fromkeys(reading.targets))
    rest = np.ones(logits.shape[1], dtype=bool)
    rest[ids] = False
    names = dict(zip(reading.targets, reading.target_tokens, strict=True))
    labels, cells = [names[token] for token in ids], logits[:, ids]
    if rest.any():
        others = np.logaddexp.reduce(logits[:, rest], axis=1, keepdims=True)
        cells = np.concatenate([cells, others], axis=1)
        count = int(rest.sum())
        labels.append(words.other if count == 1 else words.others.format(count=count))
    return cells, [ids.index(token) for token in reading.targets], labels


def _rest(others: int) -> str:
    """What the last column stands for, where the text does not have every token."""
    if not others:
        return ""
    return words.step_other if others == 1 else words.step_others.format(count=others)


def _notes(reading: kit.Read, plain: Any, settings: LossSettings) -> list[str]:
    return [
        (words.note_skipped if i in settings.skipped else words.note).format(
            token=name, p=kit.percent(p), nats=nats
        )
        for i, (name, p, nats) in enumerate(
            zip(
                reading.target_tokens,
                plain.target_probability.tolist(),
                plain.nats.tolist(),
                strict=True,
            )
        )
    ]

"""The arithmetic behind a cell of the lens and a bar of the ledger, as linked matrices.

C width, K tokens that are looked at.
"""

from collections.abc import Sequence
from typing import Any

from llmviz.course import components as lv
from llmviz.course.lessons.transformer.stream import words
from llmviz.course.ui.matrix_picture import Picture
from llmviz.interpretability.readout import NormNumbers, PartReadout, Readout


class _Drawn(Picture):
    """A picture whose matrices have their names, formulas and window from this chapter."""

    def put(self, name: str, values, op: lv.Op | None = None, formula: str = "", **more) -> None:
        """Add a matrix; one as wide as the stream is seen through the window of C."""
        label = words.matrices.get(name, name)
        text = formula or words.formulas.get(name, "")
        self.add(name, values, label, text, op=op, **more)


def lens_picture(readout: Readout, tokens: Sequence[str], vocab: int) -> Picture:
    """Return a vector, its norm, the head's columns of K tokens, their logits and probabilities.

    tokens: the names of the K tokens. vocab: how many tokens the sum of softmax runs over.
    """
    picture = _Drawn()
    seen = picture.window("C", readout.x.shape[1])
    wide: dict[str, Any] = {"windows": ("", seen)}
    columns: dict[str, Any] = {"col_labels": tokens}
    picture.put("x", readout.x, role="residual", **wide)
    layout: list[list[str | None]] = [["x"]]
    read = "x"
    if readout.norm is not None:
        layout[0] += _norm(picture, readout.norm, "x")
        layout.append(_learned(picture, readout.norm, wide))
        op = _normed("x", readout.norm, shifted=True)
        picture.put("normed", readout.normed, op, role="query", **wide)
        layout[1] += ["normed"]
        read = "normed"
    picture.put("head", readout.rows.T, role="key", windows=(seen, ""), **columns)
    product = f"{words.matrices.get(read, read)} · {words.matrices['head']}"
    picture.put("logits", readout.logits, lv.matmul(read, "head"), product, **columns)
    layout.append(["head", "head", "logits", "logits"])
    picture.put("lnsum", readout.log_sum, formula=words.log_sum.format(vocab=vocab))
    picture.put("lnp", readout.log_p, lv.subtracted("logits", "lnsum"), **columns)
    exponential = lv.function("lnp", "exp")
    picture.put("p", readout.p, exponential, role="weights", limit=1.0, **columns)
    layout += [["lnsum", "lnsum", "lnp", "lnp"], [None, None, "p", "p"]]
    picture.layout = layout
    return picture


def part_picture(
    part_readout: PartReadout, part: str, role: str, token: str, against: str = ""
) -> Picture:
    """Return what a part added, the frozen norm, the head's row and the part's share of a logit.

    part: its name; token and against: the names of the tokens whose rows are read.
    """
    picture = _Drawn()
    seen = picture.window("C", part_readout.vector.shape[1])
    wide: dict[str, Any] = {"windows": ("", seen)}
    tall: dict[str, Any] = {"windows": (seen, "")}
    layout: list[list[str | None]] = []
    read, norm = "part", part_readout.norm
    if norm is not None:
        picture.put("stream", part_readout.stream, role="residual", **wide)
        layout.append(["stream", *_norm(picture, norm, "stream")])
    picture.add("part", part_readout.vector, part, words.added, role=role, **wide)
    layout.append(["part"])
    if norm is not None:
        if part_readout.mean is not None:
            picture.put("part mean", part_readout.mean, lv.row_mean("part"))
            layout[-1] += ["part mean"]
        picture.put("scale", norm.scale, **wide)
        op = _normed("part", norm, shifted=False)
        picture.put("frozen", part_readout.normed, op, role=role, **wide)
        layout[-1] += ["scale", "frozen"]
        read = "frozen"
    picture.add("row", part_readout.row.T, words.row.format(token=token), role="key", **tall)
    rows: list[str | None] = ["row"]
    if part_readout.against is not None:
        label = words.row.format(token=against)
        picture.add("other row", part_readout.against.T, label, role="key", **tall)
        op = lv.subtracted("row", "other row")
        picture.put("rows", (part_readout.row - part_readout.against).T, op, role="key", **tall)
        rows += ["−", "other row", "=", "rows"]
    picture.put("share", part_readout.share, lv.matmul(read, rows[-1] or ""), role=role)
    layout.append([*rows, "share"])
    picture.layout = layout
    return picture


def _norm(picture: _Drawn, norm: NormNumbers, of: str) -> list[str]:
    """Add what a norm divides the vector of this name by; return the names."""
    names = []
    if norm.mean is not None:
        picture.put("mean", norm.mean, lv.row_mean(of))
        names.append("mean")
    square = "variance" if norm.mean is not None else "mean square"
    picture.put(square, norm.square, lv.row_mean_square(of, *names))
    picture.put("divisor", norm.divisor, lv.root(square, norm.epsilon))
    return [*names, square, "divisor"]


def _learned(picture: _Drawn, norm: NormNumbers, wide: dict) -> list[str | None]:
    picture.put("scale", norm.scale, **wide)
    if norm.shift is None:
        return ["scale"]
    picture.put("shift", norm.shift, **wide)
    return ["scale", "shift"]


def _normed(of: str, norm: NormNumbers, *, shifted: bool) -> lv.Op:
    """How a vector goes through the norm; the mean that is taken off is the vector's own."""
    if norm.mean is None:
        return lv.rms_normalised(of, "divisor", "scale")
    mean = "mean" if shifted else "part mean"
    shift = "shift" if shifted and norm.shift is not None else None
    return lv.normalised(of, mean, "divisor", "scale", shift)

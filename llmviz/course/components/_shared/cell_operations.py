"""How a matrix came from others: named operations that a matrix view turns into arithmetic.

Nothing is computed here. An operation names its operands; the page writes the operands'
numbers out as the arithmetic of one cell and sets the matrix's own value behind the equals sign.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Shape = tuple[int, int]


@dataclass(frozen=True)
class Op:
    """An operation: its kind, its operands' names in order, and its constants."""

    kind: str
    operands: tuple[str, ...]
    params: dict[str, Any] = field(default_factory=dict)


def matmul(a: str, b: str, *, transpose_b: bool = False, bias: str | None = None) -> Op:
    """A product ``a @ b`` (or ``a @ b.T``), plus a (1, columns) ``bias``."""
    operands = (a, b) if bias is None else (a, b, bias)
    return Op("matmul", operands, {"transpose_b": transpose_b})


def subtracted(a: str, b: str) -> Op:
    """``a`` minus ``b`` cell by cell; a matrix of one row or column is repeated."""
    return Op("subtracted", (a, b))


def lengths(a: str) -> Op:
    """The length of each row of ``a``, the root of its sum of squares, as one column."""
    return Op("lengths", (a,))


def scaled(a: str, by: float, text: str = "") -> Op:
    """Every cell of ``a`` times ``by``; ``text`` replaces "× by", for example "÷ √4"."""
    return Op("scaled", (a,), {"by": by, "text": text or f"× {by:.4g}"})


def masked(a: str, reason: str = "") -> Op:
    """``a`` where allowed, −∞ where not; ``reason`` says why a cell is forbidden."""
    return Op("masked", (a,), {"reason": reason})


def softmax_rows(a: str) -> Op:
    """The softmax of every row of ``a``."""
    return Op("softmax_rows", (a,))


def rows_normalised(a: str) -> Op:
    """Every cell of ``a`` divided by the sum of its row."""
    return Op("rows_normalised", (a,))


def add(*names: str) -> Op:
    """The sum of matrices, cell by cell; a matrix of one row or column is repeated."""
    return Op("add", names)


def multiply(a: str, b: str) -> Op:
    """The product of two matrices cell by cell; a matrix of one row or column is repeated."""
    return Op("multiply", (a, b))


def lookup(table: str, rows: Sequence[int]) -> Op:
    """Row ``rows[i]`` of ``table`` as row i."""
    return Op("lookup", (table,), {"rows": [int(row) for row in rows]})


def concat(*names: str) -> Op:
    """Matrices set side by side."""
    return Op("concat", names)


def stacked(*names: str) -> Op:
    """Matrices set one below the other."""
    return Op("stacked", names)


def columns(a: str, start: int) -> Op:
    """The columns of ``a`` from ``start`` on, as many as the matrix has."""
    return Op("columns", (a,), {"start": int(start)})


def transposed(a: str) -> Op:
    """``a`` with rows and columns exchanged."""
    return Op("transposed", (a,))


def dropout(a: str, keep: str, p: float) -> Op:
    """``a / (1 - p)`` where ``keep`` is not zero, else 0."""
    return Op("dropout", (a, keep), {"p": p})


def turned(a: str, angles: str) -> Op:
    """Pairs of columns (j, j + D/2) of ``a`` turned by ``angles`` (rows, D/2), in radians."""
    return Op("turned", (a, angles))


def function(a: str, text: str) -> Op:
    """A function of each cell; ``text`` is its name, for example "GELU"."""
    return Op("function", (a,), {"text": text})


def normalised(
    a: str, mean: str, deviation: str, gain: str | None = None, bias: str | None = None
) -> Op:
    """``(a - mean) / deviation * gain + bias``; mean and deviation hold one number a row."""
    extra = [name for name in (gain, bias) if name is not None]
    params = {"gain": gain is not None, "bias": bias is not None}
    return Op("normalised", (a, mean, deviation, *extra), params)


def row_mean(a: str) -> Op:
    """The mean of each row of ``a``, as one column."""
    return Op("row_mean", (a,))


def row_mean_square(a: str, mean: str | None = None) -> Op:
    """The mean of the squares of each row of ``a``, after taking ``mean`` off: the variance."""
    return Op("row_mean_square", (a,) if mean is None else (a, mean))


def root(a: str, plus: float) -> Op:
    """The square root of each cell of ``a`` plus a small number that keeps it from 0."""
    return Op("root", (a,), {"text": f"{plus:g}"})


def rms_normalised(a: str, rms: str, gain: str | None = None) -> Op:
    """``a / rms * gain``; ``rms`` holds one number a row, ``gain`` one a column."""
    return Op("rms_normalised", (a, rms) if gain is None else (a, rms, gain))


def picked(a: str, columns: Sequence[int]) -> Op:
    """Cell ``columns[i]`` of row i of ``a``, as a matrix of one column."""
    return Op("picked", (a,), {"columns": [int(column) for column in columns]})


def summed(a: str) -> Op:
    """The sum of each column of ``a``, as a matrix of one row."""
    return Op("summed", (a,))


def row_summed(a: str) -> Op:
    """The sum of each row of ``a``, as one column."""
    return Op("row_summed", (a,))


def divided(a: str, b: str) -> Op:
    """``a`` by ``b`` cell by cell; a matrix of one row or column is repeated."""
    return Op("divided", (a, b))


def check(name: str, shape: Shape, op: Op, shapes: Mapping[str, Shape]) -> None:
    """Refuse an operation whose operands do not exist or do not fit.

    Raises ValueError naming the matrix and the shapes.
    """
    for operand in op.operands:
        if operand not in shapes:
            raise ValueError(f"matrix {name!r}: operand {operand!r} is not among the matrices")
    given = [shapes[operand] for operand in op.operands]
    if not _fits(op, shape, given):
        raise ValueError(f"matrix {name!r} {shape}: {op.kind} does not fit operands {given}")


def _fits(op: Op, shape: Shape, given: list[Shape]) -> bool:
    rows, cols = shape
    first = given[0]
    match op.kind:
        case "matmul":
            inner, outer = given[1][::-1] if op.params["transpose_b"] else given[1]
            product = first == (rows, inner) and outer == cols
            return product and given[2:] in ([], [(1, cols)])
        case "add" | "multiply" | "divided" | "subtracted":
            return all(r in (1, rows) and c in (1, cols) for r, c in given)
        case "lookup":
            wanted = op.params["rows"]
            inside = all(0 <= row < first[0] for row in wanted)
            return len(wanted) == rows and inside and first[1] == cols
        case "picked":
            inside = all(0 <= column < first[1] for column in op.params["columns"])
            return inside and shape == (first[0], 1) and len(op.params["columns"]) == rows
        case "summed":
            return shape == (1, first[1])
        case "lengths" | "row_summed" | "row_mean":
            return shape == (first[0], 1)
        case "row_mean_square":
            return shape == (first[0], 1) and given[1:] in ([], [shape])
        case "rms_normalised":
            return first == shape and given[1] == (rows, 1) and given[2:] in ([], [(1, cols)])
        case "concat":
            return all(r == rows for r, _ in given) and sum(c for _, c in given) == cols
        case "stacked":
            return all(c == cols for _, c in given) and sum(r for r, _ in given) == rows
        case "columns":
            return first[0] == rows and 0 <= op.params["start"] <= first[1] - cols
        case "transposed":
            return first == (cols, rows)
        case "dropout":
            return first == shape == given[1]
        case "turned":
            return first == shape and cols % 2 == 0 and given[1] == (rows, cols // 2)
        case "normalised":
            return (
                first == shape
                and given[1] == given[2] == (rows, 1)
                and all(extra == (1, cols) for extra in given[3:])
            )
        case _:
            return first == shape

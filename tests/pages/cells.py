"""What the arithmetic of a matrix's cells gives, worked out again."""

from __future__ import annotations

import numpy as np

FUNCTIONS = {
    "ReLU": lambda x: np.maximum(x, 0),
    "above 0? ": lambda x: (x > 0).astype(float),
    "−ln": lambda x: -np.log(x),
    "√": np.sqrt,
    "ε + √": np.sqrt,
}


def work_out(op, cells: dict[str, np.ndarray]) -> np.ndarray:
    """Return the matrix that an operation makes of the matrices that it names."""
    a, *rest = (cells[name] for name in op.operands)
    match op.kind:
        case "matmul":
            return a @ (rest[0].T if op.params["transpose_b"] else rest[0])
        case "add":
            return a + sum(rest)
        case "multiply":
            return a * rest[0]
        case "divided":
            return a / rest[0]
        case "scaled":
            return a * op.params["by"]
        case "softmax_rows":
            return np.exp(a) / np.exp(a).sum(-1, keepdims=True)
        case "lookup":
            return a[op.params["rows"]]
        case "picked":
            return a[range(len(a)), op.params["columns"]][:, None]
        case "summed":
            return a.sum(axis=0, keepdims=True)
        case "transposed":
            return a.T
        case "stacked":
            return np.concatenate([a, *rest])
        case "function":
            return FUNCTIONS[op.params["text"]](a)
    raise AssertionError(op.kind)

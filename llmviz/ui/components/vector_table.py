"""A whole table of vectors, a pixel a number, with a close-up of the rows looked at."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.ui.components.wire import nothing, pack, renderer, starting

CLIPPED = 0.95  # share of the numbers that the colour scale tells apart


def vector_table(
    matrix: np.ndarray,
    labels: Sequence[str],
    *,
    key: str,
    words: Mapping[str, str],
    chosen: int | None = None,
    marks: Sequence[int] = (),
    on_change: Callable[[], None] | None = None,
) -> int | None:
    """Draw a table (V, C) with a label for each row; return the row clicked.

    Numbers travel as float16, three digits, which is what the close-up writes. `marks` are rows
    with a tick beside them. `words` are the texts that the picture shows. Raises ValueError for
    data that do not fit.
    """
    payload = table_payload(matrix, labels, words, marks)
    rows = len(matrix)
    start = chosen if chosen is not None and 0 <= chosen < rows else None
    sent, moved = starting(key, "chosen", start)
    result = renderer("vector_table")(
        data=pack(payload | {"chosen": sent}),
        key=key,
        default={"chosen": start},
        on_chosen_change=on_change or nothing,
    )
    now = start if moved else result.get("chosen")
    return now if isinstance(now, int) and 0 <= now < rows else None


def table_payload(
    matrix: np.ndarray, labels: Sequence[str], words: Mapping[str, str], marks: Sequence[int]
) -> dict[str, Any]:
    """Return what the picture is sent, checked."""
    values = np.asarray(matrix, dtype=np.float32)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"a table must have rows and columns; got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("a table must hold finite numbers only")
    rows, columns = values.shape
    if len(labels) != rows:
        raise ValueError(f"a table of {rows} rows needs as many labels; got {len(labels)}")
    if any(not 0 <= mark < rows for mark in marks):
        raise ValueError(f"marks must be rows from 0 to {rows - 1}; got {list(marks)}")
    sizes = np.abs(values)
    limit = float(np.quantile(sizes, CLIPPED)) or float(sizes.max()) or 1.0
    half = np.clip(values, -65_504, 65_504).astype("<f2")
    return {
        "rows": rows,
        "columns": columns,
        "half": half.view(np.uint8).reshape(rows, 2 * columns),
        "labels": list(labels),
        "limit": limit,
        "marks": [int(mark) for mark in marks],
        "words": dict(words),
    }

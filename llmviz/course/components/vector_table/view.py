"""A whole table of vectors, a pixel a number, with a close-up of the rows looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components._shared.transport import Stored, nothing, pack, renderer

CLIPPED = 0.95  # share of the numbers that the colour scale tells apart


@dataclass(frozen=True, eq=False)
class TablePicture:
    """What the picture of a table needs, made once: `half` (V, 2·C) are float16 numbers as bytes.

    `stored` holds them with the labels and with the value at the colour scale's end.
    """

    half: np.ndarray
    stored: Stored


def table_picture(matrix: np.ndarray, labels: Sequence[str]) -> TablePicture:
    """Return the picture of a table (V, C) with a label for each row.

    Numbers travel as float16, three digits, which is what the close-up writes. Raises ValueError
    for data that do not fit.
    """
    values = np.asarray(matrix, dtype=np.float32)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"a table must have rows and columns; got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("a table must hold finite numbers only")
    rows, columns = values.shape
    if len(labels) != rows:
        raise ValueError(f"a table of {rows} rows needs as many labels; got {len(labels)}")
    sizes = np.abs(values)
    limit = float(np.quantile(sizes, CLIPPED)) or float(sizes.max()) or 1.0
    half = np.clip(values, -65_504, 65_504).astype("<f2")
    half = half.view(np.uint8).reshape(rows, 2 * columns)
    known = {"rows": rows, "columns": columns, "half": half, "labels": list(labels), "limit": limit}
    return TablePicture(half, Stored(known))


def vector_table(
    picture: TablePicture,
    *,
    key: str,
    words: Mapping[str, str],
    chosen: int | None = None,
    marks: Sequence[int] = (),
    on_change: Callable[[], None] | None = None,
) -> int | None:
    """Draw a table, a pixel a number; return the row clicked.

    `chosen` is the bright row, `marks` are rows with a tick beside them; they travel by themselves,
    and the table itself is fetched once. `words` are the texts that the picture shows. Raises
    ValueError for marks that are no rows.
    """
    rows = len(picture.half)
    if any(not 0 <= mark < rows for mark in marks):
        raise ValueError(f"marks must be rows from 0 to {rows - 1}; got {list(marks)}")
    payload = {"table": key, "words": dict(words)}
    choice = {
        "table": key,
        "chosen": chosen if chosen is not None and 0 <= chosen < rows else None,
        "marks": [int(mark) for mark in marks],
    }
    with st.container(gap=None):
        result = renderer("vector_table")(
            data=pack(payload, picture.stored),
            key=key,
            default={"chosen": None},
            on_chosen_change=on_change or nothing,
        )
        renderer("table_choice")(data=pack(choice), key=f"{key}.choice")
    return clicked(result.get("chosen"), rows)


def clicked(event: Any, count: int) -> int | None:
    """Return the row or dot that a picture says was clicked; None for what there is not.

    >>> clicked([3, 1], 5), clicked([7, 2], 5), clicked(None, 5)
    (3, None, None)
    """
    match event:
        case [int(at), int()] if 0 <= at < count:
            return at
    return None

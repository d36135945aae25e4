"""A film of a table that is learned, beside the table that it should become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from llmviz.course.components._shared.transport import Stored, mount, place_of


def film_of_table(tables: np.ndarray, losses: np.ndarray, target: np.ndarray) -> Stored:
    """Return the numbers of a film as browsers fetch them once: keep what this returns.

    tables (S + 1, V, V): the learned probabilities, before the first step and after each. losses
    (S + 1,). target (V, V). Raises ValueError for data that do not fit.
    """
    if tables.ndim != 3 or tables.shape[1:] != target.shape or len(tables) != len(losses):
        raise ValueError(
            f"a film needs (S, V, V) tables, (S,) losses and a (V, V) target; got {tables.shape}, "
            f"{losses.shape} and {target.shape}"
        )
    for name, values in (("tables", tables), ("losses", losses), ("target", target)):
        if not np.isfinite(values).all():
            raise ValueError(f"the {name} must be finite")
    return Stored(
        {
            "tables": tables.astype(np.float32),
            "losses": losses.astype(np.float32),
            "target": target.astype(np.float32),
        }
    )


def table_film(
    film: Stored,
    labels: Sequence[str],
    floor: float,
    *,
    key: str,
    words: Mapping[str, str],
    step: int = -1,
    steps: int,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw the film of `film_of_table`, its loss over the steps and the lowest one, `floor`.

    labels (V,) of rows and columns. step: where it stands, −1 is the last of `steps`. `words` has
    "learned", "target", "loss" and "steps" (titles), "cell" with {row}, {column}, {learned} and
    {target}, and "line" with {step}, {loss} and {above}. Returns the step settled on.
    """
    start = steps if step < 0 else min(step, steps)
    payload = {"labels": list(labels), "floor": float(floor), "words": dict(words)}
    settled = mount(
        "table_film", payload, film, key=key, state="step", start=start, on_change=on_change
    )
    return place_of(settled, steps + 1, start)

"""Maps and neighbours of vectors that move: one after the other, kept the same way up.

F frames, N points, C numbers in a vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix
from llmviz.similarity.neighbours import nearest
from llmviz.similarity.projection import align, pca


def frame_map(
    vectors: ArrayLike, before: ArrayLike | None = None, lanes: ArrayLike | None = None
) -> np.ndarray:
    """Return the map (N, 2) of one frame of vectors (N, C), turned to lie as the one before.

    In two dimensions the map is the vectors themselves, unturned. In one, the vectors are the
    first coordinate and `lanes` (N,), zero if not given, the second. Above, it is the plane of
    the two largest principal components.

    Raises ValueError for vectors that are not finite.
    """
    rows = as_matrix(vectors)
    if rows.shape[1] == 2:
        return rows
    if rows.shape[1] == 1:
        aside = np.zeros(len(rows)) if lanes is None else np.asarray(lanes, dtype=np.float64)
        return np.column_stack((rows[:, 0], aside))
    points = pca(rows, 2).points
    return points if before is None else align(points, before)


def film_maps(frames: Sequence[ArrayLike], lanes: ArrayLike | None = None) -> np.ndarray:
    """Return the maps (F, N, 2) of all frames; see `frame_map`."""
    maps: list[np.ndarray] = []
    for vectors in frames:
        maps.append(frame_map(vectors, maps[-1] if maps else None, lanes))
    return np.stack(maps)


def near_film(
    frames: Sequence[ArrayLike], point: int, k: int, metric: str = "cosine"
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k points nearest to one at every frame, best first: ids and values, (F, k).

    Raises ValueError: as `nearest`.
    """
    neighbours = [nearest(rows, np.asarray(rows)[point], k, metric, [point]) for rows in frames]
    ids, values = [near.ids for near in neighbours], [near.values for near in neighbours]
    return np.stack(ids), np.stack(values)

"""Maps: many dimensions drawn in two or three, and kept the same way up.

Shapes: N points, C dimensions, d = 2 or 3 (or 1) of the map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix

METHODS = ("pca", "tsne", "umap")
ANGLE = 0.7  # how coarsely far points are taken together: a quarter quicker than at 0.5
TSNE_STAGE = 250  # iterations between two frames; fewer than this scikit-learn does not run


@dataclass(frozen=True)
class PCA:
    """Principal components: `points` (N, d), `components` (d, C) as rows, `mean` (C,).

    `explained` (d,) is the share of the whole variance that each component carries.
    """

    points: np.ndarray
    components: np.ndarray
    mean: np.ndarray
    explained: np.ndarray


def pca(matrix: ArrayLike, dimensions: int = 2) -> PCA:
    """Return the principal components of a matrix (N, C).

    The sign of a component is fixed: its entry of largest absolute value is positive. When there
    are fewer components than asked for, the rest are zero.

    Raises: ValueError when dimensions is below 1.

    Reference: Pearson 1901; computed by the singular value decomposition of the centred matrix.
    """
    _check_dimensions(dimensions)
    rows = as_matrix(matrix)
    mean = rows.mean(axis=0)
    centred = rows - mean
    _, singular, components = np.linalg.svd(centred, full_matrices=False)
    largest = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    components = components * np.where(signs == 0, 1.0, signs)[:, None]
    missing = max(0, dimensions - len(components))
    components = np.pad(components[:dimensions], ((0, missing), (0, 0)))
    variances = np.pad(singular**2, (0, missing))
    total = variances.sum()
    explained = variances[:dimensions] / total if total > 0 else np.zeros(dimensions)
    return PCA(centred @ components.T, components, mean, explained)


def project(
    matrix: ArrayLike,
    method: str = "pca",
    dimensions: int = 2,
    seed: int = 0,
    orientation: ArrayLike | None = None,
    perplexity: float = 30.0,
    neighbours: int = 15,
) -> np.ndarray:
    """Return a map (N, dimensions) of the rows of a matrix (N, C).

    "pca" is exact and ignores the seed; "tsne" (scikit-learn) and "umap" (umap-learn) distort and
    depend on it. `perplexity` belongs to t-SNE and is lowered to (N - 1) / 3 for few points;
    `neighbours` belongs to UMAP and is lowered to N - 1. `orientation` is an earlier map of the
    same points: the new one is turned and mirrored to lie as that one does, never stretched.

    Raises: ValueError for an unknown method, too few points, or a library that is not installed.
    """
    *_, last = project_steps(
        matrix, method, dimensions, seed, orientation, perplexity, neighbours, stages=1
    )
    return last


def project_steps(
    matrix: ArrayLike,
    method: str = "tsne",
    dimensions: int = 2,
    seed: int = 0,
    orientation: ArrayLike | None = None,
    perplexity: float = 30.0,
    neighbours: int = 15,
    stages: int = 2,
) -> Iterator[np.ndarray]:
    """Yield the map (N, dimensions) as it forms, aligned from frame to frame.

    t-SNE yields its start, which is the PCA map, and then after each of `stages` parts of 250
    iterations (a single part is of 500); PCA and UMAP yield once.

    Raises: as `project`.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    _check_dimensions(dimensions)
    rows = as_matrix(matrix)
    reference = None if orientation is None else as_matrix(orientation)
    if method == "pca":
        maps: Iterator[np.ndarray] = iter([pca(rows, dimensions).points])
    elif method == "tsne":
        maps = _tsne(rows, dimensions, seed, perplexity, stages)
    else:
        maps = _umap(rows, dimensions, seed, neighbours)
    for points in maps:
        reference = points if reference is None else align(points, reference)
        yield reference


def _tsne(
    rows: np.ndarray, dimensions: int, seed: int, perplexity: float, stages: int
) -> Iterator[np.ndarray]:
    try:
        from sklearn.manifold import TSNE
    except ModuleNotFoundError as error:
        raise _not_installed("tsne", "scikit-learn") from error
    if len(rows) < 4:
        raise ValueError(f"t-SNE needs at least 4 points; got {len(rows)}")
    if not perplexity >= 1:
        raise ValueError(f"perplexity must be 1 or more; got {perplexity}")
    if dimensions > 3:
        raise ValueError(f"t-SNE draws in at most 3 dimensions; got {dimensions}")
    start = pca(rows, dimensions).points
    spread = start[:, 0].std()
    points = start / spread * 1e-4 if spread > 0 else start
    yield points
    for stage in range(stages):
        model = TSNE(
            n_components=dimensions,
            perplexity=min(perplexity, (len(rows) - 1) / 3),
            init=points.astype(np.float32),
            random_state=seed,
            max_iter=2 * TSNE_STAGE if stages == 1 else TSNE_STAGE,
            # The clusters are pulled apart once, at the beginning.
            early_exaggeration=12.0 if stage == 0 else 1.0,
            angle=ANGLE,
        )
        points = model.fit_transform(rows.astype(np.float32)).astype(np.float64)
        yield points


def _umap(rows: np.ndarray, dimensions: int, seed: int, neighbours: int) -> Iterator[np.ndarray]:
    try:
        from llmviz.similarity.compiled import umap_class

        umap = umap_class()
    except ModuleNotFoundError as error:
        raise _not_installed("umap", "umap-learn") from error
    if len(rows) <= dimensions + 1:
        raise ValueError(f"UMAP needs more than {dimensions + 1} points; got {len(rows)}")
    if neighbours < 2:
        raise ValueError(f"neighbours must be 2 or more; got {neighbours}")
    model = umap(
        n_components=dimensions,
        n_neighbors=min(neighbours, len(rows) - 1),
        random_state=seed,
        n_jobs=1,  # with a seed it works alone
    )
    yield np.asarray(model.fit_transform(rows), dtype=np.float64)


def align(points: ArrayLike, reference: ArrayLike) -> np.ndarray:
    """Return a map (N, d) turned, mirrored and moved to lie on another of the same points.

    Distances between points do not change: nothing is stretched.

    Raises: ValueError for unequal shapes.

    Reference: Schönemann 1966 (the orthogonal Procrustes problem).
    """
    points, reference = as_matrix(points), as_matrix(reference)
    if points.shape != reference.shape:
        raise ValueError(
            f"maps must have the same points and dimensions; got {points.shape} and "
            f"{reference.shape}"
        )
    centre = reference.mean(axis=0)
    centred = points - points.mean(axis=0)
    u, _, vt = np.linalg.svd(centred.T @ (reference - centre))
    return centred @ (u @ vt) + centre


def _check_dimensions(dimensions: int) -> None:
    if dimensions < 1:
        raise ValueError(f"a map needs 1 dimension or more; got {dimensions}")


def _not_installed(method: str, package: str) -> ValueError:
    others = " or ".join(m for m in METHODS if m != method)
    return ValueError(f"{method} needs the package {package}, which is not installed; or {others}")

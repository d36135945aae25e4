"""UMAP with its compiled code kept on disk, so that it is compiled once a machine, not once a run.

umap-learn is compiled by numba when it is first used, for some ten seconds in every new process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

SMALL = 64  # points of a map that is drawn for nothing but what it compiles


def umap_class() -> type:
    """Return the class UMAP; the first call in a process imports it, which takes two seconds.

    What numba compiles for it is kept where numba keeps such things: beside the package, or in
    the user's cache where that cannot be written.

    Raises: ModuleNotFoundError where umap-learn is not installed.
    """
    import numba

    own = numba.njit

    def kept(*arguments: Any, **settings: Any) -> Any:
        return own(*arguments, **{"cache": True, **settings})

    numba.njit = kept  # while the packages of UMAP are imported, and no longer
    try:
        from umap import UMAP
    finally:
        numba.njit = own
    return UMAP


def loaded() -> Iterator[None]:
    """Import UMAP in this process; yields nothing. A job for the process that draws."""
    umap_class()
    yield from ()


def compiled() -> Iterator[None]:
    """Draw a small map, so that everything is compiled and on disk; yields nothing."""
    rows = np.random.default_rng(0).normal(size=(SMALL, 8))
    for dimensions in (2, 3):
        umap_class()(n_components=dimensions, random_state=0, n_jobs=1).fit_transform(rows)
    yield from ()

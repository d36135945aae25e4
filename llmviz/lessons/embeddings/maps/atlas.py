"""Maps and what is true about them, computed once for all sessions.

N points, C numbers in a vector, d dimensions of a map.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st

from llmviz.background import OVER, Job
from llmviz.corpus import word_categories
from llmviz.lessons.embeddings import sources
from llmviz.lessons.embeddings.maps.params import MOST_NEAR
from llmviz.similarity import VectorTable, neighbour_ids, project
from llmviz.similarity.trust import neighbour_ranks, trust_of_points
from llmviz.ui import engine
from llmviz.ui.job_pools import map_jobs

STEPS = "llmviz.similarity.projection:project_steps"
KEPT = 48  # maps


@dataclass(frozen=True)
class Ground:
    """The vectors that are mapped, and their true neighbours."""

    table: VectorTable
    rows: np.ndarray  # (N,) of the table
    labels: list[str]  # N
    kinds: np.ndarray  # (N,) of word_categories, -1 for none
    vectors: np.ndarray  # (N, C); of length 1 where nearness is the cosine
    left_out: int  # rows of zeros, which have no direction
    ranks: np.ndarray  # (N, N) place of each among the neighbours of each
    near: np.ndarray  # (N, k) true neighbours, nearest first
    name: tuple[Any, ...]  # what it depends on

    @property
    def size(self) -> int:
        """N."""
        return len(self.rows)


@dataclass(frozen=True)
class Request:
    """One map, fully described."""

    method: str
    dimensions: int
    seed: int
    perplexity: float
    graph: int

    def arguments(self) -> dict[str, Any]:
        """The arguments of `project` besides the vectors."""
        return {
            "method": self.method,
            "dimensions": self.dimensions,
            "seed": self.seed,
            "perplexity": self.perplexity,
            "neighbours": self.graph,
        }


@dataclass
class Drawing:
    """A map that is being drawn, or is done."""

    job: Job
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it was asked for."""
        return time.monotonic() - self.started


@dataclass(frozen=True)
class Judged:
    """A map and how true it is."""

    points: np.ndarray  # (N, d)
    near: np.ndarray  # (N, k) neighbours on the map
    true: np.ndarray  # (N, k) neighbours in truth
    trust: np.ndarray  # (N,)
    kept: np.ndarray  # (N,) how many of the true neighbours are neighbours on the map

    @property
    def k(self) -> int:
        """Neighbours looked at."""
        return self.near.shape[1]


def ground(name: str, points: int, by: str) -> Ground:
    """Return what is mapped: `points` tokens of a model, words of known kinds first.

    Raises ValueError: there is no such model, or it has no table.
    """
    return _ground(name, engine.version(name), points, by)


@st.cache_resource(max_entries=8, show_spinner=False)
def _ground(name: str, version: Any, points: int, by: str) -> Ground:
    table = sources.table(name)
    rows = mapped_rows(table, points)
    vectors = table.matrix[rows].astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    whole = lengths > 0 if by == "cosine" else np.ones(len(rows), dtype=bool)
    rows, vectors = rows[whole], vectors[whole]
    if by == "cosine":  # at length 1 the order by distance is the order by cosine
        vectors = vectors / lengths[whole, None]
    labels = [table.bytes_of[row].decode("utf-8", "replace").strip() for row in rows]
    names = sources.labels(table)
    labels = [label or names[row] for label, row in zip(labels, rows, strict=True)]
    return Ground(
        table,
        rows,
        labels,
        _kinds(labels),
        vectors,
        int((~whole).sum()),
        neighbour_ranks(vectors).astype(np.int16),  # there are 2,000 points at most
        neighbour_ids(vectors, min(MOST_NEAR, len(rows) - 1)),
        (name, version, points, by),
    )


def mapped_rows(table: VectorTable, points: int) -> np.ndarray:
    """Return which rows of a table are mapped, at most `points`.

    Words of known kinds come first, one of each kind in turn; then the other whole words, then
    all other tokens, in the order of the table.
    """
    words = table.rows_of_words
    whole = set(table.whole_words)
    kinds = [[words[w] for w in kind if w in whole] for kind in word_categories().values()]
    turns = [
        kind[turn]
        for turn in range(max(map(len, kinds), default=0))
        for kind in kinds
        if turn < len(kind)
    ]
    special = set(table.tokenizer.special_tokens.values())
    others = [words[word] for word in table.whole_words]
    rest = [row for row in range(table.size) if row not in special]
    return np.array(list(dict.fromkeys([*turns, *others, *rest]))[:points], dtype=np.int64)


def _kinds(labels: list[str]) -> np.ndarray:
    kind = {word: k for k, members in enumerate(word_categories().values()) for word in members}
    return np.array([kind.get(label, -1) for label in labels], dtype=np.int32)


# ---- drawing


class Atlas:
    """The maps of a server; the oldest unused one goes when there are too many."""

    def __init__(self) -> None:
        self._drawings: OrderedDict[Any, Drawing] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, ground: Ground, request: Request) -> Drawing | None:
        """Return a map that was asked for before, if it is still there and did not fail."""
        with self._lock:
            drawing = self._drawings.get((ground.name, request))
            if drawing is None:
                return None
            self._drawings.move_to_end((ground.name, request))
            return drawing

    def ask(self, ground: Ground, request: Request) -> Drawing:
        """Return a map, beginning it in the background if nobody has asked for it yet."""
        found = self.find(ground, request)
        if found is not None:
            return found
        job = map_jobs().start(
            STEPS,
            matrix=ground.vectors,
            orientation=project(ground.vectors, "pca", request.dimensions),
            **request.arguments(),
        )
        drawing = Drawing(job)
        with self._lock:
            self._drawings[ground.name, request] = drawing
            done = [key for key, one in self._drawings.items() if one.job.state in OVER]
            for key in done[: max(0, len(self._drawings) - KEPT)]:
                del self._drawings[key]
        return drawing

    def forget(self, ground: Ground, request: Request) -> None:
        """Let go of a map, so that it can be tried again."""
        with self._lock:
            self._drawings.pop((ground.name, request), None)


@st.cache_resource(show_spinner=False)
def atlas() -> Atlas:
    """Return the maps of this server."""
    return Atlas()


@st.cache_data(max_entries=24, show_spinner=False)
def flat_map(name: tuple[Any, ...], _vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """Return the PCA map (N, d), which takes no waiting."""
    return project(_vectors, "pca", dimensions)


def judge(ground: Ground, points: np.ndarray, k: int) -> Judged:
    """Return a map with the k neighbours of each point on it and in truth, and what that says.

    k is lowered to below half of the points.
    """
    k = max(1, min(k, (ground.size - 1) // 2))
    near = _near(points, ground.near.shape[1])[:, :k]
    kept = (np.take_along_axis(ground.ranks, near, axis=1) <= k).sum(axis=1)
    return Judged(points, near, ground.near[:, :k], trust_of_points(ground.ranks, near), kept)


@st.cache_data(max_entries=64, show_spinner=False)
def _near(points: np.ndarray, k: int) -> np.ndarray:
    return neighbour_ids(points, k)

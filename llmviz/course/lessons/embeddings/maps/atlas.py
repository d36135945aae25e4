"""Maps and what is true about them, computed once for all sessions.

N points, d dimensions of a map.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.word_maps import Judged, Mapped, judge, mapped
from llmviz.course.ui import engine, kit
from llmviz.processes.background import STOPPED
from llmviz.similarity import neighbour_ids, project

STEPS = "llmviz.similarity.projection:project_steps"
KEPT = 48  # maps


@dataclass(frozen=True, eq=False)  # equal to itself alone: results are kept by identity
class Ground(Mapped):
    """What is mapped; `name` is what it depends on, the model's first."""

    name: tuple[Any, ...] = ()


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

    job: kit.Job
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it was asked for."""
        return time.monotonic() - self.started


def ground(name: str, points: int, by: str, *, untrained: bool = False) -> Ground:
    """Return what is mapped: `points` tokens of a model, words of known kinds first.

    untrained: the random table that such a model begins with, instead of its own.
    Raises ValueError: there is no such model, or it has no table.
    """
    return _ground(engine.load(name), points, by, untrained)


@kit.cached(8)
def _ground(bundled: engine.Bundled, points: int, by: str, untrained: bool) -> Ground:
    table = (sources.untrained if untrained else sources.table)(bundled.name)
    on_map = mapped(table, points, by, sources.labels(table))
    return Ground(**vars(on_map), name=(*bundled.kept_as, points, by, untrained))


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
            if drawing is None or drawing.job.state == STOPPED:  # nobody waited for it
                return None
            self._drawings.move_to_end((ground.name, request))
            return drawing

    def ask(self, ground: Ground, request: Request) -> Drawing:
        """Return a map, beginning it in the background if nobody has asked for it yet."""
        known = self.find(ground, request)
        if known is not None:
            return known
        job = kit.map_jobs().start(
            STEPS,
            matrix=ground.vectors,
            orientation=project(ground.vectors, "pca", request.dimensions),
            **request.arguments(),
        )
        drawing = Drawing(job)
        with self._lock:
            self._drawings[ground.name, request] = drawing
            done = [key for key, drawing in self._drawings.items() if drawing.job.ended]
            for key in done[: max(0, len(self._drawings) - KEPT)]:
                del self._drawings[key]
        return drawing

    def forget(self, ground: Ground, request: Request) -> None:
        """Drop a map, so that it can be tried again."""
        with self._lock:
            self._drawings.pop((ground.name, request), None)


atlas = kit.cached(1)(Atlas)


@kit.cached(24)
def flat_map(ground: Ground, dimensions: int) -> np.ndarray:
    """Return the PCA map (N, d), which takes no waiting."""
    return project(ground.vectors, "pca", dimensions)


def judged(ground: Ground, points: np.ndarray, k: int) -> Judged:
    """Return a map (N, d) with the k neighbours of each point on it and in truth."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    return _judged(ground, points.shape, points.tobytes(), k)


@kit.cached(64)
def _judged(ground: Ground, shape: tuple[int, int], numbers: bytes, k: int) -> Judged:
    near = _near(shape, numbers, ground.near.shape[1])
    return judge(ground, np.frombuffer(numbers).reshape(shape), k, near)


@kit.cached(64)
def _near(shape: tuple[int, int], numbers: bytes, k: int) -> np.ndarray:
    return neighbour_ids(np.frombuffer(numbers).reshape(shape), k)

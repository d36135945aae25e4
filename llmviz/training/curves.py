"""The curve of a run as columns, and what a chart does to it: smoothing, thinning, other units."""

from __future__ import annotations

import dataclasses
import math
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from llmviz.files.text import table_cell
from llmviz.training.measures import LN2
from llmviz.training.reading import Metrics
from llmviz.training.train_record import TrainRecord

UNITS = ("nats", "perplexity", "bits")
AXES = ("steps", "tokens", "seconds")
KEPT_POINTS = 20_000  # of a run, however many lines its file has; no page draws as many
_COLUMNS = {
    "steps": "step",
    "tokens": "tokens",
    "seconds": "seconds",
    "train": "train_loss",
    "validation": "validation_loss",
    "lr": "lr",
    "grad_norm": "grad_norm",
    "rate": "tokens_per_second",
}


@dataclass(frozen=True, eq=False)  # the same only as itself, so that results can be kept by it
class Curve:
    """A run's N records as columns (N,) of float64, NaN where nothing was measured.

    steps: updates done; tokens: targets seen; seconds: training time, pauses not counted; train,
    validation: nats per token; lr: learning rate; grad_norm: before clipping; rate: tokens a
    second. samples: (index, text) of the records that hold a text. lines: how many records the
    run has; more than N where the curve is so long that not all of them are kept here.
    """

    steps: np.ndarray
    tokens: np.ndarray
    seconds: np.ndarray
    train: np.ndarray
    validation: np.ndarray
    lr: np.ndarray
    grad_norm: np.ndarray
    rate: np.ndarray
    samples: tuple[tuple[int, str], ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    lines: int = 0

    def __len__(self) -> int:
        return len(self.steps)

    def column(self, name: str) -> np.ndarray:
        """One of the columns by name."""
        return getattr(self, name)

    @property
    def last_validation(self) -> float | None:
        """The newest validation loss, or None."""
        measured = np.flatnonzero(~np.isnan(self.validation))
        return float(self.validation[measured[-1]]) if measured.size else None

    @classmethod
    def from_records(cls, records: list[TrainRecord]) -> Curve:
        """The columns of records, oldest first."""
        columns = {
            name: np.array([getattr(record, entry) for record in records], dtype=float)
            for name, entry in _COLUMNS.items()
        }
        return cls(
            **columns,
            samples=tuple((i, r.sample) for i, r in enumerate(records) if r.sample is not None),
            notes=tuple((i, note) for i, r in enumerate(records) for note in r.notes),
            lines=len(records),
        )

    def __add__(self, later: Curve) -> Curve:
        shift = len(self)
        columns = {
            name: np.concatenate([self.column(name), later.column(name)]) for name in _COLUMNS
        }
        return Curve(
            **columns,
            samples=self.samples + tuple((i + shift, text) for i, text in later.samples),
            notes=self.notes + tuple((i + shift, text) for i, text in later.notes),
            lines=self.lines + later.lines,
        )


EMPTY = Curve.from_records([])


@dataclass
class CurveFile:
    """A run's curve that may still grow; many readers may share one, from any thread."""

    folder: Path
    curve: Curve = EMPTY
    _last: TrainRecord | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self._metrics = Metrics(self.folder, KEPT_POINTS)

    def read(self) -> Curve:
        """The curve so far: the same object while nothing was added.

        Of more than KEPT_POINTS records some are left out, as `Metrics` says.

        Raises CheckpointError for a line that is no record.
        """
        with self._lock:
            records, known = self._metrics.read(), len(self.curve)
            if known and (len(records) < known or records[known - 1] is not self._last):
                self.curve, known = EMPTY, 0
            if len(records) > known:
                longer = self.curve + Curve.from_records(records[known:])
                self.curve = dataclasses.replace(longer, lines=self._metrics.lines)
            self._last = records[-1] if records else None
            return self.curve


def smooth(values: np.ndarray, weight: float) -> np.ndarray:
    """An exponential mean of what came before and the point itself; it never looks ahead.

    values (N,); weight: share of the past in each new mean, 0 ≤ weight < 1; 0 changes nothing.
    The start is corrected for the mean having begun at zero, so that a constant stays constant.
    Raises ValueError for another weight.

    >>> smooth(np.array([2.0, 2.0, 5.0]), 0.5)
    array([2.        , 2.        , 3.71428571])

    Reference: Kingma and Ba 2015 (Adam), section 3, the bias correction.
    """
    if not 0 <= weight < 1:
        raise ValueError(f"the weight of smoothing must be at least 0 and below 1; got {weight}")
    if weight == 0:
        return values.astype(float)
    means, mean, part = np.empty(len(values)), 0.0, 1.0
    for i, value in enumerate(values.tolist()):
        mean = weight * mean + (1 - weight) * value
        part *= weight
        means[i] = mean / (1 - part)
    return means


def thin(values: np.ndarray, limit: int) -> np.ndarray:
    """Which of N points to draw so that no peak is lost: (n,) indices, n ≤ limit, ascending.

    The points are cut into even pieces; of each the lowest and the highest stay, and the first and
    the last of all. All N where they are no more than `limit`. Raises ValueError below 4.
    """
    if limit < 4:
        raise ValueError(f"a curve is drawn with at least 4 points; got {limit}")
    count = len(values)
    if count <= limit:
        return np.arange(count)
    pieces = (limit - 2) // 2
    piece = np.arange(count) * pieces // count
    order = np.lexsort((values, piece))  # piece by piece, each from its lowest to its highest
    first = np.flatnonzero(np.diff(piece, prepend=-1))
    last = np.append(first[1:], count) - 1
    return np.unique(np.concatenate([order[first], order[last], [0, count - 1]]))


def in_unit(nats: np.ndarray | float, unit: str, tokens_per_byte: float) -> np.ndarray:
    """A loss in nats per token as perplexity, or in bits for each byte of the text.

    Raises ValueError for a unit that is not one of UNITS.
    """
    values = np.asarray(nats, dtype=float)
    if unit == "nats":
        return values
    if unit == "perplexity":
        with np.errstate(over="ignore"):
            return np.exp(values)
    if unit == "bits":
        return values / LN2 * tokens_per_byte
    raise ValueError(f"unit must be one of {', '.join(UNITS)}; got {unit!r}")


def points_each(runs: int, total: int = 40_000, least: int = 400, most: int = 8_000) -> int:
    """How many points of each run are drawn, so that a chart of many or long runs stays quick.

    It is halved as runs are added, not cut a little each time: what was thinned stays of use.
    """
    limit = most
    while limit > least and limit * runs > total:
        limit //= 2
    return max(least, limit)


def time_left(curve: Curve, steps: int) -> float | None:
    """Seconds until the last step at the mean speed of the newest points; None before there are."""
    recent = slice(max(0, len(curve) - 50), None)
    done, seconds = curve.steps[recent], curve.seconds[recent]
    if len(done) < 2 or done[-1] == done[0]:
        return None
    each = (seconds[-1] - seconds[0]) / (done[-1] - done[0])
    return max(0.0, float(each * (steps - done[-1])))


def csv_rows(name: str, curve: Curve) -> list[str]:
    """The lines of a run in a table of runs, one a record, every number in full."""
    samples = dict(curve.samples)
    rows = []
    for i in range(len(curve)):
        cells = [_cell(curve.column(column)[i]) for column in _COLUMNS]
        rows.append(",".join([_quoted(name), *cells, _quoted(samples.get(i, ""))]))
    return rows


CSV_HEAD = ",".join(["run", *_COLUMNS.values(), "sample"])


def _cell(value: float) -> str:
    if math.isnan(value):
        return ""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _quoted(text: str) -> str:
    """A text as a cell between quotes."""
    text = table_cell(text)
    return '"' + text.replace('"', '""') + '"' if text else ""

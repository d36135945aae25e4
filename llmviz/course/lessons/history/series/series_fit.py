"""A series told from its own last values: least squares with the normal equations, and forecasts.

X(t) = b₀ + b₁·X(t − 1) + … + b_p·X(t − p). T values, p lags, N rows that have all of their lags.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

MOST = 400  # values of a series
GAPS = ("", "-", "–", "?", "nan", "na")  # how a missing value is written
# A direction of the columns that is smaller than this share of the largest counts as none: the
# normal equations square it, and half of the digits that a number has would not be enough.
NEARLY = 1e-6


class SeriesError(ValueError):
    """Why a series cannot be fitted: the rule, and the value that broke it."""


@dataclass(frozen=True)
class Fit:
    """Least squares on a series.

    x (N, p + 1): a column of ones, then the values 1 to p steps before. y (N,): what followed.
    left_out: how many rows touch a gap. normal (p + 1, p + 1): XᵀX. right (p + 1,): Xᵀy.
    inverse (p + 1, p + 1): of XᵀX. b (p + 1,): the coefficients, the constant first. errors (N,):
    y − X·b.
    """

    x: np.ndarray
    y: np.ndarray
    left_out: int
    normal: np.ndarray
    right: np.ndarray
    inverse: np.ndarray
    b: np.ndarray
    errors: np.ndarray

    @property
    def lags(self) -> int:
        """How many values before are looked at, p."""
        return self.x.shape[1] - 1

    @property
    def mean_square(self) -> float:
        """The mean of the squared errors."""
        return float((self.errors**2).mean())


def read_series(text: str) -> np.ndarray:
    """Return the numbers of a text, (T,) in float64; a gap is NaN.

    Numbers stand between commas, semicolons, spaces or new lines. A gap is written -, ?, nan or as
    nothing between two commas.
    Raises SeriesError for a word that is no number, for no number, and for more than 400.

    >>> read_series("1, 2.5, , 4").tolist()
    [1.0, 2.5, nan, 4.0]
    """
    parts: list[str] = []
    for piece in re.split(r"[,;]", text.strip().strip(",;")):
        parts += piece.split() or [""]
    values = []
    for part in parts:
        if part.lower() in GAPS:
            values.append(math.nan)
            continue
        try:
            values.append(float(part.replace("−", "-")))
        except ValueError:
            raise SeriesError(f"a series holds numbers; got {part[:40]!r}") from None
        if not math.isfinite(values[-1]) or abs(values[-1]) > 1e9:
            raise SeriesError(f"a value must lie between −10⁹ and 10⁹; got {part[:40]!r}")
    if all(math.isnan(value) for value in values):
        raise SeriesError("there is no number yet")
    if len(values) > MOST:
        raise SeriesError(f"a series has at most {MOST} values here; got {len(values)}")
    return np.array(values)


def fit_series(values: np.ndarray, lags: int) -> Fit:
    """Fit each value of a series (T,) from the `lags` values before it, by least squares.

    The coefficients solve the normal equations XᵀX·b = Xᵀy. Rows that touch a gap (NaN) are left
    out.
    Raises SeriesError where there is no single best b: fewer rows than coefficients, or columns of
    X that say the same.

    Reference: Legendre 1805 and Gauss 1809 (least squares); Yule 1927 (a series from its own past).
    """
    if lags < 1:
        raise SeriesError(f"at least 1 lag is needed; got {lags}")
    there = len(values) - lags
    if there < 1:
        raise SeriesError(
            f"with {_values(lags)} before each one needs at least {lags + 1} values; "
            f"the part that is fitted has {len(values)}"
        )
    windows = np.lib.stride_tricks.sliding_window_view(values, lags + 1)  # (T − p, p + 1)
    whole = ~np.isnan(windows).any(1)
    x = np.column_stack([np.ones(int(whole.sum())), windows[whole][:, -2::-1]])
    y = windows[whole][:, -1]
    if len(x) <= lags:
        raise SeriesError(
            f"{lags + 1} coefficients need at least {lags + 1} rows; with {_values(lags)} before "
            f"each there {'is' if len(x) == 1 else 'are'} {len(x)} without a gap"
        )
    _check_columns(x)
    normal, right = x.T @ x, x.T @ y
    # By way of columns of one length, whose products are less far apart.
    sizes = np.outer(*[np.linalg.norm(x, axis=0)] * 2)
    inverse = np.linalg.inv(normal / sizes) / sizes
    b = inverse @ right
    return Fit(x, y, there - len(x), normal, right, inverse, b, y - x @ b)


def _values(lags: int) -> str:
    return f"{lags} value" if lags == 1 else f"{lags} values"


def _check_columns(x: np.ndarray) -> None:
    if (x[:, 1:] == x[0, 1]).all():
        raise SeriesError(
            f"all values that are looked back at are {x[0, 1]:g}, so each column is a multiple of "
            "the column of ones: infinitely many b fit equally well"
        )
    strengths = np.linalg.svd(x / np.linalg.norm(x, axis=0).clip(min=1e-300), compute_uv=False)
    rank = int((strengths > NEARLY * strengths[0]).sum())
    if rank < x.shape[1]:
        raise SeriesError(
            f"only {rank} of the {x.shape[1]} columns of X are independent; the others follow from "
            "them, to six digits or exactly. So XᵀX has no reliable inverse: infinitely many b "
            "fit equally well. Fewer lags may help"
        )


def forecast(values: np.ndarray, b: np.ndarray, steps: int) -> np.ndarray:
    """Return the next `steps` values, (steps,), each from the ones before, forecasts among them.

    values: a series that ends with len(b) − 1 values without a gap; SeriesError else.
    """
    lags = len(b) - 1
    known = [float(value) for value in values[len(values) - lags :]]
    if len(known) < lags or any(math.isnan(value) for value in known):
        raise SeriesError(f"a forecast needs the last {_values(lags)}, and one of them is a gap")
    for _ in range(steps):
        known.append(float(b[0] + np.dot(b[1:], known[: -lags - 1 : -1])))
    return np.array(known[lags:])


def running_error(forecasts: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the root of the mean squared error of the first h forecasts, for each h, (steps,).

    Gaps in the truth are passed over; NaN before the first value that is known.
    """
    squares = (forecasts - truth) ** 2
    known = ~np.isnan(squares)
    counts = np.cumsum(known)
    sums = np.cumsum(np.where(known, squares, 0.0))
    return np.sqrt(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0))


def swing(steps: int, period: float = 12.0, fades: float = 0.96) -> np.ndarray:
    """Return a damped swing, (steps,): fadesᵗ · cos(2π·t ÷ period), times 10.

    It obeys X(t) = 2·fades·cos(2π ÷ period)·X(t − 1) − fades²·X(t − 2) exactly.
    """
    t = np.arange(steps)
    return 10 * fades**t * np.cos(2 * np.pi * t / period)

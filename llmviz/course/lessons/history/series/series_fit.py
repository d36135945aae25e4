"""A series told from its own last values: least squares with the normal equations, and forecasts.

X(t) = b₀ + b₁·X(t − 1) + … + b_p·X(t − p). T values, p lags, N rows that have all of their lags.
The measured series: the sunspot number, year by year, and a sea's temperature, month by month.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

FIRST_YEAR = 1749
# Wolfer's yearly sunspot numbers, 1749 to 1924: the series that Yule fitted in 1927, "On a method
# of investigating periodicities in disturbed series", Philosophical Transactions A 226.
_SUNSPOTS = (
    *(80.9, 83.4, 47.7, 47.8, 30.7, 12.2, 9.6, 10.2, 32.4, 47.6, 54, 62.9, 85.9, 61.2, 45.1),
    *(36.4, 20.9, 11.4, 37.8, 69.8, 106.1, 100.8, 81.6, 66.5, 34.8, 30.6, 7, 19.8, 92.5, 154.4),
    *(125.9, 84.8, 68.1, 38.5, 22.8, 10.2, 24.1, 82.9, 132, 130.9, 118.1, 89.9, 66.6, 60, 46.9),
    *(41, 21.3, 16, 6.4, 4.1, 6.8, 14.5, 34, 45, 43.1, 47.5, 42.2, 28.1, 10.1, 8.1, 2.5, 0, 1.4),
    *(5, 12.2, 13.9, 35.4, 45.8, 41.1, 30.1, 23.9, 15.6, 6.6, 4, 1.8, 8.5, 16.6, 36.3, 49.6),
    *(64.2, 67, 70.9, 47.8, 27.5, 8.5, 13.2, 56.9, 121.5, 138.3, 103.2, 85.7, 64.6, 36.7, 24.2),
    *(10.7, 15, 40.1, 61.5, 98.5, 124.7, 96.3, 66.6, 64.5, 54.1, 39, 20.6, 6.7, 4.3, 22.7, 54.8),
    *(93.8, 95.8, 77.2, 59.1, 44, 47, 30.5, 16.3, 7.3, 37.6, 74, 139, 111.2, 101.6, 66.2, 44.7),
    *(17, 11.3, 12.4, 3.4, 6, 32.3, 54.3, 59.7, 63.7, 63.5, 52.2, 25.4, 13.1, 6.8, 6.3, 7.1),
    *(35.6, 73, 85.1, 78, 64, 41.8, 26.2, 26.7, 12.1, 9.5, 2.7, 5, 24.4, 42, 63.5, 53.8, 62),
    *(48.5, 43.9, 18.6, 5.7, 3.6, 1.4, 9.6, 47.4, 57.1, 103.9, 80.6, 63.6, 37.6, 26.1, 14.2),
    *(5.8, 16.7),
)

FIRST_MONTH = 1995  # the year whose January is the first value
# Sea surface temperature in degrees Celsius, the mean of each month, January 1995 to December 2009:
# Pacific, 0 to 10 degrees south, 90 to 80 degrees west (Niño 1+2). NOAA, ERSST.V3B; public domain.
_SEA = (
    *(25.48, 26.25, 26.09, 24.32, 23.37, 22.43, 21.42, 20.46, 20.5, 20.62, 21.49, 22.03),
    *(23.81, 25.52, 26.28, 24, 23.11, 21.66, 20.72, 20.23, 20.43, 20.52, 20.77, 21.68),
    *(23.7, 26.08, 27.17, 26.74, 26.77, 26.15, 25.59, 24.95, 24.69, 24.64, 25.85, 27.08),
    *(28.12, 28.82, 29.24, 28.45, 27.36, 25.19, 23.61, 22.27, 21.31, 21.37, 21.6, 22.81),
    *(24.23, 25.73, 26.47, 24.53, 23.64, 22.09, 21.36, 20.67, 20.08, 20.46, 20.62, 22.42),
    *(24.01, 25.38, 25.67, 25.53, 24.27, 22.93, 21.47, 20.07, 20.64, 20.9, 20.67, 22.08),
    *(24.24, 26.11, 26.89, 25.99, 23.98, 22.71, 21.48, 20.24, 19.73, 20.14, 20.68, 21.73),
    *(24.09, 26.23, 27.39, 26.44, 25.29, 23.28, 21.64, 21.32, 21.42, 21.85, 22.85, 24.05),
    *(25.01, 26.27, 26.91, 25.41, 23.24, 22.15, 21.5, 21.25, 20.75, 21.7, 22.33, 23.6),
    *(25.09, 26.47, 26.12, 25.27, 23.44, 22.54, 21.26, 20.79, 20.83, 21.56, 22.88, 23.39),
    *(24.61, 25.09, 25.23, 25.21, 24.31, 22.6, 21.61, 20.47, 20, 19.89, 20.61, 22.2),
    *(24.76, 26.52, 26.22, 24.29, 23.84, 22.82, 22.2, 21.89, 21.93, 22.46, 22.61, 24.15),
    *(25.82, 26.81, 26.41, 24.96, 23.05, 21.61, 21.05, 19.95, 19.85, 19.31, 19.82, 21.15),
    *(24.24, 26.39, 26.91, 25.68, 24.43, 23.19, 23.02, 22.14, 21.6, 21.39, 21.54, 22.73),
    *(24.39, 25.53, 25.48, 25.84, 24.95, 24.09, 23.09, 22.03, 21.48, 21.64, 21.99, 23.21),
)


def sunspots() -> np.ndarray:
    """Return the yearly mean sunspot numbers from FIRST_YEAR to 1924, (176,)."""
    return np.array(_SUNSPOTS, dtype=float)


def sea_temperatures() -> np.ndarray:
    """Return monthly means in degrees Celsius from January of FIRST_MONTH on, (180,)."""
    return np.array(_SEA, dtype=float)


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

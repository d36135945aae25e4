"""A scaling law fitted to runs: L = E + A / N^α + B / D^β, with intervals.

R runs; N parameters, D tokens, L loss in nats per token.

Reference: Hoffmann et al. 2022, "Training Compute-Optimal Large Language Models", approach 3: the
Huber loss of ln L, minimised by L-BFGS from many starting values. Besiroglu et al. 2024 repeat it.

`python -m experiments make scaling-fits` fits the bundled runs again, by which runs are taken and
what counts as a parameter, some minutes on one core, and writes
`data/experiments/scaling-fits.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from llmviz.course.lessons.discoveries.scaling.scaling_runs import AMOUNTS, SIZES, ScalingRun
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

HUBER = 1e-3  # of ln L: from which distance on a run pulls no harder
# Starting values: ln A and ln B, the exponents, ln E. All combinations are tried.
STARTS = ((0.0, 5.0, 10.0), (0.0, 5.0, 10.0), (0.2, 0.8), (0.2, 0.8), (-1.0, 0.0, 1.0))
LEAST = 5  # runs, as many as the law has constants
DRAWS = 200  # of the runs, for an interval
COVERED = 0.9  # share of the draws that an interval holds


@dataclass(frozen=True)
class Law:
    """The constants of a law, and the Huber loss that is left, mean of the runs."""

    e: float
    a: float
    alpha: float
    b: float
    beta: float
    left: float = 0.0

    def loss(self, n: np.ndarray | float, d: np.ndarray | float) -> np.ndarray:
        """The loss that the law says for N parameters and D tokens."""
        n, d = np.asarray(n, float), np.asarray(d, float)
        return self.e + self.a / n**self.alpha + self.b / d**self.beta

    def best_size(self, compute: float) -> float:
        """The number of parameters with the least loss for a compute of 6·N·D.

        That is where α·A/N^α = β·B/D^β: Hoffmann et al. 2022, equation 4.
        """
        each = self.alpha + self.beta
        g = (self.alpha * self.a / (self.beta * self.b)) ** (1 / each)
        return float(g * (compute / 6) ** (self.beta / each))


def check(n: np.ndarray, d: np.ndarray, losses: np.ndarray) -> None:
    """Raise ValueError, with the rule and the value, where no law can be fitted to the runs."""
    if len(n) < LEAST:
        raise ValueError(f"a law of {LEAST} constants needs at least {LEAST} runs; got {len(n)}")
    for values, what in ((n, "sizes"), (d, "amounts of text")):
        if len(np.unique(values)) < 3:
            raise ValueError(
                f"a curve over {what} needs at least 3 of them; got {len(np.unique(values))}"
            )
    if not (np.isfinite(losses).all() and (losses > 0).all()):
        raise ValueError("every loss must be above 0 and finite")


def objective(
    x: np.ndarray, log_n: np.ndarray, log_d: np.ndarray, log_l: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the mean Huber loss of ln L, and its gradient by x = (ln A, ln B, α, β, ln E)."""
    a, b, alpha, beta, e = x
    parts = np.stack([a - alpha * log_n, b - beta * log_d, np.full_like(log_n, e)])  # (3, R)
    top = parts.max(0)
    said = top + np.log(np.exp(parts - top).sum(0))
    weights = np.exp(parts - said)  # of each part in the loss
    apart = said - log_l
    far = np.abs(apart) > HUBER
    cost = np.where(far, HUBER * (np.abs(apart) - HUBER / 2), apart**2 / 2)
    pull = np.clip(apart, -HUBER, HUBER) / len(log_n)
    by = (weights * pull).sum(1)
    gradient = np.array(
        [
            by[0],
            by[1],
            -(weights[0] * pull * log_n).sum(),
            -(weights[1] * pull * log_d).sum(),
            by[2],
        ]
    )
    return float(cost.mean()), gradient


def fit_from(
    start: Sequence[float],
    n: np.ndarray,
    d: np.ndarray,
    losses: np.ndarray,
    floor: float | None = None,
) -> Law:
    """Return the law that is found from one starting value (ln A, ln B, α, β, ln E).

    floor: an E that is given; else it is fitted, too.
    """
    from scipy.optimize import minimize

    logs = [np.log(np.asarray(values, float)) for values in (n, d, losses)]
    low_high = (-12, 3) if floor is None else (np.log(floor),) * 2
    scale = 1 / HUBER**2  # the costs are so small that the search would stop at once
    found = minimize(
        lambda x: tuple(scale * part for part in objective(x, *logs)),
        np.clip(start, [-30, -30, 0, 0, low_high[0]], [60, 60, 4, 4, low_high[1]]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-30, 60), (-30, 60), (0, 4), (0, 4), low_high],
        options={"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-8},
    )
    a, b, alpha, beta, e = found.x
    constants = (np.exp(e), np.exp(a), alpha, np.exp(b), beta, found.fun / scale)
    return Law(*map(float, constants))


def start_of(law: Law) -> tuple[float, float, float, float, float]:
    """Return a law as a starting value."""
    return (*np.log([law.a, law.b]), law.alpha, law.beta, np.log(law.e))


FILE = "scaling-fits.json"
COMMAND = "python -m experiments make scaling-fits"
ALL, BLOCKS = "parameters", "in_blocks"  # what is counted: all parameters, or those of the blocks
NEAR = 1.01  # times the least Huber loss: up to there a start has found the best law


@dataclass(frozen=True)
class Taken:
    """Which runs a law is fitted to.

    smallest, shortest: the first of SIZES and of AMOUNTS that are taken.
    """

    counted: str = ALL
    smallest: int = 0
    shortest: int = 0

    @property
    def name(self) -> str:
        return f"{self.counted}.{self.smallest}.{self.shortest}"

    def of(self, runs: Sequence[ScalingRun]) -> list[ScalingRun]:
        """Return the runs that are taken."""
        widths = {size.width for size in SIZES[self.smallest :]}
        amounts = AMOUNTS[self.shortest :]
        return [run for run in runs if run.width in widths and run.stories in amounts]

    def numbers(self, runs: Sequence[ScalingRun]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return parameters, tokens and losses of the runs that are taken (R,) each."""
        taken = self.of(runs)
        return (
            np.array([getattr(run, self.counted) for run in taken], float),
            np.array([run.tokens for run in taken], float),
            np.array([run.loss for run in taken], float),
        )


EVERY = [Taken(*choice) for choice in product((ALL, BLOCKS), range(6), range(3))]


@dataclass(frozen=True)
class Fitted:
    """The best law of all starts, how many starts found it, and its intervals.

    low, high: of each constant, in the order of Law: what COVERED of the laws of drawn runs have.
    """

    law: Law
    starts: int
    found: int
    low: tuple[float, ...]
    high: tuple[float, ...]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, Fitted]:
    """Return the bundled laws by name. Raises ValueError where they are missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["fits"], dict[str, Fitted])

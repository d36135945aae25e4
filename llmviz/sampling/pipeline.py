"""The sampling pipeline: logits, named steps, probabilities, a draw.

Shapes: V vocabulary. The whole vocabulary goes through every step; what a page leaves out of a
picture it takes from `SamplingSteps.bars`, which says how many tokens and how much mass that is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from llmviz.sampling import steps as pure
from llmviz.sampling.settings import SamplingSettings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Step:
    """One step of the pipeline and what it did. All arrays are (V,) over the whole vocabulary.

    `before` are the probabilities it was given, `cut` the tokens that it removed, `mass_cut` the
    probability that these had, and `probabilities` what is left of `before` after renormalising
    (for a step that rescales: the softmax of the new logits).
    """

    name: str
    value: object
    active: bool
    logits: np.ndarray
    before: np.ndarray = field(repr=False)
    probabilities: np.ndarray = field(repr=False)

    @property
    def kept(self) -> np.ndarray:
        """Which tokens can still be drawn after this step."""
        return ~np.isneginf(self.logits)

    @property
    def cut(self) -> np.ndarray:
        """Which tokens this very step removed."""
        return np.isneginf(self.logits) & (self.before > 0)

    @property
    def mass_cut(self) -> float:
        """The probability that the removed tokens had before."""
        return float(self.before[self.cut].sum())


@dataclass(frozen=True)
class Bars:
    """What a bar chart of `ids` shows at each step, and what it leaves out.

    `probabilities` and `kept` are (steps + 1, n): row 0 the model's own, then one row a step.
    `hidden_tokens` and `hidden_mass` (steps + 1,) belong to the tokens that have no bar and can
    still be drawn; each row of probabilities plus its hidden mass is 1.
    """

    ids: np.ndarray
    names: tuple[str, ...]
    probabilities: np.ndarray
    kept: np.ndarray
    hidden_tokens: np.ndarray
    hidden_mass: np.ndarray


class SamplingSteps:
    """The way from a model's logits (V,) to the probabilities that are drawn from.

    Nothing but the last distribution is computed until it is asked for.
    """

    def __init__(
        self,
        logits: torch.Tensor | np.ndarray | list[float],
        settings: SamplingSettings,
        previous: Iterable[int] | None = None,
    ) -> None:
        self.logits = pure.as_logits(logits)
        self.settings = settings
        if settings.top_k is not None:
            pure.check_top_k(settings.top_k, self.logits.size)
        self._run = settings.run(self.logits, previous)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every step in its order, the inactive ones too."""
        done = dict(self._run)
        logits, before, result = self.logits, self.model_probabilities, []
        for name in self.settings.order:
            active = name in done
            logits = done.get(name, logits)
            after = pure.softmax(logits) if active else before
            result.append(Step(name, self.settings.value(name), active, logits, before, after))
            before = after
        return tuple(result)

    def __getitem__(self, name: str) -> Step:
        """Return the step of that name."""
        for step in self.steps:
            if step.name == name:
                return step
        raise ValueError(f"no step is called {name!r}; there are {', '.join(self.settings.order)}")

    @cached_property
    def model_probabilities(self) -> np.ndarray:
        """The model's own probabilities (V,), before any step."""
        return pure.softmax(self.logits)

    @property
    def final_logits(self) -> np.ndarray:
        """The logits (V,) after the last step."""
        return self._run[-1][1] if self._run else self.logits

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The probabilities (V,) that are drawn from."""
        return pure.softmax(self.final_logits) if self._run else self.model_probabilities

    @property
    def kept(self) -> np.ndarray:
        """Which tokens (V,) can be drawn."""
        return ~np.isneginf(self.final_logits)

    @cached_property
    def strip(self) -> np.ndarray:
        """The token ids (V,) in the order in which they lie on the cumulative strip."""
        if self.settings.strip == "id":
            return np.arange(self.logits.size)
        return np.argsort(-self.probabilities, kind="stable")

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Where each token of the strip ends (V,); the last that can be drawn ends at 1."""
        ordered = (
            self.probabilities if self.settings.strip == "id" else self.probabilities[self.strip]
        )
        ends = np.cumsum(ordered)
        return ends / ends[-1]

    def interval(self, token: int) -> tuple[float, float]:
        """Return where a token begins and ends on the strip: it is taken when begin <= u < end."""
        if not 0 <= token < self.logits.size:
            raise ValueError(f"token id must be from 0 to {self.logits.size - 1}; got {token}")
        place = token
        if self.settings.strip != "id":
            place = int(np.flatnonzero(self.strip == token)[0])
        return float(self.cumulative[place - 1]) if place else 0.0, float(self.cumulative[place])

    def draw(self, u: float | torch.Generator | None = None) -> int:
        """Return the token on which the random number falls: the first that ends above it.

        `u` is a number with 0 <= u < 1, or a generator to take one from; None uses torch's own.
        """
        u = random_number(u)
        if not 0 <= u < 1:
            raise ValueError(f"u must be at least 0 and below 1; got {u}")
        place = self.cumulative.searchsorted(u, side="right")
        return int(place if self.settings.strip == "id" else self.strip[place])

    def draw_many(
        self, u: np.ndarray | int, generator: torch.Generator | None = None
    ) -> np.ndarray:
        """Return a token id for each random number of `u` (n,), or for n numbers when u is n."""
        if isinstance(u, int):
            import torch

            u = torch.rand(u, generator=generator, dtype=torch.float64).numpy()
        u = np.asarray(u, dtype=np.float64)
        if u.size and not (u.min() >= 0 and u.max() < 1):
            raise ValueError(f"u must be at least 0 and below 1; got {u[~((u >= 0) & (u < 1))][0]}")
        places = np.searchsorted(self.cumulative, u, side="right")
        return places if self.settings.strip == "id" else self.strip[places]

    def rank(self, token: int) -> int:
        """Return 1 for the model's most probable token, 2 for the next; ties by lowest id."""
        return rank_of(self.logits, token)

    def top(self, n: int) -> np.ndarray:
        """Return the ids of the model's n most probable tokens, the most probable first."""
        return top_ids(self.logits, n)

    def bars(self, n: int = 20, ids: Iterable[int] | None = None) -> Bars:
        """Return what a chart of the n most probable tokens (or of `ids`) shows at every step."""
        ids = self.top(n) if ids is None else np.array(list(ids), dtype=np.int64)
        pure.check_ids(ids, self.logits.size, "shown")
        rows = [self.model_probabilities, *(step.probabilities for step in self.steps)]
        kept = [~np.isneginf(self.logits), *(step.kept for step in self.steps)]
        probabilities = np.stack([row[ids] for row in rows])
        kept_of_ids = np.stack([row[ids] for row in kept])
        hidden = np.ones(self.logits.size, dtype=bool)
        hidden[ids] = False
        return Bars(
            ids=ids,
            names=("logits", *(step.name for step in self.steps)),
            probabilities=probabilities,
            kept=kept_of_ids,
            hidden_tokens=np.array([int((row & hidden).sum()) for row in kept]),
            hidden_mass=np.array([float(row[hidden].sum()) for row in rows]),
        )


def random_number(u: float | torch.Generator | None) -> float:
    """Return u itself, or a float64 random number from a torch generator (None: torch's own)."""
    if isinstance(u, int | float | np.floating):
        return float(u)
    import torch

    return torch.rand((), generator=u, dtype=torch.float64).item()


def rank_of(logits: np.ndarray, token: int) -> int:
    """Return the place of a token among logits (V,), from 1; equal logits go by lowest id."""
    value = logits[token]
    larger, equal = logits > value, logits[:token] == value
    return 1 + int(np.count_nonzero(larger)) + int(np.count_nonzero(equal))


def top_ids(logits: np.ndarray, n: int) -> np.ndarray:
    """Return the ids of the n largest logits, largest first; equal ones by lowest id."""
    if logits.size > 1000 and 0 < n < logits.size:
        chosen = np.flatnonzero(~np.isneginf(pure.keep_top_k(logits, n)))
    else:  # sorting all of a few is faster than choosing first
        chosen = np.arange(logits.size)
    order = (-logits[chosen]).argsort(kind="stable")
    return chosen[order[:n]]


def sampling_steps(
    logits: torch.Tensor | np.ndarray | list[float],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    previous: Iterable[int] | None = None,
    order: Iterable[str] = (),
    banned: Iterable[int] = (),
    strip: str = "id",
    **more: object,
) -> SamplingSteps:
    """Run one row of logits (V,) through the named steps and return all of them.

    `previous` are the ids that the repetition penalty looks at. The order may be any order of the
    steps; empty is the usual one. `more` are settings of further steps of `kinds.STEPS`. top_k
    larger than V is refused, not clamped. Nothing is drawn yet.

    >>> steps = sampling_steps([0.0, 1.0, 2.0], top_k=2)
    >>> steps["top_k"].cut.tolist(), steps.draw(0.0), steps.draw(0.99)
    ([True, False, False], 1, 2)

    Raises: ValueError for a setting outside its range, or when no token is left.
    """
    settings = SamplingSettings(
        temperature,
        top_k,
        top_p,
        min_p,
        repetition_penalty,
        tuple(banned),
        tuple(order),
        strip,
        more,
    )
    return SamplingSteps(logits, settings, previous)

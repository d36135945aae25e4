"""What every stop of a slider of the sampling pipeline leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from llmviz.sampling import SamplingSteps, entropy, kind_of, sampling_steps

SEGMENTS = 24  # tokens that the cumulative strip names; the others are its rest


@dataclass(frozen=True)
class Sweeps:
    """What the pipeline gives at every stop of one control.

    Shapes: S stops, C columns (the model's own, then one a step), N tokens that have a bar,
    M tokens that the strip names. `hidden_mass` and `hidden_tokens` belong to the tokens
    without a bar; `mass_cut` and `tokens_cut` to what that very step removed. `drawn` is the
    token that the random number falls on and `drawn_from` its two ends on the strip. `refused`
    holds the reason where a stop leaves nothing to draw, else an empty text.
    """

    probabilities: np.ndarray  # (S, C, N)
    kept: np.ndarray  # (S, C, N)
    hidden_mass: np.ndarray  # (S, C)
    hidden_tokens: np.ndarray  # (S, C)
    mass_cut: np.ndarray  # (S, C)
    tokens_cut: np.ndarray  # (S, C)
    active: np.ndarray  # (S, C)
    entropy: np.ndarray  # (S,) nats
    drawn: np.ndarray  # (S,)
    drawn_from: np.ndarray  # (S, 2)
    segments: np.ndarray  # (S, M)
    starts: np.ndarray  # (S, M)
    ends: np.ndarray  # (S, M)
    refused: list[str] = field(default_factory=list)

    def of_columns(self, columns: Sequence[int]) -> Sweeps:
        """Return these sweeps with some of the columns only; what changes nothing may be left."""
        names = ["probabilities", "kept", "hidden_mass", "hidden_tokens", "mass_cut", "tokens_cut"]
        names.append("active")
        at = list(columns)
        return replace(self, **{name: getattr(self, name)[:, at] for name in names})

    @classmethod
    def empty(cls, stops: int, columns: int, tokens: int, segments: int) -> Sweeps:
        """Return sweeps of these sizes that are all zero."""
        each = (stops, columns)
        floats = np.float32
        return cls(
            probabilities=np.zeros((*each, tokens), floats),
            kept=np.zeros((*each, tokens), np.uint8),
            hidden_mass=np.zeros(each, floats),
            hidden_tokens=np.zeros(each, np.int32),
            mass_cut=np.zeros(each, floats),
            tokens_cut=np.zeros(each, np.int32),
            active=np.zeros(each, np.uint8),
            entropy=np.zeros(stops, floats),
            drawn=np.zeros(stops, np.int32),
            drawn_from=np.zeros((stops, 2), floats),
            segments=np.zeros((stops, segments), np.int32),
            starts=np.zeros((stops, segments), floats),
            ends=np.zeros((stops, segments), floats),
            refused=[""] * stops,
        )


def stops(name: str, value: Any, vocab_size: int) -> list[Any]:
    """Return the stops of a control's slider, the present value among them; None is "all"."""
    kind = kind_of(name)
    if not kind.whole:
        return sorted({*kind.stops, value})
    counts = {k for k in kind.stops if k < vocab_size} | ({value} - {None})
    return [*sorted(counts), None]


def steps_with_column(settings: dict[str, Any]) -> list[str]:
    """Return the steps that have a column: forbidding only where something is forbidden."""
    return [name for name in settings["order"] if name != "banned" or settings["banned"]]


def sweep_all(
    stops_of: Sequence[dict[str, Any]],
    logits: np.ndarray,
    previous: Sequence[int],
    ids: np.ndarray,
    u: float,
) -> Sweeps:
    """Run the whole pipeline once for each of some settings, which differ in one of them.

    logits (V,); `previous` are the ids before the token; `ids` (N,) the tokens with a bar; `u` the
    random number of a draw. A setting that leaves no token gets the reason in `refused`.
    """
    columns = len(steps_with_column(stops_of[0])) + 1
    sweeps = Sweeps.empty(len(stops_of), columns, ids.size, min(SEGMENTS, logits.size))
    hidden = np.ones(logits.size, dtype=bool)
    hidden[ids] = False
    for at, settings in enumerate(stops_of):
        try:
            steps = sampling_steps(logits, previous=previous, **settings)
        except ValueError as reason:  # this stop leaves no token: the slider says why there
            sweeps.refused[at] = str(reason)
            continue
        _columns(sweeps, at, steps, ids, hidden)
        _strip(sweeps, at, steps, u)
    return sweeps


def _columns(
    sweeps: Sweeps, at: int, steps: SamplingSteps, ids: np.ndarray, hidden: np.ndarray
) -> None:
    stages = [(steps.model_probabilities, ~np.isneginf(steps.logits), False, 0.0, 0)]
    for step in steps.steps:
        if step.name == "banned" and not step.active:
            continue
        if step.active:
            cut = step.cut
            stages.append(
                (step.probabilities, step.kept, True, float(step.before[cut].sum()), int(cut.sum()))
            )
        else:
            stages.append((*stages[-1][:2], False, 0.0, 0))
    for column, (probabilities, left, active, mass_cut, tokens_cut) in enumerate(stages):
        sweeps.probabilities[at, column] = probabilities[ids]
        sweeps.kept[at, column] = left[ids]
        sweeps.hidden_mass[at, column] = probabilities[hidden].sum()
        sweeps.hidden_tokens[at, column] = np.count_nonzero(left & hidden)
        sweeps.active[at, column] = active
        sweeps.mass_cut[at, column], sweeps.tokens_cut[at, column] = mass_cut, tokens_cut


def _strip(sweeps: Sweeps, at: int, steps: SamplingSteps, u: float) -> None:
    ends = steps.cumulative
    order = steps.strip
    places = np.arange(sweeps.segments.shape[1])
    if steps.settings.strip == "id":  # the tokens to name lie anywhere
        places = np.sort(likeliest(steps.probabilities, places.size))
    sweeps.segments[at] = order[places]
    sweeps.starts[at] = np.where(places > 0, ends[places - 1], 0.0)
    sweeps.ends[at] = ends[places]
    drawn = steps.draw(u)
    sweeps.drawn[at] = drawn
    sweeps.drawn_from[at] = steps.interval(drawn)
    sweeps.entropy[at] = entropy(steps.probabilities)


def likeliest(probabilities: np.ndarray, n: int) -> np.ndarray:
    """Return the ids of the n largest of probabilities (V,), in any order."""
    if n >= probabilities.size:
        return np.arange(probabilities.size)
    return np.argpartition(-probabilities, n)[:n]

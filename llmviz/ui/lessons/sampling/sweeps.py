"""Every stop of every control of the pipeline, computed before a hand moves any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from llmviz.sampling import SamplingSteps, entropy, sampling_steps
from llmviz.ui.components.sampler import Control, Sweeps
from llmviz.ui.kept import kept
from llmviz.ui.lessons.sampling.source import Prompted, logits_after

SEGMENTS = 24  # tokens that the cumulative strip names; the others are its rest

TEMPERATURES = (
    *(round(0.1 * i, 1) for i in range(0, 21)),
    *(2.25, 2.5, 2.75, 3.0, 4.0, 5.0, 10.0, 100.0),
)
PENALTIES = (0.5, 0.7, 0.8, 0.9, *(round(1 + 0.1 * i, 1) for i in range(0, 11)), 3.0)
SHARES = (0.05, *(round(0.1 * i, 1) for i in range(1, 9)), 0.85, 0.9, 0.92, 0.95, 0.98, 0.99, 1.0)
FLOORS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0)
COUNTS = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000)

STOPS: dict[str, Sequence[Any]] = {
    "temperature": TEMPERATURES,
    "repetition_penalty": PENALTIES,
    "top_p": SHARES,
    "min_p": FLOORS,
}


def stops(name: str, value: Any, vocab_size: int) -> list[Any]:
    """Return the stops of a control's slider, the present value among them; None is "all"."""
    if name != "top_k":
        return sorted({*STOPS[name], value})
    counts = {k for k in COUNTS if k < vocab_size} | ({value} - {None})
    return [*sorted(counts), None]


def written(name: str, value: Any) -> str:
    """Return a control's value as the slider shows it."""
    if value is None:
        return "all"
    return f"{value:,}" if name == "top_k" else f"{value:g}"


def steps_shown(settings: dict[str, Any]) -> list[str]:
    """Return the steps that have a column: forbidding only where something is forbidden."""
    return [name for name in settings["order"] if name != "banned" or settings["banned"]]


def control(
    name: str, said: Prompted, settings: dict[str, Any], shown: np.ndarray, u: float
) -> Control:
    """Return one control with what every stop of its slider leads to.

    Raises ValueError: a present setting is out of its range.
    """
    values = stops(name, settings[name], said.logits.size)
    others = tuple((other, value) for other, value in settings.items() if other != name)
    prompt = said.bundled.name, said.bundled.version, said.ids
    return Control(
        name=name,
        values=values,
        texts=[written(name, value) for value in values],
        at=values.index(settings[name]),
        sweeps=swept(*prompt, name, tuple(values), others, tuple(shown.tolist()), u),
    )


@kept(320)  # some 30 kB each
def swept(
    model: str,
    version: str,
    ids: tuple[int, ...],
    name: str,
    values: tuple[Any, ...],
    others: tuple[tuple[str, Any], ...],
    shown: tuple[int, ...],
    u: float,
) -> Sweeps:
    """Return what every stop of a slider leads to; it does not depend on where the slider stands.

    So the slider that a hand moves has its stops already, and the others alone get new ones.
    """
    settings = [dict(others) | {name: value} for value in values]
    logits = logits_after(model, version, ids)
    return sweep_all(settings, logits, ids, np.array(shown, dtype=np.int64), u)


def sweep_all(
    stops_of: Sequence[dict[str, Any]],
    logits: np.ndarray,
    previous: Sequence[int],
    shown: np.ndarray,
    u: float,
) -> Sweeps:
    """Run the whole pipeline once for each of some settings; u is the random number of a draw."""
    columns = len(steps_shown(stops_of[0])) + 1
    sweeps = Sweeps.empty(len(stops_of), columns, shown.size, min(SEGMENTS, logits.size))
    hidden = np.ones(logits.size, dtype=bool)
    hidden[shown] = False
    for at, settings in enumerate(stops_of):
        try:
            steps = sampling_steps(logits, previous=previous, **settings)
        except ValueError as reason:  # this stop leaves no token: the slider says why there
            sweeps.refused[at] = str(reason)
            continue
        _columns(sweeps, at, steps, shown, hidden)
        _strip(sweeps, at, steps, u)
    return sweeps


def _columns(
    sweeps: Sweeps, at: int, steps: SamplingSteps, shown: np.ndarray, hidden: np.ndarray
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
        sweeps.probabilities[at, column] = probabilities[shown]
        sweeps.kept[at, column] = left[shown]
        sweeps.hidden_mass[at, column] = probabilities[hidden].sum()
        sweeps.hidden_tokens[at, column] = np.count_nonzero(left & hidden)
        sweeps.active[at, column] = active
        sweeps.mass_cut[at, column], sweeps.tokens_cut[at, column] = mass_cut, tokens_cut


def _strip(sweeps: Sweeps, at: int, steps: SamplingSteps, u: float) -> None:
    ends = steps.cumulative
    order = steps.strip
    places = np.arange(sweeps.segments.shape[1])
    if steps.settings.strip == "id":  # the tokens to name lie anywhere
        places = np.sort(steps_top(steps.probabilities, places.size))
    sweeps.segments[at] = order[places]
    sweeps.starts[at] = np.where(places > 0, ends[places - 1], 0.0)
    sweeps.ends[at] = ends[places]
    drawn = steps.draw(u)
    sweeps.drawn[at] = drawn
    sweeps.drawn_from[at] = steps.interval(drawn)
    sweeps.entropy[at] = entropy(steps.probabilities)


def steps_top(probabilities: np.ndarray, n: int) -> np.ndarray:
    """Return the ids of the n largest probabilities, in any order."""
    if n >= probabilities.size:
        return np.arange(probabilities.size)
    return np.argpartition(-probabilities, n)[:n]

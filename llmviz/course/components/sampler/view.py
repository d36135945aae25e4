"""The sampling pipeline under the hand: bars of the same tokens after every step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer
from llmviz.sampling.sweeps import Sweeps


@dataclass(frozen=True)
class Control:
    """One slider: its stops as values and as texts, where it stands, and what each leads to."""

    name: str
    values: Sequence[Any]
    texts: Sequence[str]
    at: int
    sweeps: Sweeps


@dataclass(frozen=True)
class Column:
    """One column of bars: a step's name and title, and in one sentence what it does."""

    name: str
    title: str
    hint: str = ""
    movable: bool = True


@dataclass(frozen=True)
class Cut:
    """Where the first column may be cut: whether the hand shall say it, and lines with their names.

    A line is told by how many tokens stand above it. `words`: hint, done.
    """

    words: Mapping[str, str]
    asks: bool
    lines: Sequence[tuple[float, str]] = ()


def sampler(
    columns: Sequence[Column],
    controls: Sequence[Control],
    ids: Sequence[int],
    names: Mapping[int, str],
    *,
    key: str,
    u: float,
    vocab_size: int,
    marks: Mapping[int, str] | None = None,
    banned: Sequence[int] = (),
    can_ban: bool = True,
    cut: Cut | None = None,
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw the pipeline; what the learner does goes to ``on_act``.

    ``columns`` are in the order of the sweeps. A control stands in the column of its name.
    ``names`` gives the text of every token that is named. ``marks`` puts a word beside some tokens.
    ``st.session_state[key]["act"]`` is then ``{"set": control, "value": …}``,
    ``{"move": column, "by": ±1}``, ``{"ban": id}`` or ``{"guess": [tokens above the cut]}``.
    Raises ValueError for data that do not fit.
    """
    payload = sampler_payload(
        columns, controls, ids, names, u, vocab_size, marks, banned, can_ban=can_ban
    )
    payload["cut"] = None if cut is None else vars(cut)
    renderer("sampler")(data=pack(payload), key=key, on_act_change=on_act or nothing)


def sampler_payload(
    columns: Sequence[Column],
    controls: Sequence[Control],
    ids: Sequence[int],
    names: Mapping[int, str],
    u: float,
    vocab_size: int,
    marks: Mapping[int, str] | None,
    banned: Sequence[int],
    *,
    can_ban: bool,
) -> dict[str, Any]:
    """Return what the pipeline's picture is sent, checked."""
    if not controls:
        raise ValueError("a sampler needs at least one control")
    for control in controls:
        shape = (len(control.values), len(columns), len(ids))
        if control.sweeps.probabilities.shape != shape:
            raise ValueError(
                f"{control.name} needs probabilities of the shape {shape}; "
                f"got {control.sweeps.probabilities.shape}"
            )
        if not 0 <= control.at < len(control.values):
            raise ValueError(f"{control.name} has {len(control.values)} stops; got {control.at}")
    named = {int(token) for control in controls for token in _named(control.sweeps)}
    named |= {int(token) for token in ids}
    missing = named - names.keys()
    if missing:
        raise ValueError(f"token {min(missing)} has no name")
    return {
        "columns": [vars(column) for column in columns],
        "controls": [
            {
                "name": control.name,
                "values": list(control.values),
                "texts": list(control.texts),
                "at": control.at,
                **vars(control.sweeps),
            }
            for control in controls
        ],
        "ids": np.asarray(ids, np.int32),
        "names": {str(token): names[token] for token in sorted(named)},
        "marks": {str(token): text for token, text in (marks or {}).items()},
        "banned": [int(token) for token in banned],
        "canBan": can_ban,
        "u": float(u),
        "vocab": vocab_size,
    }


def named_tokens(controls: Sequence[Control], ids: Sequence[int]) -> set[int]:
    """Return every token whose text ``sampler`` needs."""
    tokens = {int(token) for token in ids}
    for control in controls:
        tokens |= {int(token) for token in _named(control.sweeps)}
    return tokens


def _named(sweeps: Sweeps) -> np.ndarray:
    return np.union1d(sweeps.segments, sweeps.drawn)

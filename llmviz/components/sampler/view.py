"""The sampling pipeline under the hand: bars of the same tokens after every step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llmviz.components._shared.transport import nothing, pack, renderer


@dataclass(frozen=True)
class Sweeps:
    """What the pipeline gives at every stop of one control.

    Shapes: S stops, C columns (the model's own, then one a step), N tokens that have a bar,
    M tokens that the strip names. ``hidden_mass`` and ``hidden_tokens`` belong to the tokens
    without a bar; ``mass_cut`` and ``tokens_cut`` to what that very step removed. ``drawn`` is the
    token that the random number falls on and ``drawn_from`` its two ends on the strip. ``refused``
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

    @classmethod
    def empty(cls, stops: int, columns: int, tokens: int, segments: int) -> "Sweeps":
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
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw the pipeline; what the learner does goes to ``on_act``.

    ``columns`` are in the order of the sweeps. A control stands in the column of its name.
    ``names`` gives the text of every token that is named. ``marks`` puts a word beside some tokens.
    ``st.session_state[key]["act"]`` is then ``{"set": control, "value": …}``,
    ``{"move": column, "by": ±1}`` or ``{"ban": id}``. Raises ValueError for data that do not fit.
    """
    renderer("sampler")(
        data=pack(
            sampler_payload(columns, controls, ids, names, u, vocab_size, marks, banned, can_ban)
        ),
        key=key,
        on_act_change=on_act or nothing,
    )


def sampler_payload(
    columns: Sequence[Column],
    controls: Sequence[Control],
    ids: Sequence[int],
    names: Mapping[int, str],
    u: float,
    vocab_size: int,
    marks: Mapping[int, str] | None,
    banned: Sequence[int],
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
    found = {int(token) for token in ids}
    for control in controls:
        found |= {int(token) for token in _named(control.sweeps)}
    return found


def _named(sweeps: Sweeps) -> np.ndarray:
    return np.union1d(sweeps.segments, sweeps.drawn)

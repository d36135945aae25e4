"""Softmax at a temperature, with every number of it, under the hand."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from llmviz.course.components._shared.transport import nothing, pack, renderer


def softmax_view(
    names: Sequence[str],
    logits: np.ndarray,
    stops: Sequence[float | None],
    columns: Mapping[str, np.ndarray],
    entropy: np.ndarray,
    *,
    key: str,
    words: Mapping[str, str],
    lines: Sequence[str],
    at: int,
    vocab_size: int,
    on_act: Callable[[], None] | None = None,
) -> None:
    """Draw softmax of some logits (N,) as a table whose slider runs through temperatures.

    ``stops`` are temperatures, None for infinity. ``columns`` hold "scaled", "shifted", "exp" and
    "probability", each (S, N), NaN where a stop has no such number; ``entropy`` (S,) is in nats.
    ``lines`` says one sentence a stop. ``st.session_state[key]["act"]`` is then ``{"at": stop}``.
    Raises ValueError for data that do not fit.
    """
    shape = (len(stops), len(names))
    for name in ("scaled", "shifted", "exp", "probability"):
        if columns[name].shape != shape:
            raise ValueError(f"{name} must have the shape {shape}; got {columns[name].shape}")
    if len(lines) != len(stops) or entropy.shape != (len(stops),):
        raise ValueError(f"{len(stops)} stops need as many lines and entropies")
    payload = {
        "names": list(names),
        "logits": np.asarray(logits, np.float32),
        "stops": [None if stop is None else float(stop) for stop in stops],
        **{name: values.astype(np.float32) for name, values in columns.items()},
        "entropy": entropy.astype(np.float32),
        "words": dict(words),
        "lines": list(lines),
        "at": at,
        "vocab": vocab_size,
    }
    renderer("softmax_view")(data=pack(payload), key=key, on_act_change=on_act or nothing)

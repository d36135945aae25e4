"""The controls that the chapters of this lesson share, as its link carries them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llmviz.sampling import ORDER, STRIPS
from llmviz.ui import codec
from llmviz.ui.state import LEARNER_TEXT, PageState

PROMPT = (
    "One winter morning, Otto Thistleton the archer woke up happy. The best friend he had was "
    "Esme Saffronfield, a famous vet. They met at the market. At noon Esme"
)
DEFAULT_MODEL = "tiny-world-gpt"
MOST_DRAWS = 100_000
MOST_TOKENS = 200
ALL = "all"


def optional_k(key: str) -> codec.Param:
    """Return the control of top-k: a whole number of tokens, or None for all of them."""
    one = codec.integer(key, 1, 1, 1_000_000)

    def read(written: str) -> int | None:
        return None if written == ALL else one.read(written)

    return codec.Param(key, None, read, lambda k: ALL if k is None else str(k))


PARAMS = [
    LEARNER_TEXT,
    codec.text("prompt", PROMPT),
    codec.text("model", DEFAULT_MODEL, shared=True),
    codec.number("temperature", 1.0, 0.0, 100.0),
    optional_k("k"),
    codec.number("p", 1.0, 0.0, 1.0),
    codec.number("minp", 0.0, 0.0, 1.0),
    codec.number("repeat", 1.0, 0.1, 10.0),
    codec.integers("ban", [], 0, 1_000_000),
    codec.choices("order", ORDER, ORDER, at_least=len(ORDER)),
    codec.choice("strip", "probability", STRIPS),
    codec.integer("seed", 1, 0, 2**31 - 1),
    codec.integer("draw", 1, 1, MOST_DRAWS),
]

# The names of the pipeline's settings, and those of their controls.
CONTROL_OF = {
    "banned": "ban",
    "repetition_penalty": "repeat",
    "temperature": "temperature",
    "top_k": "k",
    "top_p": "p",
    "min_p": "minp",
}


def settings(state: PageState) -> dict[str, Any]:
    """Return the arguments of `sampling_steps` and of `generate` that the controls stand for."""
    return {name: state[key] for name, key in CONTROL_OF.items()} | {
        "order": tuple(state["order"]),
        "strip": state["strip"],
    }


def reset(state: PageState, keys: Sequence[str] = (*CONTROL_OF.values(), "order")) -> None:
    """Set every step to what changes nothing, in the usual order."""
    for key in keys:
        state[key] = state.params[key].default

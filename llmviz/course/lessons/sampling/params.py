"""The controls that the chapters of this lesson share, as its link carries them."""

from collections.abc import Sequence
from typing import Any

from llmviz.course.ui import codec
from llmviz.course.ui.state import LEARNER_TEXT, PageState
from llmviz.sampling import STEPS, STRIPS, StepKind, usual_order
from llmviz.sampling.kinds import full_order

PROMPT = (
    "One winter morning, Otto Thistleton the archer woke up happy. The best friend he had was "
    "Esme Saffronfield, a famous vet. They met at the market. At noon Esme"
)
DEFAULT_MODEL = "tiny-world-gpt"
MOST_DRAWS = 100_000
FIRST_DRAWS = 5  # of a first visit to the dice
MOST_TOKENS = 200
ALL = "all"


def optional_k(key: str) -> codec.Param:
    """Return the control of top-k: a whole number of tokens, or None for all of them."""
    number = codec.integer(key, 1, 1, 1_000_000)

    def read(written: str) -> int | None:
        return None if written == ALL else number.read(written)

    return codec.Param(key, None, read, lambda k: ALL if k is None else str(k))


def _control(kind: StepKind) -> codec.Param:
    if kind.whole:
        return optional_k(kind.control)
    if isinstance(kind.neutral, tuple):
        return codec.integers(kind.control, kind.neutral, int(kind.low), int(kind.high))
    return codec.number(kind.control, kind.neutral, kind.low, kind.high)


def _order() -> codec.Param:
    """Return the control of the steps' order; a step that is newer than a link may miss in it."""
    usual = usual_order()
    param = codec.choices("order", usual, usual, at_least=sum(kind.in_old_links for kind in STEPS))
    return codec.Param(
        "order", list(usual), lambda written: list(full_order(param.read(written))), param.write
    )


PARAMS = [
    LEARNER_TEXT,
    codec.text("prompt", PROMPT, codec.MOST_OF_A_PROMPT),
    codec.text("model", DEFAULT_MODEL, shared=True),
    *map(_control, STEPS),
    _order(),
    codec.flag("everystep", False),
    codec.choice("strip", "probability", STRIPS),
    codec.integer("seed", 1, 0, 2**31 - 1),
    codec.integer("draw", FIRST_DRAWS, 1, MOST_DRAWS),
]

# The names of the pipeline's settings, and those of their controls.
CONTROL_OF = {kind.name: kind.control for kind in STEPS}


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

"""What a bundled recurrent model computes on the learner's name, kept for all parts."""

from llmviz.course.lessons.history.recurrent.recurrent_states import StatesRead, read_states
from llmviz.course.ui import engine, kit

KEY = "history.recurrent"


@kit.cached(64)
def states(bundled: engine.Bundled, name: str) -> StatesRead:
    """Return what a bundled model computes on a name, the start token in front."""
    return read_states(bundled.model, bundled.tokenizer.encode_from_start(name))


def rows_of(bundled: engine.Bundled, name: str) -> list[str]:
    """Return how the tokens of a name are shown, the start token in front."""
    tokenizer = bundled.tokenizer
    return kit.names_of(tokenizer.encode_from_start(name), tokenizer)

"""The head of a chapter that has several parts: its title, the choice of a part, and that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from llmviz.ui.common import choose_below_title
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.lesson import section
from llmviz.ui.state import PageState


def draw_part(
    state: PageState, key: str, words: ModuleType, parts: Mapping[str, Callable[[PageState], None]]
) -> None:
    """Draw the part that `key` of the state names; `words` has TITLE, TEXT and a label in LOOKS."""
    section(words.TITLE, words.TEXT)
    choose_below_title(state, key, words.TITLE, words.LOOKS)
    if engine_ready():
        parts[state[key]](state)

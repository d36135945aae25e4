"""A chapter with several parts: the choice of one, and that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmviz.ui.common import choose_below_title
from llmviz.ui.state import PageState


def draw_look(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[str, str],
    parts: Mapping[str, Callable[[PageState], None]],
) -> None:
    """Show the choice of a part, which the control `key` holds, and draw that part.

    names: what each is called, in order. parts: what draws each.
    """
    choose_below_title(state, key, label, names)
    parts[state[key]](state)

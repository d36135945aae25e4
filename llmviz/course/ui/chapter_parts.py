"""A chapter with several parts: the choice of one, and that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmviz.course.ui.common import choose_below_title
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.course.ui.state import PageState


def draw_part(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[str, str],
    parts: Mapping[str, Callable[[PageState], None]],
    *,
    needs_engine: bool = False,
) -> None:
    """Show the choice of a part, which the control `key` holds, and draw that part.

    names: what each is called, in order. parts: what draws each. needs_engine: whether no part can
    do without torch, for which the choice then need not wait.
    """
    choose_below_title(state, key, label, names, parts=True)
    if not needs_engine or engine_ready():
        parts[state[key]](state)

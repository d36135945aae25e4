"""Short passages with links that put the page into a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from llmviz.course.components._shared.transport import nothing, pack, renderer


class Piece(NamedTuple):
    """A piece of a passage. look: where its link leads, none where it is plain text; on: whether
    the page is there now."""

    text: str
    look: str = ""
    on: bool = False


def looks(
    passages: Sequence[Sequence[Piece]], *, key: str, on_look: Callable[[], None] | None = None
) -> None:
    """Show passages. ``st.session_state[key]["look"]`` is then the look that was pressed."""
    payload = {"passages": [[list(piece) for piece in passage] for passage in passages]}
    renderer("looks")(data=pack(payload), key=key, on_look_change=on_look or nothing)

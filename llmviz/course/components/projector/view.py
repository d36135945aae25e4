"""A page on a projector: keys that go through it, and a light on what is pointed at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llmviz.course.components._shared.transport import pack, renderer


def projector(
    words: Mapping[str, str],
    address: str = "",
    *,
    on_leave: Callable[[], None],
    key: str = "projector",
) -> None:
    """Let keys go through the page. on_leave: called when the visitor leaves this view.

    address: where it is sent what is pointed at, below that of the app; empty where nobody follows.
    ``words``: bar, back, next, laser, leave.
    """
    payload = {"words": dict(words), "address": address}
    renderer("projector")(data=pack(payload), key=key, on_leave_change=on_leave)

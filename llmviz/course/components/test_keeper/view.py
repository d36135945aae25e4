"""Keeps the answers to the two tests in the visitor's own browser; nothing of it is seen."""

from __future__ import annotations

from collections.abc import Callable

from llmviz.course.components._shared.transport import pack, renderer


def test_keeper(held: str, *, asks: bool, on_kept: Callable[[], None], key: str) -> None:
    """Let the browser keep a text; an empty one is forgotten.

    asks: whether the browser has to say first what it kept before; then nothing is written.
    on_kept: called when it said so. Its text is the first of the component's value `kept`.
    """
    renderer("test_keeper")(
        data=pack({"held": held, "asks": asks}), key=key, on_kept_change=on_kept
    )

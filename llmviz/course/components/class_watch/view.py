"""Asks from time to time whether a class has gone on; nothing of it is seen."""

from __future__ import annotations

from llmviz.course.components._shared.transport import nothing, pack, renderer


def class_watch(address: str, version: int, *, key: str = "class_watch") -> None:
    """Let the page run again when what stands at an address is no longer this number, or is gone.

    address: below that of the app, with its first slash.
    """
    payload = {"address": address, "version": version}
    renderer("class_watch")(data=pack(payload), key=key, on_moved_change=nothing)

"""Nested fields, one inside the other; a click opens one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llmviz.course.components._shared.transport import mount, place_of


def rings(
    names: Sequence[str],
    notes: Sequence[str],
    *,
    key: str,
    label: str,
    chosen: int = 0,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw fields, the outermost first, each with a short note; return the number of the one open.

    `label` is what a screen reader calls the picture. Raises ValueError for no field, or as many
    notes as there are not names.
    """
    if not names or len(names) != len(notes):
        raise ValueError(f"each field needs a name and a note; got {len(names)} and {len(notes)}")
    start = max(0, min(chosen, len(names) - 1))
    payload = {"names": list(names), "notes": list(notes), "label": label}
    clicked = mount("rings", payload, key=key, state="chosen", start=start, on_change=on_change)
    return place_of(clicked, len(names), start)

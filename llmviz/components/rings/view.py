"""Nested fields, one inside the other; a click opens one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llmviz.components._shared.transport import nothing, pack, renderer, starting


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
    sent, moved = starting(key, "chosen", start)
    payload = {"names": list(names), "notes": list(notes), "label": label, "chosen": sent}
    result = renderer("rings")(
        data=pack(payload),
        key=key,
        default={"chosen": start},
        on_chosen_change=on_change or nothing,
    )
    now = result.get("chosen")
    return now if isinstance(now, int) and 0 <= now < len(names) and not moved else start

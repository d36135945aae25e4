"""The windows that a model is trained on, over a stream of tokens."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of
from llmviz.course.components.token_strip.view import TokenLike, visible_text


def windows_view(
    tokens: Sequence[TokenLike | str],
    starts: Sequence[int],
    *,
    context_length: int,
    key: str,
    batch_size: int = 1,
    limit: int = 64,
    selected: int | None = None,
    on_change: Callable[[], None] | None = None,
) -> int | None:
    """Draw training windows over a stream of tokens; return the number of the one clicked.

    ``starts`` holds the first position of each window; its inputs are ``context_length``
    tokens from there and its targets the same moved by one. At most ``limit`` windows are
    drawn as rows, and the view says so. Raises ValueError for a window past the end.
    """
    payload = windows_payload(tokens, starts, context_length, batch_size, limit)
    window = mount(
        "windows_view", payload, key=key, state="selected", start=selected, on_change=on_change
    )
    return place_of(window, len(starts), None)


def windows_payload(
    tokens: Sequence[TokenLike | str],
    starts: Sequence[int],
    context_length: int,
    batch_size: int,
    limit: int,
) -> dict[str, Any]:
    """Return what a view of windows is sent, checked."""
    if context_length < 1 or batch_size < 1:
        raise ValueError(
            f"context length and batch size must be at least 1; got {context_length}, {batch_size}"
        )
    for start in starts:
        if start < 0 or start + context_length + 1 > len(tokens):
            raise ValueError(
                f"a window of {context_length} at {start} and its target need "
                f"{start + context_length + 1} tokens; the text has {len(tokens)}"
            )
    texts = [token if isinstance(token, str) else token.data for token in tokens]
    raw = [
        text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts
    ]
    return {
        "texts": [visible_text(data)[0] for data in raw],
        "starts": np.asarray(starts, dtype=np.int32),
        "contextLength": context_length,
        "batchSize": batch_size,
        "limit": limit,
    }

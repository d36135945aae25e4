"""What is said while a large text is prepared for its first step."""

from __future__ import annotations

import sys
from collections.abc import Callable

LARGE = 2_000_000  # characters, tokens or bytes from which on a step of the work takes a second
PARTS = 10  # lines that a step of the work has at most


class Preparing:
    """Lines on standard error about large texts: what is done with them, and how far that is.

    quiet: says nothing, as all processes of a run do but the first. stop: whether Ctrl-C came; the
    work then ends where it is heard of next, by KeyboardInterrupt, since nothing is lost yet.
    """

    def __init__(self, *, quiet: bool = False, stop: Callable[[], bool] = lambda: False) -> None:
        self._quiet, self._stop = quiet, stop
        self._last: tuple[str, int] | None = None

    def __call__(self, what: str, done: int, total: int, unit: str) -> None:
        """Hear of some work, as `llmviz.training.data.Tell` has it."""
        if self._stop():
            raise KeyboardInterrupt
        part = what, PARTS * done // max(1, total)
        if self._quiet or total < LARGE or part == self._last:
            return
        self._last = part
        far = f"{done:,} of " if done else ""
        sys.stderr.write(f"{what}: {far}{total:,} {unit}\n")

    def reading(self, corpus: str) -> None:
        """Say how large a text of the user's is, before anything is imported that takes long."""
        from llmviz.corpus.sources import files_of

        try:
            size = sum(path.stat().st_size for path in files_of(corpus))
        except (OSError, ValueError):  # a bundled text, or what is refused in a moment
            return
        self(f"the text {corpus}", 0, size, "bytes")

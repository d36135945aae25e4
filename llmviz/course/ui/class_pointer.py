"""What the presenter of a class points at, which lights up on the pages of those who follow.

It lies in a small file beside that of the class, which is gone with it. What it says is data of
the presenter's browser: followers compare it with their own page, and put nothing of it there.

    RUNS/.classes/CODE.at
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from llmviz.course.ui.classes import POINTED, Classes, owner_of
from llmviz.wholefile import write_whole

SECONDS = 10.0  # after which a light goes out of which the presenter's browser says no more
MOST = 2000  # bytes that name an element


class ClassPointer:
    """The lights of all classes of a server. now: the clock of the files' times, in seconds."""

    def __init__(self, classes: Classes, now: Callable[[], float] = time.time) -> None:
        self._classes, self._now = classes, now

    def put(self, code: str, key: str, secret: str, said: bytes) -> bool:
        """Light what a presenter's browser names, or nothing; return whether it leads the class.

        Raises ValueError: what it says is too long, or is no object of JSON.
        """
        group = self._classes.known_by(code, key)
        if group is None or not secret or group.owner != owner_of(secret):
            return False
        if len(said) > MOST:
            raise ValueError(f"what is pointed at has at most {MOST} bytes; got {len(said)}")
        try:
            target = json.loads(said)
        except RecursionError as deep:
            raise ValueError("what is pointed at is too deep") from deep
        if target is not None and not isinstance(target, dict):
            raise ValueError("what is pointed at is an object or null")
        if target is None:
            self._path(group.code).unlink(missing_ok=True)
        else:
            text = json.dumps(target, allow_nan=False)  # one line that a browser can read
            write_whole(self._path(group.code), lambda path: path.write_text(text, "utf-8"))
        return True

    def of(self, code: str) -> str:
        """Return what is lit in an open class, as a line of JSON; empty where nothing is."""
        with suppress(OSError):
            path = self._path(code)
            if self._now() - path.stat().st_mtime <= SECONDS:
                return path.read_text("utf-8")
        return ""

    def _path(self, code: str) -> Path:
        return self._classes.path(code).with_suffix(POINTED)

"""Sessions whose window is away: kept for a moment, so that a short loss of the network costs
nothing; few of them, because each holds its page's data and three open files."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from streamlit.runtime import memory_session_storage
from streamlit.runtime.session_manager import SessionInfo, SessionStorage

MOST = 32  # with thirty open windows below 256 open files, which some systems begin with


class OldSessions(SessionStorage):
    """Up to `most` sessions, each for `ttl_seconds`. One that must go is ended, the oldest first.

    Streamlit's own keeps 128, and lets what must go lie about until the garbage collector comes.
    """

    def __init__(
        self,
        most: int = MOST,
        ttl_seconds: float = 120,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._clock = most, ttl_seconds, clock
        self._kept: OrderedDict[str, tuple[float, SessionInfo]] = OrderedDict()

    def get(self, session_id: str) -> SessionInfo | None:
        """Return a session that may be taken up again, or None."""
        self._end_old(self._most)
        kept = self._kept.get(session_id)
        return kept[1] if kept else None

    def save(self, session_info: SessionInfo) -> None:
        """Keep a session whose window has just gone."""
        self._end_old(self._most - 1)
        self._kept[session_info.session.id] = self._clock(), session_info

    def delete(self, session_id: str) -> None:
        """Let go of a session that is taken up again or ended by somebody else."""
        del self._kept[session_id]

    def list(self) -> list[SessionInfo]:
        """Return all that are kept."""
        return [info for _, info in self._kept.values()]

    def _end_old(self, room: int) -> None:
        now = self._clock()
        while self._kept:
            since, info = next(iter(self._kept.values()))
            if len(self._kept) <= room and now - since <= self._seconds:
                return
            self._kept.popitem(last=False)
            info.session.shutdown()


def keep_few() -> None:
    """Let Streamlit use `OldSessions`; call it before the server begins."""
    memory_session_storage.MemorySessionStorage = OldSessions

"""Sessions whose window is away: kept for a moment, so that a short loss of the network costs
nothing; few of them, because each holds its page's data and three open files.

What an ended session held is handed back to the system now and then: the heap of a server with many
visitors is full of holes, a third of it after three hundred sessions."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from streamlit.runtime import memory_session_storage
from streamlit.runtime.session_manager import SessionInfo, SessionStorage

from llmviz.training.memory import trim
from llmviz.ui.origin import Origin, of_session

PAUSE = 20.0  # seconds between two times that freed memory is handed back
MOST = 32  # with thirty open windows below 256 open files, which some systems begin with


class OldSessions(SessionStorage):
    """Up to `most` sessions, each for `ttl_seconds`. One that must go is ended.

    That is the oldest of the address that has most of them, there of the browser that has most: a
    visitor who opens and closes windows pushes nobody else out.
    origin: says where a session's window is that has just gone. hand_back: called after a session
    has ended, but not sooner than `PAUSE` seconds after the last time.

    Streamlit's own keeps 128, and lets what must go lie about until the garbage collector comes.
    """

    def __init__(
        self,
        most: int = MOST,
        ttl_seconds: float = 120,
        clock: Callable[[], float] = time.monotonic,
        origin: Callable[[str], Origin] = of_session,
        hand_back: Callable[[], object] = trim,
    ) -> None:
        self._most, self._seconds, self._clock = most, ttl_seconds, clock
        self._origin, self._hand_back = origin, hand_back
        self._handed = clock()
        self._kept: OrderedDict[str, tuple[float, SessionInfo, Origin]] = OrderedDict()

    def get(self, session_id: str) -> SessionInfo | None:
        """Return a session that may be taken up again, or None."""
        self._end_old(self._most)
        kept = self._kept.get(session_id)
        return kept[1] if kept else None

    def save(self, session_info: SessionInfo) -> None:
        """Keep a session whose window has just gone."""
        self._end_old(self._most - 1)
        name = session_info.session.id
        self._kept[name] = self._clock(), session_info, self._origin(name)

    def delete(self, session_id: str) -> None:
        """Let go of a session that is taken up again or ended by somebody else."""
        del self._kept[session_id]

    def list(self) -> list[SessionInfo]:
        """Return all that are kept."""
        return [info for _, info, _ in self._kept.values()]

    def _end_old(self, room: int) -> None:
        now = self._clock()
        while self._kept:
            oldest, (since, _, _) = next(iter(self._kept.items()))
            if now - since > self._seconds:
                self._end(oldest)
            elif len(self._kept) > room:
                self._end(self._one_of_most())
            else:
                return

    def _one_of_most(self) -> str:
        """The oldest session of the address, and there of the browser, that has most of them."""
        where = {name: (one.address, one.browser) for name, (_, _, one) in self._kept.items()}
        addresses, browsers = Counter(a for a, _ in where.values()), Counter(where.values())
        return max(where, key=lambda name: (addresses[where[name][0]], browsers[where[name]]))

    def _end(self, name: str) -> None:
        self._kept.pop(name)[1].session.shutdown()
        if self._clock() - self._handed >= PAUSE:
            self._handed = self._clock()
            threading.Thread(target=self._hand_back, name="memory", daemon=True).start()


def keep_few() -> None:
    """Let Streamlit use `OldSessions`; call it before the server begins."""
    memory_session_storage.MemorySessionStorage = OldSessions

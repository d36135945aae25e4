"""Sessions whose window is away: kept for a moment, so that a short loss of the network costs
nothing; few of them, because each holds its page's data and three open files."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from llmviz.course.streamlit_parts import store_sessions_in
from llmviz.course.ui.origin import Origin, of_session

MOST = 32  # with thirty open windows below 256 open files, which some systems begin with


class OldSessions:
    """Up to `most` sessions, each for `ttl_seconds`. One that must go is ended.

    That is the oldest of the address that has most of them, there of the browser that has most: a
    visitor who opens and closes windows pushes nobody else out.
    origin: says where a session's window is that has just gone.

    It has the methods of Streamlit's own, which keeps 128, and lets what must go lie about until
    the garbage collector comes.
    """

    def __init__(
        self,
        most: int = MOST,
        ttl_seconds: float = 120,
        clock: Callable[[], float] = time.monotonic,
        origin: Callable[[str], Origin] = of_session,
    ) -> None:
        self._most, self._seconds, self._clock = most, ttl_seconds, clock
        self._origin = origin
        self._kept: OrderedDict[str, tuple[float, Any, Origin]] = OrderedDict()

    def get(self, session_id: str) -> Any | None:
        """Return a session that may be taken up again, or None."""
        self._end_old(self._most)
        kept = self._kept.get(session_id)
        return kept[1] if kept else None

    def save(self, session_info: Any) -> None:
        """Keep a session whose window has just gone."""
        self._end_old(self._most - 1)
        name = session_info.session.id
        self._kept[name] = self._clock(), session_info, self._origin(name)

    def delete(self, session_id: str) -> None:
        """Let go of a session that is taken up again or ended by somebody else."""
        del self._kept[session_id]

    def list(self) -> list[Any]:
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
        where = {name: (who.address, who.browser) for name, (_, _, who) in self._kept.items()}
        addresses, browsers = Counter(a for a, _ in where.values()), Counter(where.values())
        return max(where, key=lambda name: (addresses[where[name][0]], browsers[where[name]]))

    def _end(self, name: str) -> None:
        self._kept.pop(name)[1].session.shutdown()


def keep_few() -> None:
    """Let Streamlit use `OldSessions`; call it before the server begins."""
    store_sessions_in(OldSessions)

"""Classes that a presenter leads and others follow: what is kept of them, and who may change it.

Each is one small file in the folder of runs, written whole, so that all processes of a server have
the same classes. A file is read again only when it has changed. It is gone with the end of its
class.

    RUNS/.classes/CODE.json

Beside it lies who joined, a line for each browser: how many there are is told, and no more.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from hmac import compare_digest
from itertools import chain
from pathlib import Path
from typing import Self

from llmviz.course.ui.origin import Origin
from llmviz.files.whole import TEMPORARY, write_whole
from llmviz.processes.limits import limit
from llmviz.runs import store

_log = logging.getLogger(__name__)

FOLDER = ".classes"
# Ends of the names of what lies beside a class: its answers, what its presenter points at, and a
# file that is locked while answers are written, and who joined.
ANSWERS, POINTED, LOCK, JOINED = BESIDE = ".jsonl", ".at", ".lock", ".joined"
ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"  # no two of them look alike: no O and 0, no S and 5
LENGTH = 6  # characters of a code: 25⁶ is 244 million
WHOLE = "[!.]*"  # how the names of whole files begin: a pattern
MINUTE = 60.0  # seconds for which a wrong try counts
WAIT = 2.0  # seconds until a further wrong code is told, after too many
LEFT = 60 * MINUTE  # after which nobody writes an unfinished file; clocks may differ by minutes
MOST_JOINED = 2_000  # browsers of which a class keeps that they joined
FRESH = 0.1  # of the idle time: a class that was used so long ago is marked as used again


@dataclass(frozen=True)
class Place:
    """What a presenter looks at: a page, what its address says, and texts too long for that.

    told: how far the answer to a question is shown to all, by the question's name.
    """

    page: str
    query: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    told: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenClass:
    """A class that is open.

    key: by it a window that joined asks what is new; nobody can guess it. owner: the browser that
    leads, by a hash of its secret; window: the session of it that leads now. version: how often
    the place has changed.
    """

    code: str
    key: str
    owner: str
    window: str
    address: str = ""
    version: int = 0
    place: Place | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """Return what `written` wrote. Raises ValueError or TypeError for anything else."""
        values = json.loads(text)
        if values["place"] is not None:
            values["place"] = Place(**values["place"])
        return cls(**values)

    def written(self) -> str:
        """The text of its file; half a character becomes the sign for an unknown one."""
        text = json.dumps(asdict(self), ensure_ascii=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Refused(ValueError):
    """Why somebody may not do something: `reason` names the text that says so, `count` a limit."""

    def __init__(self, reason: str, count: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.count = reason, count


@contextmanager
def written_or_refused() -> Iterator[None]:
    """Raise Refused where a file of a class cannot be written; the log says why."""
    try:
        yield
    except OSError as error:
        _log.warning("a class cannot be written: %s", error)
        raise Refused("unwritten") from error


def code_of(text: str) -> str:
    """Return a code as it was typed, in its one form; empty where it cannot be one.

    >>> code_of(" ac3-4de "), code_of("../etc")
    ('AC34DE', '')
    """
    code = text[:40].upper().replace(" ", "").replace("-", "")
    return code if len(code) == LENGTH and not set(code) - set(ALPHABET) else ""


def owner_of(secret: str) -> str:
    """Return by which name a browser's secret stands in a file."""
    return blake2b(secret.encode(), digest_size=16).hexdigest()


class Classes:
    """All classes of a server.

    now: the clock of the files' times, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.RLock()
        # By code: which file was read last, and what it says.
        self._known: dict[str, tuple[tuple[int, int, int], OpenClass]] = {}

    def open(self, secret: str, window: str, origin: Origin) -> OpenClass:
        """Open a class, or return the one that this browser leads.

        Raises Refused: there are too many, of the address or in all, or it cannot be written.
        """
        with self._lock, written_or_refused():
            there = list(self._all())
            known = self.led_by(secret)
            if known is not None:
                return self.take(secret, window) or known
            own = 0 if origin.own else sum(group.address == origin.address for group in there)
            for reason, count in (("ADDRESS", own if origin.address else 0), ("MAX", len(there))):
                if count >= limit(f"LLMVIZ_{reason}_CLASSES"):
                    raise Refused(f"full_{reason}", count)
            self._folder().mkdir(parents=True, exist_ok=True)
            code = ""
            while not code or self.path(code).exists():
                code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
            key = secrets.token_urlsafe(16)
            return self._write(OpenClass(code, key, owner_of(secret), window, origin.address))

    def find(self, code: str) -> OpenClass | None:
        code = code_of(code)
        if not code:
            return None
        with self._lock:
            path = self.path(code)
            try:
                stat = path.stat()
                idle = self._now() - stat.st_mtime
                if idle > MINUTE * limit("LLMVIZ_CLASS_MINUTES"):
                    self._remove(code)
                    raise FileNotFoundError(path)
                file = stat.st_mtime_ns, stat.st_size, stat.st_ino
                if code not in self._known or self._known[code][0] != file:
                    self._known[code] = file, OpenClass.read(path.read_text("utf-8"))
                return self._known[code][1]
            except (OSError, ValueError, TypeError, KeyError):  # gone, or not written by this app
                self._known.pop(code, None)
                return None

    def known_by(self, code: str, key: str) -> OpenClass | None:
        """Return an open class if this is its key, which may be any text."""
        group = self.find(code)
        held, said = (
            text.encode("utf-8", "surrogatepass") for text in (group.key if group else "", key)
        )
        return group if compare_digest(held, said) else None

    def version(self, code: str, key: str) -> int | None:
        """Return how often the place of a class has changed; None where there is no such class."""
        group = self.known_by(code, key)
        return None if group is None else group.version

    def led_by(self, secret: str) -> OpenClass | None:
        """Return the class that a browser leads."""
        owner = owner_of(secret)
        with self._lock:
            return next((group for group in self._all() if group.owner == owner), None)

    def take(self, secret: str, window: str) -> OpenClass | None:
        """Let another window of the presenter's browser lead; None where it leads none.

        Raises Refused: it cannot be written.
        """
        with self._lock, written_or_refused():
            group = self.led_by(secret)
            return group and self._write(replace(group, window=window))

    def show(self, code: str, window: str, place: Place) -> bool:
        """Set what the class looks at; return whether this window leads it.

        Raises Refused: the place is larger than a class may have, or it cannot be written. What it
        had before stays.
        """
        with self._lock, written_or_refused():
            group = self.find(code)
            if group is None or group.window != window:
                return False
            after = OpenClass.read(replace(group, place=place).written())
            if after == group:
                with suppress(FileNotFoundError):  # it ends at this moment
                    if self._idle(code) > FRESH * MINUTE * limit("LLMVIZ_CLASS_MINUTES"):
                        os.utime(self.path(code), (self._now(), self._now()))
                return True
            most = limit("LLMVIZ_CLASS_KB")
            if len(after.written().encode()) > 1000 * most:
                raise Refused("large", most)
            self._write(replace(after, version=group.version + 1))
            return True

    def end(self, code: str, window: str) -> None:
        """End a class; nothing happens where this window does not lead it.

        Raises Refused: its files cannot be removed.
        """
        with self._lock, written_or_refused():
            group = self.find(code)
            if group is not None and group.window == window:
                self._remove(code)

    def join(self, group: OpenClass, who: str) -> None:
        """Note that a browser or a window joined a class; each counts once."""
        line = f"{owner_of(who)}\n"
        with self._lock, suppress(OSError):
            path = self.path(group.code).with_suffix(JOINED)
            there = self._joined(group.code)
            if line.strip() not in there and len(there) < MOST_JOINED:
                with path.open("a", encoding="ascii") as file:
                    file.write(line)

    def joined(self, code: str) -> int:
        """Return how many browsers have joined a class."""
        return len(self._joined(code))

    def _joined(self, code: str) -> set[str]:
        try:
            text = self.path(code).with_suffix(JOINED).read_text("ascii", "replace")
        except OSError:
            return set()
        return set(text.split())

    def _remove(self, code: str) -> None:
        self._known.pop(code, None)
        self.path(code).unlink(missing_ok=True)  # first: no answer comes after it
        for ending in BESIDE:
            self.path(code).with_suffix(ending).unlink(missing_ok=True)

    def _folder(self) -> Path:
        return store.root() / FOLDER

    def path(self, code: str) -> Path:
        """Where a class lies; what lies beside it has another of BESIDE at the end of its name."""
        return self._folder() / f"{code}.json"

    def _idle(self, code: str) -> float:
        return self._now() - self.path(code).stat().st_mtime

    def _all(self) -> Iterator[OpenClass]:
        """All that are open; what an ended process left half written is cleared away."""
        for path in self._folder().glob(f"{TEMPORARY}*"):
            with suppress(OSError):  # what is written at this moment has another name now
                if self._now() - path.stat().st_mtime > LEFT:
                    path.unlink()
        for path in sorted(self._folder().glob(f"{WHOLE}.json")):
            if (group := self.find(path.stem)) is not None:
                yield group
        for path in chain(*(self._folder().glob(f"{WHOLE}{end}") for end in BESIDE)):
            if not self.path(path.stem).exists():  # somebody answered while the class ended
                with suppress(OSError):
                    path.unlink()

    def _write(self, group: OpenClass) -> OpenClass:
        text = group.written()
        path = self.path(group.code)

        def write(temporary: Path) -> None:
            temporary.write_text(text, "utf-8")
            os.utime(temporary, (self._now(), self._now()))

        write_whole(path, write)
        self._known.pop(group.code, None)
        return OpenClass.read(text)


class Tries:
    """Wrong codes that were typed in the last minute: of each browser, and of each address.

    After too many of them each further one is told late. The right code is looked at first and
    never waits: a class may share its address with somebody who tries. What a follower's window
    asks is not counted, since nobody can guess the key of a class.

    pause: waits for some seconds.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock, self._pause = clock, pause
        self._lock = threading.Lock()
        self._wrong: deque[tuple[float, list[tuple[str, str]]]] = deque()
        self._count: Counter[tuple[str, str]] = Counter()

    def find(self, classes: Classes, code: str, origin: Origin) -> OpenClass:
        """Return the class of a code. Raises Refused: there is none."""
        group = classes.find(code)
        if group is None:
            if self._too_many(origin):
                self._pause(WAIT)
            raise Refused("wrong")
        return group

    def _too_many(self, origin: Origin) -> bool:
        """Count a wrong code, and return whether there were too many before."""
        counts = list(_counts(origin))
        with self._lock:
            while self._wrong and self._clock() - self._wrong[0][0] > MINUTE:
                self._count.subtract(self._wrong.popleft()[1])
            self._count = +self._count
            if any(self._count[who] >= limit(f"LLMVIZ_{who[0]}_TRIES") for who in counts):
                return True
            self._wrong.append((self._clock(), counts))
            self._count.update(counts)
            return False


def _counts(origin: Origin) -> Iterator[tuple[str, str]]:
    if origin.browser:
        yield "BROWSER", origin.browser
    if origin.address and not origin.own:
        yield "ADDRESS", origin.address

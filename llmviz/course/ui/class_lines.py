"""The file of a class's answers: lines that are added at once and whole, gone with the class.

Of lines that are about the same the last one counts; when the file is full, the others go.

    RUNS/.classes/CODE.jsonl
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from llmviz.course.ui.classes import ANSWERS, LOCK, Classes, OpenClass, Refused
from llmviz.limits import limit
from llmviz.training import locks
from llmviz.wholefile import write_whole

SORTED = "sorted"  # the mark of a line that sorts
_WHO = "who"  # the mark of what somebody says
_PATIENCE = 2.0  # seconds until another process has written


@dataclass
class _Lines:
    """What a file says: by what a line is about, the last one.

    file: as it was when it was read. ended: so did its last line.
    """

    file: tuple[int, int, int] | None = None
    ended: bool = True
    last: dict[tuple[str, ...], bytes] = field(default_factory=dict)

    def size(self, who: str = "") -> int:
        """How many bytes they have: all of them, or those of somebody."""
        mine = (_WHO, who)
        return sum(
            len(line)
            for about, line in self.last.items()
            if not who or (about[0], about[-1]) == mine
        )


class ClassLines:
    """The files of all classes of a server."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self._lock = threading.Lock()
        self._known: dict[str, _Lines] = {}  # by the code of an open class

    def last(self, group: OpenClass) -> list[bytes]:
        """Return the lines of a class that count; one that says nothing is passed over."""
        with self._lock:
            return list(self._read(group).last.values())

    def room(self, group: OpenClass) -> int:
        """How many bytes may still come."""
        with self._lock:
            return 1000 * limit("LLMVIZ_CLASS_KB") - self._read(group).size()

    def write(self, group: OpenClass, said: list[object]) -> None:
        """Add a line, whole; nothing for a class that has ended.

        Raises Refused: somebody has said as much as a follower may, the class's answers are as
        many as it may have, or another process writes and does not come to an end.
        """
        line = (json.dumps(said, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        about = _about(line)
        assert about is not None  # it is one of ours
        most, most_of_one = (1000 * limit(f"LLMVIZ_{what}_KB") for what in ("CLASS", "FOLLOWER"))
        with self._lock, self._alone(group) as is_open:
            if not is_open:
                return
            before = self._read(group)
            after = _Lines(last=before.last | {about: line})
            who = about[-1] if about[0] == _WHO else ""
            if who and after.size(who) > max(most_of_one, before.size(who)):
                raise Refused("answers_mine", most_of_one // 1000)
            if after.size() > max(most, before.size()):
                raise Refused("answers_all", most // 1000)
            path = self._path(group)
            written = before.file[1] if before.file else 0
            if written + len(line) > most or not before.ended:
                write_whole(path, lambda file: file.write_bytes(b"".join(after.last.values())))
            else:
                _append(path, line)
            after.file = _file_of(path)
            self._known[group.code] = after

    def _read(self, group: OpenClass) -> _Lines:
        file = _file_of(self._path(group))
        known = self._known.get(group.code)
        if known is None or known.file != file:
            known, text = _Lines(file), b""
            with suppress(FileNotFoundError):
                text = self._path(group).read_bytes()
            for line in text.splitlines():
                if about := _about(line):
                    known.last[about] = line + b"\n"
            known.ended = text[-1:] in (b"", b"\n")
            open_now = {path.stem for path in self._path(group).parent.glob(f"*{ANSWERS}")}
            self._known = {code: self._known[code] for code in self._known if code in open_now}
            self._known[group.code] = known
        return known

    @contextmanager
    def _alone(self, group: OpenClass) -> Iterator[bool]:
        """Keep other processes from writing the answers of a class; yields whether it is open."""
        if not self._is_open(group):
            yield False
            return
        until = time.monotonic() + _PATIENCE
        with self._path(group).with_suffix(LOCK).open("ab") as file:
            while not locks.lock(file):
                if time.monotonic() > until:
                    raise Refused("answers_later")
            yield self._is_open(group)

    def _is_open(self, group: OpenClass) -> bool:
        found = self._classes.find(group.code)
        return found is not None and found.key == group.key

    def _path(self, group: OpenClass) -> Path:
        return self._classes.path(group.code).with_suffix(ANSWERS)


def _file_of(path: Path) -> tuple[int, int, int] | None:
    """By what a file is known that has not changed."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _append(path: Path, line: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _about(line: bytes) -> tuple[str, ...] | None:
    """Return what a line is about, which a later one replaces; last of somebody's, who."""
    try:
        said = json.loads(line)
    except ValueError:
        return None
    match said:
        case [str(name), str(_), list(_), int(_)]:
            return "", name
        case [str(name), str(mark), str(text), str(_)] if mark == SORTED:
            return SORTED, name, text
        case [str(name), str(who), int(_), *_]:
            return _WHO, name, "chose", who
        case [str(name), str(who), str(_)]:
            return _WHO, name, "said", who
    return None

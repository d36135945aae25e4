"""What a class thinks: the answers of its followers to the questions that its presenter asks.

They are lines of a file, added at once and whole, gone with the class. A line has no name and no
secret: who answers twice, and how many answer from one address, is known by hashes that are others
in each class. Of lines that are about the same the last one counts; when the file is full, the
others go.

    RUNS/.classes/CODE.jsonl
"""

from __future__ import annotations

import csv
import io
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from llmviz.course.ui.classes import (
    ANSWERS,
    LOCK,
    Classes,
    OpenClass,
    Refused,
    written_or_refused,
)
from llmviz.files.whole import write_whole
from llmviz.processes.limits import limit
from llmviz.training import locks

SORTED = "sorted"  # the mark of a line that sorts
_FROM = "@"  # between a browser and its address, in who says something
_WHO = "who"  # the mark of what somebody says
_FOLLOWERS = "LLMVIZ_ADDRESS_FOLLOWERS"
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
        return sum(len(line) for about, line in self.last.items() if not who or _who(about) == who)

    def followers(self) -> dict[str, str]:
        """Who said something, each with the address from which it came last."""
        found = {}
        for about, line in self.last.items():
            if who := _who(about):
                found[who] = json.loads(line)[1].partition(_FROM)[2]
        return found


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

    def is_crowded(self, group: OpenClass) -> bool:
        """Whether from some address as many have answered as may."""
        with self._lock:
            there = Counter(filter(None, self._read(group).followers().values()))
        return max(there.values(), default=0) >= limit(_FOLLOWERS)

    def write(self, group: OpenClass, said: list[object]) -> None:
        """Add a line, whole; nothing for a class that has ended.

        Raises Refused: somebody has said as much as a follower may, as many others answered from
        this address as may, the class's answers are as many as it may have, or another process
        writes and does not come to an end.
        """
        line = (json.dumps(said, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        about = _about(line)
        assert about is not None  # it is one of ours
        most, most_of_one = (1000 * limit(f"LLMVIZ_{what}_KB") for what in ("CLASS", "FOLLOWER"))
        with written_or_refused(), self._lock, self._alone(group) as is_open:
            if not is_open:
                return
            before = self._read(group)
            after = _Lines(last=before.last | {about: line})
            who = _who(about)
            if who and who not in (there := before.followers()):
                _check_address(there, after.followers()[who])
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
            return _WHO, name, "chose", who.partition(_FROM)[0]
        case [str(name), str(who), str(_)]:
            return _WHO, name, "said", who.partition(_FROM)[0]
    return None


def _who(about: tuple[str, ...]) -> str:
    """Return who says what is about this; empty where it is nobody of the class."""
    return about[-1] if about[0] == _WHO else ""


def _check_address(there: dict[str, str], address: str) -> None:
    most = limit(_FOLLOWERS)
    if address and list(there.values()).count(address) >= most:
        raise Refused("answers_address", most)


HEAD = ("question", "answer", "right", "count")
MOST = 500  # characters of what somebody says in their own words
LARGEST = 4 * MOST + 100  # bytes of the line of somebody's own words, and a few more
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a table program takes for one at a cell's start


class Ask(NamedTuple):
    """A question for a class; without answers to choose from, it asks for own words."""

    text: str
    answers: Sequence[str] = ()
    right: int = -1

    @property
    def name(self) -> str:
        """Its name, which is another one when its numbers change."""
        return name_of(self.text, self.answers)


@dataclass
class Answered:
    """A question that was asked, the answer of each who gave one, and their own words.

    marks: the numbers that each set on the picture, if it is answered there. kinds: into which kind
    the presenter sorted which words.
    """

    text: str
    answers: list[str]
    right: int
    given: dict[str, int] = field(default_factory=dict)
    marks: dict[str, list[float]] = field(default_factory=dict)
    own_words: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def counts(self) -> list[int]:
        """How many gave each answer."""
        number = Counter(self.given.values())
        return [number[index] for index in range(len(self.answers))]


def name_of(text: str, answers: Sequence[str]) -> str:
    """Return the name of a question, which is another one when its numbers change."""
    words = "\0".join((text, *answers)).encode("utf-8", "surrogatepass")
    return blake2b(words, digest_size=12).hexdigest()


def who_of(secret: str, key: str, address: str = "") -> str:
    """Return by what a browser, at an address, is known in the class of a key and nowhere else."""
    browser = blake2b(secret.encode(), key=key.encode(), digest_size=8).hexdigest()
    if not address:
        return browser
    return browser + _FROM + blake2b(address.encode(), key=key.encode(), digest_size=4).hexdigest()


class ClassAnswers:
    """The answers in all classes of a server."""

    def __init__(self, classes: Classes) -> None:
        self._lines = ClassLines(classes)

    def ask(self, group: OpenClass, text: str, answers: Sequence[str], right: int) -> Answered:
        """Ask a class a question, and return it with the answers that came so far."""
        return self.ask_all(group, [Ask(text, answers, right)])[name_of(text, answers)]

    def ask_all(self, group: OpenClass, asks: Iterable[Ask]) -> dict[str, Answered]:
        """Ask a class several questions; return these by name, with the answers so far."""
        wanted = {ask.name: ask for ask in asks}
        known = self.of(group)
        if missing := {name: ask for name, ask in wanted.items() if name not in known}:
            for name, ask in missing.items():
                with suppress(Refused):  # its presenter sees that there is no room
                    self._lines.write(group, [name, ask.text, list(ask.answers), ask.right])
            known = self.of(group)
        return {
            name: known.get(name) or Answered(ask.text, list(ask.answers), ask.right)
            for name, ask in wanted.items()
        }

    def give(
        self, group: OpenClass, who: str, name: str, answer: int, guess: Sequence[float] = ()
    ) -> None:
        """Note the answer of somebody; of several the last one counts.

        guess: what they set on the picture. Raises Refused: there is no room for it, see
        `ClassLines.write`.
        """
        written = [[float(f"{value:.4g}") for value in guess]] if guess else []
        self._lines.write(group, [name, who, answer, *written])

    def say(self, group: OpenClass, who: str, name: str, text: str) -> None:
        """Note somebody's own words; the last ones count, and empty ones take them back.

        Raises Refused: there is no room for them, see `ClassLines.write`.
        """
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._lines.write(group, [name, who, " ".join(text.split())[:MOST]])

    def sort(self, group: OpenClass, name: str, said: str, kind: str) -> None:
        """Note into which kind the presenter sorts words, while there is room; the last counts."""
        with suppress(Refused):
            self._lines.write(group, [name, SORTED, said, kind])

    def is_full(self, group: OpenClass) -> bool:
        """Whether there may be no room for what somebody says next."""
        return self._lines.room(group) < LARGEST

    def is_crowded(self, group: OpenClass) -> bool:
        """Whether from some address as many have answered as may, so that others are refused."""
        return self._lines.is_crowded(group)

    def of(self, group: OpenClass) -> dict[str, Answered]:
        """Return all that a class was asked, by name; a line that says nothing is passed over."""
        questions: dict[str, Answered] = {}
        given: list[tuple[str, str, int | str, list[float]]] = []
        kinds: list[tuple[str, str, str]] = []
        for line in self._lines.last(group):
            match json.loads(line):
                case [name, question, list(answers), right]:
                    questions[name] = Answered(question, [str(answer) for answer in answers], right)
                case [name, mark, said, kind] if mark == SORTED:
                    kinds.append((name, said, kind))
                case [name, who, answer, *guess]:
                    person = who.partition(_FROM)[0]
                    given.append((name, person, answer, guess[0] if guess else []))
        for name, who, answer, guess in given:  # some answer before the presenter is there
            if name not in questions:
                continue
            if isinstance(answer, int):
                questions[name].given[who] = answer
                if guess:
                    questions[name].marks[who] = guess
            else:
                questions[name].own_words[who] = answer
        for name, said, kind in kinds:
            if name in questions:
                questions[name].kinds[said] = kind
        return questions

    def table(self, group: OpenClass) -> str:
        """Return the questions that somebody answered as CSV: each answer with its count.

        What somebody said in their own words has no mark of being right; it stands by its letters,
        so that nobody is known by the order.
        """
        out = io.StringIO()
        rows = csv.writer(out)
        rows.writerow(HEAD)
        for question in self.of(group).values():
            if not question.given and not any(question.own_words.values()):
                continue
            for index, count in enumerate(question.counts()):
                texts = (question.text, question.answers[index])
                rows.writerow([*map(as_cell, texts), int(index == question.right), count])
            for said, count in sorted(Counter(filter(None, question.own_words.values())).items()):
                rows.writerow([*map(as_cell, (question.text, said)), "", count])
        return out.getvalue()


def as_cell(text: str) -> str:
    """Return a text as a cell of CSV that no table program takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text

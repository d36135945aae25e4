"""A user's texts of any size: read anew each time they are asked for, and known by their files."""

from __future__ import annotations

import hashlib
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmviz.corpus.corpora import CORPORA, check_there, corpus_file, load_corpus
from llmviz.corpus.documents import held_out_of, place_of_cut
from llmviz.corpus.pairs import PairCorpus
from llmviz.corpus.pieces import Piece, joined
from llmviz.corpus.sources import FIELD, files_of, read_pieces

GENERATED = "tiny-world"
SETTLED = 2.0  # seconds after which a file's times change with its content on every file system


@dataclass(frozen=True)
class Documents:
    """Documents that are read anew each time they are iterated over, always in the same order."""

    pieces: Callable[[], Iterator[Piece]]
    count: int

    def __iter__(self) -> Iterator[str]:
        return joined(self.pieces())

    def __len__(self) -> int:
        return self.count


def pieces_in(documents: Iterable[str]) -> Iterator[Piece]:
    """Yield documents in pieces; of those that are in memory each is one."""
    if isinstance(documents, Documents):
        return documents.pieces()
    return (Piece(text, True) for text in documents)


@dataclass(frozen=True)
class Source:
    """Where documents come from: corpora by their names, files, folders, patterns.

    pieces: reads them all. stamp: what changes with their content, and can be had without reading
    them; None where nothing can be relied on. size: bytes on the disk.
    """

    name: str
    pieces: Callable[[], Iterator[Piece]]
    stamp: Callable[[], list[Any] | None]
    size: int


def open_source(
    sources: Sequence[str], *, column: str = FIELD, characters: int | None = None
) -> Source:
    """Find what documents come from; nothing is read yet.

    characters: how much of tiny-world is written.
    Raises ValueError as `load_corpora`, and reading raises what it raises.
    """
    parts = [_part(source, column, characters) for source in sources]
    if len(parts) == 1:
        return parts[0]

    def pieces() -> Iterator[Piece]:
        for part in parts:
            yield from part.pieces()

    def stamp() -> list[Any] | None:
        stamps = [part.stamp() for part in parts]
        return None if None in stamps else stamps

    name = f"{parts[0].name} and {len(parts) - 1} more"
    return Source(name, pieces, stamp, sum(part.size for part in parts))


def _part(source: str, column: str, characters: int | None) -> Source:
    if source in CORPORA:
        return _named(source, characters)
    check_there(source)
    files = files_of(source)

    def pieces() -> Iterator[Piece]:
        for file in files:
            yield from read_pieces(file, column)

    size = sum(file.stat().st_size for file in files if file.is_file())
    return Source(Path(source).stem, pieces, lambda: stamp_of(files), size)


def _named(name: str, characters: int | None) -> Source:
    def pieces() -> Iterator[Piece]:
        loaded = load_corpus(name, characters=characters, progress=True)
        if isinstance(loaded, PairCorpus):
            raise ValueError(f"{name} holds sentences with their translations; give it alone")
        return (Piece(text, True) for text in loaded)

    def stamp() -> list[Any] | None:
        if name == GENERATED:
            return [name, characters, _sum_of_code()]
        file = corpus_file(name)
        return None if file is None else stamp_of([file])

    return Source(name, pieces, stamp, 0)


def stamp_of(files: Iterable[Path]) -> list[Any] | None:
    """What changes when a file does: its path, size, number and both of its times.

    The time of the last change of a file's entry (ctime) cannot be set by hand, so a file that was
    written anew has another stamp even where its size and modification time were put back. (Windows
    has the time of its making there.) None for what is no regular file, and for a file that has
    just been written: a second change within the clock's grain would not be seen.
    """
    stamps: list[Any] = []
    for file in files:
        try:
            about = file.stat()
        except OSError:
            return None
        newest = max(about.st_mtime_ns, about.st_ctime_ns)
        if not file.is_file() or time.time_ns() - newest < SETTLED * 1e9:
            return None
        times = [about.st_mtime_ns, about.st_ctime_ns]
        stamps.append([str(file.resolve()), about.st_size, about.st_ino, *times])
    return stamps


def _sum_of_code() -> str:
    """The digest of the code that writes tiny-world."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Survey:
    """What one reading of all documents tells, so that they can be split while they are read.

    first, last: the places of the first and the last visible character, −1 where there is none.
    """

    documents: int
    characters: int
    first: int
    last: int


def survey(pieces: Iterable[Piece], hear: Callable[[Piece, int], object]) -> Survey:
    """Read all documents once. hear: is given each piece, and how many characters came so far."""
    documents, at, first, last = 0, 0, -1, -1
    for piece in pieces:
        text = piece.text
        if visible := text.strip():
            first = at + len(text) - len(text.lstrip()) if first < 0 else first
            last = at + text.rindex(visible[-1])
        at, documents = at + len(text), documents + piece.ends
        hear(piece, at)
    return Survey(documents, at, first, last)


@dataclass(frozen=True)
class Division:
    """How documents fall into two parts, as `Corpus.split` has it.

    place: of one document, the character from which on it is held out.
    """

    documents: int
    fraction: float
    seed: int
    place: int | None = None

    @classmethod
    def of(cls, source: Source, seen: Survey, fraction: float, seed: int) -> Division:
        """Raises ValueError for what has no visible character, or is too short to be split."""
        if seen.first < 0:
            raise ValueError(f"corpus {source.name!r} is empty: there is nothing to learn from")
        if seen.documents > 1:
            return cls(seen.documents, fraction, seed)
        at = round(seen.characters * (1 - fraction))
        place = place_of_cut(seen.characters, at, _last_line(source.pieces(), at))
        if not seen.first < place <= seen.last:
            raise ValueError(
                f"corpus {source.name!r} is too short to split: {seen.characters} characters"
            )
        return cls(1, fraction, seed, place)

    def parts(self, source: Source) -> tuple[Documents, Documents]:
        """The documents to learn from, and those that are held out."""
        if self.place is not None:
            place = self.place
            return (
                Documents(lambda: _before(source.pieces(), place), 1),
                Documents(lambda: _behind(source.pieces(), place), 1),
            )
        held_out = held_out_of(self.documents, self.fraction, self.seed)
        count = sum(held_out)
        return (
            Documents(lambda: _chosen(source.pieces(), held_out, 0), self.documents - count),
            Documents(lambda: _chosen(source.pieces(), held_out, 1), count),
        )


def _last_line(pieces: Iterable[Piece], at: int) -> int:
    """Where the last line begins that begins at or before a character."""
    begins = start = 0
    for text, _ in pieces:
        found = text.rfind("\n", 0, at - start) + 1
        begins = start + found if found else begins
        start += len(text)
        if start >= at:
            break
    return begins


def _before(pieces: Iterable[Piece], place: int) -> Iterator[Piece]:
    for text, _ in pieces:
        yield Piece(text[:place], place <= len(text))
        place -= len(text)
        if place <= 0:
            return


def _behind(pieces: Iterable[Piece], place: int) -> Iterator[Piece]:
    for text, ends in pieces:
        if place < len(text) or ends:
            yield Piece(text[max(0, place) :], ends)
        place -= len(text)


def _chosen(pieces: Iterable[Piece], held_out: array, wanted: int) -> Iterator[Piece]:
    number = 0
    for piece in pieces:
        if held_out[number] == wanted:
            yield piece
        number += piece.ends

"""What is kept of large texts between runs: their tokens, and by which files a text is known.

    CACHE/KEY/train-ids.bin …   a folder for each text and tokenizer, in the user's cache folder, or
                                in the one that LLMVIZ_TOKENS names

The key of tokens is made of the contents of the text and of the tokenizer, so nothing kept is ever
out of date. A second key leads to the first without reading the text: paths, sizes, times and
numbers of its files (`corpus.streamed.stamp_of` says why that is safe). Tokens are written as the
text is read and are read without loading them whole. A folder gets its name when it is whole; of
two processes that want the same one, one makes it and the other waits. What is damaged is made
anew, and where nothing can be written nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.files.whole import TEMPORARY, sync, temporary_beside
from llmviz.tokenizers import load_tokenizer
from llmviz.training import locks
from llmviz.training.files import check_manifest, read_json, write_json, write_manifest
from llmviz.training.references import References
from llmviz.training.stream import Parts, StoredIds, Stream, write_ids

VERSION = 3  # of what is kept and how; another one is another key
LARGE = 2_000_000  # characters from which on a text's tokens are kept
MOST = 16 * 2**30  # bytes of all that is kept; the longest unused goes first
ABOUT, TOKENIZER = "about.json", "tokenizer.json"
BROKEN = (OSError, ValueError, KeyError, TypeError, EOFError)  # what reading and writing raise
PARTS, ENDINGS = ("train", "validation"), ("-ids.bin", "-lengths.bin")
FILES = [part + ending for part in PARTS for ending in ENDINGS]
LEFT = 24 * 3600.0  # seconds after which nobody writes an unfinished folder any more
WAIT = 0.2  # seconds between two looks whether another process has made what is wanted


def cache_folder() -> Path:
    """Where tokens are kept; it need not exist yet."""
    import platformdirs

    own = os.environ.get("LLMVIZ_TOKENS")
    return Path(own or Path(platformdirs.user_cache_dir("llmviz", appauthor=False)) / "tokens")


@dataclass(frozen=True)
class KeptTokens:
    """What is kept of one text. digest: of its documents. characters: how many it has."""

    digest: str
    characters: int

    @property
    def is_large(self) -> bool:
        """Whether anything is kept of this text."""
        return self.characters >= LARGE

    def tokenizer(self, kind: str, vocab_size: int | None, make: Callable[[], Any]) -> Any:
        """The tokenizer of a kind that learned from this text: a kept one, or else `make`'s."""

        def read(folder: Path) -> Any:
            return load_tokenizer(folder / TOKENIZER)

        def write(folder: Path) -> None:
            make().save(folder / TOKENIZER)

        return self._kept({"kind": kind, "vocab_size": vocab_size}, make, read, write)

    def streams(
        self, tokenizer: Any, train: Callable[[], Parts], validation: Callable[[], Parts]
    ) -> tuple[Stream, Stream]:
        """The tokens for training and for validation: kept ones, or else those of the parts."""
        end = tokenizer.end

        def make() -> tuple[Stream, Stream]:
            return Stream.collect(train(), end), Stream.collect(validation(), end)

        def write(folder: Path) -> None:
            both = zip(PARTS, (train, validation), strict=True)
            ranges = {name: _write_stream(folder, name, parts(), end) for name, parts in both}
            write_manifest(folder, FILES)
            write_json(folder / ABOUT, ranges | {"stamps": _stamps(folder)})

        return self._kept({"tokens": _sum_of(tokenizer)}, make, _read_streams, write)

    def references(self, tokenizer: Any, corpus: str, make: Callable[[], References]) -> References:
        """The losses to compare with: kept ones, or else `make`'s."""

        def read(folder: Path) -> References:
            return References.from_dict(read_json(folder / ABOUT))

        def write(folder: Path) -> None:
            write_json(folder / ABOUT, make().to_dict())

        return self._kept({"counted": _sum_of(tokenizer), "corpus": corpus}, make, read, write)

    def _kept(
        self,
        what: Mapping[str, Any],
        make: Callable[[], Any],
        read: Callable[[Path], Any],
        write: Callable[[Path], None],
    ) -> Any:
        """What is read of its folder, which is written if it is not there.

        make: the same without a disk, where nothing can be written.
        """
        if not self.is_large:
            return make()
        folder = _folder_of({"text": self.digest, **what})
        with contextlib.suppress(*BROKEN):  # absent or damaged
            return _used(folder, read)
        try:
            with _alone(folder):
                with contextlib.suppress(*BROKEN):  # another process has made it meanwhile
                    return _used(folder, read)
                _write_whole(folder, write)
                return read(folder)  # from the disk, so that the memory it took is free
        except BROKEN:  # the disk is full, or the folder somebody else's
            return make()


def known_text(key: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was kept of a text that is known by its files; None if there is nothing."""
    try:
        return _used(_folder_of(key), lambda folder: read_json(folder / ABOUT))
    except BROKEN:
        return None


def keep_text(key: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Keep what is known of a text under a key of its files, if that can be written."""
    with contextlib.suppress(*BROKEN):
        _write_whole(_folder_of(key), lambda folder: write_json(folder / ABOUT, dict(about)))


def _folder_of(key: Mapping[str, Any]) -> Path:
    text = json.dumps({"version": VERSION, **key}, sort_keys=True)
    return cache_folder() / hashlib.sha256(text.encode()).hexdigest()


def _used(folder: Path, read: Callable[[Path], Any]) -> Any:
    found = read(folder)
    os.utime(folder)
    return found


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes this folder; what a killed one left of it is deleted."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = folder.parent / f"{folder.name}.lock"
    with path.open("wb") as file:
        with contextlib.suppress(OSError):  # a file system without locks: both make it
            while not locks.lock(file):
                time.sleep(WAIT)
        for left in folder.parent.glob(f"{TEMPORARY}*-{folder.name}"):
            shutil.rmtree(left, ignore_errors=True)
        yield
    with contextlib.suppress(OSError):  # another process has it open
        path.unlink()


def _write_whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Fill a folder and give it its name; one that is there is damaged, or another's just now."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_beside(folder)
    try:
        temporary.mkdir()
        write(temporary)
        sync(temporary)
        try:
            temporary.rename(folder)
        except OSError:  # it is not empty
            old = temporary_beside(folder)
            folder.rename(old)
            temporary.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _evict(folder)


def _evict(newest: Path) -> None:
    """Delete the least recently used folders while there is more than MOST.

    What another process is writing stays.
    """
    dated = []
    for folder in newest.parent.iterdir():
        with contextlib.suppress(OSError):
            used = folder.stat().st_mtime
            if folder.name.startswith(TEMPORARY) and time.time() - used < LEFT:
                continue
            size = sum(part.stat().st_size for part in folder.iterdir())
            dated.append((used, size, folder))
    total = sum(size for _, size, _ in dated)
    for _, size, folder in sorted(dated):
        if total > MOST and folder != newest:
            shutil.rmtree(folder, ignore_errors=True)
            total -= size


def _sum_of(tokenizer: Any) -> str:
    """What a tokenizer is, as the digest of all that makes its tokens and their order."""
    about = {"kind": tokenizer.kind, **tokenizer.to_dict(), "end": tokenizer.end}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _write_stream(folder: Path, name: str, parts: Parts, end: int) -> tuple[int, int]:
    """Write the files of a stream as its parts come, and return its range."""
    ids, lengths = (folder / f"{name}{ending}" for ending in ENDINGS)
    with ids.open("wb") as file:
        written = write_ids(parts, end, file)
    written.lengths.tofile(lengths)
    for path in (ids, lengths):
        sync(path)
    return written.range


def _read_streams(folder: Path) -> tuple[Stream, Stream]:
    """Streams whose ids lie on the disk. Raises ValueError for what is not as it was written.

    Files with other times than when they were written are read once, to compare their checksums.
    """
    about = read_json(folder / ABOUT)
    if (stamps := _stamps(folder)) != about["stamps"]:
        check_manifest(folder, FILES)
        write_json(folder / ABOUT, about | {"stamps": stamps})
    streams = []
    for name in PARTS:
        ids, lengths = (folder / f"{name}{ending}" for ending in ENDINGS)
        lowest, highest = about[name]
        known = np.fromfile(lengths, dtype=np.int64)
        streams.append(Stream.of(StoredIds(ids), known, (lowest, highest)))
    return streams[0], streams[1]


def _stamps(folder: Path) -> list[list[int]]:
    found = [(folder / name).stat() for name in FILES]
    return [[stat.st_size, stat.st_mtime_ns] for stat in found]

"""The tokens of a large text, kept on the disk between runs and read without loading them whole.

    CACHE/KEY/train-ids.npy …   a folder for each text and tokenizer, in the user's cache folder, or
                                in the one that LLMVIZ_TOKENS names

A key is made of the contents of the text and of the tokenizer, so nothing kept is ever out of date.
A folder gets its name when it is whole; of two processes that make the same one, one is first. What
is damaged is made anew, and where nothing can be written nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.tokenizers import load_tokenizer
from llmviz.training.files import read_json, write_json
from llmviz.training.references import References
from llmviz.training.stream import Stream
from llmviz.wholefile import sync, temporary_beside

VERSION = 1  # of what is kept and how; another one is another key
LARGE = 2_000_000  # characters from which on a text's tokens are kept
MOST = 16 * 2**30  # bytes of all that is kept; the longest unused goes first
ABOUT, TOKENIZER = "about.json", "tokenizer.json"
BROKEN = (OSError, ValueError, KeyError, TypeError, EOFError)  # what reading and writing raise
PARTS = ("train-ids", "train-lengths", "validation-ids", "validation-lengths")


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

        def write(folder: Path, made: Any) -> None:
            made.save(folder / TOKENIZER)

        return self._kept({"kind": kind, "vocab_size": vocab_size}, make, read, write)

    def streams(
        self, tokenizer: Any, make: Callable[[], tuple[Stream, Stream]]
    ) -> tuple[Stream, Stream]:
        """The tokens for training and for validation: kept ones, or else `make`'s."""
        return self._kept({"tokens": _sum_of(tokenizer)}, make, _read_streams, _write_streams)

    def references(self, tokenizer: Any, corpus: str, make: Callable[[], References]) -> References:
        """The losses to compare with: kept ones, or else `make`'s."""

        def read(folder: Path) -> References:
            return References.from_dict(read_json(folder / ABOUT))

        def write(folder: Path, made: References) -> None:
            write_json(folder / ABOUT, made.to_dict())

        return self._kept({"counted": _sum_of(tokenizer), "corpus": corpus}, make, read, write)

    def _kept(
        self,
        what: Mapping[str, Any],
        make: Callable[[], Any],
        read: Callable[[Path], Any],
        write: Callable[[Path, Any], None],
    ) -> Any:
        if not self.is_large:
            return make()
        key = json.dumps({"version": VERSION, "text": self.digest, **what}, sort_keys=True)
        folder = cache_folder() / hashlib.sha256(key.encode()).hexdigest()
        with contextlib.suppress(*BROKEN):  # absent or damaged
            found = read(folder)
            os.utime(folder)
            return found
        made = make()
        try:
            _write_whole(folder, lambda temporary: write(temporary, made))
            return read(folder)  # from the disk, so that the memory it took is free
        except BROKEN:  # the disk is full, or the folder somebody else's
            return made


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
    _make_room(folder)


def _make_room(newest: Path) -> None:
    """Delete what was not used for the longest time while there is more than MOST."""
    dated = []
    for one in newest.parent.iterdir():
        with contextlib.suppress(OSError):
            size = sum(part.stat().st_size for part in one.iterdir())
            dated.append((one.stat().st_mtime, size, one))
    total = sum(size for _, size, _ in dated)
    for _, size, one in sorted(dated):
        if total > MOST and one != newest:
            shutil.rmtree(one, ignore_errors=True)
            total -= size


def _sum_of(tokenizer: Any) -> str:
    """What a tokenizer is, as the digest of all that makes its tokens and their order."""
    about = {"kind": tokenizer.kind, **tokenizer.to_dict(), "end": tokenizer.end}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _write_streams(folder: Path, made: tuple[Stream, Stream]) -> None:
    arrays = [one for stream in made for one in (stream.ids, stream.lengths)]
    for name, array in zip(PARTS, arrays, strict=True):
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
    sums = {name: _checksum(array) for name, array in zip(PARTS, arrays, strict=True)}
    write_json(folder / ABOUT, sums)


def _read_streams(folder: Path) -> tuple[Stream, Stream]:
    """Streams whose ids lie on the disk. Raises ValueError for what is not as it was written."""
    sums = read_json(folder / ABOUT)
    arrays = []
    for name in PARTS:
        array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        if _checksum(array) != sums[name]:
            raise ValueError(f"{folder / name} is damaged")
        arrays.append(np.asarray(array))
    streams = []
    for ids, lengths in (arrays[:2], arrays[2:]):
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
        streams.append(Stream(ids, starts, lengths))
    return streams[0], streams[1]


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)

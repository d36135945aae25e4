"""Files that are there whole or not at all, whatever ends the program that writes them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY = ".tmp-"  # how the names of unfinished files and folders begin
_WINDOWS = os.name == "nt"


def temporary_beside(path: Path) -> Path:
    """A name of its own for what will get the name of `path` when it is whole."""
    return path.parent / f"{TEMPORARY}{uuid.uuid4().hex[:8]}-{path.name}"


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, force it to the disk, then give it its name.

    At any moment `path` is the old file or the new one. The folder must exist. Raises OSError as
    it comes; the temporary file is then gone and the old one is there.
    """
    path = Path(path)
    temporary = temporary_beside(path)
    try:
        write(temporary)
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Force a file or a folder's list of names to the disk."""
    if _WINDOWS and path.is_dir():
        return  # a folder cannot be opened there, and NTFS keeps a journal of renaming
    descriptor = os.open(path, os.O_RDWR if _WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Turn the operating system's refusal to write into one clear ValueError."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"cannot write {what}: {error.strerror or error}") from error

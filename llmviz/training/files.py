"""Files that are there whole or not at all, and the list of their checksums."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from llmviz.training.errors import CheckpointError

MANIFEST = "manifest.json"
TEMPORARY = ".tmp-"  # how the names of unfinished files and folders begin


def sha256(path: Path) -> str:
    """The file's sha256 as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file, force it to the disk, then give it its name.

    Whoever looks at `path`, at any moment, finds the old file or the new one.
    """
    temporary = path.parent / f"{TEMPORARY}{uuid.uuid4().hex[:8]}-{path.name}"
    try:
        write(temporary)
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8") and None)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; CheckpointError names a file that is absent or is not one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} is missing") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} does not hold a JSON object")
    return value


def sync(path: Path) -> None:
    """Force a file or a folder's list of names to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_manifest(folder: Path, names: list[str]) -> None:
    """List the named files of a folder with their sha256 and size in bytes."""
    files = {
        name: {"sha256": sha256(folder / name), "bytes": (folder / name).stat().st_size}
        for name in names
    }
    write_json(folder / MANIFEST, {"files": files})


def check_manifest(folder: Path, names: Collection[str] | None = None) -> None:
    """Raise CheckpointError naming the first file that is not what the manifest says.

    names: the files to look at; None = all that are listed.
    """
    listed = read_json(folder / MANIFEST).get("files")
    if not isinstance(listed, dict):
        raise CheckpointError(f"{folder / MANIFEST} lists no files")
    for name in listed if names is None else names:
        path, expected = folder / name, listed.get(name)
        if not path.is_file():
            raise CheckpointError(f"{path} is missing")
        try:
            sound = path.stat().st_size == expected["bytes"] and sha256(path) == expected["sha256"]
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
        except (KeyError, TypeError) as error:
            raise CheckpointError(f"{folder / MANIFEST} says nothing of {name}") from error
        if not sound:
            raise CheckpointError(f"{path} is damaged: its sha256 is not the one in {MANIFEST}")


@contextlib.contextmanager
def removed_if_empty(folder: Path) -> Iterator[None]:
    """Of the folders that were not there before, take the empty ones away again at the end."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    finally:
        for path in new:
            with contextlib.suppress(OSError):  # it holds something, or was never made
                path.rmdir()


def check_writable(folder: Path) -> None:
    """Raise ValueError where no file can be written in `folder`; it need not be there yet.

    A file is written to find out, and is gone afterwards, with the folders made for it.
    """
    try:
        with removed_if_empty(folder):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f"{TEMPORARY}{uuid.uuid4().hex[:8]}-probe"
            try:
                probe.write_bytes(b"0")
            finally:
                probe.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write {folder}: {error.strerror or error}") from error


def remove_folder(folder: Path) -> None:
    """Delete a folder so that it never looks like a complete one with files missing."""
    doomed = folder.parent / f"{TEMPORARY}{uuid.uuid4().hex[:8]}-{folder.name}"
    folder.rename(doomed)
    shutil.rmtree(doomed)


def remove_unfinished(folder: Path) -> None:
    """Delete what a killed process left half-written in a folder."""
    for path in folder.glob(f"{TEMPORARY}*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

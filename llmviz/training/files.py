"""The JSON files of a run, the list of their checksums, and what a killed process left behind."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import math
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

from llmviz.files.text import POINTER, pointer_note
from llmviz.files.whole import TEMPORARY, sync, temporary_beside, write_whole
from llmviz.training import locks
from llmviz.training.errors import CheckpointError

WRITING = ".writing"  # a file in an unfinished folder, which its writer has locked
MANIFEST = "manifest.json"
LARGEST_JSON = 4 * 2**20  # bytes of a description, a state or a manifest
DEEPEST_JSON = 20  # lists and objects inside each other
LONGEST_NUMBER = 19  # digits of a whole number: 64 bits


def sha256(path: Path) -> str:
    """The file's sha256 as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading, without ever waiting for somebody to write it.

    Raises OSError as it comes, and CheckpointError for what is no regular file: a pipe, a device.
    """
    wait_for_nobody = getattr(os, "O_NONBLOCK", 0)
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | wait_for_nobody))  # noqa: SIM115 - handed on
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise CheckpointError(f"{path} is no regular file")
    return file


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; CheckpointError names a file that is absent or is not one.

    A file that is too large, or whose content is nested too deeply, is refused too.
    """
    try:
        with open_regular(path) as file:
            raw = file.read(LARGEST_JSON + 1)
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} is missing") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(raw) > LARGEST_JSON:
        raise CheckpointError(f"{path} is larger than {LARGEST_JSON:,} bytes")
    try:
        value = parse_json(raw)
    except ValueError as error:
        why = pointer_note(raw) or error
        raise CheckpointError(f"{path} cannot be read as JSON: {why}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} does not hold a JSON object")
    return value


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text; ValueError where it is none, or holds what no run writes.

    That is: numbers that are not finite or have more than 64 bits, and values that are nested too
    deeply to be handled.
    """
    try:
        value = _DECODER.decode(raw.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = [value]
    for _ in range(DEEPEST_JSON):
        level = [part for node in level if isinstance(node, dict | list) for part in _parts(node)]
        if not level:
            return value
    raise ValueError("it is nested too deeply")


def _parts(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a whole number has {len(text)} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is not a finite number")
    return value


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_finite, parse_constant=_finite)


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
        if Path(name).name != name or not isinstance(expected, dict):
            raise CheckpointError(f"{folder / MANIFEST} says nothing of a file {name!r}")
        if not path.is_file():
            raise CheckpointError(f"{path} is missing")
        try:
            sound = path.stat().st_size == expected.get("bytes")
            sound = sound and sha256(path) == expected.get("sha256")
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror or error}") from error
        if not sound:
            with path.open("rb") as file:
                note = pointer_note(file.read(len(POINTER)))
            why = note or f"its sha256 is not the one in {MANIFEST}"
            raise CheckpointError(f"{path} is damaged: {why}")


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
            probe = temporary_beside(folder / "probe")
            try:
                probe.write_bytes(b"0")
            finally:
                probe.unlink(missing_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write {folder}: {error.strerror or error}") from error


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, which gets its name when all of it is written, or is gone.

    The name may be an empty folder's. What a killed writer left of this folder goes now; one that
    still writes has a lock. Raises OSError as it comes.
    """
    mounted = folder.is_mount()  # it cannot be replaced
    place = folder / folder.name if mounted else folder
    place.parent.mkdir(parents=True, exist_ok=True)
    for left in place.parent.glob(f"{TEMPORARY}{'?' * 8}-{glob.escape(folder.name)}"):
        with contextlib.suppress(OSError):  # it goes at this moment, or is somebody else's
            with (left / WRITING).open("r+") as file:
                if not locks.lock(file):
                    continue
            shutil.rmtree(left)
    unfinished = temporary_beside(place)
    unfinished.mkdir()
    try:
        with (unfinished / WRITING).open("w") as mine:
            locks.lock(mine)
            yield unfinished
        (unfinished / WRITING).unlink()
        if mounted:
            for path in sorted(unfinished.iterdir(), key=lambda path: path.stat().st_mtime_ns):
                path.rename(folder / path.name)
        else:
            if folder.exists():
                folder.rmdir()
            unfinished.rename(folder)
        sync(place.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Delete a folder so that it never looks like a complete one with files missing."""
    doomed = temporary_beside(folder)
    folder.rename(doomed)
    shutil.rmtree(doomed)


def remove_unfinished(folder: Path) -> None:
    """Delete what a killed process left half-written in a folder."""
    for path in folder.glob(f"{TEMPORARY}*"):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

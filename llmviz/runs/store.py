"""The folder of runs: which there are, and finding one by its name, inside this folder only.

    RUNS/NAME           a run that is kept, or that the command line writes
    RUNS/.sessions/ID   a run of a visitor, gone with the visit unless it is kept

RUNS is the setting LLMVIZ_RUNS, `runs` in the working folder without it. A run's name is its path
below RUNS, or the ID, which nobody can guess; `NAME@STEP` is its checkpoint of that step. Nothing
here needs torch.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from base64 import b32encode
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from llmviz.files.text import whole_number
from llmviz.files.whole import TEMPORARY
from llmviz.finetuning.plan import CLASSES, is_tuning, plan_of_tuning
from llmviz.models.catalogue import CLASSIFIER
from llmviz.training import locks
from llmviz.training.errors import CheckpointError
from llmviz.training.files import open_regular, remove_folder
from llmviz.training.reading import (
    CONFIG,
    METRICS,
    MODEL,
    TOKENIZER,
    begun_card,
    last_record,
    read_description,
    step_folder,
    steps_saved,
)

PREFIX = "run:"  # before a run's name where bundled models have names too
SESSIONS = ".sessions"
_SETTLED = 2.0  # seconds after which a folder's time tells every change of it from the one before
_ID = re.compile(r"my-[a-z2-7]{26}")
_LONGEST_NAME = 60  # characters
# Names that Windows keeps for devices, whatever stands behind a dot in them.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def root() -> Path:
    """The folder of all runs; it need not exist yet."""
    return Path(os.environ.get("LLMVIZ_RUNS") or "runs").absolute()


def changed() -> int | None:
    """When a folder last came to RUNS or went from it, in nanoseconds; None where there is none."""
    try:
        return root().stat().st_mtime_ns
    except OSError:
        return None


def split_name(name: str) -> tuple[str, int | None]:
    """A run's name without prefix, and the step that was asked for.

    >>> split_name("run:first@200"), split_name("first")
    (('first', 200), ('first', None))
    """
    plain = name.removeprefix(PREFIX)
    before, at, step = plain.rpartition("@")
    number = whole_number(step)
    return (plain, None) if not at or number is None else (before, number)


def is_private(name: str) -> bool:
    """Whether a name is the ID of a visitor's run."""
    return _ID.fullmatch(split_name(name)[0]) is not None


def find_run(name: str) -> Path:
    """The folder of a run: an ID, a name, or a path that lies below RUNS.

    Raises CheckpointError in one line for a path that leads out of RUNS, also by a link, for a run
    of which a file does, and where there is no run.
    """
    plain, step = split_name(name)
    home = root()
    if _ID.fullmatch(plain):
        folder = home / SESSIONS / plain
        inside = True
    else:
        folder = home / plain
        inside = _inside(folder, home)
    quoted = plain if len(plain) <= 80 else plain[:80] + "…"
    if not inside:
        raise CheckpointError(f"{quoted!r} is not a folder below {home}")
    if not _has_config(folder):
        raise CheckpointError(f"there is no run {quoted!r} in {home}")
    saved = step_folder(folder, step or 0)
    paths = [folder / name for name in (CONFIG, METRICS, TOKENIZER, MODEL)] + [saved.parent]
    for path in paths if step is None else [*paths, saved, saved / MODEL]:
        _check_link(path, home)
    return folder


def _check_link(path: Path, home: Path) -> None:
    """Raise CheckpointError for a link that leads out of RUNS, or nowhere."""
    with contextlib.suppress(OSError, RuntimeError):  # links that go in a circle
        if not path.is_symlink() or path.resolve(strict=True).is_relative_to(home.resolve()):
            return
    raise CheckpointError(f"{path} is a link that leads out of {home}")


def _has_config(folder: Path) -> bool:
    try:
        return (folder / CONFIG).is_file()
    except (OSError, ValueError):  # a name that is too long, or that no file system can write
        return False


def _inside(folder: Path, home: Path) -> bool:
    """Whether a path lies below home, by its words and after every link is followed."""
    if len(str(folder)) > 1000 or "\0" in str(folder) or not folder.is_relative_to(home):
        return False
    parts = folder.relative_to(home).parts
    if not parts or any(part.startswith(".") for part in parts):
        return False
    try:
        return folder.resolve().is_relative_to(home.resolve())
    except (OSError, RuntimeError, ValueError):  # a name too long, links that go in a circle
        return False


def run_name(folder: Path) -> str:
    """The name of a run's folder below RUNS."""
    if folder.parent == root() / SESSIONS:
        return folder.name
    return folder.relative_to(root()).as_posix()


def kept_runs() -> list[str]:
    """The names of the runs in RUNS, the newest first; a folder in it may hold runs, too.

    A folder whose time is the same as before is not looked into again: there may be thousands.
    """
    dated = [run for name, folder in _seen(root())[1] for run in _dated(name, folder)]
    return [name for _, name in sorted(dated, reverse=True)]


Seen = tuple[float | None, tuple[tuple[str, Path], ...]]
"""When a folder's config.json was written, None without one, and the folders in it by name."""


def _dated(name: str, folder: Path, *, inner: bool = False) -> Iterator[tuple[float, str]]:
    """The runs of a folder, itself and those in it: when each was described, and its name."""
    described, folders = _seen(folder)
    if described is not None:
        yield described, name
    for below, path in () if inner else folders:
        yield from _dated(f"{name}/{below}", path, inner=True)


def _seen(folder: Path) -> Seen:
    try:
        about = folder.stat()
        if time.time() - about.st_mtime < _SETTLED:
            return _look(folder)
        return _look_once(folder, about.st_dev, about.st_ino, about.st_mtime_ns)
    except OSError:  # gone in between
        return None, ()


def _look(folder: Path, *_: int) -> Seen:
    if folder != root() and not _inside(folder, root()):
        return None, ()
    with os.scandir(folder) as entries:
        listed = {entry.name: entry for entry in entries}
    config = listed.get(CONFIG)
    described = config.stat().st_mtime if config and config.is_file() else None
    if described is not None:
        listed.pop(step_folder(folder, 0).parent.name, None)  # what a run saves is no run
    inner = [name for name, entry in listed.items() if name[0] != "." and entry.is_dir()]
    return described, tuple((name, folder / name) for name in inner)


_look_once = lru_cache(2**15)(_look)


def weights_of(name: str) -> Path:
    """The file of weights that a name stands for; the newest ones without a step.

    Raises CheckpointError: there is no such run, or it lacks the step asked for.
    """
    return _weights(find_run(name), split_name(name)[1])


def _weights(folder: Path, step: int | None) -> Path:
    if step is None:
        return folder / MODEL
    saved = dict(steps_saved(folder))
    if step not in saved:
        listed = ", ".join(map(str, saved)) or "none"
        raise CheckpointError(f"the run has no checkpoint of step {step}; it has {listed}")
    return saved[step] / MODEL


def has_weights(name: str) -> bool:
    """Whether a model can be loaded by this name now. Raises CheckpointError as `weights_of`."""
    folder = find_run(name)
    return _weights(folder, split_name(name)[1]).is_file() and (folder / TOKENIZER).is_file()


def new_private_folder() -> Path:
    """A place for a visitor's run, under a name that nobody can guess; not made yet."""
    home = root() / SESSIONS
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    return home / f"my-{b32encode(secrets.token_bytes(16)).decode().lower().rstrip('=')}"


def new_folder() -> Path:
    """Make the folder of a visitor's run. Raises ValueError where nothing can be written."""
    try:
        folder = new_private_folder()
        folder.mkdir()
    except OSError as error:
        raise ValueError(f"no run can be written: {error.strerror}") from error
    return folder


def write_text(path: Path, text: str) -> None:
    """Put a visitor's text into a run's folder; the folder goes if that fails, with ValueError."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        discard(path.parent)
        raise ValueError(f"the text cannot be written: {error.strerror}") from error


def claim_private(*, clear: bool) -> Any:
    """Say that a server uses the folder of private runs, and clear it where no other one does.

    clear: delete what visitors of servers that are gone left there; only before there are runs of
    one's own. Several servers may share the folder: each holds a shared lock, and who gets the
    exclusive one is alone. Returns the file that holds the lock, or None where there are no locks.
    """
    home = root() / SESSIONS
    try:
        home.mkdir(parents=True, exist_ok=True)
        file = (home / ".server").open("a")
        if locks.lock(file):  # else another server has visitors here
            if clear:
                clear_private()
            locks.release(file)
        locks.share(file)
    except OSError:  # nothing can be written or locked
        return None
    return file


def free_name(wanted: str) -> str:
    """A name for a kept run that no other has: as wanted, or with a number behind it.

    Raises ValueError for a name that cannot be that of a folder everywhere.
    """
    name = wanted.strip()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or len(name) > _LONGEST_NAME:
        raise ValueError(
            "a run's name begins with a letter or a digit, goes on with letters, digits, "
            f"'.', '_' and '-', and has at most {_LONGEST_NAME} characters; got {wanted[:80]!r}"
        )
    if _ID.fullmatch(name) or name.endswith(".") or _DEVICES.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a run; choose another")
    number, free = 2, name
    while (root() / free).exists():
        free, number = f"{name}-{number}", number + 1
    return free


def keep(folder: Path, wanted: str) -> Path:
    """Move a visitor's run into RUNS, under the name wanted or the next free one.

    Raises ValueError for a bad name or where the folder cannot be moved.
    """
    for _ in range(100):
        target = root() / free_name(wanted)
        try:
            target.mkdir()  # two processes want one name at once: one of them gets it
        except FileExistsError:
            continue
        except OSError as error:
            raise ValueError(f"cannot keep the run in {root()}: {error.strerror}") from error
        try:
            folder.replace(target)
        except OSError as error:
            target.rmdir()
            raise ValueError(f"cannot keep the run as {target}: {error.strerror}") from error
        return target
    raise ValueError(f"no free name like {wanted!r} was found")


def discard(folder: Path) -> None:
    """Delete a visitor's run. Raises ValueError for any other folder."""
    if folder.parent != root() / SESSIONS:
        raise ValueError(f"{folder} is not a visitor's run; it is left alone")
    if folder.is_dir():
        remove_folder(folder)


def clear_private() -> None:
    """Delete the runs of visitors of a server that is gone, and what deleting left behind."""
    home = root() / SESSIONS
    for folder in [path for path in home.glob("*") if _ID.fullmatch(path.name)]:
        with contextlib.suppress(OSError):  # what cannot be deleted now goes at the next start
            remove_folder(folder)  # whole at once: a process that still writes there finds nothing
    for folder in home.glob(f"{TEMPORARY}*"):
        shutil.rmtree(folder, ignore_errors=True)


def is_written(folder: Path) -> bool:
    """Whether a process writes this run now; False for a file that cannot be locked."""
    try:
        with open_regular(folder / METRICS) as file:
            return locks.is_locked(file)
    except (OSError, CheckpointError):
        return False


def description_of(folder: Path) -> dict[str, Any]:
    """What a run says of itself; a fine-tuning says it in the same words.

    Raises CheckpointError as `read_description`.
    """
    if not is_tuning(folder):
        return read_description(folder)
    plan, about = plan_of_tuning(folder)
    model, corpus = about["model"]["name"], "tiny-world"  # all tasks of writing are about it
    if plan.kind == CLASSES:
        model, corpus = CLASSIFIER, plan.task
    data = {"corpus": corpus, "documents": plan.examples}
    return {**about, "model": {"name": model}, "data": data, "train": {"seed": plan.train.seed}}


def run_card(name: str) -> dict[str, Any]:
    """What a run says about itself, in the words of a bundled checkpoint's card.

    It is read once as long as its files stay the same.
    Raises CheckpointError: there is no such run, it cannot be read, or lacks the step asked for.
    """
    folder = find_run(name)
    files = (folder / CONFIG, folder / METRICS, step_folder(folder, 0).parent)
    return dict(_card(name, folder, *map(_stamp, files)))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        about = path.stat()
    except OSError:
        return ()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


@lru_cache(1024)
def _card(name: str, folder: Path, *_: tuple[int, ...]) -> dict[str, Any]:
    step = split_name(name)[1]
    description = description_of(folder)
    last = last_record(folder) or {}
    _weights(folder, step)
    saved = [number for number, _ in steps_saved(folder)]
    try:
        return {
            **begun_card(name, description),
            "steps": step if step is not None else max(saved, default=last.get("step", 0)),
            "tokens": last.get("tokens", 0),
            "seconds": last.get("seconds", 0.0),
            "train_loss": last.get("train_loss"),
            "validation_loss": last.get("validation_loss"),
        }
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / CONFIG} lacks {error}") from error

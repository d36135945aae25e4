"""A published model becomes a run, step by step: it is there whole in the end, or nothing is."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from llmviz.course.lessons.models.published_model import (
    about_folder,
    in_cache,
    too_large,
)
from llmviz.files.whole import temporary_beside
from llmviz.runs import store
from llmviz.training.files import remove_folder

DOWNLOADING, READING, WRITING, DONE = "downloading", "reading", "writing", "done"


@dataclass(frozen=True)
class Progress:
    """How far an import has come: its stage, bytes of a download, the run's name at the end."""

    stage: str
    done: int = 0
    total: int = 0
    name: str = ""


def import_steps(source: str, *, from_hub: bool, own: bool, wanted: str) -> Iterator[Progress]:
    """Make a run of a published model and yield how far it is; the last one has the run's name.

    own: see `look_at`. wanted: the run's name; a number comes behind it where it is taken.
    What is not whole lies in the folder of visits, under a name that nobody lists. It is deleted
    when the generator is closed or fails, and by the next server where the process was killed.

    Raises: ValueError naming the rule that the model or the name breaks.
    """
    from llmviz.runs.store import claim_private

    store.free_name(wanted)
    home = store.root() / store.SESSIONS
    claim = claim_private(clear=False)  # so that no other server clears the folder meanwhile
    work = temporary_beside(home / "import")
    try:
        (work / "files").mkdir(parents=True)
        (work / "run").mkdir()
        yield from _import(source, from_hub, own, wanted, work)
    except OSError as error:
        raise ValueError(f"nothing can be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if claim is not None:
            claim.close()


def _import(source: str, from_hub: bool, own: bool, wanted: str, work: Path) -> Iterator[Progress]:
    from llmviz.pretrained import published, write_imported

    folder = Path(source)
    if from_hub:
        cached = in_cache(source) if own else None
        if cached is None:
            folder = work / "files"
            yield from _download(source, own, folder)
        else:
            folder = cached
    yield Progress(READING)
    about = about_folder(folder, source)
    if problem := about.problem or too_large(about):
        raise ValueError(problem)
    trained = published(folder)
    yield Progress(WRITING)
    place = f"hub:{source}" if from_hub else source
    command = f"python -m llmviz import {shlex.quote(place)} --out {shlex.quote(f'runs/{wanted}')}"
    write_imported(trained, work / "run", command)
    yield Progress(WRITING)  # the last moment at which it can be stopped
    yield Progress(DONE, name=store.run_name(store.keep(work / "run", wanted)))


def _download(source: str, own: bool, folder: Path) -> Iterator[Progress]:
    from llmviz.models.published_hub import HubModel

    hub = HubModel(source, token=own)
    files = hub.files()
    total = sum(file.size for file in files)
    if total > (free := shutil.disk_usage(folder).free):
        raise ValueError(f"its files have {total:,} bytes, and {free:,} are free on the disk")
    yield Progress(DOWNLOADING, 0, total)
    for done in hub.download(folder, files):
        yield Progress(DOWNLOADING, done, total)


def delete_imported(name: str) -> None:
    """Delete the run of an imported model.

    Raises: ValueError for a run that was trained, and where it cannot be deleted.
    """
    from llmviz.pretrained import is_imported
    from llmviz.training.reading import read_description

    folder = store.find_run(name)
    if store.is_private(name) or not is_imported(read_description(folder)):
        raise ValueError(f"{name!r} was trained here; only an imported model can be deleted")
    try:
        remove_folder(folder)
    except OSError as error:
        raise ValueError(f"{name!r} cannot be deleted: {error.strerror or error}") from error

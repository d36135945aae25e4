"""A published model before it is read: what it is, how large it is, why it cannot be taken.

A folder's config.json, its tokenizer and the first bytes of its weights say it all; of a model on
the hub no more is fetched than these.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.models.memory_limits import free_memory
from llmviz.models.settings import GPTConfig
from llmviz.runs import store

if TYPE_CHECKING:
    from llmviz.models.published_hub import HubFile

# Reading a model holds its float32 numbers twice for a moment: as in the file, and in the model.
MEMORY_PER_PARAMETER = 8
DISK_PER_PARAMETER = 4  # a run's numbers are float32


@dataclass(frozen=True)
class About:
    """What is known of a published model that was not read; None: its files do not say it.

    source: as it was asked for. kind: its model_type. stored: bytes of its files. numbers: how
    many its files of weights hold. parameters: of the model that is built. memory and disk: bytes
    that it needs, free_memory and free_disk: that there are. problem: why it cannot be taken, one
    line; empty where it can.
    """

    source: str
    from_hub: bool
    stored: int
    free_memory: int
    free_disk: int
    kind: str | None = None
    numbers: int | None = None
    config: GPTConfig | None = None
    parameters: int | None = None
    problem: str = ""

    @property
    def memory(self) -> int | None:
        """Bytes of memory that reading it takes."""
        return None if self.parameters is None else MEMORY_PER_PARAMETER * self.parameters

    @property
    def disk(self) -> int | None:
        """Bytes that it takes on the disk as a run, with what is downloaded first."""
        if self.parameters is None:
            return None
        return DISK_PER_PARAMETER * self.parameters + (self.stored if self.from_hub else 0)


def source_of(text: str, *, folders: bool) -> tuple[str, bool]:
    """Return what was typed without its prefix, and whether it is the name of one on the hub.

    folders: whether folders of this machine may be asked for. Raises ValueError where they may
    not, and for an empty text.

    >>> source_of("hub:somebody/model", folders=False), source_of("/data/gpt2", folders=True)
    (('somebody/model', True), ('/data/gpt2', False))
    """
    text = text.strip()
    if not text or "\0" in text or len(text) > 1000:
        raise ValueError("give a folder with a published model, or OWNER/NAME of one on the hub")
    if text.startswith("hub:"):
        return text.removeprefix("hub:"), True
    is_path = text.startswith((".", "~")) or "\\" in text or Path(text).is_absolute()
    if not folders:
        if is_path or text.count("/") > 1:
            raise ValueError("a folder of the server can be given on the server itself only")
        return text, True
    if is_path or text.count("/") > 1 or Path(text).is_dir():
        return str(Path(text).expanduser()), False
    return text, True


def look_at(source: str, *, from_hub: bool, own: bool) -> Iterator[About]:
    """Yield what is known of a model, once; for a background job.

    own: whether it is asked for by the owner of this machine, whose cache and token are then used.
    Raises: ValueError where there is no such folder or the hub cannot be reached.
    """
    cached = in_cache(source) if from_hub and own else None
    if not from_hub or cached is not None:
        about = about_folder(cached or Path(source), source)
        yield replace(about, problem=about.problem or too_large(about))
        return
    from llmviz.models.published_hub import HubModel

    hub = HubModel(source, token=own)
    files = hub.files()
    with tempfile.TemporaryDirectory(prefix="llmviz-") as name:
        folder = Path(name)
        hub.outline(folder, files)
        about = about_folder(folder, source, files)
    yield replace(about, problem=about.problem or too_large(about))


def in_cache(name: str) -> Path | None:
    """Return the folder of a model that was downloaded before, whole; the network is not asked."""
    from llmviz.models.published_files import cached_folder

    return cached_folder(name)


def about_folder(folder: Path, source: str, files: list[HubFile] | None = None) -> About:
    """Return what is known of a folder; `problem` says what it lacks, not what is too large.

    files: of the hub, of which the folder holds the outlines. Raises ValueError: no such folder.
    """
    from llmviz.models.published import describe_published
    from llmviz.models.published_files import CONFIG, DOWNLOADED, read_json
    from llmviz.pretrained import published_tokenizer

    if not folder.is_dir():
        raise ValueError(f"there is no folder {source!r}")
    stored = sum(file.size for file in files or [])
    if files is None:
        stored = sum(path.stat().st_size for pattern in DOWNLOADED for path in folder.glob(pattern))
    memory, disk = free_memory(), _free_disk()
    about = About(source, files is not None, stored, memory, disk)
    try:
        kind = read_json(folder / CONFIG).get("model_type", "gpt2")
        about = replace(about, kind=str(kind)[:40])
        about = replace(about, numbers=_numbers(folder))
        config = describe_published(folder)
        about = replace(about, config=config, parameters=_parameters(config))
        published_tokenizer(folder, config.vocab_size)
    except ValueError as rule:
        return replace(
            about, problem=str(rule).replace(f"{folder}/", "").replace(str(folder), "it")
        )
    return about


def too_large(about: About) -> str:
    """Return why there is no room for a model, with the numbers; an empty text where there is."""
    room = ((about.memory, about.free_memory, "memory"), (about.disk, about.free_disk, "disk"))
    for needed, free, what in room:
        if needed is not None and needed > free:
            verb = "reading it needs" if what == "memory" else "it needs"
            return f"{verb} {needed:,} bytes of {what}, and {free:,} are free"
    return ""


def _numbers(folder: Path) -> int:
    """How many numbers a folder's weights hold, from the beginnings of their files."""
    from math import prod

    from llmviz.models.published_files import StoredTensors

    with StoredTensors(folder) as tensors:
        return sum(prod(tensors.shape(name)) for name in tensors)


def _parameters(config: GPTConfig) -> int:
    """How many parameters a model has, laid out on the meta device; ValueError for a vast one."""
    from llmviz.models import build, count_parameters
    from llmviz.nn.outline import outlined
    from llmviz.training.fitting import LARGEST_BUFFERS, check_sizes

    check_sizes("gpt", config.to_dict())
    with outlined():
        model = build("gpt", config.to_dict())
    saved = model.state_dict()
    tables = sum(b.nbytes for name, b in model.named_buffers() if name not in saved)
    if tables > LARGEST_BUFFERS:
        raise ValueError(
            f"tables of positions must have at most {LARGEST_BUFFERS:,} bytes; "
            f"a context of {config.context_length:,} needs {tables:,}"
        )
    return count_parameters(model)


def _free_disk() -> int:
    """Bytes that are free where runs are written, or will be."""
    home = store.root()
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    return shutil.disk_usage(there).free

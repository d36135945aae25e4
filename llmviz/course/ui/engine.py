"""torch and the bundled models: imported in a thread while the first page is being drawn.

Nothing here imports torch before `start` is called, and `start` returns at once: a page shows
what needs no model, asks `ready()` now and then, and fills in the rest.

    if engine.ready():
        model = engine.load("tiny-world-gpt").model
    else:
        engine.start()

Forward passes of several visitors take turns: at most one for each core at a time. Eight passes at
once on two cores end all together, after the time of four; one after another the first ends at
once, and the last no later. Measured with eight threads on two busy cores, a pass of
tiny-world-gpt on 200 tokens: the first ended after 63–82 ms instead of 212–262, the middle one
after 0.76–0.79 of the time, at the same processor time. Passes of 40 tokens are so short that no
difference was seen beside other work (`python -m benchmarks.turns`).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from llmviz.course.ui import runs
from llmviz.course.ui.cached import cached, share
from llmviz.course.ui.furniture import words
from llmviz.course.ui.rerun import once
from llmviz.files.paths import CHECKPOINTS
from llmviz.obtainable import catalogue
from llmviz.obtainable.catalogue import OBTAINABLE, how_to_get
from llmviz.runs import store

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer


if TYPE_CHECKING:
    from torch import nn

    Model = TypeVar("Model", bound=nn.Module)


class Turns:
    """A gate for `at_once` passes. A pass within a pass of the same thread goes through."""

    def __init__(self, at_once: int) -> None:
        self._free = threading.Semaphore(at_once)
        self._own = threading.local()

    def __deepcopy__(self, _: Any) -> Turns:
        return self  # the copy of a model waits with the model

    def begin(self, *_: Any) -> None:
        """Wait for a turn."""
        depth = getattr(self._own, "depth", 0)
        if depth == 0:
            self._free.acquire()
        self._own.depth = depth + 1

    def end(self, *_: Any) -> None:
        """Let the next one begin."""
        self._own.depth -= 1
        if self._own.depth == 0:
            self._free.release()


TURNS = Turns(max(1, os.cpu_count() or 1))


def take_turns(model: Model, turns: Turns = TURNS) -> Model:
    """Let a model's forward passes wait for their turn; returns the model."""
    model.register_forward_pre_hook(turns.begin)
    model.register_forward_hook(turns.end, always_call=True)  # also where the pass fails
    return model


ASKED_MODEL = "shared.model"  # in the session: the model that lessons share in their links
# One thread for one visitor: two beside each other's work take longer than one. torch reads it when
# it is imported, which happens here.
os.environ.setdefault("OMP_NUM_THREADS", "1")
PRECISION = "LLMVIZ_PRECISION"  # in which the fetched model's matrices lie in memory
READ_AT_ONCE = 16  # tokens of a usual text, for which a fetched model's matrices are laid out
CARD = "card.json"  # what makes a folder that of a bundled model
NEEDED = ("torch", "llmviz.pretrained", "llmviz.sampling.generation")


@dataclass(frozen=True, eq=False)
class Bundled:
    """A model as `load` returns it: in eval mode, frozen, shared by all that know its name.

    `version` tells this state of its weights from another: two of one name and version are equal.
    `notes` say what was not as it should be when it was loaded, such as a damaged checkpoint.
    """

    name: str
    model: Any  # a `LanguageModel`; of which kind, a page says with what it requires
    tokenizer: Tokenizer
    card: dict[str, Any]
    version: str
    notes: tuple[str, ...] = ()

    @property
    def kept_as(self) -> tuple[str, str]:
        """What tells it from all others; see `kept`."""
        return self.name, self.version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bundled) and self.kept_as == other.kept_as

    def __hash__(self) -> int:
        return hash(self.kept_as)

    def changed(self, how: str, model: LanguageModel) -> Bundled:
        """Return a model that was made from this one, with the same tokenizer; how: in words."""
        return replace(self, name=f"{self.name} ({how})", model=model, notes=())


class Loader:
    """Imports modules in a thread, once; a failure can be tried again."""

    def __init__(self, modules: tuple[str, ...] = NEEDED) -> None:
        self.modules = modules
        self.problem = ""
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin unless it is done or under way; returns at once."""
        with self._lock:
            if self._ready.is_set() or (self._thread and self._thread.is_alive()):
                return
            self.problem = ""
            self._thread = threading.Thread(target=self._load, name="engine", daemon=True)
            self._thread.start()

    def ready(self) -> bool:
        """Whether everything is imported."""
        return self._ready.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is ready, has failed, or the time is over; return whether it is ready."""
        if self._thread:
            self._thread.join(seconds)
        return self.ready()

    def _load(self) -> None:
        try:
            for name in self.modules:
                importlib.import_module(name)
        except (ImportError, OSError) as error:
            self.problem = f"{name} cannot be loaded: {error}"
            return
        # A hundred thousand objects that live as long as the server: the collector would walk
        # through them again and again.
        gc.collect()
        gc.freeze()
        self._ready.set()


_loader = Loader()
start, ready, wait = _loader.start, _loader.ready, _loader.wait


def problem() -> str:
    """Return why loading failed, or an empty text."""
    return _loader.problem


def device() -> str:
    """Return in words which device torch sees; call it when `ready()`."""
    import torch

    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return words.device["cuda"].format(names=", ".join(names), version=torch.__version__)
    if torch.backends.mps.is_available():
        return words.device["mps"].format(version=torch.__version__)
    threads = torch.get_num_threads()
    case = "one" if threads == 1 else "other"
    return words.device[case].format(threads=threads, version=torch.__version__)


def names() -> list[str]:
    """Return the names of the models that all visitors share, in alphabetical order: the bundled
    checkpoints and what `get` fetched; torch is not needed."""
    return list(_bundled())


def bundle() -> tuple[str, tuple[tuple[str, int | None], ...]]:
    """Return what tells one state of these models' cards from another, for caches."""
    written = _bundled()
    return str(CHECKPOINTS), tuple((name, written.get(name)) for name in names())


@once
def _bundled() -> dict[str, int]:
    """The shared models by name, each with when its card was written, or its file."""
    written = {name: _when(path) for name, path in obtained().items()}
    if CHECKPOINTS.is_dir():
        written |= {folder.name: _when(folder / CARD) for folder in CHECKPOINTS.iterdir()}
    return {name: when for name, when in sorted(written.items()) if when is not None}


def _when(path: Path) -> int | None:
    """When a file was written; None where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def own() -> list[str]:
    """Return the runs of this visitor and the kept ones that have weights, as `run:NAME`.

    First comes the one that the address asks for, if it is a run, then the visitor's own; torch is
    not needed. `card`, `tokenizer` and `load` take these names, and `run:NAME@STEP` for a
    checkpoint that a run kept on its way.
    """
    linked = str(st.session_state.get(ASKED_MODEL, ""))
    if linked.startswith(store.PREFIX):
        runs.come_back(linked)
    names = [*(run.name for run in runs.mine()), *runs.kept_names()]
    if linked.startswith(store.PREFIX):
        names.insert(0, linked.removeprefix(store.PREFIX))
    return [store.PREFIX + name for name in dict.fromkeys(names) if _has_weights(name)]


@once
@runs.recently
def _has_weights(name: str) -> bool:
    try:
        return store.has_weights(name)
    except ValueError:  # deleted in between
        return False


def card(name: str) -> dict[str, Any]:
    """Return a checkpoint's card; torch is not needed.

    Raises ValueError: the card is missing or damaged.
    """
    if name.startswith(store.PREFIX):
        return store.run_card(name)
    return _bundled_card(name)


@once
def obtained() -> dict[str, Path]:
    """Return the models that `get` fetched, each with where its file or folder is."""
    return catalogue.here()


@once
def _bundled_card(name: str) -> dict[str, Any]:
    if name in obtained():
        return OBTAINABLE[name].card()
    when = _bundled().get(name)
    when = _when(CHECKPOINTS / name / CARD) if when is None else when
    return _card(name, str(CHECKPOINTS), when)


@cached(64)  # every page asks every model's card what it is
def _card(name: str, folder: str, changed: int | None) -> dict[str, Any]:
    try:
        content = json.loads(Path(folder, name, CARD).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ValueError(f"the card of {name} cannot be read: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("parameters"), int):
        raise ValueError(f"the card of {name} does not say how many parameters it has")
    return content


def tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of a checkpoint; torch is not needed.

    Raises ValueError: its file is missing or damaged.
    """
    return _tokenizer(name, _stamp(name, "tokenizer.json"))


@once
def load(name: str) -> Bundled:
    """Return a bundled model, the same object for all sessions; call it when `ready()`.

    Raises ValueError: there is no such checkpoint, or it is damaged.
    """
    read = _load_run if name.startswith(store.PREFIX) else _load
    return read(name, _stamp(name, "model.safetensors"))


def folder_of(name: str) -> Path:
    """Return where a model's files are; torch is not needed.

    Raises ValueError: there is no such run.
    """
    if name.startswith(store.PREFIX):
        return store.find_run(name)
    if (path := obtained().get(name)) is not None:
        return path if path.is_dir() else path.parent
    return CHECKPOINTS / name


def version(name: str) -> str:
    """Return what tells one state of a model's weights from another, for keys of caches.

    Raises ValueError: there are no weights of that name.
    """
    return _written(_stamp(name, "model.safetensors"))


def _written(stamp: tuple[str, int]) -> str:
    return f"{stamp[0]}:{stamp[1]}"


@once
def _stamp(name: str, file: str) -> tuple[str, int]:
    """What a cached object depends on besides its name: where its file is, and of when."""
    if name in OBTAINABLE:
        path = obtained().get(name)
        if path is None:
            raise ValueError(how_to_get(name))
        path = path / file if path.is_dir() else path
    else:
        path = folder_of(name) / file
    if name.startswith(store.PREFIX) and file == "model.safetensors":
        path = store.weights_of(name)
    try:
        return str(path), path.stat().st_mtime_ns
    except OSError as error:
        raise ValueError(f"{name} has no {file}: {error.strerror}") from None


@cached(16)
def _tokenizer(name: str, stamp: tuple[str, int]) -> Tokenizer:
    if name in OBTAINABLE:
        from llmviz.pretrained import obtained_tokenizer

        return obtained_tokenizer(name)
    from llmviz.training.reading import read_tokenizer

    return read_tokenizer(Path(stamp[0]).parent)


@cached(32, counted=False)  # all that come along: 30 MB; the fetched one has 540
def _load(name: str, stamp: tuple[str, int]) -> Bundled:
    return _read(name, stamp)


@cached(4, counted=False)  # apart, so that no bundled one has to go
def _load_run(name: str, stamp: tuple[str, int]) -> Bundled:
    for _ in range(2):
        try:
            return _read(name, stamp)
        except ValueError:
            # A run that goes on removes its last checkpoint once a newer one is complete.
            continue
    return _read(name, stamp)


def _read(name: str, stamp: tuple[str, int]) -> Bundled:
    from llmviz.pretrained import load_with_notes

    trained, card = load_with_notes(name)
    model = trained.model.eval().requires_grad_(False)
    if name in OBTAINABLE:
        from llmviz.models.stored_weights import store_weights
        from llmviz.nn.fast_linear import freeze_packed

        if (precision := os.environ.get(PRECISION, "float32")) == "float32":
            freeze_packed(model, READ_AT_ONCE)
        store_weights(model, precision)
    ready = share(take_turns(model))
    return Bundled(name, ready, trained.tokenizer, card, _written(stamp), trained.notes)

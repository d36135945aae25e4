"""The files of a published model: config.json and safetensors, in a folder or on the hub."""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

import torch
from safetensors import SafetensorError
from torch import Tensor

from llmviz.files.text import pointer_note
from llmviz.files.weights import open_weights, what_a_file_lacks
from llmviz.nn.finite import wrong_tensor
from llmviz.tokenizers import published as tokenizer_files

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")  # in the layout of peft
DOWNLOADED = (
    CONFIG,
    WEIGHTS,
    INDEX,
    "model-*-of-*.safetensors",
    *tokenizer_files.FILES,
    "chat_template.jinja",
    *ADAPTER,
)
WRAPPERS = re.compile(r"^(?:(?:_orig_mod|module)\.)+")  # of torch.compile, of data parallelism
FLOATS = ("F64", "F32", "F16", "BF16")  # safetensors' names of the types that weights may have
PROBE_SECONDS = 4  # how long to wait for the hub before saying that it cannot be reached


class NamedTensors(Protocol):
    """Tensors under the names of a published format; `folder` is where messages say they are."""

    folder: Path

    def __contains__(self, name: str) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def shape(self, name: str) -> tuple[int, ...]: ...
    def read(self, name: str) -> Tensor: ...
    def rename(self, old: str, new: str) -> None: ...


class StoredTensors:
    """The tensors in a folder's safetensors: one file, or several that an index names.

    Names are given without `prefix`, which some publishers write and some leave out, and without
    what torch puts in front of those of a compiled or distributed model. Shapes come from the
    files' headers; a tensor is read when it is asked for. Use it in a `with`.

    Raises: ValueError for a file that is missing or damaged, an index that does not fit its files,
    a tensor that is there under two names, and one to be read that is of no floating type or holds
    what no model can compute with (`wrong_tensor`); for a file that changes before the `with` ends.
    """

    def __init__(self, folder: Path, prefix: str = ""):
        self.folder, self.prefix = folder, prefix
        self._places: dict[str, tuple[Any, Path, str]] = {}  # name -> open file, path, stored name

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for path, expected in weight_files(self.folder).items():
                self._add(stack, path, expected)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        with _reading(self.folder):
            self._stack.__exit__(*exception)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, from the header."""
        file, path, stored = self._places[name]
        with _reading(path):
            return tuple(file.get_slice(stored).get_shape())

    def read(self, name: str) -> Tensor:
        """A tensor as it is stored."""
        file, path, stored = self._places[name]
        with _reading(path):
            kind = file.get_slice(stored).get_dtype()
            if kind in FLOATS:
                tensor = file.get_tensor(stored)
                if wrong := wrong_tensor([(stored, tensor)]):
                    raise ValueError(f"{path}: {wrong}")
                return tensor
        raise ValueError(f"{path}: {stored} must be of type {', '.join(FLOATS)}; got {kind}")

    def rename(self, old: str, new: str) -> None:
        """Give a tensor another name."""
        self._places[new] = self._places.pop(old)

    def _add(self, stack: ExitStack, path: Path, expected: set[str] | None) -> None:
        with _reading(path):
            file = stack.enter_context(open_weights(path))
            names = set(file.keys())
        if expected is not None and names != expected:
            odd = min(names ^ expected)
            says = "lacks" if odd in expected else "holds"
            raise ValueError(f"{path} {says} {odd}; {INDEX} says otherwise")
        for stored in sorted(names):
            name = WRAPPERS.sub("", stored).removeprefix(self.prefix)
            if name in self._places:
                other = self._places[name][2]
                raise ValueError(f"{self.folder} has {name} twice, as {other} and as {stored}")
            self._places[name] = file, path, stored


def has_own_head(tensors: NamedTensors, embedding: str, head: str, *, compare: bool = True) -> bool:
    """Whether files have a head that differs from the embedding, given the names of both.

    Of a tied pair one will do: a head without an embedding becomes the embedding.
    compare: read both and compare their numbers; without it two of one shape count as alike.
    """
    if head not in tensors:
        return False
    if embedding not in tensors:
        tensors.rename(head, embedding)
        return False
    if tensors.shape(head) != tensors.shape(embedding):
        return True
    return compare and not torch.equal(tensors.read(head).float(), tensors.read(embedding).float())


def require_tensors(
    tensors: NamedTensors,
    shapes: Iterable[tuple[str, tuple[int, ...]]],
    what: str,
    ignored: Collection[str],
) -> None:
    """Refuse files with other tensors or shapes than those named; `ignored` may be there.

    It ends at the first that is not there: a config may ask for more layers than fit any memory.
    """
    expected = set()
    for name, shape in shapes:
        if name not in tensors:
            raise ValueError(f"{tensors.folder} is not {what}: it lacks {name}")
        if tensors.shape(name) != shape:
            raise ValueError(f"{tensors.folder}: {name} must be {shape}; got {tensors.shape(name)}")
        expected.add(name)
    for name in tensors:
        if name not in expected and name not in ignored:
            raise ValueError(f"{tensors.folder} is not {what}: it has {name} besides")


def weight_files(folder: Path) -> dict[Path, set[str] | None]:
    """The files that hold a folder's weights, each with the names that its index expects there.

    A single file has no index, and None stands for the names.

    Raises: ValueError when there are none, or when an index cannot be read or leaves the folder.
    """
    if (folder / WEIGHTS).is_file():
        return {folder / WEIGHTS: None}
    index = folder / INDEX
    if not index.exists():
        raise ValueError(f"{folder / WEIGHTS} is missing; weights are read as safetensors only")
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ValueError(f'{index} has no "weight_map" from names of tensors to files')
    files: dict[Path, set[str]] = {}
    for name, file in places.items():
        beside = isinstance(file, str) and Path(file).name == file
        if not beside or not file.endswith(".safetensors"):
            raise ValueError(f"{index} must name safetensors files beside it; got {file!r}")
        if not (folder / file).is_file():
            raise ValueError(f"{folder / file} is missing; {INDEX} says that it holds {name}")
        files.setdefault(folder / file, set()).add(name)
    return dict(files)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a readable safetensors file: {error}") from error


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises: ValueError when it is missing, not a plain file, or holds something else.
    """
    if not path.exists():
        raise ValueError(f"{path} is missing")
    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    raw = b""
    try:
        raw = path.read_bytes()
        values = json.loads(raw.decode("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        why = pointer_note(raw) or error
        raise ValueError(f"{path} cannot be read as JSON: {why}") from error
    except RecursionError as error:
        raise ValueError(f"{path} cannot be read as JSON: nested too deeply") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} does not hold a JSON object")
    return values


def find_folder(folder_or_repo_id: str | Path) -> Path:
    """Return the local folder of a folder or of a repository id, downloading what is missing.

    Raises: ValueError in one line when it cannot be had.
    """
    name = str(folder_or_repo_id)
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return folder
    if name and folder.is_file():
        raise ValueError(what_a_file_lacks(folder))
    looks_like_a_path = isinstance(folder_or_repo_id, Path) or folder.is_absolute()
    if looks_like_a_path or name.startswith((".", "~")) or name.count("/") > 1 or not name:
        raise ValueError(f"there is no folder {name!r} with a published model in it")
    try:
        import huggingface_hub
        from huggingface_hub.errors import (
            HfHubHTTPError,
            HFValidationError,
            LocalEntryNotFoundError,
        )
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{name!r} is not a folder here, and downloading needs the package huggingface_hub, "
            "which is not installed"
        ) from error

    def snapshot(**where: Any) -> Path:
        files = list(DOWNLOADED)
        return Path(huggingface_hub.snapshot_download(name, allow_patterns=files, **where))

    try:
        try:
            cached = snapshot(local_files_only=True)
        except LocalEntryNotFoundError:
            cached = None
        if cached is not None and _is_whole(cached):
            return cached
        try:
            _probe(huggingface_hub.constants.ENDPOINT, name)
        except ValueError:
            if cached is not None and _has_model(cached):
                return cached
            raise
        return snapshot(etag_timeout=PROBE_SECONDS)
    except HFValidationError as error:
        raise ValueError(f"{name!r} is neither a folder here nor a repository id") from error
    except HfHubHTTPError as error:
        raise ValueError(f"the hub does not give {name!r}: {_first_line(error)}") from error
    except OSError as error:
        raise ValueError(f"{name!r} could not be downloaded: {_first_line(error)}") from error


def cached_folder(name: str) -> Path | None:
    """Return the folder of a repository that was downloaded before, whole, or None.

    The network is not asked. Raises: ValueError for what is no repository id.
    """
    try:
        import huggingface_hub
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ModuleNotFoundError:
        return None
    try:
        files = list(DOWNLOADED)
        folder = huggingface_hub.snapshot_download(
            name, allow_patterns=files, local_files_only=True
        )
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise ValueError(f"{name[:80]!r} is neither a folder here nor a repository id") from error
    return Path(folder) if _is_whole(Path(folder)) else None


def _is_whole(folder: Path) -> bool:
    """Whether a folder holds all files of a model, its own tokenizer among them."""
    if is_adapter(folder):
        return (folder / ADAPTER[1]).is_file()
    return _has_model(folder) and tokenizer_files.has_tokenizer(folder)


def is_adapter(folder: Path) -> bool:
    """Whether a folder holds what peft writes: a change of a model that lies elsewhere."""
    return (folder / ADAPTER[0]).is_file() and not (folder / CONFIG).is_file()


def _has_model(folder: Path) -> bool:
    try:
        return (folder / CONFIG).is_file() and bool(weight_files(folder))
    except ValueError:
        return False


def _probe(endpoint: str, name: str) -> None:
    """Raise ValueError at once when the hub is out of reach; its own client tries for long."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise ValueError(f"{name!r} is not in the local cache and HF_HUB_OFFLINE is set")
    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        urllib.request.urlopen(request, timeout=PROBE_SECONDS).close()
    except urllib.error.HTTPError:
        return  # it answered
    except OSError as error:
        raise ValueError(
            f"{name!r} is neither a folder here nor in the local cache, and {endpoint} cannot be "
            f"reached; without the network give a folder with {CONFIG} and {WEIGHTS}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

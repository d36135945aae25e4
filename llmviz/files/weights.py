"""Files of weights: read into memory, so that nothing outside can end the process; written.

A file that is mapped into memory ends every process that looks at a page of it which somebody has
cut off meanwhile: the system sends SIGBUS, and no `except` hears of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from llmviz.files.text import POINTER, pointer_note

if TYPE_CHECKING:
    from torch import Tensor


@contextmanager
def open_weights(path: Path, framework: str = "pt") -> Iterator[Any]:
    """Open a safetensors file; its header is read now, each tensor when it is asked for.

    A file that gets the name meanwhile (`write_whole`) changes nothing. Raises SafetensorError or
    OSError for what is no such file, or is cut off or overwritten while it is open.
    """
    before = path.stat()
    with path.open("rb") as start:
        if note := pointer_note(start.read(len(POINTER))):
            raise OSError(note)
    with safe_open(path, framework=framework, backend="pread") as file:
        yield file
    try:
        after = path.stat()
    except FileNotFoundError:  # what was opened was whole
        return
    kept = (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino)
    if kept and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise OSError(f"{path.name} was changed while it was read")


def write_weights(
    path: Path, tensors: dict[str, Tensor], header: Mapping[str, str] | None = None
) -> None:
    """Write a safetensors file; header: what it says of itself.

    Raises OSError where the system refuses it, a full disk say, which the library hands on as a
    text.
    """
    from safetensors.torch import save_file

    try:
        save_file(tensors, path, metadata={"format": "pt", **(header or {})})
    except SafetensorError as error:
        number = re.search(r"os error (\d+)", str(error))
        said = (int(number[1]), os.strerror(int(number[1]))) if number else (str(error),)
        raise OSError(*said) from error


PICKLES = (".bin", ".ckpt", ".pkl", ".pt", ".pth")


def what_a_file_lacks(path: Path) -> str:
    """What to say of a file where the folder of a model is meant."""
    if path.suffix.lower() in PICKLES:
        return (
            f"{path} may be a pickle, which can run any code when it is read; save its tensors "
            "with safetensors, and give the folder of that file with its config.json"
        )
    return f"{path} is a file; give the folder with config.json, the weights and the tokenizer"

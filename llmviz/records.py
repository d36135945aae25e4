"""What a command measured once and wrote into a file: read again, or said why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from llmviz.training.files import read_json

T = TypeVar("T")

_DAMAGED = (KeyError, TypeError, AttributeError, ValueError)


def require(path: Path, command: str) -> Path:
    """Return the path of a file that `command` writes; ValueError, naming both, without it."""
    if not path.is_file():
        raise ValueError(f"{path} is not in this copy; `{command}` makes it")
    return path


class Recorded:
    """The content of a JSON file that a command writes, for a `with` that makes something of it.

    Raises ValueError, naming file and command, where the file is missing, and where what is made
    of it finds that it is damaged: something is absent, or of another kind.
    """

    def __init__(self, path: Path, command: str) -> None:
        self.path, self.command = require(path, command), command

    def __enter__(self) -> dict[str, Any]:
        return read_json(self.path)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, _DAMAGED):
            line = f"{self.path} is damaged: {error!r}; `{self.command}` makes it again"
            raise ValueError(line) from None


def typed(value: object, kind: type[T]) -> T:
    """Return what was read from JSON as a kind: dataclasses, named tuples, numbers as keys, arrays.

    Raises ValueError that says where something is absent or of another kind.

    >>> typed({"1": [2, 3]}, dict[int, tuple[float, ...]])
    {1: (2.0, 3.0)}
    """
    return msgspec.convert(value, kind, str_keys=True, dec_hook=_array)


def _array(kind: type, value: Any) -> Any:
    if kind is np.ndarray:
        return np.array(value)
    raise NotImplementedError(f"a record has no {kind}")

"""What a command measured once and wrote into a file: read again, or said why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from llmviz.training.files import read_json

T = TypeVar("T")


def read_record(path: Path, command: str, build: Callable[[dict[str, Any]], T]) -> T:
    """Return what `build` makes of a JSON file that `command` writes.

    Raises ValueError, naming file and command, where the file is missing or damaged.
    """
    if not path.is_file():
        raise ValueError(f"{path} is not in this copy; `{command}` makes it")
    content = read_json(path)
    try:
        return build(content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error!r}; `{command}` makes it again") from None

"""What was measured once on the real model, for everybody who has not fetched it."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, cast

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.obtainable.catalogue import OBTAINABLE
from llmviz.records import Recorded, typed

MODEL = OBTAINABLE["smollm2"]
FOLDER = "real"
COMMAND = "python -m experiments make real"
T = TypeVar("T")


@cache
def recorded(chapter: str, kind: type[T]) -> dict[str, T]:
    """Return what was measured for a chapter, by name.

    Raises ValueError: the file is missing or damaged, or is of another model.
    """
    path = EXPERIMENT_FOLDER / FOLDER / f"{chapter}.json"
    with Recorded(path, COMMAND) as raw:
        if raw["sha256"] != MODEL.sha256:
            raise ValueError(f"it is of a model with the checksum {raw['sha256']}")
        return cast(dict[str, T], {name: typed(value, kind) for name, value in raw["made"].items()})


def written(value: Any) -> Any:
    """Return a result as JSON has it: named tuples as lists, numbers in six digits."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {str(name): written(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [written(part) for part in value]
    return value

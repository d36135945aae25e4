"""The folder that a name stands for: a run's or a bundled checkpoint's."""

from __future__ import annotations

import contextlib
from pathlib import Path

from llmviz.files.nearest import nearest
from llmviz.files.paths import BUNDLED_CHECKPOINTS
from llmviz.files.weights import what_a_file_lacks
from llmviz.runs.store import PREFIX, kept_runs
from llmviz.training.errors import CheckpointError
from llmviz.training.recipes import RECIPES


def find_checkpoint(name_or_folder: str) -> Path:
    """The folder of a run, or of a bundled checkpoint; CheckpointError if there is neither."""
    folder, is_file = Path(name_or_folder), False
    with contextlib.suppress(OSError, ValueError):  # a name that no file system takes
        if folder.is_dir():
            return folder
        is_file = folder.is_file()
    if is_file:
        raise CheckpointError(what_a_file_lacks(folder))
    if name_or_folder in RECIPES and (BUNDLED_CHECKPOINTS / name_or_folder).is_dir():
        return BUNDLED_CHECKPOINTS / name_or_folder
    present = [name for name in sorted(RECIPES) if (BUNDLED_CHECKPOINTS / name).is_dir()]
    known = [*present, *(f"{PREFIX}{name}" for name in kept_runs())]
    near = f"nearest are {', '.join(nearest(name_or_folder, known))}" if known else "there is none"
    raise CheckpointError(
        f"there is no run or checkpoint {name_or_folder[:200]!r}; {near} "
        "(`checkpoints list` shows those that are bundled)"
    )

"""A training on preferences for each rule, as it was recorded: read again without torch.

`python -m experiments make preference-runs` makes the record, ten minutes on one core.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.preference_run import SHOWN, Look
from llmviz.finetuning.preferences import RULES
from llmviz.records import Recorded, typed

FILE = "preference-runs.json"
COMMAND = "python -m experiments make preference-runs"
SETTINGS: dict[str, Any] = {"steps": 120, "beta": 0.1}  # of every recorded run


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, tuple[Look, ...]]:
    """Return the looks at each recorded run, by rule.

    Raises ValueError where the file is missing or damaged.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content["runs"], dict[str, tuple[Look, ...]])
        if set(found) != set(RULES) or any(len(look.logs) != SHOWN for look in found["place"]):
            raise ValueError("a run is missing")
        return found

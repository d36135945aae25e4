"""Any trained model by its name or folder: what `pretrained` finds, and fine-tuned ones."""

from __future__ import annotations

from pathlib import Path

from llmviz.finetuning.plan import FORMAT
from llmviz.paths import HUB
from llmviz.pretrained import find_model
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json
from llmviz.training.reading import CONFIG
from llmviz.training.run_folders import PREFIX, find_run, split_name
from llmviz.training.runs import Trained


def find_trained(name: str | Path) -> Trained:
    """The model that a name or a folder stands for; of an adapter, merged into its base.

    Raises ValueError as `find_model`, and for a classifier, which writes nothing.
    """
    folder = tuning_folder(name)
    if folder is None:
        return find_model(name)
    from llmviz.finetuning.tuned import load_tuned

    return load_tuned(folder)


def tuning_folder(name: str | Path) -> Path | None:
    """The folder of a fine-tuning that a name stands for; None for any other model."""
    called = str(name)
    if called.startswith(HUB):
        return None
    try:
        is_run = called.startswith(PREFIX)
        folder = find_run(split_name(called)[0]) if is_run else Path(called)
        return folder if read_json(folder / CONFIG).get("format") == FORMAT else None
    except (CheckpointError, OSError, ValueError):
        return None  # whoever opens it says why

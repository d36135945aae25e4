"""Any trained model by its name or folder, and whether it was fine-tuned."""

from __future__ import annotations

from pathlib import Path

from llmviz.finetuning.tuned import tuning_folder
from llmviz.pretrained import find_model
from llmviz.training.run_folder import Trained

__all__ = ["find_trained", "tuning_folder"]


def find_trained(name: str | Path) -> Trained:
    """The model that a name or a folder stands for: see `find_model`."""
    return find_model(name)

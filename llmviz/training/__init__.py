"""Training that can be watched, paused, resumed and trusted.

Names that need torch are imported on first use, so that a page can read runs without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.files.lazy import lazy_names
from llmviz.training.config import TrainConfig
from llmviz.training.errors import CheckpointError, Diverged
from llmviz.training.reading import read_metrics, steps_saved
from llmviz.training.schedule import learning_rate_at
from llmviz.training.train_record import TrainRecord

if TYPE_CHECKING:
    from llmviz.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
    from llmviz.training.data import Batches, TrainData
    from llmviz.training.loop import train
    from llmviz.training.optimizers import UPDATES, Hyper, Update
    from llmviz.training.run_folder import Run, Trained, load_trained, run_in_folder
    from llmviz.training.stream import Stream

_NEED_TORCH = {
    "Checkpoint": "checkpoints",
    "load_checkpoint": "checkpoints",
    "save_checkpoint": "checkpoints",
    "Batches": "data",
    "Stream": "stream",
    "TrainData": "data",
    "train": "loop",
    "UPDATES": "optimizers",
    "Hyper": "optimizers",
    "Update": "optimizers",
    "Run": "run_folder",
    "Trained": "run_folder",
    "load_trained": "run_folder",
    "run_in_folder": "run_folder",
}

__all__ = [
    "UPDATES",
    "Batches",
    "Checkpoint",
    "CheckpointError",
    "Diverged",
    "Hyper",
    "Run",
    "Stream",
    "TrainConfig",
    "TrainData",
    "TrainRecord",
    "Trained",
    "Update",
    "learning_rate_at",
    "load_checkpoint",
    "load_trained",
    "read_metrics",
    "run_in_folder",
    "save_checkpoint",
    "steps_saved",
    "train",
]

__getattr__ = lazy_names(__name__, _NEED_TORCH)

"""Training that can be watched, paused, resumed and trusted."""

from llmviz.training.checkpoints import (
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
    steps_saved,
)
from llmviz.training.config import TrainConfig
from llmviz.training.data import Batches, Stream, TrainData
from llmviz.training.errors import CheckpointError, Diverged
from llmviz.training.loop import train
from llmviz.training.optimizers import UPDATES, Hyper, Update
from llmviz.training.records import TrainRecord
from llmviz.training.runs import Run, Trained, load_trained, read_metrics, run_in_folder
from llmviz.training.schedule import learning_rate_at

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

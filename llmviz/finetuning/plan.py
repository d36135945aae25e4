"""What to fine-tune, on what, and how: plain values, so that they can be kept in config.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from llmviz.config import Config, setting
from llmviz.finetuning.labels import ENDINGS_OF_TABLES, MOST_TEXTS
from llmviz.finetuning.labels import TASKS as CLASS_TASKS
from llmviz.finetuning.preferences import RULES as PREFERENCES
from llmviz.nn.lora_config import MOST_RANK, TARGETS, LoraConfig
from llmviz.training.config import TrainConfig
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json
from llmviz.training.reading import CONFIG

FORMAT = "llmviz-tuning-1"  # in the config.json of a fine-tuning
WAYS = {
    "head": "the new head alone",
    "last": "the head, the last block and the last norm",
    "all": "every weight, from the trained model on",
    "nothing": "every weight, from random ones: training from nothing",
    "lora": "the head, and a small change beside each matrix",
}
"""What is trained in each way; the rest is frozen."""

INSTRUCTIONS, RULES = "instructions", "rules"
CLASSES, PREFER = "classes", "preferences"
BASE = "tiny-world-gpt"
TASKS = (*CLASS_TASKS, INSTRUCTIONS, *PREFERENCES, RULES)
WRITING_WAYS = ("lora", "all")  # of tasks that end in text: there is no head to train


@dataclass(frozen=True)
class TuningPlan(Config):
    """A fine-tuning; raises ValueError naming the rule and the value."""

    task: str = setting(
        "ending",
        "classes of stories (ending, mood, about, who) or a table FILE.csv or FILE.tsv; "
        "instructions; endings to prefer (shorter, happier, place); "
        "rules to read out of examples",
    )
    base: str = setting(BASE, "the trained model to begin from: bundled, run:NAME, or a folder")
    way: str = setting("lora", "what is trained", "", choices=tuple(WAYS))
    examples: int = setting(1000, "to train on", "texts", 2, 20_000)
    test_examples: int = setting(200, "to test on, not trained on", "texts", 2, 2_000)
    rank: int = setting(4, "r of LoRA", "", 1, MOST_RANK)
    alpha: float = setting(8.0, "α of LoRA: the change is multiplied by α/r", "", 0.1, 64)
    targets: tuple[str, ...] = TARGETS
    mix: float = setting(0.0, "share of the steps that read plain stories (instructions)", "", 0, 1)
    beta: float = setting(0.1, "β of DPO: the larger, the nearer to the base (preferences)")
    balanced: bool = setting(False, "rare classes count more, so that all count the same")
    train: TrainConfig = field(
        default_factory=lambda: TrainConfig(
            steps=300,
            batch_size=16,
            learning_rate=2e-3,
            min_lr=2e-5,
            warmup_steps=20,
            weight_decay=0.0,
            eval_every=50,
            dtype="float32",
        )
    )

    def __post_init__(self) -> None:
        self.require_text("task", "base")
        if self.task not in TASKS and not self.task.lower().endswith(ENDINGS_OF_TABLES):
            raise ValueError(
                f"task must be one of {', '.join(TASKS)}, or a file.csv or file.tsv; "
                f"got {self.task!r}"
            )
        self.require_one_of("way", WAYS)
        if self.kind != CLASSES and self.way not in WRITING_WAYS:
            raise ValueError(
                f"way must be one of {', '.join(WRITING_WAYS)} for {self.task}, which has no head; "
                f"got {self.way!r}"
            )
        self.require_at_least(2, "examples", "test_examples")
        for name in ("examples", "test_examples"):
            if getattr(self, name) > MOST_TEXTS:
                raise ValueError(
                    f"{name} must be at most {MOST_TEXTS:,}; got {getattr(self, name)}"
                )
        self.require_fraction("mix")
        self.require_above_zero("beta")
        self.require_bool("balanced")
        object.__setattr__(self, "targets", self.lora.targets)  # which checks itself

    @property
    def kind(self) -> str:
        """Which sort of task it is: classes, instructions, preferences or rules."""
        if self.task in (INSTRUCTIONS, RULES):
            return self.task
        return PREFER if self.task in PREFERENCES else CLASSES

    @property
    def lora(self) -> LoraConfig:
        """The settings of the adapter."""
        return LoraConfig(self.rank, self.alpha, self.targets)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """From `to_dict`; ValueError for a field that does not exist."""
        train = values.get("train")
        return super().from_dict(
            {**values, **({"train": TrainConfig.from_dict(train)} if train is not None else {})}
        )


def suited_training(kind: str, way: str) -> dict[str, Any]:
    """Settings of training that go well with a kind of task and a way, by name.

    A head on features is a small problem: large batches and steps. Weights that have learned a
    language already are moved by small steps, new ones by larger steps, and more of them.
    """
    if kind == CLASSES and way == "head":
        return {"steps": 600, "batch_size": 64, "learning_rate": 1e-2, "min_lr": 1e-4}
    if kind == CLASSES and way == "nothing":
        return {"steps": 600, "learning_rate": 1e-3, "min_lr": 1e-5}
    rate = 2e-3 if way == "lora" else 3e-4
    if kind == PREFER:
        return {"steps": 150, "batch_size": 8, "learning_rate": rate / 2, "min_lr": rate / 200}
    return {"learning_rate": rate, "min_lr": rate / 100}


def is_tuning(folder: Path | str) -> bool:
    """Whether a folder is that of a fine-tuning. Raises CheckpointError without a config.json."""
    return read_json(Path(folder) / CONFIG).get("format") == FORMAT


def plan_of_tuning(folder: Path | str) -> tuple[TuningPlan, dict[str, Any]]:
    """The plan and the config.json of a fine-tuning; CheckpointError if it is not one."""
    path = Path(folder) / CONFIG
    about = read_json(path)
    if about.get("format") != FORMAT:
        raise CheckpointError(f"{path} is not a {FORMAT} file")
    try:
        _ = about["model"]["name"], about["base"]["sha256"], about["data"].get("sha256")
        return TuningPlan.from_dict(about["plan"]), about
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} describes no fine-tuning: {error}") from error

"""The settings of a training run: each field says what it means and in which unit."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16")
SCHEDULES = ("cosine", "linear", "constant")
OPTIMIZERS = ("adamw", "adam", "sgd", "momentum", "nesterov", "adagrad", "rmsprop")
COMPILE = ("auto", "on", "off")


@dataclass(frozen=True)
class TrainConfig:
    """How a model is trained; checks itself and raises ValueError naming the rule and the value.

    A step is one update of the weights. Steps are numbered from 1 to `steps`.
    """

    steps: int = 1000  # updates of the weights
    batch_size: int = 32  # sequences per update, over all processes and micro-batches
    accumulate: int = 1  # micro-batches an update is split into; changes memory, not the maths
    learning_rate: float = 1e-3  # the highest value of the schedule
    min_lr: float = 1e-4  # the value at the last step (schedules cosine and linear)
    warmup_steps: int = 50  # steps of linear rise from zero to `learning_rate`
    schedule: str = "cosine"  # after the warm-up: cosine | linear | constant
    optimizer: str = "adamw"  # one of OPTIMIZERS, torch's own implementation
    weight_decay: float = 0.1  # per unit of learning rate, on matrices only
    beta1: float = 0.9  # decay of the gradient's mean (Adam), or the momentum
    beta2: float = 0.99  # decay of the gradient's mean square (Adam, RMSprop)
    grad_clip: float = 1.0  # largest norm of the gradient; 0 = not clipped
    eval_every: int = 100  # steps between validation losses; 0 = only after the last step
    eval_batches: int = 20  # batches of validation data each time; 0 = all of it
    log_every: int = 1  # steps between records; a record's train loss is the mean since the last
    sample_every: int = 0  # steps between samples of text; 0 = none
    sample_tokens: int = 100  # tokens in such a sample
    checkpoint_every: int = 500  # steps between checkpoints; 0 = only at the end
    snapshot_every: int = 0  # steps between checkpoints that are kept for good; 0 = none
    seed: int = 0  # of the data's order, dropout and the samples
    device: str = "auto"  # auto = cuda, else mps, else cpu
    dtype: str = "auto"  # of the products; weights stay float32; auto = the faster where measured
    compile: str = "auto"  # torch.compile: auto = on CUDA only
    threads: int = 0  # CPU threads; 0 = the fastest of a short measurement
    shard: bool = False  # under torchrun: weights and state split over the processes (FSDP)

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "accumulate", "log_every", "sample_tokens"):
            self._at_least(name, 1)
        for name in ("warmup_steps", "eval_every", "eval_batches", "sample_every", "threads"):
            self._at_least(name, 0)
        for name in ("checkpoint_every", "snapshot_every", "seed"):
            self._at_least(name, 0)
        for name in ("learning_rate", "min_lr", "weight_decay", "grad_clip"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
                raise ValueError(
                    f"{name} must be a finite number that is not negative; got {value!r}"
                )
        if self.learning_rate == 0:
            raise ValueError("learning_rate must be above 0; got 0")
        if self.schedule != "constant" and self.min_lr > self.learning_rate:
            raise ValueError(
                "min_lr must not exceed learning_rate; "
                f"got {self.min_lr:g} > {self.learning_rate:g}"
            )
        for name in ("beta1", "beta2"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise ValueError(f"{name} must be in [0, 1); got {value!r}")
        if self.accumulate > self.batch_size:
            raise ValueError(
                f"accumulate must not exceed batch_size; got {self.accumulate} > {self.batch_size}"
            )
        self._one_of("schedule", SCHEDULES)
        self._one_of("optimizer", OPTIMIZERS)
        self._one_of("device", DEVICES)
        self._one_of("dtype", DTYPES)
        self._one_of("compile", COMPILE)

    def _at_least(self, name: str, low: int) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < low:
            raise ValueError(f"{name} must be a whole number of at least {low}; got {value!r}")

    def _one_of(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainConfig:
        """The settings from `to_dict`; an unknown name raises ValueError."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"TrainConfig has no field {', '.join(unknown)}")
        return cls(**values)

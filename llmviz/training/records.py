"""What a run reports as it goes."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TrainRecord:
    """The state of a run after an update; one line of `metrics.jsonl`."""

    step: int  # updates done
    tokens: int  # targets seen so far, over all processes
    train_loss: (
        float  # nats per token, before the update; mean over the steps since the last record
    )
    validation_loss: float | None  # nats per token, after the update; None where not measured
    lr: float  # learning rate of the update
    grad_norm: float  # Euclidean norm of the gradient before clipping
    tokens_per_second: float  # of training since the last record, validation not counted
    seconds: float  # training so far, validation included, pauses not
    sample: str | None = None  # text of the model, now and then
    notes: tuple[str, ...] = ()  # what the reader of the run should know, such as other versions

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainRecord:
        """The record from a line of `metrics.jsonl`."""
        return cls(**{**values, "notes": tuple(values.get("notes", ()))})

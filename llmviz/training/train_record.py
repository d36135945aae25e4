"""What a run reports as it goes."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import Any

LAST_STEP = 2**31 - 1
LAST = 2**63 - 1  # tokens


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
    grad_norm: float  # Euclidean norm of the gradient before clipping; 0 where it was too large
    tokens_per_second: float  # of training since the last record, validation not counted
    seconds: float  # training so far, validation included, pauses not
    sample: str | None = None  # text of the model, now and then
    notes: tuple[str, ...] = ()  # what the reader of the run should know, such as other versions

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainRecord:
        """The record from a line of `metrics.jsonl`.

        Raises ValueError naming the entry that is absent, unknown or of another type.
        """
        if not isinstance(values, dict):
            raise ValueError("a line is no JSON object")
        notes = values.get("notes", ())
        if not isinstance(notes, list | tuple) or not all(isinstance(note, str) for note in notes):
            raise ValueError(f"notes must be texts; got {notes!r:.80}")
        for name in ("step", "tokens"):
            value = values.get(name)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LAST:
                raise ValueError(f"{name} must be a whole number up to {LAST}; got {value!r:.80}")
        if values["step"] > LAST_STEP:
            raise ValueError(f"step must be at most {LAST_STEP}; got {values['step']}")
        for name in ("train_loss", "lr", "grad_norm", "tokens_per_second", "seconds"):
            _check_number(name, values.get(name))
        if values.get("validation_loss") is not None:
            _check_number("validation_loss", values["validation_loss"])
        if not isinstance(values.get("sample"), str | None):
            raise ValueError(f"sample must be a text; got {values['sample']!r:.80}")
        try:
            return cls(**{**values, "notes": tuple(notes)})
        except TypeError as error:
            raise ValueError(f"a line is not a record: {error}") from error


def _check_number(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number; got {value!r:.80}")

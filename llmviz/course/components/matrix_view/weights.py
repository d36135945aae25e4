"""Matrices that a view names and browsers fetch by themselves, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import Stored


@dataclass(frozen=True)
class Weights:
    """Matrices that depend on no text, by name: browsers fetch them once."""

    values: Mapping[str, np.ndarray]
    part: Stored

    @classmethod
    def of(cls, values: Mapping[str, np.ndarray]) -> Weights:
        """Pack matrices, float32 each."""
        return cls(values, Stored({field(name): array for name, array in values.items()}))


def by_reference(matrices: Sequence[dict[str, Any]], weights: Sequence[Weights]) -> None:
    """Put a name in place of the values of each described matrix that travels with weights."""
    stored = {name for group in weights for name in group.values}
    for described in matrices:
        if described["name"] in stored:
            described["values"] = field(described["name"])


def field(name: str) -> str:
    """The field of a stored part in which a matrix lies."""
    return f"values of {name}"

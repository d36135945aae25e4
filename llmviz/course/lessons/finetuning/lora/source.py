"""The adapters of the chapter beside their base, kept for all visitors."""

import numpy as np

from llmviz.course.lessons.finetuning.lora.lora_race import PARTS, SQUARE
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.finetuning.adapted import Studied, adapted, change_at, merged_copy, studied
from llmviz.finetuning.plan import BASE
from llmviz.paths import TUNED


def beside(name: str) -> engine.Bundled:
    """Return the base with a bundled adapter beside its matrices, the same for all visitors.

    Raises ValueError where the base or the adapter is not here, or it belongs to other weights.
    """
    return _beside(base(), name)


@kit.kept(4)
def _beside(bundled: engine.Bundled, name: str) -> engine.Bundled:
    model = adapted(bundled.model, BASE, TUNED / name)
    return bundled.changed(f"{name} beside", model)


merged = kit.kept(4)(kit.on_model(merged_copy))


def path_of(layer: int, matrix: str) -> str:
    """Return a matrix's path in the model."""
    return f"blocks.{layer}.{matrix}"


change_of = kit.kept(32)(kit.on_model(change_at))


@kit.kept(64)
def studied_of(bundled: engine.Bundled, path: str) -> Studied:
    """Return what an adapter adds to a matrix, as parts of rank 1 and a square of cells."""
    return studied(change_of(bundled, path).added, SQUARE, PARTS)


def length(values: np.ndarray) -> float:
    """Return the root of the sum of all squares."""
    return float(np.linalg.norm(values))

"""Small models on texts longer than any of their training, by kind of positions and seed.

Makes what `llmviz.course.lessons.errors.asked.beyond_context` reads.

B bins of places.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments._command import write_to
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer
from llmviz.course.lessons.errors.asked.beyond_context import (
    BIN,
    COMMAND,
    FILE,
    POSITIONS,
    SEEDS,
    TEXTS,
    TIMES,
)

STEPS, CHARACTERS = 800, 1_000_000


def losses_by_position(
    model: LanguageModel, tokenizer: Tokenizer, texts: int = TEXTS
) -> list[float]:
    """Return the loss of a model by position in texts of TIMES its context (B,)."""
    from llmviz.evaluation import longer_texts
    from llmviz.models.transformers import require_transformer

    ids = longer_texts.long_texts(tokenizer, TIMES * model.context_length, texts)
    longer = longer_texts.longer_copy(require_transformer(model), TIMES)
    return longer_texts.losses_by_position(longer, ids, BIN).tolist()


def measure_one(kind: str, seed: int) -> list[float]:
    """Train a model with one kind of positions and measure it."""
    from experiments._small_world import train_small

    small = train_small(seed, STEPS, CHARACTERS, {"positions": kind})
    return losses_by_position(small.model, small.tokenizer)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models; the file is written after each."""
    from tqdm import tqdm

    from experiments._small_world import CONTEXT

    losses: dict[str, list[list[float]]] = {kind: [] for kind in POSITIONS}
    for seed, kind in tqdm([(seed, kind) for seed in SEEDS for kind in POSITIONS], unit="model"):
        losses[kind].append([round(loss, 4) for loss in measure_one(kind, seed)])
        content = {"command": COMMAND, "seeds": SEEDS, "context": CONTEXT, "losses": losses}
        write_json(folder / FILE, content)


if __name__ == "__main__":
    write_to(make, "Train the models that read too long texts again.")

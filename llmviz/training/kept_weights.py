"""The weights that a training kept on its way, which a film of it shows.

A run keeps checkpoints as it goes; of the bundled models, the one of `names-gpt` was trained again,
and the weights of some of its steps are in a file (`python -m experiments make names-film`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.similarity.projection import pca
from llmviz.trace import record
from llmviz.training.data import end_id, padding_ids
from llmviz.training.files import read_json
from llmviz.training.reading import MODEL, read_description, steps_saved

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

FOLDER = EXPERIMENT_FOLDER / "names-film"
CARD, WEIGHTS = "card.json", "weights.safetensors"
COMMAND = "python -m experiments make names-film"
# Close together at the start, where most of it happens.
STEPS = (0, 20, 40, 100, 200, 400, 700, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000, 6000)
MOST = 16  # models of a film


@lru_cache(maxsize=4)
def _card(folder: Path) -> dict[str, Any]:
    return read_json(folder / CARD) if (folder / CARD).is_file() else {}


def kept_steps(folder: Path) -> list[int]:
    """Return the steps whose weights a run or a bundled model has kept, in order, MOST at most."""
    card = _card(FOLDER)
    if card and folder.name == card["model"]:
        return list(card["steps"])
    steps = [step for step, _ in steps_saved(folder)]
    if len(steps) <= MOST:
        return steps
    return [steps[round(i * (len(steps) - 1) / (MOST - 1))] for i in range(MOST)]


def kept_models(folder: Path) -> Iterator[tuple[int, LanguageModel]]:
    """Yield the step and the model, ready to be read, of each of `kept_steps`.

    Raises ValueError where weights are damaged or do not fit the run's model.
    """
    from llmviz.models.registry import build
    from llmviz.training.tensors import load_tensors, load_weights

    steps = kept_steps(folder)
    if not steps:
        return
    described = read_description(folder)["model"]
    stacked = None
    if (folder / MODEL).is_file() and folder.name == _card(FOLDER).get("model"):
        stacked = load_tensors(FOLDER / WEIGHTS)
    saved = dict(steps_saved(folder))
    for number, step in enumerate(steps):
        if stacked is None:
            state = load_tensors(saved[step] / MODEL)
        else:
            state = {name: tensor[number].float() for name, tensor in stacked.items()}
        model = build(described["name"], described["config"])
        load_weights(model, state, f"step {step} of {folder.name}")
        yield step, model.eval()


def texts_of(model: LanguageModel, tokenizer: Tokenizer, count: int, length: int) -> list[str]:
    """Return what a model writes from the start of a text: always with the same random numbers."""
    import torch

    end, padding = end_id(tokenizer), padding_ids(tokenizer)
    generator = torch.Generator().manual_seed(0)
    ids = torch.full((count, 1), end)
    with torch.inference_mode():
        for _ in range(length):
            logits = model(ids[:, -model.context_length :])[0][:, -1, : tokenizer.vocab_size]
            logits[:, list(padding)] = -torch.inf
            drawn = torch.multinomial(logits.softmax(-1), 1, generator=generator)
            ids = torch.cat((ids, drawn), dim=1)
    written = [row[: row.index(end)] if end in row else row for row in ids[:, 1:].tolist()]
    return [tokenizer.decode(row) for row in written]


def weights_of(model: LanguageModel, ids: list[int]) -> np.ndarray:
    """Return the attention weights (layers × heads, T, T) on a text: rows ask."""
    import torch

    with torch.inference_mode(), record("*.attn.weights") as trace:
        model(torch.tensor([ids]))
    return torch.cat(list(trace.values())).flatten(0, 1).float().numpy()


def planes_of(tables: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """Lay tables (N, C) of rows on the plane that holds most of the last one's spread.

    Returns points (K, N, 2), and which share of the last one's spread the plane holds. One plane
    for all, or points would move by its turning alone.
    """
    last = pca(tables[-1], 2)
    points = [(table - last.mean) @ last.components.T for table in tables]
    return np.stack(points), float(last.explained.sum())

"""Models that are trained already: bundled checkpoints, runs, GPT-2 in its published format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch import nn

from llmviz.models.gpt2_format import load_gpt2, save_gpt2
from llmviz.tokenizers import Tokenizer
from llmviz.training.errors import CheckpointError
from llmviz.training.files import read_json
from llmviz.training.library import PREFIX, find_run, run_card, split_name
from llmviz.training.runs import load_trained

# Another folder of exported runs can be shown instead of the bundled one.
CHECKPOINTS = Path(
    os.environ.get("LLMVIZ_CHECKPOINTS")
    or Path(__file__).resolve().parents[1] / "data" / "checkpoints"
)
CARD = "card.json"

__all__ = ["CHECKPOINTS", "bundled", "load_bundled", "load_gpt2", "read_card", "save_gpt2"]


def bundled() -> list[str]:
    """Return the names of the bundled checkpoints, in alphabetical order; no weights are read."""
    if not CHECKPOINTS.is_dir():
        return []
    return sorted(path.parent.name for path in CHECKPOINTS.glob(f"*/{CARD}"))


def read_card(name: str) -> dict[str, Any]:
    """Return the card of a bundled checkpoint: how it was trained and what it reached.

    Raises: ValueError when there is no such checkpoint or its card cannot be read.
    """
    return read_json(_folder(name) / CARD)


def load_bundled(name: str) -> tuple[nn.Module, Tokenizer, dict[str, Any]]:
    """Return the model (eval mode, float32, CPU), the tokenizer and the card of a checkpoint.

    name: that of a bundled one, or `run:NAME` for a run in the folder of runs, `run:NAME@STEP` for
      one of its kept checkpoints.
    Each call reads the files anew; a page keeps what it got and changes nothing in it.

    Raises: ValueError naming what is missing or damaged.
    """
    if name.startswith(PREFIX):
        card = run_card(name)
        trained = load_trained(find_run(name), split_name(name)[1])
        return trained.model, trained.tokenizer, card
    card = read_card(name)
    trained = load_trained(_folder(name))
    return trained.model, trained.tokenizer, card


def _folder(name: str) -> Path:
    known = bundled()
    if name not in known:
        listed = f"there are {', '.join(known)}" if known else "none is in this copy"
        raise CheckpointError(f"no bundled checkpoint is called {name!r}; {listed}")
    return CHECKPOINTS / name

"""The bundled reward model of endings: how it is made from the story model, and read again.

It learned from pairs of endings which of them a labeller preferred, who follows a rule (glad people
are better) with mistakes whose share is known. `python -m experiments make reward-models` makes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.labeller import Labeller
from llmviz.finetuning.plan import BASE
from llmviz.training import small_models

if TYPE_CHECKING:
    from llmviz.finetuning.reward_model import RewardTop
    from llmviz.models.gpt import GPT

WEIGHTS = "reward-model.safetensors"
COMMAND = "python -m experiments make reward-models"
LABELLER = Labeller(by_length=0.25, wrong=0.1)
PAIRS, SEED = 800, 0  # of the bundled model
LONGEST = 60  # tokens of an ending that are read


def story_model() -> tuple[GPT, Any]:
    """Return the bundled story model that it was made from, and its tokenizer."""
    from llmviz.models.gpt import GPT
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(BASE)
    assert isinstance(model, GPT)
    return model.eval().requires_grad_(False), tokenizer


def save(top: RewardTop, folder: Path = EXPERIMENT_FOLDER) -> None:
    """Write what learned, as float16."""
    import torch

    from llmviz.training.tensors import save_tensors

    save_tensors(folder / WEIGHTS, dict(top.state_dict()), torch.float16)


def bundled_top(base: GPT, folder: Path = EXPERIMENT_FOLDER) -> RewardTop:
    """Return what learned. Raises ValueError where it is missing or damaged."""
    from llmviz.finetuning.reward_model import RewardTop

    top = small_models.read_weights(folder / WEIGHTS, COMMAND, lambda _: RewardTop(base))
    return top.requires_grad_(False)


def reward_model(base: GPT, folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled reward model on a copy of the story model.

    Raises ValueError where it is missing or damaged.
    """
    from llmviz.finetuning.reward_model import reward_gpt

    return reward_gpt(base, bundled_top(base, folder))


@cache
def both_models() -> tuple[GPT, GPT, Any]:
    """Return the story model, the reward model and the tokenizer, for a process of its own."""
    base, tokenizer = story_model()
    return base, reward_model(base), tokenizer

"""The bundled fine-tunings: what their cards say, and the model with an adapter added in."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.files.paths import TUNED
from llmviz.finetuning.plan import BASE
from llmviz.training.files import read_json

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


CARD = "card.json"


def tuned_card(name: str, folder: Path = TUNED) -> dict[str, Any]:
    """Return the card of a bundled fine-tuning.

    Raises ValueError where it is not in this copy or damaged.
    """
    path = folder / name / CARD
    if not path.is_file():
        raise ValueError(f"the fine-tuning {name!r} is not in this copy")
    return read_json(path)


def tuned_model(base: LanguageModel, name: str, folder: Path = TUNED) -> LanguageModel:
    """Return a copy of `base` with a bundled adapter added into its matrices.

    The copy is as fast as the base, which stays as it is. Raises ValueError where the adapter is
    not in this copy, is damaged, or belongs to another base.
    """
    from llmviz.finetuning.adapters import load_adapter
    from llmviz.nn.lora import without_adapters

    tuned_card(name, folder)  # says so where there is none
    model = copy.deepcopy(base)
    load_adapter(model, folder / name, BASE)
    return without_adapters(model).eval().requires_grad_(False)

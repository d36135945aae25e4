"""What a model of the first-letter test answers after each letter of a typed string.

T letters.
"""

from __future__ import annotations

from string import ascii_lowercase as LETTERS
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


def answers(model: LanguageModel, string: str) -> np.ndarray:
    """Return the probability of each letter of having been the first one, (T, 26).

    Row t is what the model says once it has read t + 1 letters.
    Raises ValueError for another character than a to z, an empty string, and one that is longer
    than the model's context.
    """
    import torch

    wrong = sorted(set(string) - set(LETTERS))
    if wrong or not string:
        raise ValueError(f"the string must be letters from a to z; got {wrong[:1] or 'none'}")
    ids = torch.tensor([[LETTERS.index(letter) for letter in string]])
    with torch.inference_mode():
        return model(ids)[0][0].double().softmax(-1).numpy().copy()

"""How much of each letter of a name is left in the vectors that a model keeps.

N texts, K vectors kept, C width. Torch is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letter_influence(
    model: LanguageModel, tokenizer: Tokenizer, name: str, tap: str, *, last: bool
) -> np.ndarray:
    """Return how far the kept vectors change when each letter of a name is swapped, (letters,).

    Each letter is swapped for each of the 25 others; of the vectors at `tap` after the last letter
    the one that changes most counts, relative to its length; the mean over the 25.
    name: of the letters a to z. last: only the last vector is kept, as in a recurrent model.
    """
    import torch

    from llmviz.tokenizers import ENDOFTEXT
    from llmviz.trace import record

    end = tokenizer.special_tokens[ENDOFTEXT]
    names = [name]
    for at, letter in enumerate(name):
        names += [name[:at] + other + name[at + 1 :] for other in LETTERS if other != letter]
    with torch.inference_mode(), record(tap) as trace:
        model(torch.tensor([[end, *tokenizer.encode(variant)] for variant in names]))
    vectors = trace[tap]  # (N, K, C)
    if last:
        vectors = vectors[:, -1:]
    change = (vectors[1:] - vectors[:1]).norm(dim=-1) / vectors[:1].norm(dim=-1)
    return change.amax(-1).reshape(len(name), -1).mean(1).numpy()

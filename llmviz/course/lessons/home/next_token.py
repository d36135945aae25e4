"""Which tokens stand for the learner's text, which one comes next, and what it adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.sampling.pipeline import rank_of, sampling_steps

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

MOST_BYTES = 4  # of one UTF-8 character


@dataclass(frozen=True)
class Choice:
    """The token that comes next: its probability and rank (1 = best) in the model's own view."""

    id: int
    probability: float
    rank: int


@dataclass(frozen=True)
class Written:
    """A text after a token was written, and the ids written.

    `ended`: nothing more can be written, because the model closed the text or, if `broken`,
    because the bytes that it wants to write make no character.
    """

    text: str
    ids: tuple[int, ...]
    ended: bool
    broken: bool = False


def choose(logits: np.ndarray, temperature: float, seed: int, position: int) -> Choice:
    """Return the next token: the most probable at temperature 0, else drawn.

    logits: (V,). The random number depends on seed and position only, so a link writes the same
    text again, one token at a time or ten.

    Raises ValueError: the temperature is not allowed.
    """
    steps = sampling_steps(logits, temperature=temperature)
    token = steps.draw(random_number(seed, position) if temperature else 0.0)
    return Choice(token, float(steps.model_probabilities[token]), rank_of(steps.logits, token))


def random_number(seed: int, position: int) -> float:
    """Return a number from 0 to 1 (excluded) for a position of the text."""
    return float(np.random.default_rng((seed, position)).random())


def write_one(
    model: LanguageModel, tokenizer: Tokenizer, text: str, temperature: float, seed: int
) -> Written:
    """Write the next token after a text.

    A token that is only a part of a character brings the following ones with it until the
    character is whole; after as many tokens as a character has bytes it gives up.

    Raises ValueError: the temperature is not allowed, or the text cannot be encoded.
    """
    import torch

    ids = tokenizer.encode_from_start(text)
    start, data = len(ids), b""
    for _ in range(MOST_BYTES):
        window = torch.tensor([ids[-model.context_length :]])
        with torch.inference_mode():
            logits = model(window, last_only=True)[0][0, -1].numpy()
        token = choose(logits, temperature, seed, len(ids)).id
        if token in tokenizer.special_tokens.values():
            return Written(text, tuple(ids[start:]), ended=True)
        ids.append(token)
        data += tokenizer.token_bytes(token)
        try:
            return Written(text + data.decode("utf-8"), tuple(ids[start:]), ended=False)
        except UnicodeDecodeError:
            continue
    return Written(text, (), ended=True, broken=True)

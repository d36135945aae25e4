"""A text of the model in training, now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import able
from llmviz.training.data import end_id, padding_ids
from llmviz.training.run_folder import Run


def sampler(run: Run, temperature: float = 1.0) -> Callable[[LanguageModel], str] | None:
    """A function that lets the model write `sample_tokens` tokens, the same way each time.

    Short texts follow each other, a line each, until the tokens are used up. None for models that
    do not continue a text, and where no samples are asked for.
    """
    from llmviz.sampling import generate

    config = run.config
    if not config.sample_every or not able(run.description["model"]["name"], "next_token"):
        return None
    end, padding = end_id(run.tokenizer), padding_ids(run.tokenizer)

    def sample(model: LanguageModel) -> str:
        generator = torch.Generator().manual_seed(config.seed)
        texts: list[str] = []
        left = config.sample_tokens
        while left > 0:
            written = generate(
                model,
                [end],
                left,
                temperature,
                banned=padding,
                generator=generator,
                stop_id=end,
            )
            ids = [token.id for token in written]
            left -= len(ids)
            texts.append(text_of(run.tokenizer, ids))
        return "\n".join(texts)

    return sample


def text_of(tokenizer: Any, ids: list[int]) -> str:
    """The text of generated ids without the end-of-text token that closes it."""
    return tokenizer.decode(ids[:-1] if ids and ids[-1] == end_id(tokenizer) else ids)
